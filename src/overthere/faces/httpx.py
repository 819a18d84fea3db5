"""The guard of httpx: a transport that requests only what a policy allows, and connects only where it allows.

client = httpx.Client(transport=Guard())
client = httpx.AsyncClient(transport=AsyncGuard(Policy(hosts=frozenset({"api.example"}))))
"""

from __future__ import annotations

from typing import Any

from overthere.access.errors import AccessRefused
from overthere.access.judgment import AsyncResolve, Resolve
from overthere.access.policy import Policy
from overthere.faces.guarding import refusals
from overthere.faces.transports import AsyncBackend, Backend, judge, put_backend, transport_settings
from overthere.ground.extras import brought_by

with brought_by("httpx"):
    import httpcore
    import httpx

__all__ = ["AsyncGuard", "Guard", "Refused"]


class Refused(AccessRefused, httpx.RequestError):
    """The policy forbids a request of httpx."""


class Guard(httpx.HTTPTransport):
    """A transport for `httpx.Client`.  No proxy of the environment is used, only `Policy.proxy`.

    Each request, and each redirect that the client follows, is judged by its text; a connection goes to an address that
    was judged, under the name's Host, SNI and certificate (RFC 3986 7.4, RFC 9110 4.2).  Times are httpx's own.
    """

    def __init__(self, policy: Policy | None = None, *, resolve: Resolve | None = None, **settings: Any) -> None:
        """policy: default: the safe one.  resolve: resolves names; default: the system's resolver.
        settings: of `httpx.HTTPTransport`, but for `proxy` and `uds`.

        Raises: TypeError for those two; RuntimeError for a version of httpx that cannot be guarded.
        """
        self.policy: Policy = policy or Policy()
        settings = transport_settings(self.policy, settings)
        super().__init__(**settings)
        put_backend(self, lambda own: Backend(own, self.policy, resolve, httpcore))
        proxies = self.policy.proxy.items()
        self._proxied = {name: httpx.HTTPTransport(**settings, proxy=proxy) for name, proxy in proxies}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Raises: Refused; what httpx raises."""
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


class AsyncGuard(httpx.AsyncHTTPTransport):
    """The same for `httpx.AsyncClient`."""

    def __init__(self, policy: Policy | None = None, *, resolve: AsyncResolve | None = None, **settings: Any) -> None:
        """As `Guard`."""
        self.policy: Policy = policy or Policy()
        settings = transport_settings(self.policy, settings)
        super().__init__(**settings)
        put_backend(self, lambda own: AsyncBackend(own, self.policy, resolve, httpcore))
        proxies = self.policy.proxy.items()
        self._proxied = {name: httpx.AsyncHTTPTransport(**settings, proxy=proxy) for name, proxy in proxies}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Raises: Refused; what httpx raises."""
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
