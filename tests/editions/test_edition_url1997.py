"""draft-fielding-url-syntax-05: its printed examples, its grammar compared with the print, and decisions."""

from __future__ import annotations

import re
from typing import Any

import pytest

from overthere import CodingError, InvalidURI, Rung
from overthere.editions.context1997 import base_url, delimited, read_typed
from overthere.editions.url1997 import EDITION, split
from overthere.grammar import Grammar
from overthere.grammar.library import grammar
from support import ROOT, cases

DRAFT = ROOT.parent / "shared" / "rfc" / "drafts" / "draft-fielding-url-syntax-05.txt"
GRAMMAR = ROOT / "src" / "overthere" / "editions" / "url1997.abnf"

Row = dict[str, Any]


def rows(*ops: str) -> list[Any]:
    return [pytest.param(row, id=row["id"]) for row in cases("url1997") if row["op"] in ops]


def test_every_row_is_tested() -> None:
    ops = {"valid", "split", "locator", "normalize", "equal", "encode", "decode", "base", "extract", "resolve"}
    assert {row["op"] for row in cases("url1997")} == ops


@pytest.mark.parametrize("row", rows("valid"))
def test_valid(row: Row) -> None:
    assert EDITION.is_valid(row["text"], row["rule"]) is row["is"]
    assert (EDITION.check(row["text"], row["rule"]) == []) is row["is"]
    if row["is"] and row["rule"] == "URL-reference":
        # Derived texts have the components that the grammar's rules give.
        parts = EDITION.split(row["text"])
        if parts.authority is not None:
            assert EDITION.is_valid(parts.authority, "site")
        assert EDITION.is_valid(parts.path, "path")


@pytest.mark.parametrize("row", rows("split"))
def test_split(row: Row) -> None:
    assert {k: v for k, v in EDITION.split(row["text"])._asdict().items() if v is not None} == row["is"]


@pytest.mark.parametrize("row", rows("locator"))
def test_locator(row: Row) -> None:
    parts = EDITION.parts(row["text"])
    assert {k: v for k, v in parts.items() if v is not None} == row["is"]
    assert [k for k in parts if k in row["is"]] == list(row["is"])  # in order of the text
    assert EDITION.host_of(row["text"]) == (parts["host"] or None)


@pytest.mark.parametrize("row", rows("normalize"))
def test_normalize(row: Row) -> None:
    form = EDITION.normalize(row["text"], Rung[row["rung"]])
    assert form == row["is"]
    assert EDITION.normalize(form, Rung[row["rung"]]) == form
    assert EDITION.normalize(row["text"], Rung.STRING) == row["text"]


@pytest.mark.parametrize("row", rows("equal"))
def test_equal(row: Row) -> None:
    rung = Rung[row["rung"]]
    assert EDITION.normalize(row["text"], rung) == EDITION.normalize(row["other"], rung)
    below = Rung(rung - 1)
    assert EDITION.normalize(row["text"], below) != EDITION.normalize(row["other"], below)


@pytest.mark.parametrize("row", rows("encode"))
def test_encode(row: Row) -> None:
    assert EDITION.encode(row["text"], row["component"]) == row["is"]
    assert EDITION.decode(row["is"]) == row["text"]


@pytest.mark.parametrize("row", rows("decode"))
def test_decode(row: Row) -> None:
    assert EDITION.decode(row["text"]) == row["is"]


@pytest.mark.parametrize("row", rows("extract"))
def test_extract(row: Row) -> None:
    matches = list(delimited(row["text"]))
    assert [d.url for d in matches] == row["is"]
    assert [d.without_hyphens for d in matches if d.without_hyphens] == row.get("without_hyphens", [])
    for d in matches:
        assert EDITION.is_valid(d.url, "URL-reference")
        assert re.sub(r"\s|^URL:", "", row["text"][d.start : d.end]) == d.url


@pytest.mark.parametrize("row", rows("base"))
def test_base(row: Row) -> None:
    headers = [(h.partition(":")[0], h.partition(":")[2]) for h in row.get("headers", [])]
    base = base_url(row.get("embedded"), headers, row.get("entity"), row.get("retrieval"))
    assert base == (row["is"], row["layer"])


@pytest.mark.parametrize("row", rows("resolve"))
def test_resolve(row: Row) -> None:
    target = EDITION.resolve(row["base"], row["text"])
    expected = None if row["is"] == "current" else row["is"]
    assert (target.uri, target.same_document) == (expected, expected is None)
    fragment = row["text"].partition("#")
    assert target.fragment == (fragment[2] if fragment[1] else None)


