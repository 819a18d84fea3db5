"""The guard of httpx: a transport that requests only what a policy allows, and connects only where it allows.

client = httpx.Client(transport=Guard())
client = httpx.AsyncClient(transport=AsyncGuard(Policy(hosts=frozenset({"api.example"}))))
"""

from __future__ import annotations

from types import ModuleType
from typing import ClassVar

from overthere.access.errors import AccessRefused
from overthere.ground.extras import brought_by
from overthere.integrations.transports import AsyncTransportGuard, TransportGuard

with brought_by("httpx"):
    import httpcore
    import httpx

__all__ = ["AsyncGuard", "Guard", "Refused"]


class Refused(AccessRefused, httpx.RequestError):
    """The policy forbids a request of httpx (RFC 3986 7)."""


class Guard(TransportGuard, httpx.HTTPTransport):
    """A transport for `httpx.Client`.  No proxy of the environment is used, only `Policy.proxy`.

    Each request, and each redirect that the client follows, is judged by its text; a connection goes to an address that
    was judged, under the name's Host, SNI and certificate (RFC 3986 7.4, RFC 9110 4.2).  httpx's own timeouts apply.

    Raises: Refused where a request is sent; TypeError for the settings `proxy` and `uds`; RuntimeError for a version of
    httpx that cannot be guarded.

    >>> Guard().handle_request(httpx.Request("GET", "http://0x7f.1/"))
    Traceback (most recent call last):
        ...
    overthere.integrations.httpx.Refused: 127.0.0.1 is loopback (RFC 3986 7.4; http://0x7f.1/)
    """

    refused = Refused
    core: ClassVar[ModuleType] = httpcore
    plain = httpx.HTTPTransport
    _proxy_type = httpx.Proxy


class AsyncGuard(AsyncTransportGuard, httpx.AsyncHTTPTransport):
    """The guard for `httpx.AsyncClient`, in asyncio and Trio.  Raises: as `Guard`."""

    refused = Refused
    core: ClassVar[ModuleType] = httpcore
    plain = httpx.AsyncHTTPTransport
    _proxy_type = httpx.Proxy
