"""Queries of the form `key=value&key=value` (application/x-www-form-urlencoded).

RFC 3986 3.4 says only that queries often carry such pairs.  This is the one place in overthere
where "+" is a space.  A name without "=" is kept apart from one with an empty value.
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
    """The query for pairs, in their order; in a mapping a list gives one pair for each of its items.

    None as a value writes the name without "="; an empty name with None, alone, is the empty query.  Numbers are
    written as Python writes them (`1.5`), True and False as in JSON: `true`, `false`; URIs, UUIDs, dates, times,
    Decimals, paths and members of an Enum as `form_pairs.plain_value` says.
    Everything but unreserved characters and those of `keep` is encoded, a space as "+".

    Raises: CodingError for a `keep` that a query cannot contain or that a form reads ("&", "=", "+"), for text that
    `charset` cannot encode, and for a float that is infinite or NaN; TypeError for other types, for a set, which has no
    order, and for a mapping as a value.

    >>> encode({"k": "v w", "list": ["1", "2"], "flag": None, "empty": "", "on": True})
    'k=v+w&list=1&list=2&flag&empty=&on=true'
    >>> encode({"to": "/a:b@c"}, keep="/:@")
    'to=/a:b@c'
    """
    if read := sorted(set(exact(keep, "keep")) & set("&=+")):
        raise CodingError(f"a form cannot keep {read[0]!r}, which would be read as part of its syntax")
    return "&".join(write_pairs(pairs, keep=keep, charset=charset))


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


_BLOCK = 1 << 16
"""How many characters of a query are cut into pairs at a time, so that a long one takes no room for each of them."""


class Parameters:
    """The pairs of a query: immutable and ordered; a name may occur several times.

    query: its text; None is an undefined query, which has no pairs.
    separator: the separator of the pairs: "&", or ";" as HTML 4 B.2.2 advises.
    plus: whether "+" is a space, in reading and writing; otherwise "+" is itself, and a space is "%20".
    charset: the charset of the octets that names and values stand for.

    Iteration gives pairs of decoded text, the value None where there is no "=".  Octets that are not in the charset
    become U+FFFD and do not affect other pairs: `octets` gives them as they are, `raw` the text as written.  Names are
    compared decoded, so "a" and "%61" are one name; a name given as octets is compared with octets.

    It has the methods of a Mapping, and differs where a name occurs several times: `keys()` gives each name once, `[]`
    and `get` give its first value, and `dict(p)` holds the first values; `items()`, `values()`, `len` and iteration
    count every pair.

    Raises: CodingError for a "%" without two hexadecimal digits, for a lone surrogate, and for an unknown charset;
    ValueError for another separator.

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
        own = object.__setattr__
        own(self, "query", query)
        own(self, "separator", separator)
        own(self, "plus", plus)
        own(self, "charset", charset)
        own(self, "_first", None)
        try:
            "".encode(charset)
        except (LookupError, ValueError):
            raise CodingError(f"{charset!r:.100} is not a charset that Python can encode") from None
        if query:
            encoding.decode_bytes(query)  # a broken escape is told

    def _pairs(self) -> Iterator[str]:
        query, separator, at = self.query, self.separator, 0
        if not query:
            return
        while (end := query.find(separator, at + _BLOCK)) >= 0:
            yield from query[at:end].split(separator)
            at = end + 1
        yield from query[at:].split(separator)

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
        """The pairs as they are written.

        >>> Parameters("a=%7e&&b").raw
        ('a=%7e', '', 'b')
        """
        return tuple(self._pairs())

    @property
    def names(self) -> tuple[str, ...]:
        """The names, each once, in the order of their first places."""
        return self.keys()

    def keys(self) -> tuple[str, ...]:
        """The names, each once, in the order of their first places: `dict(p)` takes the first value of each.

        >>> p = Parameters("a=1&b&a=2")
        >>> p.keys(), p.items(), p.values(), dict(p)
        (('a', 'b'), (('a', '1'), ('b', None), ('a', '2')), ('1', None, '2'), {'a': '1', 'b': None})
        """
        first = self._first
        if first is None:
            first = {}
            for name, value in self:
                first.setdefault(name, value)
            object.__setattr__(self, "_first", first)  # or `dict(p)` would search the query for each name
        return tuple(first)

    def values(self) -> tuple[str | None, ...]:
        """The value of every pair, in their order."""
        return tuple(value for _, value in self)

    def items(self) -> tuple[tuple[str, str | None], ...]:
        """Every pair, in their order."""
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
        """The first value of that name, None where it has no "=".  Raises: KeyError if there is no such name."""
        if self._first is not None and type(name) is str and name in self._first:
            return self._first[name]
        for octets in self._values_of(name):
            return self._text(octets)
        raise KeyError(name)

    @front
    def get(self, name: str | bytes, default: str | None = None) -> str | None:
        """The first value of that name; `default` if there is no such name."""
        for octets in self._values_of(name):
            return self._text(octets)
        return default

    @front
    def all(self, name: str | bytes) -> list[str | None]:
        """All values of that name, in their order."""
        return [self._text(octets) for octets in self._values_of(name)]

    def octets(self, name: str | bytes) -> list[bytes | None]:
        """All values of that name as octets, whatever their charset."""
        return list(self._values_of(name))

    def written(self, name: str | bytes) -> list[str | None]:
        """All values of that name as they are written.

        >>> Parameters("a=%7e&b=1&a=x+y").written("a")
        ['%7e', 'x+y']
        """
        return [value if equals else None for _, equals, value in self._pairs_of(name)]

    def _values_of(self, name: str | bytes) -> Iterator[bytes | None]:
        return (octets_of(value, self.plus) if equals else None for _, equals, value in self._pairs_of(name))

    def _pairs_of(self, name: str | bytes) -> Iterator[tuple[str, str, str]]:
        """The pairs of that name, at their first "="."""
        name = exact(name, "the parameters") if isinstance(name, str) else name
        if isinstance(name, str) and (self.charset != "utf-8" or "\ufffd" in name):  # not one text for some octets
            for text in self._pairs():
                parted = text.partition("=")
                if self._text(octets_of(parted[0], self.plus)) == name:
                    yield parted
            return
        wanted = encode_name(name, self.charset)
        query = self.query or ""
        if "%" in query or (self.plus and "+" in query):
            for text in self._pairs():
                parted = text.partition("=")
                if octets_of(parted[0], self.plus) == wanted:
                    yield parted
        elif query:
            with suppress(UnicodeDecodeError):  # such octets stand nowhere without an escape
                yield from self._unescaped_pairs_of(query, wanted.decode())

    def _unescaped_pairs_of(self, query: str, name: str) -> Iterator[tuple[str, str, str]]:
        """The pairs of a name in a query without escapes: where the name stands between a separator and "=" or one."""
        if "=" in name or self.separator in name:
            return  # which are there only as escapes
        around, at = (self.separator, ""), -1
        while (at := query.find(name, at + 1)) >= 0:
            behind = at + len(name)
            if query[at - 1 : at] in around and query[behind : behind + 1] in ("=", *around):
                end = query.find(self.separator, behind)
                yield query[at : end if end >= 0 else None].partition("=")

    # -- others, made from these

    def set(self, pairs: Pairs) -> Parameters:
        """A copy with these values: each name keeps its first place, and its other pairs are removed.

        pairs: a mapping or pairs, as `forms.encode` takes them; the values of a name are put together, and new names at
        the end.  An empty list removes a name.

        >>> Parameters("a=1&X=%3b%20&a=2").set({"a": ["x y", "z"], "new": None}).query
        'a=x+y&a=z&X=%3b%20&new'
        """
        given = by_name(pairs, plus=self.plus, charset=self.charset)
        texts: list[str] = []
        placed: set[bytes] = set()
        for name, text in self._named_pairs():
            if name not in given:
                texts.append(text)
            elif name not in placed:
                placed.add(name)
                texts += given[name]
        texts += [text for name, listed in given.items() if name not in placed for text in listed]
        return self._replace_texts(texts)

    def add(self, pairs: Pairs) -> Parameters:
        """A copy with more pairs at the end.

        >>> Parameters("a=1").add([("a", 2), ("b", True)]).query
        'a=1&a=2&b=true'
        """
        asked = write_pairs(pairs, charset=self.charset, plus=self.plus)
        return self._replace_texts([self.query, *asked] if self.query else asked)

    def without(self, *names: NameOrPair) -> Parameters:
        """A copy without some names.  "*" in text stands for any characters; octets are an exact name.

        A pair of a name and a value takes out only the pairs that stand for both.  If no pair is left, the query is
        undefined.

        >>> Parameters("utm_source=a&q=%7e&utm_medium=b").without("utm_*").query
        'q=%7e'
        >>> Parameters("t=a&t=b&t").without(("t", "b"), ("t", None)).query
        't=a'
        """
        return self._filtered(names, keep=False)

    def only(self, *names: NameOrPair) -> Parameters:
        """A copy with these names or pairs alone, as `without` takes them.

        >>> Parameters("id=%7e&a=1&query=x").only("id", "q*").query
        'id=%7e&query=x'
        """
        return self._filtered(names, keep=True)

    def _filtered(self, names: tuple[NameOrPair, ...], *, keep: bool) -> Parameters:
        plain: set[bytes] = set()
        others: list[list[bytes]] = []
        pairs: set[tuple[bytes, bytes | None]] = set()
        for one in names:
            if isinstance(one, tuple):
                pairs.add(encoded_pair(one, self.charset))
            elif len(pieces := pattern(one, self.charset)) == 1:
                plain.add(pieces[0])
            else:
                others.append(pieces)
        kept = [
            text
            for name, text in self._named_pairs()
            if keep
            == (
                name in plain
                or (bool(others) and any(matches(one, name) for one in others))
                or (bool(pairs) and (name, self._value(text)) in pairs)
            )
        ]
        return self if len(kept) == len(self) else self._replace_texts(kept)

    def sorted(self) -> Parameters:
        """A copy sorted by the octets of the names; pairs of one name keep their order.

        >>> Parameters("b=1&a=2&b=0").sorted().query
        'a=2&b=1&b=0'
        """
        return self._replace_texts(sorted(self._pairs(), key=lambda text: octets_of(text.partition("=")[0], self.plus)))

    def _replace_texts(self, texts: list[str]) -> Parameters:
        # One empty pair alone is the empty query, which is not an undefined one.
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
