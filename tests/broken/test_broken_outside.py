"""External URIs: nginx, and sockets with invalid answers; scheduling by host; the cache."""

from __future__ import annotations

import selectors
import socket
import threading
import time
import tracemalloc
import zlib
from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import click
import pytest

from overthere import URI, Policy
from overthere.access.steps import Connect
from overthere.access.transport import Ready
from overthere.access.wire import Head
from overthere.broken import connections, fragments, replies
from overthere.broken.cache import Cache
from overthere.broken.connections import Connection
from overthere.broken.cookies import Cookies
from overthere.broken.external import Asker
from overthere.broken.fragments import anchors
from overthere.broken.hosts import DEAD, MOST_PATIENCE, MOST_WAIT, TRIES, Hosts
from overthere.broken.loop import Loop, Work
from overthere.broken.model import KINDS, Checker, Outcome
from overthere.broken.replies import Reply, brief_redirect, wait_for
from overthere.broken.requests import Requester
from overthere.cli.request_settings import _header
from servers import NET, free_port
from servers.faults import close_at, dripped, endless, faulty, read_request, simple, stalled
from servers.nginx import Nginx, nginx, trusting
from support import linear

PAGE = '<!doctype html><title>t</title><h1 id="here">h</h1><a name="caf\xe9">a</a>'
LOCAL = Policy.local().with_(connect_timeout=NET, read_timeout=NET)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nginx]:
    folder = tmp_path_factory.mktemp("nginx")
    (folder / "root").mkdir()
    (folder / "root" / "page.html").write_text(PAGE, "utf-8")
    (folder / "root" / "text.txt").write_text("plain")
    with nginx(folder) as running:
        yield running


def ask(uris: list[str], policy: Policy = LOCAL, **settings: object) -> dict[str, Outcome]:
    checker = Checker(online=True, **settings)  # type: ignore[arg-type]
    with Asker(checker, policy) as asker:
        outcomes = list(asker.ask(uris))
    assert len(outcomes) == len(uris)
    return {outcome.uri: outcome for outcome in outcomes}


def requests_for(server: Nginx, path: str) -> Counter[str]:
    """The requests for a path, by method."""
    return Counter(line[0].split()[0] for line in server.requests() if line[0].split()[1] == path)


EXPECTED: dict[str, tuple[str | None, int | None]] = {
    "/page.html": (None, 200),
    "/nowhere": ("not-found", 404),
    "/gone": ("gone", 410),
    "/private": ("programs-refused", 403),
    "/broken": ("server-error", 500),
    "/moved/": ("moved-permanently", 200),
    "/permanent/": ("moved-permanently", 200),
    "/found/": ("no-fragment", 200),
    "/chain/1": (None, 200),
    "/circle/1": ("redirect-loop", None),
    "/endless/x": ("redirect-loop", None),
    "/file": ("bad-redirect", 302),
    "/wrong": ("protocol", None),
    "/headless/page.html": (None, 200),
    "/nothing": (None, 204),
    "/soon": ("rate-limited", 429),
}


def test_outcomes_of_answers(server: Nginx) -> None:
    outcomes = ask([server.uri(path) for path in EXPECTED])
    assert {path: (outcomes[server.uri(path)].kind, outcomes[server.uri(path)].status) for path in EXPECTED} == EXPECTED
    assert outcomes[server.uri("/moved/")].final == server.uri("/page.html")
    assert outcomes[server.uri("/moved/")].why == server.uri("/page.html")
    assert outcomes[server.uri("/found/")].final == server.uri("/page.html#there")
    assert not outcomes[server.uri("/found/")].permanent


def test_no_unnecessary_requests(server: Nginx) -> None:
    before = {path: requests_for(server, path) for path in ("/page.html?a", "/nowhere?a", "/headless/page.html?a")}
    assert not any(before.values())
    ask([server.uri(path) for path in before])
    assert requests_for(server, "/page.html?a") == {"HEAD": 1}
    assert requests_for(server, "/nowhere?a") == {"HEAD": 1, "GET": 1}
    assert requests_for(server, "/headless/page.html?a") == {"HEAD": 1, "GET": 1}


