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
from overthere.access.judgment import Judged, Resolve
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
"""What is requested now: the line that is written is compared with it."""


@contextmanager
def expecting(judged: Judged) -> Iterator[None]:
    """While this request is written."""
    token = _EXPECTED.set(judged)
    try:
        yield
    finally:
        _EXPECTED.reset(token)


_TLS_SETTINGS = (
    "ca_certs", "ca_cert_dir", "ca_cert_data", "cert_file", "assert_hostname", "assert_fingerprint",
)  # fmt: skip
"""The attributes of a connection that urllib3 writes into its context, or checks in place of what that one says."""


class _Line:
    """A connection that writes the request line of the judged URI, or none."""

    guard: tuple[Policy, Resolve | None]

    def connect(self: Any) -> None:
        """Raises: Refused for settings of TLS beside `Policy.tls`."""
        policy, _ = self.guard
        if policy.tls is not None and hasattr(self, "ssl_context"):
            own = self.ssl_context is policy.tls and self.cert_reqs in (None, policy.tls.verify_mode)
            if not own or any(getattr(self, name, None) is not None for name in _TLS_SETTINGS):
                raise Refused("tls", TLS_RULE, "RFC 9110 4.3.4")
        super().connect()  # type: ignore[misc]

    def putrequest(self, method: str, url: str, *given: Any, **settings: Any) -> Any:
        with refusals(Refused):
            if (judged := _EXPECTED.get()) is None:
                raise AccessRefused("text", "the request was not judged: it goes around the guard", "RFC 3986 7.4")
            judge_line(judged, url, also=(str(judged.uri).partition("#")[0],))
            self._judge_server(judged)
        try:
            return super().putrequest(method, url, *given, **settings)  # type: ignore[misc]
        except AssertionError:  # of http.client, which looks for a zone behind an escape
            why = "the client cannot ask a proxy for a host with an escape"
            raise Refused("host", why, "RFC 3986 3.2.2") from None

    def _judge_server(self: Any, judged: Judged) -> None:
        """Raises: AccessRefused if this connection, or its tunnel, leads to another server than the judged one."""
        host, port = self._dns_host, self.port
        if self.proxy is not None:
            if self._tunnel_host is None:  # the absolute form names the server
                return
            host, port = self._tunnel_host, self._tunnel_port
        if (host.strip("[]").lower(), port) != ((judged.host or "").lower(), judged.port):
            why = f"the client would connect to {host!r}, port {port}"
            raise AccessRefused("host", why, "RFC 3986 3.2.2", judged.uri)


class _Direct(_Line):
    """A connection that is made to a judged address."""

    def _new_conn(self: Any) -> socket.socket:
        """The socket; name, Host, SNI and certificate stay those of the URI."""
        try:
            with refusals(Refused):
                policy, resolve = self.guard
                found = policy.addresses(self._dns_host, self.port, resolve=resolve)
        except AccessTimeout as error:
            raise ConnectTimeoutError(self, str(error)) from error
        except AccessFailed as error:
            raise NewConnectionError(self, str(error)) from error
        problem: OSError | None = None
        for address in found:
            try:
                return dialling.create_connection(
                    (str(address), self.port), self.timeout, source_address=self.source_address,
                    socket_options=self.socket_options,
                )  # fmt: skip
            except OSError as error:
                problem = error
        kind: Any = ConnectTimeoutError if isinstance(problem, TimeoutError) else NewConnectionError
        raise kind(self, f"no connection to {self.host}: {problem}") from problem


def pool_classes(policy: Policy, resolve: Resolve | None, *, direct: bool) -> dict[str, Any]:
    """The pools of a manager by scheme.  direct: to the hosts themselves, not to a proxy."""
    made: dict[str, Any] = {"http": HTTPConnectionPool, "https": HTTPSConnectionPool}
    for scheme, pool in made.items():
        own = pool.ConnectionCls
        guarded = type(own.__name__, (_Direct if direct else _Line, own), {"guard": (policy, resolve)})
        made[scheme] = type(pool.__name__, (pool,), {"ConnectionCls": guarded})
    return made


class _ProxyManager(urllib3.ProxyManager):
    """A manager of connections to a proxy; the guard that has it judges its redirects."""

    guard: Guard

    def urlopen(  # type: ignore[override]  # as that of ProxyManager
        self, method: str, url: str, redirect: bool = True, **settings: Any
    ) -> Any:
        """A redirect, as only urllib3 calls this: it has Host and proxy login of the request before it."""
        headers = HTTPHeaderDict(settings.pop("headers"))
        for name in ("Host", "Proxy-Authorization"):  # the proxy's own is added again
            headers.discard(name)
        return self.guard.urlopen(method, url, redirect, headers=headers, **settings)

    def request_judged(self, method: str, url: str, redirect: bool, **settings: Any) -> Any:
        """Request what the guard has judged."""
        return super().urlopen(method, url, redirect, **settings)


class Guard(urllib3.PoolManager):
    """A `urllib3.PoolManager`; no proxy is used but `Policy.proxy`.

    Each request and each redirect is judged by its text; a connection goes to an address that was judged, under the
    name's Host, SNI and certificate (RFC 3986 7.4, RFC 9110 4.2).  A request of which urllib3 would change an octet is
    refused.
    """

    def __init__(self, policy: Policy | None = None, *, resolve: Resolve | None = None, **settings: Any) -> None:
        """policy: default: the safe one.  resolve: resolves names; default: the system's resolver.
        settings: of `urllib3.PoolManager`."""
        self.policy: Policy = policy or Policy()
        if self.policy.tls is not None:
            settings.setdefault("ssl_context", self.policy.tls)
        super().__init__(**settings)
        self.pool_classes_by_scheme: dict[str, Any] = pool_classes(self.policy, resolve, direct=True)
        self._proxied: dict[str, _ProxyManager] = {}
        for name, proxy in self.policy.proxy.items():
            login = URI(proxy).userinfo
            user, _, password = (login or "").partition(":")
            fields = (
                {} if login is None else {"Proxy-Authorization": basic(user, password).decode()}
            )  # urllib3 has none
            made = self._proxied[name] = _ProxyManager(
                proxy, proxy_headers=fields, proxy_ssl_context=self.policy.tls, **settings
            )  # fmt: skip
            made.guard = self
            made.pool_classes_by_scheme = pool_classes(self.policy, resolve, direct=False)

    def urlopen(  # type: ignore[override]  # as that of PoolManager
        self, method: str, url: str, redirect: bool = True, **settings: Any
    ) -> Any:
        """As `PoolManager.urlopen`.  Raises: Refused; what urllib3 raises."""
        with refusals(Refused):
            history = getattr(settings.get("retries"), "history", ())
            if history and history[-1].redirect_location:
                judge_redirect(self.policy, str(history[-1].url), url)
            judged = judge_request(self.policy, url)
            redirects = sum(bool(one.redirect_location) for one in history)  # others are retries
            judge_count(self.policy, redirects, judged.uri)
        with expecting(judged):
            proxied = self._proxied.get(judged.uri.scheme.lower())
            if proxied is None:
                return super().urlopen(method, url, redirect, **settings)
            return proxied.request_judged(method, url, redirect, **settings)

    def clear(self) -> None:
        super().clear()
        for one in getattr(self, "_proxied", {}).values():
            one.clear()
