"""Members of a tar file: old, ustar, GNU and pax."""

from __future__ import annotations

import io
import os
import re
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, BinaryIO, Self, cast

from overthere.base import enclosed
from overthere.links.containers.archive_members import member_base, member_document
from overthere.links.containers.model import Member, Part, Place, Stream
from overthere.links.containers.page_run import PageRun, read_slice
from overthere.links.containers.streams import PIECE, TooLarge, fault_note
from overthere.links.model import BegunPage, Document, Note, PassedContent


def members(
    stream: Stream,
    document: Document,
    place: Place = Place(),  # noqa: B008 - a value
) -> Iterator[BegunPage | Member | Note | PassedContent]:
    """Yield the members, as `Container.members`.  Folders are skipped silently; links and devices are counted."""
    try:
        yield from _read_members(stream, document, place)
    except Exception as error:  # on hostile bytes the library may raise anything
        yield Note(fault_note(error))


def _read_members(
    stream: Stream, document: Document, place: Place
) -> Iterator[BegunPage | Member | Note | PassedContent]:
    start, end = (0, None) if place.part is None else (place.part.start, place.part.end)
    faults = _HeaderFaults()
    pages = _Pages(stream, document, place, start)
    bounded: Any = _BoundedStream(stream)
    archive: Any
    header = _header_class(faults)
    with tarfile.open(
        fileobj=bounded, mode="r|", tarinfo=header, encoding="utf-8", errors="surrogateescape"
    ) as archive:
        try:
            for info in _iterate_members(archive, None if end is None else end - start):
                if info.isreg():
                    yield from pages.read(archive, info)
                elif not info.isdir():
                    yield PassedContent("link" if info.issym() or info.islnk() else "device")
            if not faults.notes and end is None and (note := _find_end_note(archive.fileobj, faults.has_end)):
                faults.notes.append(note)
            elif end is not None and start + archive.offset < end:
                faults.notes.append("corrupt")  # the file is another than the one that was cut
        except Exception:
            yield from pages.run.flush()
            raise
    yield from pages.run.flush()
    if faults.notes:
        yield Note(faults.notes[0])


class _HeaderFaults:
    def __init__(self) -> None:
        self.notes: list[str] = []
        self.has_end: bool = False
        """Whether the first block of zeros at the end was read."""


def _header_class(faults: _HeaderFaults) -> type[tarfile.TarInfo]:
    class Header(tarfile.TarInfo):
        """A header.  The library takes a broken one for the end of the archive; here it gets a note, and the next one
        is searched, block by block.  One that is too large for memory raises TooLarge."""

        @classmethod
        def fromtarfile(cls, *archive: Any, **options: Any) -> Self:
            if not isinstance(archive[0].fileobj, _HeaderLimit):
                archive[0].fileobj = _HeaderLimit(archive[0].fileobj)
            is_searching = False
            while True:
                try:
                    return super().fromtarfile(*archive, **options)
                except tarfile.HeaderError as error:
                    kind = type(error).__name__
                    faults.has_end = kind == "EOFHeaderError"
                    faults.notes += _HEADER_NOTES.get(kind, ("corrupt",))
                    is_end = kind in _HEADER_NOTES and not (is_searching and faults.has_end)
                    if is_end or archive[0].fileobj.depth:  # the name in an extended header is of no later member
                        raise
                    is_searching = True

        def _proc_member(self, archive: Any) -> Any:
            if self.type == tarfile.XGLTYPE:
                archive.fileobj.global_bytes += self.size
            if (self.type in _EXTENSIONS and self.size > _MAX_HEADER) or archive.fileobj.global_bytes > _MAX_HEADER:
                raise TooLarge
            if self.size < 0:
                raise tarfile.HeaderError("a size below zero")
            with archive.fileobj.count_header():
                return super()._proc_member(archive)  # type: ignore[misc]

    return Header


class _Pages:
    """Reads regular files: pages many at a time (`page_run`), if the archive is seekable."""

    def __init__(self, stream: Stream, container: Document, place: Place, start: int) -> None:
        """start: the offset in the archive at which `tarfile` begins; the stream moves there."""
        self.container, self.place, self.start = container, place, start
        self.base = enclosed(container.base)
        self.file = cast("BinaryIO", stream)
        self.size = 0
        if hasattr(stream, "seek"):
            self.size = self.file.seek(0, os.SEEK_END)
            self.file.seek(start)
        self.run = PageRun(self.file, place, container)

    def read(self, archive: Any, info: Any) -> Iterator[BegunPage | Member | Note | PassedContent]:
        name = info.name.encode("utf-8", "surrogateescape")
        member = member_document(self.container, info.name, member_base(name, self.base, self.place.root_uri))
        at, size = self.start + info.offset_data, info.size
        # By a global pax size it may end behind the next header: the library's error becomes a note.
        is_whole = at + size <= min(self.size, self.start + archive.offset) and not info.issparse()
        if is_whole and self.run.accepts(member, size):
            read = partial(self._read_page, member, at, size)
            yield from self.run.add(member, at, at + size, size, size, None, read)
        elif (content := archive.extractfile(info)) is not None:
            yield from self.run.flush()
            yield Member(member, content)

    def _read_page(self, member: Document, at: int, size: int) -> Iterator[Member]:
        yield Member(member, io.BytesIO(read_slice(self.file, at, size)))


