"""The explainer without a browser: the content of its views, and the guarantees of its server."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from explainer import Explainer, explainer
from heavy_views import DIES, FAULT, HEAVY, work
from overthere import explain, lowest_rung, plan
from overthere.cli.serve import _listening
from overthere.editions.readings import read
from overthere.security import audit
from overthere.web import pages
from overthere.web.guard import HEADERS
from overthere.web.limits import Limits
from overthere.web.model import DOCUMENT, TEXT, BadInput
from overthere.web.runs import Place, runs
from overthere.web.server import application
from overthere.web.views import VIEWS
from overthere.web.workers import TooSlow, Workers
from servers import wait_until
from support import ROOT

SECRET = "op%65nSesame"
HOSTILE = [
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "</textarea></title><svg onload=alert(1)>",
    "http://<b>u</b>:<i>p</i>@<u>h</u>:<s>1</s>/<p>?<q>#<a>",
    "{{ 11*1229 }}{% raw %}${11*1229}",
    "http://h/\u202egnp.exe\u2066\u200b\x00\x1b[31m\x7f",
    "javascript:alert(1)",
    "\ud800",
]
EXAMPLES = [(view.name, example) for view in VIEWS.values() for example in view.examples]


@pytest.fixture(scope="module")
def served() -> Iterator[Explainer]:
    with explainer() as running:
        yield running


def test_the_navigation_lists_all_views(served: Explainer) -> None:
    text = served.ask("/").text
    assert re.findall(r'data-view-link="(\w+)"', text) == list(VIEWS)


@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=[f"{n}: {e.title}" for n, e in EXAMPLES])
def test_an_example_has_a_page_and_the_same_data_as_json(served: Explainer, name: str, example: Any) -> None:
    link = pages.link(name, example.inputs)
    assert link is not None
    page = served.ask(link)
    assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert 'class="failed"' not in page.text
    data = served.ask(pages.link(name, example.inputs, ".json") or "")
    assert data.data == VIEWS[name].data(example.inputs)
    assert served.ask(link, accept="application/json").data == data.data
    assert f'href="{link.replace("&", "&amp;")}"' in page.text, "its permanent link"


def test_anatomy_and_explain_give_the_same_json(served: Explainer) -> None:
    """On the page, by the method and on the command line."""
    text = "HTTP://joe@Example.com:80/%7Ejoe/a%20b/../c?q=caf%C3%A9#x"
    data = served.data("anatomy", text=text)
    printed = subprocess.run(
        [sys.executable, "-m", "overthere", "explain", "--format", "jsonl", text], stdout=subprocess.PIPE, check=True
    )
    assert data == json.loads(json.dumps(explain(text).to_dict())) == json.loads(printed.stdout)
    page = served.ask(f"/anatomy?{urlencode({'text': text})}").text
    rows = dict(re.findall(r'<tr class="c c-(\w+)(.*?)</tr>', page, re.DOTALL))
    for name, *expected in (
        ("path", "path-abempty", "RFC 3986 3.3", "/~joe/a b/../c"), ("host", "reg-name", "RFC 3986 3.2.2"),
        ("query", "see the parameters"),
    ):  # fmt: skip
        assert [part for part in expected if part not in rows[name]] == []
    parameters = page.partition("Parameters of the query")[2].partition("</table>")[0]
    assert parameters.index(">q<") < parameters.index(">café<")
    assert (
        "".join(re.findall(r"<span[^>]*>([^<]*)</span>", page.partition('<p class="text"')[2].partition("</p>")[0]))
        == text
    )


def test_a_finding_is_marked_with_what_is_expected_there(served: Explainer) -> None:
    data = served.data("anatomy", text="http://h:8o/a b")
    assert [(f["kind"], f["start"], f["expected"]) for f in data["findings"]] == [
        (f.kind, f.start, f.expected) for f in explain("http://h:8o/a b").findings
    ]
    page = served.ask("/anatomy?text=http://h:8o/a+b").text
    assert re.findall(r'<mark class="found" data-f="(\d)"><span[^>]*>(.)</span>', page) == [("1", "o"), ("2", " ")]
    assert isinstance(data["repair"], str), "why there is none"
    assert served.data("anatomy", text="http://h/a b")["repair"]["repaired"] == "http://h/a%20b"


def test_the_editions_and_browsers(served: Explainer) -> None:
    data = served.data("editions", text="ftp://u?x@h/")
    hosts = {name: reading["host"] for name, reading in data["editions"].items()}
    assert hosts == {r.edition: r.host for r in read("ftp://u?x@h/")}
    assert "host" in data["differ"]
    assert '<td class="odd">' in served.ask("/editions?text=ftp://u?x@h/").text
    pytest.importorskip("ada_url", reason="ada_url is absent")
    assert "a browser contacts 127.0.0.1" in served.ask("/editions?text=http://0x7f.1/").text


def test_the_ladder_and_the_plan_and_the_audit(served: Explainer) -> None:
    a, b = "http://example.com", "http://EXAMPLE.com:80/"
    rung = lowest_rung(a, b)
    assert rung is not None
    ladder = served.data("ladder", a=a, b=b)
    assert ladder["rung"] == rung.name
    assert next(step["rung"] for step in ladder["steps"] if step["equal"]) == rung.name
    uri = "gopher://h.example/7/s%09x"
    assert served.data("plan", text=uri)["plan"] == plan(uri).to_dict()
    page = unescape(served.ask(f"/plan?{urlencode({'text': uri})}").text)
    assert [step.line() for step in plan(uri) if step.line() not in page] == []
    bad = "http://www.bank.example@0x7f.1/"
    kinds = [finding["kind"] for finding in served.data("audit", text=bad)["findings"]]
    assert kinds == [finding.kind for finding in audit(bad)]


def test_the_plan_shows_the_bytes_that_are_sent(served: Explainer) -> None:
    rows = re.findall(r"[0-9a-f]{4}  ((?:[0-9a-f]{2} )+)", served.ask("/plan?text=http://h.example/a%3Fb").text)
    assert bytes.fromhex("".join(rows)).startswith(b"GET /a?b HTTP/1.1\r\n")


def test_the_rows_of_a_document_are_limited(served: Explainer) -> None:
    document = "".join(f'<a href="{i}">' for i in range(600))
    answer = served.form("/links.json", {"document": document, "base": "http://h/d/"})
    data = answer.data
    assert (data["total"], len(data["rows"])) == (600, 500)
    assert data["rows"][7]["target"] == "http://h/d/7"
    assert served.form("/links.part", {"document": document}).text.count("<tr>") == 501


def test_the_automaton_of_a_rule(served: Explainer) -> None:
    data = served.data("grammar", rule="scheme", text="h2!")
    assert (data["states"], data["accepted"], data["read"]) == (2, False, 2)
    assert [(m["origin"], m["target"], m["characters"], m["taken"]) for m in data["moves"]] == [
        (1, 2, "A–Z a–z", True),
        (2, 2, "A–Z a–z 0–9 + - .", True),
    ]
    large = served.data("grammar", rule="URI")
    assert (large["nodes"], large["moves"]) == ([], [])
    assert "too many" in served.ask("/grammar?rule=URI").text


@pytest.mark.parametrize("name", VIEWS)
def test_passwords_are_masked_in_answers(served: Explainer, name: str) -> None:
    """They are visible only in the input field and in the permanent link."""
    text = f"ftp://joe:{SECRET}@h.example/a b"
    inputs = {field.name for field in VIEWS[name].inputs}
    keys: list[str] = [key for key in ("text", "reference", "base", "a", "b") if key in inputs and name != "witnesses"]
    fields: dict[str, str] = dict.fromkeys(keys, text)
    if name == "links":
        fields = {"document": f'<a href="{text}">'}
    answer = served.form(f"/{name}.json", fields)
    assert answer.status in (200, 400)
    assert "ftp" in answer.text or name in ("witnesses", "links")
    for spelled in (SECRET, "openSesame"):
        assert spelled not in answer.text


@pytest.mark.parametrize("path", ["/anatomy", "/anatomy.json"])
@pytest.mark.parametrize("query", ["{}", "{}=1&{}=2", "text=a&{}", "{}=" + "x" * 9000])
@pytest.mark.parametrize("name", ["http://joe:%s@h/", "\u202e//joe:%s@h", "//joe:" + "%s" * 20 + "@h", "//h/?token=%s"])
def test_an_error_about_a_parameter_name_shows_no_secret(served: Explainer, path: str, query: str, name: str) -> None:
    """Nor a direction mark: a hand-written query may contain a URI instead of name and value."""
    answer = served.ask(f"{path}?{query.replace('{}', quote(name.replace('%s', 'openSesame')))}")
    assert answer.status in (400, 413)
    assert "openSesame" not in answer.text
    assert "\u202e" not in answer.text


@pytest.mark.parametrize(
    "text",
    [
        "http://h/?sig=open+Sesame", "http://u:open\tSesame@h/", "http://h/a?u=http://u:openSesame&x@g/",
        "http://h/?%74oken=openSesame", "http://h/a;token=openSesame?y", "http%3A%2F%2Fu%3AopenSesame%40h:80/x",
        "access_token=openSesame:x",
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", [name for name in VIEWS if "text" in {field.name for field in VIEWS[name].inputs}])
def test_unusual_spellings_of_secrets_are_masked(served: Explainer, name: str, text: str) -> None:
    assert "Sesame" not in served.form(f"/{name}.json", {"text": text}).text


_OWN = """a circle code dd defs details div dl dt g h2 h3 li mark marker ol p path pre section span strong summary svg
    table tbody td text th thead title tr ul"""
_PAGE = """body button footer form h1 head header html i input label link main meta nav noscript option script select
    textarea"""
OWN_TAGS, PAGE_TAGS = set(_OWN.split()), set(_PAGE.split())


class Markup(HTMLParser):
    """The tags, attributes and links of a page, as a browser reads them."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        self.links += [value or "" for name, value in attrs if name in ("href", "src", "action")]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("name", VIEWS)
