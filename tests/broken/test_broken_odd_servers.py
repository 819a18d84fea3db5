"""Servers with unusual behaviour: HEAD rejected, an invalid Location, statuses unrelated to the document."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from overthere import Policy
from overthere.broken.cache import AGES
from overthere.broken.external import Asker
from overthere.broken.model import Checker, Outcome, kind_of_status
from servers import NET

PAGE = b"<!doctype html><p id=here>"
REDIRECTS: dict[str, bytes] = {
    "/utf8": "/caf\u00e9".encode(),
    "/blank": b"/a page",
    "/own": b"/page#here",
    "/own-missing": b"/page#nowhere",
    "/to-file": b"file:///etc/passwd",
    "/to-script": b" JavaScript:alert(1)",
    "/to-data": b"data:,x",
}
STATUSES = {"/300": 300, "/304": 304, "/403": 403, "/999": 999}


ALWAYS: dict[str, bytes] = {
    "/banner": b"SSH-2.0-OpenSSH_9.2\r\n",
    "/short": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 90\r\n\r\n<p id=here>",
    "/chunk": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n<p>\r\n",
}
BODIES: dict[str, bytes] = {
    "/anubis": b'<script id="anubis_challenge" type="application/json">{}</script>',
    "/about-anubis": b"<p>Anubis sends an anubis_challenge. <p id=here>",
}


def _reset(handler: BaseHTTPRequestHandler) -> None:
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()


def _hang(handler: BaseHTTPRequestHandler) -> None:
    handler.connection.settimeout(4 * NET)
    handler.rfile.read(1)  # until the client disconnects


ON_HEAD: dict[str, Callable[[BaseHTTPRequestHandler], object]] = {
    **{path: lambda handler: handler.wfile.write(ALWAYS[handler.path]) for path in ALWAYS},
    "/resets-on-head": _reset,
    "/hangs-on-head": _hang,
    "/nonsense-on-head": lambda handler: handler.wfile.write(b"\0\0\r\n\r\n"),
    "/around-on-head": lambda handler: handler.wfile.write(
        b"HTTP/1.1 302 Found\r\nLocation: /other-on-head\r\nContent-Length: 0\r\n\r\n"
    ),
    "/other-on-head": lambda handler: handler.wfile.write(
        b"HTTP/1.1 302 Found\r\nLocation: /around-on-head\r\nContent-Length: 0\r\n\r\n"
    ),
    "/back-on-head": lambda handler: handler.wfile.write(
        b"HTTP/1.1 302 Found\r\nLocation: /back-on-head\r\nContent-Length: 0\r\n\r\n"
    ),
}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        HEADS.append(self.path)
        if self.path in ON_HEAD:
            self.close_connection = True
            ON_HEAD[self.path](self)
            return
        if self.path == "/closes-on-head":
            self.close_connection = True
            return
        self._answer(404 if self.path.startswith("/404-on-head") else STATUSES.get(self.path, 200))

    def do_GET(self) -> None:
        if self.path in ALWAYS:
            self.close_connection = True
            self.wfile.write(ALWAYS[self.path])
            return
        if self.path == "/406" and "text/html" not in self.headers["Accept"]:
            self._answer(406)
            return
        self._answer(STATUSES.get(self.path, 200))

    def _answer(self, status: int) -> None:
        location = REDIRECTS.get(self.path)
        head = f"HTTP/1.1 {302 if location else status} Said\r\nContent-Type: text/html\r\n".encode()
        head += b"Location: " + location + b"\r\n" if location else b""
        body = b"" if status == 304 else BODIES.get(self.path, PAGE)
        self.wfile.write(head + b"Content-Length: %d\r\n\r\n" % len(body))
        self.wfile.write(body if self.command == "GET" else b"")

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture(scope="module")
def root() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


HEADS: list[str] = []


@pytest.fixture
def heads() -> list[str]:
    """The paths of further HEAD requests."""
    HEADS.clear()
    return HEADS


EXPECTED: dict[str, tuple[str | None, int | None]] = {
    "/closes-on-head": (None, 200),
    "/404-on-head": (None, 200),
    "/utf8": ("bad-location", 200),
    "/blank": ("bad-location", 200),
    "/own": (None, 200),
    "/own-missing": ("no-fragment", 200),
    "/to-file": ("bad-redirect", 302),
    "/to-script": ("bad-redirect", 302),
    "/to-data": ("bad-redirect", 302),
    "/300": ("unusual-status", 300),
    "/304": ("unusual-status", 304),
    "/403": ("programs-refused", 403),
    "/999": ("programs-refused", 999),
    "/406": (None, 200),
    "/resets-on-head": (None, 200),
    "/nonsense-on-head": (None, 200),
    "/back-on-head": (None, 200),
    "/banner": ("protocol", None),
}


def test_each_outcome_has_a_cache_lifetime() -> None:
    """Or is deliberately not cached."""
    results = {kind for kind, _ in EXPECTED.values() if kind is not None}
    results |= {kind for status in range(200, 1000) if (kind := kind_of_status(status)) is not None}
    assert results <= AGES.keys()


@pytest.mark.parametrize("fragment", [None, "nowhere"])
def test_outcomes_of_unusual_servers(root: str, fragment: str | None) -> None:
    policy = Policy.local().with_(connect_timeout=NET, read_timeout=NET)
    results = {f"{root}{path}": (fragment,) if fragment else () for path in EXPECTED}
    with Asker(Checker(online=True), policy) as asker:
        outcomes: dict[str, Outcome] = {outcome.uri: outcome for outcome in asker.ask(results, results)}
    assert {path: (outcomes[f"{root}{path}"].kind, outcomes[f"{root}{path}"].status) for path in EXPECTED} == EXPECTED
    for path in ("/closes-on-head", "/404-on-head", "/utf8", "/blank"):
        assert outcomes[f"{root}{path}"].missing == ((fragment,) if fragment else ())
    assert outcomes[f"{root}/own"].missing == ()
    assert outcomes[f"{root}/utf8"].final == f"{root}/caf%C3%A9"


POLICY = Policy.local().with_(connect_timeout=NET, read_timeout=NET)
HURRIED = POLICY.with_(read_timeout=3.0)


@pytest.mark.parametrize("path", [*ON_HEAD, "/closes-on-head", "/404-on-head"])
def test_get_decides_if_head_fails(root: str, path: str) -> None:
    with Asker(Checker(online=True), HURRIED if path == "/hangs-on-head" else POLICY) as asker:
        [outcome] = asker.ask([f"{root}{path}"])
    assert (outcome.kind, outcome.status) == EXPECTED.get(path, (None, 200))


def test_after_two_failures_of_head_get_is_used(root: str, heads: list[str]) -> None:
    uris = [f"{root}/404-on-head?{number}" for number in range(9)]
    with Asker(Checker(online=True, jobs=1), POLICY) as asker:
        assert [outcome.kind for outcome in asker.ask(uris)] == [None] * 9
    assert len(heads) == 2


WITHIN: dict[str, str | None] = {"/short": "protocol", "/chunk": "protocol", "/banner": "protocol"}


@pytest.mark.parametrize("path", WITHIN)
def test_an_invalid_answer_is_reported_as_such(root: str, path: str) -> None:
    with Asker(Checker(online=True), POLICY) as asker:
        [outcome] = asker.ask([f"{root}{path}"], {f"{root}{path}": ("here",)})
    assert outcome.kind == WITHIN[path]
    assert "no connection" not in outcome.why
    assert path != "/banner" or "SSH-2.0" in outcome.why


def test_a_page_that_needs_a_script_has_no_missing_anchors(root: str) -> None:
    uris = {f"{root}/anubis": ("gone",), f"{root}/about-anubis": ("gone",)}
    with Asker(Checker(online=True), POLICY) as asker:
        outcomes = {outcome.uri: outcome for outcome in asker.ask(uris, uris)}
    assert outcomes[f"{root}/anubis"][1:4] == (
        "programs-refused", 200, "Anubis asks for a script to be run before the page is shown",
    )  # fmt: skip
    assert outcomes[f"{root}/anubis"].missing == ()
    assert outcomes[f"{root}/about-anubis"].missing == ("gone",)
