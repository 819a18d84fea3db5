"""What the guards of httpx and httpx2 share: transports, and backends that connect to judged addresses alone."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from time import monotonic
from types import ModuleType
from typing import Any, ClassVar

from overthere.access.errors import AccessFailed, AccessRefused, AccessTimeout
from overthere.access.judgment import AsyncResolve, Resolve
from overthere.access.policy import Policy
from overthere.integrations.guarding import TLS_RULE, RequestChain, judge_line, judge_request, proxy_tls, refusals
from overthere.values.hosts.address import Address

__all__ = ["AsyncTransportGuard", "TransportGuard", "put_backend"]

_CHAIN = "overthere.redirects"
_OWN = {"proxy": "name the proxy in Policy.proxy", "uds": "a Unix socket has no host to judge"}


def _settings(policy: Policy, settings: dict[str, Any]) -> dict[str, Any]:
    """The settings of a transport.  Raises: TypeError for those that lead around the policy."""
    for name, why in _OWN.items() if policy.tls is None else {**_OWN, "verify": TLS_RULE, "cert": TLS_RULE}.items():
        if settings.get(name) is not None:
            raise TypeError(f"a guard takes no {name!r}: {why}")
    return settings if policy.tls is None else {**settings, "verify": policy.tls}


def put_backend(transport: Any, make: Any) -> None:
    """Let a transport connect by another backend, which is made of its own.

    Raises: RuntimeError if this version of the library has no such place: there is no guard without it.
    """
    pool: Any = getattr(transport, "_pool", None)
    own = getattr(pool, "_network_backend", None)
    if own is None:
        raise RuntimeError("this version of the library does not say where it connects: no guard is possible")
    pool._network_backend = make(own)


def _judge(policy: Policy, request: Any) -> str:
    """Judge a request of httpx, and the redirect that led to it.  Returns: its scheme.  Raises: AccessRefused."""
    judged = judge_request(policy, str(request.url))
    written = request.extensions.get("target", request.url.raw_path)
    judge_line(judged, (written if isinstance(written, bytes) else str(written).encode()).decode("latin-1"))
    if (host := request.url.raw_host.decode("latin-1")).lower() != (judged.host or "").lower():
        raise AccessRefused("host", f"the client would connect to {host!r}", "RFC 3986 3.2.2", judged.uri)
    # A redirect takes the extensions of the request before it.
    chain = RequestChain.follow(policy, request.extensions.get(_CHAIN), request, judged.uri)
    request.extensions = {**request.extensions, _CHAIN: chain}
    return judged.uri.scheme.lower()


class _Connector:
    def __init__(self, own: Any, policy: Policy, resolve: Any, core: ModuleType) -> None:
        """own: the library's backend; core: its module of exceptions."""
        self.own = own
        self.policy = policy
        self.resolve = resolve
        self.core = core

    def to_library(self, error: AccessFailed | AccessTimeout) -> Exception:
        kind = self.core.ConnectTimeout if isinstance(error, AccessTimeout) else self.core.ConnectError
        made: Exception = kind(str(error))
        return made

    def refuse_socket(self, path: str) -> AccessRefused:
        return AccessRefused("host", f"{path!r} is a Unix socket, so there is no host to judge", "RFC 3986 3.2.2")

    def is_next_tried(self, error: Exception) -> bool:
        return isinstance(error, self.core.ConnectError | self.core.ConnectTimeout)


class Backend(_Connector):
    """A `NetworkBackend` that asks the policy for the addresses of each host."""

    resolve: Resolve | None

    def connect_tcp(self, host: str, port: int, *given: Any, **settings: Any) -> Any:
        try:
            found: Iterable[Address] = self.policy.addresses(host, port, resolve=self.resolve)
        except (AccessFailed, AccessTimeout) as error:
            raise self.to_library(error) from error
        *others, last = found
        for address in others:
            try:
                return self.own.connect_tcp(str(address), port, *given, **settings)
            except Exception as error:
                if not self.is_next_tried(error):
                    raise
        return self.own.connect_tcp(str(last), port, *given, **settings)

    def connect_unix_socket(self, path: str, *given: Any, **settings: Any) -> Any:
        raise self.refuse_socket(path)

    def sleep(self, seconds: float) -> None:
        self.own.sleep(seconds)


