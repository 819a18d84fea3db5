"""Texts to compare by that are no URIs: SURT of web archives, and the text that Safe Browsing hashes."""

from __future__ import annotations

from collections.abc import Callable

from overthere.canonical.rewriting import unescaped
from overthere.kernel.reference import split, split_authority

__all__ = ["KEYS"]


def _surt(text: str) -> str:
    """Labels and octets of addresses in reverse, a port that is not the default, path and query in small letters."""
    parts = split(text)
    if parts.authority is None:
        return text
    _, host, port = split_authority(parts.authority)
    name = host.strip("[]") if host.startswith("[") else ",".join(reversed(host.split(".")))
    query = "" if parts.query is None else "?" + _minimal(parts.query)
    return f"{name}{':' + port if port else ''}){_minimal(parts.path)}{query}".lower()


def _hashed(text: str) -> str:
    """Escaped are the octets up to 32 and from 127 on, "#" and "%", and no others."""
    parts = split(text)
    if parts.authority is None:
        return text
    query = "" if parts.query is None else "?" + _minimal(parts.query)
    return f"{parts.scheme}://{_minimal(parts.authority)}{_minimal(parts.path)}{query}"


def _minimal(text: str) -> str:
    return "".join(chr(o) if 32 < o < 127 and o not in b"#%" else f"%{o:02X}" for o in unescaped(text))


KEYS: dict[str, Callable[[str], str]] = {"surt": _surt, "safe-browsing": _hashed}
"""Name of a key -> what writes it of a URI that its form has made canonical."""