def test_markup_in_any_input_is_shown_as_text(name: str, text: str) -> None:
    """No input becomes markup in an answer, and no character in it changes how the answer is parsed."""
    view = VIEWS[name]
    for field in view.inputs:
        fields = {**(view.examples[0].inputs), field.name: text}
        try:
            body = pages.answer(name, fields)
        except BadInput as error:
            body = pages.failure_fragment(str(error))
        read = Markup()
        read.feed(body)
        assert read.tags <= OWN_TAGS
        assert not {name for name in read.attributes if name.startswith("on") or name in ("style", "srcdoc")}
        assert not [link for link in read.links if not link.startswith(("/", "#"))]
        assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b\x00\x1b\x7f]", unescape(body))
        assert "13519" not in body, "no template reads an input"
        page, outer = pages.page(name, fields)[0], Markup()
        outer.feed(page)
        assert outer.tags <= OWN_TAGS | PAGE_TAGS
        assert not {name for name in outer.attributes if name.startswith("on")}


def test_too_long_input_is_reported(served: Explainer) -> None:
    for name in ("anatomy", "editions", "plan", "audit"):
        answer = served.form(f"/{name}", {"text": "a" * 1_000_000})
        assert answer.status == 413
        assert f"has 1,000,000 characters, and the limit here is {TEXT:,}" in answer.text
        assert len(answer.content) < 20_000, "it is not sent back"
    assert served.form("/anatomy.json", {"text": "a" * (TEXT + 1)}).status == 413
    assert "a POST may have more" in served.ask("/links.json?document=" + "a" * (TEXT + 1)).data["error"]
    assert served.ask("/ladder.json?a={0}&b={0}".format("%F0%9F%98%80" * TEXT)).status == 200
    assert served.form("/anatomy.json", {"text": "a" * TEXT}).status == 200
    assert served.form("/links.json", {"document": "a" * (DOCUMENT + 1)}).status == 413
    assert served.form("/anatomy", {"text": "a" * (5 << 20)}).status == 413


