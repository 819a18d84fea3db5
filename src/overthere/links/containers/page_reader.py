"""The interface of what makes rows of pages within archives by itself, many at a time."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import BinaryIO, NamedTuple, Protocol

from overthere.links.model import BegunPage, Document

Entry = tuple[bytes, int, int, bool]
"""The name of a member, the bytes and the checksum of its content, and whether it is compressed, by the directory of a
ZIP file."""


class PageMember(NamedTuple):
    """A member with an HTML page, as `LinkRows.members` takes it."""

    source: str
    base: str
    layer: str
    start: int
    """The offset, in the bytes that are read at once, of its local header (ZIP) or its content (tar)."""
    packed: int
    """The bytes of its content in the file."""
    entry: Entry | None


class Record(NamedTuple):
    """A record in its file."""

    at: str
    """The offset of the record; if compressed, of its gzip member, and if needed `!` and its offset in the member."""
    header: bytes
    """The header block with its empty line; empty if none can be read."""
    content: bytes
    notes: tuple[str, ...] = ()
    passed: str = ""
    """The type of a record without a document, whose header is left out; "other" is a type unknown to WARC 1.1."""


class PageReader(Protocol):
    """A reader that makes rows of whole records of HTML and WAT and of HTML pages; these are not yielded."""

    def read_records(
        self, file: BinaryIO, offset: int, end: int, prefix: str, *, is_packed: bool, is_arc: bool = False
    ) -> Generator[Record | BegunPage, None, int]:
        """Make rows of the records that begin in [offset, end), as far as they are whole.

        prefix: begins `Record.at`.  is_packed: each record is a gzip member.  is_arc: the file is ARC.
        Yields: a whole record for the caller to read (not of ARC); a page with rows to take, or that is not finished.
        Returns: the offset of the first record that the caller must parse; `end` or more without one.
        """
        ...

    def read_members(
        self, data: bytes, members: Sequence[PageMember], documents: Sequence[Document], first: int
    ) -> Generator[BegunPage, None, int]:
        """Make rows of the members of a ZIP or tar file from number `first` on; yield as `read_records`.

        data: the part of the file with them.  documents: the members, without content.
        Returns: the number of the first member that the caller must read; their number without one.
        """
        ...
