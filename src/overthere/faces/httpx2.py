"""The guard of httpx2: a transport that requests only what a policy allows, and connects only where it allows.

client = httpx2.Client(transport=Guard())
client = httpx2.AsyncClient(transport=AsyncGuard(Policy(hosts=frozenset({"api.example"}))))
"""

from __future__ import annotations

from types import ModuleType
from typing import ClassVar

from overthere.access.errors import AccessRefused
from overthere.faces.transports import AsyncTransportGuard, TransportGuard
from overthere.ground.extras import brought_by

with brought_by("httpx2"):
    import httpcore2
    import httpx2

__all__ = ["AsyncGuard", "Guard", "Refused"]


class Refused(AccessRefused, httpx2.RequestError):
    """The policy forbids a request of httpx2 (RFC 3986 7)."""


class Guard(TransportGuard, httpx2.HTTPTransport):
    """A transport for `httpx2.Client`.  No proxy of the environment is used, only `Policy.proxy`.

    Each request, and each redirect that the client follows, is judged by its text; a connection goes to an address that
    was judged, under the name's Host, SNI and certificate (RFC 3986 7.4, RFC 9110 4.2).  Times are httpx2's own.

    Raises: Refused where a request is sent; TypeError for the settings `proxy` and `uds`; RuntimeError for a version of
    httpx2 that cannot be guarded.

    >>> Guard().handle_request(httpx2.Request("GET", "http://0x7f.1/"))
    Traceback (most recent call last):
        ...
    overthere.faces.httpx2.Refused: 127.0.0.1 is loopback (RFC 3986 7.4; http://0x7f.1/)
    """

    refused = Refused
    core: ClassVar[ModuleType] = httpcore2
    plain = httpx2.HTTPTransport
    _proxy_type = httpx2.Proxy


class AsyncGuard(AsyncTransportGuard, httpx2.AsyncHTTPTransport):
    """The same for `httpx2.AsyncClient`, in asyncio and Trio.  Raises: as `Guard`."""

    refused = Refused
    core: ClassVar[ModuleType] = httpcore2
    plain = httpx2.AsyncHTTPTransport
    _proxy_type = httpx2.Proxy
