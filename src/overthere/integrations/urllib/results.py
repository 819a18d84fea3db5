"""Composes components, and provides results with None for undefined components, as in CPython 3.15."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast
from urllib import parse

__all__ = [
    "DEFRAG", "PARSE", "SPLIT", "by_name", "compose", "decode_arguments", "keeps_empty", "optional_result", "result",
    "same_type", "split_params",
]  # fmt: skip

F = TypeVar("F")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_URLLIB_RESULTS = (parse.SplitResult, parse.SplitResultBytes, parse.ParseResult, parse.ParseResultBytes)
SPLIT, PARSE, DEFRAG = "SplitResult", "ParseResult", "DefragResult"


def decode_arguments(*arguments: Any) -> tuple[list[Any], bool]:
    """Return the arguments as text, and whether they are octets: US-ASCII, as urllib reads them; None stays None.

    Raises: TypeError for str mixed with bytes, and for other types; UnicodeDecodeError beyond US-ASCII.
    """
    is_octets: bool | None = None
    texts = []
    for item in arguments:
        if not isinstance(item, str | bytes | bytearray | None):
            raise TypeError(f"components are str or bytes, not {type(item).__name__}")
        if item:
            if is_octets is not None and is_octets == isinstance(item, str):
                raise TypeError("Cannot mix str and non-str arguments")
            is_octets = not isinstance(item, str)
        texts.append(item if item is None or isinstance(item, str) else item.decode("ascii"))
    if is_octets is None:  # all are empty: the type of the first counts
        is_octets = isinstance(next((item for item in arguments if item is not None), ""), bytes | bytearray)
    return texts, is_octets


def compose(scheme: str | None, netloc: str | None, path: str, query: str | None, fragment: str | None) -> str:
    """Return the text of components (5.3); None is undefined; the path is written so that it is read back (4.2)."""
    if netloc is not None:
        path = f"//{netloc}/{path}" if path and path[0] != "/" else f"//{netloc}{path}"
    elif path[:2] == "//":
        path = "//" + path
    elif not scheme and _SCHEME.match(path):
        path = "./" + path
    if scheme:
        path = f"{scheme}:{path}"
    if query is not None:
        path = f"{path}?{query}"
    return path if fragment is None else f"{path}#{fragment}"


class _OptionalResult:
    """Methods that results with None add to urllib's."""

    __slots__ = ()
    _keep_empty = True
    _encoded_counterpart: Any
    _decoded_counterpart: Any

    def geturl(self: Any) -> Any:
        """Return the text octet for octet, except for the case of its scheme."""
        values, is_octets = decode_arguments(*self)
        if len(values) == 2:
            text = values[0] if values[1] is None else f"{values[0]}#{values[1]}"
        else:
            if len(values) == 6 and (params := values.pop(3)) is not None:
                values[2] += f";{params}"
            text = compose(*values)
        return text.encode("ascii") if is_octets else text

    def encode(self: Any, encoding: str = "ascii", errors: str = "strict") -> Any:
        """Return the result as octets."""
        return self._encoded_counterpart(*(item if item is None else item.encode(encoding, errors) for item in self))

    def decode(self: Any, encoding: str = "ascii", errors: str = "strict") -> Any:
        """Return the result as text."""
        return self._decoded_counterpart(*(item if item is None else item.decode(encoding, errors) for item in self))

    def __reduce__(self: Any) -> Any:
        return optional_result, (type(self).__name__.removesuffix("Bytes"), *self)


def _subcomponent(base: type[Any], name: str) -> Any:
    """Return a property of urllib's result that is None for an undefined authority."""
    return property(lambda self: None if self.netloc is None else getattr(base, name).__get__(self))


def _results(name: str) -> tuple[Any, Any]:
    """Return the two classes, for text and octets, that hold None; they derive from urllib's and have their names."""
    classes = []
    for base in (getattr(parse, name), getattr(parse, name + "Bytes")):
        body: dict[str, Any] = {"__slots__": (), "__module__": __name__}
        if name != DEFRAG:
            body |= {part: _subcomponent(base, part) for part in ("username", "password", "hostname", "port")}
        classes.append(type(base.__name__, (_OptionalResult, base), body))
    text: Any = classes[0]
    octets: Any = classes[1]
    text._encoded_counterpart, octets._decoded_counterpart = octets, text
    return text, octets


_RESULTS = {name: _results(name) for name in (SPLIT, PARSE, DEFRAG)}


def optional_result(name: str, *values: Any) -> Any:
    """Return the result of that name; values may be None, all others are str or all are bytes.

    >>> optional_result(SPLIT, "http", "h", "", None, "").geturl()
    'http://h#'
    """
    return _RESULTS[name][any(isinstance(value, bytes) for value in values)](*values)


def result(name: str, values: Iterable[str | None], is_octets: bool, missing_as_none: bool) -> Any:
    """Return urllib's result of that name, with "" for None, or with None."""
    if not missing_as_none:
        texts = [item or "" for item in values]
        kind = getattr(parse, name + "Bytes" if is_octets else name)
        return kind(*(item.encode("ascii") for item in texts)) if is_octets else kind(*texts)
    return optional_result(name, *(item if item is None or not is_octets else item.encode("ascii") for item in values))


def keeps_empty(components: object, keep_empty: bool | None) -> bool:
    """Return whether empty components are written with their delimiters: as requested, or as the result itself says.

    Raises: ValueError if it is requested and the result does not say which components are undefined.
    """
    of_result = getattr(components, "_keep_empty", False)
    if keep_empty and not of_result and isinstance(components, _URLLIB_RESULTS):
        raise ValueError("a result without missing_as_none does not say which components are undefined")
    return bool(of_result if keep_empty is None else keep_empty)


def split_params(path: str) -> tuple[str, str, str]:
    """Return a path, whether its last segment has parameters (";" or ""), and the parameters."""
    semicolon = path.find(";", path.rfind("/") + 1)
    return (path, "", "") if semicolon < 0 else (path[:semicolon], ";", path[semicolon + 1 :])


def by_name(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, list[Any]]:
    """Return the values of each name."""
    values_by_name: dict[Any, list[Any]] = {}
    for name, value in pairs:
        values_by_name.setdefault(name, []).append(value)
    return values_by_name


def same_type(function: F) -> Callable[[Callable[..., Any]], F]:
    """Return a decorator that gives a function the type of another."""
    return lambda implementation: cast("F", implementation)
