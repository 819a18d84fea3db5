"""Guards of HTTP clients: for any text, they connect only to checked addresses, and raise only exceptions of two trees.

Names are forged: first each is private, so that nothing may be connected but a public address that the text has itself;
then each is public.
"""

from __future__ import annotations

import asyncio
import atexit
import re
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from ipaddress import ip_address
from typing import Any
from unicodedata import category, normalize
from urllib.parse import unquote

import aiohttp
import httpx
import httpx2
import requests
import urllib3

from overthere import OverthereError
from overthere.integrations import aiohttp as aiohttp_guard
from overthere.integrations import httpx as httpx_guard
from overthere.integrations import httpx2 as httpx2_guard
from overthere.integrations import requests as requests_guard
from overthere.integrations import urllib3 as urllib3_guard
from seeds import CASES

AFTER = "a text to tests/integrations/hostile.py"
LONGEST = 256
WORDS = (
    b"http://", b"https://", b"//", b"@", b"\\", b"#", b"?", b":80", b":8080", b"127.0.0.1", b"[::1]", b"0x7f.1",
    b"inner.test", b"%00", b"%2f", b"\r\n", b"\t", b" ", "\uff11".encode(), "\u3002".encode(), b"%", b"/../", b"://",
    b"file:", b"[", b"]", b"xn--", b"\x00", "\u00e9".encode(), b".", b";",
)  # fmt: skip
_PRIVATE, _PUBLIC = "127.0.0.1", "93.184.215.14"
_UNICODE = (UnicodeError, ValueError)
"""The exceptions of the clients, in addition to their own, for a text that they cannot read."""
_YARL = (aiohttp.ClientError, IndexError, AssertionError)
"""The same of aiohttp, for yarl has further ones for `//[]@` and `//[:]#0`."""


class _Clients:
    """Clients that are made once: a TLS context takes long."""

    def __init__(self) -> None:
        self.address = _PRIVATE
        """The address of every name."""
        self.loop = asyncio.new_event_loop()
        self.session = self.loop.run_until_complete(self._session())
        atexit.register(lambda: self.loop.run_until_complete(self.session.close()))
        self.fetches: dict[str, tuple[Callable[[str], Any], tuple[type[Exception], ...]]] = {
            "httpx": (
                httpx.Client(transport=httpx_guard.Guard(resolve=self.resolve), timeout=1.0).get,
                (httpx.HTTPError, httpx.InvalidURL),
            ),
            "httpx2": (
                httpx2.Client(transport=httpx2_guard.Guard(resolve=self.resolve), timeout=1.0).get,
                (httpx2.HTTPError, httpx2.InvalidURL),
            ),
            "requests": (requests_guard.guarded_session(resolve=self.resolve).get, (requests.RequestException,)),
            "urllib3": (
                partial(urllib3_guard.Guard(resolve=self.resolve, retries=False, timeout=1.0).request, "GET"),
                (urllib3.exceptions.HTTPError,),
            ),
            "aiohttp": (lambda uri: self.loop.run_until_complete(self._get(uri)), _YARL),
        }

    def resolve(self, host: str, port: int) -> list[str]:
        return [self.address]

    async def _session(self) -> aiohttp.ClientSession:
        async def resolve(host: str, port: int) -> list[str]:
            return [self.address]

        return aiohttp_guard.guarded_session(resolve=resolve)

    async def _get(self, uri: str) -> None:
        async with self.session.get(uri):
            pass


@cache
def _clients() -> _Clients:
    return _Clients()


@contextmanager
def _unconnected() -> Iterator[list[str]]:
    """The addresses that are connected; no connection comes about."""
    reached: list[str] = []
    original: Any = socket.socket
    connect = original.connect

    def refuse(sock: socket.socket, address: Any) -> None:
        if sock.family not in (socket.AF_INET, socket.AF_INET6):
            connect(sock, address)
            return
        reached.append(address[0])
        raise ConnectionRefusedError

    original.connect = refuse
    try:
        yield reached
    finally:
        original.connect = connect


def check(data: bytes) -> None:
    """Judge one text by all clients."""
    text = data.decode("utf-8", "surrogateescape")
    clients = _clients()
    for name, (fetch, own_errors) in clients.fetches.items():
        expected: tuple[type[Exception], ...] = (OverthereError, *own_errors, *_UNICODE)
        for address in (_PRIVATE, _PUBLIC):
            clients.address = address
            with _unconnected() as reached:
                try:
                    fetch(text)
                except expected:
                    pass
                else:
                    raise AssertionError(f"{name}: {text!r} has an answer")
            for ip in reached:
                if (address == _PRIVATE and not _has(text, ip)) or not ip_address(ip).is_global:
                    raise AssertionError(f"{name}: {text!r} reached {ip}")


def _has(text: str, address: str) -> bool:
    """Whether a text has an address as clients read it: 1.8 is 1.0.0.8, 0x is 0, also in full width and with tabs."""
    if address in text:
        return True
    plain = "".join(
        char for char in normalize("NFKC", unquote(text)) if char not in "\t\r\n" and category(char) != "Cf"
    )
    plain = re.sub(r"0x(?![0-9a-f])", "0", plain.lower().replace("\u3002", "."))
    for number in (*re.findall(r"[0-9a-fx.]+", plain), *re.findall(r"[0-9a-f:.]+", plain)):
        with suppress(OSError, ValueError):
            read = (
                ip_address(number) if number.count(":") > 1 else socket.inet_ntoa(socket.inet_aton(number.rstrip(".")))
            )
            if str(read) == address:
                return True
    return False


def seeds() -> Iterator[bytes]:
    """Texts that led others astray, and ordinary ones."""
    sys.path.append(str(CASES.parent / "integrations"))
    from hostile import hostile

    for uri in hostile(80):
        yield uri.encode("utf-8", "surrogatepass")
    yield from (b"http://outer.test/a?b=c", b"https://outer.test:8443/%7Eu", b"http://93.184.215.14/")
