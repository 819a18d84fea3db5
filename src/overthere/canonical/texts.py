"""Comparison keys that are not URIs: SURT of web archives, and the text that Safe Browsing hashes."""

from __future__ import annotations

from collections.abc import Callable

from overthere.canonical.rewriting import sorted_pairs, unescape_fully
from overthere.kernel.reference import split, split_authority


def _surt(text: str) -> str:
    """Return the SURT key: labels (or address bytes) reversed, a port not the default, path, query; in lower case."""
    parts = split(text)
    if parts.authority is None:
        return text
    _, host, port = split_authority(parts.authority)
    # Pairs are separated after unescaping: "%26" separates them too.
    query = "" if parts.query is None else "?" + sorted_pairs(escape_minimally(parts.query).lower())
    path_and_query = f"{escape_minimally(parts.path)}{query}".lower()
    if not host:
        return f"{parts.scheme}:{path_and_query}"
    name = ",".join(reversed(host.strip("[]").split(".")))
    return f"{name}{':' + port if port else ''}){path_and_query}".lower()


def _hash_text(text: str) -> str:
    parts = split(text)
    if parts.authority is None:
        return text
    query = "" if parts.query is None else "?" + escape_minimally(parts.query)
    return f"{parts.scheme}://{escape_minimally(parts.authority)}{escape_minimally(parts.path)}{query}"


def escape_minimally(text: str) -> str:
    """Unescape a text fully, then escape only bytes up to 32, from 127 on, "#" and "%"."""
    return "".join(chr(o) if 32 < o < 127 and o not in b"#%" else f"%{o:02X}" for o in unescape_fully(text))


KEYS: dict[str, Callable[[str], str]] = {"surt": _surt, "safe-browsing": _hash_text}
"""Name of a key -> the function that makes it of a canonical URI's text."""
