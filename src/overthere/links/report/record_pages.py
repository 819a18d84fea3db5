"""Pages of a WARC or ARC file, read natively: whole records that hold HTML, or describe it (WAT), become rows."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, BinaryIO, ClassVar, Protocol

from overthere.base import Base
from overthere.links.containers.records import Record
from overthere.links.faults import note_kind
from overthere.links.model import BegunPage, Document, Options
from overthere.values.uri import URI

if TYPE_CHECKING:
    from overthere._native import LinkRows

__all__ = ["BATCH", "RecordPages"]

BATCH = 1 << 14
"""Rows of a batch."""
_WIDEST = 1 << 23
"""Octets of a file that are read at once, at most, for a record that is long; a longer one is read in Python."""


class _Rows(Protocol):
    native: LinkRows
    options: Options
    page_bytes: int | None


class RecordPages:
    """A `records.PageReader` for the records of one file."""

    window: ClassVar[int] = 1 << 20
    """Octets of a file that are read at once, for most records."""

    def __init__(self, rows: _Rows, outside: Document) -> None:
        """rows: where the rows are put.  outside: the file."""
        self.rows: _Rows = rows
        self.outside: Document = outside
        self.native: LinkRows = rows.native
        self.file: BinaryIO | None = None
        """The file that `octets` are of: each gzip member of many records is unpacked into another one."""
        self.first: int = 0
        """Where in the file `octets` begin."""
        self.octets: bytes = b""
        self.is_last: bool = False

    def read_records(
        self, file: BinaryIO, at: int, end: int, prefix: str, *, is_packed: bool, is_arc: bool = False
    ) -> Generator[Record | BegunPage, None, int]:
        source = f"{self.outside.source}!{prefix}"
        size = self.window
        while True:
            if self.file is not file or not self.first <= at < self.first + len(self.octets):
                self._fill_window(file, at, size)
            try:
                why, more = self.native.records(
                    self.octets, self.first, at, end, self.is_last, is_packed, is_arc, source,
                    self.rows.options.limit, BATCH,
                )  # fmt: skip
            except Exception as error:
                place, after, uri = self.native.place()
                if after is None:
                    return place
                self.native.note(f"{source}{place}", uri or str(self.outside.base.uri), note_kind(error))
                at = after
                continue
            place, after, uri = self.native.place()
            if why == "cut":
                if place == self.first:
                    size *= 2
                    if size > _WIDEST:
                        return place
                self._fill_window(file, place, size)
                at = place
                continue
            if why == "record":
                yield Record(f"{prefix}{place}", *more)
            elif why in ("page", "full"):
                notes, self.rows.page_bytes = more or ((), None)
                base = self.outside.base if uri is None else Base(URI(uri), "retrieval", "retrieval")
                depth = self.outside.depth + 1
                yield BegunPage(Document(f"{source}{place}", b"", base, "text/html", notes=tuple(notes), depth=depth))
            else:  # "end", "odd"
                return place
            at = place if after is None else after

    def _fill_window(self, file: BinaryIO, at: int, size: int) -> None:
        file.seek(at)
        self.file, self.first, self.octets = file, at, file.read(size)
        self.is_last = len(self.octets) < size