def test_many_uris_of_all_kinds_need_the_expected_requests(server: Nginx) -> None:
    """Delays (each answer waits for the one before), errors of each class, rate limits, redirects to one target."""
    needed: dict[str, tuple[int, str | None, dict[str, int]]] = {
        "/page.html?m{}": (60, None, {"HEAD": 1}),
        "/slow/page.html?m{}": (20, None, {"HEAD": 1}),
        "/nowhere?m{}": (20, "not-found", {"HEAD": 1, "GET": 1}),
        "/gone?m{}": (20, "gone", {"HEAD": 1}),
        "/private?m{}": (20, "programs-refused", {"HEAD": 1, "GET": 1}),
        "/broken?m{}": (20, "server-error", {"HEAD": 1, "GET": 1}),
        "/soon?m{}": (10, "rate-limited", {"HEAD": TRIES}),
        "/moved/m{}": (20, "moved-permanently", {"HEAD": 1}),
    }
    already = requests_for(server, "/page.html")
    kinds = {server.uri(path.format(at)): kind for path, (n, kind, _) in needed.items() for at in range(n)}
    outcomes = ask(list(kinds), jobs=8, per_host=8)
    assert {uri: outcome.kind for uri, outcome in outcomes.items()} == kinds
    counts = Counter(tuple(line[0].split()[:2]) for line in server.requests())
    for path, (n, _, methods) in needed.items():
        for at in range(n):
            assert {method: counts[method, path.format(at)] for method in methods} == methods
            assert sum(counts[method, path.format(at)] for method in ("HEAD", "GET")) == sum(methods.values())
    assert (requests_for(server, "/page.html") - already).total() == 1, "where twenty redirects lead"


def test_a_rate_limited_server_is_retried_until_it_answers(server: Nginx) -> None:
    paths = [f"/limited/page.html?{number}" for number in range(16)]
    outcomes = ask([server.uri(path) for path in paths], jobs=8, per_host=8)
    assert {outcome.kind for outcome in outcomes.values()} == {None}
    for path in paths:
        *before, last = [line[2] for line in server.requests() if line[0].split()[1] == path]
        assert (set(before) <= {"429"}, last, len(before) < TRIES) == (True, "200", True)


def test_a_shared_redirect_target_is_read_once_for_all_fragments(server: Nginx) -> None:
    uris = {server.uri(f"/moved/?s{number}"): ["here", f"no{number}"] for number in range(5)}
    uris[server.uri("/found/?s")] = []
    before = requests_for(server, "/page.html")
    with Asker(Checker(online=True), LOCAL) as asker:
        outcomes = {outcome.uri: outcome.missing for outcome in asker.ask(uris, uris)}
    assert outcomes == {uri: tuple(fragments[1:]) for uri, fragments in uris.items()}
    further = requests_for(server, "/page.html") - before
    assert further["GET"] == 1
    assert further["HEAD"] <= 1, "by one that wanted no more, if it was there first"


def test_a_busy_server_is_retried_a_limited_number_of_times(server: Nginx) -> None:
    ask([server.uri("/soon?b")])
    assert requests_for(server, "/soon?b") == {"HEAD": TRIES}


def test_one_connection_serves_many_requests(server: Nginx, monkeypatch: pytest.MonkeyPatch) -> None:
    made_uris: list[URI] = []

    class Counted(Connection):
        def __init__(self, connect: Connect, policy: Policy, uri: URI, port: int | None) -> None:
            made_uris.append(uri)
            super().__init__(connect, policy, uri, port)

    monkeypatch.setattr(connections, "Connection", Counted)
    asker = Asker(Checker(online=True, jobs=1), LOCAL)
    uris = [server.uri(f"/{name}?{number}") for number in range(20) for name in ("page.html", "nowhere")]
    assert Counter(outcome.status for outcome in asker.ask(uris)) == {200: 20, 404: 20}
    assert len(made_uris) == len(asker.asking.connections._order) == 1
    asker.close()
    assert not asker.asking.connections._order


def test_a_closed_connection_is_reopened(server: Nginx) -> None:
    with Asker(Checker(online=True, jobs=1), LOCAL) as asker:
        assert [outcome.kind for outcome in asker.ask([server.uri("/page.html")])] == [None]
        (connection,) = asker.asking.connections._order
        connection.carrier.channels[0].shutdown(2)  # type: ignore[union-attr]
        assert [outcome.kind for outcome in asker.ask([server.uri("/page.html")])] == [None]
        assert connection.carrier.is_closed


