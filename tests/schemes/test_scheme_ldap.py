"""ldap, ldaps: URLs (RFC 4516) and messages (RFC 4511, RFC 4515)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from overthere import URI, Credentials, InvalidURI, PlanRefused, Rung, Unwritable, plan, scheme
from overthere.access import Send
from overthere.ground.errors import CodingError
from overthere.protocols.ldap.message import Element, element, elements, encoded_filter, integer
from overthere.schemes.known.ldap import DEFAULTS, Extension, LDAPLocator, Search
from support import for_each_octet

OPERATORS = {0xA0: "&", 0xA1: "|", 0xA2: "!"}
COMPARISONS = {0xA3: "=", 0xA5: ">=", 0xA6: "<=", 0xA8: "~="}


def ldap(text: str) -> LDAPLocator:
    locator = URI(text).locator
    assert isinstance(locator, LDAPLocator)
    return locator


def test_a_refused_scope_has_its_place() -> None:
    for text in ("ldap://sub.example/dc=su??su", "ldap://h/su?su?su?(su=su)", "ldaps:///??su"):
        with pytest.raises(InvalidURI) as caught:
            ldap(text)
        assert text[: caught.value.end].count("?") == 2
        assert text[: caught.value.start].count("?") == 0
        assert text[: caught.value.end].endswith("?su")


def sent(text: str, **credentials: str) -> list[bytes]:
    return [step.data for step in plan(text, Credentials(**credentials)) if isinstance(step, Send)]


def escaped(octets: bytes) -> str:
    """A value in which every byte that may need it is escaped."""
    return "".join(chr(o) if 0x20 < o < 0x7F and o not in b"\\()*" else f"\\{o:02x}" for o in octets)


def filter_of(element: Element) -> str:
    """The string form of an encoded filter."""
    tag, content = element
    if tag in OPERATORS:
        return f"({OPERATORS[tag]}{''.join(map(filter_of, elements(content)))})"
    if tag == 0x87:
        return f"({content.decode()}=*)"
    if tag == 0xA9:
        parts = dict(elements(content))
        rule = f":{parts[0x81].decode()}" if 0x81 in parts else ""
        return f"({parts.get(0x82, b'').decode()}{':dn' if 0x84 in parts else ''}{rule}:={escaped(parts[0x83])})"
    kind, value = elements(content)
    if tag == 0xA4:
        pieces = list(elements(value.content))
        text = "*".join(escaped(piece.content) for piece in pieces)
        text = ("" if pieces[0].tag == 0x80 else "*") + text + ("" if pieces[-1].tag == 0x82 else "*")
        return f"({kind.content.decode()}={text})"
    return f"({kind.content.decode()}{COMPARISONS[tag]}{escaped(value.content)})"


def test_messages_are_encoded_as_rfc_4511_says() -> None:
    bind, search, unbind = sent("ldap://h/c=GB?cn,mail?one?(cn=*)")
    [(tag, content)] = elements(bind)
    assert tag == 0x30
    assert list(elements(content)) == [(0x02, b"\1"), (0x60, b"\x02\x01\x03\x04\x00\x80\x00")]
    [(tag, content)] = elements(search)
    number, request = elements(content)
    assert (tag, number, request.tag) == (0x30, (0x02, b"\2"), 0x63)
    assert list(elements(request.content)) == [
        (0x04, b"c=GB"),
        (0x0A, b"\1"),
        (0x0A, b"\0"),
        (0x02, b"\0"),
        (0x02, b"\0"),
        (0x01, b"\0"),
        (0x87, b"cn"),
        (0x30, b"\x04\x02cn\x04\x04mail"),
    ]
    assert unbind == b"\x30\x05\x02\x01\x03\x42\x00"


@pytest.mark.parametrize(
    "text",
    [
        "(cn=Babs)",
        "(&(objectClass=Person)(|(sn=Jensen)(cn=Babs*J*)))",
        "(!(a=*b))",
        "(a=b*)",
        "(a=*b*)",
        "(a=b*c*d)",
        r"(a=\00\ff\2a\28\29\5c)",
        "(a>=1)",
        "(a<=1)",
        "(a~=1)",
        "(cn:dn:2.4.6:=x)",
        "(:dn:2.4.6:=x)",
        "(:2.4.6:=x)",
        "(cn:=x)",
        "(cn:dn:=x)",
        "(cn;lang-en;x=y)",
        "(&)",
        "(|)",
        "(&(!(|(!(a=b)))))",
        "(a=b=c:=d)",
    ],
)
def test_a_filter_is_encoded_correctly(text: str) -> None:
    [element] = elements(encoded_filter(text))
    assert filter_of(element) == text


def test_filters_of_the_grammar_are_encoded_correctly_or_rejected() -> None:
    count = 0
    for text in scheme("ldap").grammar.automaton("filter").sample(2000):
        text_filter = ldap(f"ldap://h/???{text}").filter or ""
        try:
            [element] = elements(encoded_filter(text_filter))
        except PlanRefused:
            continue
        count += 1
        decoded = filter_of(element)
        assert encoded_filter(decoded) == encoded_filter(text_filter)
    assert count > 100


def test_deep_and_huge_filters_cause_no_recursion() -> None:
    depth = 50_000
    octets = encoded_filter("(!" * depth + "(a=b)" + ")" * depth)
    for _ in range(100):
        [(tag, octets)] = elements(octets)
        assert tag == 0xA2
    assert len(encoded_filter("(&" + "(a=b)" * 50_000 + ")")) == 50_000 * 8 + 5
    assert len(encoded_filter("(a=" + "b*" * 100_000 + ")")) == 100_000 * 3 + 5 + 3 + 5
    assert len(encoded_filter("(a=" + r"\41" * 100_000 + ")")) > 100_000
    for wrong in ("(" * 1_000_000, "(!" * 500_000, "(a" * 500_000, "(a;" + "a" * 1_000_000, "(1.1" * 250_000):
        with pytest.raises(PlanRefused):
            encoded_filter(wrong)
    for item in ("(" + "1." * 500_000 + ")", "(" + ";a" * 500_000 + "=)", "(a" + ";a" * 500_000 + ")"):
        with pytest.raises(PlanRefused):
            encoded_filter(item)


def test_huge_urls_are_linear() -> None:
    parts = [
        "o=" + "%2C" * 100_000,
        ",".join(["a"] * 100_000),
        "sub",
        "(a=" + "%5C00" * 200_000 + ")",
        "a,!b=c" * 50_000,
    ]
    locator = ldap(f"ldap://h/{'?'.join(parts)}")
    assert len(locator.attributes or ()) == 100_000
    rewritten = replace(locator, written=None).uri()
    assert rewritten.locator == locator
    assert str(rewritten.normalize(Rung.SCHEME))


@for_each_octet
def test_every_byte_in_every_part(octet: int) -> None:
    for escape in {f"%{octet:02X}", f"%{octet:02x}"}:
        for pattern in ("/o={}", "/?a{}", "/???(a={})", "/????a{}", "/????a={}"):
            text = f"ldap://h{pattern.format(escape)}"
            locator = ldap(text)
            fresh = replace(locator, written=None)
            assert fresh.uri().locator == locator
            assert str(locator.uri()) == text
            try:
                messages = sent(text)
            except PlanRefused:
                assert octet >= 0x80 or octet in b"\0\t\n\r\\*()", text
            else:
                assert chr(octet) not in "\0\t\n\r" or pattern.startswith("/????"), text
                assert len(messages) == 3


@for_each_octet
def test_a_filter_escape_is_one_byte_of_the_value(octet: int) -> None:
    _, search, _ = sent(f"ldap://h/???(a=%5C{octet:02x})")
    assert b"\xa3\x06\x04\x01a\x04\x01" + bytes([octet]) in search


def test_fields_before_a_given_one_are_empty() -> None:
    assert LDAPLocator(scope="sub") == LDAPLocator(dn="", attributes=(), scope="sub")
    assert LDAPLocator(extensions=(Extension(True, "x"),)).filter == ""
    assert LDAPLocator(attributes=()).dn == ""
    assert LDAPLocator(dn="c=GB").attributes is None
    assert LDAPLocator().dn is None
    assert str(LDAPLocator("h").uri()) == "ldap://h"
    assert str(replace(ldap("ldap://h/c=GB?cn?sub"), scope=None).uri()) == "ldap://h/c=GB?cn"
    assert str(replace(ldap("ldap://h/c=GB?cn?sub"), attributes=None).uri()) == "ldap://h/c=GB??sub"
    assert str(LDAPLocator("h", scheme="ldaps", filter="(a=?)").uri()) == "ldaps://h/???(a=%3F)"


def test_undefined_and_empty_fields_differ() -> None:
    texts = ["ldap://h", "ldap://h/", "ldap://h/?", "ldap://h/??", "ldap://h/???", "ldap://h/????", "ldap://h/????a"]
    locators = [replace(ldap(text), written=None) for text in texts]
    assert [str(locator.uri()) for locator in locators] == texts
    assert len(set(locators)) == len(texts)
    assert {locator.search for locator in locators} == {DEFAULTS}


def test_a_search_has_the_defaults() -> None:
    assert ldap("ldap://h/c=GB?cn?one?(a=b)").search == Search("c=GB", "one", "(a=b)", ("cn",))
    assert ldap("ldap://h/c=GB???(a=b)").search == Search("c=GB", "base", "(a=b)", ())


@pytest.mark.parametrize(
    "wrong",
    [
        {"scope": "children"},
        {"scope": "SUB"},
        {"extensions": (("x", None, None),)},
        {"extensions": ("x",)},
        {"attributes": ("",)},
        {"query": "x"},
        {"host": "a/b"},
        {"host": "u@h"},
        {"host": "h:1"},
    ],
)
def test_ambiguous_locators_are_rejected(wrong: dict[str, Any]) -> None:
    with pytest.raises((Unwritable, TypeError)):
        LDAPLocator(**wrong).uri()


def test_data_that_looks_like_structure_is_escaped() -> None:
    locator = LDAPLocator("h", 1, "a=?,b=/../#", ("a?", "b,c"), "one", "(a=?#%41)", (Extension(False, "!a=,", ",?=!"),))
    text = str(locator.uri())
    assert text == "ldap://h:1/a=%3F,b=%2F..%2F%23?a%3F,b%2Cc?one?(a=%3F%23%2541)?%21a%3D%2C=%2C%3F=!"
    assert ldap(text) == locator
    assert ldap(str(URI(text).normalize(Rung.SCHEME))) == locator


def test_a_password_is_not_shown_nor_sent_for_another_name() -> None:
    result = plan("ldaps://h/????bindname=cn=x", Credentials("cn=x", "s3cr3t"))
    assert any(b"s3cr3t" in step.data for step in result if isinstance(step, Send))
    assert "s3cr3t" not in f"{result}{result!r}{result.to_dict()}{result.steps!r}"
    assert "can read" not in str(result)
    assert "can read the password" in " ".join(str(plan("ldap://h/", Credentials("cn=x", "s3cr3t"))).split())
    bind = sent("ldap://h/????bindname=cn=evil", user="cn=me", password="s3cr3t")[0]
    assert b"evil" not in bind
    assert b"cn=me" in bind


def test_a_plan_shows_no_control_characters() -> None:
    text = str(plan("ldap://h/o=%1B%5B31m%E2%80%AE???(a=%1B)"))
    assert all(char.isprintable() for char in text.replace("\n", ""))


@pytest.mark.parametrize(
    "octets",
    [
        b"\x30",
        b"\x30\x80\x00\x00",
        b"\x30\x02\x00",
        b"\x1f\x01\x00",
        b"\x04\x89" + bytes(9),
        b"\x04\x84\xff\xff\xff\xff",
    ],
)
def test_invalid_ber_is_rejected(octets: bytes) -> None:
    with pytest.raises(CodingError):
        list(elements(octets))


@pytest.mark.parametrize("length", [0, 1, 127, 128, 255, 256, 65535, 65536, 1 << 24])
def test_lengths_are_encoded_and_decoded(length: int) -> None:
    octets = element(0x04, bytes(length))
    assert list(elements(octets)) == [(0x04, bytes(length))]
    assert len(octets) == length + (2 if length < 128 else 2 + (length.bit_length() + 7) // 8)


@pytest.mark.parametrize("value", [0, 1, 127, 128, 255, 256, -1, -128, -129, 2**31 - 1])
def test_integers_have_the_shortest_encoding(value: int) -> None:
    [(tag, content)] = elements(integer(value))
    assert tag == 0x02
    assert int.from_bytes(content, "big", signed=True) == value
    assert len(content) == 1 or content[0] not in (0, 0xFF) or (content[0] ^ content[1]) & 0x80
