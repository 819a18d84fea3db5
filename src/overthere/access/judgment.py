"""Judges a URI and the addresses of its host for clients that connect by themselves (RFC 3986 7.1, 7.2, 7.4).

`overthere.open` does both; a guard of another client (`overthere.integrations`) does the first before a
request, and the second where the client connects, so that it connects only to addresses that were judged.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable
from contextlib import closing
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, NamedTuple

from overthere.access.errors import AccessFailed, AccessTimeout
from overthere.access.gateways import Gateways
from overthere.access.planning import plan_under
from overthere.access.resolver import DAY, Question, allowed_addresses
from overthere.access.steps import Connect
from overthere.ground.errors import NotSpecified
from overthere.ground.redact import hides_secrets
from overthere.schemes.registry import Registry
from overthere.values.hosts.address import Address, literal, resolvable
from overthere.values.uri import URI

if TYPE_CHECKING:
    from overthere.access.policy import Policy

Resolve = Callable[[str, int], Iterable[str]]
"""From a host name in US-ASCII and a port to the texts of addresses.  Raises: OSError."""
AsyncResolve = Callable[[str, int], Awaitable[Iterable[str]]]


@hides_secrets
class Judged(NamedTuple):
    """A URI that a policy allows to request, and the target of its connection (RFC 3986 7)."""

    uri: URI
    host: str | None
    """A name, or an address without brackets; None without a connection (a file, data)."""
    port: int | None
    tls: bool


class HasPolicy:
    """A guard.  Its policy stays the same: its connections and its resolver were made with it."""

    _policy: Policy

    @property
    def policy(self) -> Policy:
        """The policy by which it judges."""
        return self._policy


def judge(policy: Policy, uri: URI | str, registry: Registry | None) -> Judged:
    """Judge a URI: see `Policy.judge`."""
    schemes = Registry.default() if registry is None else registry
    plan = plan_under(policy, uri, None, registry=schemes, gateways=Gateways())
    value = uri if isinstance(uri, URI) else URI(uri)
    scheme = schemes.scheme(value.scheme)
    policy.judge_scheme(scheme, value)
    if plan.locates_nothing:
        raise NotSpecified(f"it is only a name, so there is nothing to request: {plan.locates_nothing}")
    step = next((step for step in plan.done.steps if isinstance(step, Connect)), None)
    if step is None:
        return Judged(value, None, None, False)
    policy.judge_octets(plan.done.steps, scheme, value)
    policy.judge_connection(step, scheme.port, value)
    return Judged(value, step.host, step.port, step.tls)


def addresses(policy: Policy, host: str, port: int, resolve: Resolve | None, uri: URI | None) -> list[Address]:
    """Return the allowed addresses of a host: see `Policy.addresses`."""
    if (address := literal(host, decoded=True)) is not None:
        return _allowed([address], policy, uri)
    name = _name(host, uri)
    try:
        if resolve is not None:
            return _allowed(map(ip_address, resolve(name, port)), policy, uri)
        answers = _system_addresses(name, port, policy.connect_timeout)
    except TimeoutError:
        raise AccessTimeout("the name was not resolved in time", uri=uri, where=host) from None
    except (OSError, ValueError, RuntimeError) as error:  # the last where no thread can be started
        raise _unresolved(host, uri, error) from error
    return _allowed(_from_getaddrinfo(answers), policy, uri)


async def aaddresses(
    policy: Policy, host: str, port: int, resolve: AsyncResolve | None, uri: URI | None
) -> list[Address]:
    """Return the allowed addresses of a host: see `Policy.aaddresses`."""
    if (address := literal(host, decoded=True)) is not None:
        return _allowed([address], policy, uri)
    name = _name(host, uri)
    try:
        if resolve is not None:
            return _allowed(map(ip_address, await resolve(name, port)), policy, uri)
        query = asyncio.get_running_loop().getaddrinfo(name, port, type=socket.SOCK_STREAM)
        answers = await asyncio.wait_for(query, policy.connect_timeout)
    except TimeoutError:
        raise AccessTimeout("the name was not resolved in time", uri=uri, where=host) from None
    except (OSError, ValueError, RuntimeError) as error:  # the last where no thread can be started
        raise _unresolved(host, uri, error) from error
    return _allowed(_from_getaddrinfo(answers), policy, uri)


def _name(host: str, uri: URI | None) -> str:
    try:
        return resolvable(host)
    except UnicodeError as error:
        raise AccessFailed(f"no resolver knows the name: {error}", uri=uri, where=host) from error


def _system_addresses(name: str, port: int, timeout: float) -> Iterable[Any]:
    """Return the answers of the system's resolver.  Raises: TimeoutError; OSError; ValueError."""
    with closing(Question(partial(socket.getaddrinfo, name, port, type=socket.SOCK_STREAM))) as question:
        question.ready.settimeout(min(timeout, DAY))
        question.ready.recv(1)
        answers: Iterable[Any] = question.answer()
        return answers


def _unresolved(host: str, uri: URI | None, error: Exception) -> AccessFailed:
    return AccessFailed(f"the name could not be resolved: {error}", uri=uri, where=host)


def _from_getaddrinfo(answers: Iterable[Any]) -> Iterable[Address]:
    """Convert answers of `getaddrinfo`, which returns the zone of a link-local address separately (RFC 4007 11)."""
    for family, _, _, _, address in answers:
        zone = f"%{address[3]}" if family == socket.AF_INET6 and address[3] and "%" not in address[0] else ""
        yield ip_address(address[0] + zone)


def _allowed(addresses: Iterable[Address], policy: Policy, uri: URI | None) -> list[Address]:
    answers = [(0, 0, 0, "", (str(address),)) for address in addresses]
    return [ip_address(address[0]) for _, address in allowed_addresses(answers, policy, uri)]
