"""Servers with habits of their own: HEAD refused, an invalid Location, statuses that say nothing of a document."""

from __future__ import annotations

import threading
from collections.abc import Iterator
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


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        if self.path == "/closes-on-head":
            self.close_connection = True
            return
        self._answer(404 if self.path == "/404-on-head" else STATUSES.get(self.path, 200))

    def do_GET(self) -> None:
        self._answer(STATUSES.get(self.path, 200))

    def _answer(self, status: int) -> None:
        location = REDIRECTS.get(self.path)
        head = f"HTTP/1.1 {302 if location else status} Said\r\nContent-Type: text/html\r\n".encode()
        head += b"Location: " + location + b"\r\n" if location else b""
        body = b"" if status == 304 else PAGE
        self.wfile.write(head + b"Content-Length: %d\r\n\r\n" % len(body))
        self.wfile.write(body if self.command == "GET" else b"")

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def root() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


SAID: dict[str, tuple[str | None, int | None]] = {
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
}


def test_each_outcome_has_an_age() -> None:
    """What a server may be said to have done is kept for a time of its own, or for none on purpose."""
    said = {kind for kind, _ in SAID.values() if kind is not None}
    said |= {kind for status in range(200, 1000) if (kind := kind_of_status(status)) is not None}
    assert said <= AGES.keys()


@pytest.mark.parametrize("fragment", [None, "nowhere"])
def test_what_is_said_of_them(root: str, fragment: str | None) -> None:
    policy = Policy.local().with_(connect_timeout=NET, read_timeout=NET)
    asked = {f"{root}{path}": (fragment,) if fragment else () for path in SAID}
    with Asker(Checker(online=True), policy) as asker:
        outcomes: dict[str, Outcome] = {one.uri: one for one in asker.ask(asked, asked)}
    assert {path: (outcomes[f"{root}{path}"].kind, outcomes[f"{root}{path}"].status) for path in SAID} == SAID
    for path in ("/closes-on-head", "/404-on-head", "/utf8", "/blank"):
        assert outcomes[f"{root}{path}"].missing == ((fragment,) if fragment else ())
    assert outcomes[f"{root}/own"].missing == ()
    assert outcomes[f"{root}/utf8"].final == f"{root}/caf%C3%A9"