# -- the grammar compared with the print


def printed(start: str, end: str, pattern: str) -> dict[str, str]:
    """The rules between two lines of the draft: name -> text on one line."""
    if not DRAFT.exists():
        pytest.skip("../shared/rfc is absent")
    body = DRAFT.read_text("latin-1").rsplit(f"\n{start}", 1)[1].split(f"\n{end}", 1)[0]
    rules: dict[str, str] = {}
    name = ""
    for line in body.split("\n"):
        if head := re.match(pattern, line):
            name = head[1]
            rules[name] = head[2]
        elif line.startswith("         ") and name:
            rules[name] += " " + line
        elif line.strip():
            name = ""
    return {n: " ".join(t.split()) for n, t in rules.items()}


def as_abnf(name: str, text: str) -> str:
    """Convert the draft's notation to RFC 5234, by the three changes listed in the file's header."""
    text = re.sub(r"(?<!\")\|(?!\")", "/", text)
    text = re.sub(r"\b(net|abs|rel)_path\b|\bpath_segments\b", lambda m: m[0].replace("_", "-"), text)
    return re.sub(r'"([A-Za-z])"', r'%s"\1"', text)


def test_the_grammar_is_as_printed() -> None:
    """Appendix A, rule by rule in order; three rules differ (decisions 97-6, 97-19)."""
    printed_rules = printed("A. Collected BNF", "B. Parsing", r"      ([A-Za-z_-]+) *=(.*)")
    printed_rules = {n.replace("_", "-"): as_abnf(n, t) for n, t in printed_rules.items()}
    rules = {r.name: r.text for r in grammar("url1997").rules.values()}
    assert list(rules)[: len(printed_rules)] == list(printed_rules)
    assert {n for n in printed_rules if printed_rules[n] != rules[n]} == {"URL-reference", "opaque-URL", "relativeURL"}
    letter = printed("A. Collected BNF", "B. Parsing", r"      ([A-Za-z_-]+) *=(.*)")
    text = GRAMMAR.read_text()
    for changed in ("URL-reference", "opaque-URL", "relativeURL"):
        assert f"; Printed: {changed} = {letter[changed]}." in text


def test_excluded_characters() -> None:
    """2.4.3: exactly those in no class of Appendix A."""
    classes = EDITION.classes
    excluded = classes["control"] | classes["space"] | classes["delims"] | classes["unwise"]
    assert excluded | classes["urlc"] == {chr(i) for i in range(128)}
    assert not excluded & classes["urlc"]
    assert classes["delims"] == set('<>#%"')
    assert classes["unwise"] == set("{}|\\^[]`")
    assert classes["reserved"] == set(";/?:@&=+")
    assert classes["mark"] == set("$-_.!~*'(),")
    assert classes["unreserved"] == classes["alphanum"] | classes["mark"]
    assert classes["urlc"] == classes["reserved"] | classes["unreserved"]
    assert classes["pchar"] == classes["unreserved"] | set(":@&=+")


def test_greedy_rules_exclude_only_double_slashes_and_schemes() -> None:
    """4.4, decision 97-19: a text of the printed rules is rejected only because of its site, or as a path with a
    scheme."""
    g = grammar("url1997")
    assert g.automaton("URL-reference").difference(g.automaton("printed-URL-reference")).witness() is None
    site = Grammar(
        GRAMMAR.read_text() + '\nwith-slashes = [ scheme ":" ] "//" *( urlc / "#" ) [ "#" fragment ]\n'
    ).automaton("with-slashes")
    lost = g.automaton("printed-URL-reference").difference(g.automaton("URL-reference"))
    assert lost.difference(site).witness() is None
    assert lost.witness() is not None


def test_generic_urls_include_opaque_ones() -> None:
    """4.4: no opaque URL remains (decision 97-19)."""
    g = grammar("url1997")
    assert g.automaton("absoluteURL").difference(g.automaton("generic-URL")).witness() is None


# -- parsing


