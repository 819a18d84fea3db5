"""Pages of ZIP and tar files that the native kernel reads many at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple

from overthere.links.containers.model import Budget, Member, Place
from overthere.links.containers.page_reader import Entry, PageMember, PageReader
from overthere.links.documents.kinds import kind
from overthere.links.model import BegunPage, Document, Note, PassedContent

_MAX_BYTES, _MAX_PAGES = 1 << 20, 64
"""The most bytes of a file, and pages, that are read at once (a larger member is read in Python): after each page that
Python must act on, all of them are passed to the native kernel again."""

Read = Callable[[], Iterator[Member | Note | PassedContent]]


class _Pending(NamedTuple):
    """A page that has not been read yet, and its bytes in the budget."""

    member: PageMember
    document: Document
    size: int
    read: Read


class PageRun:
    """Pages that follow one another in a seekable file.  A page that contradicts its archive is read in Python."""

    def __init__(self, file: BinaryIO, place: Place, container: Document) -> None:
        self.file: BinaryIO = file
        self.place: Place = place
        self.reader: PageReader | None = None if place.pages is None else place.pages(container, None)
        self.pages: list[_Pending] = []
        self.start: int = 0
        """The offset of the first member in the file."""
        self.end: int = 0
        """The offset of what follows the last member."""
        self.budget: Budget = Budget(0)
        """What remains of the budget if they are as large as their archive says."""

    def accepts(self, document: Document, size: int) -> bool:
        """Whether a member of `size` bytes is an HTML page, judging by its name, and can be read here."""
        return (
            self.reader is not None
            and 0 < size <= self.place.options.limit
            and not document.media_type
            and kind(document.source.rpartition("!")[2], "", b"")[0] == "html"
        )

    def add(
        self, document: Document, start: int, end: int, packed: int, size: int, entry: Entry | None, read: Read
    ) -> Iterator[BegunPage | Member | Note | PassedContent]:
        """Add a page in [start, end) of the file; yield what must be read now: the pages before it, or it in Python.

        packed, entry: as in `PageMember`.  size: bytes of its content.  read: reads it in Python, once at most.
        """
        is_full = len(self.pages) == _MAX_PAGES or self.budget.remaining <= 0
        if is_full or start < self.end or end - self.start > _MAX_BYTES:
            yield from self.flush()
        budget = self.place.budget
        if start < 0 or end - start > _MAX_BYTES or budget is None or budget.remaining <= 0:
            yield from self.flush()
            yield from read()
            return
        if not self.pages:
            self.start, self.budget = start, Budget(budget.remaining)
        self.budget.spend(size)
        base = document.base
        member = PageMember(document.source, str(base.uri), base.layer, start - self.start, packed, entry)
        self.pages.append(_Pending(member, document, size, read))
        self.end = end

    def flush(self) -> Iterator[BegunPage | Member | Note | PassedContent]:
        """Read all added pages; yield those with rows to take, and those that Python must read."""
        pages, self.pages = self.pages, []
        if not pages or self.reader is None or self.place.budget is None:
            return
        data = read_slice(self.file, self.start, self.end - self.start)
        members, documents = [page.member for page in pages], [page.document for page in pages]
        number = 0
        while number < len(pages):
            first, number = number, (yield from self.reader.read_members(data, members, documents, number))
            for page in pages[first:number]:
                self.place.budget.spend(page.size)
            for page in pages[number : number + 1]:
                yield from page.read()
            number += 1


def read_slice(file: BinaryIO, start: int, size: int) -> bytes:
    """Return `size` bytes of a file from `start` on; its position stays the same."""
    position = file.tell()
    file.seek(start)
    data = file.read(size)
    file.seek(position)
    return data
