"""Bases that apply to part of a document: xml:base, $id (RFC 3986 5.1.1)."""

from __future__ import annotations

from overthere.base import Base, from_content

__all__ = ["LONGEST", "narrow_base"]

LONGEST = 4096
"""Octets of a base that a part establishes.

Each base is resolved against the one around it, so bases within bases would take time and room by the square of the
document's length.
"""


def narrow_base(value: str, outer: Base, by: str) -> Base | None:
    """The base that holds where `value` stands within `outer`; None if it would be longer than `LONGEST`.

    Also within one that is longer: as many bases as there is text would each be resolved against it.
    """
    if len(value) > LONGEST or len(str(outer.uri)) > LONGEST:
        return None
    inner = from_content(value, outer, by)
    return inner if inner is outer or len(str(inner.uri)) <= LONGEST else None