def test_a_form_redirects_to_the_permanent_link(served: Explainer) -> None:
    answer = served.form("/anatomy", {"text": "a b&c"})
    assert (answer.status, answer.headers["location"]) == (303, "/anatomy?text=a+b%26c")
    long = served.form("/links", {"document": "<p>" * 40_000})
    assert long.status == 200
    assert "too long for a permanent link" in long.text
    wide = served.form("/anatomy", {"text": "\U0001f600" * 4000})
    assert wide.status == 303, "a link of 48,000 octets"
    assert served.ask(wide.headers["location"]).status == 200


def test_secrets_are_searched_only_in_what_a_link_may_have(served: Explainer, monkeypatch: pytest.MonkeyPatch) -> None:
    """All other requests wait while the server itself reads a form."""
    lengths: list[int] = []

    def record(text: str) -> str:
        lengths.append(len(text))
        return text

    monkeypatch.setattr(pages, "mask_secrets", record)
    assert served.form("/links", {"document": "a:b@" * 65_000, "x" * 9000: ""}).status in (200, 400)
    assert served.form("/links", {"document": "a"}).status == 303
    assert lengths
    assert max(lengths) <= TEXT


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        ("/anatomy.json", 400, "text is missing"),
        ("/anatomy.json?text=a&text=b", 400, "twice"),
        ("/anatomy.json?text=a&other=b", 400, "unknown input"),
        ("/anatomy.json?text=%FF", 400, "not UTF-8"),
        ("/grammar.json?edition=rfc9999", 400, "one of"),
        ("/grammar.json?rule=nope", 400, "there is no rule"),
        ("/grammar.json?rule=http://joe:pw@h", 400, "no rule 'http://joe:***@h'"),
        ("/witnesses.json?rule=nope", 400, "no rule"),
        ("/links.json?document=a&base=nope", 400, "the base is not a valid URI"),
        ("/nope.json", 404, "Not Found"),
    ],
)
def test_invalid_inputs_are_reported(served: Explainer, path: str, status: int, message: str) -> None:
    answer = served.ask(path)
    assert answer.status == status
    assert message in answer.data["error"]


