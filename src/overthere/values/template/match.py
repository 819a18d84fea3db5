"""Matches a URI against a template and returns the variables (RFC 6570 1.4), in one pass.

The template is an automaton over characters and escapes whose paths are its readings.  A set of its states is one
integer, a state a bit: a character is read by a few shifts of it, however many variables there are (Baeza-Yates and
Gonnet 1992; Navarro and Raffinot 2002, 4.2.2).  On the way back from the end a state that is reached from two others
shows a second reading; no way is tried twice, whatever the template.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice
from math import isqrt
from typing import Any, NamedTuple

from overthere.kernel.classes import CHARSETS
from overthere.values.template.expand import OPERATORS, Expression, Variable, literal

__all__ = ["Ambiguous", "match", "unescape_tokens"]

_TOKEN = re.compile("%[0-9A-Fa-f]{2}|.", re.DOTALL)
_UNRESERVED = frozenset(CHARSETS["unreserved"])
_RESERVED = frozenset(":/?#[]@!$&'()*+,;=")


class Ambiguous(Exception):
    """A text has two readings; `variable` is the first of which they say something else."""

    def __init__(self, variable: Variable) -> None:
        self.variable = variable


def unescape_tokens(text: str) -> list[str]:
    """Characters and escapes, alike where RFC 3986 6.2.2.1 and 6.2.2.2 say that they are."""
    return [_token(token) for token in _TOKEN.findall(text)]


def _token(token: str) -> str:
    if len(token) == 1:
        return token
    character = chr(int(token[1:], 16))
    return character if character in _UNRESERVED else token.upper()


class _Edge(NamedTuple):
    source: int
    token: str
    """What is read: one character or escape; `_SIMPLE` or `_ANY`; "" for nothing."""
    begins: Variable | None
    """The variable of which a value, or a member of one, begins behind the edge."""
    keeps: bool
    """Whether what is read belongs to the value."""


# Classes of characters, by names that are no token; behind `_ANY` stands what the template itself writes further on.
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
"""What a state knows of the expression it is in: nothing is written yet; an empty value that has left no trace; some
is written; the rest are within a variable."""

_Group = tuple[int, int]
"""States, and by how many bits those lie that follow them."""


def _shift_states(states: int, group: _Group) -> int:
    mask, by = group
    return (states & mask) << by if by >= 0 else (states & mask) >> -by


class _Graph:
    """A state is a role at a place: a place is a token of the template, and a variable without a name has one too.

    Its number is `place + role * places`, so that alike steps are shifts by the same number of bits.
    """

    def __init__(self, parts: Sequence[str | Expression]) -> None:
        self.into: dict[int, list[_Edge]] = {}
        """The edges that lead to a state."""
        self._places = 1 + sum(map(_length, parts))
        self._groups: dict[str, dict[int, int]] = {}
        """By token the states from which it leads on, by how many bits."""
        self._fitting: dict[str, list[_Group]] = {}
        self._delimiters = ""
        last = {c: number for number, part in enumerate(parts) for c in "?#" if _opens(part, c)}
        at = 0
        for number, part in enumerate(parts):
            if isinstance(part, str):
                at = self._chain(at, unescape_tokens(literal(part)), _NONE)
            else:
                self._delimiters = "".join(c for c in "?#" if last.get(c, 0) > number)
                at = self._expression(at, part)
        self.end = at
        nothing = self._groups.pop("", {})
        size = self._places
        self._skips = [nothing.get(1, 0) & (((1 << size) - 1) << role * size) for role in (_NONE, _TRACE, _SOME)]
        self._leaves = [
            (nothing[by], by)
            for by in (self._edge_mask(role, _SOME) + 1 for role in (_VALUE, _NAME, _EQUALS))
            if by in nothing
        ]
        self._ends, self._begins, self._traces = (
            (nothing.get(by, 0), by)
            for by in (
                self._edge_mask(_SOME, _NONE),
                self._edge_mask(_NONE, _ENTRY),
                self._edge_mask(_ENTRY, _TRACE) + 1,
            )
        )

    def _edge_mask(self, source: int, target: int) -> int:
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

    def _chain(self, at: int, tokens: Sequence[str], role: int) -> int:
        for token in tokens:
            self._add((at, role), (at + 1, role), token)
            at += 1
        return at

    def _expression(self, at: int, part: Expression) -> int:
        how = OPERATORS[part.operator]
        roles: tuple[int, ...] = (_NONE,)
        for variable in part.variables:
            ways = [(role, how.first if role == _NONE else how.sep) for role in roles if role != _NONE or how.first]
            if how.named:
                at = self._add_named(at, variable, roles, ways, how.ifemp, how.sep)
                roles = _NONE, _SOME
            else:
                at = self._add_unnamed(at, variable, roles, ways, how.sep, bare=not how.first)
                roles = (_NONE, _SOME) if how.first else (_NONE, _TRACE, _SOME)
        if part.variables:
            self._add((at, _SOME), (at, _NONE), "")
        return at

    def _skipped(self, at: int, after: int, roles: Sequence[int]) -> None:
        """A variable that is not defined."""
        for role in roles:
            for place in range(at, after):
                self._add((place, role), (place + 1, role), "")

    def _add_unnamed(
        self,
        at: int,
        variable: Variable,
        roles: Sequence[int],
        ways: Sequence[tuple[int, str]],
        sep: str,
        *,
        bare: bool,
    ) -> int:
        characters = _ANY + self._delimiters if variable.operator in ("+", "#") else _SIMPLE
        value, after = (at, _VALUE), at + 1
        self._skipped(at, after, roles)
        for role, token in ways:
            self._add((at, role), value, token, variable)
        self._add(value, value, characters, keeps=True)
        self._add(value, (after, _SOME), "")
        if variable.explode:
            self._add(value, value, sep, variable)
        if bare:
            entry = at, _ENTRY
            self._add((at, _NONE), entry, "", variable)
            self._add(entry, value, characters, keeps=True)
            self._add(entry, (after, _TRACE), "")
            if variable.explode:
                self._add(entry, value, sep, variable)
        return after

    def _add_named(
        self, at: int, variable: Variable, roles: Sequence[int], ways: Sequence[tuple[int, str]], ifemp: str, sep: str
    ) -> int:
        name = at, _NAME
        for role, token in ways:
            self._add((at, role), name, token, variable)
        last = at
        if variable.explode:
            self._add(name, name, _SIMPLE, keeps=True)
        else:
            last = self._chain(at, unescape_tokens(variable.name), _NAME)
        self._skipped(at, last + 1, roles)
        # After ";" an empty value has no "=", after "?" and "&" it has (Appendix A).
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
        """The states after a token; 0 if there are none."""
        if (groups := self._fitting.get(token)) is None:
            found = dict[int, int]()
            for edge, masks in self._groups.items():
                if _fits(edge, token):
                    for by, mask in masks.items():
                        found[by] = found.get(by, 0) | mask
            groups = self._fitting[token] = [(mask, by) for by, mask in found.items()]
        after = 0
        for group in groups:
            after |= _shift_states(states, group)
        return self.closure(after) if after else 0

    def closure(self, states: int) -> int:
        """With the states to which nothing read leads on: what is written, then the end, then what is left out."""
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
    """How many places a part takes."""
    if isinstance(part, str):
        return len(unescape_tokens(literal(part)))
    if not OPERATORS[part.operator].named:
        return len(part.variables)
    return sum(1 if one.explode else 1 + len(unescape_tokens(one.name)) for one in part.variables)


def _fill_skips(states: int, skips: int) -> int:
    """With each state behind those of `skips` that follow one another from a state on: a carry runs through them."""
    begun = states & skips
    return states | begun | ((skips + begun) ^ skips) if begun else states


class _Reading:
    """The states after each token: some of the sets are kept, and the others made again from there (Munro 1979)."""

    def __init__(self, graph: _Graph, tokens: list[str]) -> None:
        self.graph, self.tokens = graph, tokens
        self.stride = isqrt(len(tokens)) + 1
        self.kept: list[int] = []
        self.runs: dict[int, list[int]] = {}
        """Two of the stretches that were made again."""
        self.states = graph.closure(1)
        for at, token in enumerate(tokens):
            if at % self.stride == 0:
                self.kept.append(self.states)
            self.states = graph.step(self.states, token)
            if not self.states:
                return
        if len(tokens) % self.stride == 0:
            self.kept.append(self.states)

    def states_after(self, count: int) -> int:
        """The states after so many tokens."""
        run, place = divmod(count, self.stride)
        if run not in self.runs:
            tokens = self.tokens[run * self.stride : (run + 1) * self.stride - 1]
            made = list(accumulate(tokens, self.graph.step, initial=self.kept[run]))
            self.runs = {run: made, **dict(islice(self.runs.items(), 1))}
        return self.runs[run][place]

    def edges_to(self, at: int, state: int) -> Iterator[tuple[int, _Edge]]:
        """The edges by which a state is reached after so many tokens, each with how many were read before it."""
        for edge in self.graph.into.get(state, ()):
            if not edge.token:
                if self.states_after(at) >> edge.source & 1:
                    yield at, edge
            elif at and _fits(edge.token, self.tokens[at - 1]) and self.states_after(at - 1) >> edge.source & 1:
                yield at - 1, edge


def match(parts: Sequence[str | Expression], text: str) -> dict[str, Any] | None:
    """The one reading of the text, by name; None if there is none.  Raises: Ambiguous."""
    graph = _Graph(parts)
    tokens = unescape_tokens(text)
    reading = _Reading(graph, tokens)
    if not reading.states >> graph.end & 1:
        return None
    path = list[tuple[_Edge, int]]()
    at, state = len(tokens), graph.end
    fork: tuple[int, int] | None = None
    while ways := list(islice(reading.edges_to(at, state), 2)):
        if len(ways) > 1:
            fork = at, state
        at, edge = ways[0]
        path.append((edge, at))
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
            read: Any = value[0]
        elif OPERATORS[variable.operator].named:
            pairs = [_pair(piece) for piece in pieces]
            own = all(name == _decode_value(variable.name) for name, _ in pairs)
            read = [member for _, member in pairs] if own else pairs
        else:
            read = value
        # A whole value says more than a prefix of it, and what is decoded more than what is not.
        better = variable.prefix is None and variable.operator not in ("+", "#")
        if better or variable.name not in values:
            values[variable.name] = read
    return values


def _members(path: list[tuple[_Edge, int]], tokens: list[str]) -> list[tuple[Variable, list[list[str]]]]:
    members = list[tuple[Variable, list[list[str]]]]()
    for edge, at in path:
        if edge.begins is not None:
            if not members or members[-1][0] is not edge.begins:
                members.append((edge.begins, []))
            members[-1][1].append([])
        if edge.keeps:
            members[-1][1][-1].append(tokens[at])
    return members


def _ambiguous_variable(reading: _Reading, fork: tuple[int, int]) -> Variable:
    """The variable in which two paths to the same state last were: there the readings part."""
    for way in islice(reading.edges_to(*fork), 2):
        here: tuple[int, _Edge] | None = way
        while here is not None:
            at, edge = here
            if edge.begins is not None:
                return edge.begins
            here = next(reading.edges_to(at, edge.source), None)
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
