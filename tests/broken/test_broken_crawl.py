"""Crawling a site within its origin: nginx, robots.txt, traps, redirects, broken links."""

from __future__ import annotations

import gzip
import json
import os
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from overthere import Policy
from overthere.broken import Summary, check
from overthere.broken.crawl import REPEATED, Crawl
from overthere.broken.external import Asker
from overthere.broken.model import Checker, Outcome
from overthere.broken.robots import Robots
from overthere.cli.app import app
from overthere.links.report.record_pages import BATCH
from servers import free_port
from servers.faults import faulty, simple
from servers.nginx import Nginx, nginx
from support import linear
from test_broken_outside import recorded_waits

LOCAL = Policy.local()
SITE = {
    "index.html": '<title>t</title><a href="a.html">a</a> <a href="sub/">s</a> <a href="lost.html">g</a>'
    '<img src="lost.gif"> <a href="a.html#there">t</a> <a href="a.html#nowhere">n</a> <a href="found/">f</a>'
    '<a href="found/#here">f</a> <a href="found/#no">f</a> <a href="moved/">m</a>'
    '<a href="http://elsewhere.example/x">e</a>',
    "a.html": '<title>t</title><p id="there">t</p><a href="index.html">up</a><a href="closed/x.html">p</a>',
    "page.html": '<title>t</title><h1 id="here">h</h1>',
    "sub/index.html": '<title>t</title><base href="/"><a href="b.html">b</a>'
    "<style>p { background: url(lost.png) }</style>",
    "b.html": '<title>t</title><a href="b.html?page=2">next</a>',
    "robots.txt": "User-agent: *\nDisallow: /closed/\n",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nginx]:
    folder = tmp_path_factory.mktemp("nginx")
    for name, text in SITE.items():
        (folder / "root" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "root" / name).write_text(text)
    with nginx(folder) as running:
        yield running


def test_a_site_is_crawled_and_broken_links_are_reported(server: Nginx) -> None:
    start = server.uri("/index.html")
    summary = Summary()
    reported = {
        (results.source.removeprefix(server.uri("/")), results.reference, results.kind)
        for results in check([start], Checker(), summary, policy=LOCAL)
    }
    assert reported == {
        ("index.html", "lost.html", "not-found"),
        ("index.html", "lost.gif", "not-found"),
        ("index.html", "a.html#nowhere", "no-fragment"),
        *(("index.html", reference, "no-fragment") for reference in ("found/", "found/#here", "found/#no")),
        ("index.html", "moved/", "moved-permanently"),
        ("a.html", "closed/x.html", "robots"),
        ("sub/", "lost.png", "not-found"),
    }
    requests = [tuple(line[0].split()[:2]) for line in server.requests()]
    paths = [path for _, path in requests]
    assert len(requests) == len(set(requests)), "each was asked for once, also that to which two redirects lead"
    assert "/closed/x.html" not in paths
    assert "/robots.txt" in paths


def test_the_command(server: Nginx, tmp_path: Path) -> None:
    options = ["broken", server.uri("/index.html"), "--private", "--format", "jsonl", "--cache", str(tmp_path / "c")]
    result = CliRunner().invoke(app, options)
    assert result.exit_code == 1
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert {row["kind"] for row in rows} >= {"not-found", "no-fragment"}
    assert CliRunner().invoke(app, ["broken", server.uri("/index.html")]).exit_code == 1
    for bad in (["--resume"], ["--header", "h:x"], ["--max-age", "ok=soon"], ["--cache", str(tmp_path)]):
        assert CliRunner().invoke(app, [*options[:3], *bad]).exit_code == 2, bad
    assert CliRunner().invoke(app, ["broken", "ftp://h.example/"]).exit_code == 2


def crawled(server: Nginx, **settings: object) -> Crawl:
    checker = Checker(**settings)  # type: ignore[arg-type]
    with Asker(checker, LOCAL) as asker:
        crawl = Crawl([server.uri("/index.html")], asker)
        crawl.run(lambda *_: None)
    return crawl


def test_the_number_of_pages_is_limited(server: Nginx) -> None:
    crawl = crawled(server, pages=3, jobs=1)
    assert len(crawl.outcomes) <= 4
    assert crawl.passed["page-limit"]


def test_a_trap_ends(server: Nginx, tmp_path: Path) -> None:
    crawl = crawled(server, pages=1000)
    uri = server.uri("/" + "again/" * (REPEATED + 1))
    assert crawl._reason(uri, 1) == "trap"
    assert crawl._reason(server.uri("/" + "x" * 3000), 1) == "long"
    assert crawl._reason(server.uri("/y"), 1000) == "deep"


