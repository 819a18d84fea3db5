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
from overthere.faces.guarding import judge_line, judge_redirect, judge_request, refusals
from overthere.ground.extras import brought_by

with brought_by("urllib3"):
    import urllib3
    from urllib3.connection import HTTPConnection, HTTPSConnection
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


class _Line:
    """A connection that writes the request line of the judged URI, or none."""

    def putrequest(self, method: str, url: str, *given: Any, **settings: Any) -> Any:
        with refusals(Refused):
            if (judged := _EXPECTED.get()) is None:
                raise AccessRefused("text", "the request was not judged: it goes around the guard", "RFC 3986 7.4")
            judge_line(judged, url, also=(str(judged.uri).partition("#")[0],))
        return super().putrequest(method, url, *given, **settings)  # type: ignore[misc]


class _Direct(_Line):
    """A connection that is made to a judged address."""

    guard: tuple[Policy, Resolve | None]

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
    about = {"guard": (policy, resolve)}
    made: dict[str, Any] = {}
    own: list[tuple[str, Any, Any]] = [
        ("http", HTTPConnectionPool, HTTPConnection), ("https", HTTPSConnectionPool, HTTPSConnection),
    ]  # fmt: skip
    for scheme, pool, connection in own:
        guarded = type(connection.__name__, (_Direct if direct else _Line, connection), about)
        made[scheme] = type(pool.__name__, (pool,), {"ConnectionCls": guarded})
    return made


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
            settings = {"ssl_context": self.policy.tls, **settings}
        super().__init__(**settings)
        self.pool_classes_by_scheme: dict[str, Any] = pool_classes(self.policy, resolve, direct=True)
        self._proxied: dict[str, urllib3.ProxyManager] = {}
        for name, proxy in self.policy.proxy.items():
            self._proxied[name] = urllib3.ProxyManager(proxy, **settings)
            self._proxied[name].pool_classes_by_scheme = pool_classes(self.policy, resolve, direct=False)

    def urlopen(  # type: ignore[override]  # as that of PoolManager
        self, method: str, url: str, redirect: bool = True, **settings: Any
    ) -> Any:
        """As `PoolManager.urlopen`.  Raises: Refused; what urllib3 raises."""
        with refusals(Refused):
            history = getattr(settings.get("retries"), "history", ())
            if history and history[-1].redirect_location:
                judge_redirect(self.policy, str(history[-1].url), url)
            judged = judge_request(self.policy, url)
            if len(history) > self.policy.max_redirects:
                why = f"more than {self.policy.max_redirects} redirects; set Policy.max_redirects"
                raise AccessRefused("redirect", why, "RFC 9110 15.4", judged.uri)
        with expecting(judged):
            proxied = self._proxied.get(judged.uri.scheme.lower())
            if proxied is None:
                return super().urlopen(method, url, redirect, **settings)
            return proxied.urlopen(method, url, redirect, **settings)

    def clear(self) -> None:
        super().clear()
        for one in getattr(self, "_proxied", {}).values():
            one.clear()
