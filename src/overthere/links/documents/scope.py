"""Bases inside a document, such as xml:base and $id (RFC 3986 5.1.1), with a limit of their length."""

from __future__ import annotations

from overthere.base import Base, from_content

LONGEST = 4096
"""The maximum number of characters of a base inside a document.

Each base is resolved against the one around it; without a limit, nested bases would need time and memory quadratic in
the length of the document.
"""


def narrow_base(value: str, outer: Base, by: str) -> Base | None:
    """Return the base that `value` establishes inside `outer`; None if one of the three is longer than `LONGEST`.

    An outer base that is too long is rejected because each of many short values would be resolved against it.
    """
    if len(value) > LONGEST or len(str(outer.uri)) > LONGEST:
        return None
    inner = from_content(value, outer, by)
    return inner if inner is outer or len(str(inner.uri)) <= LONGEST else None
