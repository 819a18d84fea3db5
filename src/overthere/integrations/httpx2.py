"""The guard of httpx2: a transport that requests only what a policy allows, and connects only where it allows.

client = httpx2.Client(transport=Guard())
client = httpx2.AsyncClient(transport=AsyncGuard(Policy(hosts=frozenset({"api.example"}))))
"""

from __future__ import annotations

from types import ModuleType
from typing import ClassVar

from overthere.access.errors import AccessRefused
from overthere.ground.extras import brought_by
from overthere.integrations.transports import AsyncTransportGuard, TransportGuard

with brought_by("httpx2"):
    import httpcore2
    import httpx2

__all__ = ["AsyncGuard", "Guard", "Refused"]


class Refused(AccessRefused, httpx2.RequestError):
    """The policy forbids a request of httpx2 (RFC 3986 7)."""


class Guard(TransportGuard, httpx2.HTTPTransport):
    """A transport for `httpx2.Client`: as `overthere.integrations.httpx.Guard`."""

    refused = Refused
    core: ClassVar[ModuleType] = httpcore2
    plain = httpx2.HTTPTransport
    _proxy_type = httpx2.Proxy


class AsyncGuard(AsyncTransportGuard, httpx2.AsyncHTTPTransport):
    """The guard for `httpx2.AsyncClient`, in asyncio and Trio.  Raises: as `Guard`."""

    refused = Refused
    core: ClassVar[ModuleType] = httpcore2
    plain = httpx2.AsyncHTTPTransport
    _proxy_type = httpx2.Proxy
