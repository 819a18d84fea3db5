"""Differences between two editions, computed from their grammars, characters and resolution.

Only one thing is written by hand: the rules that correspond under different names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from overthere.editions.compare_resolution import ResolutionDifference, resolutions
from overthere.editions.readings import compare_key, matrix
from overthere.ground.errors import GrammarError, NotRegular

if TYPE_CHECKING:
    from overthere.editions.model import Edition
    from overthere.grammar import Automaton

__all__ = ["Difference", "ClassChange", "ResolutionDifference", "RuleDifference", "diff", "matrix", "pairs"]

# Rules with the same meaning under different names, one line per meaning; rules of the same name correspond
# without being listed.  Names are compared without case, "_" as "-".
CORRESPONDING: tuple[dict[str, str], ...] = (
    {"url-1994": "url", "rfc1738": "url", "url-1997": "absoluteURL", "uri-2003": "absolute-URI",
     "rfc3986": "absolute-URI"},
    {"url-1997": "URL-reference", "uri-2003": "URI-reference", "rfc3986": "URI-reference"},
    {"url-1997": "relativeURL", "uri-2003": "relative-URI", "rfc3986": "relative-ref"},
    {"uri-2003": "absolute-URI-reference", "rfc3986": "URI"},
    {"uri-2003": "opaque-part", "rfc3986": "path-rootless"},
    {"rfc1738": "ip-schemepart", "url-1997": "net-path", "uri-2003": "net-path"},
    {"rfc1738": "hialpha", "url-1997": "upalpha"},
    {"url-1994": "addr-spec", "rfc1738": "encoded822addr"},
    {"url-1994": "login", "rfc1738": "login", "url-1997": "site", "uri-2003": "authority", "rfc3986": "authority"},
    {"url-1994": "hostnumber", "rfc1738": "hostnumber", "url-1997": "hostnumber", "uri-2003": "IPv4address",
     "rfc3986": "IPv4address"},
    {"uri-2003": "IPv6reference", "rfc3986": "IP-literal"},
    {"uri-2003": "h4", "rfc3986": "h16"},
    {"url-1994": "path", "rfc1738": "urlpath", "url-1997": "path", "uri-2003": "path", "rfc3986": "path"},
    {"url-1997": "abs_path", "uri-2003": "abs-path", "rfc3986": "path-absolute"},
    {"url-1997": "rel_path", "uri-2003": "rel-path", "rfc3986": "path-noscheme"},
    {"uri-2003": "rel-segment", "rfc3986": "segment-nz-nc"},
    {"url-1994": "segment", "rfc1738": "hsegment", "url-1997": "segment", "uri-2003": "segment", "rfc3986": "segment"},
    {"url-1994": "search", "rfc1738": "search", "url-1997": "query", "uri-2003": "query", "rfc3986": "query"},
    {"url-1994": "fragmentid", "url-1997": "fragment", "uri-2003": "fragment", "rfc3986": "fragment"},
    {"url-1994": "escape", "rfc1738": "escape", "url-1997": "escaped", "uri-2003": "escaped", "rfc3986": "pct-encoded"},
    {"url-1994": "xalpha", "rfc1738": "uchar"},
    {"rfc1738": "xchar", "url-1997": "urlc", "uri-2003": "uric"},
    {"url-1994": "alphanum", "rfc1738": "alphadigit", "url-1997": "alphanum", "uri-2003": "alphanum"},
    *({"url-1994": f"{scheme}address", "rfc1738": f"{scheme}url"}
      for scheme in ("http", "ftp", "gopher", "mailto", "news", "nntp", "telnet", "wais", "prospero")),
    {"url-1994": "groupart", "rfc1738": "grouppart"},
    {"url-1994": "hsoname", "rfc1738": "ppath"},
)  # fmt: skip


class RuleDifference(NamedTuple):
    """A rule that both documents have, and strings that only one of them accepts."""

    a: str
    """The rule's name in the first document."""
    b: str
    only_a: tuple[str, ...]
    """The shortest strings that the first accepts and the second rejects; empty if there is no such string."""
    only_b: tuple[str, ...]


class ClassChange(NamedTuple):
    """Characters that are in one class by the first document and in another by the second."""

    characters: str
    a: str | None
    """The smallest class that contains them, by the document's name; None if no class does."""
    b: str | None


