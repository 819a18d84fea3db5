"""Labels of message parts: cid: and mid: (RFC 2392), Content-Location (RFC 2557 8.2)."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote, unquote_to_bytes

__all__ = ["Labels", "identifier_url", "part_of"]

_LABELS = 1 << 24
"""So many characters of labels are kept."""
_COPIED = 1 << 21
"""So many labels are copied into the scopes within."""


def part_of(target: str, parts: Mapping[str, str] | None) -> str | None:
    """The part that a target URI names, its fragment aside; None if there is none.

    The URIs are compared "octet by octet" (RFC 2557 8.2 d), those of cid: and mid: by what they say (RFC 2392 2).

    >>> part_of("CID:a%2Bb%40c#x", {"cid:a+b@c": "mail.eml!2"})
    'mail.eml!2'
    """
    if not parts:
        return None
    text = target.partition("#")[0]
    scheme = text[:4].lower()
    if scheme == "cid:":
        text = identifier_url("cid:", unquote_to_bytes(text[4:]))
    elif scheme == "mid:":
        message, slash, part = text[4:].partition("/")
        text = identifier_url("mid:", unquote_to_bytes(message))
        text = identifier_url(f"{text}/", unquote_to_bytes(part)) if slash else text
    return parts.get(text)


def identifier_url(scheme: str, identifier: bytes) -> str:
    """With escapes only where a path needs them, and for "/" (RFC 2392 2): so it is mostly written."""
    return scheme + quote(identifier, safe="!$&'()*+,;=:@")


class Labels:
    """What the parts are called, by the message or multipart/related within which the name holds."""

    def __init__(self) -> None:
        self.scopes: dict[int, dict[str, str]] = {}
        self.left: int = _LABELS
        self.copied: int = 0

    def put(self, scope: int, label: str, source: str, *, better: bool = False) -> None:
        """The first of a name counts; in multipart/alternative the last, which is the best (RFC 2046 5.1.4)."""
        self.left -= len(label) + len(source)
        if self.left >= 0:
            names = self.scopes.setdefault(scope, {})
            if better or label not in names:
                names[label] = source

    def names_within(self, outer: dict[str, str], scope: int) -> dict[str, str]:
        """The names that hold in a scope, its own before those around it."""
        own = self.scopes.get(scope, {})
        if not own or not outer:
            return own or outer
        self.copied += len(outer) + len(own)
        if self.copied > _COPIED:
            self.left = -1
            return own
        return outer | own
