"""Statements of RFC 3986, sections 1 to 3, that no row of the case files shows, each read from its paragraph."""

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


def test_reading_asks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_octets_of_transport_do_not_matter() -> None:
    """1.2.1, 2, 6.2.1: characters are compared, whatever octets have carried them."""
    text = "http://h/a?b#c"
    carried = [text.encode(name).decode(name) for name in ("ascii", "utf-16", "utf-32", "cp037")]
    assert len({URI(one) for one in carried}) == 1
    assert lowest_rung(URI(carried[1]), URI(carried[3])) is Rung.STRING
    with pytest.raises(TypeError):
        URI(text.encode("cp037"))  # type: ignore[arg-type]


def test_a_locator_or_a_name() -> None:
    """1.1.3: a locator says how its resource is accessed, a name need not."""
    assert plan("http://h/").steps
    assert plan("urn:example:a").steps == ()


def test_a_tree_under_three_schemes() -> None:
    """1.2.3: documents that refer to each other relatively can be reached by three schemes, and moved as a whole."""
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


def test_no_relative_reference_between_opaque_ones() -> None:
    """1.2.3: where nothing is hierarchical, the shortest reference is the URI itself."""
    base, target = URI("mailto:a@b.example"), URI("tel:+1-201-555-0123")
    assert base.relate(target) == target


# -- 2, characters


def test_the_space() -> None:
    """2.1: %20 is the octet 00100000, the space of US-ASCII."""
    assert decode_bytes("%20") == bytes([0b00100000]) == b" "
    assert encode(" ") == "%20"


def test_escapes_are_made_in_upper_case() -> None:
    """2.1: producers use upper case digits."""
    for octet in range(256):
        assert encode(bytes([octet]), "segment", keep="") in (chr(octet), f"%{octet:02X}")


@pytest.mark.parametrize("component", ["userinfo", "segment", "query", "fragment"])
def test_reserved_data_can_be_escaped(component: str) -> None:
    """2.2: data octets of the reserved set are escaped; what stands as data is named (`keep`)."""
    for char in RESERVED:
        assert encode(char, component, keep="") == f"%{ord(char):02X}"
        assert decode(encode(char, component, keep="")) == char
    assert encode("a,b", component, keep=",") == "a,b"


def test_a_reserved_character_without_a_role() -> None:
    """2.2: it stands for its octet in US-ASCII."""
    for char in "!$&'()*+,;=":
        assert decode_bytes(char) == char.encode("ascii")
        assert URI(f"x:{char}").decoded_bytes("path") == char.encode("ascii")


def test_the_unreserved_are_these() -> None:
    """2.3: letters, digits, hyphen, period, underscore and tilde, and no other character."""
    assert {chr(n) for n in range(0x250) if accepts("unreserved", chr(n))} == set(UNRESERVED)


@pytest.mark.parametrize("component", ["userinfo", "reg-name", "path", "segment", "query", "fragment"])
def test_the_unreserved_are_never_escaped(component: str) -> None:
    """2.3: producers create no escape of them."""
    assert encode(UNRESERVED, component) == UNRESERVED
    assert encode(UNRESERVED, component, keep="") == UNRESERVED


def test_exactly_the_unreserved_are_decoded() -> None:
    """2.3, 6.2.2.2: of all 256 escapes, in either case of their digits, and in every component that takes them."""
    for octet, digits in product(range(256), ("%02X", "%02x")):
        escape, char = "%" + digits % octet, chr(octet)
        left = char if char in UNRESERVED else f"%{octet:02X}"
        normal = URI(f"x://u{escape}@h/p{escape}?q{escape}#f{escape}").normalize()
        assert str(normal) == f"x://u{left}@h/p{left}?q{left}#f{left}"


def test_parted_before_decoded() -> None:
    """2.4: what was escaped never delimits, however the components are decoded."""
    value = URI("x://a%40b%3Ac@h/d%2Fe%3Ff/g%23?h%26i=j%23k#l%23m")
    assert (value.decoded("userinfo"), value.decoded("fragment")) == ("a@b:c", "l#m")
    assert [decode(segment) for segment in value.segments] == ["d/e?f", "g#"]
    assert value.query == "h%26i=j%23k"


def test_the_percent_sign() -> None:
    """2.4: as data it is %25."""
    assert encode("100%") == "100%25"
    assert decode("100%25") == "100%"
    assert check("x:100%")


