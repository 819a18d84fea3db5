"""Labels of message parts: cid: and mid: (RFC 2392), Content-Location (RFC 2557 8.2)."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote, unquote_to_bytes

_MAX_CHARS = 1 << 24
"""Maximum characters of stored labels and sources."""
_MAX_COPIED_LABELS = 1 << 21
"""Maximum labels copied into inner scopes."""


def part_of(target: str, parts: Mapping[str, str] | None) -> str | None:
    """Return the source of the part that a target URI names without its fragment; None if it names no part.

    The URIs are compared "octet by octet" (RFC 2557 8.2 d), those of cid: and mid: after decoding (RFC 2392 2).

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
    """Return a URL with escapes only where a path needs them, and for "/" (RFC 2392 2): the usual spelling."""
    return scheme + quote(identifier, safe="!$&'()*+,;=:@")


class Labels:
    """Labels of message parts, by scope: the message or multipart/related in which a label is valid."""

    def __init__(self) -> None:
        self.scopes: dict[int, dict[str, str]] = {}
        self.remaining_chars: int = _MAX_CHARS
        self.copied_labels: int = 0

    def add(self, scope: int, label: str, source: str, *, is_better: bool = False) -> None:
        """Store a label; its first use counts, but in multipart/alternative its last, the best (RFC 2046 5.1.4)."""
        self.remaining_chars -= len(label) + len(source)
        if self.remaining_chars >= 0:
            labels = self.scopes.setdefault(scope, {})
            if is_better or label not in labels:
                labels[label] = source

    def find_labels(self, outer_labels: dict[str, str], scope: int) -> dict[str, str]:
        """Return the labels valid in a scope; its own take precedence over those of `outer_labels`."""
        scope_labels = self.scopes.get(scope, {})
        if not scope_labels or not outer_labels:
            return scope_labels or outer_labels
        self.copied_labels += len(outer_labels) + len(scope_labels)
        if self.copied_labels > _MAX_COPIED_LABELS:
            self.remaining_chars = -1
            return scope_labels
        return outer_labels | scope_labels
