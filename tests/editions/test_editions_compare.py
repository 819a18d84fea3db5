"""Computed differences of editions: each string is checked against both grammars, each cell against EDITIONS."""

from __future__ import annotations

from itertools import combinations, permutations
from typing import Any

import pytest

from overthere import GrammarError, NotSpecified
from overthere.editions import NAMES, edition
from overthere.editions.compare import CORRESPONDING, diff, pairs
from overthere.editions.compare_resolution import kind, resolutions, universe
from overthere.editions.readings import compare_key, shown_target
from overthere.grammar import Grammar
from support import NO_PACKAGE, outside, processor

PAIRS = list(permutations(NAMES, 2))


@pytest.mark.parametrize(("a", "b"), PAIRS, ids=["-".join(p) for p in PAIRS])
def test_strings_are_accepted_and_rejected(a: str, b: str) -> None:
    """By the two rules; the first string is a shortest one of the difference."""
    difference = diff(a, b)
    first, two = edition(a), edition(b)
    assert difference.rules
    for rule in difference.rules:
        first_dfa, right = first.grammar.automaton(rule.a), two.grammar.automaton(rule.b)
        assert first_dfa != right
        for taking, refusing, strings in ((first_dfa, right, rule.only_a), (right, first_dfa, rule.only_b)):
            assert all(taking.accepts(text) and not refusing.accepts(text) for text in strings)
            witness = taking.difference(refusing).witness()
            assert (witness is None) is (not strings)
            assert witness is None or len(witness) == len(strings[0])
    for name in difference.same:
        names = [right for first_rule, right in pairs(first, two) if first_rule == name]
        assert first.grammar.automaton(name) in [two.grammar.automaton(other) for other in names]


@pytest.mark.parametrize(("a", "b"), [("url-1994", "rfc3986"), ("uri-2003", "rfc3986"), ("rfc1738", "url-1997")])
def test_both_directions_agree(a: str, b: str) -> None:
    there, back = diff(a, b), diff(b, a)
    assert {(r.a, r.b, r.only_a, r.only_b) for r in there.rules} == {(r.b, r.a, r.only_b, r.only_a) for r in back.rules}
    assert {(c, m.a, m.b) for m in there.characters for c in m.characters} == {
        (c, m.b, m.a) for m in back.characters for c in m.characters
    }
    assert [(r.base, r.reference, r.a, r.b, r.pairs) for r in there.resolution] == [
        (r.base, r.reference, r.b, r.a, r.pairs) for r in back.resolution
    ]
    assert (there.only_a, there.only_b) == (back.only_b, back.only_a)


@pytest.mark.parametrize("name", NAMES)
def test_an_edition_has_no_difference_from_itself(name: str) -> None:
    difference = diff(name, name)
    assert (difference.rules, difference.characters, difference.resolution) == ([], [], [])
    assert difference.only_a == difference.only_b == []
    assert set(difference.same) >= {"scheme", "host", "port"}


def test_diff_is_fast() -> None:
    """Including the first load of grammars and tables."""
    for a, b in PAIRS:
        with processor(10):
            diff(a, b)


# EDITIONS 1.1 and the paragraphs that it cites: character -> its class in each document.
CLASSES: list[tuple[str, str, tuple[str | None, ...]]] = [
    ("!", "94 BNF; RFC 1738 5; 97 2.3; 03 2.3; RFC 3986 2.2", (None, "extra", "mark", "mark", "sub-delims")),
    ("$", "94 BNF; RFC 1738 5; 97 2.3; 03 2.2; RFC 3986 2.2", ("safe", "safe", "mark", "reserved", "sub-delims")),
    ("+", "94 BNF; RFC 1738 5; 97 2.2; 03 2.2; RFC 3986 2.2", ("safe", "safe", "reserved", "reserved", "sub-delims")),
    (",", "94 BNF; RFC 1738 5; 97 2.3; 03 2.2; RFC 3986 2.2", ("extra", "extra", "mark", "reserved", "sub-delims")),
    ("@", "94 BNF; RFC 1738 5; 97 2.2; 03 2.2; RFC 3986 2.2", ("safe", *("reserved",) * 3, "gen-delims")),
    ("&", "94 BNF; RFC 1738 5; 97 2.2; 03 2.2; RFC 3986 2.2", ("safe", *("reserved",) * 3, "sub-delims")),
    ("[", "94 BNF; RFC 1738 5; 97 2.4.3; 03 2.2; RFC 3986 2.2",
     ("national", "national", "unwise", "reserved", "gen-delims")),
    ("~", "94 BNF; RFC 1738 5; 97 2.3; 03 2.3; RFC 3986 2.3", ("national", "national", "mark", "mark", "unreserved")),
    ("#", "94 BNF; RFC 1738 5; 97 2.4.3; 03 2.4.3; RFC 3986 2.2",
     ("reserved", "punctuation", "delims", "delims", "gen-delims")),
    ('"', "94 BNF; RFC 1738 5; 97 2.4.3; 03 2.4.3", ("extra", "punctuation", "delims", "delims", None)),
    ("<", "94 BNF; RFC 1738 5; 97 2.4.3; 03 2.4.3", ("punctuation", "punctuation", "delims", "delims", None)),
    ("^", "94 BNF; RFC 1738 5; 97 2.4.3; 03 2.4.3", ("national", "national", "unwise", "unwise", None)),
    (" ", "94 BNF; 97 2.4.3; 03 2.4.3", ("extra", None, "space", "excluded", None)),
]  # fmt: skip


