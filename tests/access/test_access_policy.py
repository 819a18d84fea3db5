"""A policy allows schemes, hosts, ports, and addresses in any notation (RFC 3986 7)."""

from __future__ import annotations

import asyncio
import pickle
import socket
from collections.abc import Callable, Iterator
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any

import anyio
import pytest

from overthere import URI, Credentials, Gateways, InvalidURI, NotSpecified, PlanRefused, Registry, scheme
from overthere.access.aio import AsyncTransport
from overthere.access.blocking import Transport
from overthere.access.errors import (
    AccessError,
    AccessFailed,
    AccessRefused,
    ProtocolError,
    ResourceMissing,
)
from overthere.access.opening import Opening, aopen
from overthere.access.opening import open as open_
from overthere.access.policy import Policy
from overthere.access.resolver import allowed_addresses
from overthere.access.resource import Resource
from overthere.access.steps import Connect
from overthere.access.wire import Dial, Dialogue, Head, OpenLocal, Write
from overthere.values.hosts.address import forbidden, literal
from servers.faults import assert_no_leaks
from support import cases, ids

ROWS = cases("addresses")
SPELLED = [row for row in ROWS if row.get("uri", True)]
FAMILIES = {row["family"] for row in ROWS if row["why"]}


def opened(uri: URI | str, policy: Policy | None = None, **kwargs: Any) -> Resource:
    with open_(uri, policy, **kwargs) as resource:
        return resource


async def _aopened(uri: str, policy: Policy | None, kwargs: dict[str, Any]) -> Any:
    async with await aopen(uri, policy, **kwargs) as resource:
        return resource


def aopened(uri: str, policy: Policy | None = None, **kwargs: Any) -> Resource:
    return asyncio.run(_aopened(uri, policy, kwargs))  # type: ignore[no-any-return]


def topened(uri: str, policy: Policy | None = None, **kwargs: Any) -> Resource:
    return anyio.run(_aopened, uri, policy, kwargs, backend="trio")  # type: ignore[no-any-return]