class Pages:
    """A server of this process that answers by a function: status line, fields and content; it records requests."""

    def __init__(self, answer: Callable[[str], tuple[str, str, bytes]]) -> None:
        self.answer = answer
        self.asked: Counter[str] = Counter()

    def __call__(self, client: socket.socket) -> None:
        while data := client.recv(65_536):
            method, path = data.decode().split(" ")[:2]
            self.asked[path] += 1
            status, fields, content = self.answer(path)
            head = f"HTTP/1.1 {status}\r\n{fields}Content-Length: {len(content)}\r\n\r\n".encode()
            client.sendall(head + (content if method == "GET" else b""))


HTML = "Content-Type: text/html\r\n"


def walked(site: Pages, **settings: object) -> tuple[Crawl, Counter[str]]:
    with faulty(simple(site)) as server:
        checker = Checker(**settings)  # type: ignore[arg-type]
        with Asker(checker, LOCAL) as asker:
            crawl = Crawl([f"http://127.0.0.1:{server.port}/"], asker)
            crawl.run(lambda *_: None)
            crawl.records.drop(is_complete=True)
    assert max(site.asked.values(), default=1) == 1
    return crawl, site.asked


def test_endless_folders_end_at_a_depth() -> None:
    """Each page links to another, whose path repeats nothing: only the chain shows the trap."""

    def answer(path: str) -> tuple[str, str, bytes]:
        if path == "/robots.txt":
            return "404 Not Found", "", b""
        return "200 OK", HTML, b'<title>t</title><a href="%d/">on</a>' % path.count("/")

    crawl, requests = walked(Pages(answer))
    assert len(requests) == 102, "robots.txt, and a hundred links from the first"
    assert crawl.passed == {"deep": 1}


def test_a_growing_site_ends_at_the_limit() -> None:
    """Each page links to a thousand others: requests and memory are limited by --pages."""

    def answer(path: str) -> tuple[str, str, bytes]:
        if path == "/robots.txt":
            return "404 Not Found", "", b""
        links = "".join(f'<a href="/{path.strip("/") or "0"}-{number}">x</a>' for number in range(1000))
        return "200 OK", HTML, f"<title>t</title>{links}".encode()

    crawl, requests = walked(Pages(answer), pages=50)
    assert len(requests) == 51
    assert len(crawl._seen) == 50
    assert crawl.passed["page-limit"] > 40_000


def chained(path: str) -> tuple[str, str, bytes]:
    """A site of ten pages, each linking to the next, whose server requests long delays."""
    if path == "/robots.txt":
        return "200 OK", "", b"User-agent: *\nCrawl-delay: 1000000000"
    number = int(path.strip("/") or 0) + 1
    return "200 OK", HTML, b'<title>t</title><a href="/%d">on</a>' % number if number < 10 else b"<title>t</title>"


def test_a_crawl_ends_in_time_despite_requested_delays() -> None:
    crawl, requests = walked(Pages(chained), crawl_time=1)
    assert crawl.passed == {"crawl-time": 1}
    assert len(requests) < 10
    assert Checker().crawl_time == 6 * 3600, "there is a bound by default"


def test_a_crawl_without_time_makes_no_requests() -> None:
    crawl, requests = walked(Pages(chained), crawl_time=0)
    assert (crawl.outcomes, crawl.passed, sum(requests.values())) == ({}, {"crawl-time": 1}, 0)


@pytest.mark.parametrize("link", ["<a href={}>", "<a href=//a.b/{}>"])
def test_a_page_of_many_links_ends_with_the_time(link: str) -> None:
    uri = "http://127.0.0.1:1/"
    with Asker(Checker(pages=50), LOCAL) as asker:
        crawl = Crawl([uri], asker)
        crawl._deadline = 0.0
        crawl._follow(crawl._document(uri, "text/html", b"<a href=x>" + b"".join(large(link, 100_000))), 1)
        crawl.records.drop(is_complete=True)
    assert crawl.passed["crawl-time"] == 1, "the rest of the page"
    assert crawl.passed["page-limit"] <= BATCH


def large(form: str, count: int) -> Iterator[bytes]:
    return (form.format(number).encode() for number in range(count))


def test_an_unfinished_crawl_is_reported_and_continues(tmp_path: Path) -> None:
    cache = tmp_path / "c"
    with faulty(simple(Pages(chained))) as server:
        verb = ["broken", f"http://127.0.0.1:{server.port}/", "--private", "--cache", str(cache)]
        first = CliRunner().invoke(app, [*verb, "--crawl-time", "3"])
        assert "1  URIs of the site left when --crawl-time was over" in first.output
        assert (tmp_path / "c.warc").exists(), "what came is kept"
        second = CliRunner().invoke(app, [*verb, "--crawl-time", "1s", "--resume"])
        assert "with --cache, --resume continues" in second.output
    for bad in ("", "-1", "nan", "inf", "1y", "1e400h"):
        assert CliRunner().invoke(app, ["broken", "http://h.example/", "--crawl-time", bad]).exit_code == 2, bad


