"""The hand-written URI parser agrees with the grammar: parse, check and every value type against the automata."""

from __future__ import annotations

import random
import re
from functools import cache

import pytest

from overthere import IRI, URI, GrammarError, InvalidURI, IRIReference, URIReference, check, kernel
from overthere.grammar import Automaton, Grammar
from overthere.grammar.library import grammar
from overthere.ground.errors import KINDS
from overthere.kernel import parse
from overthere.kernel import reference as plain
from overthere.kernel.reference import BIDI_CONTROLS
from overthere.values.findings import check_uri

KINDS_OF_VALUE = {"URI": URI, "URI-reference": URIReference, "IRI": IRI, "IRI-reference": IRIReference}
RULES = list(KINDS_OF_VALUE)
READERS = (parse,) if kernel.name == "reference" else (parse, plain.parse)
"""Both kernels; for the native one, the result of `parse` for the match of `plain.parse`, or None."""
BIDI = re.compile(f"[{BIDI_CONTROLS}]")

# Each has every component of its rule.
TEMPLATES = (
    "s1+-.://u:p@h.e:80/p/q;r?k=v#f",
    "s://[::1]:8/p",
    "s://[1:2:3:4:5:6:7.8.9.0]/",
    "s://[v1.a:b]?q",
    "s://1.2.3.4",
    "s:%41/%42?%43#%44",
    "s://%41:%42@%43/",
    "//u@h:1/p?q#f",
    "a/b:c?q#f",
    "/a",
    "s:/a",
    "?q",
    "#f",
    "",
)


@cache
def automaton(rule: str) -> Automaton:
    return grammar("rfc3987" if "IRI" in rule else "rfc3986").automaton(rule)


def derives(rule: str, text: str) -> bool:
    """Whether the grammar derives the text, and for IRIs the rule of RFC 3987 4.1 that it cannot express."""
    return automaton(rule).accepts(text) and not ("IRI" in rule and BIDI.search(text))


@cache
def code_points() -> list[str]:
    """Every byte as a character, and both sides of every range border that RFC 3987 2.2 allows, in each plane."""
    low = [0xA0, 0x200E, 0x2010, 0x202A, 0x202E, 0xD7FF, 0xD800, 0xDFFF, 0xE000, 0xF8FF, 0xF900, 0xFDCF, 0xFDD0]
    low += [0xFDEF, 0xFDF0, 0xFFEF, 0xFFF0, 0xFFFD, 0xFFFE, 0xFFFF, 0xE0000, 0xE0001, 0xE0FFF, 0xE1000]
    planes = [(plane << 16) + x for plane in range(1, 17) for x in (0, 0xFFFD, 0xFFFE, 0xFFFF)]
    near = {p + d for p in low + planes for d in (-1, 0, 1)}
    return [chr(p) for p in sorted({*range(256), *near}) if p < 0x110000]


def mutations(rule: str, n: int, seed: int) -> list[str]:
    """Samples of the rule with a few characters removed, inserted or replaced; most are almost valid."""
    chance = random.Random(seed)
    marks = list("::://??##[[]]@@%%..  aZ09-_~!$'|\\^<>\"{}\t\n\x00\x7fé\u0660\ud800\U0001f600\u202e\ue000")
    mutants: list[str] = []
    for text in automaton(rule).sample(n, seed, length=30):
        letters = list(text)
        for _ in range(chance.randint(1, 3)):
            at = chance.randint(0, len(letters))
            letters[at : at + chance.randint(0, 2)] = [chance.choice(marks)] * chance.randint(0, 2)
        mutants.append("".join(letters))
    return mutants


@pytest.mark.parametrize("rule", RULES)
def test_parse_equals_the_grammar_on_its_cover(rule: str) -> None:
    """DESIGN 5: on the W-method set, both kernels agree with the automaton."""
    dfa = automaton(rule)
    wrong: list[bytes] = []
    for data in dfa.cover():
        offset, state = dfa.run(data)
        accepted = offset == len(data) and state in dfa.accepting
        try:
            text = data.decode()
        except UnicodeDecodeError:
            assert not accepted
            continue
        accepted = accepted and not BIDI.search(text)
        if any((reader(text, rule) is not None) is not accepted for reader in READERS):
            wrong.append(data)
    assert wrong == []


@pytest.mark.parametrize("rule", RULES)
def test_every_character_in_every_place(rule: str) -> None:
    """Each byte and each border of a range, inserted at each place and in place of each character."""
    characters = code_points()
    wrong: list[str] = []
    for template in TEMPLATES:
        for at in range(len(template) + 1):
            for char in characters if "IRI" in rule else characters[:258]:
                for after in (at, at + 1):
                    text = template[:at] + char + template[after:]
                    if (parse(text, rule) is not None) is not derives(rule, text):
                        wrong.append(text)
    assert wrong == []


@pytest.mark.parametrize("rule", RULES)
def test_samples_of_the_grammar_are_parsed(rule: str) -> None:
    kind = KINDS_OF_VALUE[rule]
    for text in automaton(rule).sample(2000, seed=11):
        if derives(rule, text):
            assert parse(text, rule) is not None
            assert check_uri(text, rule) == []
            assert str(kind(text)) == text


