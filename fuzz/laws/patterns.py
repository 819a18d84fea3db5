"""Every compiled pattern of the package takes linear time: what it repeats is repeated, and does not match at the end.

An input is the pattern's name on a line, and behind it three parts with NUL between them: what begins the text, what is
repeated, what ends it.
"""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from time import thread_time
from typing import Any, NamedTuple
from zlib import crc32

import overthere

__all__ = ["AFTER", "LONGEST", "WORDS", "one", "seeds"]

WORDS = (
    *(bytes((octet,)) for octet in range(128)), b"\r\n", b"  ", b"aa", b"a ", b"\xc3\xbc", b"\\\\", b"\\a", b"''",
    b'""', b"()", b"<>", b"<!--", b"%41", b"&a;", b"1;",
)  # fmt: skip
LONGEST = 256
AFTER = "the pattern's own test, and a row to the test of all patterns"

_SIZES = (250, 1000, 4000, 16000)
"""Characters of a text, one after the other."""
_NOTHING = 0.004
"""Seconds of processor time at 4,000 characters of which nothing is concluded."""
_RATIO = 9
"""How much longer four times as much may take: linear is 4, quadratic is 16."""
_SLOW = 2.0


class Named(NamedTuple):
    """A pattern, where it stands, and which of its methods are called there."""

    name: str
    pattern: re.Pattern[Any]
    methods: tuple[str, ...]


@cache
def collected() -> dict[str, Named]:
    """The patterns of all modules, by their names."""
    found: dict[str, Named] = {}
    seen: set[int] = set()
    for module in _modules():
        source = inspect.getsource(module)
        for path, pattern in _within(vars(module), 3):
            if id(pattern) in seen:
                continue
            seen.add(id(pattern))
            attribute = re.escape(path.split(".")[0])
            used = re.findall(rf"\b{attribute}\b(?:\[[^\]\n]*\])?\.(search|finditer|findall|sub|split|subn)\b", source)
            methods = ("match", "search") if used else ("match",)
            found[f"{module.__name__}.{path}"] = Named(f"{module.__name__}.{path}", pattern, methods)
    return found


def _modules() -> Iterator[Any]:
    for info in pkgutil.walk_packages(overthere.__path__, "overthere."):
        if info.name.endswith(("__main__", "_native", ".spark", ".sparklinks")):
            continue
        try:
            yield import_module(info.name)
        except ImportError:  # an extra that is not installed
            continue


def _within(held: object, depth: int, path: str = "") -> Iterator[tuple[str, re.Pattern[Any]]]:
    """The patterns in a value and in what it holds."""
    if isinstance(held, re.Pattern):
        yield path, held
    elif depth and isinstance(held, Mapping):
        for name, value in held.items():
            if not isinstance(value, type | Mapping) or isinstance(value, dict):
                yield from _within(value, depth - 1, f"{path}.{name}".lstrip("."))
    elif depth and isinstance(held, list | tuple | set | frozenset):
        for number, value in enumerate(held):
            yield from _within(value, depth - 1, f"{path}.{number}")


def one(data: bytes) -> None:
    """data: as above; a name that there is not stands for another pattern."""
    name, _, rest = data.partition(b"\n")
    known = collected()
    named = known.get(name.decode("latin-1")) or list(known.values())[crc32(name) % len(known)]
    begin, unit, end = (*rest.split(b"\0", 2), b"", b"")[:3]
    if not unit:
        return
    for method in named.methods:
        _judge(named, method, *(part.decode("utf-8", "replace") for part in (begin, unit, end)))