def test_unread_pages_of_a_crawl_are_not_checked_otherwise() -> None:
    site = Pages(chained)
    with faulty(simple(site)) as server:
        checker, summary = Checker(crawl_time=1, online=True), Summary()
        findings = list(check([f"http://127.0.0.1:{server.port}/"], checker, summary, lambda *_: None, LOCAL))
    assert summary.passed["crawl-time"] == 1
    assert sum(site.asked.values()) <= 3
    assert findings == []


def test_robots_txt_applies_to_redirects() -> None:
    def answer(path: str) -> tuple[str, str, bytes]:
        if path == "/robots.txt":
            return "200 OK", "", b"User-agent: *\nDisallow: /closed"
        if path == "/in":
            return "302 Found", "Location: /closed\r\n", b""
        return "200 OK", HTML, b'<title>t</title><a href="/in">in</a>'

    crawl, requests = walked(Pages(answer))
    assert requests == {"/robots.txt": 1, "/": 1, "/in": 1}
    assert {outcome.kind for uri, outcome in crawl.outcomes.items() if uri.endswith("/in")} == {"robots"}


@pytest.mark.parametrize("is_crawled", [True, False])
def test_the_fragment_of_a_redirect_replaces_that_of_the_link(is_crawled: bool, tmp_path: Path) -> None:
    """RFC 9110 10.2.2."""
    places = {"/b": ("301", "/a#here"), "/c": ("302", "/a#here"), "/d": ("302", "/a#gone"), "/e": ("301", "/a#gone")}
    page = "<!doctype html><p id=here>" + "".join(f'<a href="{{root}}{path}#x">' for path in places)

    def answer(path: str) -> tuple[str, str, bytes]:
        if path in places:
            return f"{places[path][0]} Moved", f"Location: {places[path][1]}\r\n", b""
        return ("404 Not Found", "", b"") if path == "/robots.txt" else ("200 OK", HTML, page.format(root="").encode())

    with faulty(simple(Pages(answer))) as server:
        root = f"http://127.0.0.1:{server.port}"
        (tmp_path / "a.html").write_text(page.format(root=root))
        source = f"{root}/a" if is_crawled else tmp_path
        rows = [*check([source], Checker(online=not is_crawled), Summary(), lambda *_: None, LOCAL)]
    assert [(row.target, row.kind, row.suggestion) for row in rows] == [
        (f"{root}/b#x", "moved-permanently", f"{root}/a#here"),
        (f"{root}/d#x", "no-fragment", None),
        (f"{root}/e#x", "no-fragment", None),
    ]


def test_redirected_robots_txt_is_followed() -> None:
    """RFC 9309 2.3.1.2; this document is requested once."""

    def answer(path: str) -> tuple[str, str, bytes]:
        if path == "/robots.txt":
            return "302 Found", "Location: /rules#part\r\n", b""
        if path == "/rules":
            return "200 OK", "Content-Type: text/plain\r\n", b"User-agent: *\nDisallow: /closed"
        return "200 OK", HTML, b'<title>t</title><a href="/closed">c</a> <a href="/rules">r</a>'

    crawl, requests = walked(Pages(answer))
    assert requests == {"/robots.txt": 1, "/rules": 1, "/": 1}
    assert Counter(outcome.kind for outcome in crawl.outcomes.values()) == {None: 2, "robots": 1}


def test_links_of_error_pages_are_not_followed() -> None:
    def answer(path: str) -> tuple[str, str, bytes]:
        if path in ("/robots.txt", "/lost"):
            return "404 Not Found", HTML, b'<title>t</title><a href="/from-an-error">x</a>'
        return "200 OK", HTML, b'<title>t</title><a href="/lost">x</a>'

    assert walked(Pages(answer))[1] == {"/robots.txt": 1, "/": 1, "/lost": 1}


def test_an_unreachable_site_is_reported_as_such() -> None:
    """Not as unreadable robots.txt, which is requested first (RFC 9309 2.3.1.4)."""
    start = f"http://127.0.0.1:{free_port()}/"
    reported = [(one.source, one.kind, one.level) for one in check([start], Checker(), Summary(), policy=LOCAL)]
    assert reported == [(start, "connect", "error")]


