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


def through_proxy(plan: Plan, policy: Policy, uri: URI, registry: Registry | None = None) -> Plan:
    """Return the plan through the policy's proxy for its scheme; the same plan if there is no proxy.

    The host and port of the URI, and a literal address, are judged here; the proxy resolves names.

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
    proxy_uri = policy.proxy.get(plan.scheme)
    if proxy_uri is None:
        return plan
    scheme = (Registry.default() if registry is None else registry).scheme(plan.scheme)
    if not scheme.by_proxy:
        raise NotSpecified(f"it is undefined how a proxy requests {plan.scheme!r}")
    proxy = URI(proxy_uri).locator
    if not isinstance(proxy, HTTPLocator) or proxy.scheme != "http":
        raise NotSpecified("a proxy must be an http URI; no other kind is supported (RFC 9110 3.7)")
    return replace(plan, steps=tuple(_steps(plan, scheme, proxy, policy, uri)))


def _steps(plan: Plan, scheme: Scheme, proxy: HTTPLocator, policy: Policy, uri: URI) -> Iterator[Step]:
    connection = plan.steps[0]
    assert isinstance(connection, Connect)
    if ":" in connection.host and "%" in connection.host:
        raise PlanRefused(f"the zone of {connection.host!r} only has a meaning on this machine", "RFC 6874 4")
    policy.judge_connection(connection, scheme.port, uri)
    yield replace(connect(proxy.host, proxy.origin.port, "RFC 9110 3.7"), transport="proxy")
    login = b""
    if proxy.user is not None:
        login = b"Proxy-Authorization: " + basic(proxy.user, proxy.password or "") + b"\r\n"
    if scheme.by_proxy == "absolute":
        request, *other_steps = plan.steps[1:]
        assert isinstance(request, Send)
        assert isinstance(plan.locator, HTTPLocator)
        yield _absolute(request, plan.locator, login)
    else:
        host = f"[{connection.host}]" if ":" in connection.host else connection.host
        if not host.isascii():
            raise PlanRefused("the host cannot be requested through a proxy", "RFC 9110 9.3.6")
        host_port = f"{host}:{connection.port}".encode()
        head = b"CONNECT " + host_port + b" HTTP/1.1\r\nHost: " + host_port + b"\r\n"
        secret = (len(head) + 21, len(head) + len(login) - 2) if login else None
        yield Send(source="RFC 9110 9.3.6", data=head + login + b"\r\n", secret=secret)
        yield Receive(source="RFC 9110 9.3.6", what="the proxy's answer", until="reply", role=HTTPRole.TUNNEL)
        yield replace(connection, transport="through")
        other_steps = list(plan.steps[1:])
    yield from other_steps


def _absolute(request: Send, locator: HTTPLocator, login: bytes) -> Send:
    """Return the request with the whole URI as its target (RFC 7230 5.3.2)."""
    head = request_head(locator, absolute=True)
    tail = request.data.removeprefix(request_head(locator))
    secret = request.secret
    if secret is not None or login:
        shift = len(head) + len(login) + len(tail) - len(request.data)
        start, end = (-1, -1) if secret is None else (secret[0] + shift, secret[1] + shift)
        secret = (len(head) + 21, len(head) + len(login) - 2 if end < 0 else end) if login else (start, end)
    return replace(request, source="RFC 7230 5.3.2", data=head + login + tail, secret=secret)
