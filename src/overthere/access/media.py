"""Media types by file name suffix (RFC 1738 3.2.3), from Python's own table only."""

from __future__ import annotations

from functools import cache
from mimetypes import MimeTypes


@cache
def _table() -> MimeTypes:
    try:
        return MimeTypes()
    except OSError:  # the first call also reads the system's tables, which are not used; they cannot be opened
        return MimeTypes()


def guess_type(name: str) -> tuple[str | None, str | None]:
    """Return the media type and the content coding of a file name; None for each that is unknown.

    >>> guess_type("a.tar.gz"), guess_type("README")
    (('application/x-tar', 'gzip'), (None, None))
    """
    return _table().guess_type(f"x/{name}", strict=False)


def is_known_type(name: str) -> bool:
    """Whether a media type without parameters is in Python's table."""
    return _table().guess_extension(name.strip(), strict=False) is not None
