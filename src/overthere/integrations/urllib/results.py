"""Components put together, and results with None for undefined components, as of CPython 3.15, on every version."""

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
_OF_URLLIB = (parse.SplitResult, parse.SplitResultBytes, parse.ParseResult, parse.ParseResultBytes)
SPLIT, PARSE, DEFRAG = "SplitResult", "ParseResult", "DefragResult"


def decode_arguments(*arguments: Any) -> tuple[list[Any], bool]:
    """The arguments as text, and whether they are octets: US-ASCII, as urllib reads them; None stays None.

    Raises: TypeError for str mixed with bytes, and for other types; UnicodeDecodeError beyond US-ASCII.
    """
    is_octets: bool | None = None
    texts = []
    for one in arguments:
        if not isinstance(one, str | bytes | bytearray | None):
            raise TypeError(f"components are str or bytes, not {type(one).__name__}")
        if one:
            if is_octets is not None and is_octets == isinstance(one, str):
                raise TypeError("Cannot mix str and non-str arguments")
            is_octets = not isinstance(one, str)
        texts.append(one if one is None or isinstance(one, str) else one.decode("ascii"))
    if is_octets is None:  # all are empty: the first says which they are
        is_octets = isinstance(next((one for one in arguments if one is not None), ""), bytes | bytearray)
    return texts, is_octets


def compose(scheme: str | None, netloc: str | None, path: str, query: str | None, fragment: str | None) -> str:
    """5.3: the text of components, None being undefined; a path is written so that it is read back as one (4.2)."""
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


class _WithNone:
    """What results that hold None add to those of urllib."""

    __slots__ = ()
    _keep_empty = True
    _encoded_counterpart: Any
    _decoded_counterpart: Any

    def geturl(self: Any) -> Any:
        """The text octet for octet, but for the case of its scheme."""
        values, is_octets = decode_arguments(*self)
        if len(values) == 2:
            text = values[0] if values[1] is None else f"{values[0]}#{values[1]}"
        else:
            if len(values) == 6 and (params := values.pop(3)) is not None:
                values[2] += f";{params}"
            text = compose(*values)
        return text.encode("ascii") if is_octets else text

    def encode(self: Any, encoding: str = "ascii", errors: str = "strict") -> Any:
        """The result of octets."""
        return self._encoded_counterpart(*(one if one is None else one.encode(encoding, errors) for one in self))

    def decode(self: Any, encoding: str = "ascii", errors: str = "strict") -> Any:
        """The result of text."""
        return self._decoded_counterpart(*(one if one is None else one.decode(encoding, errors) for one in self))

    def __reduce__(self: Any) -> Any:
        return optional_result, (type(self).__name__.removesuffix("Bytes"), *self)


def _subcomponent(base: type[Any], name: str) -> Any:
    """A property of urllib's result, None of an undefined authority."""
    return property(lambda self: None if self.netloc is None else getattr(base, name).__get__(self))


def _results(name: str) -> tuple[Any, Any]:
    """The two classes for text and octets that hold None, of the name of urllib's and derived from them."""
    found = []
    for base in (getattr(parse, name), getattr(parse, name + "Bytes")):
        body: dict[str, Any] = {"__slots__": (), "__module__": __name__}
        if name != DEFRAG:
            body |= {part: _subcomponent(base, part) for part in ("username", "password", "hostname", "port")}
        found.append(type(base.__name__, (_WithNone, base), body))
    text: Any = found[0]
    octets: Any = found[1]
    text._encoded_counterpart, octets._decoded_counterpart = octets, text
    return text, octets


_RESULTS = {name: _results(name) for name in (SPLIT, PARSE, DEFRAG)}


def optional_result(name: str, *values: Any) -> Any:
    """The result of that name; the values may be None, the others are all str or all bytes.

    >>> optional_result(SPLIT, "http", "h", "", None, "").geturl()
    'http://h#'
    """
    return _RESULTS[name][any(isinstance(one, bytes) for one in values)](*values)


def result(name: str, values: Iterable[str | None], is_octets: bool, missing_as_none: bool) -> Any:
    """urllib's result of that name: with "" for None, or with None."""
    if not missing_as_none:
        texts = [one or "" for one in values]
        kind = getattr(parse, name + "Bytes" if is_octets else name)
        return kind(*(one.encode("ascii") for one in texts)) if is_octets else kind(*texts)
    return optional_result(name, *(one if one is None or not is_octets else one.encode("ascii") for one in values))


def keeps_empty(components: object, keep_empty: bool | None) -> bool:
    """Whether empty components are written with their delimiters: as is asked, or as the result says itself.

    Raises: ValueError where it is asked and the result does not say which components are undefined.
    """
    of_result = getattr(components, "_keep_empty", False)
    if keep_empty and not of_result and isinstance(components, _OF_URLLIB):
        raise ValueError("a result without missing_as_none does not say which components are undefined")
    return bool(of_result if keep_empty is None else keep_empty)


def split_params(path: str) -> tuple[str, str, str]:
    """A path, whether its last segment has parameters (";" or ""), and these."""
    at = path.find(";", path.rfind("/") + 1)
    return (path, "", "") if at < 0 else (path[:at], ";", path[at + 1 :])


def by_name(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, list[Any]]:
    """The values of each name."""
    found: dict[Any, list[Any]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return found


def same_type(function: F) -> Callable[[Callable[..., Any]], F]:
    """The decorator that gives a function the type of another."""
    return lambda own: cast("F", own)
