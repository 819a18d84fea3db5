"""Matches a URI against a template and returns the variables (RFC 6570 1.4), in one pass.

The template is an automaton over characters and escapes whose paths are its readings.  A set of its states is one
integer with a bit for each state: a character is read by a few shifts, however many variables there are (Baeza-Yates
and Gonnet 1992; Navarro and Raffinot 2002, 4.2.2).  On the way back from the end, a state that is reached from two
others shows a second reading; no path is tried twice, whatever the template.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice
from math import isqrt
from typing import Any, NamedTuple

from overthere.kernel.classes import CHARSETS
from overthere.values.template.expand import OPERATORS, Expression, Variable, literal

_TOKEN = re.compile("%[0-9A-Fa-f]{2}|.", re.DOTALL)
_UNRESERVED = frozenset(CHARSETS["unreserved"])
_RESERVED = frozenset(":/?#[]@!$&'()*+,;=")


class Ambiguous(Exception):
    """A text has two readings; `variable` is the first that has different values in them."""

    def __init__(self, variable: Variable) -> None:
        self.variable = variable


def unescape_tokens(text: str) -> list[str]:
    """Return characters and escapes, equal where RFC 3986 6.2.2.1 and 6.2.2.2 say that they are equivalent."""
    return [_token(token) for token in _TOKEN.findall(text)]


def _token(token: str) -> str:
    if len(token) == 1:
        return token
    character = chr(int(token[1:], 16))
    return character if character in _UNRESERVED else token.upper()


class _Edge(NamedTuple):
    source: int
    token: str
    """The token that is read: one character or escape; `_SIMPLE` or `_ANY`; "" for nothing."""
    begins: Variable | None
    """The variable of which a value, or a member of one, begins after the edge."""
    keeps: bool
    """Whether the token belongs to the value."""


# Classes of characters, by names that are not tokens; after `_ANY` follow the delimiters that the template writes
# later.
_SIMPLE, _ANY = "simple", "any"


def _fits(edge: str, token: str) -> bool:
    if edge == _SIMPLE:
        return token in _UNRESERVED or len(token) == 3
    if edge.startswith(_ANY):
        return token in _UNRESERVED or len(token) == 3 or (token in _RESERVED and token not in edge)
    return edge == token


def _opens(part: str | Expression, delimiter: str) -> bool:
    return delimiter in part if isinstance(part, str) else part.operator == delimiter


_ROLES = 7
_NONE, _TRACE, _SOME, _ENTRY, _VALUE, _NAME, _EQUALS = range(_ROLES)
"""What a state knows of its expression: nothing is written yet; an empty value that left no trace; some text is
written; the rest are within a variable."""

_Group = tuple[int, int]
"""States, and the number of bits to the states that follow them."""


def _shift_states(states: int, group: _Group) -> int:
    mask, shift = group
    return (states & mask) << shift if shift >= 0 else (states & mask) >> -shift


class _Graph:
    """An automaton whose states are a role at a place: each token of the template has a place, and each variable
    without a name.

    Its number is `place + role * places`, so that equal steps are shifts by the same number of bits.
    """

    def __init__(self, parts: Sequence[str | Expression]) -> None:
        self.into: dict[int, list[_Edge]] = {}
        """The edges to each state."""
        self._places = 1 + sum(map(_length, parts))
        self._groups: dict[str, dict[int, int]] = {}
        """By token: the states that it leads on from, by the number of bits."""
        self._fitting: dict[str, list[_Group]] = {}
        self._delimiters = ""
        last = {c: number for number, part in enumerate(parts) for c in "?#" if _opens(part, c)}
        place = 0
        for number, part in enumerate(parts):
            if isinstance(part, str):
                place = self._chain(place, unescape_tokens(literal(part)), _NONE)
            else:
                self._delimiters = "".join(c for c in "?#" if last.get(c, 0) > number)
                place = self._expression(place, part)
        self.end = place
        empty_edges = self._groups.pop("", {})
        size = self._places
        self._skips = [empty_edges.get(1, 0) & (((1 << size) - 1) << role * size) for role in (_NONE, _TRACE, _SOME)]
        self._leaves = [
            (empty_edges[shift], shift)
            for shift in (self._role_shift(role, _SOME) + 1 for role in (_VALUE, _NAME, _EQUALS))
            if shift in empty_edges
        ]
        self._ends, self._begins, self._traces = (
            (empty_edges.get(shift, 0), shift)
            for shift in (
                self._role_shift(_SOME, _NONE),
                self._role_shift(_NONE, _ENTRY),
                self._role_shift(_ENTRY, _TRACE) + 1,
            )
        )

    def _role_shift(self, source: int, target: int) -> int:
        return (target - source) * self._places

    def _add(
        self,
        source: tuple[int, int],
        target: tuple[int, int],
        token: str,
        begins: Variable | None = None,
        keeps: bool = False,
    ) -> None:
        """Places and roles."""
        start, end = (place + role * self._places for place, role in (source, target))
        self.into.setdefault(end, []).append(_Edge(start, token, begins, keeps))
        group = self._groups.setdefault(token, {})
        group[end - start] = group.get(end - start, 0) | 1 << start

    def _chain(self, place: int, tokens: Sequence[str], role: int) -> int:
        for token in tokens:
            self._add((place, role), (place + 1, role), token)
            place += 1
        return place

    def _expression(self, place: int, part: Expression) -> int:
        how = OPERATORS[part.operator]
        roles: tuple[int, ...] = (_NONE,)
        for variable in part.variables:
            starts = [(role, how.first if role == _NONE else how.sep) for role in roles if role != _NONE or how.first]
            if how.named:
                place = self._add_named(place, variable, roles, starts, how.ifemp, how.sep)
                roles = _NONE, _SOME
            else:
                place = self._add_unnamed(place, variable, roles, starts, how.sep, has_bare_value=not how.first)
                roles = (_NONE, _SOME) if how.first else (_NONE, _TRACE, _SOME)
        if part.variables:
            self._add((place, _SOME), (place, _NONE), "")
        return place

    def _add_skips(self, at: int, after: int, roles: Sequence[int]) -> None:
        """Add edges that skip an undefined variable."""
        for role in roles:
            for place in range(at, after):
                self._add((place, role), (place + 1, role), "")

    def _add_unnamed(
        self, place: int, variable: Variable, roles: Sequence[int], starts: Sequence[tuple[int, str]], sep: str, *,
        has_bare_value: bool,
    ) -> int:  # fmt: skip
        characters = _ANY + self._delimiters if variable.operator in ("+", "#") else _SIMPLE
        value, next_place = (place, _VALUE), place + 1
        self._add_skips(place, next_place, roles)
        for role, token in starts:
            self._add((place, role), value, token, variable)
        self._add(value, value, characters, keeps=True)
        self._add(value, (next_place, _SOME), "")
        if variable.explode:
            self._add(value, value, sep, variable)
        if has_bare_value:
            entry = place, _ENTRY
            self._add((place, _NONE), entry, "", variable)
            self._add(entry, value, characters, keeps=True)
            self._add(entry, (next_place, _TRACE), "")
            if variable.explode:
                self._add(entry, value, sep, variable)
        return next_place

    def _add_named(
        self, at: int, variable: Variable, roles: Sequence[int], starts: Sequence[tuple[int, str]], ifemp: str, sep: str
    ) -> int:
        name = at, _NAME
        for role, token in starts:
            self._add((at, role), name, token, variable)
        last = at
        if variable.explode:
            self._add(name, name, _SIMPLE, keeps=True)
        else:
            last = self._chain(at, unescape_tokens(variable.name), _NAME)
        self._add_skips(at, last + 1, roles)
        # After ";" an empty value has no "=", after "?" and "&" it has one (Appendix A).
        value = last, _VALUE
        equals = value if ifemp else (last, _EQUALS)
        self._add((last, _NAME), equals, "=", keeps=variable.explode)
        self._add(value, value, _SIMPLE, keeps=True)
        if not ifemp:
            self._add(equals, value, _SIMPLE, keeps=True)
        for state in (value,) if ifemp else (value, (last, _NAME)):
            self._add(state, (last + 1, _SOME), "")
            if variable.explode:
                self._add(state, name, sep, variable)
        return last + 1

    def step(self, states: int, token: str) -> int:
        """Return the states after a token; 0 if there are none."""
        if (groups := self._fitting.get(token)) is None:
            masks_by_shift = dict[int, int]()
            for edge, masks in self._groups.items():
                if _fits(edge, token):
                    for shift, mask in masks.items():
                        masks_by_shift[shift] = masks_by_shift.get(shift, 0) | mask
            groups = self._fitting[token] = [(mask, shift) for shift, mask in masks_by_shift.items()]
        next_states = 0
        for group in groups:
            next_states |= _shift_states(states, group)
        return self.closure(next_states) if next_states else 0

    def closure(self, states: int) -> int:
        """Add the states that are reached without a token: written values, then the end, then skipped variables."""
        for group in self._leaves:
            states |= _shift_states(states, group)
        none, trace, some = self._skips
        states = _fill_skips(states, some)
        states |= _shift_states(states, self._ends)
        states = _fill_skips(states, none)
        states |= _shift_states(states, self._begins)
        states |= _shift_states(states, self._traces)
        return _fill_skips(states, trace)


def _length(part: str | Expression) -> int:
    """Return the number of places of a part."""
    if isinstance(part, str):
        return len(unescape_tokens(literal(part)))
    if not OPERATORS[part.operator].named:
        return len(part.variables)
    return sum(1 if variable.explode else 1 + len(unescape_tokens(variable.name)) for variable in part.variables)


def _fill_skips(states: int, skips: int) -> int:
    """Add each state after a run of `skips` that begins at a state of the set: a carry runs through them."""
    run_starts = states & skips
    return states | run_starts | ((skips + run_starts) ^ skips) if run_starts else states


class _Reading:
    """The states after each token: some sets are stored, the others are computed again from these (Munro 1979)."""

    def __init__(self, graph: _Graph, tokens: list[str]) -> None:
        self.graph, self.tokens = graph, tokens
        self.stride = isqrt(len(tokens)) + 1
        self.stored_states: list[int] = []
        self.runs: dict[int, list[int]] = {}
        """The last two stretches that were computed again."""
        self.states = graph.closure(1)
        for index, token in enumerate(tokens):
            if index % self.stride == 0:
                self.stored_states.append(self.states)
            self.states = graph.step(self.states, token)
            if not self.states:
                return
        if len(tokens) % self.stride == 0:
            self.stored_states.append(self.states)

    def states_after(self, count: int) -> int:
        """Return the states after `count` tokens."""
        run, place = divmod(count, self.stride)
        if run not in self.runs:
            tokens = self.tokens[run * self.stride : (run + 1) * self.stride - 1]
            run_states = list(accumulate(tokens, self.graph.step, initial=self.stored_states[run]))
            self.runs = {run: run_states, **dict(islice(self.runs.items(), 1))}
        return self.runs[run][place]

    def edges_to(self, at: int, state: int) -> Iterator[tuple[int, _Edge]]:
        """Yield the edges to a state that is reached after `at` tokens, each with the number of tokens before it."""
        for edge in self.graph.into.get(state, ()):
            if not edge.token:
                if self.states_after(at) >> edge.source & 1:
                    yield at, edge
            elif at and _fits(edge.token, self.tokens[at - 1]) and self.states_after(at - 1) >> edge.source & 1:
                yield at - 1, edge


def match(parts: Sequence[str | Expression], text: str) -> dict[str, Any] | None:
    """Return the only reading of the text, by name; None if it has none.  Raises: Ambiguous."""
    graph = _Graph(parts)
    tokens = unescape_tokens(text)
    reading = _Reading(graph, tokens)
    if not reading.states >> graph.end & 1:
        return None
    path = list[tuple[_Edge, int]]()
    position, state = len(tokens), graph.end
    fork: tuple[int, int] | None = None
    while edges := list(islice(reading.edges_to(position, state), 2)):
        if len(edges) > 1:
            fork = position, state
        position, edge = edges[0]
        path.append((edge, position))
        state = edge.source
    if fork is not None:
        raise Ambiguous(_ambiguous_variable(reading, fork))
    path.reverse()
    return _values(path, tokens)


def _values(path: list[tuple[_Edge, int]], tokens: list[str]) -> dict[str, Any]:
    values = dict[str, Any]()
    for variable, pieces in _members(path, tokens):
        value = [_value(variable, piece) for piece in pieces]
        if not variable.explode:
            result: Any = value[0]
        elif OPERATORS[variable.operator].named:
            pairs = [_pair(piece) for piece in pieces]
            has_own_names = all(name == _decode_value(variable.name) for name, _ in pairs)
            result = [member for _, member in pairs] if has_own_names else pairs
        else:
            result = value
        # A whole value tells more than its prefix, and decoded text more than undecoded.
        is_complete = variable.prefix is None and variable.operator not in ("+", "#")
        if is_complete or variable.name not in values:
            values[variable.name] = result
    return values


def _members(path: list[tuple[_Edge, int]], tokens: list[str]) -> list[tuple[Variable, list[list[str]]]]:
    members = list[tuple[Variable, list[list[str]]]]()
    for edge, index in path:
        if edge.begins is not None:
            if not members or members[-1][0] is not edge.begins:
                members.append((edge.begins, []))
            members[-1][1].append([])
        if edge.keeps:
            members[-1][1][-1].append(tokens[index])
    return members


def _ambiguous_variable(reading: _Reading, fork: tuple[int, int]) -> Variable:
    """Return the variable in which two paths to the same state last were: there the readings diverge."""
    for last_edge in islice(reading.edges_to(*fork), 2):
        step: tuple[int, _Edge] | None = last_edge
        while step is not None:
            position, edge = step
            if edge.begins is not None:
                return edge.begins
            step = next(reading.edges_to(position, edge.source), None)
    raise AssertionError("the readings differ only in variables")  # pragma: no cover


def _value(variable: Variable, piece: list[str]) -> str | bytes:
    text = "".join(piece)
    return text if variable.operator in ("+", "#") else _decode_value(text)


def _decode_value(text: str) -> str | bytes:
    from overthere.values.encoding import decode_bytes

    octets = decode_bytes(text)
    try:
        return octets.decode()
    except UnicodeDecodeError:
        return octets


def _pair(piece: list[str]) -> tuple[str | bytes, str | bytes]:
    name, _, value = "".join(piece).partition("=")
    return _decode_value(name), _decode_value(value)
