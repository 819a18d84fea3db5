"""Statements of RFC 3986, sections 1 to 3, without a case row, each with its paragraph."""

from __future__ import annotations

import re
import socket
from ipaddress import IPv4Address, IPv6Address
from itertools import product
from typing import Any

import pytest

import overthere
from overthere import (
    URI,
    OverthereError,
    Rung,
    URIReference,
    check,
    decode,
    decode_bytes,
    encode,
    explain,
    lowest_rung,
    plan,
    scheme,
)
from overthere.access import Connect, Send
from overthere.grammar.library import grammar
from overthere.kernel import split
from overthere.schemes.registry import BUILT_IN
from support import cases

UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
RESERVED = ":/?#[]@!$&'()*+,;="


def accepts(rule: str, text: str) -> bool:
    return grammar("rfc3986").automaton(rule).accepts(text)


# -- 1, what a URI is for


def test_parsing_accesses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """1.1, 1.2.2, 3.5: identification implies no access, and no context."""

    def refuse(*_: Any) -> Any:
        raise AssertionError("somebody was asked")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    for text in ("http://localhost/", "http://nowhere.invalid/a?b#c", "file:///etc/hosts", "x://h/"):
        value = URI(text)
        assert value.normalize(Rung.SCHEME).equivalent(value, Rung.SCHEME)
        assert value.host is not None
        assert value.locator is not None
        assert value.join("../g#f").fragment == "f"
        assert explain(text).kind
    assert plan("http://nowhere.invalid/").steps


def test_characters_are_compared_not_bytes() -> None:
    """1.2.1, 2, 6.2.1: whatever bytes transported them."""
    text = "http://h/a?b#c"
    carried = [text.encode(name).decode(name) for name in ("ascii", "utf-16", "utf-32", "cp037")]
    assert len({URI(octets) for octets in carried}) == 1
    assert lowest_rung(URI(carried[1]), URI(carried[3])) is Rung.STRING
    with pytest.raises(TypeError):
        URI(text.encode("cp037"))  # type: ignore[arg-type]


def test_locators_and_names() -> None:
    """1.1.3: a locator describes how its resource is accessed, a name need not."""
    assert plan("http://h/").steps
    assert plan("urn:example:a").steps == ()


def test_a_tree_is_reachable_under_three_schemes() -> None:
    """1.2.3: documents with relative references can be moved as a whole."""
    for root in (
        "file:///srv/tree/",
        "http://h.example/tree/",
        "ftp://h.example/pub/tree/",
        "http://h.example/a/b/tree/",
    ):
        page, other = URI(root).join("one/index.html"), URI(root).join("two/pictures/a.png")
        reference = page.relate(other)
        assert str(reference) == "../two/pictures/a.png"
        assert page.join(reference) == other


def test_opaque_uris_have_no_relative_references() -> None:
    """1.2.3: the shortest reference is the URI itself."""
    base, target = URI("mailto:a@b.example"), URI("tel:+1-201-555-0123")
    assert base.relate(target) == target


# -- 2, characters


def test_the_escape_of_the_space() -> None:
    """2.1: %20 is the octet 00100000, the space of US-ASCII."""
    assert decode_bytes("%20") == bytes([0b00100000]) == b" "
    assert encode(" ") == "%20"


def test_escapes_are_produced_in_upper_case() -> None:
    """2.1: producers use upper case digits."""
    for octet in range(256):
        assert encode(bytes([octet]), "segment", keep="") in (chr(octet), f"%{octet:02X}")


@pytest.mark.parametrize("component", ["userinfo", "segment", "query", "fragment"])
def test_reserved_data_can_be_escaped(component: str) -> None:
    """2.2: reserved data bytes are escaped, except those listed in `keep`."""
    for char in RESERVED:
        assert encode(char, component, keep="") == f"%{ord(char):02X}"
        assert decode(encode(char, component, keep="")) == char
    assert encode("a,b", component, keep=",") == "a,b"