BOTH = pytest.mark.parametrize("opening", [opened, aopened, topened], ids=["sync", "asyncio", "trio"])
OpenFunction = Callable[..., Resource]


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The connected addresses; nothing is sent, and nobody listens."""
    calls: list[Any] = []

    def connect(sock: socket.socket, address: Any) -> None:
        calls.append(address)
        raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr(socket.socket, "connect", connect)
    return calls


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Names:
    names = Names()
    monkeypatch.setattr(socket, "getaddrinfo", names)
    return names


class Names:
    """A resolver with a list of answers for each name; an error without one."""

    def __init__(self) -> None:
        self.answers: dict[str, Iterator[list[str]]] = {}
        self.questions: list[str] = []

    def __call__(self, host: str, port: int, *args: Any, **kwargs: Any) -> list[Any]:
        self.questions.append(host)
        result = next(self.answers.get(host, iter(())), None)
        if result is None:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [
            (socket.AF_INET6, socket.SOCK_STREAM, 6, "", (address, port, 0, 0))
            if ":" in address
            else (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))
            for address in result
        ]


# -- addresses as numbers


def test_there_are_enough_spellings_of_addresses() -> None:
    assert len(FAMILIES) >= 16


@pytest.mark.parametrize("row", ROWS, ids=ids(ROWS))
def test_hosts_are_read_as_addresses(row: dict[str, Any]) -> None:
    address = literal(row["host"])
    assert address == (ip_address(row["address"]) if row["address"] else None)
    if address is not None:
        reason = forbidden(address)
        assert row["why"] in reason if row["why"] and reason else reason is None and not row["why"]


@pytest.mark.parametrize("row", [row for row in ROWS if row["why"]], ids=lambda row: row["id"])
def test_addresses_are_rejected(row: dict[str, Any]) -> None:
    host = literal(row["host"])
    with pytest.raises(AccessRefused) as caught:
        Policy().judge_connection(Connect(source="", host=str(host), port=80), 80, URI("http://h/"))
    assert caught.value.rule == "address"
    assert str(ip_address(row["address"])) in caught.value.message
    Policy.local().judge_connection(Connect(source="", host=str(host), port=80), 80, URI("http://h/"))


@BOTH
def test_numeric_hosts_are_rejected_without_a_lookup(opening: OpenFunction, asked: Names, connected: list[Any]) -> None:
    with assert_no_leaks():
        for row in SPELLED:
            if row["why"]:
                with pytest.raises(AccessRefused) as caught:
                    opening(f"http://{row['host']}/")
                assert (caught.value.rule, caught.value.source) == ("address", "RFC 3986 7.4")
                assert row["why"] in str(caught.value)
    assert not asked.questions
    assert not connected


@BOTH
def test_public_addresses_are_allowed(opening: OpenFunction, asked: Names, connected: list[Any]) -> None:
    rows = [row for row in SPELLED if row["address"] and not row["why"]]
    for row in rows:
        with pytest.raises(AccessFailed, match="no connection"):
            opening(f"http://{row['host']}:8080/")
    assert [(ip_address(one[0]), one[1]) for one in connected] == [(ip_address(row["address"]), 8080) for row in rows]
    assert not asked.questions


@BOTH
def test_other_hosts_are_names(opening: OpenFunction, asked: Names, connected: list[Any]) -> None:
    for row in SPELLED:
        if not row["address"]:
            with pytest.raises((AccessError, PlanRefused)):
                opening(f"http://{row['host']}/")
    assert {"4294967297", "256.1.1.1", "localhost"} <= set(asked.questions)
    assert not connected


def test_a_zone_in_a_uri_is_rejected() -> None:
    with pytest.raises(InvalidURI):
        opened("http://[fe80::1%25lo]/")


def test_a_zone_is_kept(monkeypatch: pytest.MonkeyPatch, connected: list[Any]) -> None:
    def dialogue(host: str) -> Dialogue:
        yield Dial(host, 80)

    with pytest.raises(AccessFailed, match="no connection"):
        Transport(dialogue("fe80::1%lo"), Policy.local(), URI("http://h/"), 80).advance()
    assert connected == [("fe80::1", 80, 0, socket.if_nametoindex("lo"))]
    with pytest.raises(AccessFailed, match="there is no zone"):
        Transport(dialogue("fe80::1%nix"), Policy.local(), URI("http://h/"), 80).advance()


def test_a_zone_is_opened(connected: list[Any]) -> None:
    uri = URI("http://[fe80::1%25lo]/a", zone=True)
    with pytest.raises(AccessRefused, match="link-local"):
        opened(uri)
    with pytest.raises(AccessFailed, match="no connection"):
        opened(uri, Policy.local())
    assert connected == [("fe80::1", 80, 0, socket.if_nametoindex("lo"))]


# -- prefixes for translation in a network (RFC 6052 2.2)

TRANSLATED = [
    # RFC 6052 2.4, of 192.0.2.33
    ("2001:db8::/32", "2001:db8:c000:221::"),
    ("2001:db8:100::/40", "2001:db8:1c0:2:21::"),
    ("2001:db8:122::/48", "2001:db8:122:c000:2:2100::"),
    ("2001:db8:122:300::/56", "2001:db8:122:3c0:0:221::"),
    ("2001:db8:122:344::/64", "2001:db8:122:344:c0:2:2100::"),
    ("2001:db8:122:344::/96", "2001:db8:122:344::192.0.2.33"),
]
NETWORKS = [
    "2600:1::/32",
    "2600:1:a500::/40",
    "2600:1:2::/48",
    "2600:1:2:a500::/56",
    "2600:1:2:3::/64",
    "2600:1:2:3::/96",
    "2600:1:2:3:aa:bbbb::/96",
    "64:ff9b:1::/48",
    "64:ff9b:1:fffe::/96",
    "fd00:64::/96",
]


def within(prefix: str, inner: str) -> IPv6Address:
    """An address that embeds another, byte by byte as in the table of RFC 6052 2.2."""
    net = IPv6Network(prefix)
    octets = list(net.network_address.packed)
    places = {
        32: (4, 5, 6, 7),
        40: (5, 6, 7, 9),
        48: (6, 7, 9, 10),
        56: (7, 9, 10, 11),
        64: (9, 10, 11, 12),
        96: (12, 13, 14, 15),
    }[net.prefixlen]
    for place, octet in zip(places, IPv4Address(inner).packed, strict=True):
        octets[place] = octet
    return IPv6Address(bytes(octets))


@pytest.mark.parametrize(("prefix", "address"), TRANSLATED)
def test_the_table_of_embedded_addresses(prefix: str, address: str) -> None:
    assert within(prefix, "192.0.2.33") == IPv6Address(address)
    text = f"for documentation (RFC 5737) (in {IPv6Address(address)})"
    assert forbidden(IPv6Address(address), [prefix]) == forbidden(IPv6Address(address), [IPv6Network(prefix)]) == text


@pytest.mark.parametrize("prefix", NETWORKS)
def test_embedded_addresses_of_a_custom_prefix(prefix: str) -> None:
    for inner, reason in (
        ("127.0.0.1", "loopback"),
        ("10.0.0.1", "private"),
        ("169.254.169.254", "link-local"),
        ("168.63.129.16", "platform"),
        ("0.0.0.0", "unspecified"),
        ("224.0.0.1", "multicast"),
    ):
        address = within(prefix, inner)
        with pytest.raises(AccessRefused, match=reason) as caught:
            Policy(nat64=("2600:9::/32", prefix)).judge_address(address, URI("http://h/"))
        assert caught.value.rule == "address"
    public = within(prefix, "192.0.43.8")
    Policy(nat64=(prefix,)).judge_address(public, URI("http://h/"))
    # Without the prefix it is an ordinary address: those of 2000::/3 are public, whatever they embed.
    assert (forbidden(within(prefix, "10.0.0.1")) is None) == prefix.startswith("26")


def test_invalid_embedded_addresses_are_rejected() -> None:
    """Bits 64 to 71 are zero (RFC 6052 2.2): other addresses are not translated, or in an unknown way."""
    wrong = IPv6Address("2600:1:2:c000:12b:800::")
    assert forbidden(wrong, ["2600:1:2::/48"]) == "not an address of its NAT64 prefix (RFC 6052 2.2)"
    for prefix in ("2600::/33", "2600::/128", "::/0", "2600:1:2:3:100::/96", "192.0.2.0/24", "2600::1/32", "nat"):
        with pytest.raises(ValueError, match=r"NAT64 prefix.*RFC 6052 2\.2"):
            Policy(nat64=(prefix,))


@BOTH
def test_a_name_with_a_translated_address(opening: OpenFunction, asked: Names, connected: list[Any]) -> None:
    """A DNS64 answer (RFC 6147) in a network with its own prefix."""
    policy = Policy(nat64=("64:ff9b:1:fffe::/96",))
    asked.answers["h.example"] = iter([["64:ff9b:1:fffe::a00:1", "64:ff9b:1:fffe::c000:2b08"]])
    with pytest.raises(AccessFailed, match="no connection"):
        opening("http://h.example:8080/", policy)
    assert [address[0] for address in connected] == ["64:ff9b:1:fffe::c000:2b08"]


# -- names


PUBLIC = ["192.0.43.8", "2606:4700::1111", "11.0.0.1"]
PRIVATE = [
    "127.0.0.1",
    "10.0.0.1",
    "::1",
    "fd00::1",
    "169.254.169.254",
    "::ffff:192.168.1.1",
    "64:ff9b::7f00:1",
    "0.0.0.0",
]


@BOTH
@pytest.mark.parametrize("address", PRIVATE)
def test_a_name_with_a_private_address(opening: OpenFunction, address: str, asked: Names, connected: list[Any]) -> None:
    asked.answers["h.example"] = iter([[address]])
    with pytest.raises(AccessRefused) as caught:
        opening("http://h.example/")
    assert caught.value.rule == "address"
    assert address in str(caught.value) or str(ip_address(address)) in str(caught.value)
    assert asked.questions == ["h.example"]
    assert not connected


@BOTH
def test_private_addresses_are_removed_in_order(opening: OpenFunction, asked: Names, connected: list[Any]) -> None:
    mixed = [PRIVATE[0], PUBLIC[0], PRIVATE[2], PUBLIC[1], PUBLIC[1], *PRIVATE[3:], PUBLIC[2]]
    asked.answers["h.example"] = iter([mixed])
    with pytest.raises(AccessFailed, match="no connection"):
        opening("http://h.example:8080/")
    assert [address[:2] for address in connected] == [(address, 8080) for address in PUBLIC]
    assert asked.questions == ["h.example"]


def test_many_addresses_of_a_name_are_linear() -> None:
    compared = 0

    class Address(tuple[object, ...]):
        __slots__ = ()
        __hash__ = tuple.__hash__

        def __eq__(self, value: object) -> bool:
            nonlocal compared
            compared += 1
            return tuple.__eq__(self, value)

    answers = [(2, 1, 6, "", Address((f"9.0.{number >> 8}.{number & 255}", 80))) for number in range(4000)]
    assert allowed_addresses(answers, Policy(), None) == [(2, answer[4]) for answer in answers]
    assert compared < 20_000


@BOTH
def test_a_name_is_resolved_once(opening: OpenFunction, asked: Names, connected: list[Any]) -> None:
    """Rebinding: a name that is public when checked and private when connected."""
    asked.answers["h.example"] = iter([PUBLIC, ["127.0.0.1"], ["127.0.0.1"]])
    with pytest.raises(AccessFailed):
        opening("http://h.example/")
    assert [address[0] for address in connected] == PUBLIC
    assert asked.questions == ["h.example"]


@BOTH
def test_a_non_ascii_name_is_resolved_by_idna(opening: OpenFunction, asked: Names, connected: list[Any]) -> None:
    asked.answers["xn--bcher-kva.example"] = iter([["10.0.0.1"]])
    with pytest.raises(AccessRefused, match="private"):
        opening("http://b%C3%BCcher.example/")
    for host in ("%E2%80%8B", "a" * 70 + "%C3%BC", "%C3%BC" * 5000):
        with pytest.raises(AccessFailed):
            opening(f"ftp://{host}/x")
    for host in ("%FF", "%F0%9F"):
        with pytest.raises(PlanRefused, match="not valid UTF-8"):
            opening(f"ftp://{host}/x")


# -- schemes, hosts, ports


def refused(opening: OpenFunction, uri: str, policy: Policy | None = None) -> AccessRefused:
    with pytest.raises(AccessRefused) as caught:
        opening(uri, policy)
    assert caught.value.source.startswith("RFC 3986 7")
    assert str(URI(uri)) in str(caught.value)
    return caught.value


@BOTH
def test_allowed_schemes(opening: OpenFunction, tmp_path: Any) -> None:
    assert opening("data:,x").length == 1
    for uri in ("file:///etc/passwd", "afs://cell.example/x", "mid:a@b", "cid:a@b"):
        assert refused(opening, uri).rule == "scheme"
        # Allowing the scheme does not allow this machine.
        assert refused(opening, uri, Policy(schemes=frozenset(("file", "afs", "mid", "cid")))).rule == "scheme"
    assert refused(opening, "data:,x", Policy(schemes=frozenset(("http",)))).rule == "scheme"
    assert refused(opening, "DATA:,x", Policy.local().with_(schemes=frozenset(("http",)))).rule == "scheme"
    (tmp_path / "a").write_bytes(b"x")
    assert opening(f"file://{tmp_path}/a", Policy(private=True, schemes=frozenset(("file",)))).length == 1


@BOTH
def test_allowed_hosts(opening: OpenFunction, asked: Names, connected: list[Any]) -> None:
    policy = Policy(hosts=frozenset(("a.example", ".b.example", "xn--bcher-kva.example", "192.0.43.8")))
    for host in (
        "c.example",
        "b.example",
        "a.example.c",
        "xa.example",
        "a.example.b.example.c",
        "192.0.43.9",
        "3221236488",
    ):
        assert refused(opening, f"http://{host}/", policy).rule == "host"
    assert not asked.questions
    for host in (
        "a.example",
        "A.Example",
        "a.example.",
        "c.B.example",
        "d.c.b.example",
        "b%C3%BCcher.example",
        "192.0.43.8",
    ):
        with pytest.raises(AccessFailed):
            opening(f"http://{host}/", policy)


@BOTH
def test_allowed_ports(opening: OpenFunction, connected: list[Any]) -> None:
    at = "192.0.43.8"
    for uri in (
        f"http://{at}:25/",
        f"http://{at}:443/",
        f"https://{at}:80/",
        f"gopher://{at}:1/0x",
        f"ftp://{at}:23/x",
        f"http://{at}:1023/",
    ):
        assert refused(opening, uri).rule == "port"
    assert not connected
    for uri, policy in (
        (f"http://{at}:80/", Policy()),
        (f"http://{at}/", Policy()),
        (f"http://{at}:1024/", Policy()),
        (f"http://{at}:65535/", Policy()),
        (f"http://{at}:25/", Policy(ports=frozenset((25,)))),
        (f"http://{at}:25/", Policy.local()),
    ):
        with pytest.raises(AccessFailed):
            opening(uri, policy)
    assert [address[1] for address in connected] == [80, 80, 1024, 65535, 25, 25]


# -- data connections


def data_at(port: int, host: str = "") -> Dialogue:
    yield Dial("h.example", 2100)
    yield Dial(host, port, channel=1)
    yield Head()


def advance(kind: str, dialogue: Dialogue, policy: Policy) -> None:
    if kind == "sync":
        transport = Transport(dialogue, policy, URI("ftp://h.example/"), 2100)
        transport.advance()
        transport.close()
        return

    async def run() -> None:
        transport = AsyncTransport(dialogue, policy, URI("ftp://h.example/"), 2100)
        await transport.advance()
        await transport.close()

    anyio.run(run, backend=kind)


@pytest.mark.parametrize("kind", ["sync", "asyncio", "trio"])
def test_data_connections_use_the_checked_address(kind: str, asked: Names, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []
    monkeypatch.setattr(socket.socket, "connect", lambda args, address: calls.append(address))
    monkeypatch.setattr(socket.socket, "setsockopt", lambda *args: None)
    asked.answers["h.example"] = iter([["127.0.0.1", PUBLIC[1], PUBLIC[0]], ["127.0.0.1"]])
    advance(kind, data_at(50_000, "127.0.0.1"), Policy())
    assert [address[:2] for address in calls] == [(PUBLIC[1], 2100), (PUBLIC[1], 50_000)]
    assert asked.questions == ["h.example"]
    for port in (0, 22, 25, 1023, 65_536, 10**9):
        asked.answers["h.example"] = iter([PUBLIC])
        with pytest.raises(AccessRefused, match="for the data") as caught:
            advance(kind, data_at(port), Policy())
        assert caught.value.rule == "port"


@pytest.mark.parametrize("kind", ["sync", "asyncio", "trio"])
def test_a_dialogue_reads_only_files_that_the_policy_allows(kind: str) -> None:
    def dialogue() -> Dialogue:
        yield OpenLocal("/etc/passwd")
        yield Head()

    with pytest.raises(AccessRefused, match="files of this machine"):
        advance(kind, dialogue(), Policy())
    advance(kind, dialogue(), Policy.local())


@pytest.mark.parametrize("kind", ["sync", "asyncio", "trio"])
def test_a_missing_channel(kind: str) -> None:
    def dialogue() -> Dialogue:
        yield Write(b"x")

    with pytest.raises(AccessFailed, match="closed"):
        advance(kind, dialogue(), Policy())


# -- redirects


def way(uri: str, policy: Policy | None = None, credentials: Credentials | None = None) -> Opening:
    return Opening(uri, policy, credentials, Registry.default(), Gateways())


def test_the_policy_applies_to_redirects() -> None:
    opening = way("http://a.example/x/y")
    opening.follow(Head(location="../z"), None)
    assert (str(opening.uri), [str(one) for one in opening.history]) == ("http://a.example/z", ["http://a.example/x/y"])
    for location in ("file:///etc/passwd", "FILE:///etc/passwd", "mid:a@b", "afs://c.example/x"):
        for policy in (Policy(), Policy.local()):
            with pytest.raises(AccessRefused, match="redirects to a file of this machine") as caught:
                way("http://a.example/", policy).follow(Head(location=location), None)
            assert caught.value.rule == "redirect"
    opening.follow(Head(location="http://127.0.0.1/"), None)
    with pytest.raises(AccessRefused, match="loopback"):
        Transport(opening.dialogue(opening.scheme()), opening.policy, opening.uri, 80).advance()
    for location in ("", "http://[", "http://a b/", "//", "http://h/\r\n", "http://h:x/", "\x00", "http://h\u00fc/"):
        with pytest.raises((ProtocolError, AccessRefused)):
            way("http://a.example/").follow(Head(location=location), None)


def test_the_number_of_redirects_is_limited() -> None:
    opening = way("http://a.example/0", Policy(max_redirects=3))
    for number in range(1, 4):
        opening.follow(Head(location=f"/{number}"), None)
    with pytest.raises(AccessRefused, match="more than 3 redirects"):
        opening.follow(Head(location="/4"), None)
    with pytest.raises(AccessRefused, match="cycle"):
        way("http://a.example/").follow(Head(location="/#x"), None)


def test_redirects_cannot_leave_tls() -> None:
    for uri in ("https://a.example/", "HTTPS://a.example/"):
        for location in ("http://a.example/", "ftp://a.example/x"):
            with pytest.raises(AccessRefused, match="leaves https"):
                way(uri).follow(Head(location=location), None)
        way(uri).follow(Head(location="https://b.example/"), None)
        way(uri, Policy(downgrade=True)).follow(Head(location="http://a.example/"), None)
    way("http://a.example/").follow(Head(location="https://a.example/"), None)


FOLLOWED = [
    ("http://a.example/", "http://b.example/"),
    ("http://a.example/", "https://b.example/"),
    ("https://a.example/", "https://b.example/"),
    ("http://a.example/", "ftp://b.example/x"),
    ("gopher://a.example/0x", "https://b.example/"),
    ("gopher://a.example/0x", "GOPHER://b.example/0y"),
    ("ldap://a.example/", "ldap://b.example/o=x"),
    ("ldap://a.example/", "ldaps://b.example/o=x"),
    ("prospero://a.example/x", "prospero://b.example/x"),
]
NOT_FOLLOWED = [
    *[
        ("http://a.example/", target)
        for target in (
            "gopher://b.example/0x",
            "GOPHER://b.example:6379/0x",
            "ldap://b.example/",
            "ldaps://b.example/",
            "telnet://b.example/",
            "wais://b.example/db",
            "prospero://b.example/x",
            "news:a@b.example",
            "nntp://b.example/g/1",
            "ws://b.example/",
            "wss://b.example/",
            "mailto:a@b.example",
            "data:,x",
            "about:blank",
            "urn:example:a",
            "x-own://b.example/",
        )
    ],
    ("gopher://a.example/0x", "ftp://b.example/x"),
    ("gopher://a.example/0x", "ldap://b.example/"),
    ("ldap://a.example/", "ftp://b.example/x"),
    ("ldap://a.example/", "gopher://b.example/0x"),
    ("prospero://a.example/x", "ftp://b.example/x"),
    ("prospero://a.example/x", "wais://b.example/db"),
]


@pytest.mark.parametrize(
    ("peer", "private"), [(("tcp", ("93.184.215.14", 80)), False), (("tcp", ("10.0.0.1", 80)), True), (None, True)]
)
def test_a_public_server_cannot_redirect_to_private_addresses(peer: tuple[Any, ...] | None, private: bool) -> None:
    """RFC 3986 7.4: even if the caller's own URIs may reach them; reserved ports are forbidden again, too."""
    opening = Opening("http://h.example/", Policy.local().with_(ports=frozenset({6000})), None, None, None)
    opening.follow(Head(location="http://10.0.0.2/"), peer)
    assert (opening.policy.private, opening.policy.ports) == (private, frozenset({6000} if private else ()))


