"""What two editions make differently, computed: strings out of their grammars, characters, resolution.

Nothing here is written down but which rules correspond where the documents renamed them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from itertools import chain, product
from typing import TYPE_CHECKING, Any, NamedTuple

from overthere.editions.readings import matrix, plain, shown_target
from overthere.errors import GrammarError, NotRegular, NotSpecified, OverthereError

if TYPE_CHECKING:
    from overthere.editions.model import Edition
    from overthere.grammar import Automaton

__all__ = ["BASES", "REFERENCES", "Difference", "Moved", "Resolved", "RuleDifference", "diff", "matrix", "pairs"]

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

# RFC 3986 5.4, and what the older documents answer otherwise.
BASES = ("http://a/b/c/d;p?q", "http://a")
REFERENCES = (
    "g:h", "g", "./g", "g/", "/g", "//g", "?y", "g?y", "#s", "g#s", "g?y#s", ";x", "g;x", "g;x?y#s", "", ".", "./",
    "..", "../", "../g", "../..", "../../", "../../g", "../../../g", "../../../../g", "/./g", "/../g", "g.", ".g",
    "g..", "..g", "./../g", "./g/.", "g/./h", "g/../h", "g;x=1/./y", "g;x=1/../y", "g?y/./x", "g?y/../x", "g#s/./x",
    "g#s/../x", "http:g",
)  # fmt: skip


class RuleDifference(NamedTuple):
    """A rule that both documents have, and strings that only one of them takes."""

    a: str
    """Its name in the first document."""
    b: str
    only_a: tuple[str, ...]
    """The shortest strings that the first takes and the second refuses; none if there is no such string."""
    only_b: tuple[str, ...]


class Moved(NamedTuple):
    """Characters that are in one class by the first document and in another by the second."""

    characters: str
    a: str | None
    """The smallest class, by the document's name, that holds them; None if no class does."""
    b: str | None


class Resolved(NamedTuple):
    """A reference that the two resolve differently."""

    base: str
    reference: str
    a: str
    b: str


@dataclass(frozen=True)
class Difference:
    """Everything in which two editions differ, as far as it can be computed."""

    a: str
    b: str
    rules: list[RuleDifference]
    same: list[str]
    """The rules that derive the same strings, by the first document's names."""
    characters: list[Moved]
    resolution: list[Resolved]
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
        chosen = [pair for pair in chosen if plain(rule) in map(plain, pair)]
        if not chosen:
            raise GrammarError(f"{one.document} and {two.document} have no rule {rule!r} in common")
    rules: list[RuleDifference] = []
    same: list[str] = []
    for left, right in chosen:
        try:
            found = _rule(one, left, two, right, strings)
        except NotRegular:
            continue
        if found.only_a or found.only_b:
            rules.append(found)
        else:
            same.append(left)
    if rule is not None:
        return Difference(a, b, rules, same, [], [], [])
    left_out = [f"{e.document} leaves it to {e.elsewhere['resolve']}" for e in (one, two) if "resolve" in e.elsewhere]
    resolution = [] if left_out else list(_resolution(one, two))
    return Difference(a, b, rules, same, _moved(one, two), resolution, left_out)


def pairs(one: Edition, two: Edition) -> Iterator[tuple[str, str]]:
    """The rules that both have, by each document's name, in the order of the first."""
    left = {plain(rule.name): rule.name for rule in one.grammar.rules.values()}
    right = {plain(rule.name): rule.name for rule in two.grammar.rules.values()}
    for key, name in left.items():
        renamed = [right[plain(row[two.name])] for row in CORRESPONDING
                   if plain(row.get(one.name, "")) == key and plain(row.get(two.name, "")) in right]  # fmt: skip
        for other in renamed or ([right[key]] if key in right else []):
            yield name, other


def _rule(one: Edition, left: str, two: Edition, right: str, strings: int) -> RuleDifference:
    a, b = one.grammar.automaton(left), two.grammar.automaton(right)
    if a == b:
        return RuleDifference(left, right, (), ())
    return RuleDifference(left, right, _shortest(a, b, strings), _shortest(b, a, strings))


def _shortest(taking: Automaton, refusing: Automaton, strings: int) -> tuple[str, ...]:
    """A few of the shortest strings; where those are single characters, all of them."""
    found = taking.beyond(refusing)
    if found and len(found[0]) == 1:
        return tuple(char for char in map(chr, range(0x80)) if taking.accepts(char) and not refusing.accepts(char))
    return tuple(found[:strings])


