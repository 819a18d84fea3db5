"""Encoding and decoding by RFC 1738 2.2."""

from __future__ import annotations

from functools import cache

from overthere import kernel
from overthere.grammar.library import grammar
from overthere.ground.display import name_of, printable
from overthere.ground.errors import CodingError
from overthere.values import encoding

# Component that can hold data -> the rule of its characters, additional characters ("/" between segments), and
# characters that the prose forbids.
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
    "article": ("xchar", "", "@"),  # 3.6: the id; a host follows its "@"
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
def _safe_characters(component: str) -> str:
    if component not in _DATA:
        raise CodingError(f"{component!r} is nothing that holds data: {', '.join(_DATA)} (RFC 1738 5)")
    rule, extra, reserved = _DATA[component]
    return "".join(sorted((grammar("rfc1738").charset(rule) | frozenset(extra)) - frozenset(reserved)))


def _require_ascii(text: str) -> None:
    """Reject characters outside US-ASCII: the document names no charset for the octets 80-FF (2.2; 1738-15)."""
    if not text.isascii():
        position = next(i for i, char in enumerate(text) if not char.isascii())
        name = name_of(text[position])
        raise CodingError(f"{name} at {position} is not in US-ASCII, and no other charset is named (RFC 1738 2.2)")


def encode_data(data: str | bytes, component: str) -> str:
    """Escape the bytes that the component does not allow as characters, or reserves (2.2)."""
    if isinstance(data, str):
        _require_ascii(data)
        data = data.encode("ascii")
    if component not in ("article", "group"):
        return kernel.percent_encode(data, _safe_characters(component))
    # 3.6 and the BNF of 5: neither a group nor the host of an article has escapes.
    escaped, at, plain = data.rpartition(b"@") if component == "article" else (b"", b"", data)
    text = kernel.percent_encode(escaped, _safe_characters(component)) + (at + plain).decode("latin-1")
    if not grammar("rfc1738").automaton(component).accepts(text):
        form = {"article": "<id>@<host>", "group": "a letter, then letters, digits and -.+_"}[component]
        raise CodingError(f"{printable(repr(data)[1:])} is not a valid {component}: {form}, unescaped (RFC 1738 5)")
    return text


def decode_text(text: str) -> str:
    """Decode escapes to characters of US-ASCII; the octets 80-FF have no characters without a charset (2.2)."""
    _require_ascii(text)
    data = encoding.decode_bytes(text)
    high = next((i for i, byte in enumerate(data) if byte > 0x7F), None)
    if high is not None:
        raise CodingError(
            f"the octet %{data[high]:02X} at {high} of the decoded octets is not a character: RFC 1738 2.2 names no "
            "charset for it; decode_bytes(text) gives the octets, decode(text, charset=...) reads them by one"
        )
    return data.decode("ascii")