def test_unsupported_methods_and_types_are_rejected(served: Explainer) -> None:
    assert served.ask("/anatomy.json", "DELETE").status == 405
    assert served.ask("/anatomy.json", "POST", b"{}", content_type="application/json").status == 415
    assert served.ask("/anatomy.part").status == 405
    assert served.ask("/static/../server.py").status == 404
    assert served.ask("/static/style.css").headers["content-type"].startswith("text/css")


@pytest.mark.parametrize("path", ["/", "/anatomy", "/anatomy.json", "/nope", "/openapi.json", "/static/typing.js"])
def test_every_answer_has_the_security_headers(served: Explainer, path: str) -> None:
    headers = served.ask(path).headers
    assert {name.lower(): value for name, value in HEADERS.items()}.items() <= headers.items()
    assert "cache-control" in headers
    assert "server" not in headers


def test_the_content_security_policy_allows_no_other_origin(served: Explainer) -> None:
    policy = served.ask("/").headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for name in ("", *VIEWS):
        text = served.ask(f"/{name}").text
        assert not re.search(r'(?:src|href)="(?:https?:)?//', text)
        assert not re.search(r"<style|\sstyle=|<script>|\son\w+=", text)
    for file in (ROOT / "src/overthere/web/static").iterdir():
        assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org/)", file.read_text())


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "0.0.0.0"])
def test_a_foreign_host_name_is_rejected(served: Explainer, host: str) -> None:
    """DNS rebinding: another site may let its own name resolve to a loopback address."""
    assert served.ask("/anatomy.json?text=a", host=host).status == 421
    for local in ("localhost", "127.0.0.1", "[::1]:99", "LOCALHOST:1"):
        assert served.ask("/anatomy.json?text=a", host=local).status == 200


def test_the_host_of_an_absolute_form_target_is_checked(served: Explainer) -> None:
    """It replaces the Host field (RFC 9112 3.2.2)."""
    path = "/anatomy.json?text=http%3A%2F%2Fh%2F%2561"
    same = served.ask(path).data
    for origin in (f"http://localhost:{served.port}", "HTTP://127.0.0.1"):
        assert served.ask(origin + path, host="evil.example").data == same
        assert served.ask(origin).text == served.ask("/").text
    assert served.ask(f"http://evil.example{path}").status == 421
    assert served.ask("http:///").status == 421


