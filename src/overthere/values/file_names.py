"""A segment as one file name that is safe to create on any system."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from overthere.kernel import Components, percent_decode

if TYPE_CHECKING:
    from overthere.schemes.registry import Registry

_MAX_LENGTH = 120
"""Characters, and bytes of UTF-8: file systems allow 255 bytes, and a temporary name is longer."""
_DEVICES = re.compile(r"(?i)(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])\s*(?:\.|$)")
"""Reserved names of Windows ("Naming Files, Paths, and Namespaces"), with any suffix."""


def file_name(value: Components, registry: Registry) -> str | None:
    """`filename` of a value, by a registry: text that a scheme writes after the file's name does not belong to it."""
    scheme, segments = None if value.scheme is None else registry.get(value.scheme), tuple(value.path.split("/"))
    if scheme is not None and scheme.file_name is not None:
        return segment_name(scheme.file_name(segments[1:] if segments[0] == "" else segments))
    return segment_name(next((segment for segment in reversed(segments) if segment), ""))


def segment_name(segment: str) -> str | None:
    """Return a file name for a segment as written; None if nothing of it remains.

    It is never a path: it has no separator, control, direction mark, device name, or "." or "-" in front, escaped or
    not.

    >>> [segment_name(text) for text in ("b%20c.txt", "..%2F..%2Fetc%2Fpasswd", "%2E%2e", "aux.txt")]
    ['b c.txt', '_.._etc_passwd', None, '_aux.txt']
    """
    text = percent_decode(segment.encode()).decode("utf-8", "replace").lstrip(".- ")[:_MAX_LENGTH]
    text = "".join(c if c.isprintable() and c not in '/\\:*?"<>|\ufffd' else "_" for c in text).rstrip(". ")
    while len(text.encode()) > _MAX_LENGTH:
        text = text[:-1].rstrip(". ")
    return f"_{text}" if _DEVICES.match(text) else text or None