class AsyncBackend(_Connector):
    """The same for `AsyncNetworkBackend`, in asyncio and Trio."""

    resolve: AsyncResolve | None

    async def _addresses(self, host: str, port: int) -> Iterable[Address]:
        if self.resolve is not None:
            return await self.policy.aaddresses(host, port, resolve=self.resolve)
        from anyio.to_thread import run_sync

        return await run_sync(partial(self.policy.addresses, host, port), abandon_on_cancel=True)

    async def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *given: Any, **settings: Any
    ) -> Any:
        """Each address gets an equal part of the time that is left: its name's owner chooses how many there are."""
        try:
            found = list(await self._addresses(host, port))
        except (AccessFailed, AccessTimeout) as error:
            raise self.to_library(error) from error
        ends = None if timeout is None else monotonic() + timeout
        while True:
            address = str(found.pop(0))
            share = None if ends is None else max(ends - monotonic(), 0.0) / (len(found) + 1)
            try:
                return await self.own.connect_tcp(address, port, share, *given, **settings)
            except Exception as error:
                if not found or not self.is_next_tried(error):
                    raise

    async def connect_unix_socket(self, path: str, *given: Any, **settings: Any) -> Any:
        raise self.refuse_socket(path)

    async def sleep(self, seconds: float) -> None:
        await self.own.sleep(seconds)


class _Guard:
    refused: ClassVar[Any]
    """The exception of a refusal, which is one of the library's too."""
    core: ClassVar[ModuleType]
    plain: ClassVar[Any]
    """The library's transport; the proxies of the policy use it."""
    _proxy_type: ClassVar[Any]
    """The library's class of proxies."""
    backend: ClassVar[type[_Connector]]

    def __init__(self, policy: Policy | None = None, *, resolve: Any = None, **settings: Any) -> None:
        """policy: default: the safe one.  resolve: resolves names (`Resolve` of `Policy.addresses`); default: the
        system's resolver.  settings: of the library's transport, but for `proxy` and `uds`."""
        self.policy: Policy = policy or Policy()
        settings = _settings(self.policy, settings)
        super().__init__(**settings)
        put_backend(self, lambda own: self.backend(own, self.policy, resolve, self.core))
        self._proxied: dict[str, Any] = {}
        for name, proxy in self.policy.proxy.items():
            tls = proxy_tls(self.policy, proxy)
            self._proxied[name] = self.plain(**settings, proxy=self._proxy_type(proxy, ssl_context=tls))


class TransportGuard(_Guard):
    """A transport that judges each request; before the library's own in the order of bases."""

    backend: ClassVar[type[_Connector]] = Backend

    def handle_request(self, request: Any) -> Any:
        with refusals(self.refused, request=request):
            proxied = self._proxied.get(_judge(self.policy, request))
            return self.plain.handle_request(self if proxied is None else proxied, request)

    def __exit__(self, *given: Any) -> None:
        self.plain.__exit__(self, *given)
        self.close()

    def close(self) -> None:
        self.plain.close(self)
        for one in self._proxied.values():
            one.close()


class AsyncTransportGuard(_Guard):
    """The same for asynchronous requests."""

    backend: ClassVar[type[_Connector]] = AsyncBackend

    async def handle_async_request(self, request: Any) -> Any:
        with refusals(self.refused, request=request):
            proxied = self._proxied.get(_judge(self.policy, request))
            return await self.plain.handle_async_request(self if proxied is None else proxied, request)

    async def __aexit__(self, *given: Any) -> None:
        await self.plain.__aexit__(self, *given)
        await self.aclose()

    async def aclose(self) -> None:
        await self.plain.aclose(self)
        for one in self._proxied.values():
            await one.aclose()
