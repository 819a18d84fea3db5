"""Shared by the guards of httpx and httpx2: transports, and backends that connect only to judged addresses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from time import monotonic
from types import ModuleType
from typing import Any, ClassVar

from overthere.access.errors import AccessFailed, AccessRefused, AccessTimeout
from overthere.access.judgment import AsyncResolve, HasPolicy, Resolve
from overthere.access.policy import Policy
from overthere.integrations.guarding import TLS_RULE, RequestChain, judge_line, judge_request, proxy_tls, refusals
from overthere.values.hosts.address import Address

__all__ = ["AsyncTransportGuard", "TransportGuard", "put_backend"]

_CHAIN = "overthere.redirects"
_RESERVED = {"proxy": "name the proxy in Policy.proxy", "uds": "a Unix socket has no host to judge"}


def _settings(policy: Policy, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a transport.  Raises: TypeError for settings that bypass the policy."""
    for name, reason in (
        _RESERVED.items() if policy.tls is None else {**_RESERVED, "verify": TLS_RULE, "cert": TLS_RULE}.items()
    ):
        if settings.get(name) is not None:
            raise TypeError(f"a guard takes no {name!r}: {reason}")
    return settings if policy.tls is None else {**settings, "verify": policy.tls}


def put_backend(transport: Any, wrap: Any) -> None:
    """Replace the network backend of a transport by another that wraps it.

    Raises: RuntimeError if this version of the library has no such place: then no guard is possible.
    """
    pool: Any = getattr(transport, "_pool", None)
    backend = getattr(pool, "_network_backend", None)
    if backend is None:
        raise RuntimeError("this version of the library does not say where it connects: no guard is possible")
    pool._network_backend = wrap(backend)


def _judge(policy: Policy, request: Any) -> str:
    """Judge a request of httpx, and the redirect that led to it.  Returns: the scheme.  Raises: AccessRefused."""
    judged = judge_request(policy, str(request.url))
    target = request.extensions.get("target", request.url.raw_path)
    judge_line(judged, (target if isinstance(target, bytes) else str(target).encode()).decode("latin-1"))
    if (host := request.url.raw_host.decode("latin-1")).lower() != (judged.host or "").lower():
        raise AccessRefused("host", f"the client would connect to {host!r}", "RFC 3986 3.2.2", judged.uri)
    # A redirect has the extensions of the previous request.
    chain = RequestChain.follow(policy, request.extensions.get(_CHAIN), request, judged.uri)
    request.extensions = {**request.extensions, _CHAIN: chain}
    return judged.uri.scheme.lower()


def _shares(addresses: Sequence[Address], timeout: float | None) -> Iterator[tuple[str, float | None, bool]]:
    """Yield each address with its time, and whether it is the last.

    The remaining time is divided equally: the owner of the name chooses the number of addresses.
    """
    deadline = None if timeout is None else monotonic() + timeout
    for number, address in enumerate(addresses):
        remaining = len(addresses) - number
        # A socket with a timeout of 0 does not wait at all.
        share = None if deadline is None else max(deadline - monotonic(), 0.001) / remaining
        yield str(address), share, remaining == 1


class _Connector:
    def __init__(self, backend: Any, policy: Policy, resolve: Any, core: ModuleType) -> None:
        """backend: of the library; core: its module of exceptions."""
        self.backend = backend
        self.policy = policy
        self.resolve = resolve
        self.core = core

    def to_library(self, error: AccessFailed | AccessTimeout) -> Exception:
        kind = self.core.ConnectTimeout if isinstance(error, AccessTimeout) else self.core.ConnectError
        library_error: Exception = kind(str(error))
        return library_error

    def refuse_socket(self, path: str) -> AccessRefused:
        return AccessRefused("host", f"{path!r} is a Unix socket, so there is no host to judge", "RFC 3986 3.2.2")

    def is_next_tried(self, error: Exception) -> bool:
        return isinstance(error, self.core.ConnectError | self.core.ConnectTimeout)


