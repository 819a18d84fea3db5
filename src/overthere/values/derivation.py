"""Finds every reason why a rule does not derive a text, part by part.

The automaton of the rule reads the text.  Where it stops is a finding; the character is passed over, and the reading
goes on in the same state, so that each fault is told once and where it stands.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from typing import NamedTuple

from overthere.grammar import Grammar
from overthere.grammar.automaton import Automaton, Expected
from overthere.ground.display import name_of
from overthere.ground.errors import KINDS, Finding, InvalidURI
from overthere.ground.redact import overlaps, secret_spans
from overthere.kernel.reference import Parts as Generic

__all__ = ["check_rule", "locate_parts", "parts_of_any"]

Parts = Callable[[str], Mapping[str, str | None]]

# The rules whose texts have the parts of a whole URI or reference, by the documents' ways to name them.
_WHOLE = re.compile("(?i)(?!ip).*(?:url|uri|reference|relative-ref|address|address-prose|address-printed|namestring)")


class _Place(NamedTuple):
    start: int
    end: int
    state: int


def check_rule(
    grammar: Grammar, text: str, rule: str, document: str, limit: int | None = None, parts: Parts | None = None
) -> list[Finding]:
    """The findings on a text by the automaton of any one rule: where it stops, and what could have followed.

    limit: the most findings to list; a last one of the kind "more" counts the rest.
    parts: the parts of a whole text, by the names of the document, in their order; they are the findings' components.
    """
    dfa = grammar.automaton(rule)
    if dfa.accepts(text):
        return []
    name = grammar.rule(rule).name
    spans = locate_parts(text, parts) if parts is not None and _WHOLE.fullmatch(name) else []
    passwords = secret_spans(text)

    @cache
    def describe_expected(state: int) -> str:
        follow = dfa.follow(state)
        ascii_only = frozenset(chr(b) for b in follow if b < 0x80)
        return grammar.describe(Expected(0, ascii_only, len(ascii_only) < len(follow), state in dfa.accepting))

    def finding(place: _Place, component: str | None) -> Finding:
        start, end, state = place
        secret = overlaps(passwords, start, end)
        it = "end of text" if start >= end else "character of the password" if secret else name_of(text[start])
        message = KINDS["not-derivable"].message.format(it=it)
        return Finding(
            "not-derivable", start, end, component or name, name, describe_expected(state), document, message
        )

    places = _places(dfa, text)
    first = sorted(islice(places, limit))
    listed = [finding(*told) for told in zip(first, _components(first, spans, len(text)), strict=True)]
    if rest := sum(1 for _ in places):
        message = KINDS["more"].message.format(it=f"{rest:,}")
        listed.append(Finding("more", len(text), len(text), KINDS["more"].component, name, "", document, message))
    return listed


def _places(dfa: Automaton, text: str) -> Iterator[_Place]:
    """Where the automaton stops, in one pass: runs of characters, and the end of a text that is not complete."""
    state, at = dfa.start, 0
    escape: tuple[int, int] | None = None  # where a "%" stands that its digits must follow, and the state before it
    held: _Place | None = None
    while at < len(text):
        char = text[at]
        after = state
        for octet in char.encode("utf-8", "surrogatepass"):
            after = dfa.table[after * dfa.width + dfa.classes[octet]]
            if not after:
                break
        if after:
            if char == "%":
                escape = at, state
            elif escape is not None and at - escape[0] >= 2:
                escape = None
            state, at = after, at + 1
            continue
        if held is not None and held.end == at and held.state == state:
            held = held._replace(end=at + 1)
        else:
            if held is not None:
                yield held
            held = _Place(at, at + 1, state)
        # Behind a "%" that does not begin an escape the text is read on, as if it was not there.
        if escape is not None and at - escape[0] <= 2:
            at, state = escape
            escape = None
        at += 1
    if held is not None:
        yield held
    # Where the last characters were passed over, an end that comes too early follows from it.
    if state not in dfa.accepting and (held is None or held.end < len(text)):
        yield _Place(len(text), len(text), state)


def parts_of_any(split: Callable[[str], Generic], parts: Parts) -> Parts:
    """The parts of any text: of one without a scheme, which an edition's own account leaves out, the generic ones."""

    def parts_of(text: str) -> Mapping[str, str | None]:
        generic = split(text)
        return generic._asdict() if generic.scheme is None else parts(text)

    return parts_of


def locate_parts(text: str, parts: Parts) -> list[tuple[str, int, int]]:
    """The parts of a text and where they stand: name, start, end; those that are undefined are left out.

    A part may hold others (`_HOLDS`), which follow it.  Nothing where the text has no parts.

    >>> locate_parts("//h/h", lambda _: {"authority": "h", "userinfo": None, "host": "h", "path": "/h"})
    [('authority', 2, 3), ('host', 2, 3), ('path', 3, 5)]
    """
    try:
        named = parts(text)
    except InvalidURI:
        return []
    places: list[tuple[str, int, int]] = []
    holders: list[tuple[str, int]] = []  # what the next part may stand in: its name, and where it ends
    at = 0
    for name, value in named.items():
        if value is None:
            continue
        kind = name.partition("[")[0]
        while holders and kind not in _HOLDS[holders[-1][0]]:
            at = holders.pop()[1]
        start = text.find(value, at, holders[-1][1] if holders else len(text))
        if start < 0:
            continue
        end = start + len(value)
        places.append((name, start, end))
        if kind in _HOLDS:
            holders.append((kind, end))
        at = start if kind in _HOLDS else end
    return places


# The parts that hold others, by the documents' names: RFC 3986 3.2; 2003 3.2; 1997 4.3.1, 4.3.2.
_HOLDS = {
    "authority": {"server", "userinfo", "host", "port", "reg-name"},
    "server": {"userinfo", "host", "port"},
    "site": {"user", "password", "host", "port"},
    "path": {"segment"},
    "segment": {"param"},
}


def _components(places: Iterable[_Place], spans: Iterable[tuple[str, int, int]], size: int) -> Iterator[str | None]:
    """For each place, in their order, the innermost part that it is in; the end of the text is in the part before."""
    coming, begun = deque(spans), list[tuple[str, int, int]]()
    for place in places:
        while coming and coming[0][1] <= place.start:
            begun.append(coming.popleft())
        while begun and not (place.start < begun[-1][2] or place.start == begun[-1][2] == size):
            begun.pop()
        yield begun[-1][0] if begun else None
