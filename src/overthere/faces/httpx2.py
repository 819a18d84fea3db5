"""The guard of httpx2: a transport that requests only what a policy allows, and connects only where it allows.

client = httpx2.Client(transport=Guard())
client = httpx2.AsyncClient(transport=AsyncGuard(Policy(hosts=frozenset({"api.example"}))))
"""

from __future__ import annotations

from typing import Any

from overthere.access.errors import AccessRefused
from overthere.access.judgment import AsyncResolve, Resolve
from overthere.access.policy import Policy
from overthere.faces.guarding import refusals
from overthere.faces.transports import AsyncBackend, Backend, judge, put_backend, transport_settings
from overthere.ground.extras import brought_by

with brought_by("httpx2"):
    import httpcore2
    import httpx2

__all__ = ["AsyncGuard", "Guard", "Refused"]


class Refused(AccessRefused, httpx2.RequestError):
    """The policy forbids a request of httpx2."""


class Guard(httpx2.HTTPTransport):
    """A transport for `httpx2.Client`.  No proxy of the environment is used, only `Policy.proxy`.

    Each request, and each redirect that the client follows, is judged by its text; a connection goes to an address that
    was judged, under the name's Host, SNI and certificate (RFC 3986 7.4, RFC 9110 4.2).  Times are httpx2's own.
    """

    def __init__(self, policy: Policy | None = None, *, resolve: Resolve | None = None, **settings: Any) -> None:
        """policy: default: the safe one.  resolve: resolves names; default: the system's resolver.
        settings: of `httpx2.HTTPTransport`, but for `proxy` and `uds`.

        Raises: TypeError for those two; RuntimeError for a version of httpx2 that cannot be guarded.
        """
        self.policy: Policy = policy or Policy()
        settings = transport_settings(self.policy, settings)
        super().__init__(**settings)
        put_backend(self, lambda own: Backend(own, self.policy, resolve, httpcore2))
        proxies = self.policy.proxy.items()
        self._proxied = {name: httpx2.HTTPTransport(**settings, proxy=proxy) for name, proxy in proxies}

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Raises: Refused; what httpx2 raises."""
        with refusals(Refused, request=request):
            proxied = self._proxied.get(judge(self.policy, request))
            return super().handle_request(request) if proxied is None else proxied.handle_request(request)

    def __exit__(self, *given: Any) -> None:
        super().__exit__(*given)
        self.close()

    def close(self) -> None:
        super().close()
        for one in self._proxied.values():
            one.close()


class AsyncGuard(httpx2.AsyncHTTPTransport):
    """The same for `httpx2.AsyncClient`."""

    def __init__(self, policy: Policy | None = None, *, resolve: AsyncResolve | None = None, **settings: Any) -> None:
        """As `Guard`."""
        self.policy: Policy = policy or Policy()
        settings = transport_settings(self.policy, settings)
        super().__init__(**settings)
        put_backend(self, lambda own: AsyncBackend(own, self.policy, resolve, httpcore2))
        proxies = self.policy.proxy.items()
        self._proxied = {name: httpx2.AsyncHTTPTransport(**settings, proxy=proxy) for name, proxy in proxies}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Raises: Refused; what httpx2 raises."""
        with refusals(Refused, request=request):
            proxied = self._proxied.get(judge(self.policy, request))
            if proxied is not None:
                return await proxied.handle_async_request(request)
            return await super().handle_async_request(request)

    async def __aexit__(self, *given: Any) -> None:
        await super().__aexit__(*given)
        await self.aclose()

    async def aclose(self) -> None:
        await super().aclose()
        for one in self._proxied.values():
            await one.aclose()
