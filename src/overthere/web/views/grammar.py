"""The automaton of a rule: its states and transitions, and the path of a text through it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from overthere.editions import edition as named
from overthere.editions.readings import compare_key
from overthere.grammar.automaton import DEAD, Automaton
from overthere.ground.errors import GrammarError, NotRegular
from overthere.ground.redact import mask_equal_length
from overthere.web.model import BadInput, Example, Input, View
from overthere.web.views.witnesses import EDITIONS

_MAX_DRAWN_STATES = 64
"""Maximum states of a drawing: a larger one is not readable."""
_NAME = re.compile(r'"[^"]*"|%x[0-9A-Fa-f.-]+|([A-Za-z][A-Za-z0-9_-]*)')


class State(NamedTuple):
    """A state from which a valid text can be reached."""

    number: int
    accepting: bool
    visited: bool
    """Whether the text passes through it."""


class Move(NamedTuple):
    """Characters that lead from one state to another."""

    origin: int
    target: int
    characters: str
    taken: bool


class Machine(NamedTuple):
    """The minimal automaton of a rule."""

    edition: str
    rule: str
    production: str
    uses: list[str]
    """The rules of the document that its production names."""
    rules: list[str]
    """All rules of the document."""
    text: str
    problem: str | None = None
    """Why the rule has no automaton."""
    states: int = 0
    """Without the dead state."""
    start: int = 0
    nodes: Sequence[State] = ()
    """Empty if a drawing would have too many."""
    moves: Sequence[Move] = ()
    read: int = 0
    """Length of the longest start of the text that can still become valid."""
    accepted: bool = False
    expected: str = ""
    """The characters that can follow there."""


def machine(edition: str, rule: str, text: str) -> Machine:
    """Return the value of the view.  Raises: BadInput if the document has no such rule."""
    document = named(edition)
    grammar = document.grammar
    try:
        rule_entry = grammar.rule(rule)
    except GrammarError as error:
        raise BadInput(f"{document.document}: {error}") from None
    names = [entry.name for entry in grammar.rules.values()]
    lower = {compare_key(name): name for name in names}
    used_keys = (compare_key(match[1]) for match in _NAME.finditer(rule_entry.text) if match[1])
    uses = list(dict.fromkeys(lower[name] for name in used_keys if name in lower))
    result = Machine(edition, rule_entry.name, rule_entry.text, uses, names, mask_equal_length(text)[0])
    try:
        automaton = grammar.automaton(rule)
    except NotRegular as error:
        return result._replace(problem=str(error))
    live = automaton.states - 1
    path, expected = _path_through(automaton, text), automaton.expected(text)
    is_drawn = 0 < live <= _MAX_DRAWN_STATES
    return result._replace(
        states=live, start=automaton.start, read=expected.offset, accepted=automaton.accepts(text),
        expected=grammar.describe(expected),
        nodes=_nodes(automaton, set(path)) if is_drawn else [],
        moves=_moves(automaton, set(pairwise(path))) if is_drawn else [],
    )  # fmt: skip


def _path_through(automaton: Automaton, text: str) -> list[int]:
    """Return the states that a text passes through."""
    path = [automaton.start]
    for byte in text.encode("utf-8", "surrogatepass"):
        state = automaton.table[path[-1] * automaton.width + automaton.classes[byte]]
        if state == DEAD:
            break
        path.append(state)
    return path


def _nodes(automaton: Automaton, visited: set[int]) -> list[State]:
    """Return the live states, the nearest to the start first."""
    order = {automaton.start: None}
    queue = [automaton.start]
    for state in queue:
        for target in automaton.table[state * automaton.width : (state + 1) * automaton.width]:
            if target != DEAD and target not in order:
                order[target] = None
                queue.append(target)
    return [State(state, state in automaton.accepting, state in visited) for state in order]


def _moves(automaton: Automaton, path_moves: set[tuple[int, int]]) -> list[Move]:
    bytes_by_move: dict[tuple[int, int], list[int]] = {}
    for state in range(1, automaton.states):
        for byte in range(256):
            target = automaton.table[state * automaton.width + automaton.classes[byte]]
            if target != DEAD:
                bytes_by_move.setdefault((state, target), []).append(byte)
    return [Move(*pair, characters(octets), pair in path_moves) for pair, octets in bytes_by_move.items()]


def characters(octets: list[int]) -> str:
    """Write sorted octets as people write a character class.

    >>> characters([43, 45, 46, *range(0x61, 0x7B)]), characters([0x20, 0x80, 0x81, 0x82])
    ('a–z + - .', 'U+0020 octets 80–82')
    """
    ranges: list[list[int]] = []
    for octet in octets:
        if ranges and octet == ranges[-1][1] + 1 and _kind(octet) == _kind(ranges[-1][1]):
            ranges[-1][1] = octet
        else:
            ranges.append([octet, octet])
    ranges.sort(key=lambda item: (_kind(item[0]), item))
    words: list[str] = []
    for low, high in ranges:
        if low >= 0x80:
            words.append(f"octets {low:02X}–{high:02X}" if high > low else f"octet {low:02X}")
        elif _kind(low) < 3 and high - low > 1:
            words.append(f"{chr(low)}–{chr(high)}")
        elif _kind(low) == 4 and high > low:
            words.append(f"U+{low:04X}–{high:04X}")
        else:
            words += [chr(item) if 0x20 < item < 0x7F else f"U+{item:04X}" for item in range(low, high + 1)]
    return " ".join(words)


def _kind(octet: int) -> int:
    """Return a sort key: letters, digits, marks, controls, octets beyond US-ASCII."""
    char = chr(octet)
    if octet >= 0x80:
        return 5
    if char.isalpha():
        return 0 if char.isupper() else 1
    return 2 if char.isdigit() else 3 if 0x20 < octet < 0x7F else 4


VIEW = View(
    "grammar",
    "Grammar",
    "The minimal automaton of a rule as a drawing, and how far a text gets in it.",
    (
        Input("edition", "Document", default="rfc3986", kind="choice", choices=EDITIONS),
        Input("rule", "Rule", "As the document names it.", default="scheme", limit=100),
        Input("text", "Text", "Read by the rule, character by character.", default=""),
    ),
    machine,
    python="from overthere import check\nprint(check({text}, rule={rule}, edition={edition}))",
    command="overthere check --edition {edition} --rule {rule} -- {text}",
    examples=(
        Example("A scheme", {"rule": "scheme", "text": "h2tp"}),
        Example("An IPv4 address", {"rule": "IPv4address", "text": "127.0.0.256"}),
        Example("A host name of 1738", {"edition": "rfc1738", "rule": "host", "text": "a-.b"}),
        Example("A segment that is not empty", {"rule": "segment-nz", "text": "a%2"}),
    ),
    masked=False,
)