@dataclass(frozen=True)
class Difference:
    """All computable differences between two editions."""

    a: str
    b: str
    rules: list[RuleDifference]
    same: list[str]
    """The rules that match the same strings, by the first document's names."""
    characters: list[ClassChange]
    only_a: list[str]
    """The rules of the first that correspond to none of the second, including rules that its grammar file adds."""
    only_b: list[str]
    resolution: list[ResolutionDifference]
    not_specified: list[str]
    """The reasons why there is no resolution to compare."""

    def to_dict(self) -> dict[str, Any]:
        """Convert the difference to lists, dicts and text."""
        named = ("rules", "characters", "resolution")
        return {**asdict(self), **{name: [row._asdict() for row in getattr(self, name)] for name in named}}


def diff(a: str, b: str, rule: str | None = None, strings: int = 4) -> Difference:
    """Compare two editions.

    rule: compare only this rule, by either document's name.
    strings: the number of strings for each direction, the shortest for each kind of reason (`Automaton.beyond`).

    Raises: NotSpecified if there is no such edition; GrammarError if the two have no such rule in common.

    >>> found = diff("rfc3986", "rfc3986")
    >>> found.rules, found.characters, found.resolution
    ([], [], [])
    """
    from overthere.editions import edition

    first, second = edition(a), edition(b)
    rule_pairs = list(pairs(first, second))
    if rule is not None:
        rule_pairs = [pair for pair in rule_pairs if compare_key(rule) in map(compare_key, pair)]
        if not rule_pairs:
            raise GrammarError(f"{first.document} and {second.document} have no rule {rule!r:.100} in common")
    rules: list[RuleDifference] = []
    same: list[str] = []
    for a_rule, b_rule in rule_pairs:
        try:
            difference = _rule_difference(first, a_rule, second, b_rule, strings)
        except NotRegular:
            continue
        if difference.only_a or difference.only_b:
            rules.append(difference)
        else:
            same.append(a_rule)
    if rule is not None:
        return Difference(a, b, rules, same, [], [], [], [], [])
    gaps = [f"{e.document} leaves it to {e.elsewhere['resolve']}" for e in (first, second) if "resolve" in e.elsewhere]
    resolution = [] if gaps else resolutions(a, b)
    only_a, only_b = (
        [rule.name for rule in e.grammar.rules.values() if rule.name not in paired]
        for e, paired in ((first, {name for name, _ in rule_pairs}), (second, {name for _, name in rule_pairs}))
    )
    return Difference(a, b, rules, same, _class_changes(first, second), only_a, only_b, resolution, gaps)


def pairs(one: Edition, two: Edition) -> Iterator[tuple[str, str]]:
    """Yield the rules that both have, by each document's name, in the order of the first."""
    names_a = {compare_key(rule.name): rule.name for rule in one.grammar.rules.values()}
    names_b = {compare_key(rule.name): rule.name for rule in two.grammar.rules.values()}
    for key, name in names_a.items():
        rows = [row for row in CORRESPONDING if compare_key(row.get(one.name, "")) == key]
        renamed = [names_b[name_b] for row in rows if (name_b := compare_key(row.get(two.name, ""))) in names_b]
        for name_b in renamed or ([names_b[key]] if key in names_b else []):
            yield name, name_b


def _rule_difference(first: Edition, name_a: str, second: Edition, name_b: str, strings: int) -> RuleDifference:
    a, b = first.grammar.automaton(name_a), second.grammar.automaton(name_b)
    if a == b:
        return RuleDifference(name_a, name_b, (), ())
    return RuleDifference(name_a, name_b, _shortest_witnesses(a, b, strings), _shortest_witnesses(b, a, strings))


def _shortest_witnesses(accepting: Automaton, rejecting: Automaton, strings: int) -> tuple[str, ...]:
    """Return a few of the shortest strings that only one accepts; if these are single characters, all of them."""
    texts = accepting.beyond(rejecting)
    if texts and len(texts[0]) == 1:
        return tuple(char for char in map(chr, range(0x80)) if accepting.accepts(char) and not rejecting.accepts(char))
    return tuple(texts[:strings])


def _class_changes(first: Edition, second: Edition) -> list[ClassChange]:
    """Return the marks whose class has another name, grouped; letters and digits are ordinary in all documents."""
    groups: dict[tuple[str | None, str | None], str] = {}
    classes_a, classes_b = first.classes, second.classes
    for char in map(chr, range(0x20, 0x7F)):
        key = (_smallest_class(classes_a, char), _smallest_class(classes_b, char))
        if not char.isalnum() and key[0] != key[1]:
            groups[key] = groups.get(key, "") + char
    return [ClassChange(characters, *key) for key, characters in groups.items()]


def _smallest_class(classes: dict[str, frozenset[str]], char: str) -> str | None:
    return min((name for name, chars in classes.items() if char in chars), key=lambda n: len(classes[n]), default=None)
