"""Two servers on loopback, one of which is allowed, and each HTTP client with its guard."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from ssl import SSLContext
from threading import Thread
from typing import Any, NamedTuple
from urllib.parse import unquote

import pytest

from overthere import URI, Policy
from overthere.access import policy as policies
from overthere.integrations import aiohttp as aiohttp_guard
from overthere.integrations import httpx as httpx_guard
from overthere.integrations import httpx2 as httpx2_guard
from overthere.integrations import requests as requests_guard
from overthere.integrations import urllib3 as urllib3_guard
from overthere.values.hosts.address import forbidden
from servers import NET

INNER, OUTER = "127.0.0.1", "127.0.0.2"
Lookup = Callable[[str, int], list[str]]


class Servers(NamedTuple):
    """The ports of both, and their requests: the request line and the Host."""

    port: int
    inner: list[tuple[str, str]]
    outer: list[tuple[str, str]]


def _answering(requests: list[tuple[str, str]]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            requests.append((self.path, self.headers.get("Host", "")))
            redirects = self.path.startswith(("/to?", "/same?"))
            self.send_response(302 if redirects else 200)
            if redirects:  # redirect to a URI, or to the same path of another server
                target, path = unquote(self.path.partition("?")[2], "latin-1"), self.path if self.path[1] == "s" else ""
                self.send_header("Location", target + path)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        do_CONNECT = do_GET  # noqa: N815 - a name of http.server

        def log_message(self, *args: Any) -> None:
            pass

    return Handler


@contextmanager
def servers(tls: SSLContext | None = None) -> Iterator[Servers]:
    """tls: the TLS contexts of the servers; default: plain http."""
    inner: list[tuple[str, str]] = []
    outer: list[tuple[str, str]] = []
    first = ThreadingHTTPServer((INNER, 0), _answering(inner))
    port = first.server_port
    second = ThreadingHTTPServer((OUTER, port), _answering(outer))
    if tls is not None:
        for server in (first, second):
            server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
            server.handle_error = lambda *args: None  # type: ignore[method-assign]  # a client that does not trust it
    threads = [Thread(target=server.serve_forever, args=(0.05,), daemon=True) for server in (first, second)]
    for thread in threads:
        thread.start()
    try:
        yield Servers(port, inner, outer)
    finally:
        for server in (first, second):
            server.shutdown()
            server.server_close()


def allow_outer(patch: pytest.MonkeyPatch) -> None:
    """Treat the outer server's address as public."""
    patch.setattr(policies, "forbidden", lambda ip, nat64=(): None if str(ip) == OUTER else forbidden(ip, nat64))


def _httpx(guard: Any, library: str) -> Callable[..., Any]:
    def fetch(uri: str, policy: Policy, look_up: Lookup) -> int:
        client = import_module(library).Client
        with client(transport=guard.Guard(policy, resolve=look_up), follow_redirects=True, timeout=NET) as session:
            return int(session.get(uri).status_code)

    return fetch


def _httpx_async(guard: Any, library: str) -> Callable[..., Any]:
    async def ask(uri: str, policy: Policy, look_up: Lookup) -> int:
        async def resolve(host: str, port: int) -> list[str]:
            return look_up(host, port)

        client = import_module(library).AsyncClient
        async with client(
            transport=guard.AsyncGuard(policy, resolve=resolve), follow_redirects=True, timeout=NET
        ) as session:
            return int((await session.get(uri)).status_code)

    return lambda *args: asyncio.run(ask(*args))


def _requests(uri: str, policy: Policy, look_up: Lookup) -> int:
    with requests_guard.guarded_session(policy, resolve=look_up) as session:
        return session.get(uri, timeout=NET).status_code


def _mounted(uri: str, policy: Policy, look_up: Lookup) -> int:
    import requests

    with requests.Session() as session:
        for prefix in ("http://", "https://"):
            session.mount(prefix, requests_guard.adapter(policy, resolve=look_up))
        return session.get(uri, timeout=NET).status_code


def _urllib3(uri: str, policy: Policy, look_up: Lookup) -> int:
    with urllib3_guard.Guard(policy, resolve=look_up, retries=3, timeout=NET) as pool:
        return int(pool.request("GET", uri).status)


def _aiohttp(uri: str, policy: Policy, look_up: Lookup) -> int:
    async def ask() -> int:
        async def resolve(host: str, port: int) -> list[str]:
            return look_up(host, port)

        async with (
            aiohttp_guard.guarded_session(policy, resolve=resolve, trust_env=True) as session,
            session.get(aiohttp_guard.exact(uri) if URI.can_parse(uri) else uri) as answer,
        ):
            return answer.status

    return asyncio.run(ask())


ASYNC = ("httpx async", "httpx2 async", "aiohttp")
CLIENTS: dict[str, tuple[Callable[[str, Policy, Lookup], int], type[Exception]]] = {
    "httpx": (_httpx(httpx_guard, "httpx"), httpx_guard.Refused),
    "httpx async": (_httpx_async(httpx_guard, "httpx"), httpx_guard.Refused),
    "httpx2": (_httpx(httpx2_guard, "httpx2"), httpx2_guard.Refused),
    "httpx2 async": (_httpx_async(httpx2_guard, "httpx2"), httpx2_guard.Refused),
    "requests": (_requests, requests_guard.Refused),
    "requests mounted": (_mounted, requests_guard.Refused),
    "urllib3": (_urllib3, urllib3_guard.Refused),
    "aiohttp": (_aiohttp, aiohttp_guard.Refused),
}
