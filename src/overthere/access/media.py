"""Media types by file name suffix (RFC 1738 3.2.3), from Python's own table only."""

from __future__ import annotations

from functools import cache
from mimetypes import MimeTypes

__all__ = ["guess_type"]


@cache
def _table() -> MimeTypes:
    try:
        return MimeTypes()
    except OSError:  # the system's own tables, which are read at the first use and not asked, cannot be opened
        return MimeTypes()


def guess_type(name: str) -> tuple[str | None, str | None]:
    """The media type and the content coding of a file's name; None where it tells none.

    >>> guess_type("a.tar.gz"), guess_type("README")
    (('application/x-tar', 'gzip'), (None, None))
    """
    return _table().guess_type(f"x/{name}", strict=False)