def test_data_on_an_idle_connection_is_no_answer() -> None:
    """RFC 9112 9.2: some servers send a 408 before they close an idle connection."""
    is_idle, is_sent = threading.Event(), threading.Event()

    def fault(client: socket.socket) -> None:
        while read_request(client):
            client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n")
            if is_idle.wait(NET) and not is_sent.is_set():
                client.sendall(b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")
                is_sent.set()

    with faulty(simple(fault)) as server, Asker(Checker(online=True, jobs=1), LOCAL) as asker:
        uris = [f"http://127.0.0.1:{server.port}/{number}" for number in range(2)]
        statuses = []
        for outcome in asker.ask(uris, dict.fromkeys(uris, ("here",))):
            statuses.append(outcome.status)
            is_idle.set()
            assert is_sent.wait(NET)
    assert (statuses, server.accepted) == ([200, 200], 2)


def test_a_408_over_an_old_connection_is_no_answer() -> None:
    """RFC 9110 15.5.9: it was sent while the request was on its way, which is repeated over a new connection."""

    def fault(client: socket.socket) -> None:
        for status in (b"200 OK", b"408 Request Timeout"):
            if read_request(client):
                fields = b"Content-Type: text/html\r\nContent-Length: 0\r\n\r\n"
                client.sendall(b"HTTP/1.1 " + status + b"\r\n" + fields)

    with faulty(simple(fault)) as server, Asker(Checker(online=True, jobs=1), LOCAL) as asker:
        uris = [f"http://127.0.0.1:{server.port}/{number}" for number in range(2)]
        outcomes = list(asker.ask(uris, dict.fromkeys(uris, ("here",))))
    assert ([outcome.status for outcome in outcomes], server.accepted) == ([200, 200], 2)


def test_idle_connections_are_limited_by_free_descriptors(server: Nginx) -> None:
    """Each origin has its own; the one idle for longest is closed."""
    hosts = [f"http://{host}:{server.port}/page.html" for host in ("127.0.0.1", "localhost", "LocalHost")]
    with Asker(Checker(online=True, jobs=1), LOCAL) as asker:
        asker.asking.connections.most = 2
        assert [outcome.kind for outcome in asker.ask(hosts)] == [None] * 3
        assert [connection.origin[0] for connection in asker.asking.connections._order] == ["localhost", "LocalHost"]
        assert sum(map(len, asker.asking.connections._idle.values())) == 2


def test_fragments_are_looked_up_in_the_content(server: Nginx) -> None:
    uris = {
        server.uri("/page.html?f"): ["here", "caf%C3%A9", "top", "", "nowhere", ":~:text=h"],
        server.uri("/text.txt"): ["line=3"],
        server.uri("/temporary/"): ["here", "no"],
    }
    with Asker(Checker(online=True), LOCAL) as asker:
        outcomes = {outcome.uri: outcome for outcome in asker.ask(uris, uris)}
    assert {uri.rpartition("/")[2]: outcome.missing for uri, outcome in outcomes.items()} == {
        "page.html?f": ("nowhere",),
        "text.txt": (),
        "": ("no",),
    }
    assert requests_for(server, "/page.html?f") == {"GET": 1}


def test_missing_anchors_of_a_truncated_document_are_uncertain(server: Nginx) -> None:
    uri = server.uri("/page.html?cut")
    with Asker(Checker(online=True, limit=40), LOCAL) as asker:
        (outcome,) = asker.ask([uri], {uri: ["here", "nowhere"]})
    assert (outcome.kind, outcome.missing) == (None, ())
    assert "read only in part" in outcome.why


def test_header_fields_are_sent_to_their_host_only(server: Nginx) -> None:
    origin = server.uri("").rstrip("/")
    headers = ((origin, "Authorization", "Basic abc"), ("elsewhere.example", "Authorization", "Basic no"))
    ask([server.uri("/page.html?h"), server.uri("/elsewhere?h")], headers=headers)
    logins = [(line[1].partition(":")[0], line[3]) for line in server.requests() if "?h" in line[0]]
    assert logins[0] == ("127.0.0.1", "Basic abc")
    redirected = [line for line in server.requests() if line[1].startswith("localhost")]
    assert redirected
    assert all(line[3] == "-" for line in redirected)
    with pytest.raises(ValueError, match="control character"):
        Requester(LOCAL, headers=[("h", "X", "a\r\nb")])
    with pytest.raises(ValueError, match="not a valid header field name"):
        Requester(LOCAL, headers=[("h", "X:", "a")])


OTHER_ORIGINS = ["127.0.0.1", "127.0.0.1:{}", "https://127.0.0.1:{}", "http://127.0.0.1", "http://localhost:{}"]


def test_header_fields_are_not_sent_to_other_origins(server: Nginx) -> None:
    """A host alone means https on the default port; another scheme, port or spelling of the host is another origin."""
    uri = server.uri("/page.html?others")
    ask([uri], headers=tuple((origin.format(URI(uri).port), "Authorization", "Basic abc") for origin in OTHER_ORIGINS))
    (request,) = [line for line in server.requests() if "?others" in line[0]]
    assert request[3] == "-"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("h:X", "with colons"), ("ftp://h:X-A:v", "an http origin"), ("https://joe:pw@h:X-A:v", "with colons"),
        ("https://h/a:X-A:v", "with colons"), (":X-A:v", "an http origin"), ("a b:X-A:v", "an http origin"),
    ],
)  # fmt: skip
def test_invalid_origins_are_rejected(text: str, message: str) -> None:
    with pytest.raises(click.UsageError, match=message) as caught:
        _header(text)
    assert "pw" not in str(caught.value)


