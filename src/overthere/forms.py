"""Queries of the form `key=value&key=value` (application/x-www-form-urlencoded).

RFC 3986 3.4 says only that queries often carry such pairs.  This is the one place in overthere
where "+" is a space.  A name without "=" is kept apart from one with an empty value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias, cast

from overthere import encoding
from overthere.exact import exact

__all__ = ["Pairs", "decode", "encode"]

Value: TypeAlias = "str | bytes | int | None"
Pairs: TypeAlias = "Mapping[str, Value | Iterable[Value]] | Iterable[tuple[str | bytes, Value]]"


def encode(pairs: Pairs, *, charset: str = "utf-8") -> str:
    """The query for pairs, in their order; in a mapping a list gives one pair for each of its items.

    None as a value writes the name without "="; an empty name with None, alone, is the empty query.
    Everything but unreserved characters is encoded, a space as "+".

    Raises: CodingError for text that `charset` does not have; TypeError for other types.

    >>> encode({"k": "v w", "list": ["1", "2"], "flag": None, "empty": ""})
    'k=v+w&list=1&list=2&flag&empty='
    """
    return "&".join(
        _quote(name, charset) + ("" if value is None else "=" + _quote(value, charset)) for name, value in _flat(pairs)
    )


def _flat(pairs: Pairs) -> Iterable[tuple[str | bytes, Value]]:
    if not isinstance(pairs, Mapping):
        yield from map(_pair, _iterable(pairs))
        return
    mapping = cast("Mapping[str, Value | Iterable[Value]]", pairs)
    for name, value in mapping.items():
        if value is None or isinstance(value, str | bytes | int):
            yield name, value
        else:
            for item in _iterable(value):
                yield name, item


def _iterable(given: Any) -> Iterable[Any]:
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise TypeError(f"a form is a mapping or pairs, its values text, bytes, int or several, not {_shown(given)}")
    return given


def _pair(given: Any) -> Any:
    if not isinstance(given, Sequence) or isinstance(given, str | bytes) or len(given) != 2:
        raise TypeError(f"a form holds pairs of name and value, not {_shown(given)}")
    return given


def _shown(given: object) -> str:
    return type(given).__name__


def _quote(data: str | bytes | int, charset: str) -> str:
    if isinstance(data, bool) or not isinstance(data, str | bytes | int):
        raise TypeError(f"a form's names and values are text, bytes or int, not {_shown(data)}")
    if isinstance(data, int):
        data = str(data)
    return encoding.encode(data, "query", keep="", charset=charset).replace("%20", "+")


def decode(query: str, *, charset: str = "utf-8", errors: str = "strict") -> list[tuple[str, str | None]]:
    """The pairs of a query, in its order; the value is None where there is no "=".

    Raises: CodingError at a broken escape or octets that are not in `charset`.

    >>> decode("k=v+w&flag&empty=&k=%2B")
    [('k', 'v w'), ('flag', None), ('empty', ''), ('k', '+')]
    """
    pairs: list[tuple[str, str | None]] = []
    query = exact(query, "forms.decode()")
    for piece in query.split("&") if query else ():
        name, equals, value = piece.replace("+", "%20").partition("=")
        pairs.append(
            (
                encoding.decode(name, charset=charset, errors=errors),
                encoding.decode(value, charset=charset, errors=errors) if equals else None,
            )
        )
    return pairs