@pytest.mark.parametrize("text", ["", "//h/p", "x_y:z", "/p", ":x"])
def test_a_locator_needs_a_scheme(text: str) -> None:
    """4.1."""
    with pytest.raises(InvalidURI) as caught:
        EDITION.parts(text)
    assert (caught.value.kind, caught.value.rule) == ("scheme-missing", "absoluteURL")


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("ftp://u?x@h/", "u"),
        ("file:///p", None),
        ("//h", "h"),
        ("mailto:a@b", None),
        ("http://u:p@H:8/", "H"),
        ("x_y://h/", None),
        ("http://h?q", "h"),
    ],
)
def test_host(text: str, host: str | None) -> None:
    """4.3.1, Appendix B: the site ends at "/", "?" or "#" (decision 97-3)."""
    assert EDITION.host_of(text) == host


@pytest.mark.parametrize("text", ["a b", "http://a_b/", "http://h/\xfc", "%zz", "a#b#c"])
def test_invalid_texts_have_no_normal_form(text: str) -> None:
    with pytest.raises(InvalidURI):
        EDITION.normalize(text)


def test_a_relative_reference_stays_relative() -> None:
    """Decision 97-21: the components of a reference are those of its normal form."""
    for text in grammar("url1997").automaton("URL-reference").sample(500, seed=97, length=14):
        before, after = split(text), split(EDITION.normalize(text, Rung.SCHEME))
        assert [part is None for part in before] == [part is None for part in after], text


# -- charset


@pytest.mark.parametrize("text", ["%E9", "%C3%A9", "\xe9", "%", "%4", "%zz"])
def test_undefined_characters(text: str) -> None:
    """2.1: US-ASCII has a mapping, the rest is "outside of the scope"."""
    with pytest.raises(CodingError, match="draft-fielding-url-syntax-05"):
        EDITION.decode(text)


def test_non_ascii_bytes_are_data_but_text_is_not() -> None:
    """2.4."""
    assert EDITION.encode(b"\xe9\x00a") == "%E9%00a"
    with pytest.raises(CodingError, match=r"U\+00E9 at 1"):
        EDITION.encode("a\xe9")
    with pytest.raises(CodingError, match="cannot hold data"):
        EDITION.encode("a", "host")


@pytest.mark.parametrize(
    "component", ["user", "password", "path", "segment", "param", "query", "fragment", "unreserved"]
)
def test_encode_gives_a_valid_component(component: str) -> None:
    """2.4: every US-ASCII character is decoded to the original, and the rule derives the text."""
    ascii_text = "".join(map(chr, range(128)))
    text = EDITION.encode(ascii_text, component)
    assert EDITION.decode(text) == ascii_text
    if component != "unreserved":
        assert EDITION.is_valid(text, component)


# -- Appendix E


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("Note: nothing", []),
        ('5" of <a_b> "or" more', []),
        ("<http://a_b/> ", ["http://a_b/"]),
        ('5" disk: "http://h/"', ["http://h/"]),
        ("<http://h/\n a- b>", ["http://h/a-b"]),
        ("<http://h/|>", []),
        ("<about:>", ["about:"]),
    ],
)
def test_delimited(text: str, urls: list[str]) -> None:
    assert [d.url for d in delimited(text)] == urls


@pytest.mark.parametrize("text", [" http://h/ a", '"http://h/a"', "<URL: http://h/a>", "URL:http://h/\n a"])
def test_typed(text: str) -> None:
    """Appendix E: "both delimiters and embedded whitespace"."""
    assert read_typed(text) == "http://h/a"


def test_first_header_field_counts() -> None:
    """5.1.1: "field names are case-insensitive"; the first of two fields is used."""
    headers = [("CONTENT-base", "http://one/"), ("Content-Base", "http://two/")]
    assert base_url(headers=headers).url == "http://one/"
    assert base_url(embedded="a/b", headers=headers).url == "http://one/"


@pytest.mark.parametrize(("edition", "more"), [("url-1997", []), ("uri-2003", ["http://[::1]/"])])
def test_the_command_find_uses_delimiters(edition: str, more: list[str]) -> None:
    """Appendix E: quotes, angle brackets with white space and "URL:", white space.

    The draft of March 2003 repeats it, and its grammar has IPv6 addresses (2003 3.2.2, G.1).
    """
    from click.testing import CliRunner

    from overthere.cli.find import command

    text = 'see "http://test.com/", <URL: http://a.b/\n c> and http://x.y/z <http://[::1]/>\n'
    result = CliRunner().invoke(command, ["--edition", edition], input=text)
    assert (result.exit_code, result.output.split()) == (0, ["http://test.com/", "http://a.b/c", "http://x.y/z", *more])