def test_an_origin_is_distinguished_by_its_port() -> None:
    assert _header("api.example:8443:X-A:b:c") == ("api.example:8443", "X-A", "b:c")
    assert _header("api.example:80:v") == ("api.example", "80", "v")
    assert _header("http://[::1]:8000:X-A:") == ("http://[::1]:8000", "X-A", "")


def test_tls_errors_are_reported(server: Nginx) -> None:
    uri = server.uri("/page.html", "https")
    assert ask([uri])[uri].kind == "tls"
    assert ask([uri], LOCAL.with_(tls=trusting(server.folder)))[uri].kind is None


def test_the_safe_policy_is_the_default(server: Nginx) -> None:
    with Asker(Checker(online=True)) as asker:
        (outcome,) = asker.ask([server.uri("/page.html?safe")])
    assert outcome.kind == "refused-by-policy"
    assert not requests_for(server, "/page.html?safe")


def test_uris_that_cannot_be_checked() -> None:
    kinds = {
        "urn:isbn:0451450523": "not-asked",
        "tel:+1-201-555-0123": "not-asked",
        "tel:911": "not-asked",  # not a valid tel URI, since it lacks a context (RFC 3966 5.1.5); but it is not dialled
        "http://joe@h.example/": "refused-by-policy",
        "http://nowhere.invalid/": "dns",
        "file:///etc/hostname": "refused-by-policy",
        "gopher:x": "not-of-scheme",
    }
    assert {uri: outcome.kind for uri, outcome in ask(list(kinds), Policy()).items()} == kinds


def test_an_unreachable_host_is_skipped() -> None:
    port = free_port()
    outcomes = ask([f"http://127.0.0.1:{port}/{number}" for number in range(50)], jobs=1)
    assert {outcome.kind for outcome in outcomes.values()} == {"connect"}
    assert sum("not requested" in outcome.why for outcome in outcomes.values()) == 50 - DEAD


@pytest.mark.parametrize("fields", [b"no field\r\n", b"Content-Length: 9\r\n"], ids=["invalid", "truncated"])
def test_a_host_with_faulty_answers_is_not_skipped(fields: bytes) -> None:
    """Only failed connections make more requests useless: one faulty page says nothing about the next."""
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n%s\r\n<p>" % fields
    with faulty(simple(close_at(answer))) as server, Asker(Checker(online=True, jobs=1), LOCAL) as asker:
        uris = [f"http://127.0.0.1:{server.port}/{number}" for number in range(DEAD + 2)]
        assert {outcome.kind for outcome in asker.ask(uris, dict.fromkeys(uris, ("here",)))} == {"protocol"}


# -- hostile servers: each ends with a finding


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


