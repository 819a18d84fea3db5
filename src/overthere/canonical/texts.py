"""Comparison keys that are not URIs: SURT of web archives, and the text that Safe Browsing hashes."""

from __future__ import annotations

from collections.abc import Callable

from overthere.canonical.rewriting import sorted_pairs, unescape_fully
from overthere.kernel.reference import split, split_authority

__all__ = ["KEYS", "escape_minimally"]


def _surt(text: str) -> str:
    """Labels and octets of addresses in reverse, a port that is not the default, path and query in small letters."""
    parts = split(text)
    if parts.authority is None:
        return text
    _, host, port = split_authority(parts.authority)
    # Pairs are those of the text without escapes: "%26" divides them too.
    query = "" if parts.query is None else "?" + sorted_pairs(escape_minimally(parts.query).lower())
    rest = f"{escape_minimally(parts.path)}{query}".lower()
    if not host:
        return f"{parts.scheme}:{rest}"
    name = ",".join(reversed(host.strip("[]").split(".")))
    return f"{name}{':' + port if port else ''}){rest}".lower()


def _hash_text(text: str) -> str:
    parts = split(text)
    if parts.authority is None:
        return text
    query = "" if parts.query is None else "?" + escape_minimally(parts.query)
    return f"{parts.scheme}://{escape_minimally(parts.authority)}{escape_minimally(parts.path)}{query}"


def escape_minimally(text: str) -> str:
    """Only the octets up to 32, from 127 on, "#" and "%" escaped."""
    return "".join(chr(o) if 32 < o < 127 and o not in b"#%" else f"%{o:02X}" for o in unescape_fully(text))


KEYS: dict[str, Callable[[str], str]] = {"surt": _surt, "safe-browsing": _hash_text}
"""Name of a key -> what writes it of a URI that its form has made canonical."""