@pytest.mark.parametrize("raw", [{}, {"raw_path": None}])
def test_the_raw_path_is_optional(raw: dict[str, None]) -> None:
    """ASGI, HTTP Connection Scope."""
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "http_version": "1.1", "method": "GET", "scheme": "http", "path": "/static/style.css",
        "query_string": b"", "headers": [(b"host", b"localhost")], **raw,
    }  # fmt: skip

    async def ask() -> None:
        await application()(scope, receive, send)

    asyncio.run(ask())
    assert sent[0]["status"] == 200


def test_beyond_loopback_any_host_name_is_accepted() -> None:
    with explainer(loopback=False) as running:
        assert running.ask("/", host="explainer.example").status == 200


def test_an_answer_that_takes_too_long_is_reported() -> None:
    """The server measures the time: with a limit of 0 seconds nothing is answered."""
    import anyio

    workers = Workers(0)
    app = application(workers=workers)

    async def request(path: str) -> tuple[int, bytes]:
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        path, _, query = path.partition("?")
        scope = {
            "type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "query_string": query.encode(),
            "headers": [(b"host", b"localhost")], "http_version": "1.1", "scheme": "http", "root_path": "",
            "server": ("127.0.0.1", 1), "client": ("127.0.0.1", 2),
        }  # fmt: skip
        await app(scope, receive, send)
        return sent[0]["status"], b"".join(message.get("body", b"") for message in sent)

    try:
        for path in ("/anatomy.json?text=a", "/anatomy?text=a"):
            status, body = anyio.run(request, path)
            assert status == 503
            assert b"more than 0 seconds" in body
    finally:
        workers.close()
    assert workers.processes() == []


@pytest.mark.parametrize("text", [FAULT + SECRET, DIES + SECRET])
def test_a_bug_shows_nothing_of_the_input(text: str, capsys: Any) -> None:
    """Even if it ends its process; other processes go on."""
    with explainer(work=work) as running:
        answer = running.ask(f"/anatomy.json?text={text}")
        assert running.ask("/anatomy.json?text=a").status == 200
    assert (answer.status, answer.data) == (500, {"error": "a bug of this library"})
    captured = capsys.readouterr()
    assert ("ValueError in broken" if text.startswith(FAULT) else "a worker process ended") in captured.err
    assert "Sesame" not in captured.err + captured.out + answer.text


def test_a_slow_view_does_not_block_others() -> None:
    """Two run at once.  The slow one ends with an error and its process at the limit; others are answered."""
    with explainer(limits=Limits(view=3, workers=2), work=work) as running, ThreadPoolExecutor(3) as threads:
        assert running.server is not None
        heavy = [threads.submit(running.ask, f"/{path}?text={HEAVY}") for path in ("anatomy", "anatomy.json")]
        assert running.ask("/static/style.css").status == 200
        assert [future.result().status for future in heavy] == [503, 503]
        assert "this takes more than 3 seconds" in heavy[0].result().text
        before = running.server.workers.processes()
        part = threads.submit(running.form, "/anatomy.part", {"text": HEAVY})
        for text in "abcd":
            assert running.ask(f"/anatomy.json?text={text}").status == 200, "next to a slow one"
        assert "this takes more than 3 seconds" in part.result().text
        assert before == [], "their processes have ended"
        ids = running.server.workers.processes()
        assert len(ids) == 1
    assert running.server.workers.processes() == []
    for pid in ids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_waiting_for_busy_workers_is_limited() -> None:
    with explainer(limits=Limits(view=2, workers=1), work=work) as running, ThreadPoolExecutor(4) as threads:
        futures = [threads.submit(running.ask, f"/anatomy?text={HEAVY}") for _ in range(4)]
        answers = [future.result() for future in futures]
    assert {answer.status for answer in answers} == {503}
    both = ("too many requests", "this takes more than 2 seconds")
    assert {text for text in both for answer in answers if text in answer.text} == set(both)


