"""Plans through an HTTP proxy: absolute-form for http, CONNECT for tunnels (RFC 9110 7.3.2, 9.3.6)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from overthere.access.planning import Plan
from overthere.access.policy import Policy
from overthere.access.steps import Connect, Receive, Send, Step, connect
from overthere.ground.errors import NotSpecified, PlanRefused
from overthere.protocols.http.steps import HTTPRole, basic, request_head
from overthere.schemes.known.http import HTTPLocator
from overthere.schemes.model import Scheme
from overthere.schemes.registry import Registry
from overthere.values.uri import URI

__all__ = ["through_proxy"]


def through_proxy(plan: Plan, policy: Policy, uri: URI, registry: Registry | None = None) -> Plan:
    """The plan by way of the policy's proxy for its scheme; the same plan where there is none.

    The host and port of the URI, and an address that it writes, are judged here; a name is resolved by the proxy.

    Raises: AccessRefused; NotSpecified for a scheme or a proxy of another kind.

    >>> from overthere import plan
    >>> from overthere.access.policy import Policy
    >>> there = URI("https://h.example/a")
    >>> print(through_proxy(plan(there), Policy(proxy={"https": "http://p.example:3128"}), there))
    https://h.example/a
       1  connect p.example 3128 (proxy)       RFC 9110 3.7
       2  send CONNECT h.example:443 HTTP/1.1\\r\\nHost: h.example:443\\r\\n  RFC 9110 9.3.6
       3  receive the proxy's answer (to the end of the reply)  RFC 9110 9.3.6
       4  connect h.example 443 (TLS) (through)  RFC 9110 4.3.3
       5  send GET /a HTTP/1.1\\r\\nHost: h.example\\r\\nConnection: close\\r\\nAccept: */*\\r\\n  RFC 9110 7.1 and 7.2
       6  receive the response (the length that the server states)  RFC 7230 3.3.3
    """
    named = policy.proxy.get(plan.scheme)
    if named is None:
        return plan
    scheme = (Registry.default() if registry is None else registry).scheme(plan.scheme)
    if not scheme.by_proxy:
        raise NotSpecified(f"it is undefined how a proxy requests {plan.scheme!r}")
    proxy = URI(named).locator
    if not isinstance(proxy, HTTPLocator) or proxy.scheme != "http":
        raise NotSpecified("a proxy must be an http URI; no other kind is supported (RFC 9110 3.7)")
    return replace(plan, steps=tuple(_steps(plan, scheme, proxy, policy, uri)))


def _steps(plan: Plan, scheme: Scheme, proxy: HTTPLocator, policy: Policy, uri: URI) -> Iterator[Step]:
    there = plan.steps[0]
    assert isinstance(there, Connect)
    if ":" in there.host and "%" in there.host:
        raise PlanRefused(f"the zone of {there.host!r} only has a meaning on this machine", "RFC 6874 4")
    policy.judge_connection(there, scheme.port, uri)
    yield replace(connect(proxy.host, proxy.origin.port, "RFC 9110 3.7"), transport="proxy")
    login = b""
    if proxy.user is not None:
        login = b"Proxy-Authorization: " + basic(proxy.user, proxy.password or "") + b"\r\n"
    if scheme.by_proxy == "absolute":
        asked, *rest = plan.steps[1:]
        assert isinstance(asked, Send)
        assert isinstance(plan.locator, HTTPLocator)
        yield _absolute(asked, plan.locator, login)
    else:
        host = f"[{there.host}]" if ":" in there.host else there.host
        if not host.isascii():
            raise PlanRefused("the host cannot be requested through a proxy", "RFC 9110 9.3.6")
        at = f"{host}:{there.port}".encode()
        head = b"CONNECT " + at + b" HTTP/1.1\r\nHost: " + at + b"\r\n"
        secret = (len(head) + 21, len(head) + len(login) - 2) if login else None
        yield Send(source="RFC 9110 9.3.6", data=head + login + b"\r\n", secret=secret)
        yield Receive(source="RFC 9110 9.3.6", what="the proxy's answer", until="reply", role=HTTPRole.TUNNEL)
        yield replace(there, transport="through")
        rest = list(plan.steps[1:])
    yield from rest


def _absolute(asked: Send, locator: HTTPLocator, login: bytes) -> Send:
    """The same request with the whole URI as its target (RFC 7230 5.3.2)."""
    head = request_head(locator, absolute=True)
    rest = asked.data.removeprefix(request_head(locator))
    secret = asked.secret
    if secret is not None or login:
        more = len(head) + len(login) + len(rest) - len(asked.data)
        start, end = (-1, -1) if secret is None else (secret[0] + more, secret[1] + more)
        secret = (len(head) + 21, len(head) + len(login) - 2 if end < 0 else end) if login else (start, end)
    return replace(asked, source="RFC 7230 5.3.2", data=head + login + rest, secret=secret)
