"""The guard of aiohttp: a connector that requests only what a policy allows, and connects only where it allows.

async with guarded_session(policy) as session: ...
async with ClientSession(connector=Connector(policy), trace_configs=[redirect_trace(policy)]) as session: ...
"""

from __future__ import annotations

import socket
from contextvars import ContextVar
from typing import Any

from overthere.access.errors import AccessFailed, AccessRefused, AccessTimeout
from overthere.access.judgment import AsyncResolve
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
_TO_PROXY: ContextVar[bool] = ContextVar("overthere to proxy", default=False)


class _Resolver(AbstractResolver):
    """Gives judged addresses alone; those of a proxy of the policy are not judged."""

    def __init__(self, policy: Policy, ask: AsyncResolve | None) -> None:
        self.policy = policy
        self.ask = ask

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        policy = self.policy.with_(private=True) if _TO_PROXY.get() else self.policy
        try:
            found = await policy.aaddresses(host, port, resolve=self.ask)
        except (AccessFailed, AccessTimeout) as error:
            raise OSError(None, str(error)) from error
        made: list[ResolveResult] = []
        for one in found:
            kind = socket.AF_INET if one.version == 4 else socket.AF_INET6
            if family in (socket.AF_UNSPEC, kind):
                made.append(
                    ResolveResult(
                        hostname=host, host=str(one), port=port, family=kind, proto=0, flags=socket.AI_NUMERICHOST
                    )
                )
        return made

    async def close(self) -> None:
        pass


class Connector(aiohttp.TCPConnector):
    """A connector for `aiohttp.ClientSession`; no proxy is used but `Policy.proxy`.

    Each request is judged by its text, also on a connection that was kept; a connection goes to an address that was
    judged, under the name's Host, SNI and certificate (RFC 3986 7.4, RFC 9110 4.2).  A session follows redirects
    beyond what a connector sees: `redirect_trace` judges those.
    """

    def __init__(self, policy: Policy | None = None, *, resolve: AsyncResolve | None = None, **settings: Any) -> None:
        """policy: default: the safe one.  resolve: resolves names; default: the system's resolver.
        settings: of `aiohttp.TCPConnector`, but for `resolver`."""
        self.policy: Policy = policy or Policy()
        if self.policy.tls is not None:
            if given := _TLS_SETTINGS & set(settings):
                raise TypeError(f"a guard takes no {min(given)!r}: {TLS_RULE}")
            settings["ssl"] = self.policy.tls
        # What was looked up for a proxy is not judged: no answer is kept for another request.
        super().__init__(resolver=_Resolver(self.policy, resolve), use_dns_cache=False, **settings)

    async def connect(self, req: Any, *given: Any, **settings: Any) -> Any:
        """Raises: Refused; what aiohttp raises."""
        with refusals(Refused):
            judged = judge_request(self.policy, str(req.url))
            judge_line(judged, req.url.raw_path_qs)
            if self.policy.tls is not None and req.ssl is not True:
                raise AccessRefused("tls", TLS_RULE, "RFC 9110 4.3.4", judged.uri)
            wanted = self.policy.proxy.get(judged.uri.scheme.lower())
            if req.proxy is not None and str(req.proxy) != str(wanted and URL(wanted)):
                why = "a proxy that the policy does not name: name it in Policy.proxy, and set trust_env=False"
                raise AccessRefused("host", why, "RFC 3986 7.4", judged.uri)
            if wanted is not None:
                # Errors show the URL and the login of a proxy: the login is a field of the request instead.
                req.proxy = URL(wanted).with_user(None)
                if (login := aiohttp.BasicAuth.from_url(URL(wanted))) is not None:
                    if req.is_ssl():
                        req.proxy_headers = CIMultiDict(req.proxy_headers or {})
                    (req.proxy_headers if req.is_ssl() else req.headers)["Proxy-Authorization"] = login.encode()
            token = _TO_PROXY.set(wanted is not None)
            try:
                return await super().connect(req, *given, **settings)
            finally:
                _TO_PROXY.reset(token)


def exact(uri: URI | str) -> URL:
    """A URI for a request that has it octet for octet: of a text, aiohttp decodes and encodes anew.

    Raises: InvalidURI.

    >>> exact("http://h.example/?signature=%7E")
    URL('http://h.example/?signature=%7E')
    """
    return URL(str(URI(str(uri))), encoded=True)


def redirect_trace(policy: Policy | None = None) -> aiohttp.TraceConfig:
    """A trace for a session that judges each redirect before it is followed."""
    judged = policy or Policy()

    async def judge(_: Any, request: Any, given: aiohttp.TraceRequestRedirectParams) -> None:
        location = given.response.headers.get("Location") or given.response.headers.get("URI") or ""
        request.redirects = getattr(request, "redirects", 0) + 1
        with refusals(Refused):
            judge_redirect(judged, str(given.url), location)
            judge_count(judged, request.redirects, given.url)

    trace = aiohttp.TraceConfig()
    trace.on_request_redirect.append(judge)
    return trace


def guarded_session(
    policy: Policy | None = None, *, resolve: AsyncResolve | None = None, **settings: Any
) -> aiohttp.ClientSession:
    """A session with both, which reads no proxy from the environment.  settings: of `aiohttp.ClientSession`."""
    traces = [redirect_trace(policy), *settings.pop("trace_configs", ())]
    return aiohttp.ClientSession(connector=Connector(policy, resolve=resolve), trace_configs=traces, **settings)