@pytest.mark.parametrize("policy", [Policy(), Policy.local()], ids=["safe", "local"])
@pytest.mark.parametrize(("uri", "location"), FOLLOWED)
def test_allowed_redirects(uri: str, location: str, policy: Policy) -> None:
    opening = way(uri, policy)
    opening.follow(Head(location=location), None)
    assert str(opening.uri) == location
    # `redirects` of the policy is final.
    with pytest.raises(AccessRefused, match=r"Policy\.redirects"):
        way(uri, policy.with_(redirects=frozenset())).follow(Head(location=location), None)


@pytest.mark.parametrize("policy", [Policy(), Policy.local()], ids=["safe", "local"])
@pytest.mark.parametrize(("uri", "location"), NOT_FOLLOWED)
def test_forbidden_redirects(uri: str, location: str, policy: Policy) -> None:
    opening = way(uri, policy)
    with pytest.raises(AccessRefused) as caught:
        opening.follow(Head(location=location), None)
    assert (caught.value.rule, caught.value.source) == ("redirect", "RFC 3986 7, RFC 9110 15.4")
    name = URI(location).scheme.lower()
    assert caught.value.message.endswith(f"add {name!r} to Policy.redirects")
    assert str(opening.uri) == uri
    if name not in ("x-own", "news"):  # there is no retrieval for these two
        way(uri, policy.with_(redirects=frozenset({name}))).follow(Head(location=location), None)


