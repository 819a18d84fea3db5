"""The guard of urllib3: a pool manager that requests only what a policy allows, and connects only where it allows.

pool = Guard(); pool.request("GET", "https://h.example/")
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from overthere.access.errors import AccessFailed, AccessRefused, AccessTimeout
from overthere.access.judgment import HasPolicy, Judged, Resolve
from overthere.access.policy import Policy
from overthere.ground.extras import brought_by
from overthere.integrations.guarding import TLS_RULE, judge_count, judge_line, judge_redirect, judge_request, refusals
from overthere.protocols.http.steps import basic
from overthere.values.uri import URI

with brought_by("urllib3"):
    import urllib3
    from urllib3._collections import HTTPHeaderDict  # public only in urllib3 2
    from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
    from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError
    from urllib3.util import connection as dialling

__all__ = ["Guard", "Refused", "expecting", "pool_classes"]


class Refused(AccessRefused, HTTPError):
    """The policy forbids a request of urllib3."""


_EXPECTED: ContextVar[Judged | None] = ContextVar("overthere judged", default=None)
"""The current request: the request line that is written is compared with it."""


@contextmanager
def expecting(judged: Judged) -> Iterator[None]:
    """Expect this request while it is written."""
    token = _EXPECTED.set(judged)
    try:
        yield
    finally:
        _EXPECTED.reset(token)


_TLS_SETTINGS = (
    "ca_certs", "ca_cert_dir", "ca_cert_data", "cert_file", "assert_hostname", "assert_fingerprint",
)  # fmt: skip
"""The attributes of a connection that urllib3 writes into its context, or checks instead of the context."""


class _Connection:
    """A connection that writes only the request line of the judged URI."""

    guard: tuple[Policy, Resolve | None]

    def connect(self: Any) -> None:
        """Raise Refused for settings of TLS other than `Policy.tls`."""
        policy, _ = self.guard
        if policy.tls is not None and hasattr(self, "ssl_context"):
            has_policy_tls = self.ssl_context is policy.tls and self.cert_reqs in (None, policy.tls.verify_mode)
            if not has_policy_tls or any(getattr(self, name, None) is not None for name in _TLS_SETTINGS):
                raise Refused("tls", TLS_RULE, "RFC 9110 4.3.4")
        super().connect()  # type: ignore[misc]

    def putrequest(self, method: str, url: str, *arguments: Any, **settings: Any) -> Any:
        with refusals(Refused):
            if (judged := _EXPECTED.get()) is None:
                raise AccessRefused("text", "the request was not judged: it goes around the guard", "RFC 3986 7.4")
            judge_line(judged, url, also=(str(judged.uri).partition("#")[0],))
            self._judge_server(judged)
        try:
            return super().putrequest(method, url, *arguments, **settings)  # type: ignore[misc]
        except AssertionError:  # of http.client, which looks for a zone after an escape
            reason = "the client cannot ask a proxy for a host with an escape"
            raise Refused("host", reason, "RFC 3986 3.2.2") from None

    def _judge_server(self: Any, judged: Judged) -> None:
        """Raise AccessRefused if this connection, or its tunnel, leads to another server than the judged one."""
        host, port = self._dns_host, self.port
        if self.proxy is not None:
            if self._tunnel_host is None:  # the absolute form names the server
                return
            host, port = self._tunnel_host, self._tunnel_port
        if (host.strip("[]").lower(), port) != ((judged.host or "").lower(), judged.port):
            reason = f"the client would connect to {host!r}, port {port}"
            raise AccessRefused("host", reason, "RFC 3986 3.2.2", judged.uri)


class _Direct(_Connection):
    """A connection to a judged address."""

    def _new_conn(self: Any) -> socket.socket:
        """Return the socket; name, Host, SNI and certificate stay those of the URI."""
        try:
            with refusals(Refused):
                policy, resolve = self.guard
                addresses = policy.addresses(self._dns_host, self.port, resolve=resolve)
        except AccessTimeout as error:
            raise ConnectTimeoutError(self, str(error)) from error
        except AccessFailed as error:
            raise NewConnectionError(self, str(error)) from error
        last_error: OSError | None = None
        for address in addresses:
            try:
                return dialling.create_connection(
                    (str(address), self.port), self.timeout, source_address=self.source_address,
                    socket_options=self.socket_options,
                )  # fmt: skip
            except OSError as error:
                last_error = error
        kind: Any = ConnectTimeoutError if isinstance(last_error, TimeoutError) else NewConnectionError
        raise kind(self, f"no connection to {self.host}: {last_error}") from last_error


def pool_classes(policy: Policy, resolve: Resolve | None, *, direct: bool) -> dict[str, Any]:
    """Return the pool classes of a manager by scheme.  direct: for the hosts themselves, not for a proxy."""
    classes: dict[str, Any] = {"http": HTTPConnectionPool, "https": HTTPSConnectionPool}
    for scheme, pool in classes.items():
        base = pool.ConnectionCls
        guarded = type(base.__name__, (_Direct if direct else _Connection, base), {"guard": (policy, resolve)})
        classes[scheme] = type(pool.__name__, (pool,), {"ConnectionCls": guarded})
    return classes


class _ProxyManager(urllib3.ProxyManager):
    """A manager of connections to a proxy; its guard judges redirects."""

    guard: Guard

    def urlopen(  # type: ignore[override]  # as that of ProxyManager
        self, method: str, url: str, redirect: bool = True, **settings: Any
    ) -> Any:
        """Follow a redirect (only urllib3 calls this); it has Host and proxy login of the previous request."""
        headers = HTTPHeaderDict(settings.pop("headers"))
        for name in ("Host", "Proxy-Authorization"):  # the proxy's own login is added again
            headers.discard(name)
        return self.guard.urlopen(method, url, redirect, headers=headers, **settings)

    def request_judged(self, method: str, url: str, redirect: bool, **settings: Any) -> Any:
        """Send a request that the guard has judged."""
        return super().urlopen(method, url, redirect, **settings)


class Guard(HasPolicy, urllib3.PoolManager):
    """A `urllib3.PoolManager`; its only proxy is `Policy.proxy`.

    Each request and each redirect is judged by its text; a connection goes to an address that was judged, under the
    name's Host, SNI and certificate (RFC 3986 7.4, RFC 9110 4.2).  A request is refused if urllib3 would change an
    octet of it.
    """

    def __init__(self, policy: Policy | None = None, *, resolve: Resolve | None = None, **settings: Any) -> None:
        """policy: default: the safe one.  resolve: resolves names; default: the system's resolver.
        settings: of `urllib3.PoolManager`."""
        self._policy = policy or Policy()
        if self.policy.tls is not None:
            settings.setdefault("ssl_context", self.policy.tls)
        super().__init__(**settings)
        self.pool_classes_by_scheme: dict[str, Any] = pool_classes(self.policy, resolve, direct=True)
        self._proxy_managers: dict[str, _ProxyManager] = {}
        for name, proxy in self.policy.proxy.items():
            login = URI(proxy).userinfo
            user, _, password = (login or "").partition(":")
            fields = (
                {} if login is None else {"Proxy-Authorization": basic(user, password).decode()}
            )  # urllib3 sends none
            manager = self._proxy_managers[name] = _ProxyManager(
                proxy, proxy_headers=fields, proxy_ssl_context=self.policy.tls, **settings
            )  # fmt: skip
            manager.guard = self
            manager.pool_classes_by_scheme = pool_classes(self.policy, resolve, direct=False)

    def urlopen(  # type: ignore[override]  # as that of PoolManager
        self, method: str, url: str, redirect: bool = True, **settings: Any
    ) -> Any:
        """As `PoolManager.urlopen`.  Raises: Refused; what urllib3 raises."""
        with refusals(Refused):
            history = getattr(settings.get("retries"), "history", ())
            if history and history[-1].redirect_location:
                judge_redirect(self.policy, str(history[-1].url), url)
            judged = judge_request(self.policy, url)
            redirects = sum(bool(attempt.redirect_location) for attempt in history)  # others are retries
            judge_count(self.policy, redirects, judged.uri)
        with expecting(judged):
            proxied = self._proxy_managers.get(judged.uri.scheme.lower())
            if proxied is None:
                return super().urlopen(method, url, redirect, **settings)
            return proxied.request_judged(method, url, redirect, **settings)

    def clear(self) -> None:
        super().clear()
        for manager in self._proxy_managers.values():
            manager.clear()