def test_decoded_once() -> None:
    """2.4: neither encoding nor decoding is repeated within one call."""
    assert decode("%2541") == "%41"
    assert encode("%41") == "%2541"
    assert str(URI("x:%2541").normalize(Rung.SCHEME)) == "x:%2541"


def test_a_letter_is_its_octet() -> None:
    """2.5: X is 01011000, and so for every unreserved character."""
    assert decode_bytes("X") == bytes([0b01011000])
    assert all(decode_bytes(char) == char.encode("ascii") for char in UNRESERVED)


def test_laguna_beach() -> None:
    """2.5: the name of an EBCDIC system is transcoded first; its raw octets would be unreadable."""
    name = "Laguna Beach"
    stored = name.encode("cp037")
    assert encode(stored.decode("cp037")) == "Laguna%20Beach"
    assert encode(stored) == "%D3%81%87%A4%95%81@%C2%85%81%83%88".replace("@", encode("@"))
    assert decode("Laguna%20Beach").encode("cp037") == stored


def test_text_of_the_universal_set() -> None:
    """2.5: UTF-8, and an escape for each octet that is no unreserved character."""
    assert encode("AÀア") == "A%C3%80%E3%82%A2"
    assert encode("A") == "A"
    assert decode("%E3%82%A2") == "\N{KATAKANA LETTER A}"


# -- 3, components


def test_one_path_rule_matches() -> None:
    """3, 3.3: whatever a reference is, just one of the five rules for its path matches in its place."""
    paths = ["", "/", "//", "/a", "//a", "a", "a:b", "a/b:c", "./a:b", ":", "/:", "a//"]
    for start, path in product(("", "x:", "//h", "x://h"), paths):
        rules = ["path-abempty"] if "//" in start else ["path-absolute", "path-empty"]
        if "//" not in start:
            rules.append("path-rootless" if start else "path-noscheme")
        matching = [rule for rule in rules if accepts(rule, path)]
        assert len(matching) <= 1
        valid = accepts("URI" if start.startswith("x") else "relative-ref", start + path)
        # "//a" without an authority is one, and a path behind an authority begins with a slash.
        if matching:
            assert valid
            assert URIReference(start + path).path == path


def test_a_built_scheme_is_as_given() -> None:
    """3.1: the normal form has lower case; what a caller writes out himself stays his text."""
    assert str(URI("HTTP://h/").normalize(Rung.CASE)) == "http://h/"
    assert URI("HTTP://h/").scheme == "HTTP"
    assert scheme("HTTP").name == "http"


@pytest.mark.parametrize("name", BUILT_IN)
def test_schemes_are_within_absolute_uri(name: str) -> None:
    """3.1, 4.3: what a scheme's own rules take, with a fragment cut off, matches absolute-URI."""
    valid = [row["text"] for row in cases(f"schemes/{name}") if row.get("valid") and "edition" not in row]
    valid = [text for text in valid if not check(text)]
    assert valid or name in ("nfs", "mailserver", "z39.50"), "only reserved names have no rules today"
    for text in valid:
        assert accepts("absolute-URI", text.partition("#")[0]), text


def test_what_a_scheme_forbids_is_no_plan() -> None:
    """3.1, 3.2: a URI that breaks its scheme's rules is reported, and no part of it is passed over."""
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


def test_split_validates_nothing() -> None:
    """3.2, 4.1: the five components of any text; the authority is not looked into."""
    assert split("http://u@v:x:[/p?q#f") == ("http", "u@v:x:[", "/p", "q", "f")
    assert split("1x://[/{}?<>#\\") == ("1x", "[", "/{}", "<>", "\\")


def test_userinfo_is_drawn_apart() -> None:
    """3.2.1, 7.6: what is shown to people names userinfo and host, each in its line."""
    drawn = str(explain("ftp://cnn.example.com&story=breaking_news@10.0.0.1/top_story.htm"))
    assert re.search(r"userinfo +\S+ +cnn\.example\.com&story=breaking_news$", drawn, re.MULTILINE)
    assert re.search(r"host +\S+ +10\.0\.0\.1 +\(IPv4address\)$", drawn, re.MULTILINE)


def test_a_host_need_not_be_contacted() -> None:
    """3.2.2: a host in a URI says nothing of the network: a name in a table, or none of anybody's."""
    assert URI("x-tree://roots.of.oaks/leaf").host == "roots.of.oaks"
    assert not any(isinstance(step, Connect) for step in plan("file:///etc/hosts").steps)