def test_a_reserved_character_without_a_role() -> None:
    """2.2: it represents its octet in US-ASCII."""
    for char in "!$&'()*+,;=":
        assert decode_bytes(char) == char.encode("ascii")
        assert URI(f"x:{char}").decoded_bytes("path") == char.encode("ascii")


def test_the_unreserved_characters() -> None:
    """2.3: letters, digits, hyphen, period, underscore and tilde only."""
    assert {chr(n) for n in range(0x250) if accepts("unreserved", chr(n))} == set(UNRESERVED)


@pytest.mark.parametrize("component", ["userinfo", "reg-name", "path", "segment", "query", "fragment"])
def test_unreserved_characters_are_never_escaped(component: str) -> None:
    """2.3: producers create no escape of them."""
    assert encode(UNRESERVED, component) == UNRESERVED
    assert encode(UNRESERVED, component, keep="") == UNRESERVED


def test_only_unreserved_characters_are_decoded() -> None:
    """2.3, 6.2.2.2: all 256 escapes, with digits in either case, in every component that allows them."""
    for octet, digits in product(range(256), ("%02X", "%02x")):
        escape, char = "%" + digits % octet, chr(octet)
        expected = char if char in UNRESERVED else f"%{octet:02X}"
        normal = URI(f"x://u{escape}@h/p{escape}?q{escape}#f{escape}").normalize()
        assert str(normal) == f"x://u{expected}@h/p{expected}?q{expected}#f{expected}"


def test_components_are_split_before_decoding() -> None:
    """2.4: escaped characters never delimit, however components are decoded."""
    value = URI("x://a%40b%3Ac@h/d%2Fe%3Ff/g%23?h%26i=j%23k#l%23m")
    assert (value.decoded("userinfo"), value.decoded("fragment")) == ("a@b:c", "l#m")
    assert [decode(segment) for segment in value.segments] == ["d/e?f", "g#"]
    assert value.query == "h%26i=j%23k"


def test_the_percent_sign() -> None:
    """2.4: as data it is %25."""
    assert encode("100%") == "100%25"
    assert decode("100%25") == "100%"
    assert check("x:100%")


def test_data_is_encoded_and_decoded_once() -> None:
    """2.4: neither encoding nor decoding is repeated within one call."""
    assert decode("%2541") == "%41"
    assert encode("%41") == "%2541"
    assert str(URI("x:%2541").normalize(Rung.SCHEME)) == "x:%2541"


def test_unreserved_characters_encode_as_ascii() -> None:
    """2.5: X is 01011000, and so on."""
    assert decode_bytes("X") == bytes([0b01011000])
    assert all(decode_bytes(char) == char.encode("ascii") for char in UNRESERVED)


def test_ebcdic_text_is_transcoded_first() -> None:
    """2.5: raw EBCDIC bytes would be unreadable."""
    name = "Laguna Beach"
    stored = name.encode("cp037")
    assert encode(stored.decode("cp037")) == "Laguna%20Beach"
    assert encode(stored) == "%D3%81%87%A4%95%81@%C2%85%81%83%88".replace("@", encode("@"))
    assert decode("Laguna%20Beach").encode("cp037") == stored


def test_unicode_text_is_encoded_as_utf_8() -> None:
    """2.5: with an escape for each byte that is not an unreserved character."""
    assert encode("AÀア") == "A%C3%80%E3%82%A2"
    assert encode("A") == "A"
    assert decode("%E3%82%A2") == "\N{KATAKANA LETTER A}"


# -- 3, components


def test_exactly_one_path_rule_matches() -> None:
    """3, 3.3: for any reference."""
    paths = ["", "/", "//", "/a", "//a", "a", "a:b", "a/b:c", "./a:b", ":", "/:", "a//"]
    for start, path in product(("", "x:", "//h", "x://h"), paths):
        rules = ["path-abempty"] if "//" in start else ["path-absolute", "path-empty"]
        if "//" not in start:
            rules.append("path-rootless" if start else "path-noscheme")
        matching = [rule for rule in rules if accepts(rule, path)]
        assert len(matching) <= 1
        valid = accepts("URI" if start.startswith("x") else "relative-ref", start + path)
        # "//a" without an authority would be one; a path after an authority begins with a slash.
        if matching:
            assert valid
            assert URIReference(start + path).path == path