@pytest.mark.parametrize(("status", "kind"), [("403 Forbidden", "unreadable"), ("302 Found", "bad-location")])
def test_the_summary_agrees_with_the_findings_on_the_start(status: str, kind: str) -> None:
    """A start that programs may not read is an error, and one behind a repaired redirect is read."""

    def answer(path: str) -> tuple[str, str, bytes]:
        if path == "/":
            return status, "Location: /a b\r\n", b""
        return ("404 Not Found", "", b"") if path == "/robots.txt" else ("200 OK", HTML, b"<title>t</title>")

    summary = Summary()
    with faulty(simple(Pages(answer))) as server:
        findings = list(check([f"http://127.0.0.1:{server.port}/"], Checker(), summary, policy=LOCAL))
    assert [finding.kind for finding in findings] == [kind]
    assert summary.errors == sum(finding.level == "error" for finding in findings)


def test_rules_for_many_agents_are_linear() -> None:
    """Protego stores each rule once for each agent of its group."""

    forms = ("User-agent: a{}", "user agent a{}", "useragent : a{}", "User-agent: o{:*<{}}v", "user-agent:{:*<{}}")

    def rules(count: int) -> Robots:
        agents = "".join(f"{forms[n % 5].format('' if n % 5 > 2 else n, n // 100 + 1)}\n" for n in range(count))
        robots = Robots()
        robots.add_file("http://h/robots.txt", (agents + "".join(f"allow: /{n}\n" for n in range(count))).encode())
        return robots

    linear(rules, 4000)
    for agent in ("*", "overthere", "OverThere*", "over", "a\nUser-agent: overthere\nUser-agent: b"):
        robots = Robots()
        robots.add_file(
            "http://h/robots.txt", f"User-agent: {agent}\nDisallow: /no\nUser-agent: c\nDisallow: /".encode()
        )
        robots.record_answer("http://h", Outcome("http://h/robots.txt", None, 200, "", None, False, (), 0.0, False))
        assert robots.refusal("http://h/no") is not None, agent
        assert robots.refusal("http://h/yes") is None, agent


@pytest.mark.parametrize(
    ("file", "refused"),
    [
        ("\ufeffUser-agent: *\nDisallow: /no", True),
        ("User-agent: overthere/1.0\nDisallow: /no", True),
        ("User-agent: Overthere (checks links)\nDisallow: /no", True),
        ("User-agent: overthereall\nDisallow: /no", False),
        (f"User-agent: *\n#{'x' * (500 * 1024 - 27)}\nDisallow: /nothing", False),
        (f"User-agent: *\n#{'x' * (500 * 1024 - 32)}\nDisallow: /no\nDisallow: /", True),
    ],
    ids=["mark", "version", "agent", "other", "cut", "whole"],
)
def test_rules_are_read_as_other_crawlers_do(file: str, refused: bool) -> None:
    """Behind a byte order mark, by the product token (RFC 9309 2.2.1), and whole up to the limit (2.5)."""
    robots = Robots()
    robots.add_file("http://h/robots.txt", file.encode())
    robots.record_answer("http://h", Outcome("http://h/robots.txt", None, 200, "", None, False, (), 0.0, False))
    assert (robots.refusal("http://h/no") is not None) is refused


def test_what_is_not_requested_takes_no_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    """A URI that robots.txt forbids waited for its Crawl-delay."""

    def answer(path: str) -> tuple[str, str, bytes]:
        if path == "/robots.txt":
            return "200 OK", "", b"User-agent: *\nDisallow: /no\nCrawl-delay: 1"
        return "200 OK", HTML, b"".join(b"<a href=/no%d>x</a>" % number for number in range(30))

    waits = recorded_waits(monkeypatch)
    assert walked(Pages(answer))[1] == {"/robots.txt": 1, "/": 1}
    assert len(waits) > 30
    assert sum(wait > 0 for wait in waits) <= 2


def test_a_page_over_the_limit_is_reported() -> None:
    """Also if only its decoded content exceeds the limit: nothing of it is known."""
    page = b"<title>t</title><a href=/lost>x</a>%s<a href=/lost2>x</a>"
    long = page % (b"<!--" + b" " * 2000 + b"-->")
    packed = gzip.compress(page % (b"<!--" + os.urandom(3000).replace(b"-", b"_") + b"-->"))

    def answer(path: str) -> tuple[str, str, bytes]:
        if path == "/":
            return "200 OK", HTML, b"<title>t</title><a href=/long>l</a> <a href=/packed>p</a>"
        if path not in ("/long", "/packed"):
            return "404 Not Found", "", b""
        return (
            "200 OK",
            HTML + "Content-Encoding: gzip\r\n" * (path == "/packed"),
            packed if path == "/packed" else long,
        )

    with faulty(simple(Pages(answer))) as server:
        findings = list(check([f"http://127.0.0.1:{server.port}/"], Checker(limit=1000), Summary(), policy=LOCAL))
    assert [(finding.source.rpartition("/")[2], finding.kind, finding.reference) for finding in findings] == [
        ("", "too-large", "/packed"),
        ("long", "not-read", None),
        ("long", "not-found", "/lost"),
    ]
