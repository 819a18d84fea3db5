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
        yield from _read(stream, document, place)
    except Exception as error:  # whatever the library makes of hostile octets
        yield Note(fault_note(error))


def _read(stream: Stream, document: Document, place: Place) -> Iterator[Member | Note | PassedContent]:
    base = enclosed(document.base)
    broken: list[str] = []
    ended = False

    class Info(tarfile.TarInfo):
        """A header.  The library takes a broken one for the end of the archive: here it is noted.  A header that is too
        large for memory raises TooLarge."""

        @classmethod
        def fromtarfile(cls, *archive: Any, **named: Any) -> Self:
            nonlocal ended
            if not isinstance(archive[0].fileobj, _HeaderLimit):
                archive[0].fileobj = _HeaderLimit(archive[0].fileobj)
            try:
                return super().fromtarfile(*archive, **named)
            except tarfile.HeaderError as error:
                kind = type(error).__name__
                ended = kind == "EOFHeaderError"
                broken.extend(_FAULTS.get(kind, ("corrupt",)))
                raise

        def _proc_member(self, archive: Any) -> Any:
            if self.type == tarfile.XGLTYPE:
                archive.fileobj.global_octets += self.size
            if (self.type in _EXTENDED and self.size > _EXTENSION) or archive.fileobj.global_octets > _EXTENSION:
                raise TooLarge
            if self.size < 0:
                raise tarfile.HeaderError("a size below zero")
            with archive.fileobj.header():
                return super()._proc_member(archive)  # type: ignore[misc]

    bounded: Any = _BoundedStream(stream)
    archive: Any
    with tarfile.open(fileobj=bounded, mode="r|", tarinfo=Info, encoding="utf-8", errors="surrogateescape") as archive:
        while (info := archive.next()) is not None:
            archive.members.clear()  # else it would remember all of them
            if not info.isreg():
                if not info.isdir():
                    yield PassedContent("link" if info.issym() or info.islnk() else "device")
                continue
            content = archive.extractfile(info)
            if content is not None:
                name = info.name.encode("utf-8", "surrogateescape")
                within = member_document(document, info.name, member_base(name, base, place.beneath))
                yield Member(within, content)
        if not broken:
            broken += _end_faults(archive.fileobj, ended)
    if broken:
        yield Note(broken[0])


def _end_faults(file: Any, ended: bool) -> Iterator[str]:
    """Check the end of an archive: two blocks of zeros (pax, "ustar Interchange Format"), and zeros after them.

    ended: whether the first block of zeros was read.  Yields: the kind of the note, if there is a fault.
    """
    block = file.read(tarfile.BLOCKSIZE) if ended else b""
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
        self.remaining = _HEADERS
        self.global_octets = 0

    @contextmanager
    def header(self) -> Iterator[None]:
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1
        self.remaining += 0 if self.depth else _HEADER

    def read(self, size: int, /) -> bytes:
        data: bytes = self.file.read(size)
        self.remaining -= len(data) if self.depth else 0
        if self.remaining < 0:
            raise TooLarge
        return data

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


_FAULTS = {"EOFHeaderError": (), "EmptyHeaderError": (), "TruncatedHeaderError": ("truncated",)}
_EXTENDED = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)
_EXTENSION = 1 << 20
"""Octets of a header that goes on in blocks of its own, and of all global ones together."""
_HEADERS, _HEADER = 1 << 22, 1 << 11
"""Octets that all such headers may have together, and how many more each member allows."""