def _judge(named: Named, method: str, begin: str, unit: str, end: str) -> None:
    before = 0.0
    for size in _SIZES:
        text: Any = begin + unit * max(1, (size - len(begin) - len(end)) // len(unit)) + end
        text = text.encode() if isinstance(named.pattern.pattern, bytes) else text
        took = _took(named.pattern, method, text)
        said = f"{named.name}.{method} of {begin!r} + {unit!r} * n + {end!r}: {took:.3f} s for {size} characters"
        assert took < _SLOW, said
        if size >= 4000 and took < _NOTHING:
            return
        if before > _NOTHING / 2 and took > _RATIO * before:
            # Once more: another process may have been in the way.
            again = min(_took(named.pattern, method, text) for _ in range(3))
            assert again < _RATIO * before, f"{said}, and {before:.3f} s for {size // 4}"
        before = took


def _took(pattern: re.Pattern[Any], method: str, text: Any) -> float:
    begin = thread_time()
    getattr(pattern, method)(text)
    return thread_time() - begin


def seeds() -> Iterator[bytes]:
    """For each repetition in each pattern: what stands before it, what it repeats, and what it does not."""
    for named in collected().values():
        source = named.pattern.pattern
        parsed: Any = import_module("re._parser").parse(source, named.pattern.flags & ~re.TEMPLATE)
        for begin, unit in dict.fromkeys(_repeated(list(parsed), "")):
            for end in ("\1", "\n!", begin[:1]):
                parts = (part.encode("utf-8", "replace") for part in (begin, unit, end) if "\0" not in part)
                yield named.name.encode() + b"\n" + b"\0".join(parts)


def _repeated(tree: list[Any], before: str) -> Iterator[tuple[str, str]]:
    """Each repetition without an end: a text that leads to it, and one that it repeats."""
    for operator, argument in tree:
        kind = str(operator)
        if kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            _, most, body = argument
            yield from _repeated(list(body), before)
            if int(most) > 20:
                for choice in range(3):
                    yield before, _sample(list(body), choice)
        elif kind == "SUBPATTERN":
            yield from _repeated(list(argument[3]), before)
        elif kind == "ATOMIC_GROUP":
            yield from _repeated(list(argument), before)
        elif kind == "BRANCH":
            for branch in argument[1]:
                yield from _repeated(list(branch), before)
        before += _sample([(operator, argument)], 0)


def _sample(tree: list[Any], choice: int) -> str:
    """A text that the tree matches, or nearly."""
    text = ""
    for operator, argument in tree:
        match str(operator):
            case "LITERAL":
                text += chr(argument)
            case "NOT_LITERAL":
                text += "a" if argument != ord("a") else "b"
            case "ANY":
                text += "a "[choice % 2]
            case "IN":
                text += _member(argument, choice)
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                text += _sample(list(argument[2]), choice) * max(1 if choice else 0, argument[0])
            case "SUBPATTERN":
                text += _sample(list(argument[3]), choice)
            case "ATOMIC_GROUP":
                text += _sample(list(argument), choice)
            case "BRANCH":
                text += _sample(list(argument[1][choice % len(argument[1])]), choice)
            case _:
                pass
    return text


def _member(items: list[Any], choice: int) -> str:
    """A character of a class."""
    negated = str(items[0][0]) == "NEGATE"
    fits = [char for char in _USUAL if negated is not any(_fits(char, item) for item in items[negated:])]
    firsts = [argument for kind, argument in items if str(kind) == "LITERAL"]
    firsts += [argument[0] for kind, argument in items if str(kind) == "RANGE"]
    found = fits or list(map(chr, firsts)) or ["a"]
    return found[choice % len(found)]


_USUAL = " a1-.\t\"<&;:/%=\\'()\r\n@,?#"


def _fits(char: str, item: Any) -> bool:
    kind, argument = str(item[0]), item[1]
    if kind == "LITERAL":
        return bool(ord(char) == argument)
    if kind == "RANGE":
        return bool(argument[0] <= ord(char) <= argument[1])
    pattern = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w", "NOT_DIGIT": r"\D", "NOT_SPACE": r"\S", "NOT_WORD": r"\W"}
    name = str(argument).removeprefix("CATEGORY_")
    return kind == "CATEGORY" and name in pattern and re.match(pattern[name], char) is not None
