"""Attacks on a regular expression that are made from the expression itself.

A short text leads to each repetition, then come many copies of a character or word that it matches, and an end that may
not follow.  That is enough for polynomial backtracking: an ambiguity that pays is one of a word that leads from a state
to itself and on to another one (Weber and Seidl, 1991), and it begins at a repetition.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from itertools import islice, product
from typing import Any, NamedTuple

from growth import outgrows
from patterns import SCANS

_parser: Any = import_module("re._parser")
_compiler: Any = import_module("re._compiler")


class Attack(NamedTuple):
    """`before`, `unit` many times, `after`."""

    before: Any
    unit: Any
    after: Any

    def text(self, length: int) -> Any:
        return self.before + self.unit * max(1, length // len(self.unit)) + self.after


_ODD = "\x80\xa0\xe9\u0130\u017f\u0663\u2028\u3000\u4e00\ud800\ufeff\ufffd\U0001f600"
_ORDER = "a0 .:/-_=%\"'<>&;,()[]{}#?@+*!\\\n\r\t|~^`$"
_MANY = 16
"""A repetition that may go on so far is attacked, like an unlimited one."""
LENGTHS = (12, 16, 20, 24, 28, 36, 64, 256, 1024, 4096)
"""The first ones are for exponential time, as longer texts would never end."""
_NOTHING = 0.002
"""Processor times below these seconds are ignored."""
_PAIRS, _ENDS = 250, 80
"""The approximate number of two-character units and of ends that are tried on one expression."""


@dataclass
class _Repeat:
    before: list[Any]
    body: Any


class Shape:
    """A parsed expression: the path to each repetition, and the classes of characters that it distinguishes."""

    def __init__(self, pattern: str | bytes, flags: int = 0) -> None:
        self.compiled = re.compile(pattern, flags)
        self.octets = isinstance(pattern, bytes)
        self.tree = _parser.parse(pattern, flags)
        self.flags = self.compiled.flags
        self.groups: dict[int, Any] = {}
        self.leaves: list[Any] = []
        self.repeats: list[_Repeat] = []
        self._walk(self.tree, [])
        self.kinds = self._kinds()

    def _leaf(self, item: Any) -> Callable[[str], bool]:
        alone = _parser.SubPattern(self.tree.state, [item])
        match = _compiler.compile(alone, self.flags & ~re.DEBUG).match
        return lambda char: match(self._own(char)) is not None

    def _own(self, text: str) -> Any:
        return text.encode("latin-1", "replace") if self.octets else text

    def _walk(self, sequence: Iterable[Any], before: list[Any]) -> None:
        path = list(before)
        for item in sequence:
            operation, value = str(item[0]), item[1]
            if operation in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
                self.leaves.append(item)
            elif operation in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
                if value[1] >= _MANY:
                    self.repeats.append(_Repeat(list(path), value[2]))
                self._walk(value[2], path)
            else:
                if operation == "SUBPATTERN":
                    self.groups[value[0]] = value[3]
                for inner in _inner(item):
                    self._walk(inner, path)
            path.append(item)

    def _kinds(self) -> dict[str, tuple[bool, ...]]:
        """A character for each set of leaves that match the same characters."""
        ends = {chr(code) for leaf in self.leaves for code in _codes(leaf)}
        near = {chr(ord(char) + step) for char in ends for step in (-1, 1) if 0 <= ord(char) + step <= 0x10FFFF}
        characters = [*_ORDER, *map(chr, range(256 if self.octets else 128)), *([] if self.octets else _ODD)]
        characters += sorted(char for char in ends | near if not self.octets or ord(char) < 256)
        unlike: dict[tuple[bool, tuple[bool, ...]], str] = {}
        takes = [self._leaf(leaf) for leaf in {repr(leaf): leaf for leaf in self.leaves}.values()]
        for char in dict.fromkeys(characters):
            ends_line = char == "\n" and bool(self.flags & re.MULTILINE)  # "^" matches again after it
            unlike.setdefault((ends_line, tuple(take(char) for take in takes)), char)
        return {char: kind for (_, kind), char in unlike.items()}

    def witnesses(self, sequence: Iterable[Any], most: int = 1) -> list[str]:
        """Short texts that the sequence matches, one for each path through it, as far as assertions allow."""
        choices: list[list[str]] = [self._ways(item, most) for item in sequence]
        return ["".join(choice) for choice in islice(product(*choices), most)]

    def _ways(self, item: Any, most: int) -> list[str]:
        operation, value = str(item[0]), item[1]
        match operation:
            case "LITERAL":
                return [chr(value)]
            case "NOT_LITERAL" | "ANY" | "IN":
                take = self._leaf(item)
                known = getattr(self, "kinds", None) or [*_ORDER, *map(chr, range(256)), *_ODD]
                return [char for char in known if take(char)][:most] or [chr(code) for code in _codes(item)][:1] or [""]
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                low, high, body = value
                once = self.witnesses(body, most)
                texts = [text * low for text in once] if low else [""]
                return texts + (once if most > 1 and not low and high else [])
            case "GROUPREF":
                return self.witnesses(self.groups[value]) if value in self.groups else [""]
            case "BRANCH" | "GROUPREF_EXISTS":
                return [text for inner in _inner(item) for text in self.witnesses(inner, most)][: max(most, 1)]
            case "ASSERT":
                return self.witnesses(value[1]) if value[0] < 0 else [""]
            case "ASSERT_NOT" | "AT":
                return [""]
            case _:
                return [text for inner in _inner(item) for text in self.witnesses(inner, most)]

    def attacks(self, scan: bool) -> list[Attack]:
        """The attacks on each repetition: a prefix, many repeated units, and an end that may not follow."""
        kinds = list(self.kinds)
        strange = [char for char, kind in self.kinds.items() if not any(kind)][:1]
        ends = list(dict.fromkeys(["", *strange, *kinds[:9], "\n", "é"]))
        ends = ends[: max(4, _ENDS // max(1, len(self.repeats)))]
        attacks: dict[Attack, None] = {}
        for repeat in self.repeats:
            before = self.witnesses(repeat.before)[0]
            takes = [self._leaf(leaf) for leaf in _leaves(repeat.body)]
            single = [char for char in kinds if any(take(char) for take in takes)][:10]
            units = list(dict.fromkeys([*single, *self.witnesses(repeat.body, 8)]))
            pairs = ["".join(pair) for pair in product(single, kinds) if pair[0] != pair[1]]
            pairs = pairs[:: max(1, len(pairs) * len(self.repeats) // _PAIRS)]
            repeated = ([before + unit for unit in units[:6]] if scan else []) + [before]
            for unit in units:
                for end in ends:
                    attacks[Attack(before, unit, end)] = None
                if scan:
                    attacks[Attack("", unit, "")] = None
            for unit in (*pairs, *repeated):
                for end in ("", *strange):
                    attacks[Attack("" if unit in repeated else before, unit, end)] = None
        return [Attack(*map(self._own, attack)) for attack in attacks if attack.unit]


def judged(uses: set[str]) -> list[str]:
    """The uses of an expression that are judged: `search` represents all that start again at every character."""
    return [use for use in ("match", "fullmatch") if use in uses] + ["search"] * bool(uses & SCANS)


def withstood(compiled: re.Pattern[Any], use: str, attack: Attack) -> str | None:
    """The attack that makes a use of an expression take more than linear time; None where nothing does."""
    empty: Any = b"" if isinstance(compiled.pattern, bytes) else ""
    action = (lambda text: compiled.sub(empty, text)) if use == "search" else getattr(compiled, use)
    return outgrows(action, attack.text, LENGTHS, _NOTHING)


def _inner(item: Any) -> list[Any]:
    operation, value = str(item[0]), item[1]
    match operation:
        case "BRANCH":
            return list(value[1])
        case "SUBPATTERN":
            return [value[3]]
        case "ASSERT" | "ASSERT_NOT":
            return [value[1]]
        case "ATOMIC_GROUP":
            return [value]
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            return [value[2]]
        case "GROUPREF_EXISTS":
            return [inner for inner in value[1:] if inner is not None]
        case _:
            return []


def _leaves(sequence: Iterable[Any]) -> Iterator[Any]:
    for item in sequence:
        if str(item[0]) in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
            yield item
        for inner in _inner(item):
            yield from _leaves(inner)


def _codes(item: Any) -> Iterator[int]:
    """The code points that a leaf names."""
    operation, value = str(item[0]), item[1]
    if operation in ("LITERAL", "NOT_LITERAL"):
        yield value
    elif operation == "RANGE":
        yield from value
    elif operation == "IN":
        for inner in value:
            yield from _codes(inner)
