"""Percent-encoding (RFC 3986 2.1 to 2.4)."""

from __future__ import annotations

import re

from overthere.ground.caches import bounded_cache

_ENCODED = {chr(b): f"%{b:02X}" for b in range(256)}
_DECODED = {b"%%%02X" % b: bytes([b]) for b in range(256)}
_ESCAPE = re.compile(rb"%[0-9A-Fa-f][0-9A-Fa-f]")


@bounded_cache(256)
def _complement(safe: str) -> re.Pattern[str]:
    return re.compile(f"[^{re.escape(safe)}]") if safe else re.compile("(?s).")


def percent_encode(data: bytes, safe: str) -> str:
    """Replace every byte that is not one of the US-ASCII characters `safe` by `%HH` (2.1)."""
    return _complement(safe).sub(lambda m: _ENCODED[m[0]], data.decode("latin-1"))


def percent_decode(data: bytes) -> bytes:
    """Decode every `%HH` (2.1); a "%" without two hexadecimal digits stays (callers have rejected it)."""
    return _ESCAPE.sub(lambda m: _DECODED[m[0].upper()], data)


def unquote(string: str, plus: bool) -> str | None:
    """Decode every complete escape as urllib does; with `plus`, "+" is a space.  Return None for a lone surrogate.

    >>> unquote("a+%C3%A9%zz%ff", True)
    'a é%zz\ufffd'
    """
    try:
        octets = (string.replace("+", " ") if plus else string).encode()
    except UnicodeEncodeError:
        return None
    return percent_decode(octets).decode("utf-8", "replace")


def unquote_pairs(query: str, blank: bool) -> list[tuple[str, str]] | None:
    """Return a query's pairs as urllib does; pairs without a value only with `blank`.  None for a lone surrogate.

    >>> unquote_pairs("a=b+c&&d&=", False), unquote_pairs("a&=", True)
    ([('a', 'b c')], [('a', ''), ('', '')])
    """
    pairs = []
    for piece in query.split("&"):
        text, _, value_text = piece.partition("=")
        name, value = unquote(text, True), unquote(value_text, True)
        if name is None or value is None:
            return None
        if value or (blank and piece):
            pairs.append((name, value))
    return pairs
