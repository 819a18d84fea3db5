"""An HTTP proxy on loopback for the tests of the guards: it forwards, opens tunnels, and resolves names by a table."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from select import select
from socketserver import StreamRequestHandler, ThreadingTCPServer
from ssl import SSLContext, SSLSocket
from threading import Thread
from typing import NamedTuple
from urllib.parse import urlsplit

from guarded import INNER

from servers import NET


class Proxy(NamedTuple):
    """Its URI, and the method, server and Host of each request."""

    uri: str
    asked: list[tuple[str, str, str]]


class _Server(ThreadingTCPServer):
    daemon_threads = True
    names: Mapping[str, str]
    asked: list[tuple[str, str, str]]


class _Handler(StreamRequestHandler):
    server: _Server
    timeout = NET

    def handle(self) -> None:
        with suppress(OSError):
            self.answer()

    def answer(self) -> None:
        method, target, _ = self.rfile.readline().decode("latin-1").split(" ")
        head = list(iter(self.rfile.readline, b"\r\n"))
        hosts = [line[5:].strip().decode() for line in head if line.lower().startswith(b"host:")]
        parts = urlsplit(f"//{target}" if method == "CONNECT" else target)
        self.server.asked.append((method, parts.netloc, ", ".join(hosts)))
        address = self.server.names.get(parts.hostname or "", parts.hostname or "")
        with socket.create_connection((address, parts.port or 80), NET) as onward:
            if method == "CONNECT":
                self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
                self.relay(onward)
            else:
                path = parts.path + (f"?{parts.query}" if parts.query else "")
                head_lines = [line for line in head if not line.lower().startswith((b"connection:", b"proxy-"))]
                request = [f"{method} {path} HTTP/1.1\r\n".encode(), *head_lines, b"Connection: close\r\n\r\n"]
                onward.sendall(b"".join(request))
                with onward.makefile("rb") as answer:
                    self.wfile.write(answer.readline() + b"Connection: close\r\n" + answer.read())

    def relay(self, onward: socket.socket) -> None:
        """Copy in both directions, in one thread since TLS sockets need that, until either side closes."""
        ends = {self.connection: onward, onward: self.connection}
        while True:
            waiting = isinstance(self.connection, SSLSocket) and self.connection.pending()
            for source in [self.connection] if waiting else select(list(ends), [], [], NET)[0]:
                if not (data := source.recv(1 << 16)):
                    return
                ends[source].sendall(data)


@contextmanager
def proxy(names: Mapping[str, str], tls: SSLContext | None = None) -> Iterator[Proxy]:
    """names: the address of each name; an address is itself. tls: its TLS context; default: plain http."""
    with _Server((INNER, 0), _Handler) as server:
        server.names, server.asked = names, []
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
            server.handle_error = lambda *args: None  # type: ignore[method-assign]  # a client that does not trust it
        thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield Proxy(f"http{'s' if tls else ''}://{INNER}:{server.server_address[1]}", server.asked)
        finally:
            server.shutdown()
