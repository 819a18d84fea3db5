"""Reads an index by its kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import BinaryIO

from overthere.ground.codings import decode_until_fault
from overthere.ground.display import printable
from overthere.ground.redact import mask
from overthere.links.documents.kinds import HEAD
from overthere.links.indexes.columnar import read_columnar
from overthere.links.indexes.conditions import Where
from overthere.links.indexes.entry import Entry
from overthere.links.indexes.lines import GZIP, read_cdx, read_cdxj, read_paths
from overthere.links.model import Note

_MAX_NOTES = 100
"""Maximum notes on damaged lines of an index; the others are only counted."""
_CDXJ_START = re.compile(rb"(?:[!][^\n]*+\n)*+(?:[^\s{!]\S*+ \d{4,17} \{|\{\s?\"urlkey\")")
_CDX_START = re.compile(rb"([ \t,;|])CDX\1[A-Za-z]\1|\S++ \d{14}(?: \S++){7}(?: \S++ \S++)?+\r?+(?:\n|\Z)")
"""The beginnings of CDXJ and CDX indexes."""
_CDXJ_PART_NAME = re.compile(r"cdx-\d++\.gz")
"""The name of a part of the CDXJ of Common Crawl."""
_Reader = Callable[[BinaryIO, Where], Iterator[Entry | Note]]
_KINDS: dict[str, tuple[_Reader, str, tuple[str, ...]]] = {
    "cdxj": (read_cdxj, "a CDXJ index", Where._fields),
    "cdx": (read_cdx, "a CDX index", ("domain", "host", "mime", "status", "url")),
    "parquet": (read_columnar, "a columnar index", Where._fields),
    "paths": (read_paths, "a list of paths", ()),
}
"""The reader of each kind, its title, and the conditions that it can answer."""


def index_kind(name: str, head: bytes) -> str:
    """Return the kind of an index by name and first bytes: "cdxj", "cdx", "parquet" or "paths"; "" if it is not one.

    >>> index_kind("cdx-00000", b'org,example)/ 20240101000000 {"url": "http://example.org/"}')
    'cdxj'
    """
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(GZIP):
        head, _ = decode_until_fault(head, "gzip", HEAD)
    lower = name.rpartition("/")[2].lower()
    stem = lower.removesuffix(".gz")
    if b"\0" in head:
        return ""
    if stem.endswith(".paths"):
        return "paths"
    if _CDX_START.match(head):
        return "cdx"
    if _CDXJ_START.match(head) or stem.endswith(".cdxj") or _CDXJ_PART_NAME.fullmatch(lower):
        return "cdxj"
    return "cdx" if stem.endswith(".cdx") else ""


def read_index(name: str, file: BinaryIO, where: Where) -> Iterator[Entry | Note]:
    """Yield the entries of an index that meet the conditions, in its order, and notes on what cannot be read.

    A damaged line or row is a note "corrupt", up to 100 of them; the log "overthere.links" has the number of all. With
    a condition on the host, lines whose key shows another host are not parsed.

    file: seekable; it is read from its beginning.

    Raises: OSError of the file; ValueError for a condition that the index cannot answer, here or where the first entry
    is read; ModuleNotFoundError if a columnar index is read without pyarrow.
    """
    file.seek(0)
    kind = index_kind(name, file.read(HEAD))
    file.seek(0)
    if not kind:
        return iter([Note("unsupported")])
    reader, title, answerable = _KINDS[kind]
    where.check_answers(answerable, title)
    return _limit_notes(name, reader(file, where))


def _limit_notes(name: str, entries: Iterator[Entry | Note]) -> Iterator[Entry | Note]:
    damaged_count = 0
    for entry in entries:
        if isinstance(entry, Note) and entry.kind == "corrupt":
            damaged_count += 1
            if damaged_count > _MAX_NOTES:
                continue
        yield entry
    if damaged_count > _MAX_NOTES:
        message = "%s: %d damaged lines; the first %d have notes"
        import logging

        logging.getLogger("overthere.links").warning(message, printable(mask(name)), damaged_count, _MAX_NOTES)
