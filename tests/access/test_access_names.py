"""Host names that no resolver accepts: each function of a policy raises its own exception without a lookup."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest
from hostile_names import HOSTILE_NAMES

from overthere import AccessRefused, OverthereError, Policy, open
from overthere.access.errors import AccessFailed, AccessTimeout


def looked_up(host: str, port: int) -> list[str]:
    raise AssertionError(f"{host!r} was looked up")


async def alooked_up(host: str, port: int) -> list[str]:
    return looked_up(host, port)


@pytest.mark.parametrize("name", HOSTILE_NAMES)
@pytest.mark.parametrize("system", [True, False])
def test_invalid_names_have_no_addresses(name: str, system: bool) -> None:
    with pytest.raises(AccessFailed, match="no resolver knows the name"):
        Policy().addresses(name, 80, resolve=None if system else looked_up)
    with pytest.raises(AccessFailed, match="no resolver knows the name"):
        asyncio.run(Policy().aaddresses(name, 80, resolve=None if system else alooked_up))


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_invalid_names_are_rejected_before_the_lookup(name: str) -> None:
    uri = f"http://{''.join(f'%{octet:02X}' for octet in name.encode('utf-8', 'surrogatepass'))}/"
    with pytest.raises((AccessRefused, OverthereError)):
        Policy(hosts=frozenset({".good.example", ""})).judge(uri)
    with pytest.raises(OverthereError):
        open(uri)


@pytest.mark.parametrize("error", [socket.gaierror(8, "x"), UnicodeError("x"), ValueError("x"), OSError("x")])
def test_an_error_of_a_resolver_is_a_failure(error: Exception) -> None:
    def look_up(host: str, port: int) -> list[str]:
        raise error

    async def alook_up(host: str, port: int) -> list[str]:
        raise error

    async def names_a_name(host: str, port: int) -> list[str]:
        return ["localhost"]

    with pytest.raises(AccessFailed, match="could not be resolved"):
        Policy().addresses("h.example", 80, resolve=lambda host, port: ["192.0.2.1", "localhost"])
    with pytest.raises(AccessFailed, match="could not be resolved"):
        asyncio.run(Policy().aaddresses("h.example", 80, resolve=names_a_name))
    answers: dict[str, Any] = {"resolve": look_up}
    with pytest.raises(AccessFailed, match="could not be resolved"):
        Policy().addresses("h.example", 80, **answers)
    with pytest.raises(AccessFailed, match="could not be resolved"):
        asyncio.run(Policy().aaddresses("h.example", 80, resolve=alook_up))


def test_a_resolver_without_an_answer_in_time() -> None:
    def look_up(host: str, port: int) -> list[str]:
        raise TimeoutError

    async def alook_up(host: str, port: int) -> list[str]:
        raise TimeoutError

    with pytest.raises(AccessTimeout, match="not resolved in time"):
        Policy().addresses("h.example", 80, resolve=look_up)
    with pytest.raises(AccessTimeout, match="not resolved in time"):
        asyncio.run(Policy().aaddresses("h.example", 80, resolve=alook_up))


@pytest.mark.parametrize(
    "host", ["a." + "b" * 63 + ".example", ".".join(["abc"] * 63), "h.example.", "a_b.example", "xn--bcher-kva.example"]
)
def test_names_at_the_limits_are_looked_up(host: str) -> None:
    names: list[str] = []

    def look_up(host: str, port: int) -> list[str]:
        names.append(host)
        return ["192.0.43.8"]

    assert Policy().addresses(host, 80, resolve=look_up)
    assert names == [host]


def test_a_timeout_may_be_infinite() -> None:
    policy = Policy.local().with_(connect_timeout=float("inf"))
    assert policy.addresses("localhost", 80)
    assert asyncio.run(policy.aaddresses("localhost", 80))
