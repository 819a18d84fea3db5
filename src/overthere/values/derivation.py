"""Finds every reason why a rule does not derive a text, part by part.

The automaton of the rule reads the text.  Where it stops is a finding; then the character is skipped, and reading
continues in the same state, so that each fault is reported once, at its place.
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
from overthere.ground.exact import exact_limit
from overthere.ground.redact import overlaps, secret_spans
from overthere.kernel.reference import Parts as Generic

Parts = Callable[[str], Mapping[str, str | None]]

# The rules for whole URIs or references, by the names in the documents.
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
        subject = "end of text" if start >= end else "character of the password" if secret else name_of(text[start])
        message = KINDS["not-derivable"].message.format(it=subject)
        return Finding(
            "not-derivable", start, end, component or name, name, describe_expected(state), document, message
        )

    places = _places(dfa, text)
    first = sorted(islice(places, exact_limit(limit)))
    findings = [finding(*item) for item in zip(first, _components(first, spans, len(text)), strict=True)]
    if unlisted := sum(1 for _ in places):
        message = KINDS["more"].message.format(it=f"{unlisted:,}")
        findings.append(Finding("more", len(text), len(text), KINDS["more"].component, name, "", document, message))
    return findings


def _places(dfa: Automaton, text: str) -> Iterator[_Place]:
    """Yield where the automaton stops, in one pass: runs of characters, and the end of an incomplete text."""
    state, offset = dfa.start, 0
    escape: tuple[int, int] | None = None  # offset of a "%" whose digits must follow, and the state before it
    pending: _Place | None = None
    while offset < len(text):
        char = text[offset]
        next_state = state
        for byte in char.encode("utf-8", "surrogatepass"):
            next_state = dfa.table[next_state * dfa.width + dfa.classes[byte]]
            if not next_state:
                break
        if next_state:
            if char == "%":
                escape = offset, state
            elif escape is not None and offset - escape[0] >= 2:
                escape = None
            state, offset = next_state, offset + 1
            continue
        if pending is not None and pending.end == offset and pending.state == state:
            pending = pending._replace(end=offset + 1)
        else:
            if pending is not None:
                yield pending
            pending = _Place(offset, offset + 1, state)
        # After a "%" that does not begin an escape, reading continues as if it was missing.
        if escape is not None and offset - escape[0] <= 2:
            offset, state = escape
            escape = None
        offset += 1
    if pending is not None:
        yield pending
    # If the last characters were skipped, the early end is a consequence of that.
    if state not in dfa.accepting and (pending is None or pending.end < len(text)):
        yield _Place(len(text), len(text), state)


def parts_of_any(split: Callable[[str], Generic], parts: Parts) -> Parts:
    """Return the parts of any text; of a text without a scheme, which some editions exclude, the generic parts."""

    def parts_of(text: str) -> Mapping[str, str | None]:
        generic = split(text)
        return generic._asdict() if generic.scheme is None else parts(text)

    return parts_of


def locate_parts(text: str, parts: Parts) -> list[tuple[str, int, int]]:
    """Return the parts of a text with their places: name, start, end; undefined parts are left out.

    A part may hold others (`_HOLDS`), which follow it.  The list is empty if the text has no parts.

    >>> locate_parts("//h/h", lambda _: {"authority": "h", "userinfo": None, "host": "h", "path": "/h"})
    [('authority', 2, 3), ('host', 2, 3), ('path', 3, 5)]
    """
    try:
        values = parts(text)
    except InvalidURI:
        return []
    places: list[tuple[str, int, int]] = []
    holders: list[tuple[str, int]] = []  # parts that may hold the next one, with their ends
    offset = 0
    for name, value in values.items():
        if value is None:
            continue
        kind = name.partition("[")[0]
        while holders and kind not in _HOLDS[holders[-1][0]]:
            offset = holders.pop()[1]
        start = text.find(value, offset, holders[-1][1] if holders else len(text))
        if start < 0:
            continue
        end = start + len(value)
        places.append((name, start, end))
        if kind in _HOLDS:
            holders.append((kind, end))
        offset = start if kind in _HOLDS else end
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
    """Yield for each place the innermost part that contains it; the end of the text belongs to the last part."""
    following_spans, open_spans = deque(spans), list[tuple[str, int, int]]()
    for place in places:
        while following_spans and following_spans[0][1] <= place.start:
            open_spans.append(following_spans.popleft())
        while open_spans and not (place.start < open_spans[-1][2] or place.start == open_spans[-1][2] == size):
            open_spans.pop()
        yield open_spans[-1][0] if open_spans else None
