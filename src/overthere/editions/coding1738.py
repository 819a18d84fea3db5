"""Encoding and decoding by RFC 1738 2.2."""

from __future__ import annotations

from functools import cache

from overthere import kernel
from overthere.grammar.library import grammar
from overthere.ground.display import name_of, printable
from overthere.ground.errors import CodingError
from overthere.values import encoding

__all__ = ["decode_text", "encode_data"]

# What holds data -> the rule of its characters, what it holds besides ("/" between segments), and what the prose
# takes away.
_DATA = {
    "segment": ("uchar", "", ""),  # allowed by every scheme
    "uchar": ("uchar", "", ""),
    "xchar": ("xchar", "", ""),
    "unreserved": ("unreserved", "", ""),
    "user": ("user", "", "?"),  # 3.1; "?" is allowed, but later documents end the host there (decision 1738-7)
    "password": ("password", "", "?"),
    "urlpath": ("xchar", "", ""),
    "fsegment": ("fsegment", "", ""),  # 3.2.2: "/" and ";"
    "fpath": ("fsegment", "/", ""),
    "hsegment": ("hsegment", "", ";"),  # 3.3: "/", ";" and "?"
    "hpath": ("hsegment", "/", ";"),
    "search": ("search", "", ";"),
    "selector": ("xchar", "", ""),  # 3.4.1: none is reserved
    "gopher+_string": ("xchar", "", ""),
    "encoded822addr": ("xchar", "", ""),  # 3.5: none is reserved
    "article": ("xchar", "", "@"),  # 3.6: the id; behind its "@" stands a host
    "group": ("unreserved", "", ""),
    "database": ("database", "", ""),
    "wtype": ("wtype", "", ""),
    "wpath": ("wpath", "", ""),
    "psegment": ("psegment", "", ""),  # 3.11: ";"
    "ppath": ("psegment", "/", ""),
    "fieldname": ("fieldname", "", ""),
    "fieldvalue": ("fieldvalue", "", ""),
}


@cache
def _safe(component: str) -> str:
    if component not in _DATA:
        raise CodingError(f"{component!r} is nothing that holds data: {', '.join(_DATA)} (RFC 1738 5)")
    rule, more, reserved = _DATA[component]
    return "".join(sorted((grammar("rfc1738").charset(rule) | frozenset(more)) - frozenset(reserved)))


def _ascii(text: str) -> None:
    """2.2: a character stands for its octet in US-ASCII; no charset is named for the octets 80-FF (1738-15)."""
    if not text.isascii():
        at = next(i for i, char in enumerate(text) if not char.isascii())
        shown = name_of(text[at])
        raise CodingError(f"{shown} at {at} is not in US-ASCII, and no other charset is named (RFC 1738 2.2)")


def encode_data(data: str | bytes, component: str) -> str:
    """2.2: octets that the part does not allow as characters, or reserves, become escapes."""
    if isinstance(data, str):
        _ascii(data)
        data = data.encode("ascii")
    if component not in ("article", "group"):
        return kernel.percent_encode(data, _safe(component))
    # 3.6 and the BNF of 5: neither a group nor the host of an article has escapes.
    escaped, at, plain = data.rpartition(b"@") if component == "article" else (b"", b"", data)
    text = kernel.percent_encode(escaped, _safe(component)) + (at + plain).decode("latin-1")
    if not grammar("rfc1738").automaton(component).accepts(text):
        form = {"article": "<id>@<host>", "group": "a letter, then letters, digits and -.+_"}[component]
        raise CodingError(f"{printable(repr(data)[1:])} is not a valid {component}: {form}, unescaped (RFC 1738 5)")
    return text


def decode_text(text: str) -> str:
    """2.2: escapes are octets.  Those of US-ASCII are characters; 80-FF have none unless a charset is named."""
    _ascii(text)
    octets = encoding.decode_bytes(text)
    high = next((i for i, octet in enumerate(octets) if octet > 0x7F), None)
    if high is not None:
        raise CodingError(
            f"the octet %{octets[high]:02X} at {high} of the decoded octets is not a character: RFC 1738 2.2 names no "
            "charset for it; decode_bytes(text) gives the octets, decode(text, charset=...) reads them by one"
        )
    return octets.decode("ascii")
