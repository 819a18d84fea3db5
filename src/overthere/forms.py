"""Queries of the form `key=value&key=value` (application/x-www-form-urlencoded).

RFC 3986 3.4 only says that queries often carry such pairs.  Only this module of overthere reads "+" as a space.  A name
without "=" differs from one with an empty value.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from overthere.ground.errors import CodingError
from overthere.ground.exact import exact
from overthere.ground.redact import mask
from overthere.kernel import front
from overthere.values import encoding
from overthere.values.form_pairs import (
    NameOrPair,
    Pairs,
    by_name,
    encode_name,
    encoded_pair,
    matches,
    octets_of,
    pattern,
    write_pairs,
)

__all__ = ["Pairs", "Parameters", "decode", "encode"]


def encode(pairs: Pairs, *, keep: str = "", charset: str = "utf-8") -> str:
    """Return the query for pairs, in their order; in a mapping a list gives one pair for each of its items.

    None as a value writes the name without "="; a single empty name with None is the empty query.  Numbers are
    written as Python writes them (`1.5`), True and False as in JSON: `true`, `false`; URIs, UUIDs, dates, times,
    Decimals, paths and members of an Enum as in `form_pairs.plain_value`.
    All characters except unreserved ones and those of `keep` are encoded, a space as "+".

    Raises: CodingError for a `keep` that a query cannot contain or that a form reads ("&", "=", "+"), for text that
    `charset` cannot encode, and for a float that is infinite or NaN; TypeError for other types, for a set, which has no
    order, and for a mapping as a value.

    >>> encode({"k": "v w", "list": ["1", "2"], "flag": None, "empty": "", "on": True})
    'k=v+w&list=1&list=2&flag&empty=&on=true'
    >>> encode({"to": "/a:b@c"}, keep="/:@")
    'to=/a:b@c'
    """
    if syntax_characters := sorted(set(exact(keep, "keep")) & set("&=+")):
        raise CodingError(f"a form cannot keep {syntax_characters[0]!r}, which would be read as part of its syntax")
    return "&".join(write_pairs(pairs, keep=keep, charset=charset))


def decode(query: str, *, charset: str = "utf-8", errors: str = "strict") -> list[tuple[str, str | None]]:
    """Return the pairs of a query, in its order; the value of a name without "=" is None.

    Raises: CodingError for a broken escape or octets that are not in `charset`.

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


_BLOCK = 1 << 16
"""Characters of a query that are split into pairs at once, so that a long query does not need memory for all pairs."""


