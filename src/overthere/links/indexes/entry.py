"""The entry of a record in an index."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from overthere.links.model import Note

_MAX_OFFSET = (1 << 63) - 1
"""The maximum size of a file: offsets are signed (POSIX `off_t`)."""


class Entry(NamedTuple):
    """A record, as an index describes it."""

    file: str
    """The archive file, as the index writes it: relative, or a URI."""
    offset: int | None
    """In bytes; None for the whole file (a list of paths)."""
    length: int | None
    """In bytes; None if the index has none (CDX with 9 fields), or 0."""
    url: str = ""
    """The URI of the record."""
    digest: str = ""
    """The digest of the payload, as the index writes it, without the prefix `sha1:`; "" if undefined."""
    media_type: str = ""
    """The detected media type if the index has it, otherwise the declared one."""
    status: str = ""


def make_entry(fields: Mapping[str, object]) -> Entry | Note:
    """Return the entry of CDXJ fields; a note if the file or the offset is missing, or a number is not valid.

    >>> make_entry({"filename": "a.warc.gz", "offset": "7", "length": 9, "mime": "text/html"})
    Entry(file='a.warc.gz', offset=7, length=9, url='', digest='', media_type='text/html', status='')
    >>> make_entry({"filename": "a.warc.gz", "offset": "-7"})
    Note(kind='corrupt')
    """
    file = to_text(fields.get("filename"))
    offset = _to_number(fields.get("offset"))
    length_field = fields.get("length")
    length = 0 if length_field in (None, "", "-") else _to_number(length_field)
    if not file or not file.isprintable() or offset is None or length is None or offset + length > _MAX_OFFSET:
        return Note("corrupt")
    return Entry(
        file, offset, length or None, to_text(fields.get("url")), to_text(fields.get("digest")).removeprefix("sha1:"),
        to_text(fields.get("mime-detected")) or to_text(fields.get("mime")), to_text(fields.get("status")),
    )  # fmt: skip


def to_text(value: object) -> str:
    """Return the text of a field, "" if it is undefined; a lone surrogate, which is not valid text, becomes "?"."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or value == "-":
        return ""
    return value if value.isascii() else value.encode("utf-8", "replace").decode()


def _to_number(value: object) -> int | None:
    """Return the number of a field, which may be text; None if it is not a size or an offset in a file."""
    text = to_text(value)
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        return None
    number = int(text)
    return number if number <= _MAX_OFFSET else None