def test_addresses_are_built_without_a_flag() -> None:
    """3.2.2: the version flag is never given to addresses of today."""
    assert str(URI.build(scheme="x", host=IPv6Address("::1"))) == "x://[::1]"
    assert str(URI.build(scheme="x", host=IPv4Address("1.2.3.4"))) == "x://1.2.3.4"


def test_pieces_in_their_order() -> None:
    """3.2.2: most significant first, eight of them, a run of zeros left out, the last two as an IPv4 address."""
    whole = IPv6Address(int("00010002000300040005000601020304", 16))
    for text in ("1:2:3:4:5:6:102:304", "0001:2:3:4:5:6:0102:0304", "1:2:3:4:5:6:1.2.3.4"):
        assert URI(f"x://[{text}]").ip == whole
    for text in ("1::8", "1:0::8", "1:0:0:0:0:0:0:8", "1:0:0::0:8", "1::0.0.0.8"):
        assert URI(f"x://[{text}]").ip == IPv6Address("1::8")
    for text in ("1::8::", "1:2:3:4:5:6:7", "::1.2.3", ":1::", "1:2:3:4:5:6:7:8::"):
        assert check(f"x://[{text}]"), text


def test_decimal_octets() -> None:
    """3.2.2: 0 to 255, no more, and none with a leading zero."""
    taken = {text for n in range(1000) for text in {str(n), f"{n:02}", f"{n:03}"} if accepts("dec-octet", text)}
    assert taken == {str(n) for n in range(256)}


def test_names_outside_of_the_dns_are_valid() -> None:
    """3.2.2: reg-name is not restricted to what DNS can hold."""
    for name in ("a_b", "-a-", "a..b", "a" * 300, ".", "%00", "!$&'()*+,;=", "1.2.3"):
        assert check(f"x://{name}/") == []
        assert URI(f"x://{name}/").host_kind == "reg-name"


def test_http_needs_a_host() -> None:
    """3.2.2, 6.2.3: a missing authority and an empty host are invalid for http, and are this machine for file."""
    for text in ("http:/a", "http:a", "http:///a", "http://:80/"):
        assert check(text) == []
        assert scheme("http").check(text)
        with pytest.raises(OverthereError):
            plan(text)
    for text in ("file:///a", "file:/a", "file://localhost/a"):
        assert scheme("file").check(text) == []
        assert [type(step).__name__ for step in plan(text).steps] == ["Place"]


def test_escaped_hosts_are_utf_8() -> None:
    """3.2.2: escapes in a host stand for UTF-8; one of other octets leads to nobody."""
    assert str(URI.build(scheme="x", host="ü".encode())) == "x://%C3%BC"
    with pytest.raises(OverthereError):
        overthere.open("http://%FF.example/")


def test_hosts_in_the_idna_form() -> None:
    """3.2.2: the IDNA form, for older resolvers, is written on request."""
    from overthere import IRI

    assert str(IRI("http://résumé.example.org/").to_uri(idna=True)) == "http://xn--rsum-bpad.example.org/"


def test_default_ports() -> None:
    """3.2.3: a scheme may define one; that of http is 80."""
    assert {name: scheme(name).port for name in ("http", "https", "ftp", "ldap", "urn", "mailto")} == {
        "http": 80, "https": 443, "ftp": 21, "ldap": 389, "urn": None, "mailto": None,
    }  # fmt: skip


def test_subcomponents_of_a_segment() -> None:
    """2.2, 3.3: what parts a segment further stays as it is: escaped ";" and "=" are other data than bare ones."""
    for bare, escaped in (("name;v=1.1", "name%3Bv%3D1.1"), ("name,1.1", "name%2C1.1")):
        assert URI(f"x:/{bare}").segments == (bare,)
        assert lowest_rung(URI(f"x:/{bare}"), URI(f"x:/{escaped}")) is None


def test_slashes_in_the_base_query() -> None:
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


def test_a_fragment_is_no_matter_of_the_scheme() -> None:
    """3.5, 4.3: the generic syntax takes a fragment behind any scheme, and no scheme normalises it."""
    for name in BUILT_IN:
        text = f"{name}:" + ("a" if name in ("urn", "mailto", "tel") else "//h/a") + "#%41/Ü".replace("Ü", "%c3%9c")
        value = URI(text)
        assert value.fragment == "%41/%c3%9c"
        assert value.normalize(Rung.SCHEME).decoded("fragment") == "A/Ü"


def test_a_fragment_is_never_sent() -> None:
    """3.5: it is cut off before the dereference, for each scheme that contacts somebody."""
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