@pytest.mark.parametrize("rule", RULES)
def test_parse_check_and_values_agree_with_the_grammar(rule: str) -> None:
    """On almost valid texts; findings are well formed."""
    kind = KINDS_OF_VALUE[rule]
    for text in mutations(rule, 3000, seed=12):
        accepted = derives(rule, text)
        findings = check_uri(text, rule)
        assert (parse(text, rule) is not None) is accepted, text
        assert (findings == []) is accepted, text
        if accepted:
            assert str(kind(text)) == text
            continue
        with pytest.raises(InvalidURI) as caught:
            kind(text)
        assert caught.value.finding == findings[0]
        # Ordered by offset, and within the text.
        assert [f.start for f in findings] == sorted(f.start for f in findings), text
        assert all(f.start <= f.end <= len(text) for f in findings), text
        for finding in findings:
            assert finding.kind in KINDS
            assert finding.expected
            assert finding.message in str(finding)


@pytest.mark.parametrize("rule", ["URI", "URI-reference"])
def test_check_agrees_with_the_grammar(rule: str) -> None:
    for text in mutations(rule, 500, seed=13):
        assert (check(text, rule=rule) == []) is automaton(rule).accepts(text)


@pytest.mark.parametrize("rule", sorted(r.name for r in grammar("rfc3986").rules.values()))
def test_check_by_any_rule(rule: str) -> None:
    """check() accepts any rule of the document; its first finding is where the automaton stops, or before."""
    dfa = grammar("rfc3986").automaton(rule)
    for text in [*dfa.sample(20, seed=5, length=8), *mutations("URI-reference", 50, seed=6), *mutations("path", 20, 7)]:
        findings = check(text, rule=rule)
        assert (findings == []) is dfa.accepts(text), text
        if findings and rule not in ("URI", "URI-reference"):
            assert findings[0].start <= dfa.expected(text).offset
    with pytest.raises(GrammarError):
        check("a", rule=rule + "-x")


@pytest.mark.parametrize("rule", RULES)
def test_the_text_before_the_first_finding_is_a_valid_prefix(rule: str) -> None:
    """Except for kinds that judge a whole construction: a second "@", an address in brackets."""
    kinds = {"userinfo-at", "ip-literal-open", "ip-literal-address", "ip-literal-close", "ip-zone"}
    for text in mutations(rule, 3000, seed=14):
        findings = check_uri(text, rule)
        if findings and findings[0].kind not in kinds | {"iri-bidi"}:
            assert findings[0].start <= automaton(rule).expected(text).offset, (text, findings[0])


@pytest.mark.parametrize("rule", RULES)
def test_expected_characters_are_accepted(rule: str) -> None:
    """The characters that the first finding names as expected are accepted at its offset."""
    for text in ["a", "a b", *mutations(rule, 1500, seed=15)]:
        findings = check_uri(text, rule)
        if not findings or findings[0].start > automaton(rule).expected(text).offset:
            continue
        start, words = findings[0].start, findings[0].expected
        characters = re.findall(r'"(.)"', words) + ["é"] * ("above U+007F" in words)
        for char in characters:
            assert automaton(rule).expected(text[:start] + char).offset == start + 1, (text, char, findings[0])


@cache
def zone_automaton(rule: str) -> Automaton:
    """RFC 6874 2: three rules of the grammar; one replaces IP-literal."""
    name = "rfc3987" if "IRI" in rule else "rfc3986"
    text, count = re.subn(
        r"(?m)^IP-literal +=.*$",
        'IP-literal = "[" ( IPv6address / IPv6addrz / IPvFuture  ) "]"\n'
        "ZoneID = 1*( unreserved / pct-encoded )\n"
        'IPv6addrz = IPv6address "%25" ZoneID',
        grammar(name).text,
    )
    assert count == 1
    return Grammar(text).automaton(rule)


def test_zone_identifiers_equal_the_grammar_on_its_cover() -> None:
    dfa = zone_automaton("URI-reference")
    assert not dfa.difference(automaton("URI-reference")).empty
    wrong: list[str] = []
    for data in dfa.cover():
        if data.isascii():
            text, refused = data.decode(), not dfa.accepts(data)
            if any((reader(text, "URI-reference", True) is None) is not refused for reader in READERS):
                wrong.append(text)
    assert wrong == []


@pytest.mark.parametrize("rule", ["URI", "IRI"])
def test_zone_identifiers_by_character(rule: str) -> None:
    template = "s://u@[fe80::1%25e-%41]:8/p"
    assert parse(template, rule) is None
    for at in range(len(template) + 1):
        for char in code_points():
            for after in (at, at + 1):
                text = template[:at] + char + template[after:]
                accepted = zone_automaton(rule).accepts(text) and not (rule == "IRI" and BIDI.search(text))
                assert (parse(text, rule, True) is not None) is accepted, text
                if not accepted and at % 4 == 0:
                    assert check_uri(text, rule, True)


@pytest.mark.parametrize("rule", ["absolute-URI", "relative-ref", "uri", "absolute-IRI", "path"])
def test_parse_rejects_or_follows_other_rules(rule: str) -> None:
    """A rule that parse does not have is rejected, or answered by that rule's own grammar."""
    texts = ["a:b", "a:b#f", "#f", "//h", "", "a:ü", "a", "a:b:c"]
    try:
        answers = [parse(text, rule) is not None for text in texts]
    except (ValueError, LookupError):
        return
    assert answers == [automaton(rule).accepts(text) for text in texts]
