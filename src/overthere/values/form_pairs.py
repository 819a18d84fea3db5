"""Pairs of a form: writes them, and compares their names by octets or by pattern."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from math import isfinite
from sys import get_int_max_str_digits
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from overthere.ground.errors import CodingError
from overthere.ground.exact import exact
from overthere.kernel import Components, percent_decode
from overthere.values import encoding

if TYPE_CHECKING:
    from datetime import date, time
    from decimal import Decimal
    from enum import Enum
    from pathlib import PurePath
    from uuid import UUID

    from overthere.forms import Parameters

Value: TypeAlias = (
    "str | bytes | bool | int | float | Components | UUID | date | time | Decimal | Enum | PurePath | None"
)
Pair: TypeAlias = "tuple[str | bytes, Value]"
# Not Iterable[Pair]: a mapping is one too, and mypy would then infer no fitting type for `{"q": "tea", "page": 2}`.
Pairs: TypeAlias = "Mapping[str, Value | Iterable[Value]] | Sequence[Pair] | Set[Pair] | Iterator[Pair] | Parameters"


NameOrPair: TypeAlias = "str | bytes | tuple[str | bytes, str | bytes | None]"
"""A name of `Parameters.without`, or a name with its value."""
SINGLE = str | bytes | bytearray | memoryview
"""Iterables that are not several values; bytearray and memoryview are no value either."""


def write_pairs(pairs: Pairs, *, keep: str = "", charset: str = "utf-8", plus: bool = True) -> list[str]:
    """Return the pairs of `encode` as a list, a space written as "+", or as "%20" if "+" is data."""
    space = "+" if plus else "%20"
    return [
        _quote(name, charset, space, keep) + ("" if value is None else "=" + _quote(value, charset, space, keep))
        for name, value in flat(pairs)
    ]


def flat(pairs: Pairs) -> Iterable[tuple[str | bytes, Value]]:
    """Yield pairs one by one, also those of a mapping.  Raises: TypeError for an invalid pair."""
    if not isinstance(pairs, Mapping):
        yield from map(_pair, _iterable(pairs))
        return
    for name, value in pairs.items():
        for item in _items(value):
            yield name, item


def reread(pairs: Pairs) -> Any:
    """Return pairs that can be read more than once: a name of a mapping with its values, also with none."""
    if isinstance(pairs, Mapping):
        return {name: list(_items(value)) for name, value in pairs.items()}
    return list(flat(pairs))


def _items(value: Any) -> Iterable[Any]:
    """Return the values of a name in a mapping: one, or several."""
    plain = plain_value(value)
    if plain is None or isinstance(plain, str | bytes | int | float):
        return (plain,)
    if isinstance(value, Mapping):
        raise TypeError("a value of a form cannot be a mapping: pass several values of a name as a list")
    return _iterable(value)


def _iterable(value: Any) -> Iterable[Any]:
    if isinstance(value, set | frozenset):
        raise TypeError("a form has an order, and a set does not: pass sorted(...)")
    if isinstance(value, SINGLE) or not isinstance(value, Iterable):
        raise TypeError(
            "a form must be a mapping or pairs, with values that are text, bytes, numbers, booleans, URIs, UUIDs, "
            f"paths, members of an Enum, or several of these, not {_show_value(value)}"
        )
    return value


def plain_value(value: object) -> object:
    """Return a value as text, octets, number or boolean if its type has one such form; otherwise the value itself.

    A URI and a UUID become their text, a date or time ISO 8601 (`isoformat`), a Decimal is written as Python does, a
    path as its system does, and a member of an Enum becomes its value.

    >>> from datetime import date
    >>> from pathlib import PurePosixPath
    >>> plain_value(date(2026, 1, 2)), plain_value(PurePosixPath("/a b"))
    ('2026-01-02', '/a b')
    """
    if value is None or type(value) in (str, bytes, int, bool, float):
        return value
    from datetime import date, time
    from decimal import Decimal
    from enum import Enum
    from pathlib import PurePath
    from uuid import UUID

    if isinstance(value, Enum):
        return plain_value(value.value)
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal) and not value.is_finite():
        raise CodingError(f"{value} is not a number that a form can hold")
    return str(value) if isinstance(value, Components | UUID | Decimal | PurePath) else value


def number_text(value: float, where: str) -> str:
    """Write a number.  Raises: CodingError if it is not finite, or has more digits than Python writes."""
    if isinstance(value, float) and not isfinite(value):
        raise CodingError(f"{value} is not a number that {where} can hold")
    try:
        return float.__repr__(value) if isinstance(value, float) else int.__repr__(value)
    except ValueError:
        max_digits = get_int_max_str_digits()
        raise CodingError(f"an int of more than {max_digits:,} digits cannot be written in {where}") from None


def _pair(pair: Any) -> Any:
    if not isinstance(pair, Sequence) or isinstance(pair, SINGLE) or len(pair) != 2:
        raise TypeError(f"a form must consist of pairs of name and value, not {_show_value(pair)}")
    return pair


def _show_value(value: object) -> str:
    return type(value).__name__


def _quote(value: Value, charset: str, space: str, keep: str = "") -> str:
    data = plain_value(value)
    if isinstance(data, bool):
        data = "true" if data else "false"
    elif isinstance(data, int | float):
        data = number_text(data, "a form")
    elif not isinstance(data, str | bytes):
        raise TypeError(
            f"names and values of a form must be text, bytes, numbers, dates or similar, not {_show_value(data)}"
        )
    encoded = encoding.encode(data, "query", keep=keep, charset=charset)
    return encoded.replace("%20", space) if space != "%20" else encoded


def by_name(pairs: Pairs, *, plus: bool = True, charset: str = "utf-8") -> dict[bytes, list[str]]:
    """Return the pairs as written, by the octets of their names, in the order of their first places.

    A name of a mapping with an empty list is a key without pairs.
    Raises: as `encode`.

    >>> by_name([("a", "1"), ("b c", None), ("a", 2)])
    {b'a': ['a=1', 'a=2'], b'b c': ['b+c']}
    """
    texts_by_name: dict[bytes, list[str]] = {}
    if isinstance(pairs, Mapping):
        texts_by_name = {encode_name(name, charset): [] for name in cast("Mapping[str, Any]", pairs)}
    for text in write_pairs(pairs, charset=charset, plus=plus):
        texts_by_name.setdefault(octets_of(text.partition("=")[0], plus), []).append(text)
    return texts_by_name


def pattern(name: str | bytes, charset: str = "utf-8") -> list[bytes]:
    """Split a name at each "*", which matches any octets; octets are an exact name.

    Raises: CodingError for text that `charset` does not have.
    """
    return [name] if isinstance(name, bytes) else encode_name(name, charset).split(b"*")


def encode_name(name: str | bytes, charset: str = "utf-8") -> bytes:
    """The octets of a name.  Raises: CodingError for text that `charset` does not have."""
    if isinstance(name, bytes):
        return name
    try:
        return exact(name, "a name").encode(charset)
    except UnicodeEncodeError:
        raise CodingError(f"the name {name!r} cannot be encoded in {charset} (RFC 3986 2.5)") from None


def encoded_pair(pair: tuple[str | bytes, str | bytes | None], charset: str) -> tuple[bytes, bytes | None]:
    """The octets of a name and its value.  Raises: CodingError for text that `charset` does not have."""
    name, value = pair
    return encode_name(name, charset), None if value is None else encode_name(value, charset)


def octets_of(text: str, plus: bool) -> bytes:
    """Return the octets of a name or a value of a checked query."""
    octets = (text.replace("+", " ") if plus else text).encode()
    return percent_decode(octets) if b"%" in octets else octets


def matches(pieces: list[bytes], name: bytes) -> bool:
    """Whether a name begins with the first piece, ends with the last, and has the others between, in order."""
    first, *other_pieces = pieces
    if not other_pieces:
        return name == first
    *inner, last = other_pieces
    offset, end = len(first), len(name) - len(last)
    if offset > end or not name.startswith(first) or not name.endswith(last):
        return False
    for piece in inner:
        offset = name.find(piece, offset, end)
        if offset < 0:
            return False
        offset += len(piece)
    return True
