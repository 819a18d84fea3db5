"""The guard of aiohttp: a connector that requests only what a policy allows, and connects only where it allows.

async with guarded_session(policy) as session: ...
async with ClientSession(connector=Connector(policy), trace_configs=[redirect_trace(policy)]) as session: ...
"""

from __future__ import annotations

import socket
from contextvars import ContextVar
from typing import Any

from overthere.access.errors import AccessFailed, AccessRefused, AccessTimeout
from overthere.access.judgment import AsyncResolve, HasPolicy
from overthere.access.policy import Policy
from overthere.ground.extras import brought_by
from overthere.integrations.guarding import TLS_RULE, judge_count, judge_line, judge_redirect, judge_request, refusals
from overthere.values.uri import URI

with brought_by("aiohttp"):
    import aiohttp
    from aiohttp.abc import AbstractResolver, ResolveResult
    from multidict import CIMultiDict
    from yarl import URL

__all__ = ["Connector", "Refused", "exact", "guarded_session", "redirect_trace"]


class Refused(AccessRefused, aiohttp.ClientError):
    """The policy forbids a request of aiohttp."""


_TLS_SETTINGS = {"ssl", "ssl_context", "verify_ssl", "fingerprint"}
_IS_TO_PROXY: ContextVar[bool] = ContextVar("overthere to proxy", default=False)


class _Login(str):
    """The login of a proxy: the `repr` of an error of aiohttp shows the fields of its request."""

    def __repr__(self) -> str:
        return "'***'"


class _Resolver(AbstractResolver):
    """Resolves only to addresses that the policy allows; addresses of a proxy of the policy are always allowed."""

    def __init__(self, policy: Policy, resolve: AsyncResolve | None) -> None:
        self.policy = policy
        self.resolve_host = resolve

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        policy = self.policy.with_(private=True) if _IS_TO_PROXY.get() else self.policy
        try:
            addresses = await policy.aaddresses(host, port, resolve=self.resolve_host)
        except (AccessFailed, AccessTimeout) as error:
            raise OSError(None, str(error)) from error
        results: list[ResolveResult] = []
        for address in addresses:
            kind = socket.AF_INET if address.version == 4 else socket.AF_INET6
            if family in (socket.AF_UNSPEC, kind):
                results.append(
                    ResolveResult(
                        hostname=host, host=str(address), port=port, family=kind, proto=0, flags=socket.AI_NUMERICHOST
                    )
                )
        return results

    async def close(self) -> None:
        pass


class Connector(HasPolicy, aiohttp.TCPConnector):
    """A connector for `aiohttp.ClientSession`; no proxy is used but `Policy.proxy`.

    Each request is judged by its text, also on a reused connection; a connection goes to an address that was
    judged, under the name's Host, SNI and certificate (RFC 3986 7.4, RFC 9110 4.2).  A connector does not see which
    redirects a session follows: `redirect_trace` judges those.
    """

    def __init__(self, policy: Policy | None = None, *, resolve: AsyncResolve | None = None, **settings: Any) -> None:
        """policy: default: the safe one.  resolve: resolves names; default: the system's resolver.
        settings: of `aiohttp.TCPConnector`, except `resolver`."""
        self._policy = policy or Policy()
        if self.policy.tls is not None:
            if forbidden := _TLS_SETTINGS & set(settings):
                raise TypeError(f"a guard takes no {min(forbidden)!r}: {TLS_RULE}")
            settings["ssl"] = self.policy.tls
        # Addresses of a proxy are not judged, so that no answer may be kept for another request.
        super().__init__(resolver=_Resolver(self.policy, resolve), use_dns_cache=False, **settings)

    async def connect(self, req: Any, *given: Any, **settings: Any) -> Any:
        """Raises: Refused; what aiohttp raises."""
        with refusals(Refused):
            judged = judge_request(self.policy, str(req.url))
            judge_line(judged, req.url.raw_path_qs)
            if self.policy.tls is not None and req.ssl is not True:
                raise AccessRefused("tls", TLS_RULE, "RFC 9110 4.3.4", judged.uri)
            proxy = self.policy.proxy.get(judged.uri.scheme.lower())
            if req.proxy is not None and str(req.proxy) != str(proxy and URL(proxy)):
                reason = "a proxy that the policy does not name: name it in Policy.proxy, and set trust_env=False"
                raise AccessRefused("host", reason, "RFC 3986 7.4", judged.uri)
            if proxy is not None:
                # Errors show the URL and the login of a proxy: the login is moved to a field of the request.
                req.proxy = URL(proxy).with_user(None)
                if (login := aiohttp.BasicAuth.from_url(URL(proxy))) is not None:
                    if req.is_ssl():
                        req.proxy_headers = CIMultiDict(req.proxy_headers or {})
                    fields = req.proxy_headers if req.is_ssl() else req.headers
                    fields["Proxy-Authorization"] = _Login(login.encode())
            token = _IS_TO_PROXY.set(proxy is not None)
            try:
                return await super().connect(req, *given, **settings)
            finally:
                _IS_TO_PROXY.reset(token)


def exact(uri: URI | str) -> URL:
    """Return a URI for a request octet for octet: aiohttp decodes and re-encodes text.

    Raises: InvalidURI.

    >>> exact("http://h.example/?signature=%7E")
    URL('http://h.example/?signature=%7E')
    """
    return URL(str(URI(str(uri))), encoded=True)


def redirect_trace(policy: Policy | None = None) -> aiohttp.TraceConfig:
    """Return a trace for a session that judges each redirect before it is followed."""
    active_policy = policy or Policy()

    async def judge(_: Any, request: Any, redirect: aiohttp.TraceRequestRedirectParams) -> None:
        location = redirect.response.headers.get("Location") or redirect.response.headers.get("URI") or ""
        request.redirects = getattr(request, "redirects", 0) + 1
        with refusals(Refused):
            judge_redirect(active_policy, str(redirect.url), location)
            judge_count(active_policy, request.redirects, redirect.url)

    trace = aiohttp.TraceConfig()
    trace.on_request_redirect.append(judge)
    return trace


def guarded_session(
    policy: Policy | None = None, *, resolve: AsyncResolve | None = None, **settings: Any
) -> aiohttp.ClientSession:
    """Return a session with both, which ignores the environment's proxies.  settings: of `aiohttp.ClientSession`."""
    traces = [redirect_trace(policy), *settings.pop("trace_configs", ())]
    return aiohttp.ClientSession(connector=Connector(policy, resolve=resolve), trace_configs=traces, **settings)
