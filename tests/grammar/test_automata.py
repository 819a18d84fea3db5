"""Automata: sets of strings, samples from them, and the transcribed grammars compared with the printed documents."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from overthere import editions
from overthere.grammar import Automaton, Grammar
from overthere.grammar.construct import utf8_ranges
from overthere.grammar.library import grammar
from overthere.grammar.tables import dump, load
from support import ROOT

RFC = ROOT.parent / "shared" / "rfc"
EDITIONS = Path(editions.__file__).parent


def rule(text: str) -> Automaton:
    return Grammar(text).automaton("r")


def strings(alphabet: str, longest: int) -> list[str]:
    return ["".join(p) for n in range(longest + 1) for p in product(alphabet, repeat=n)]


def fits(sequence: list[tuple[int, int]], data: bytes) -> bool:
    return all(low <= byte <= high for (low, high), byte in zip(sequence, data, strict=True))


def test_a_range_of_code_points_is_their_utf_8() -> None:
    """RFC 5234 2.3 and RFC 3629: the UTF-8 of each code point; surrogates are excluded."""
    edges = [0, 1, 0x41, 0x7F, 0x80, 0xA0, 0x7FF, 0x800, 0xFFF, 0x1000, 0xD7FF, 0xD800, 0xDFFF, 0xE000, 0xFFFD, 0xFFFF,
             0x10000, 0x1FFFD, 0x3FFFF, 0x40000, 0xFFFFF, 0x100000, 0x10FFFF]  # fmt: skip
    for low in edges:
        for high in (e for e in edges if e >= low):
            sequences = list(utf8_ranges(low, high))
            for point in edges:
                inside = low <= point <= high and not 0xD800 <= point <= 0xDFFF
                data = chr(point).encode("utf-8", "surrogatepass")
                hits = [s for s in sequences if len(s) == len(data) and fits(s, data)]
                assert len(hits) == inside, (low, high, point)


def test_expected_counts_code_points() -> None:
    dfa = rule('r = 3%x1F600 *ucs %s"x"\nucs = %xA0-D7FF')
    assert dfa.expected("\U0001f600\U0001f600é") == (2, frozenset(), True, False)
    assert dfa.expected("\U0001f600" * 3 + "éa") == (4, frozenset("x"), True, False)
    assert dfa.expected("\U0001f600" * 3 + "é\ud800") == (4, frozenset("x"), True, False)
    assert dfa.expected("\U0001f600" * 3 + "éx") == (5, frozenset(), False, True)
    assert dfa.expected("\U0001f600" * 3 + "éxé") == (5, frozenset(), False, True)
    assert dfa.expected("\U0001f600\U0001f600é".encode()).offset == 8
    assert not dfa.accepts("\U0001f600" * 3 + "\udc00x")


TEXTS = (
    '*( "a" "b" )',
    '1*"a" / "b" *"c"',
    '*2( "a" / "b" "c" ) "a"',
    '*( "a" / "b" / "c" )',
    "%x61.62.63",
    '[ "c" ] *"ab"',
    '0"a"',
    "*( %x61-63 %x61 )",
)


def test_set_operations() -> None:
    """They agree with sets, on the automata and on every string of at most five letters."""
    universe = strings("abc", 5)
    automata = [rule(f"r = {t}") for t in TEXTS]
    for a, b in product(automata, repeat=2):
        made_of: tuple[tuple[Automaton, Callable[[bool, bool], bool]], ...] = (
            (a.union(b), lambda x, y: x or y),
            (a.intersection(b), lambda x, y: x and y),
            (a.difference(b), lambda x, y: x and not y),
        )
        for dfa, truth in made_of:
            assert all(dfa.accepts(s) == truth(a.accepts(s), b.accepts(s)) for s in universe)
        assert a.union(b) == b.union(a) == a.complement().intersection(b.complement()).complement()
        assert a.difference(b) == a.intersection(b.complement())
        assert a.difference(b).empty == (a.union(b) == b)
    for a in automata:
        assert a.complement().complement() == a
        assert a.complement().accepts("ü\U0010ffff")
        assert a.difference(a).empty
        assert a.difference(a).witness() is None
        assert list(a.difference(a).cover()) == [b""]
        with pytest.raises(ValueError, match="nothing"):
            next(a.difference(a).sample(1))


def test_equal_languages_have_equal_automata() -> None:
    assert rule('r = *( "a" / "b" )') == rule('r = *( *"b" *"a" )') == rule('r = [ "b" *x / "a" *x ]\nx = "A" / "B"')
    assert rule('r = *3"a"') == rule('r = [ "a" [ "a" [ "a" ] ] ]') != rule('r = *4"a"')


@pytest.mark.parametrize("text", TEXTS)
def test_witnesses_samples_and_covers_match_the_automaton(text: str) -> None:
    dfa = rule(f"r = {text}")
    accepted = [s for s in strings("abc", 5) if dfa.accepts(s)]
    witness = dfa.witness()
    assert witness == min(accepted, key=lambda s: (len(s), s)) == rule(f"r = {text}").witness()
    drawn = list(dfa.sample(200, seed=7, length=8))
    assert drawn == list(dfa.sample(200, seed=7, length=8))
    assert all(map(dfa.accepts, drawn))
    # Another automaton with no more states differs on the cover, if it differs at all.
    for other in (rule(f"r = {t}") for t in TEXTS):
        if other != dfa and other.states <= dfa.states:
            assert any(dfa.accepts(s) != other.accepts(s) for s in dfa.cover())


def test_sample_depends_on_the_seed() -> None:
    dfa = grammar("rfc3986").automaton("URI")
    assert list(dfa.sample(20, seed=1)) != list(dfa.sample(20, seed=2))


# -- the documents


@pytest.mark.parametrize("name", sorted(path.stem for path in EDITIONS.glob("*.abnf")))
def test_rule_names_are_the_same_with_prebuilt_tables(name: str) -> None:
    text = (EDITIONS / f"{name}.abnf").read_text("utf-8")
    prebuilt = Grammar(text, (EDITIONS / f"{name}.tables.json").read_text("utf-8"))
    read = Grammar(text)
    prebuilt.automaton("ALPHA")  # a core rule is not one of the document's own rules
    # Words in comments and definitions, and parts of rule names, are not rules.
    words = {*re.findall(r"[a-z0-9-]+", text.lower()), *(f"{rule}x" for rule in read.rules), *(read.rules), "alpha", ""}
    names = {*words, *(word.upper() for word in words), *(word[1:] for word in words)}
    assert len(read.rules) > 5
    for variant in (prebuilt, read):
        assert {name for name in names if name in variant} == set(read.rules)
    assert 1 not in prebuilt


@pytest.mark.parametrize("name", ["rfc3986", "rfc3987"])
def test_prebuilt_tables_are_fresh(name: str) -> None:
    text = (EDITIONS / f"{name}.abnf").read_text("utf-8")
    tables = (EDITIONS / f"{name}.tables.json").read_text("utf-8")
    built = Grammar(text)
    stored = load(tables, text)
    assert stored
    for rulename, dfa in stored.items():
        assert dfa == built.automaton(rulename), rulename
    assert load(dump(stored, text), text) == stored
    assert load(tables, text + "\n") == {}


def printed_rules(document: str, start: str, end: str, indent: int = 3) -> dict[str, str]:
    """The rules printed between two headings of an RFC: name -> text on one line, without comments."""
    file = RFC / f"{document}.txt"
    if not file.exists():
        pytest.skip("../shared/rfc is absent")
    body = file.read_text("latin-1").rsplit(f"\n{start}", 1)[1].split(f"\n{end}", 1)[0]
    rules: dict[str, str] = {}
    name = ""
    for line in body.split("\n")[1:]:
        line = re.sub(r"""^((?:[^";]|"[^"]*")*);.*""", r"\1", line)
        if head := re.match(rf" {{{indent}}}([A-Za-z][A-Za-z0-9-]*) +=(.*)", line):
            name = head[1]
            assert name not in rules
            rules[name] = head[2]
        elif line.startswith(" " * (indent + 1)) and name:  # neither prose nor the head or foot of a page
            rules[name] += " " + line
    return {n: " ".join(t.split()) for n, t in rules.items()}


@pytest.mark.parametrize(
    ("document", "start", "end", "changed"),
    [
        ("rfc3986", "Appendix A.", "Appendix B.", "path-empty"),
        ("rfc3987", "2.2.  ABNF for IRI References and IRIs", "3.  Relationship", "ipath-empty"),
    ],
)
def test_grammars_are_as_printed(document: str, start: str, end: str, changed: str) -> None:
    """DESIGN law 4: the collected syntax, rule by rule as it is printed."""
    expected = printed_rules(document, start, end)
    rules = {r.name: r.text for r in grammar(document).rules.values()}
    assert list(rules) == list(expected)
    assert {n for n in expected if expected[n] != rules[n]} == {changed}
    assert rules[changed] == expected[changed].replace("<", "").replace(">", "")
