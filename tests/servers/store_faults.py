"""A proxy in front of an HTTP or S3 server: it passes requests on, changes chosen answers, and records everything."""

from __future__ import annotations

import http.client
import socket
import socketserver
import struct
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit

from servers import NET

_HOP_BY_HOP = {"connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"}
_BODILESS = {204, 304}


@dataclass
class RequestSeen:
    """A request from a client, and the answer sent to it."""

    number: int
    """1 for the first request."""
    number_of_range: int
    """1 for the first request with a Range header; 0 for a request without one."""
    method: str
    path: str
    """Including the query."""
    headers: dict[str, str]
    """With lower-case names."""
    body: bytes = field(repr=False)
    status: int | None = None
    """None if no answer was sent."""
    octets: int = 0
    """Size of the body that was sent to the client."""

    @property
    def range(self) -> str | None:
        return self.headers.get("range")

    @property
    def if_match(self) -> str | None:
        return self.headers.get("if-match")

    @property
    def if_none_match(self) -> str | None:
        return self.headers.get("if-none-match")


@dataclass(frozen=True)
class Answer:
    """An answer of the server behind the proxy, or of a fault."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    def with_header(self, name: str, value: str | None) -> Answer:
        """Set a header, or remove it."""
        headers = tuple(pair for pair in self.headers if pair[0].lower() != name.lower())
        return replace(self, headers=headers if value is None else (*headers, (name, value)))

    def with_body(self, body: bytes) -> Answer:
        """Set the body and its Content-Length."""
        return replace(self.with_header("Content-Length", str(len(body))), body=body)


@dataclass(frozen=True)
class Fault:
    """The action of the proxy instead of forwarding a request and its answer. The functions below create faults."""

    before: Callable[[], object] | None = None
    """Called before the request is forwarded."""
    answer: Answer | None = None
    """Sent instead of the server's answer; the request is not forwarded."""
    without: tuple[str, ...] = ()
    """Headers of the request that are not forwarded; lower-case names."""
    change: Callable[[Answer], Answer] | None = None
    """Applied to the server's answer."""
    silent: bool = False
    """Send nothing, and keep the connection until the proxy stops."""
    stop: int | None = None
    """Send this many bytes of the body, whatever Content-Length says."""
    then: str = "close"
    """After `stop`: "close", "reset" the connection, or "wait" until the proxy stops."""
    pause: float | None = None
    """Send the body byte by byte, with this pause in seconds after each."""


def false_content_range(first: int, last: int, size: int | str) -> Fault:
    """A Content-Range that does not match the body."""
    return Fault(change=lambda answer: answer.with_header("Content-Range", f"bytes {first}-{last}/{size}"))


def whole_object() -> Fault:
    """200 with the whole object: the proxy does not forward Range.

    Only for a server that does not check signatures, since clients may sign Range.
    """
    return Fault(without=("range",))


def short_body(missing: int) -> Fault:
    """Fewer bytes than Content-Range says; Content-Length agrees with the body."""
    return Fault(change=lambda answer: answer.with_body(answer.body[: max(0, len(answer.body) - missing)]))


def long_body(suffix: bytes) -> Fault:
    """More bytes than Content-Range says; Content-Length agrees with the body."""
    return Fault(change=lambda answer: answer.with_body(answer.body + suffix))


def broken_body(octets: int, *, reset: bool = False) -> Fault:
    """The connection ends after this many bytes of the body, before Content-Length is reached."""
    return Fault(stop=octets, then="reset" if reset else "close")


def stalled(octets: int | None = None) -> Fault:
    """Send nothing after this many bytes of the body, or after the request if None; the connection stays open."""
    return Fault(silent=True) if octets is None else Fault(stop=octets, then="wait")


def slow_body(pause: float) -> Fault:
    """Send the body byte by byte."""
    return Fault(pause=pause)


def without_header(name: str) -> Fault:
    """An answer without a header, for example ETag."""
    return Fault(change=lambda answer: answer.with_header(name, None))


def before_request(action: Callable[[], object]) -> Fault:
    """Call the action, for example to replace the object, then forward the request."""
    return Fault(before=action)


def server_error(status: int, code: str, message: str, retry_after: str | None = None) -> Fault:
    """An S3 error: status and XML body."""
    body = f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code><Message>{message}</Message></Error>'
    answer = Answer(status, (("Content-Type", "application/xml"),)).with_body(body.encode())
    return Fault(answer=answer if retry_after is None else answer.with_header("Retry-After", retry_after))


def slow_down(retry_after: str | None = None) -> Fault:
    """503 SlowDown."""
    return server_error(503, "SlowDown", "Please reduce your request rate.", retry_after)


def expired_token() -> Fault:
    """403 ExpiredToken. (S3 itself answers this error with 400 in some cases: `server_error`.)"""
    return server_error(403, "ExpiredToken", "The provided token has expired.")


def denied() -> Fault:
    """403 AccessDenied."""
    return server_error(403, "AccessDenied", "Access Denied")


def listing(count: int, of_page: int = 1_000) -> Callable[[RequestSeen], Fault | None]:
    """A listing of this many empty objects, "000000000" and so on: moto takes seconds for each page."""

    def page(seen: RequestSeen) -> Fault | None:
        query = parse_qs(urlsplit(seen.path).query)
        if "list-type" not in query:
            return None
        first = int(query.get("continuation-token", ["0"])[0])
        last = min(first + of_page, count)
        found = "".join(
            f"<Contents><Key>{number:09}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>"
            f"<ETag>&quot;{number:032x}&quot;</ETag><Size>0</Size><StorageClass>STANDARD</StorageClass></Contents>"
            for number in range(first, last)
        )
        next_page = f"<IsTruncated>true</IsTruncated><NextContinuationToken>{last}</NextContinuationToken>"
        end = next_page if last < count else "<IsTruncated>false</IsTruncated>"
        body = (
            f'<?xml version="1.0"?><ListBucketResult><KeyCount>{last - first}</KeyCount>{end}{found}</ListBucketResult>'
        )
        return Fault(answer=Answer(200, (("Content-Type", "application/xml"),)).with_body(body.encode()))

    return page


