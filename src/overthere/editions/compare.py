"""Differences between two editions, computed from their grammars, characters and resolution.

Nothing here is written down but which rules correspond where the documents renamed them.
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

# The rules that say the same thing under another name, one line a thing; a name that several editions share
# with each other corresponds without being listed.  Names are compared without case, "_" as "-".
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
    """A rule that both documents have, and strings that only one of them takes."""

    a: str
    """Its name in the first document."""
    b: str
    only_a: tuple[str, ...]
    """The shortest strings that the first takes and the second refuses; none if there is no such string."""
    only_b: tuple[str, ...]


class ClassChange(NamedTuple):
    """Characters that are in one class by the first document and in another by the second."""

    characters: str
    a: str | None
    """The smallest class, by the document's name, that holds them; None if no class does."""
    b: str | None


@dataclass(frozen=True)
class Difference:
    """Everything in which two editions differ, as far as it can be computed."""

    a: str
    b: str
    rules: list[RuleDifference]
    same: list[str]
    """The rules that derive the same strings, by the first document's names."""
    characters: list[ClassChange]
    only_a: list[str]
    """The rules of the first that correspond to none of the second, with those that its grammar's file adds."""
    only_b: list[str]
    resolution: list[ResolutionDifference]
    not_specified: list[str]
    """Why there is no resolution to compare."""

    def to_dict(self) -> dict[str, Any]:
        """The difference as lists, dicts and text."""
        named = ("rules", "characters", "resolution")
        return {**asdict(self), **{name: [row._asdict() for row in getattr(self, name)] for name in named}}


def diff(a: str, b: str, rule: str | None = None, strings: int = 4) -> Difference:
    """What edition `a` makes differently from edition `b`.

    rule: compare this rule only, by either document's name.
    strings: how many strings are given for each direction, the shortest for each kind of reason (`Automaton.beyond`).

    Raises: NotSpecified if there is no such edition; GrammarError if the two have no such rule in common.

    >>> found = diff("rfc3986", "rfc3986")
    >>> found.rules, found.characters, found.resolution
    ([], [], [])
    """
    from overthere.editions import edition

    one, two = edition(a), edition(b)
    chosen = list(pairs(one, two))
    if rule is not None:
        chosen = [pair for pair in chosen if compare_key(rule) in map(compare_key, pair)]
        if not chosen:
            raise GrammarError(f"{one.document} and {two.document} have no rule {rule!r:.100} in common")
    rules: list[RuleDifference] = []
    same: list[str] = []
    for left, right in chosen:
        try:
            difference = _rule(one, left, two, right, strings)
        except NotRegular:
            continue
        if difference.only_a or difference.only_b:
            rules.append(difference)
        else:
            same.append(left)
    if rule is not None:
        return Difference(a, b, rules, same, [], [], [], [], [])
    left_out = [f"{e.document} leaves it to {e.elsewhere['resolve']}" for e in (one, two) if "resolve" in e.elsewhere]
    resolution = [] if left_out else resolutions(a, b)
    only_a, only_b = (
        [rule.name for rule in e.grammar.rules.values() if rule.name not in paired]
        for e, paired in ((one, {left for left, _ in chosen}), (two, {right for _, right in chosen}))
    )
    return Difference(a, b, rules, same, _class_changes(one, two), only_a, only_b, resolution, left_out)


def pairs(one: Edition, two: Edition) -> Iterator[tuple[str, str]]:
    """The rules that both have, by each document's name, in the order of the first."""
    left = {compare_key(rule.name): rule.name for rule in one.grammar.rules.values()}
    right = {compare_key(rule.name): rule.name for rule in two.grammar.rules.values()}
    for key, name in left.items():
        rows = [row for row in CORRESPONDING if compare_key(row.get(one.name, "")) == key]
        renamed = [right[other] for row in rows if (other := compare_key(row.get(two.name, ""))) in right]
        for other in renamed or ([right[key]] if key in right else []):
            yield name, other


def _rule(one: Edition, left: str, two: Edition, right: str, strings: int) -> RuleDifference:
    a, b = one.grammar.automaton(left), two.grammar.automaton(right)
    if a == b:
        return RuleDifference(left, right, (), ())
    return RuleDifference(left, right, _shortest(a, b, strings), _shortest(b, a, strings))


def _shortest(taking: Automaton, refusing: Automaton, strings: int) -> tuple[str, ...]:
    """A few of the shortest strings; where those are single characters, all of them."""
    texts = taking.beyond(refusing)
    if texts and len(texts[0]) == 1:
        return tuple(char for char in map(chr, range(0x80)) if taking.accepts(char) and not refusing.accepts(char))
    return tuple(texts[:strings])


def _class_changes(one: Edition, two: Edition) -> list[ClassChange]:
    """The marks whose class has another name, grouped; letters and digits are ordinary in all documents."""
    groups: dict[tuple[str | None, str | None], str] = {}
    mine, others = one.classes, two.classes
    for char in map(chr, range(0x20, 0x7F)):
        key = (_class(mine, char), _class(others, char))
        if not char.isalnum() and key[0] != key[1]:
            groups[key] = groups.get(key, "") + char
    return [ClassChange(characters, *key) for key, characters in groups.items()]


def _class(classes: dict[str, frozenset[str]], char: str) -> str | None:
    return min((name for name, held in classes.items() if char in held), key=lambda n: len(classes[n]), default=None)
