"""Members of a tar file: old, ustar, GNU and pax."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

from overthere.base import enclosed
from overthere.links.containers.archive_members import member_base, member_document
from overthere.links.containers.model import Member, Place, Stream
from overthere.links.containers.streams import PIECE, TooLarge, fault_note
from overthere.links.model import Document, Note, PassedContent

__all__ = ["members"]


def members(
    stream: Stream,
    document: Document,
    place: Place = Place(),  # noqa: B008 - a value
) -> Iterator[Member | Note | PassedContent]:
    """Yield the members, as `Container.members`.  Folders are skipped silently; links and devices are counted."""
    try:
        yield from _read_members(stream, document, place)
    except Exception as error:  # on hostile bytes the library may raise anything
        yield Note(fault_note(error))


def _read_members(stream: Stream, document: Document, place: Place) -> Iterator[Member | Note | PassedContent]:
    base = enclosed(document.base)
    notes: list[str] = []
    has_end = False

    class Info(tarfile.TarInfo):
        """A header.  The library takes a broken one for the end of the archive; here it gets a note.  One that is too
        large for memory raises TooLarge."""

        @classmethod
        def fromtarfile(cls, *archive: Any, **options: Any) -> Self:
            nonlocal has_end
            if not isinstance(archive[0].fileobj, _HeaderLimit):
                archive[0].fileobj = _HeaderLimit(archive[0].fileobj)
            try:
                return super().fromtarfile(*archive, **options)
            except tarfile.HeaderError as error:
                kind = type(error).__name__
                has_end = kind == "EOFHeaderError"
                notes.extend(_HEADER_NOTES.get(kind, ("corrupt",)))
                raise

        def _proc_member(self, archive: Any) -> Any:
            if self.type == tarfile.XGLTYPE:
                archive.fileobj.global_octets += self.size
            if (self.type in _EXTENSIONS and self.size > _MAX_HEADER) or archive.fileobj.global_octets > _MAX_HEADER:
                raise TooLarge
            if self.size < 0:
                raise tarfile.HeaderError("a size below zero")
            with archive.fileobj.header():
                return super()._proc_member(archive)  # type: ignore[misc]

    bounded: Any = _BoundedStream(stream)
    archive: Any
    with tarfile.open(fileobj=bounded, mode="r|", tarinfo=Info, encoding="utf-8", errors="surrogateescape") as archive:
        while (info := archive.next()) is not None:
            archive.members.clear()  # otherwise it would keep all of them
            if not info.isreg():
                if not info.isdir():
                    yield PassedContent("link" if info.issym() or info.islnk() else "device")
                continue
            content = archive.extractfile(info)
            if content is not None:
                name = info.name.encode("utf-8", "surrogateescape")
                member = member_document(document, info.name, member_base(name, base, place.root_uri))
                yield Member(member, content)
        if not notes:
            notes += _find_end_faults(archive.fileobj, has_end)
    if notes:
        yield Note(notes[0])


def _find_end_faults(file: Any, has_end: bool) -> Iterator[str]:
    """Check the end of an archive: two blocks of zeros (pax, "ustar Interchange Format"), and zeros after them.

    has_end: whether the first block of zeros was read.  Yields: the kind of the note, if there is a fault.
    """
    block = file.read(tarfile.BLOCKSIZE) if has_end else b""
    if len(block) < tarfile.BLOCKSIZE:
        yield "truncated"
        return
    while block:
        if block.strip(b"\0"):
            yield "corrupt"
            return
        block = file.read(PIECE)


class _BoundedStream:
    """A stream that raises when read beyond its end: tarfile would read 2**95 octets that are not there."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.remaining = 8

    def read(self, size: int, /) -> bytes:
        part = self.stream.read(size)
        if not part:
            self.remaining -= 1
            if self.remaining < 0:
                raise EOFError
        return part


class _HeaderLimit:
    """Limits the octets that headers read after their first block: pax records, long names, the maps of sparse files.

    The library makes lists of the records and maps, and keeps global records for all later members.
    """

    def __init__(self, file: Any) -> None:
        self.file = file
        self.depth = 0
        self.remaining = _HEADER_BYTES
        self.global_octets = 0

    @contextmanager
    def header(self) -> Iterator[None]:
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
_HEADER_BYTES, _HEADER_BYTES_PER_MEMBER = 1 << 22, 1 << 11
"""Bytes that all such headers may have together, and the bytes that each member adds to them."""
