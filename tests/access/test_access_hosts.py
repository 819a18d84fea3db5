"""Hosts that cannot be resolved by name, and zones of addresses (RFC 3986 3.2.2; RFC 6874 4)."""

from __future__ import annotations

import socket
from typing import Any

import pytest

import overthere
from overthere import PlanRefused, Policy, explain, plan
from overthere.access.blocking import Transport
from overthere.access.errors import AccessFailed
from overthere.access.gateways import Gateways
from overthere.access.steps import Connect, Interact, Send
from overthere.access.wire import Dial, Dialogue
from overthere.base import establish
from overthere.protocols.http.proxy import through_proxy
from overthere.schemes import scheme as scheme_named
from overthere.schemes.known.file import FileLocator
from overthere.schemes.registry import BUILT_IN
from overthere.values.hosts.address import literal
from overthere.values.uri import URI

ZONED = "http://[fe80::1%25lo]/a"
HOSTED = sorted(
    {name for name in BUILT_IN if scheme_named(name).access is not None} - {"about", "cid", "data", "mailto", "mid"}
)
"""Retrievable schemes whose URIs have a host."""


@pytest.mark.parametrize("scheme", [*HOSTED, "unknown"])
@pytest.mark.parametrize("host", ["[v1.evil.example]", "[VF.::1]"])
def test_an_address_of_a_future_version_is_rejected(scheme: str, host: str) -> None:
    text = f"{scheme}://{host}/{'a@b' if scheme == 'news' else 'a/1'}"
    with pytest.raises(PlanRefused, match=r"address mechanism not supported \(RFC 3986 3\.2\.2\)"):
        plan(text)
    with pytest.raises(PlanRefused, match=r"RFC 3986 3\.2\.2"):
        overthere.open(text, Policy.local())
    with pytest.raises(PlanRefused, match=r"RFC 3986 3\.2\.2"):
        plan(URI(text).locator, gateways=Gateways({"unknown": "http://gw.example/{host}"}))


def test_an_address_of_a_future_version_is_rejected_for_proxies_and_gateways() -> None:
    uri = URI("http://h.example/")
    with pytest.raises(PlanRefused, match="address mechanism"):
        through_proxy(plan(uri), Policy(proxy={"http": "http://[v1.p]:3128"}), uri)
    with pytest.raises(PlanRefused, match="address mechanism"):
        plan("unknown:x", gateways=Gateways({"unknown": "http://[v1.gw]/{uri}"}))


@pytest.mark.parametrize(
    "host", ["a%3A80", "%3A%3A1", "%5B%3A%3A1%5D", "a%5B", "a%5Db", "a%2Fb", "a%40b", "a%23", "a%3F"]
)
@pytest.mark.parametrize("scheme", ["http", "ws", "ftp", "gopher", "telnet", "ldap", "wais", "nntp", "prospero"])
def test_a_decoded_host_contains_no_delimiter(scheme: str, host: str) -> None:
    with pytest.raises(PlanRefused, match=r"host holds .*RFC 3986 7\.2"):
        plan(f"{scheme}://{host}/" + ("a?b" if scheme == "wais" else "a/1"))


@pytest.mark.parametrize("scheme", HOSTED)
@pytest.mark.parametrize("host", ["%FF.example", "caf%E9.example", "%ED%A0%80.example", "%C0%AEexample"])
def test_a_host_name_must_be_utf_8(scheme: str, host: str) -> None:
    text = f"{scheme}://{host}/" + ("a?b" if scheme == "wais" else "a@b" if scheme == "news" else "a/1")
    with pytest.raises(PlanRefused, match=r"not valid UTF-8.*RFC 3986 3\.2\.2"):
        plan(text)
    with pytest.raises(PlanRefused, match=r"not valid UTF-8.*RFC 3986 3\.2\.2"):
        overthere.open(text, Policy.local())


def test_a_file_of_an_invalid_host_has_no_path() -> None:
    locator = FileLocator(host="caf%E9", segments=("share", "a"))
    assert not locator.is_local()
    for platform in ("posix", "windows", "vms"):
        with pytest.raises(PlanRefused, match=r"not valid UTF-8.*RFC 3986 3\.2\.2"):
            locator.to_path(platform)


# -- zones


@pytest.mark.parametrize("scheme", ["http", "https", "ws", "wss"])
def test_a_zone_is_used_to_connect_but_not_sent(scheme: str) -> None:
    uri = URI(f"{scheme}://[fe80::1%25en%2D0]:8080/a", zone=True)
    steps = plan(uri).steps
    assert isinstance(steps[0], Connect)
    assert steps[0].host == "fe80::1%en-0"
    assert isinstance(steps[1], Send)
    assert b"Host: [fe80::1]:8080\r\n" in steps[1].data
    assert not any(b"en-0" in step.data or b"%2D" in step.data for step in steps if isinstance(step, Send))


@pytest.mark.parametrize("host", ["::1", "2001:db8::1", "fec0::1", "fe::80", "fe8::1", "ff02::1"])
@pytest.mark.parametrize("scheme", ["http", "wss", "ftp", "gopher", "telnet"])
def test_a_zone_of_another_address(scheme: str, host: str) -> None:
    with pytest.raises(PlanRefused, match=r"outside fe80::/10.*RFC 6874 4"):
        plan(URI(f"{scheme}://[{host}%25lo]/", zone=True))


@pytest.mark.parametrize("host", ["fe80::1", "FE80::1", "febf::1", "fe9a:0:0:0:0:0:0:1"])
def test_a_zone_of_a_link(host: str) -> None:
    step = plan(URI(f"telnet://[{host}%25lo]/", zone=True)).steps[0]
    assert isinstance(step, Interact)
    assert step.host == f"{host}%lo"
    assert literal(step.host, decoded=True) is not None


def test_a_zone_is_not_sent_to_a_proxy() -> None:
    uri = URI(ZONED, zone=True)
    with pytest.raises(PlanRefused, match="RFC 6874 4"):
        through_proxy(plan(uri), Policy.local().with_(proxy={"http": "http://p.example:3128"}), uri)


def test_a_zone_is_not_part_of_the_certificate_name(monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[str] = []

    class Context:
        def wrap_socket(self, sock: object, *, server_hostname: str, **_: object) -> object:
            names.append(server_hostname)
            raise OSError("seen")

    def dialogue(host: str) -> Dialogue:
        yield Dial(host, 443, True)

    class Connected(Transport):
        def _connect(self, dial: Dial, family: int, address: Any, until: float) -> Any:
            self.channels[dial.channel] = socket.socket()
            yield from ()

    policy = Policy.local().with_(tls=Context())
    for host in ("fe80::1%lo", "127.0.0.1"):
        with pytest.raises(AccessFailed):
            Connected(dialogue(host), policy, URI("https://h/"), 443).advance()
    assert names == ["fe80::1", "127.0.0.1"]


def test_permission_travels_with_values() -> None:
    base = URI(ZONED, zone=True)
    assert explain("g", base=base).target == "http://[fe80::1%25lo]/g"
    assert explain("g", base=ZONED, zone=True).target == "http://[fe80::1%25lo]/g"
    assert "RFC 6874" in (explain("g", base=ZONED).problem or "")
    assert establish(retrieval=base).uri == base
    assert str(establish("x/", retrieval=[base, "/b"]).uri) == "http://[fe80::1%25lo]/x/"
    assert str(establish(headers={"Content-Location": "g"}, entity=base).uri) == "http://[fe80::1%25lo]/g"
    assert establish(default=base).uri == base