def test_no_redirect_leads_to_files_under_any_policy() -> None:
    policy = Policy.local().with_(redirects=frozenset({"file"}))
    with pytest.raises(AccessRefused, match="a file of this machine"):
        way("http://a.example/", policy).follow(Head(location="file:///etc/passwd"), None)


def test_redirects_of_a_gateway_count_as_its_own() -> None:
    opening = Opening("urn:example:a", Policy(), None, Registry.default(), Gateways({"urn": "http://g.example/{uri}"}))
    for location in ("gopher://b.example:6379/0x", "urn:example:b"):
        with pytest.raises(AccessRefused, match="leads from http to"):
            opening.follow(Head(location=location), None)
    opening.follow(Head(location="ftp://b.example/x"), None)


@pytest.mark.parametrize(
    ("location", "is_sent"),
    [
        ("ftp://a.example/y", True),
        ("ftp://A.example:21/y", True),
        ("ftp://a.example:2121/y", False),
        ("ftp://b.example/y", False),
        ("ftp://a.example./y", False),
        ("ftp://a.example.b.example/y", False),
    ],
)
def test_credentials_go_to_their_origin_only(location: str, is_sent: bool) -> None:
    opening = way("ftp://a.example/x", None, Credentials("joe", "s3cr3t"))
    assert b"s3cr3t" in b"".join(getattr(step, "data", b"") for step in opening.plan)
    opening.follow(Head(location=location), None)
    assert (b"s3cr3t" in b"".join(getattr(step, "data", b"") for step in opening.plan)) is is_sent