# -- clients that do not do their part

BEGINNINGS = {
    "nothing": b"",
    "half a line": b"GET /anat",
    "half a head": b"GET / HTTP/1.1\r\nHost: localhost\r\n",
    "half a body": b"POST /anatomy HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\n\r\ntext=a",
    "half a chunk": b"POST /anatomy HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\n\r\n5a\r\ntext=a",
    "a body that nobody wants": b"POST /nope HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90\r\n\r\na",
}


def read_until_closed(client: socket.socket, *, drip: bytes = b"") -> bytes:
    """Return all data until the server closes; meanwhile send `drip` again and again, at most 1,000 times."""
    came = b""
    for _ in range(1000):
        try:
            if drip:
                client.sendall(drip)
            piece = client.recv(1 << 16)
        except TimeoutError:
            continue
        except OSError:
            return came
        if not piece:
            return came
        came += piece
    raise AssertionError("the connection is still open")


@pytest.mark.parametrize("drip", [b"", b"a"], ids=["waits", "drips"])
@pytest.mark.parametrize("beginning", BEGINNINGS.values(), ids=BEGINNINGS)
def test_a_slow_request_is_closed_at_the_deadline(impatient_server: Explainer, beginning: bytes, drip: bytes) -> None:
    with socket.create_connection(("127.0.0.1", impatient_server.port)) as client:
        client.settimeout(0.05)
        client.sendall(beginning)
        came = read_until_closed(client, drip=drip)
    if b"/nope" in beginning:
        assert came.startswith(b"HTTP/1.1 404 ")
    elif beginning:
        assert came.startswith(b"HTTP/1.1 408 ") or came == b""
    assert impatient_server.ask("/").status == 200


@pytest.fixture(scope="module")
def impatient_server() -> Iterator[Explainer]:
    with explainer(limits=Limits(reading=0.5)) as running:
        yield running


def test_a_client_that_does_not_read_is_closed() -> None:
    """It sends complete requests and reads none of the answers."""
    request = b"GET /static/style.css HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with explainer(limits=Limits(answering=1)) as running, socket.socket() as client:
        assert running.server is not None
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", running.port))
        client.settimeout(10)
        with suppress(OSError):  # until it is closed, or accepts no more data
            for _ in range(100_000):
                client.sendall(request * 100)
        wait_until(lambda: running.server is not None and not running.server.server_state.connections, "closed")
        assert running.ask("/").status == 200


def test_incomplete_requests_do_not_block_other_clients() -> None:
    """Even without a deadline: the oldest connections are closed."""
    with explainer(limits=Limits(reading=3600, connections=16)) as running, ExitStack() as stack:
        assert running.server is not None
        requests = list(BEGINNINGS.values())[:5]
        dripping = []
        for number in range(70):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", running.port)))
            client.settimeout(20)
            client.sendall(requests[number % len(requests)])
            dripping.append(client)
            if number % 10 == 9:
                assert running.ask("/").status == 200
        assert len(running.server.server_state.connections) <= 16
        assert read_until_closed(dripping[0]) == b""


def test_a_request_in_a_burst_of_silent_connections_is_answered() -> None:
    """The oldest are closed, even if many connections arrive at once."""
    with explainer(limits=Limits(reading=3600, connections=16)) as running:
        for _ in range(5):
            with ExitStack() as stack:
                silent = [stack.enter_context(socket.socket()) for _ in range(60)]
                for client in silent:
                    client.setblocking(False)
                    client.connect_ex(("127.0.0.1", running.port))
                assert running.ask("/").status == 200