def test_build_does_not_change_the_scheme() -> None:
    """3.1: normalization lowercases it; the caller's spelling is kept."""
    assert str(URI("HTTP://h/").normalize(Rung.CASE)) == "http://h/"
    assert URI("HTTP://h/").scheme == "HTTP"
    assert scheme("HTTP").name == "http"


@pytest.mark.parametrize("name", BUILT_IN)
def test_rules_of_schemes_are_within_absolute_uri(name: str) -> None:
    """3.1, 4.3: their texts, without a fragment, match absolute-URI."""
    valid = [row["text"] for row in cases(f"schemes/{name}") if row.get("valid") and "edition" not in row]
    valid = [text for text in valid if not check(text)]
    assert valid or name in ("nfs", "mailserver", "z39.50"), "only reserved names have no rules today"
    for text in valid:
        assert accepts("absolute-URI", text.partition("#")[0]), text


def test_a_uri_that_its_scheme_forbids_has_no_plan() -> None:
    """3.1, 3.2: it is reported; no part of it is ignored."""
    for text, part in (
        ("http://joe@h/", "userinfo"),
        ("ws://h/#f", "fragment"),
        ("file:///a%2Fb", "segment"),
        ("http:g", "a host"),
        ("file://h:80/x", "no port"),
        ("urn:a", "RFC 8141 2"),
    ):
        with pytest.raises(OverthereError, match=part):
            plan(text)


def test_split_does_not_validate() -> None:
    """3.2, 4.1: it gives five components of any text, and does not split the authority."""
    assert split("http://u@v:x:[/p?q#f") == ("http", "u@v:x:[", "/p", "q", "f")
    assert split("1x://[/{}?<>#\\") == ("1x", "[", "/{}", "<>", "\\")


def test_userinfo_is_displayed_separately() -> None:
    """3.2.1, 7.6: figures show userinfo and host on separate lines."""
    drawn = str(explain("ftp://cnn.example.com&story=breaking_news@10.0.0.1/top_story.htm"))
    assert re.search(r"userinfo +\S+ +cnn\.example\.com&story=breaking_news$", drawn, re.MULTILINE)
    assert re.search(r"host +\S+ +10\.0\.0\.1 +\(IPv4address\)$", drawn, re.MULTILINE)


def test_a_host_need_not_be_contacted() -> None:
    """3.2.2: it may be a name in a table, or of nobody."""
    assert URI("x-tree://roots.of.oaks/leaf").host == "roots.of.oaks"
    assert not any(isinstance(step, Connect) for step in plan("file:///etc/hosts").steps)


def test_addresses_are_built_without_a_version_flag() -> None:
    """3.2.2."""
    assert str(URI.build(scheme="x", host=IPv6Address("::1"))) == "x://[::1]"
    assert str(URI.build(scheme="x", host=IPv4Address("1.2.3.4"))) == "x://1.2.3.4"


def test_the_pieces_of_an_ipv6_address() -> None:
    """3.2.2: eight, most significant first; zeros may be omitted, the last two may be an IPv4 address."""
    address = IPv6Address(int("00010002000300040005000601020304", 16))
    for text in ("1:2:3:4:5:6:102:304", "0001:2:3:4:5:6:0102:0304", "1:2:3:4:5:6:1.2.3.4"):
        assert URI(f"x://[{text}]").ip == address
    for text in ("1::8", "1:0::8", "1:0:0:0:0:0:0:8", "1:0:0::0:8", "1::0.0.0.8"):
        assert URI(f"x://[{text}]").ip == IPv6Address("1::8")
    for text in ("1::8::", "1:2:3:4:5:6:7", "::1.2.3", ":1::", "1:2:3:4:5:6:7:8::"):
        assert check(f"x://[{text}]"), text


def test_decimal_octets() -> None:
    """3.2.2: 0 to 255, no more, and none with a leading zero."""
    accepted = {text for n in range(1000) for text in {str(n), f"{n:02}", f"{n:03}"} if accepts("dec-octet", text)}
    assert accepted == {str(n) for n in range(256)}