# -- the value


def test_a_policy_is_a_value() -> None:
    assert Policy() == Policy()
    assert hash(Policy()) == hash(Policy())
    assert pickle.loads(pickle.dumps(Policy.local())) == Policy.local()
    assert Policy().with_(private=True).private
    assert not Policy().private
    with pytest.raises(TypeError):
        Policy().with_(no_such=1)


def test_errors_are_values() -> None:
    error = AccessRefused("address", "x is loopback", "RFC 3986 7.4", "ftp://joe:s3cr3t@h/")
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.rule, str(copy)) == ("address", str(error))
    assert "s3cr3t" not in str(error)
    missing = pickle.loads(pickle.dumps(ResourceMissing("550 no", "550", "RFC 959 4.2.1", "ftp://h/", "RETR x")))
    assert (missing.code, missing.where) == ("550", "RETR x")
    assert "\x1b" not in str(AccessFailed("550 \x1b]0;title\x07 \u202e", where="\x1b[2J"))


@pytest.mark.parametrize("name", ["schemes", "hosts", "redirects", "messages"])
@pytest.mark.parametrize("text", ["https", b"https"])
def test_a_text_as_collection_is_rejected(name: str, text: Any) -> None:
    """`"http" in "https"`: a policy with a text would allow more than it says."""
    with pytest.raises(TypeError, match=f"{name} takes a collection"):
        Policy(**{name: text})


