"""draft-fielding-uri-rfc2396bis-01 as an edition: the rows of cases/uri2003.toml, and its sections."""

from __future__ import annotations

import re
from typing import Any

import pytest

from overthere import CodingError, InvalidURI, NoBase, Rung
from overthere.editions.uri2003 import EDITION, host_kind, opaque_part
from overthere.grammar.library import grammar
from support import ROOT, cases, ids

Row = dict[str, Any]
ROWS = cases("uri2003")


def rows(key: str) -> pytest.MarkDecorator:
    chosen = [row for row in ROWS if row["what"] == key]
    return pytest.mark.parametrize("row", chosen, ids=ids(chosen))


@rows("valid")
def test_valid(row: Row) -> None:
    rule = row.get("rule")
    assert EDITION.is_valid(row["text"], rule) == row["is"]
    assert (EDITION.check(row["text"], rule) == []) == row["is"]


@rows("split")
def test_split(row: Row) -> None:
    """Appendix B."""
    assert {k: v for k, v in EDITION.split(row["text"])._asdict().items() if v is not None} == row["is"]


@rows("locator")
def test_locator(row: Row) -> None:
    parts = EDITION.parts(row["text"])
    assert {k: v for k, v in parts.items() if v is not None} == row["is"]
    assert [k for k in parts if k in row["is"]] == list(row["is"])
    assert EDITION.host_of(row["text"]) == row.get("host_of")


@rows("host")
def test_host_kind(row: Row) -> None:
    assert host_kind(row["text"]) == row["is"]


@rows("normal")
def test_normal_form(row: Row) -> None:
    for rung, form in row["is"].items():
        assert EDITION.normalize(row["text"], Rung[rung]) == form
        assert EDITION.normalize(form, Rung[rung]) == form
        assert EDITION.is_valid(form, "URI-reference")


@rows("rung")
def test_the_lowest_rung(row: Row) -> None:
    """6.2: the lowest rung at which two URIs have equal normal forms."""
    met = [r.name for r in Rung if EDITION.normalize(row["a"], r) == EDITION.normalize(row["b"], r)]
    assert (met[0] if met else "none") == row["is"]


@rows("resolve")
def test_resolve(row: Row) -> None:
    """5.2, Appendix C; "validating" is what the pseudocode calls strict."""
    target = EDITION.resolve(row["base"], row["reference"], row.get("validating", True))
    document, _, fragment = row["is"].partition("#")
    assert target.fragment == (fragment or None)
    if document == "(current document)":
        assert (target.uri, target.same_document) == (None, True)
    else:
        assert target.uri is not None
        assert target.uri in (row["is"], document)
        assert not target.same_document


@rows("code")
def test_encode_and_decode(row: Row) -> None:
    assert EDITION.encode(row["data"], row["component"]) == row["text"]
    assert EDITION.decode(row["text"]) == row["data"]


@rows("decode")
def test_decode(row: Row) -> None:
    assert EDITION.decode(row["text"]) == row["is"]


def test_every_row_is_tested() -> None:
    keys = {"valid", "split", "locator", "host", "normal", "rung", "resolve", "code", "decode"}
    assert {row["what"] for row in ROWS} == keys


# -- the grammar


PRINTED = """uric reserved unreserved mark escaped excluded delims unwise absolute-URI hier-part net-path abs-path
opaque-part uric-no-slash scheme authority reg-name server userinfo hostport host port hostname qualified domainlabel
toplabel alphanum IPv4address dec-octet IPv6reference IPv6address ls32 h4 path path-segments segment pchar query
URI-reference absolute-URI-reference fragment relative-URI rel-path rel-segment"""


def test_rule_names_are_the_documents() -> None:
    """03-16: Appendix A is empty, the rules are those of the text; `excluded` alone has no rule there (2.4.3)."""
    assert [rule.name for rule in EDITION.grammar.rules.values()] == PRINTED.split()