def test_names_that_are_invalid_in_the_dns_are_valid() -> None:
    """3.2.2: reg-name is not restricted to what DNS can hold."""
    for name in ("a_b", "-a-", "a..b", "a" * 300, ".", "%00", "!$&'()*+,;=", "1.2.3"):
        assert check(f"x://{name}/") == []
        assert URI(f"x://{name}/").host_kind == "reg-name"


def test_http_needs_a_host() -> None:
    """3.2.2, 6.2.3: without one a URI is invalid for http, and means this machine for file."""
    for text in ("http:/a", "http:a", "http:///a", "http://:80/"):
        assert check(text) == []
        assert scheme("http").check(text)
        with pytest.raises(OverthereError):
            plan(text)
    for text in ("file:///a", "file:/a", "file://localhost/a"):
        assert scheme("file").check(text) == []
        assert [type(step).__name__ for step in plan(text).steps] == ["Place"]


def test_escaped_hosts_are_utf_8() -> None:
    """3.2.2: a host with other escaped bytes is not opened."""
    assert str(URI.build(scheme="x", host="ü".encode())) == "x://%C3%BC"
    with pytest.raises(OverthereError):
        overthere.open("http://%FF.example/")


def test_hosts_can_be_written_in_the_idna_form() -> None:
    """3.2.2: for older resolvers."""
    from overthere import IRI

    assert str(IRI("http://résumé.example.org/").to_uri(idna=True)) == "http://xn--rsum-bpad.example.org/"


def test_default_ports() -> None:
    """3.2.3: a scheme may define one; that of http is 80."""
    assert {name: scheme(name).port for name in ("http", "https", "ftp", "ldap", "urn", "mailto")} == {
        "http": 80, "https": 443, "ftp": 21, "ldap": 389, "urn": None, "mailto": None,
    }  # fmt: skip


def test_delimiters_within_a_segment_are_unchanged() -> None:
    """2.2, 3.3: escaped ";" and "=" differ from unescaped ones."""
    for bare, escaped in (("name;v=1.1", "name%3Bv%3D1.1"), ("name,1.1", "name%2C1.1")):
        assert URI(f"x:/{bare}").segments == (bare,)
        assert lowest_rung(URI(f"x:/{bare}"), URI(f"x:/{escaped}")) is None


def test_slashes_in_the_query_of_the_base_are_not_path() -> None:
    """3.4, 3.5, 5.2.4: data of the base's query and fragment are no path."""
    for base in (
        "http://a/b/c?d/e",
        "http://a/b/c?../d/./e",
        "http://a/b/c?d?e/",
        "http://a/b/c?/x",
        "http://a/b/c#d/e?f/",
    ):
        assert str(URI(base).join("g")) == "http://a/b/g"
        assert str(URI(base).join("../g")) == "http://a/g"


def test_a_fragment_is_independent_of_the_scheme() -> None:
    """3.5, 4.3: every scheme may be followed by one, and none normalizes it."""
    for name in BUILT_IN:
        text = f"{name}:" + ("a" if name in ("urn", "mailto", "tel") else "//h/a") + "#%41/Ü".replace("Ü", "%c3%9c")
        value = URI(text)
        assert value.fragment == "%41/%c3%9c"
        assert value.normalize(Rung.SCHEME).decoded("fragment") == "A/Ü"


def test_a_fragment_is_never_sent() -> None:
    """3.5: it is removed before dereferencing, for each scheme with a protocol."""
    for text in (
        "http://h/a",
        "ftp://h/a",
        "gopher://h/0a",
        "ldap://h/o=x",
        "nntp://h/g/1",
        "wais://h/d?q",
        "prospero://h/a",
    ):
        with_fragment = [step.data for step in plan(text + "#secret").steps if isinstance(step, Send)]
        assert with_fragment == [step.data for step in plan(text).steps if isinstance(step, Send)]
        assert with_fragment
        assert not any(b"secret" in data for data in with_fragment)