@pytest.mark.parametrize("proxy", ["http://joe:s3cr3t@h.example:3128", b"http://h", ["http://h"]])
def test_a_proxy_that_is_no_mapping_is_rejected(proxy: Any) -> None:
    with pytest.raises(TypeError, match="proxy takes a mapping of schemes to URIs") as caught:
        Policy(proxy=proxy)
    assert "s3cr3t" not in str(caught.value)


def test_schemes_and_hosts_have_no_case() -> None:
    """RFC 3986 3.1, 3.2.2: a policy in capitals would refuse what it names."""
    policy = Policy(schemes=frozenset({"HTTPS"}), hosts=frozenset({".Good.Example"}))
    assert policy.judge("Https://A.good.EXAMPLE/").host == "A.good.EXAMPLE"


def test_the_schemes_of_proxies_have_no_case() -> None:
    """RFC 3986 3.1: otherwise a request would bypass its proxy."""
    policy = Policy(proxy={"HTTP": "http://proxy.example:3128"})
    (first, *_) = Opening("http://h.example/", policy, None, None, None).check_policy(scheme("http")).steps
    assert isinstance(first, Connect)
    assert first.host == "proxy.example"


@pytest.mark.parametrize("opening", [opened, aopened])
def test_a_registry_without_schemes(opening: OpenFunction) -> None:
    with pytest.raises(NotSpecified):
        opening("data:,x", registry=Registry.empty())


@pytest.mark.parametrize("kind", [list, set, dict.fromkeys, iter, lambda items: (item for item in items)])
def test_a_policy_copies_its_collections(kind: Callable[[Any], Any]) -> None:
    """Iterators and later changes have no effect: prefixes of NAT64 from `map` were checked and then gone."""
    items: dict[str, Any] = {
        "schemes": ["http"], "hosts": ["h.example"], "ports": [99], "spoken": [("ldap", 3268)], "redirects": ["http"],
        "messages": ["a.eml"], "nat64": ["2a00:1::/96"],
    }  # fmt: skip
    collections = {name: kind(values) for name, values in items.items()}
    policy = Policy(**collections)
    in_tuples: dict[str, Any] = {name: tuple(values) for name, values in items.items()}
    assert policy == Policy(**in_tuples)
    assert hash(policy) == hash(pickle.loads(pickle.dumps(policy)))
    for _ in range(2):
        assert policy.judge("http://h.example:99/")
        with pytest.raises(AccessRefused, match="loopback"):
            policy.addresses("h.example", 99, resolve=lambda host, port: ["2a00:1::7f00:1"])
    if kind is set:
        collections["hosts"].add("other.example")
        with pytest.raises(AccessRefused):
            policy.judge("http://other.example/")
