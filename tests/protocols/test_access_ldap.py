"""ldap, ldaps with slapd, its recorded answers, and invalid answers."""

from __future__ import annotations

import base64
import json
import re
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import anyio
import pytest

import overthere
from overthere import AccessError, AccessRefused, Credentials, Entry, InvalidURI, PlanRefused, Policy, plan
from overthere.access.errors import AccessFailed, LimitExceeded, ProtocolError, ResourceMissing, ResourceUnavailable
from overthere.access.wire import Head, Item, Read, Write
from overthere.protocols.ldap.dialogue import dialogue
from overthere.protocols.ldap.message import ENUMERATED, OCTETS, SEQUENCE, element, integer
from servers import NET, need, wait_until
from servers.slapd import KEY, PHOTO, Slapd, slapd
from support import TESTS, linear

LOCAL = Policy.local().with_(read_timeout=60)
ROWS = [json.loads(line) for line in (TESTS / "transcripts/ldap/slapd-2.5.13.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slapd]:
    with slapd(tmp_path_factory.mktemp("ldap") / "slapd") as ldap:
        yield ldap


def entries(uri: str, policy: Policy = LOCAL, credentials: Credentials | None = None) -> list[Entry]:
    with overthere.open(uri, policy, credentials=credentials) as resource:
        assert resource.is_listing
        return list(resource.entries())


def log(server: Slapd, expected: str) -> str:
    """The log, once it contains the expected text."""
    wait_until(lambda: re.search(expected, server.log.read_text("utf-8", "replace")), f"{expected} is not in the log")
    return server.log.read_text("utf-8", "replace")


# -- slapd


def test_a_tree_is_listed(server: Slapd) -> None:
    results = entries(f"{server.uri}/c=GB??sub")
    assert [(entry.name, entry.kind) for entry in results[:3]] == [
        ("c=GB", "country"),
        ("o=Example,c=GB", "organization"),
        ("cn=few,c=GB", "person"),
    ]
    assert results[0].details == {"attributes": {"objectClass": ["country"], "c": ["GB"]}}
    zoe, elsewhere = results[3:]
    assert zoe.name == "cn=Zoë O'Neill+sn=a\\2Cb?c#d/e,o=Example,c=GB"
    attributes = zoe.details["attributes"]
    assert attributes["cn"] == ["Zoë O'Neill", "中文"]
    assert attributes["sn"] == ["a,b?c#d/e"]
    assert attributes["description"] == ["two lines"]
    assert attributes["jpegPhoto"] == [PHOTO]
    assert "userPassword" not in attributes
    assert elsewhere.kind == "referral"
    assert elsewhere.uri == f"{server.uri}/o=Example,c=GB??sub"
    # The request, and the proper end of the session.
    log(server, r'op=1 SRCH base="c=GB" scope=2 deref=0 filter="\(objectClass=\*\)"\n(?s:.*)op=2 UNBIND')


def test_every_uri_of_a_listing_can_be_opened(server: Slapd) -> None:
    for entry in entries(f"{server.uri}/c=GB??sub"):
        assert entry.uri is not None
        reopened = entries(entry.uri)
        if entry.kind != "referral":
            assert reopened == [entry]


def test_the_fields_of_a_uri_select_entries(server: Slapd) -> None:
    results = entries(f"{server.uri}/c=GB?cn,sn?one?(%26(cn=f*)(!(o=*)))")
    assert [entry for entry in results if entry.kind != "referral"] == [
        Entry("cn=few,c=GB", f"{server.uri}/cn=few,c=GB", "entry", {"attributes": {"cn": ["few"], "sn": ["Few"]}})
    ]
    # A referral gets the same search, with the scope that it names.
    assert [entry.uri for entry in results if entry.kind == "referral"] == [
        f"{server.uri}/o=Example,c=GB?cn,sn?base?(&(cn=f*)(!(o=*)))"
    ]
    log(server, r'filter="\(&\(cn=f\*\)\(!\(o=\*\)\)\)"\n.* SRCH attr=cn sn')
    assert entries(f"{server.uri}/c=GB???(c=FR)") == []
    assert [entry.kind for entry in entries(f"{server.uri}/")] == ["top OpenLDAProotDSE"]


def test_ldapsearch_finds_the_same_entries(server: Slapd) -> None:
    need("ldapsearch")
    command = ["ldapsearch", "-x", "-LLL", "-o", "ldif-wrap=no", "-H", server.uri, "-b", "c=GB", "-s", "sub"]
    output = subprocess.run(command, capture_output=True, timeout=NET, check=True).stdout.decode()
    theirs = [
        (kind, base64.b64decode(value) if coded else value.encode())
        for kind, coded, value in re.findall(r"(?m)^([A-Za-z]+):(:?) (.*)$", output)
    ]
    ours: list[tuple[str, bytes]] = []
    for entry in entries(f"{server.uri}/c=GB??sub"):
        if entry.kind != "referral":
            ours.append(("dn", entry.name.encode()))
            for kind, values in entry.details["attributes"].items():
                ours += [(kind, value.encode() if isinstance(value, str) else value) for value in values]
    assert ours == theirs


def test_a_search_follows_a_referral(server: Slapd) -> None:
    with overthere.open(f"{server.uri}/ou=Elsewhere,c=GB?o", LOCAL) as resource:
        assert [str(uri) for uri in resource.history] == [f"{server.uri}/ou=Elsewhere,c=GB?o"]
        assert str(resource.uri) == f"{server.uri}/o=Example,c=GB?o?base"
        assert [entry.details for entry in resource.entries()] == [{"attributes": {"o": ["Example"]}}]
    with pytest.raises(AccessRefused, match="more than 0 redirects"):
        overthere.open(f"{server.uri}/ou=Elsewhere,c=GB", LOCAL.with_(max_redirects=0))


@pytest.mark.parametrize(
    ("path", "code", "message"),
    [
        ("/ou=Nope,c=GB", "32", "noSuchObject (32); there is 'c=GB'"),
        ("/ou=Closed,c=GB", "32", "noSuchObject (32)"),
        ("/none", "34", "invalidDNSyntax (34): invalid DN"),
    ],
)
def test_errors_of_the_server(server: Slapd, path: str, code: str, message: str) -> None:
    with pytest.raises(ResourceMissing) as caught:
        overthere.open(server.uri + path, LOCAL)
    assert (caught.value.code, caught.value.message) == (code, message)
    assert caught.value.source == "RFC 4511 4.5.2"
    assert str(caught.value.uri) == server.uri + path


def test_the_policy_applies_to_referrals(server: Slapd) -> None:
    """For another suffix slapd names a server on another host, which this policy rejects."""
    with pytest.raises(AccessRefused, match=r"root\.example\.test"):
        overthere.open(f"{server.uri}/dc=other", LOCAL.with_(hosts=frozenset({"127.0.0.1"})))


def test_entries_depend_on_the_login(server: Slapd) -> None:
    reader = Credentials("cn=few,c=GB", "pass")
    assert [entry.name for entry in entries(f"{server.uri}/ou=Closed,c=GB", credentials=reader)] == ["ou=Closed,c=GB"]
    log(server, r'BIND dn="cn=few,c=GB" method=128')
    with pytest.raises(ResourceMissing, match=r"invalidCredentials \(49\)") as caught:
        entries(f"{server.uri}/c=GB", credentials=Credentials("cn=few,c=GB", "wrong"))
    assert caught.value.where == "the BindResponse"
    assert "wrong" not in str(caught.value)
    admin = Credentials("cn=admin,c=GB", "secret")
    [photo] = [one for one in entries(f"{server.uri}/c=GB??sub?(cn=Zo*)", credentials=admin) if one.kind != "referral"]
    assert photo.details["attributes"]["userPassword"] == [KEY]


def test_a_limit_of_the_server_is_reported(server: Slapd) -> None:
    results = entries(f"{server.uri}/o=Example,c=GB??sub", credentials=Credentials("cn=few,c=GB", "pass"))
    assert [entry.kind for entry in results] == ["organization", "limit"]
    assert results[1].uri is None
    assert results[1].name == "sizeLimitExceeded (4)"
    assert results[1].details["code"] == 4


def trusting(server: Slapd) -> Policy:
    return LOCAL.with_(tls=ssl.create_default_context(cafile=str(server.certificate)))


def test_tls(server: Slapd) -> None:
    uri = f"ldaps://localhost:{server.tls}"
    results = entries(f"{uri}/c=GB??sub", trusting(server))
    assert [entry.uri for entry in results[:2]] == [f"{uri}/c=GB", f"{uri}/o=Example,c=GB"]
    with pytest.raises(AccessFailed, match=r"certificate verify failed|CERTIFICATE_VERIFY_FAILED"):
        overthere.open(f"{uri}/c=GB", LOCAL)
    with pytest.raises(AccessError):
        overthere.open(f"ldaps://127.0.0.1:{server.port}/c=GB", trusting(server))
    with pytest.raises(AccessError):
        overthere.open(f"ldap://127.0.0.1:{server.tls}/c=GB", LOCAL)


def test_a_referral_cannot_leave_tls(server: Slapd) -> None:
    uri = f"ldaps://localhost:{server.tls}/ou=x,ou=Elsewhere,c=GB"
    with pytest.raises(AccessRefused, match="a redirect leaves ldaps"):
        overthere.open(uri, trusting(server))
    with pytest.raises(ResourceMissing, match="noSuchObject"):
        overthere.open(uri, trusting(server).with_(downgrade=True))


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_in_an_event_loop(server: Slapd, backend: str) -> None:
    async def work(uri: str, policy: Policy) -> list[Entry]:
        async with await overthere.aopen(uri, policy) as resource:
            return [entry async for entry in resource.entries()]

    plain = f"{server.uri}/c=GB??sub"
    assert anyio.run(work, plain, LOCAL, backend=backend) == entries(plain)
    secure = f"ldaps://localhost:{server.tls}/c=GB??sub"
    assert anyio.run(work, secure, trusting(server), backend=backend) == entries(secure, trusting(server))
    with pytest.raises(ResourceMissing):
        anyio.run(work, f"{server.uri}/ou=Nope,c=GB", LOCAL, backend=backend)


def test_an_untrusted_uri_cannot_reach_local_servers(server: Slapd) -> None:
    with pytest.raises(AccessRefused):
        overthere.open(f"{server.uri}/c=GB")


# -- messages, without a socket


def drive(
    answer: bytes, uri: str = "ldap://h/c=GB??sub", size: int = 1 << 20, **policy: Any
) -> tuple[list[Any], bytes]:
    """The effects of a dialogue with an answer, and the bytes that it sends."""
    running = dialogue(plan(uri), Policy().with_(**policy))
    effects: list[Any] = []
    sent, at, reply = b"", 0, None
    try:
        while True:
            effect = running.send(reply)
            reply = None
            match effect:
                case Read():
                    reply = answer[at : at + min(size, effect.size)]
                    at += len(reply)
                case Write(data):
                    sent += data
                case Head() | Item():
                    effects.append(effect)
                case _:
                    pass
    except StopIteration:
        return effects, sent


@pytest.mark.parametrize("row", ROWS, ids=[row["path"] for row in ROWS])
@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_recorded_answers(row: dict[str, Any], size: int) -> None:
    answer = bytes.fromhex(row["answer"])
    uri = f"ldap://h{row['path']}"
    if "Nope" in uri:
        with pytest.raises(ResourceMissing, match="noSuchObject"):
            drive(answer, uri, size)
        return
    effects, sent = drive(answer, uri, size)
    assert sent == bytes.fromhex(row["sent"])
    if "Elsewhere" in uri:
        assert effects[0].location == "ldap://127.0.0.1:389/ou=x,o=Example,c=GB??base"
        assert effects[0].details["result"]["matchedDN"] == "ou=Elsewhere,c=GB"
        return
    names = [effect.entry.name for effect in effects[1:]]
    assert len(names) == 5
    assert names[3].startswith("cn=Zoë")
    assert effects[0].details["result"]["name"] == "success"


@pytest.mark.parametrize("row", ROWS, ids=[row["path"] for row in ROWS])
def test_an_end_at_every_offset(row: dict[str, Any]) -> None:
    answer = bytes.fromhex(row["answer"])
    for end in range(len(answer)):
        with pytest.raises(AccessFailed):
            drive(answer[:end], f"ldap://h{row['path']}")


def test_every_byte_changed() -> None:
    """The result is an answer, or an AccessError."""
    for row in ROWS:
        answer = bytes.fromhex(row["answer"])
        for at in range(0, len(answer), 1 if len(answer) < 300 else 5):
            for octet in (0, 0x30, 0x7F, 0x80, 0x84, 0x88, 0xFF, answer[at] ^ 1):
                with suppress(AccessError):
                    drive(answer[:at] + bytes([octet]) + answer[at + 1 :], f"ldap://h{row['path']}")


BOUND = element(SEQUENCE, integer(1), element(0x61, integer(0, ENUMERATED), element(OCTETS), element(OCTETS)))


def message(tag: int, *contents: bytes, number: int = 2) -> bytes:
    return element(SEQUENCE, integer(number), element(tag, *contents))


def done(code: int = 0, text: bytes = b"", *rest_data: bytes) -> bytes:
    return message(0x65, integer(code, ENUMERATED), element(OCTETS), element(OCTETS, text), *rest_data)


def entry(dn: bytes, *attributes: tuple[bytes, list[bytes]]) -> bytes:
    listed = (
        element(SEQUENCE, element(OCTETS, kind), element(0x31, *(element(OCTETS, value) for value in values)))
        for kind, values in attributes
    )
    return message(0x64, element(OCTETS, dn), element(SEQUENCE, *listed))


def referral(*uris: bytes) -> bytes:
    return element(0xA3, *(element(OCTETS, uri) for uri in uris))


NOTICE = message(
    0x78,
    integer(52, ENUMERATED),
    element(OCTETS),
    element(OCTETS, b"going down"),
    element(0x8A, b"1.3.6.1.4.1.1466.20036"),
    number=0,
)
OTHER_NOTICE = message(0x78, integer(0, ENUMERATED), element(OCTETS), element(OCTETS), number=0)


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", ProtocolError, "begins with the octet 48"),
        (b"\x30\x80\x02\x01\x01\x00\x00", ProtocolError, "no definite length"),
        (b"\x30\xff" + b"\xff" * 200, ProtocolError, "no definite length"),
        (b"\x30\x89" + b"\xff" * 200, ProtocolError, "no definite length"),
        (b"\x30\x88" + b"\xff" * 200, LimitExceeded, "18,446,744,073,709,551,615 octets"),
        (b"\x30\x84\x7f\xff\xff\xff", LimitExceeded, "2,147,483,647 octets"),
        (b"\x30\x83\xff\xff\xff" + bytes(99), AccessFailed, "99 of 16,777,215 octets"),
        (b"\x30\x00", ProtocolError, "not an LDAPMessage"),
        (b"\x30\x04\x30\x80\x00\x00", ProtocolError, "no definite length"),
        (b"\x30\x04\x02\x7f\x00\x00", ProtocolError, "longer than the rest"),
        (b"\x30\x03\x02\x01\x01", ProtocolError, "not an LDAPMessage"),
        (element(SEQUENCE, integer(1), element(0x61)), ProtocolError, "no LDAPResult"),
        (element(SEQUENCE, integer(1 << 40), element(0x61)), ProtocolError, "not an LDAPMessage"),
        (element(SEQUENCE, integer(7), element(0x61)), ProtocolError, "to message 7 and not to 1"),
        (element(SEQUENCE, integer(1), element(0x65)), ProtocolError, "to the bind is another operation"),
        (element(SEQUENCE, integer(1), element(0x61), element(0x30)), ProtocolError, "something other than controls"),
        (element(SEQUENCE, integer(1), *[b"\x05\x00"] * 100_000), ProtocolError, "not an LDAPMessage"),
        (message(0x61, integer(14, ENUMERATED), element(OCTETS), element(OCTETS), number=1), ResourceMissing, "(14)"),
        (message(0x61, integer(2, ENUMERATED), element(OCTETS), element(OCTETS, b"v2"), number=1), AccessError, ": v2"),
        (NOTICE, AccessFailed, "the server ended the session: unavailable (52): going down"),
        (OTHER_NOTICE * 500, ProtocolError, "more than 100 notifications"),
        (BOUND + NOTICE, AccessFailed, "going down"),
        (BOUND + message(0x04), ProtocolError, "an operation 04 among the entries"),
        (BOUND + message(0x64), ProtocolError, "no SearchResultEntry"),
        (BOUND + message(0x64, element(OCTETS), element(SEQUENCE, b"\x05\x00")), ProtocolError, "no PartialAttribute"),
        (BOUND + message(0x73), ProtocolError, "without URIs"),
        (BOUND + message(0x73, b"\x05\x00"), ProtocolError, "without URIs"),
        (BOUND + message(0x73, b"\x04\x00" * 5000), LimitExceeded, "more than 1,000 URIs"),
        (BOUND + done(10), ResourceMissing, "referral (10)"),
        (BOUND + done(4), ResourceMissing, "sizeLimitExceeded (4)"),
        (BOUND + done(4711, b"a\x1bb"), ResourceMissing, "a result (4711): a\ufffdb"),
        (BOUND + done(-1), ResourceMissing, "(-1)"),
        (BOUND + done(1 << 60), ProtocolError, "not a number"),
        (BOUND + entry(b"c=GB") + done(52), ResourceUnavailable, "unavailable (52)"),
        (BOUND + done(51), ResourceUnavailable, "busy (51)"),
        (
            message(0x61, integer(51, ENUMERATED), element(OCTETS), element(OCTETS), number=1),
            ResourceUnavailable,
            "busy",
        ),
        (BOUND + entry(b"", *((b"a%d" % n, []) for n in range(10_001))), LimitExceeded, "more than 10,000 attributes"),
    ],
)
def test_invalid_answers(answer: bytes, error: type[AccessError], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        drive(answer)


def test_nested_garbage_is_linear_without_recursion() -> None:
    def use(garbage: bytes) -> None:
        for tag in (0x64, 0x65, 0x73):
            with pytest.raises(AccessError):
                drive(BOUND + message(tag, garbage))
        with pytest.raises(AccessError):
            drive(BOUND + message(0x64, element(OCTETS), element(SEQUENCE, garbage)))

    deep = b""
    nested = {}
    for count in range(1, 3001):
        deep = element(SEQUENCE, deep)
        nested[count] = deep
    linear(lambda count: use(nested[count]), 3000)
    linear(lambda count: use(b"\x30\x00" * count), 1_000_000)
    linear(lambda count: use(b"\x30\x00" * count + b"\x30"), 1_000_000)


def test_the_policy_limits_the_length_of_messages() -> None:
    large = entry(b"c=GB", (b"jpegPhoto", [bytes(300_000)]))
    effects, _ = drive(BOUND + large + done())
    assert effects[1].entry.details["attributes"]["jpegPhoto"] == [bytes(300_000)]
    with pytest.raises(LimitExceeded):
        drive(BOUND + large + done(), max_line=1000)


def test_foreign_messages_are_skipped() -> None:
    effects, _ = drive(OTHER_NOTICE + BOUND + OTHER_NOTICE * 99 + entry(b"c=GB") + OTHER_NOTICE + done())
    assert [effect.entry.name for effect in effects[1:]] == ["c=GB"]


def test_values_and_names_of_attributes() -> None:
    answer = entry(
        b"\xff=x",
        (b"cn", [b"a", b"\xc3\xa9", b"\t\r\n"]),
        (b"a;binary", [b"text"]),
        (b"b", [b"text", b"\x00"]),
        (b"CN2", []),
        (b"cn", [b"more"]),
        (b"OBJECTCLASS", [b"top", b"person"]),
    )
    effects, _ = drive(BOUND + answer + entry(b"cn=a\r\nb") + entry(b"cn=x;y") + done())
    first, second, third = (effect.entry for effect in effects[1:])
    assert (first.name, first.uri, first.kind) == ("\ufffd=x", None, "top person")
    assert first.details["attributes"] == {
        "cn": ["a", "é", "\t\r\n", "more"],
        "a;binary": [b"text"],
        "b": [b"text", b"\x00"],
        "CN2": [],
        "OBJECTCLASS": ["top", "person"],
    }
    for strange in (second, third):
        assert strange.uri is None or overthere.URI(strange.uri).host == "h"


@pytest.mark.parametrize(
    ("uris", "location"),
    [
        ([b"ldap://other"], "ldap://other/c=GB?cn?sub?(cn=a)"),
        ([b"ldap://other/"], "ldap://other/c=GB?cn?sub?(cn=a)"),
        ([b"ldap://other/o=x??base"], "ldap://other/o=x?cn?base?(cn=a)"),
        ([b"ldap://other/???(cn=b)#f"], "ldap://other/c=GB?cn?sub?(cn=b)"),
        ([b"http://other/", b"\xff", b"x y", b"ldaps://s:1636"], "ldaps://s:1636/c=GB?cn?sub?(cn=a)"),
    ],
)
def test_a_referral_inherits_the_fields_of_the_search(uris: list[bytes], location: str) -> None:
    """RFC 4511 4.1.10: those that it does not contain."""
    search = "ldap://h/c=GB?cn?sub?(cn=a)"
    [head], _ = drive(BOUND + done(10, b"", referral(*uris)), search)
    assert head.location == location
    effects, _ = drive(BOUND + entry(b"c=GB") + message(0x73, *(element(OCTETS, uri) for uri in uris)) + done(), search)
    assert effects[2].entry.uri == location
    assert effects[2].entry.details["uris"] == [uri.decode("utf-8", "replace") for uri in uris]
    # After an entry there is content, and the referral is part of it.
    effects, _ = drive(BOUND + entry(b"c=GB") + done(10, b"", referral(*uris)), search)
    assert [effect.entry.kind for effect in effects[1:]] == ["entry", "referral"]


def test_a_referral_to_no_directory_is_shown_and_not_followed() -> None:
    given, _ = drive(BOUND + done(10, b"", referral(b"http://other/", b"file:///etc/passwd")))
    assert given[0].location is None
    assert given[1].entry == Entry("http://other/", None, "referral", {"uris": ["http://other/", "file:///etc/passwd"]})


def test_no_byte_of_a_uri_ends_a_message() -> None:
    """BER uses lengths: a search contains the URI's data, or there is no plan."""
    for octet in range(256):
        for form in ("c=G%{:02X}", "c=G%5C{:02X}", "c=GB???(c=%5C{:02X})"):
            try:
                _, sent = drive(BOUND + done(), "ldap://h/" + form.format(octet))
            except (InvalidURI, PlanRefused):
                continue
            assert sent.startswith(b"0\x0c\x02\x01\x01")
            assert sent.endswith(b"\x30\x05\x02\x01\x03\x42\x00")