@pytest.mark.parametrize(("char", "source", "classes"), CLASSES, ids=[c[0] for c in CLASSES])
def test_characters_and_their_classes(char: str, source: str, classes: tuple[str | None, ...]) -> None:
    assert source
    by_edition = dict(zip(NAMES, classes, strict=True))
    for a, b in PAIRS:
        moved = [(m.a, m.b) for m in diff(a, b).characters if char in m.characters]
        assert moved == ([(by_edition[a], by_edition[b])] if by_edition[a] != by_edition[b] else [])


# EDITIONS 1.3 to 1.6: rule, editions, strings that only the first or only the second accepts.
KNOWN: list[tuple[str, str, str, str | None, str | None]] = [
    ("scheme", "url-1997", "uri-2003", "1", None),  # 97 4.1, 03 3.1
    ("port", "rfc1738", "url-1997", None, ""),  # RFC 1738 5 digits, 97 4.3.1 *digit
    ("user", "rfc1738", "url-1997", "?", "~"),  # 97 F.2
    ("search", "rfc1738", "rfc3986", None, "?"),  # RFC 1738 5, RFC 3986 3.4
    ("pchar", "url-1997", "rfc3986", None, ";"),  # 97 4.3.2, RFC 3986 3.3
    ("host", "uri-2003", "rfc3986", None, ""),  # 03 3.2.2, RFC 3986 3.2.2
    ("abs-path", "uri-2003", "rfc3986", "//", None),  # 03 4.3, RFC 3986 3.3
    ("hostnumber", "rfc1738", "rfc3986", "00.0.0.0", None),  # RFC 1738 5, RFC 3986 3.2.2
]


@pytest.mark.parametrize(("rule", "a", "b", "only_a", "only_b"), KNOWN, ids=[f"{k[0]}-{k[1]}-{k[2]}" for k in KNOWN])
def test_known_differences(rule: str, a: str, b: str, only_a: str | None, only_b: str | None) -> None:
    (rule_difference,) = diff(a, b, rule).rules
    for text, strings in ((only_a, rule_difference.only_a), (only_b, rule_difference.only_b)):
        assert text in strings if text is not None else not strings


def test_the_rule_may_be_named_as_in_either_edition() -> None:
    assert diff("url-1997", "rfc3986", "SITE").rules == diff("url-1997", "rfc3986", "authority").rules
    assert diff("url-1997", "rfc3986", "query").same == ["query"]
    with pytest.raises(GrammarError, match="no rule 'nothing'"):
        diff("url-1997", "rfc3986", "nothing")
    with pytest.raises(NotSpecified, match="unknown edition"):
        diff("url-1997", "rfc2396")


def test_corresponding_rules_exist() -> None:
    for row in CORRESPONDING:
        assert len(row) > 1
        for name, rule in row.items():
            assert compare_key(rule) in {compare_key(r.name) for r in edition(name).grammar.rules.values()}, (
                name,
                rule,
            )


SPECS = {"draft-1997": "url-1997", "draft-2003": "uri-2003", "rfc3986": "rfc3986"}


RESOLVING = ("url-1997", "uri-2003", "rfc3986")


def test_resolution_rows() -> None:
    """EDITIONS 1.8: each of its differences is the example of a kind."""
    targets = {(r.base, r.reference): (r.a, r.b) for r in diff("url-1997", "rfc3986").resolution}
    assert targets["x:a", "?y"] == ("x:?y", "x:a?y")
    assert targets["x:", ""] == ("(current document)", "x:")
    assert targets["x:/a", "g?y/../z"] == ("x:/z", "x:/g?y/../z")
    assert targets["x:/a", "../g"] == ("x:/../g", "x:/g")
    assert targets["http://h", "g"] == ("http://hg", "http://h/g")
    assert diff("rfc1738", "rfc3986").not_specified == ["RFC 1738 leaves it to RFC 1808"]


@pytest.mark.parametrize(("a", "b"), list(combinations(RESOLVING, 2)))
def test_each_kind_of_resolution_difference_is_listed_once(a: str, b: str) -> None:
    """Its example resolves as stated, and the counts cover all pairs that differ."""
    first, two = edition(a), edition(b)
    rows = diff(a, b).resolution
    assert len({row.kind for row in rows}) == len(rows) < 100
    for row in rows:
        assert (row.a, row.b) == tuple(shown_target(e.resolve(row.base, row.reference)) for e in (first, two))
        assert row.a != row.b
    bases, references = universe()
    accepted = [[t for t in texts if all(e.is_valid(t, _reference_rule(e.name)) for e in (first, two))]
             for texts in (bases, references)]  # fmt: skip
    differing = sum(
        shown_target(first.resolve(base, reference)) != shown_target(two.resolve(base, reference))
        for base in accepted[0] for reference in accepted[1]
    )  # fmt: skip
    assert sum(row.pairs for row in rows) == differing > 1000