def _moved(one: Edition, two: Edition) -> list[Moved]:
    """The marks whose class has another name, grouped; letters and digits are ordinary in all documents."""
    groups: dict[tuple[str | None, str | None], str] = {}
    mine, others = one.classes, two.classes
    for char in map(chr, range(0x20, 0x7F)):
        key = (_class(mine, char), _class(others, char))
        if not char.isalnum() and key[0] != key[1]:
            groups[key] = groups.get(key, "") + char
    return [Moved(characters, *key) for key, characters in groups.items()]


def _class(classes: dict[str, frozenset[str]], char: str) -> str | None:
    return min((name for name, held in classes.items() if char in held), key=lambda n: len(classes[n]), default=None)


def _resolution(one: Edition, two: Edition) -> Iterator[Resolved]:
    """The documents' own tables; then, of each kind of base and reference, the shortest that the two part in."""
    for base in BASES:
        for reference in REFERENCES:
            a, b = (_answer(e, base, reference) for e in (one, two))
            if a != b:
                yield Resolved(base, reference, a, b)
    met: set[tuple[str, _Kind]] = set()
    for base, reference, kind in _universe(one, two):
        # What has a scheme or an authority goes by itself, whatever the base is.
        key = ("" if kind.prefix in ("//h/", "http://h/") else base, kind)
        if key in met or (key[0], kind._replace(query="")) in met:
            continue
        a, b = (_answer(e, base, reference) for e in (one, two))
        if a != b:
            met.add(key)
            yield Resolved(base, reference, a, b)


class _Kind(NamedTuple):
    """What a resolution algorithm can tell of a reference."""

    prefix: str
    dots: bool
    """Whether "." is a segment."""
    up: bool
    """Whether ".." follows a name."""
    excess: int
    """How many ".." stand where no name is before them; two are as many as more."""
    named: bool
    """Whether it ends with a name."""
    query: str


# A scheme with and without authority, and paths that are empty, rootless and absolute (RFC 3986 3.3).
_BASE_SHAPES = ("x:", "x:a", "x:a/b", "x:/a/b", "http://h", "http://h/a/b", "http://h/a/b?q")


@cache
def _references() -> tuple[tuple[str, _Kind], ...]:
    """References out of what the grammars derive: an absolute, network-path, absolute-path or relative beginning, up
    to four segments that are names or dots, a query without and with dots; the shortest first."""
    found: list[tuple[str, _Kind]] = []
    shapes = chain.from_iterable(product((".", "..", "x"), repeat=n) for n in range(5))
    for shape, prefix, query in product(shapes, ("", "/", "//h/", "http://h/"), ("", "?y", "?y/../z")):
        # The last name tells itself from those within.
        last = ["y" if "//" in prefix else "g"] if shape and shape[-1] == "x" else list(shape[-1:])
        path = "/".join([*shape[:-1], *last])
        depth, up, excess = 0, False, 0
        for one in shape:
            up, excess = up or (one == ".." and depth > 0), min(2, excess + (one == ".." and depth == 0))
            depth = depth + (one == "x") - (one == ".." and depth > 0)
        kind = _Kind(prefix, "." in shape, up, excess, shape[-1:] == ("x",), query)
        found.append((prefix + path + query, kind))
    return tuple(sorted(found, key=lambda one: (len(one[0]), one[0])))


def _universe(one: Edition, two: Edition) -> Iterator[tuple[str, str, _Kind]]:
    """Bases and references that both documents' grammars derive."""
    rules = ("url-reference", "uri-reference")
    tops = [next((r for r in e.grammar.rules if plain(r) in rules), e.top) for e in (one, two)]
    for base in _BASE_SHAPES:
        if not all(e.is_valid(base, top) for e, top in zip((one, two), tops, strict=True)):
            continue
        for reference, kind in _references():
            if all(e.is_valid(reference, top) for e, top in zip((one, two), tops, strict=True)):
                yield base, reference, kind


def _answer(edition: Edition, base: str, reference: str) -> str:
    try:
        return shown_target(edition.resolve(base, reference))
    except NotSpecified:
        return "not specified"
    except OverthereError:
        return "refused"