def _iterate_members(archive: Any, end: int | None) -> Iterator[Any]:
    """Yield the headers of the members that begin before `end`, and always the first one."""
    while (info := archive.next()) is not None:
        archive.members.clear()  # otherwise it would keep all of them
        yield info
        if end is not None and archive.offset >= end:
            return


def find_parts(file: BinaryIO, size: int) -> Iterator[Part]:
    """Yield parts of about `size` bytes; from a header on that needs those before it, all is one part."""
    start = at = 0
    with suppress(OSError):  # the reader of the last part reports it
        while (next_at := _find_next_member(file, at)) is not None:
            if at - start >= size:
                yield Part(at - start, start, at)
                start = at
            at = next_at
    yield Part(file.seek(0, os.SEEK_END) - start, start)


def _find_next_member(file: BinaryIO, at: int) -> int | None:
    """Return the offset after the member at `at`; None if that is not certain from its headers alone."""
    while True:
        file.seek(at)
        header = _HEADER.fullmatch(file.read(tarfile.BLOCKSIZE))
        if header is None or int(header["sum"], 8) != sum(header[1]) + sum(header["rest"]) + 8 * ord(" "):
            return None
        kind, size = header["kind"], int(header["size"], 8)
        end = at + tarfile.BLOCKSIZE
        if kind in _WITHOUT_DATA:
            return end
        at = end + -(-size // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE
        if kind == tarfile.REGTYPE:
            return at
        if kind not in _EXTENSIONS or size > _MAX_HEADER:
            return None
        if kind in _PAX_TYPES and not _has_plain_records(file.read(size), kind):
            return None


_HEADER = re.compile(
    rb"(.{124}(?P<size>[0-7]{11})[\0 ].{12})(?P<sum>[0-7]{6})[\0 ]{2}(?P<rest>(?P<kind>.).{355})", re.DOTALL
)
_WITHOUT_DATA = (tarfile.LNKTYPE, tarfile.SYMTYPE, tarfile.DIRTYPE)
_PAX_RECORD = re.compile(rb"([0-9]{1,7}) ([a-z]+)=")
_PLAIN_RECORDS = (b"atime", b"comment", b"ctime", b"gname", b"linkpath", b"mtime", b"path", b"uname")


def _has_plain_records(records: bytes, kind: bytes) -> bool:
    """Whether pax records leave the offsets of members as they are, and those of a global header also all else."""
    at = 0
    while record := _PAX_RECORD.match(records, at):
        if record[2] not in _PLAIN_RECORDS or (kind == tarfile.XGLTYPE and record[2] != b"comment"):
            return False
        end = at + int(record[1])
        if end <= record.end() or records[end - 1 : end] != b"\n":
            return False
        at = end
    return at == len(records)


def _find_end_note(file: Any, has_end: bool) -> str | None:
    """Return the note for an archive that does not end in two blocks of zeros (pax, "ustar Interchange Format").

    has_end: whether the first block of zeros was read; only zeros may follow the second.
    """
    block = file.read(tarfile.BLOCKSIZE) if has_end else b""
    if len(block) < tarfile.BLOCKSIZE:
        return "truncated"
    while block:
        if block.strip(b"\0"):
            return "corrupt"
        block = file.read(PIECE)
    return None


class _BoundedStream:
    """A stream that raises EOFError after 8 empty reads: for a size of 2**95 bytes, tarfile would read on and on."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.empty_reads_left = 8

    def read(self, size: int, /) -> bytes:
        part = self.stream.read(size)
        if not part:
            self.empty_reads_left -= 1
            if self.empty_reads_left < 0:
                raise EOFError
        return part


class _HeaderLimit:
    """Limits the bytes that headers read after their first block: pax records, long names, the maps of sparse files.

    The library makes lists of the records and maps, and keeps global records for all later members.
    """

    def __init__(self, file: Any) -> None:
        self.file = file
        self.depth = 0
        self.remaining = _HEADER_BYTES_OF_ALL
        self.global_bytes = 0

    @contextmanager
    def count_header(self) -> Iterator[None]:
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1
        self.remaining += 0 if self.depth else _HEADER_BYTES_PER_MEMBER

    def read(self, size: int, /) -> bytes:
        data: bytes = self.file.read(size)
        self.remaining -= len(data) if self.depth else 0
        if self.remaining < 0:
            raise TooLarge
        return data

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


_HEADER_NOTES = {"EOFHeaderError": (), "EmptyHeaderError": (), "TruncatedHeaderError": ("truncated",)}
_PAX_TYPES = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE)
_EXTENSIONS = (*_PAX_TYPES, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)
_MAX_HEADER = 1 << 20
"""Maximum bytes of a header that continues in blocks of its own, and of all global ones together."""
_HEADER_BYTES_OF_ALL, _HEADER_BYTES_PER_MEMBER = 1 << 22, 1 << 11
"""Bytes that all such headers may have together, and the bytes that each member adds to them."""