def _reference_rule(name: str) -> str:
    return "URL-reference" if name == "url-1997" else "URI-reference"


def test_algorithms_without_an_edition_are_compared() -> None:
    targets = {(r.base, r.reference): (r.a, r.b) for r in resolutions("rfc1808", "url-1997")}
    assert targets["x:/a", ";p"] == ("x:/a;p", "x:/;p")
    with pytest.raises(NotSpecified, match="RFC 1738 leaves resolution to RFC 1808"):
        resolutions("rfc1738", "rfc3986")
    with pytest.raises(NotSpecified, match="unknown edition"):
        resolutions("rfc0", "rfc3986")


def test_differences_of_printed_tables_are_listed() -> None:
    """As a row of their own, or by kind."""
    rows = [r for r in outside("resolution_tables") if r["spec"] in SPECS and r["kind"] == "resolve"]
    if not rows:
        pytest.skip(NO_PACKAGE)
    printed: dict[tuple[str, str], dict[str, str]] = {}
    for row in rows:
        printed.setdefault((row["base"], row["input"]), {})[SPECS[row["spec"]]] = row["expected"]
    differing = {(base, reference, a, b) for (base, reference), answers in printed.items()
                 for a, b in combinations(RESOLVING, 2)
                 if a in answers and b in answers and answers[a] != answers[b]}  # fmt: skip
    assert differing
    for base, reference, a, b in differing:
        ours, right = (shown_target(edition(name).resolve(base, reference)) for name in (a, b))
        if ours != right:
            assert kind(base, reference, (a, ours), (b, right)) in {row.kind for row in diff(a, b).resolution}


def test_rules_in_one_document_only() -> None:
    difference = diff("uri-2003", "rfc3986")
    assert {"uric", "uric-no-slash", "mark", "toplabel"} <= set(difference.only_a)
    assert {"IPvFuture", "pct-encoded", "path-noscheme", "sub-delims"} - {
        r for _, r in pairs(edition("uri-2003"), edition("rfc3986"))
    } <= set(difference.only_b)


def test_to_dict() -> None:
    import json

    data: dict[str, Any] = json.loads(json.dumps(diff("url-1994", "rfc3986").to_dict()))
    assert data["rules"][0].keys() == {"a", "b", "only_a", "only_b"}
    assert data["characters"][0].keys() == {"characters", "a", "b"}


def test_beyond_agrees_with_all_strings() -> None:
    """Small automata: it finds the strings that a search through all strings finds."""
    from itertools import product

    grammar = Grammar('a = *("x" / "y") 1*("1" / "2")\nb = *"x" ("1" / "2")\nc = "x"')
    strings = ["".join(p) for n in range(5) for p in product("xyXY12", repeat=n)]
    for character, two in permutations("abc", 2):
        first, right = grammar.automaton(character), grammar.automaton(two)
        only = [s for s in strings if first.accepts(s) and not right.accepts(s)]
        result = first.beyond(right)
        assert bool(only) is bool(result)
        if result:
            assert len(result[0]) == min(map(len, only))
            assert all(first.accepts(s) and not right.accepts(s) for s in result)
    assert grammar.automaton("c").beyond(grammar.automaton("c")) == []


@pytest.mark.parametrize(
    ("a", "b", "base", "reference", "answers"),
    [
        ("uri-2003", "rfc3986", "x:", "g", ("x:/g", "x:g")),
        ("uri-2003", "rfc3986", "x:a/b", "../../g", ("x:../g", "x:/g")),
        ("uri-2003", "rfc3986", "x:", "http://h/./x/../y", ("http://h/./x/../y", "http://h/y")),
        ("url-1997", "rfc3986", "x:", "http://h/./x/../y", ("http://h/./x/../y", "http://h/y")),
        ("url-1997", "uri-2003", "x:", "g", ("x:g", "x:/g")),
    ],
)
def test_differences_in_resolution_are_computed(a: str, b: str, base: str, reference: str, answers: object) -> None:
    """Over what both grammars derive, the plainest of each kind."""
    targets = {(r.base, r.reference): (r.a, r.b) for r in diff(a, b).resolution}
    assert targets[base, reference] == answers


@pytest.mark.parametrize(
    ("a", "b", "pair"),
    [
        ("uri-2003", "rfc3986", ("absolute-URI-reference", "URI")),
        ("uri-2003", "rfc3986", ("relative-URI", "relative-ref")),
        ("uri-2003", "rfc3986", ("opaque-part", "path-rootless")),
        ("rfc1738", "url-1997", ("ip-schemepart", "net-path")),
        ("url-1994", "rfc1738", ("addr-spec", "encoded822addr")),
    ],
)
def test_rules_under_other_names(a: str, b: str, pair: tuple[str, str]) -> None:
    assert pair in set(pairs(edition(a), edition(b)))