def _bomb() -> bytes:
    """256 MiB in 256 KiB: a block of one mebibyte 256 times, so that its checksum at the end is wrong."""
    packer = zlib.compressobj()
    start = packer.compress(b"<p>") + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(b" " * (1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return start + block * 256 + packer.flush()


MEASURE = 1 << 20
SHORT: dict[str, dict[str, float]] = {
    "no data": {"read_timeout": 0.5},
    "not finished within": {"total_timeout": 1.0},
    "no connection in time": {"connect_timeout": 0.5},
}
"""The limit that ends it; no other can be reached first on a slow machine."""


def sized(content: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%s" % (len(content), content)


@pytest.mark.parametrize(
    ("fault", "scheme", "kind", "reason"),
    [
        (stalled(b""), "http", "timeout", "no data"),
        (endless(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"), "http", "too-large", "a head"),
        (endless(HEAD + b"X: ", b"y" * 4096), "http", "too-large", "a head"),
        (endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), "http", "protocol", "interim"),
        (dripped(HEAD + b"A: " + b"b" * 5000, 0.01), "http", "timeout", "not finished within"),
        (dripped(HEAD + b"\r\n" + b"b" * 5000, 0.01), "http", "timeout", "not finished within"),
        (endless(HEAD + b"Content-Length: 1073741824\r\n\r\n", b"x" * 65_536), "http", None, "read only in part"),
        (endless(HEAD + b"\r\n", b"x" * 65_536), "http", None, "read only in part"),
        (endless(CHUNKED, b"400\r\n" + b"x" * 1024 + b"\r\n"), "http", None, "read only in part"),
        (endless(CHUNKED + b"1", b";e=e" * 999), "http", "too-large", "a chunk"),
        (simple(close_at(HEAD + b"Content-Encoding: deflate\r\n" + sized(_bomb()))), "http", None, "read only in part"),
        (simple(close_at(b"HTTP/1.1 302 Found\r\nLocation: /" + b"x/" * 99_999)), "http", "protocol", "before the end"),
        (simple(close_at(b"\x00" * 500)), "http", "protocol", "not HTTP"),
        (simple(close_at(b"HTTP/1.1 200 OK\r\n\r\n")), "https", "tls", "no connection"),
        (endless(b"", b"\x16\x03\x01\x00\x05"), "https", "tls", "no connection"),
        (stalled(b""), "https", "timeout", "no connection in time"),
    ],
    ids=[
        "silence", "fields without end", "a field without end", "interim responses", "a dripped head",
        "dripped content", "a gigabyte", "content without end", "chunks without end", "a chunk line without end",
        "a bomb", "a location without end", "not HTTP", "no TLS", "TLS without end", "TLS in silence",
    ],
)  # fmt: skip
def test_endless_servers(fault: Any, scheme: str, kind: str | None, reason: str) -> None:
    """A fragment is looked up, so that the content is read. Memory is limited, whatever is sent."""
    policy = LOCAL.with_(**SHORT.get(reason, {}))
    tracemalloc.start()
    try:
        with faulty(fault) as server:
            uri = f"{scheme}://127.0.0.1:{server.port}/"
            with Asker(Checker(online=True, limit=MEASURE), policy) as asker:
                (outcome,) = asker.ask([uri], {uri: ["here"]})
            assert server.sent <= 1 << 26
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (outcome.kind, outcome.missing) == (kind, ())
    assert reason in outcome.why
    assert peak < 64 * MEASURE


def test_endless_redirects_end() -> None:
    def fault(client: socket.socket) -> None:
        while data := client.recv(65_536):
            path = data.split(b" ")[1]
            client.sendall(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: %sx/\r\n\r\n" % path)

    with faulty(simple(fault)) as server:
        uris = [f"http://127.0.0.1:{server.port}/{number}/" for number in range(20)]
        assert {outcome.kind for outcome in ask(uris).values()} == {"redirect-loop"}


def test_only_a_few_fields_of_a_redirect_are_stored() -> None:
    """Its target and the first cookies: a crawl stores them to its end."""
    cookies = [("Set-Cookie", f"a{n}=b") for n in range(1000)]
    fields = (("X", "y" * 100_000), *cookies, ("Set-Cookie", "c" * 100_000))
    kept_head = brief_redirect(Head(location="x", permanent=True, details={"status": 301, "headers": fields}))
    assert kept_head == Head(location="x", permanent=True, details={"headers": tuple(cookies[:50])})

    def fault(client: socket.socket) -> None:
        while client.recv(65_536):
            client.sendall(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /%s\r\n\r\n" % (b"x" * 70_000))

    with faulty(simple(fault)) as server:
        (outcome,) = ask([f"http://127.0.0.1:{server.port}/"]).values()
    assert outcome.kind is not None
    assert "Location of more than" in outcome.why


def test_many_fragments_and_anchors_are_linear() -> None:
    def look_up(count: int) -> None:
        page = "".join(f"<p id=a{n}>" for n in range(count))
        page_anchors = anchors(page.encode(), "text/html", "http://a.example/", False, "github")
        missing, unsure = page_anchors.find_missing(frozenset(f"{'ab'[n % 2]}{n}" for n in range(count)))
        assert (len(missing), unsure) == (count // 2, "")

    linear(look_up, 20_000)


def test_a_page_that_is_slow_to_read_delays_no_other_host(server: Nginx, monkeypatch: pytest.MonkeyPatch) -> None:
    is_reading, is_moved = threading.Event(), threading.Event()
    waits: list[bool] = []

    def slow(*arguments: Any) -> fragments.Anchors:
        is_reading.set()
        waits.append(is_moved.wait(NET))
        return anchors(*arguments)

    def redirect(client: socket.socket) -> None:
        if read_request(client).split(maxsplit=2)[1] == b"/new":
            is_moved.set()
            client.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
        else:
            is_reading.wait(NET)
            client.sendall(b"HTTP/1.1 302 Found\r\nLocation: /new\r\nConnection: close\r\n\r\n")

    monkeypatch.setattr(fragments, "anchors", slow)
    page = server.uri("/page.html")
    with faulty(simple(redirect)) as running, Asker(Checker(online=True), LOCAL) as asker:
        old_uri = f"http://127.0.0.1:{running.port}/old"
        outcomes = {outcome.uri: outcome for outcome in asker.ask([page, old_uri], {page: ["here", "there"]})}
    assert waits == [True]
    assert outcomes[page].missing == ("there",)
    assert outcomes[old_uri].kind is None


def test_the_first_charset_of_a_content_type_counts() -> None:
    """As in `links` (MIME Sniffing 4.4)."""
    page_anchors = anchors(
        "<p id=é>".encode(), "text/html; charset=utf-8; charset=koi8-r", "http://h/", False, "github"
    )
    assert page_anchors.find_missing(frozenset(("é", "b"))) == (("b",), "")


def test_a_host_that_always_requests_delays_is_skipped() -> None:
    clock = [0.0]
    hosts: Hosts[int] = Hosts(1, clock=lambda: clock[0])
    for number in range(100):
        hosts.add("a", number)
    while not hosts.is_put_off("a"):
        host = hosts.take()
        assert host is not None
        hosts.release("a", wait=MOST_WAIT, again=host[1])
        clock[0] += hosts.pause() or 0.0
    assert MOST_PATIENCE < clock[0] <= MOST_PATIENCE + MOST_WAIT
    # One that answers in between is requested as long as needed.
    hosts.release(hosts.take()[0])  # type: ignore[index]
    assert not hosts.is_put_off("a")


def test_a_host_that_is_always_busy_is_skipped() -> None:
    """Each URI is requested four times, without an answer."""
    clock = [0.0]
    hosts: Hosts[int] = Hosts(2, clock=lambda: clock[0])
    for number in range(100):
        hosts.add("a", number)
    tried, pending = Counter[int](), 0
    busy = Reply("rate-limited", 429, "429", wait=MOST_WAIT, busy=True)
    while (pause := hosts.pause()) is not None:
        clock[0] += pause
        while (host := hosts.take()) is not None:
            if hosts.is_put_off("a"):
                pending += 1
                hosts.release("a", busy=True)
                continue
            tried[host[1]] += 1
            wait = wait_for(busy, tried[host[1]])
            hosts.release("a", busy=True, wait=wait or 0.0, again=None if wait is None else host[1])
    assert clock[0] <= MOST_PATIENCE + 2 * MOST_WAIT
    assert pending > 90


def test_a_cookie_with_a_huge_lifetime_is_stored(capfd: pytest.CaptureFixture[str]) -> None:
    cookies = Cookies()
    fields = [
        ("Set-Cookie", f"a=b; Max-Age={'9' * 400}"),
        ("set-cookie", f"c=d; max-age = {'9' * 40}"),
        ("Set-Cookie", "e=f"),
    ]
    cookies.take("http://h.example/", fields)
    assert cookies.field("http://h.example/") == "a=b; c=d; e=f"
    for expires in (f"+{'9' * 400}", "9_" * 400 + "9"):
        cookies.take("http://h.example/", [("Set-Cookie", f"g=h; max-age={expires}"), ("Set-Cookie", "e=f")])
    assert cookies.field("http://h.example/") == "a=b; c=d; e=f; g=h"
    cookies.take("http://h.example/", [("Set-Cookie", f"a=b; Max-Age=-{'9' * 400}"), ("Set-Cookie", "g=h; max-age=0")])
    assert cookies.field("http://h.example/") == "c=d; e=f"
    assert capfd.readouterr() == ("", "")


def test_names_are_resolved_concurrently(monkeypatch: pytest.MonkeyPatch) -> None:
    """The resolver answers only after this many queries: one at a time would time out."""
    together = threading.Barrier(8)
    real = socket.getaddrinfo

    def slow(host: str, *arguments: Any, **named: Any) -> Any:
        if host.endswith(".test"):
            together.wait(NET)
        return real("127.0.0.1", *arguments, **named)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    with faulty(simple(close_at(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))) as server:
        uris = [f"http://h{number}.test:{server.port}/" for number in range(16)]
        assert {outcome.kind for outcome in ask(uris, jobs=8).values()} == {None}


# -- scheduling by host


def test_connections_per_host_are_limited() -> None:
    hosts: Hosts[int] = Hosts(2, clock=lambda: 0.0)
    for number in range(3):
        hosts.add("a", number)
    hosts.add("b", 9)
    assert [hosts.take() for _ in range(4)] == [("a", 0), ("b", 9), ("a", 1), None]
    assert hosts.pause() is None
    hosts.release("a")
    assert hosts.take() == ("a", 2)


def test_rate_and_retry_after_are_respected() -> None:
    clock = [0.0]
    hosts: Hosts[str] = Hosts(8, rate=10.0, clock=lambda: clock[0])
    for name in ("x", "y", "z"):
        hosts.add("a", name)
    assert (hosts.take(), hosts.take(), hosts.pause()) == (("a", "x"), None, 0.1)
    clock[0] = 0.1
    assert hosts.take() == ("a", "y")
    hosts.release("a", wait=50.0, again="y")
    # URIs queued before also wait.
    assert (hosts.take(), hosts.pause()) == (None, 50.0)
    clock[0] = 50.1
    assert hosts.take() == ("a", "y")
    hosts.release("a", wait=1e9)
    assert hosts.pause() == MOST_WAIT


def recorded_waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return a list that gets, for each URI that is done, the seconds until its host accepts another request."""
    waits: list[float] = []
    release = Hosts.release

    def record_wait(hosts: Hosts[Any], host: Hashable, *, wait: float = 0.0, **settings: Any) -> None:
        waits.append(wait)
        release(hosts, host, wait=wait, **settings)

    monkeypatch.setattr(Hosts, "release", record_wait)
    return waits


def test_retry_after_of_one_uri_is_for_its_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of one that is not requested again: the next was requested at once."""
    monkeypatch.setattr(replies, "TRIES", 1)
    waits = recorded_waits(monkeypatch)

    def busy(client: socket.socket) -> None:
        while client.recv(65_536):
            client.sendall(b"HTTP/1.1 429 Wait\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n")

    with faulty(simple(busy)) as server:
        outcomes = ask([f"http://127.0.0.1:{server.port}/{name}" for name in "ab"], per_host=1)
    assert [outcome.kind for outcome in outcomes.values()] == ["rate-limited"] * 2
    assert waits == [1.0, 1.0]


# -- the cache


def outcome(uri: str, kind: str | None, checked: float, missing: tuple[str, ...] = ()) -> Outcome:
    return Outcome(uri, kind, 200, "", None, False, missing, checked, False)


def test_cached_outcomes_are_not_requested_again(server: Nginx, tmp_path: Path) -> None:
    uris = [server.uri("/page.html?kept"), server.uri("/nowhere?kept")]
    cache = str(tmp_path / "in" / "cache.sqlite")
    first = ask(uris, cache=cache)
    repeated = ask(uris, cache=cache)
    assert all(outcome.cached for outcome in repeated.values())
    assert {uri: outcome._replace(cached=True) for uri, outcome in first.items()} == repeated
    assert requests_for(server, "/page.html?kept") == {"HEAD": 1}
    ask(uris, cache=cache, max_age=(("not-found", 0.0),))
    assert requests_for(server, "/nowhere?kept") == {"HEAD": 2, "GET": 2}
    assert requests_for(server, "/page.html?kept") == {"HEAD": 1}


def test_lifetimes_and_fragments_of_cached_outcomes(tmp_path: Path) -> None:
    time_now = time.time()
    path = str(tmp_path / "cache")
    cache = Cache(path)
    cache.keep(outcome("u:new", None, time_now), ["a", "b"])
    cache.keep(outcome("u:old", None, time_now - 8 * 86_400), [])
    cache.keep(outcome("u:gone", "connect", time_now - 2 * 3600), [])
    cache.keep(outcome("u:lacks", None, time_now, ("x", "y")), ["x", "y"])
    cache.close(is_complete=True)
    queries = {"u:new": ["a"], "u:old": [], "u:gone": [], "u:lacks": ["x"]}
    with closing(Cache(path)) as stored:
        assert {one.uri: one.missing for one in stored.valid_outcomes(queries)} == {"u:new": (), "u:lacks": ("x",)}
        assert not list(stored.valid_outcomes({"u:new": ["c"]}))
    with closing(Cache(path, {"ok": 9 * 86_400.0})) as stored:
        assert {outcome.uri for outcome in stored.valid_outcomes(queries)} == {"u:new", "u:old", "u:lacks"}


@pytest.mark.parametrize("resume", [False, True])
@pytest.mark.parametrize("kind", sorted({None, *KINDS}, key=str))
def test_a_cached_document_does_not_count_for_other_fragments(kind: str | None, resume: bool, tmp_path: Path) -> None:
    """If there was a document: without one, every fragment is missing."""
    time_now = time.time()
    cache = Cache(str(tmp_path / "cache"))
    cache.keep(outcome("u:a", kind, time_now), ["a"])
    cache.close(is_complete=not resume)
    with closing(Cache(str(tmp_path / "cache"), {kind or "ok": 3600.0}, resume=resume)) as reopened:
        assert [outcome.uri for outcome in reopened.valid_outcomes({"u:a": ["a"]})] == ["u:a"]
        was_there = kind is None or kind in ("moved-permanently", "bad-location", "no-fragment")
        assert [outcome.uri for outcome in reopened.valid_outcomes({"u:a": ["b"]})] == ([] if was_there else ["u:a"])


def test_a_stopped_run_continues(server: Nginx, tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    uris = [server.uri(f"/broken?{number}") for number in range(10)]
    with Asker(Checker(online=True, cache=cache, jobs=1), LOCAL) as asker:
        answers = asker.ask(uris)
        seen = {next(answers).uri for _ in range(4)}
        answers.close()  # type: ignore[attr-defined]
    repeated = ask(uris, cache=cache, resume=True, max_age=(("server-error", 0.0),))
    assert {outcome.uri for outcome in repeated.values() if outcome.cached} == seen
    assert not any(one.cached for one in ask(uris, cache=cache, resume=True, max_age=(("server-error", 0.0),)).values())


def test_invalid_caches(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("a text that is no database, and longer than its head " * 10)
    with pytest.raises(PermissionError, match="not a cache of overthere"):
        Cache(str(other))
    with pytest.raises(ValueError, match="unknown outcome 'nothing'"):
        Cache(None, {"nothing": 1.0})
    with pytest.raises(PermissionError, match="not a regular file"):
        Cache(str(tmp_path))


# -- many connections

SELECTORS = [name for name in ("DefaultSelector", "SelectSelector", "PollSelector") if hasattr(selectors, name)]


@pytest.mark.parametrize("kind", [getattr(selectors, name) for name in SELECTORS])
def test_many_connections_wait_in_one_thread(kind: type[selectors.BaseSelector]) -> None:
    """Each continues when its socket is ready or its time is over; closed ones are removed."""
    pairs = [socket.socketpair() for _ in range(20)]
    order: list[tuple[int, bool]] = []

    def work(number: int) -> Work[None]:
        for seconds in (60.0, 60.0, 0.0):
            ready = yield Ready(pairs[number][0], False, seconds)
            order.append((number, ready))
            if ready:
                pairs[number][0].recv(1)
        pairs[number][0].close()

    loop = Loop(kind())
    for number in range(20):
        loop.add(work(number))
    loop.run_once(None)
    for _ in range(2):
        for number in reversed(range(20)):
            pairs[number][1].send(b"x")
            loop.run_once(None)
    while len(loop):
        loop.run_once(None)
    assert [number for number, ready in order if ready] == [*reversed(range(20))] * 2
    assert sorted(number for number, ready in order if not ready) == [*range(20)]
    pairs.append(socket.socketpair())  # by a reused number
    loop.add(work(20))
    pairs[20][1].send(b"ab")
    while len(loop):
        loop.run_once(None)
    assert [ready for number, ready in order if number == 20] == [True, True, False]
    loop.close()
    for pair in pairs:
        for end in pair:
            end.close()


def test_pending_work_ends_with_the_loop() -> None:
    ended = []

    def work(client: socket.socket) -> Work[None]:
        try:
            yield Ready(client, False, 60.0)
        finally:
            ended.append(client)

    first, two = socket.socketpair()
    with first, two:
        loop = Loop()
        loop.add(work(first))
        loop.run_once(None)
        loop.close()
        assert ended == [first]


ECHOES = {
    "/moved": b"HTTP/1.1 301 X\r\nLocation: /ok/%s\r\n", "/loc": b"HTTP/1.1 302 X\r\nLocation: file:///%s\r\n",
    "/sch": b"HTTP/1.1 302 X\r\nLocation: %s:x\r\n", "/bad": b"%s nonsense\r\n",
    "/sp": b"HTTP/1.1 302 X\r\nLocation: /a b%s\r\n",
}  # fmt: skip
"""Answers that repeat the request."""


@pytest.mark.parametrize("encoded", ["field", "cookie", "token"])
def test_no_outcome_shows_a_repeated_secret(encoded: str, tmp_path: Path) -> None:
    def fault(client: socket.socket) -> None:
        while data := client.recv(65_536):
            path = data.split(b" ")[1].decode().partition("?")[0]
            answer = ECHOES[path] % b"openSesame" if path in ECHOES else b"HTTP/1.1 200 OK\r\n"
            client.sendall(answer + b"Content-Length: 0\r\n\r\n")

    with faulty(simple(fault)) as server:
        root = f"http://127.0.0.1:{server.port}"
        headers = ((root, "Authorization", "Bearer openSesame"),) if encoded == "field" else ()
        file = tmp_path / "cookies"
        file.write_text("# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\topenSesame\n")
        query = "?token=openSesame" if encoded == "token" else ""
        checker = Checker(online=True, headers=headers, cookies=str(file) if encoded == "cookie" else None)
        with Asker(checker, LOCAL) as asker:
            outcomes = list(asker.ask([f"{root}{path}{query}" for path in ECHOES]))
    assert len(outcomes) == len(ECHOES)
    for outcome in outcomes:
        assert "openSesame" not in outcome.why, outcome
        assert outcome.final is None or "openSesame" not in outcome.final.partition("?")[0], outcome


def test_a_redirect_within_a_site_may_keep_its_token() -> None:
    def fault(client: socket.socket) -> None:
        while data := client.recv(65_536):
            moved = b"301 Moved\r\nLocation: /new?token=openSesame" if b"/old" in data else b"200 OK"
            client.sendall(b"HTTP/1.1 %s\r\nContent-Length: 0\r\n\r\n" % moved)

    with faulty(simple(fault)) as server:
        uri = f"http://127.0.0.1:{server.port}/old?token=openSesame"
        assert ask([uri])[uri].final == uri.replace("/old", "/new")
