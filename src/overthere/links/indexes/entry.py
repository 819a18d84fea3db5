"""The entry of a record in an index."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from overthere.links.model import Note

__all__ = ["Entry", "make_entry", "to_text"]

_LARGEST = (1 << 63) - 1
"""Files have no more octets: offsets are signed (POSIX `off_t`)."""


class Entry(NamedTuple):
    """A record, as an index describes it."""

    file: str
    """The archive file, as the index writes it: relative, or a URI."""
    offset: int | None
    """In octets; None: the whole file (a list of paths)."""
    length: int | None
    """In octets; None if the index does not say (CDX with 9 fields), or says 0."""
    url: str = ""
    """The URI of the record."""
    digest: str = ""
    """Of the payload, as the index writes it, without the prefix `sha1:`; "" if undefined."""
    media_type: str = ""
    """The detected one if the index has it, otherwise the declared one."""
    status: str = ""


def make_entry(fields: Mapping[str, object]) -> Entry | Note:
    """The entry of the fields of CDXJ; a note if the file or the offset is missing, or a number is not valid.

    >>> make_entry({"filename": "a.warc.gz", "offset": "7", "length": 9, "mime": "text/html"})
    Entry(file='a.warc.gz', offset=7, length=9, url='', digest='', media_type='text/html', status='')
    >>> make_entry({"filename": "a.warc.gz", "offset": "-7"})
    Note(kind='corrupt')
    """
    file = to_text(fields.get("filename"))
    offset = _to_number(fields.get("offset"))
    said = fields.get("length")
    length = 0 if said in (None, "", "-") else _to_number(said)
    if not file or not file.isprintable() or offset is None or length is None or offset + length > _LARGEST:
        return Note("corrupt")
    return Entry(
        file,
        offset,
        length or None,
        to_text(fields.get("url")),
        to_text(fields.get("digest")).removeprefix("sha1:"),
        to_text(fields.get("mime-detected")) or to_text(fields.get("mime")),
        to_text(fields.get("status")),
    )


def to_text(value: object) -> str:
    """The text of a field, "" if it is undefined; a lone surrogate, which is no text, becomes "?"."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or value == "-":
        return ""
    return value if value.isascii() else value.encode("utf-8", "replace").decode()


def _to_number(value: object) -> int | None:
    """The number of a field, which may be written as a text; None if it is not a size or a place in a file."""
    text = to_text(value)
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        return None
    number = int(text)
    return number if number <= _LARGEST else None