class Backend(_Connector):
    """A `NetworkBackend` that connects only to the addresses that the policy allows for a host."""

    resolve: Resolve | None

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, *arguments: Any, **settings: Any) -> Any:
        try:
            addresses = self.policy.addresses(host, port, resolve=self.resolve)
        except (AccessFailed, AccessTimeout) as error:
            raise self.to_library(error) from error
        for address, share, is_last in _shares(addresses, timeout):
            try:
                return self.backend.connect_tcp(address, port, share, *arguments, **settings)
            except Exception as error:
                if is_last or not self.is_next_tried(error):
                    raise
        raise AssertionError(host)

    def connect_unix_socket(self, path: str, *arguments: Any, **settings: Any) -> Any:
        raise self.refuse_socket(path)

    def sleep(self, seconds: float) -> None:
        self.backend.sleep(seconds)


class AsyncBackend(_Connector):
    """The asynchronous backend, in asyncio and Trio."""

    resolve: AsyncResolve | None

    async def _addresses(self, host: str, port: int) -> Iterable[Address]:
        if self.resolve is not None:
            return await self.policy.aaddresses(host, port, resolve=self.resolve)
        from anyio.to_thread import run_sync

        return await run_sync(partial(self.policy.addresses, host, port), abandon_on_cancel=True)

    async def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *arguments: Any, **settings: Any
    ) -> Any:
        try:
            addresses = list(await self._addresses(host, port))
        except (AccessFailed, AccessTimeout) as error:
            raise self.to_library(error) from error
        for address, share, is_last in _shares(addresses, timeout):
            try:
                return await self.backend.connect_tcp(address, port, share, *arguments, **settings)
            except Exception as error:
                if is_last or not self.is_next_tried(error):
                    raise
        raise AssertionError(host)

    async def connect_unix_socket(self, path: str, *arguments: Any, **settings: Any) -> Any:
        raise self.refuse_socket(path)

    async def sleep(self, seconds: float) -> None:
        await self.backend.sleep(seconds)


class _Guard(HasPolicy):
    refused: ClassVar[Any]
    """The exception of a refusal, which also derives from one of the library."""
    core: ClassVar[ModuleType]
    plain: ClassVar[Any]
    """The library's transport, which the proxies of the policy use."""
    _proxy_type: ClassVar[Any]
    """The library's class of proxies."""
    backend: ClassVar[type[_Connector]]

    def __init__(self, policy: Policy | None = None, *, resolve: Any = None, **settings: Any) -> None:
        """policy: default: the safe one.  resolve: resolves names (`Resolve` of `Policy.addresses`); default: the
        system's resolver.  settings: of the library's transport, except `proxy` and `uds`."""
        self._policy = policy or Policy()
        settings = _settings(self.policy, settings)
        super().__init__(**settings)
        put_backend(self, lambda backend: self.backend(backend, self.policy, resolve, self.core))
        self._proxy_transports: dict[str, Any] = {}
        for name, proxy in self.policy.proxy.items():
            tls = proxy_tls(self.policy, proxy)
            self._proxy_transports[name] = self.plain(**settings, proxy=self._proxy_type(proxy, ssl_context=tls))


class TransportGuard(_Guard):
    """A transport that judges each request; it precedes the library's own in the order of bases."""

    backend: ClassVar[type[_Connector]] = Backend

    def handle_request(self, request: Any) -> Any:
        with refusals(self.refused, request=request):
            proxied = self._proxy_transports.get(_judge(self.policy, request))
            return self.plain.handle_request(self if proxied is None else proxied, request)

    def __exit__(self, *exception: Any) -> None:
        self.plain.__exit__(self, *exception)
        self.close()

    def close(self) -> None:
        self.plain.close(self)
        for transport in self._proxy_transports.values():
            transport.close()


class AsyncTransportGuard(_Guard):
    """A transport that judges each asynchronous request."""

    backend: ClassVar[type[_Connector]] = AsyncBackend

    async def handle_async_request(self, request: Any) -> Any:
        with refusals(self.refused, request=request):
            proxied = self._proxy_transports.get(_judge(self.policy, request))
            return await self.plain.handle_async_request(self if proxied is None else proxied, request)

    async def __aexit__(self, *exception: Any) -> None:
        await self.plain.__aexit__(self, *exception)
        await self.aclose()

    async def aclose(self) -> None:
        await self.plain.aclose(self)
        for transport in self._proxy_transports.values():
            await transport.aclose()