class Parameters:
    """The pairs of a query: immutable and ordered; a name may occur several times.

    query: its text; None is an undefined query, which has no pairs.
    separator: the separator of the pairs: "&", or ";" as HTML 4 B.2.2 advises.
    plus: whether "+" is a space, in reading and writing; otherwise "+" is itself, and a space is "%20".
    charset: the charset of the octets that names and values stand for.

    Iteration yields pairs of decoded text; the value of a name without "=" is None.  Octets that are not in the charset
    become U+FFFD and do not affect other pairs: `octets` returns them, `raw` the text as written.  Names are
    compared decoded, so "a" and "%61" are one name; a name given as octets is compared with octets.

    It has the methods of a Mapping, and differs where a name occurs several times: `keys()` gives each name once, `[]`
    and `get` give its first value, and `dict(p)` holds the first values; `items()`, `values()`, `len` and iteration
    count every pair.

    Raises: CodingError for a "%" without two hexadecimal digits, for a lone surrogate, and for a charset that is
    unknown or not for any octets; ValueError for another separator.

    >>> p = Parameters("k=v+w&flag&k=%2B&%6B=&x=%E9")
    >>> list(p)
    [('k', 'v w'), ('flag', None), ('k', '+'), ('k', ''), ('x', '\\ufffd')]
    >>> p["k"], p.all("k"), "flag" in p, len(p), p.octets("x")
    ('v w', ['v w', '+', ''], True, 5, [b'\\xe9'])
    """

    __slots__ = ("_first", "charset", "plus", "query", "separator")

    query: str | None
    separator: str
    plus: bool
    charset: str
    _first: dict[str, str | None] | None

    def __init__(self, query: str | None, *, separator: str = "&", plus: bool = True, charset: str = "utf-8") -> None:
        if separator not in ("&", ";"):
            raise ValueError(f'the separator must be "&" or ";", not {separator!r:.100}')
        query = None if query is None else exact(query, "Parameters()")
        set_attribute = object.__setattr__
        set_attribute(self, "query", query)
        set_attribute(self, "separator", separator)
        set_attribute(self, "plus", plus)
        set_attribute(self, "charset", charset)
        set_attribute(self, "_first", None)
        try:
            b"\xff".decode(charset, "replace")  # fails also for "idna" and "punycode", which cannot replace
        except (LookupError, ValueError):
            raise CodingError(f"{charset!r:.100} is not a charset for any octets") from None
        if query:
            encoding.decode_bytes(query)  # raises for a broken escape

    def _pairs(self) -> Iterator[str]:
        query, separator, start = self.query, self.separator, 0
        if not query:
            return
        while (end := query.find(separator, start + _BLOCK)) >= 0:
            yield from query[start:end].split(separator)
            start = end + 1
        yield from query[start:].split(separator)

    def _named_pairs(self) -> Iterator[tuple[bytes, str]]:
        return ((octets_of(text.partition("=")[0], self.plus), text) for text in self._pairs())

    def _value(self, text: str) -> bytes | None:
        _, equals, value = text.partition("=")
        return octets_of(value, self.plus) if equals else None

    def _text(self, octets: bytes | None) -> str | None:
        return None if octets is None else octets.decode(self.charset, "replace")

    # -- reading

    @property
    def raw(self) -> tuple[str, ...]:
        """The pairs as written.

        >>> Parameters("a=%7e&&b").raw
        ('a=%7e', '', 'b')
        """
        return tuple(self._pairs())

    @property
    def names(self) -> tuple[str, ...]:
        """The names, each once, in the order of their first occurrence."""
        return self.keys()

    def keys(self) -> tuple[str, ...]:
        """Return the names, each once, in the order of their first occurrence: `dict(p)` has the first value of each.

        >>> p = Parameters("a=1&b&a=2")
        >>> p.keys(), p.items(), p.values(), dict(p)
        (('a', 'b'), (('a', '1'), ('b', None), ('a', '2')), ('1', None, '2'), {'a': '1', 'b': None})
        """
        first = self._first
        if first is None:
            first = {}
            for name, value in self:
                first.setdefault(name, value)
            object.__setattr__(self, "_first", first)  # otherwise `dict(p)` would search the query for each name
        return tuple(first)

    def values(self) -> tuple[str | None, ...]:
        """Return the value of every pair, in order."""
        return tuple(value for _, value in self)

    def items(self) -> tuple[tuple[str, str | None], ...]:
        """Return every pair, in order."""
        return tuple(self)

    @front
    def __iter__(self) -> Iterator[tuple[str, str | None]]:
        for name, text in self._named_pairs():
            yield self._text(name) or "", self._text(self._value(text))

    def __len__(self) -> int:
        return self.query.count(self.separator) + 1 if self.query else 0

    @front
    def __contains__(self, name: object) -> bool:
        try:
            return isinstance(name, str | bytes) and any(True for _ in self._values_of(name))
        except CodingError:
            return False

    @front
    def __getitem__(self, name: str | bytes) -> str | None:
        """Return the first value of a name, None if it has no "=".  Raises: KeyError if there is no such name."""
        if self._first is not None and type(name) is str and name in self._first:
            return self._first[name]
        for octets in self._values_of(name):
            return self._text(octets)
        raise KeyError(name)

    @front
    def get(self, name: str | bytes, default: str | None = None) -> str | None:
        """Return the first value of a name; `default` if there is no such name."""
        for octets in self._values_of(name):
            return self._text(octets)
        return default

    @front
    def all(self, name: str | bytes) -> list[str | None]:
        """Return all values of a name, in order."""
        return [self._text(octets) for octets in self._values_of(name)]

    def octets(self, name: str | bytes) -> list[bytes | None]:
        """Return all values of a name as octets, whatever their charset."""
        return list(self._values_of(name))

    def written(self, name: str | bytes) -> list[str | None]:
        """Return all values of a name as written.

        >>> Parameters("a=%7e&b=1&a=x+y").written("a")
        ['%7e', 'x+y']
        """
        return [value if equals else None for _, equals, value in self._pairs_of(name)]

    def _values_of(self, name: str | bytes) -> Iterator[bytes | None]:
        return (octets_of(value, self.plus) if equals else None for _, equals, value in self._pairs_of(name))

    def _pairs_of(self, name: str | bytes) -> Iterator[tuple[str, str, str]]:
        """Yield the pairs of a name, split at their first "="."""
        name = exact(name, "the parameters") if isinstance(name, str) else name
        if isinstance(name, str) and (self.charset != "utf-8" or "\ufffd" in name):  # octets can have several texts
            for text in self._pairs():
                split_pair = text.partition("=")
                if self._text(octets_of(split_pair[0], self.plus)) == name:
                    yield split_pair
            return
        encoded_name = encode_name(name, self.charset)
        query = self.query or ""
        if "%" in query or (self.plus and "+" in query):
            for text in self._pairs():
                split_pair = text.partition("=")
                if octets_of(split_pair[0], self.plus) == encoded_name:
                    yield split_pair
        elif query:
            with suppress(UnicodeDecodeError):  # such octets cannot occur without an escape
                yield from self._unescaped_pairs_of(query, encoded_name.decode())

    def _unescaped_pairs_of(self, query: str, name: str) -> Iterator[tuple[str, str, str]]:
        """Yield the pairs of a name in a query without escapes: a separator or "=" follows the name."""
        if "=" in name or self.separator in name:
            return  # these occur only as escapes
        boundary, at = (self.separator, ""), -1
        while (at := query.find(name, at + 1)) >= 0:
            name_end = at + len(name)
            if query[at - 1 : at] in boundary and query[name_end : name_end + 1] in ("=", *boundary):
                end = query.find(self.separator, name_end)
                yield query[at : end if end >= 0 else None].partition("=")

    # -- changed copies

    def set(self, pairs: Pairs) -> Parameters:
        """Return a copy with these values: each name keeps its first place, and its other pairs are removed.

        pairs: a mapping or pairs, as for `forms.encode`; the values of a name are kept together, and new names are
        added at the end.  An empty list removes a name.

        >>> Parameters("a=1&X=%3b%20&a=2").set({"a": ["x y", "z"], "new": None}).query
        'a=x+y&a=z&X=%3b%20&new'
        """
        new_texts = by_name(pairs, plus=self.plus, charset=self.charset)
        texts: list[str] = []
        placed_names: set[bytes] = set()
        for name, text in self._named_pairs():
            if name not in new_texts:
                texts.append(text)
            elif name not in placed_names:
                placed_names.add(name)
                texts += new_texts[name]
        texts += [text for name, name_texts in new_texts.items() if name not in placed_names for text in name_texts]
        return self._replace_texts(texts)

    def add(self, pairs: Pairs) -> Parameters:
        """Return a copy with more pairs at the end.

        >>> Parameters("a=1").add([("a", 2), ("b", True)]).query
        'a=1&a=2&b=true'
        """
        added = write_pairs(pairs, charset=self.charset, plus=self.plus)
        return self._replace_texts([self.query, *added] if self.query else added)

    def without(self, *names: NameOrPair) -> Parameters:
        """Return a copy without some names.  "*" in text matches any characters; octets are an exact name.

        A pair of a name and a value removes only the pairs with both.  If no pair remains, the query is
        undefined.

        >>> Parameters("utm_source=a&q=%7e&utm_medium=b").without("utm_*").query
        'q=%7e'
        >>> Parameters("t=a&t=b&t").without(("t", "b"), ("t", None)).query
        't=a'
        """
        return self._filtered(names, keep=False)

    def only(self, *names: NameOrPair) -> Parameters:
        """Return a copy with only these names or pairs, as `without` takes them.

        >>> Parameters("id=%7e&a=1&query=x").only("id", "q*").query
        'id=%7e&query=x'
        """
        return self._filtered(names, keep=True)

    def _filtered(self, names: tuple[NameOrPair, ...], *, keep: bool) -> Parameters:
        exact_names: set[bytes] = set()
        patterns: list[list[bytes]] = []
        pairs: set[tuple[bytes, bytes | None]] = set()
        for selector in names:
            if isinstance(selector, tuple):
                pairs.add(encoded_pair(selector, self.charset))
            elif len(pattern_pieces := pattern(selector, self.charset)) == 1:
                exact_names.add(pattern_pieces[0])
            else:
                patterns.append(pattern_pieces)
        kept_texts = [
            text
            for name, text in self._named_pairs()
            if keep
            == (
                name in exact_names
                or (bool(patterns) and any(matches(selector, name) for selector in patterns))
                or (bool(pairs) and (name, self._value(text)) in pairs)
            )
        ]
        return self if len(kept_texts) == len(self) else self._replace_texts(kept_texts)

    def sorted(self) -> Parameters:
        """Return a copy sorted by the octets of the names; pairs of one name keep their order.

        >>> Parameters("b=1&a=2&b=0").sorted().query
        'a=2&b=1&b=0'
        """
        return self._replace_texts(sorted(self._pairs(), key=lambda text: octets_of(text.partition("=")[0], self.plus)))

    def _replace_texts(self, texts: list[str]) -> Parameters:
        # A single empty pair is the empty query, which differs from an undefined one.
        query = self.separator.join(texts) if texts else None if self.query else self.query
        return Parameters(query, separator=self.separator, plus=self.plus, charset=self.charset)

    # -- as a Python value

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("Parameters are immutable; set(), add() and without() make others")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("Parameters are immutable")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Parameters):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[str | None, str, bool, str]:
        return self.query, self.separator, self.plus, self.charset

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, self._key()

    def __repr__(self) -> str:
        return f"Parameters({mask(self.query)!r})" if self.query else f"Parameters({self.query!r})"


def _restore(query: str | None, separator: str, plus: bool, charset: str) -> Parameters:
    return Parameters(query, separator=separator, plus=plus, charset=charset)
