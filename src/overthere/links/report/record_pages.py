"""Reads pages of archives natively: complete records with HTML, or its metadata (WAT), and pages in ZIP and tar files
become rows."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, BinaryIO, ClassVar, Protocol

from overthere.base import Base
from overthere.links.containers.model import Budget
from overthere.links.containers.page_reader import PageMember, Record
from overthere.links.faults import note_kind
from overthere.links.model import BegunPage, Document, Options
from overthere.values.uri import URI

if TYPE_CHECKING:
    from overthere._native import LinkRows

BATCH = 1 << 14
"""Rows of a batch."""
_MAX_WINDOW = 1 << 23
"""The most bytes of a file that are read at once; a longer record is read in Python."""
_AFTER_END = 1 << 14
"""Bytes that are read beyond the end of the records, for the rest of the last one."""


class _Rows(Protocol):
    native: LinkRows
    options: Options
    begun_page_bytes: int | None


class RecordPages:
    """Reads the pages of one file: a `containers.page_reader.PageReader`."""

    window: ClassVar[int] = 1 << 20
    """Bytes of a file that are read at once, for most records."""

    def __init__(self, rows: _Rows, file_document: Document, budget: Budget | None = None) -> None:
        """rows: receives the rows.  file_document: the file.  budget: limits the contents of its records."""
        self.rows: _Rows = rows
        self.file_document: Document = file_document
        self.budget: Budget = budget or Budget(1 << 40)
        self.native: LinkRows = rows.native
        self.file: BinaryIO | None = None
        """The file of the window; a gzip member with several records is unpacked into its own file."""
        self.window_start: int = 0
        """The offset of the window in the file."""
        self.window_bytes: bytes = b""
        self.is_last: bool = False

    def read_records(
        self, file: BinaryIO, offset: int, end: int, prefix: str, *, is_packed: bool, is_arc: bool = False
    ) -> Generator[Record | BegunPage, None, int]:
        source = f"{self.file_document.source}!{prefix}"
        size = self.window
        while True:
            if self.file is not file or not self.window_start <= offset < self.window_start + len(self.window_bytes):
                self._fill_window(file, offset, min(size, end - offset + _AFTER_END))
            before = self._count_octets()
            try:
                stop, details = self.native.records(
                    self.window_bytes, self.window_start, offset, end, self.is_last, is_packed, is_arc, source,
                    self.rows.options.limit, BATCH, max(self.budget.remaining, 0),
                )  # fmt: skip
            except Exception as error:
                place, next_offset, uri = self.native.place()
                if next_offset is None:
                    return place
                self.native.note(f"{source}{place}", uri or str(self.file_document.base.uri), note_kind(error))
                offset = next_offset
                continue
            self.budget.remaining -= self._count_octets() - before
            place, next_offset, uri = self.native.place()
            if stop == "cut":
                if place > self.window_start:
                    self._fill_window(file, place, min(size, end - place + _AFTER_END))
                else:
                    size *= 2
                    if size > _MAX_WINDOW:
                        return place
                    self._fill_window(file, place, size)
                offset = place
                continue
            if stop == "record":
                yield Record(f"{prefix}{place}", *details)
            elif stop in ("page", "full"):
                notes, self.rows.begun_page_bytes = details or ((), None)
                base = self.file_document.base if uri is None else Base(URI(uri), "retrieval", "retrieval")
                depth = self.file_document.depth + 1
                yield BegunPage(Document(f"{source}{place}", b"", base, "text/html", notes=tuple(notes), depth=depth))
            else:  # "end", "odd"
                return place
            offset = place if next_offset is None else next_offset

    def _count_octets(self) -> int:
        return sum(octets for _, _, octets in self.native.counts()[0])

    def read_members(
        self, data: bytes, members: Sequence[PageMember], documents: Sequence[Document], first: int
    ) -> Generator[BegunPage, None, int]:
        number = first
        while number < len(members):
            try:
                stop, details = self.native.members(data, members, number, BATCH)
            except Exception as error:
                # If it came before the first member was read, the place is that of an earlier call.
                number = min(max(number, self.native.place()[0]), len(members) - 1)
                self.native.note(members[number].source, members[number].base, note_kind(error))
                number += 1
                continue
            number, next_number, _ = self.native.place()
            if stop == "odd":
                return number
            if stop == "end":
                break
            notes, self.rows.begun_page_bytes = details or ((), None)
            yield BegunPage(documents[number]._replace(media_type="text/html", notes=tuple(notes)))
            number = number if next_number is None else next_number
        return len(members)

    def _fill_window(self, file: BinaryIO, offset: int, size: int) -> None:
        file.seek(offset)
        self.file, self.window_start, self.window_bytes = file, offset, file.read(size)
        self.is_last = len(self.window_bytes) < size