@pytest.mark.parametrize("path", ["/anatomy", "/anatomy.json", "/anatomy.part", "/nope"])
@pytest.mark.parametrize(
    ("fields", "is_own"),
    [
        ({}, True),
        ({"sec_fetch_site": "same-origin"}, True),
        ({"sec_fetch_site": "none"}, True),
        ({"sec_fetch_site": "cross-site"}, False),
        ({"sec_fetch_site": "same-site"}, False),
        ({"sec_fetch_site": "Same-Origin, cross-site"}, False),
        ({"sec_fetch_site": ""}, False),
        ({"origin": "http://127.0.0.1:PORT"}, True),
        ({"origin": "http://127.0.0.1:PORT", "sec_fetch_site": "cross-site"}, False),
        ({"origin": "http://evil.example", "sec_fetch_site": "same-origin"}, False),
        ({"origin": "null"}, False),
        ({"origin": ""}, False),
        ({"origin": "http://evil.example"}, False),
        ({"origin": "http://127.0.0.1:1"}, False),
        ({"origin": "http://127.0.0.1"}, False),
        ({"origin": "http://127.0.0.1:PORT.evil.example"}, False),
        ({"origin": "http://127.0.0.1:PORT/"}, False),
    ],
)
def test_a_post_from_another_origin_is_rejected(
    served: Explainer, path: str, fields: dict[str, str], is_own: bool
) -> None:
    named: dict[str, Any] = {name: value.replace("PORT", str(served.port)) for name, value in fields.items()}
    answer = served.form(path, {"text": "a"}, **named)
    assert (answer.status != 403) == is_own
    assert {name.lower(): value for name, value in HEADERS.items()}.items() <= answer.headers.items()
    for mode, status in {"navigate": 200, "no-cors": 200 if is_own else 403, "cors": 200 if is_own else 403}.items():
        answer = served.ask("/anatomy?text=a", **named, sec_fetch_mode=mode)
        assert answer.status == status, "a link may lead here"


def test_runs_cover_the_whole_text() -> None:
    text = "a\u202e\u202eb:c@d" * 400
    result = runs(text, [Place("path", 0, len(text))])
    assert result[0].start == 0
    assert result[-1].end == len(text)
    assert all(first.end == two.start for first, two in pairwise(result))


def test_a_password_after_the_limit_of_runs_is_masked() -> None:
    """The rest is one run, in which passwords are masked and invisible characters replaced."""
    text = "a\x01" * 2000 + f"ftp://joe:{SECRET}@h/\x01"
    result = runs(text, [])
    assert len(result) < 2100
    text_shown = "".join(run.text for run in result)
    assert SECRET not in text_shown
    assert text_shown.endswith("ftp://joe:***@h/\ufffd")


def test_a_suggestion_lists_a_labels_first(served: Explainer) -> None:
    text = served.form("/anatomy.part", {"text": "https://www.ex\u00e4mple.co.uk/"}).text.partition("Did you mean")[2]
    first, second = text.index("https://www.xn--exmple-cua.co.uk/"), text.index("https://www.ex%C3%A4mple.co.uk/")
    assert first < second


def test_a_repair_of_many_changes_counts_the_rest(served: Explainer) -> None:
    data = served.data("anatomy", text="http://h/" + "a b" * 80)
    assert (len(data["repair"]["changes"]), data["repair"]["total"]) == (50, 80)
    assert "and 30 more changes" in served.form("/anatomy.part", {"text": "http://h/" + "a b" * 80}).text


# -- the verb


def serve(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "overthere", "serve", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip


def test_small_answers_are_sent_at_once() -> None:
    """asyncio sets TCP_NODELAY only for sockets that name TCP: each answer of a reused connection took 40 ms more."""
    with _listening("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP


def test_the_command_serves_without_a_log() -> None:
    running = serve("--port", "0")
    assert running.stdout is not None
    try:
        address = running.stdout.readline().strip()
        match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/", address)
        assert match
        client = Explainer(int(match[1]))
        assert client.ask(f"/anatomy?text=ftp://joe:{SECRET}@h/").status == 200
        assert client.ask("/nope").status == 404
    finally:
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert out == ""
    assert "Sesame" not in err
    assert "Traceback" not in err
    assert running.returncode in (1, 130)


def test_clients_that_do_not_read_do_not_delay_the_shutdown() -> None:
    running = serve("--port", "0")
    assert running.stdout is not None
    try:
        port = int(running.stdout.readline().strip().removesuffix("/").rpartition(":")[2])
        clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(4)]
        for client in clients:
            client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 500)
        assert Explainer(port).ask("/").status == 200
    finally:
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
    for client in clients:
        client.close()