class _Server(socketserver.ThreadingTCPServer):
    """One thread per connection; all are joined at the end."""

    allow_reuse_address = True
    daemon_threads = False
    request_queue_size = 128
    proxy: FaultProxy

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that disconnects is not an error."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = NET
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.server.proxy.connections.append(self.connection)

    def finish(self) -> None:
        with suppress(OSError):
            super().finish()

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: see `FaultProxy.seen`."""

    def __getattr__(self, name: str) -> Callable[[], None]:
        """do_GET and all other methods."""
        if not name.startswith("do_"):
            raise AttributeError(name)
        return self.treat

    def treat(self) -> None:
        proxy = self.server.proxy
        seen = proxy.record(self.command, self.path, dict(self.headers.items()), self.request_body())
        fault = proxy.fault(seen) or Fault()
        if fault.before is not None:
            fault.before()
        if fault.silent:
            proxy.over.wait(NET)
            self.close_connection = True
            return
        answer = fault.answer or proxy.ask(seen, self.headers.items(), fault.without)
        if fault.change is not None:
            answer = fault.change(answer)
        self.send(seen, answer, fault)

    def request_body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", "").lower():
            return self.rfile.read(int(self.headers.get("Content-Length", "0")))
        parts = []
        while size := int(self.rfile.readline(1024).split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline(1024)
        while self.rfile.readline(65_536).strip():
            pass
        return b"".join(parts)

    def send(self, seen: RequestSeen, answer: Answer, fault: Fault) -> None:
        body = b"" if seen.method == "HEAD" or answer.status in _BODILESS else answer.body
        lines = [f"HTTP/1.1 {answer.status} {http.client.responses.get(answer.status, '')}"]
        lines += [f"{name}: {value}" for name, value in answer.headers if name.lower() not in _HOP_BY_HOP]
        if answer.header("Content-Length") is None and answer.status not in _BODILESS:
            lines.append(f"Content-Length: {len(answer.body)}")
        seen.status = answer.status
        self.wfile.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
        self.send_body(seen, body[: fault.stop], fault.pause)
        if fault.stop is None:
            return
        self.close_connection = True
        if fault.then == "wait":
            self.server.proxy.over.wait(NET)
        elif fault.then == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def send_body(self, seen: RequestSeen, body: bytes, pause: float | None) -> None:
        if pause is None:
            self.wfile.write(body)
            seen.octets += len(body)
            return
        for octet in body:
            self.wfile.write(bytes((octet,)))
            seen.octets += 1
            if self.server.proxy.over.wait(pause):
                self.close_connection = True
                return


class FaultProxy:
    """A server on a free loopback port in front of `upstream`, "http://host:port"; a context manager.

    `fault` is called for each request, in several threads; None forwards the request and its answer. The Host header is
    forwarded unchanged, since clients sign it: they sign for the proxy's endpoint.
    """

    def __init__(self, upstream: str, fault: Callable[[RequestSeen], Fault | None] = lambda seen: None) -> None:
        self.fault = fault
        self.seen: list[RequestSeen] = []
        self.over = threading.Event()
        """Set when the proxy stops: waiting faults check it."""
        self.connections: list[socket.socket] = []
        parts = urlsplit(upstream)
        self._upstream = (parts.hostname or "127.0.0.1", parts.port or 80)
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.proxy = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> FaultProxy:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self._server.shutdown()
        for connection in self.connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._server.server_close()
        self._thread.join(NET)

    def ranges(self) -> list[str]:
        """The Range headers of the GET requests so far, in order of arrival."""
        return [seen.range for seen in list(self.seen) if seen.method == "GET" and seen.range is not None]

    def record(self, method: str, path: str, headers: dict[str, str], body: bytes) -> RequestSeen:
        lower = {name.lower(): value for name, value in headers.items()}
        with self._lock:
            ranges = sum(seen.range is not None for seen in self.seen) + 1 if "range" in lower else 0
            self.seen.append(RequestSeen(len(self.seen) + 1, ranges, method, path, lower, body))
            return self.seen[-1]

    def ask(self, seen: RequestSeen, headers: Sequence[tuple[str, str]], without: tuple[str, ...]) -> Answer:
        """The answer of the upstream server; 502 without one."""
        connection = http.client.HTTPConnection(*self._upstream, timeout=NET)
        left_out = {*_HOP_BY_HOP, *without, "expect", "content-length"}
        try:
            connection.putrequest(seen.method, seen.path, skip_host=True, skip_accept_encoding=True)
            for name, value in headers:
                if name.lower() not in left_out:
                    connection.putheader(name, value)
            if seen.body or "content-length" in seen.headers or "transfer-encoding" in seen.headers:
                connection.putheader("Content-Length", str(len(seen.body)))
            connection.endheaders(seen.body or None)
            with connection.getresponse() as response:
                body = response.read()
                return Answer(response.status, tuple(response.getheaders()), body)
        except (OSError, http.client.HTTPException) as error:
            return Answer(502).with_body(f"{type(error).__name__}: {error}".encode())
        finally:
            connection.close()