def test_rules_agree_with_the_authors_source() -> None:
    """If it is available next to the project."""
    source = ROOT.parent / "shared" / "rfc" / "drafts" / "draft-fielding-uri-rfc2396bis-01.xml"
    if not source.exists():
        pytest.skip("../shared/rfc is absent")
    text = source.read_text("latin-1")
    for entity, char in (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
        text = text.replace(entity, char)
    artwork = "\n\n".join(re.findall(r"(?s)<artwork>(.*?)</artwork>", text))
    printed: dict[str, str] = {}  # the first one: Appendix B has lines such as "scheme = $2"
    for name, body in re.findall(r"(?m)^   ([A-Za-z][\w-]*) +=[ \n]+(\S.*(?:\n {8,}.*)*)$", artwork):
        printed.setdefault(name, body)
    for rule in EDITION.grammar.rules.values():
        if rule.name != "excluded":
            body = re.sub(r" ; .*", "", printed[rule.name]).replace("alphanum | ", "alphanum / ")
            assert " ".join(rule.text.split()) == " ".join(body.split())


def test_tables_are_fresh() -> None:
    from overthere.grammar import Grammar

    plain = Grammar(EDITION.grammar.text)
    for name in ("authority", "server", "absolute-URI", "rel-path"):
        assert plain.automaton(name) == grammar("uri2003").automaton(name)


def test_character_classes() -> None:
    """2.2 to 2.4.3: a US-ASCII character is either reserved, unreserved or excluded."""
    classes = EDITION.classes
    groups = [classes["reserved"], classes["unreserved"], classes["excluded"]]
    assert sorted(c for group in groups for c in group) == [chr(b) for b in range(128)]
    assert classes["uric"] == classes["reserved"] | classes["unreserved"]
    assert classes["uric-no-slash"] == classes["uric"] - {"/"}
    assert classes["pchar"] == classes["uric"] - set("/?[]")
    assert classes["unwise"] | classes["delims"] < classes["excluded"]


def test_an_authority_takes_precedence() -> None:
    """4.3: net-path and an abs-path with "//" derive the same texts, except for brackets in the host."""
    g = EDITION.grammar
    net, path = g.automaton("net-path"), g.automaton("abs-path")
    alone = net.difference(path)
    assert all("[" in text for text in alone.sample(50, seed=3, length=30))
    for text in path.sample(200, seed=3, length=12):
        assert net.accepts(text) == text.startswith("//")
    assert EDITION.split("x:////a") == ("x", "", "//a", None, None)


def test_ipv4_addresses_are_valid_hostnames() -> None:
    """03-2: the grammar derives both."""
    g = EDITION.grammar
    assert g.automaton("IPv4address").difference(g.automaton("hostname")).empty
    assert g.automaton("hostname").difference(g.automaton("reg-name")).empty


# -- parsing


@pytest.mark.parametrize("text", ["", "//h/p", "a/b", "?q", "#f", ":a"])
def test_locator_needs_a_scheme(text: str) -> None:
    with pytest.raises(InvalidURI) as caught:
        EDITION.parts(text)
    assert caught.value.rule == "absolute-URI"


@pytest.mark.parametrize("text", ["http://a b/|", "x:\x00", "x:?|", "x://[", "1a://h:8o?#", "x:a#b#c", "é://é/é"])
def test_any_text_with_a_scheme_can_be_split(text: str) -> None:
    """Even if the grammar does not derive it; nothing is lost."""
    assert EDITION.check(text)
    parts = EDITION.parts(text)
    scheme, _, hierarchy = text.partition(":")
    assert parts["scheme"] == scheme
    characters = (parts.get("authority") or "") + (parts.get("path") or parts.get("opaque-part") or "")
    assert hierarchy.partition("#")[0].removeprefix("//").partition("?" if "query" in parts else "#")[0] == characters
    assert opaque_part(text) == parts.get("opaque-part")


def test_a_reg_name_is_not_split() -> None:
    """03-4, 7.5: an authority that is not a server has no host, whatever it looks like."""
    for authority in ("www.example.com@evil_host", "a@b@10.0.0.1", "h:80:80", "[::1", "h:port"):
        assert EDITION.host_of(f"http://{authority}/") is None
        assert EDITION.parts(f"http://{authority}/")["reg-name"] == authority


# -- normal forms


def test_only_unreserved_characters_are_decoded() -> None:
    """2.3 (03-1): letters, digits, "_" and "~"; no other byte."""
    for octet in range(256):
        for escape in (f"%{octet:02X}", f"%{octet:02x}"):
            char = chr(octet)
            form = EDITION.normalize(f"x:/{escape}", Rung.PERCENT)
            is_kept = octet > 127 or not (char.isalnum() or char in "_~")
            assert form == (f"x:/%{octet:02X}" if is_kept else f"x:/{char}")
    assert EDITION.normalize("x:/%2541", Rung.PROTOCOL) == "x:/%2541"  # 2.4.2: not twice


def test_normal_forms_are_valid_and_idempotent() -> None:
    """6.2: also at every rung below."""
    for text in EDITION.grammar.automaton("URI-reference").sample(400, seed=6, length=40):
        for rung in Rung:
            form = EDITION.normalize(text, rung)
            assert EDITION.is_valid(form, "URI-reference"), text
            assert all(EDITION.normalize(form, below) == form for below in Rung if below <= rung), text


@pytest.mark.parametrize("text", ["http://h/[", "a b", "x:%4", "this|that"])
def test_only_references_have_a_normal_form(text: str) -> None:
    with pytest.raises(InvalidURI):
        EDITION.normalize(text)


# -- data


UNESCAPED = {
    "userinfo": "&=+$,",
    "reg-name": "&=+$,",
    "path": "/:@&+$,",
    "segment": ":@&+$,",
    "rel-segment": "@&+$,",
    "query": "",
    "fragment": ";/?:@&=+$,",
    "opaque-part": "",
}
"""Reserved characters that are data in a component: they delimit nothing there."""


def test_encode_escapes_the_reserved_characters_of_a_component() -> None:
    """2.2, 2.4.2: every byte is decoded to the original, and is valid in its component."""
    octets = bytes(range(256))
    rules = {"path": "abs-path", "pchar": "segment", "unreserved": "segment"}
    for component in ("userinfo", "reg-name", "path", "segment", "rel-segment", "query", "fragment", "opaque-part"):
        text = EDITION.encode(octets, component)
        prefix = "/" if component == "path" else ""
        assert EDITION.is_valid(prefix + text, rules.get(component, component))
        assert EDITION.encode("aZ09-_.!~*'()", component) == "aZ09-_.!~*'()"
        unescaped = "".join(char for char in ";/?:@&=+$," if char in EDITION.encode(";/?:@&=+$,", component))
        assert unescaped == UNESCAPED[component]
    with pytest.raises(CodingError, match="cannot hold data"):
        EDITION.encode("a", "port")
    with pytest.raises(CodingError, match="D800"):
        EDITION.encode("\ud800", "segment")
    with pytest.raises(TypeError):
        EDITION.encode(7, "segment")  # type: ignore[arg-type]


def test_the_default_charset_is_utf_8() -> None:
    """2.1: none is specified; 6.3: UTF-8 whenever possible."""
    assert EDITION.charset == "undefined"
    assert EDITION.encode("é") == "%C3%A9"
    with pytest.raises(CodingError):
        EDITION.decode("%E9")


def test_resolve_needs_a_base() -> None:
    """5.2: "only the scheme component is required to be present in the base URI"."""
    with pytest.raises((NoBase, InvalidURI)):
        EDITION.resolve("a/b", "g")
    assert EDITION.empty_reference == "the current document"
    assert EDITION.ports == {"http": 80}