def test_a_client_that_disconnects_is_not_logged() -> None:
    """At any point of a request; Ctrl-C still ends the server and its workers."""
    running = serve("--port", "0")
    assert running.stdout is not None
    requests = [
        b"GET /anatomy.json?text=a HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST /anatomy HTTP/1.1\r\nHost: localhost\r\nContent-Length: 6\r\n"
        b"Content-Type: application/x-www-form-urlencoded\r\n\r\ntext=a",
        b"GET /anatomy.json?text=a HTTP/1.1\r\nHost: localhost\r\n\r\n" * 50,
    ]
    try:
        port = int(running.stdout.readline().strip().removesuffix("/").rpartition(":")[2])
        for request in (*BEGINNINGS.values(), *requests):
            for linger in (b"\1\0\0\0\0\0\0\0", None):
                with socket.create_connection(("127.0.0.1", port)) as client:
                    if linger is not None:  # closes with a reset
                        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                    client.sendall(request)
        assert Explainer(port).ask("/anatomy.json?text=a").status == 200
    finally:
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert (out, err) == ("", "Stopped\n")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "museum.example"])
def test_serving_other_machines_needs_an_option(host: str) -> None:
    process = serve("--host", host, "--port", "0")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, "")
    assert "is not loopback" in err
    assert "--beyond-this-machine" in err


def test_a_port_in_use_is_reported() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        process = serve("--port", str(other.getsockname()[1]))
        _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "in use" in err


@pytest.mark.parametrize("method", [b"POST", b"GET", b"HEAD", b"OPTIONS", b"CONNECT"])
@pytest.mark.parametrize("size", [b"-1", b"f" * 24, b"zz", b""])
def test_an_invalid_chunk_causes_no_traceback(
    served: Explainer, size: bytes, method: bytes, capfd: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """A HEAD had one: its answer has no content."""
    head = method + b" /explain.json HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
    form = b"Content-Type: application/x-www-form-urlencoded\r\n\r\n"
    with socket.create_connection(("127.0.0.1", served.port)) as client:
        client.settimeout(5)
        client.sendall(head + form + size + b"\r\n\r\n")
        came = read_until_closed(client)
    assert came.startswith(b"HTTP/1.1 400 ")
    assert came.count(b"HTTP/1.1") == 1
    assert served.ask("/").status == 200
    assert "Traceback" not in capfd.readouterr().err + caplog.text


def test_a_request_with_two_lengths_is_answered_once(served: Explainer) -> None:
    """The rest could be read as another request (RFC 9112 6.1)."""
    head = b"POST /anatomy HTTP/1.1\r\nHost: localhost\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n"
    form = b"Content-Type: application/x-www-form-urlencoded\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with socket.create_connection(("127.0.0.1", served.port)) as client:
        client.settimeout(5)
        client.sendall(head + form)
        came = read_until_closed(client)
    assert came.startswith(b"HTTP/1.1 400 ")
    assert came.count(b"HTTP/1.1") == 1


def test_the_pipe_of_a_worker_without_an_answer_is_closed() -> None:
    """Even while the traceback of the error refers to it."""
    workers = Workers(0)
    try:
        with pytest.raises(TooSlow) as caught:
            workers.answer("data", "anatomy", {"text": "a"})
        frames = [frame.f_locals.get("worker") for frame, _ in traceback.walk_tb(caught.value.__traceback__)]
        assert [worker.pipe.closed for worker in frames if worker is not None] == [True]
    finally:
        workers.close()


def test_a_worker_that_died_while_idle_is_replaced() -> None:
    workers = Workers(60)
    try:
        first = workers.answer("data", "anatomy", {"text": "a"})
        (pid,) = workers.processes()
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: all(worker.has_ended() for worker in workers._idle_workers), "the end of the process")
        assert workers.answer("data", "anatomy", {"text": "a"}) == first
        assert pid not in workers.processes()
    finally:
        workers.close()
