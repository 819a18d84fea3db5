"""From a URI back to the variables of its template (RFC 6570 1.4): every reading at once, in one pass.

The template is an automaton over characters and escapes whose paths are its readings.  One pass over the text counts
them, up to two, and keeps for each state one way back; no way is tried twice, whatever the template.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from overthere.kernel.classes import CHARSETS
from overthere.template_expand import OPERATORS, Expression, Variable, literal

__all__ = ["Ambiguous", "match", "unescaped"]

_TOKEN = re.compile("%[0-9A-Fa-f]{2}|.", re.DOTALL)
_UNRESERVED = frozenset(CHARSETS["unreserved"])
_RESERVED = frozenset(":/?#[]@!$&'()*+,;=")


class Ambiguous(Exception):
    """A text has two readings; `variable` is the first of which they say something else."""

    def __init__(self, variable: Variable) -> None:
        self.variable = variable


def unescaped(text: str) -> list[str]:
    """Characters and escapes, alike where RFC 3986 6.2.2.1 and 6.2.2.2 say that they are."""
    return [_token(token) for token in _TOKEN.findall(text)]


def _token(token: str) -> str:
    if len(token) == 1:
        return token
    character = chr(int(token[1:], 16))
    return character if character in _UNRESERVED else token.upper()


class _Edge(NamedTuple):
    target: int
    token: str
    """What is read: one character or escape; a key of `_CLASSES`; "" for nothing."""
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


class _Graph:
    """States are numbered so that what reads nothing leads to a higher one."""

    def __init__(self, parts: Sequence[str | Expression]) -> None:
        self.edges: list[list[_Edge]] = [[]]
        self.end = 0
        self._delimiters = ""
        for place, part in enumerate(parts):
            if isinstance(part, str):
                self.end = self._chain(self.end, unescaped(literal(part)))
            else:
                self._delimiters = "".join(c for c in "?#" if any(_opens(later, c) for later in parts[place + 1 :]))
                self._expression(part)

    def _state(self) -> int:
        self.edges.append([])
        return len(self.edges) - 1

    def _add(self, source: int, target: int, token: str, begins: Variable | None = None, keeps: bool = False) -> None:
        self.edges[source].append(_Edge(target, token, begins, keeps))

    def _chain(self, at: int, tokens: Sequence[str]) -> int:
        for token in tokens:
            after = self._state()
            self._add(at, after, token)
            at = after
        return at

    def _expression(self, part: Expression) -> None:
        how = OPERATORS[part.operator]
        # Before each variable: nothing is written yet; an empty value that has left no trace; something is written.
        none: int = self.end
        trace: int | None = None
        some: int | None = None
        for variable in part.variables:
            ways: list[tuple[int, str]] = [(none, how.first)] if how.first else []
            ways += [(state, how.sep) for state in (trace, some) if state is not None]
            if how.named:
                none, trace, some = self._named(variable, none, some, ways, how.ifemp, how.sep)
            else:
                none, trace, some = self._unnamed(variable, (none, trace, some), ways, how.sep, not how.first)
        self.end = self._state()
        for state in (none, some):
            if state is not None:
                self._add(state, self.end, "")

    def _unnamed(
        self,
        variable: Variable,
        before: tuple[int, int | None, int | None],
        ways: list[tuple[int, str]],
        sep: str,
        bare: bool,
    ) -> tuple[int, int | None, int | None]:
        characters = _ANY + self._delimiters if variable.operator in ("+", "#") else _SIMPLE
        none, trace, some = before
        entry = self._state() if bare else None
        value = self._state()
        after = self._state(), self._state() if bare else None, self._state()
        self._add(none, after[0], "")
        if trace is not None and after[1] is not None:
            self._add(trace, after[1], "")
        if some is not None:
            self._add(some, after[2], "")
        for state, token in ways:
            self._add(state, value, token, variable)
        self._add(value, value, characters, keeps=True)
        self._add(value, after[2], "")
        if variable.explode:
            self._add(value, value, sep, variable)
        if entry is not None and after[1] is not None:
            self._add(none, entry, "", variable)
            self._add(entry, value, characters, keeps=True)
            self._add(entry, after[1], "")
            if variable.explode:
                self._add(entry, value, sep, variable)
        return after

    def _named(
        self, variable: Variable, none: int, some: int | None, ways: list[tuple[int, str]], ifemp: str, sep: str
    ) -> tuple[int, None, int]:
        name = self._state()
        for state, token in ways:
            self._add(state, name, token, variable)
        at = name
        if variable.explode:
            self._add(name, name, _SIMPLE, keeps=True)
        else:
            at = self._chain(name, unescaped(variable.name))
        # After ";" an empty value has no "=", after "?" and "&" it has (Appendix A).
        equals = self._state()
        value = equals if ifemp else self._state()
        self._add(at, equals, "=", keeps=variable.explode)
        self._add(equals, value, _SIMPLE, keeps=True)
        if value != equals:
            self._add(value, value, _SIMPLE, keeps=True)
        after = self._state(), self._state()
        self._add(none, after[0], "")
        if some is not None:
            self._add(some, after[1], "")
        for state in {value, value if ifemp else at}:
            self._add(state, after[1], "")
            if variable.explode:
                self._add(state, name, sep, variable)
        return after[0], None, after[1]


class _Way(NamedTuple):
    """How a state is reached: from which, by which edge; and whether by a second reading too."""

    source: int
    edge: _Edge | None
    twice: tuple[int, _Edge] | None


def match(parts: Sequence[str | Expression], text: str) -> dict[str, Any] | None:
    """The one reading of the text, by name; None if there is none.  Raises: Ambiguous."""
    graph = _Graph(parts)
    tokens = unescaped(text)
    steps: list[dict[int, _Way]] = [_closed(graph, {0: _Way(0, None, None)})]
    for token in tokens:
        reached = dict[int, _Way]()
        for state in steps[-1]:
            for edge in graph.edges[state]:
                if edge.token and _fits(edge.token, token):
                    _reach(reached, state, edge)
        if not reached:
            return None
        steps.append(_closed(graph, reached))
    if graph.end not in steps[-1]:
        return None
    return _values(graph, steps, tokens)


def _reach(reached: dict[int, _Way], source: int, edge: _Edge) -> None:
    known = reached.get(edge.target)
    if known is None:
        reached[edge.target] = _Way(source, edge, None)
    elif known.twice is None:
        reached[edge.target] = known._replace(twice=(source, edge))


def _closed(graph: _Graph, reached: dict[int, _Way]) -> dict[int, _Way]:
    """With the states to which nothing read leads on, each after those that lead to it."""
    from heapq import heapify, heappop, heappush

    waiting = list(reached)
    heapify(waiting)
    while waiting:
        state = heappop(waiting)
        for edge in graph.edges[state]:
            if not edge.token:
                if edge.target not in reached:
                    heappush(waiting, edge.target)
                _reach(reached, state, edge)
    return reached


def _back(graph: _Graph, steps: list[dict[int, _Way]]) -> tuple[list[tuple[_Edge, int]], tuple[int, int] | None]:
    """A path through the states, each edge with how much was read before it; the first place where another ends."""
    path = list[tuple[_Edge, int]]()
    state, at, fork = graph.end, len(steps) - 1, None
    while (way := steps[at][state]).edge is not None:
        if way.twice is not None:
            fork = at, state
        at -= bool(way.edge.token)
        path.append((way.edge, at))
        state = way.source
    path.reverse()
    return path, fork


def _values(graph: _Graph, steps: list[dict[int, _Way]], tokens: list[str]) -> dict[str, Any]:
    path, fork = _back(graph, steps)
    if fork is not None:
        raise Ambiguous(_differing(steps, fork))
    values = dict[str, Any]()
    for variable, pieces in _members(path, tokens):
        value = [_value(variable, piece) for piece in pieces]
        if not variable.explode:
            read: Any = value[0]
        elif OPERATORS[variable.operator].named:
            pairs = [_pair(piece) for piece in pieces]
            own = all(name == _decoded(variable.name) for name, _ in pairs)
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


def _differing(steps: list[dict[int, _Way]], fork: tuple[int, int]) -> Variable:
    """The variable in which two paths to the same state last were: there the readings part."""
    at, state = fork
    way = steps[at][state]
    assert way.twice is not None
    for source, edge in ((way.source, way.edge), way.twice):
        place, here = at, source
        step: _Edge | None = edge
        while step is not None:
            if step.begins is not None:
                return step.begins
            place -= bool(step.token)
            back = steps[place][here]
            step, here = back.edge, back.source
    raise AssertionError("readings differ in variables alone")  # pragma: no cover


def _value(variable: Variable, piece: list[str]) -> str | bytes:
    text = "".join(piece)
    return text if variable.operator in ("+", "#") else _decoded(text)


def _decoded(text: str) -> str | bytes:
    from overthere.encoding import decode_bytes

    octets = decode_bytes(text)
    try:
        return octets.decode()
    except UnicodeDecodeError:
        return octets


def _pair(piece: list[str]) -> tuple[str | bytes, str | bytes]:
    name, _, value = "".join(piece).partition("=")
    return _decoded(name), _decoded(value)
