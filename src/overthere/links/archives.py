"""What lies in ZIP and tar files, and in single files that are compressed: gzip, bzip2, xz, zstd."""

from __future__ import annotations

import bz2
import contextlib
import io
import lzma
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple, Protocol, Self, cast

from overthere.base import Base, enclosed
from overthere.links import zipnames
from overthere.links.faults import guarded, noted, ours
from overthere.links.model import Document, Note, Options
from overthere.uri import URI, URIReference

__all__ = ["Chained", "Member", "Stream", "cut", "members", "opened", "read", "taken"]


class Stream(Protocol):
    """What can be read."""

    def read(self, size: int, /) -> bytes: ...


class Member(NamedTuple):
    """A member before it is read."""

    document: Document
    """Without content."""
    stream: Stream | None
    """None if it cannot be read; the document's notes say why."""
    crc: int | None = None


def members(file: BinaryIO, document: Document, options: Options) -> Iterator[Document | Note]:
    """The members of an archive, of the kind that its first octets show; the base of each is that of the archive."""
    head = file.read(8)
    file.seek(-len(head), os.SEEK_CUR)
    kind = "zip" if head.startswith(b"PK") else "compressed" if head.startswith((_ZSTD, *_PACKINGS)) else "tar"
    for member in opened(kind, file, document):
        if isinstance(member, Note) or member.stream is None:
            yield member if isinstance(member, Note) else member.document
            continue
        content, notes = read(member.stream, options.limit, member.crc)
        yield member.document._replace(content=content, notes=member.document.notes + notes)


def opened(kind: str, file: Stream, document: Document, beneath: URI | None = None) -> Iterator[Member | Note]:
    """The members one by one, each to be read before the next is asked for; what is the matter with the archive.

    kind: "zip", for which the file must be one that can seek, "tar" or "compressed".
    beneath: the URI under which the members of a ZIP or tar file are published, as the files of a folder are; without
    it the base of a member is that of the archive (RFC 3986 5.1.2).

    Folders, links and devices are passed over.
    """
    try:
        if kind == "compressed":
            yield from _packed(file, document)
        elif kind == "zip":
            yield from _zip(cast("BinaryIO", file), document, beneath)
        else:
            yield from _tar(file, document, beneath)
    except Exception as error:  # whatever a library makes of hostile octets
        yield Note(_note(error))


def read(stream: Stream, limit: int, crc: int | None = None) -> tuple[bytes, tuple[str, ...]]:
    """The first `limit` octets, and what is the matter with them; what stands before an error is kept."""
    return cut(*taken(stream, limit + 1), limit, crc)


def cut(content: bytes, note: str, limit: int, crc: int | None) -> tuple[bytes, tuple[str, ...]]:
    """What was taken, up to one octet more than `limit`, as content and notes."""
    if len(content) > limit:
        return content[:limit], ("too-large",)
    if not note and crc is not None and zlib.crc32(content) != crc:
        note = "corrupt"
    return content, (note,) if note else ()


def taken(stream: Stream, most: int) -> tuple[bytes, str]:
    """The next octets, `most` or all that there are, and the note for an error that ends them, or ""."""
    parts: list[bytes] = []
    try:
        while most > 0 and (part := stream.read(min(_PIECE, most))):
            parts.append(part)
            most -= len(part)
    except Exception as error:  # as above
        return b"".join(parts), _note(error)
    return b"".join(parts), ""


_PIECE = 1 << 16


def _note(error: Exception) -> str:
    if ours(error):
        return noted(error)
    if isinstance(error, MemoryError | _TooLarge):
        return "too-large"
    if isinstance(error, NotImplementedError):
        return "unsupported"  # a method of compression
    # Of tarfile "unexpected end of data", of fastwarc "incomplete frame".
    if isinstance(error, EOFError) or "end of data" in str(error) or "incomplete" in str(error):
        return "truncated"
    return "corrupt"


class _TooLarge(Exception):
    pass


class _Guarded(io.RawIOBase):
    """A ZIP file whose directory is not read if it would not fit in memory, and whose names are read by `zipnames`."""

    _MOST = 1 << 24

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self.file = file
        self.reads: Callable[[bytes], bytes] = zipnames.directory
        """What becomes of octets that are read: of the directory, of the header of a member, of a content."""

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return self.file.seek(offset, whence)

    def tell(self) -> int:
        return self.file.tell()

    def read(self, size: int = -1, /) -> bytes:
        data = self.file.read(self._MOST + 1 if size < 0 else min(size, self._MOST + 1))
        if len(data) > self._MOST:
            raise _TooLarge
        return self.reads(data)


def _placed(name: bytes, base: Base, beneath: URI | None) -> Base:
    if beneath is None:
        return base
    # What climbs out of the archive is brought back, as a dot-segment at the root is (RFC 3986 5.2.4).
    segments = [segment for segment in name.split(b"/") if segment not in (b"", b".", b"..")]
    return Base(beneath.join(URIReference.build(segments=segments)), "retrieval", "retrieval") if segments else base


def _within(document: Document, name: str, base: Base, *notes: str) -> Document:
    shown = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return Document(f"{document.source}!{shown}", b"", base, notes=notes, depth=document.depth + 1)


def _zip(file: BinaryIO, document: Document, beneath: URI | None) -> Iterator[Member | Note]:
    base = enclosed(document.base)
    octets = _Guarded(file)
    with zipfile.ZipFile(octets) as archive:
        octets.reads = bytes
        is_epub = _is_epub(archive)
        for info in archive.infolist():
            info.filename = zipnames.name(info)
            # Not `is_dir`, which fails where there is no name.
            if info.filename.endswith("/") or stat.S_ISLNK(info.external_attr >> 16):
                continue
            yield from guarded(_zipped(archive, octets, info, document, base, beneath, is_epub), Note)


def _zipped(
    archive: zipfile.ZipFile,
    octets: _Guarded,
    info: zipfile.ZipInfo,
    document: Document,
    base: Base,
    beneath: URI | None,
    is_epub: bool,
) -> Iterator[Member | Note]:
    name = info.filename.encode("utf-8", "surrogateescape")
    within = _within(document, info.filename, _placed(name, base, beneath))
    if is_epub and info.filename.lower().endswith((".html", ".htm")):
        # Its documents are XHTML (EPUB 3.3 6.1).
        within = within._replace(media_type="application/xhtml+xml")
    if info.flag_bits & 1:
        yield Member(within._replace(notes=("encrypted",)), None)
        return
    crc = info.CRC
    # The library looks at it with the last octets, and keeps these to itself if it differs.
    del info.CRC
    octets.reads = zipnames.header
    try:
        stream = archive.open(info)
    except Exception as error:  # as above
        yield Member(within._replace(notes=(_note(error),)), None)
        return
    finally:
        octets.reads = bytes
    with stream:
        yield Member(within, stream, crc)


_EPUB = b"application/epub+zip"


def _is_epub(archive: zipfile.ZipFile) -> bool:
    """Whether the first member says so (EPUB 3.3 4.2.7.3)."""
    first = next(iter(archive.infolist()), None)
    if first is None or first.filename != "mimetype" or first.file_size != len(_EPUB):
        return False
    with contextlib.suppress(Exception), archive.open(first) as stream:
        return stream.read(len(_EPUB)) == _EPUB
    return False


def _tar(file: Stream, document: Document, beneath: URI | None) -> Iterator[Member | Note]:
    base = enclosed(document.base)
    broken: list[str] = []

    class Info(tarfile.TarInfo):
        """A header that is broken is told, which the library takes for the end; one too large for memory is refused."""

        @classmethod
        def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
            try:
                info = super().frombuf(buf, encoding, errors)
            except tarfile.HeaderError:
                if bytes(buf).strip(b"\0"):
                    broken.append("corrupt" if len(buf) == tarfile.BLOCKSIZE else "truncated")
                raise
            if info.type in _EXTENDED and info.size > _EXTENSION:
                raise _TooLarge
            if info.size < 0:
                broken.append("corrupt")
                raise tarfile.HeaderError("a size below zero")
            return info

    stream: Any = _Ending(file)
    archive: Any
    with tarfile.open(fileobj=stream, mode="r|", tarinfo=Info, encoding="utf-8", errors="surrogateescape") as archive:
        while (info := archive.next()) is not None:
            archive.members.clear()  # else it would remember all of them
            content = archive.extractfile(info) if info.isreg() else None
            if content is not None:
                name = info.name.encode("utf-8", "surrogateescape")
                yield Member(_within(document, info.name, _placed(name, base, beneath)), content)
    if broken:
        yield Note(broken[0])


class _Ending:
    """A stream whose end is an error for who goes on to read: tarfile would read 2**95 octets that are not there."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.left = 8

    def read(self, size: int, /) -> bytes:
        part = self.stream.read(size)
        if not part:
            self.left -= 1
            if self.left < 0:
                raise EOFError
        return part


_EXTENDED = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)
_EXTENSION = 1 << 20
"""Octets of a header that goes on in blocks of its own."""


# One file, compressed

_PACKINGS: dict[bytes, Callable[[], Any]] = {
    b"\x1f\x8b": lambda: zlib.decompressobj(31),
    b"BZh": bz2.BZ2Decompressor,
    b"\xfd7zXZ\x00": lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=1 << 28),
}
_ZSTD = b"\x28\xb5\x2f\xfd"
_SUFFIXES = {
    ".gz": "", ".bz2": "", ".xz": "", ".zst": "", ".tgz": ".tar", ".tbz2": ".tar", ".txz": ".tar", ".svgz": ".svg",
}  # fmt: skip


def _packed(file: Stream, document: Document) -> Iterator[Member | Note]:
    """Compression is a coding of the document, not an entity around it: its base stays."""
    name = document.source.rpartition("!")[2].rpartition("/")[2]
    stem, suffix = os.path.splitext(name)
    within = _within(document, stem + _SUFFIXES.get(suffix.lower(), suffix), document.base)
    head = file.read(_STEP)
    whole = Chained(head, file)
    if head.startswith(_ZSTD):
        from fastwarc.stream_io import ZstdReader

        yield Member(within, ZstdReader(_Forward(whole)))
        return
    make = next((make for magic, make in _PACKINGS.items() if head.startswith(magic)), None)
    if make is None:
        yield Note("corrupt")
    else:
        yield Member(within, _Pieces(_unpacked(whole, make)))


# What is read at once: on an error the library keeps what it had made of it to itself.
_STEP = 1 << 10


def _unpacked(file: Stream, make: Callable[[], Any]) -> Iterator[bytes]:
    """Raises: EOFError at an end before the end, or an error of the library."""
    piece = file.read(_STEP)
    while piece:
        unpacker = make()
        while True:
            yield unpacker.decompress(piece, _PIECE)
            if unpacker.eof:
                break
            piece = getattr(unpacker, "unconsumed_tail", b"")
            if not piece and getattr(unpacker, "needs_input", True):
                piece = file.read(_STEP)
                if not piece:
                    raise EOFError
        # Behind the end: another stream, or zeros that fill a block.
        piece = unpacker.unused_data.lstrip(b"\0")
        while not piece and (more := file.read(_STEP)):
            piece = more.lstrip(b"\0")


class _Forward:
    """A stream that says where it is, for a reader that asks without going back."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.at = 0

    def read(self, size: int = -1) -> bytes:
        part = self.stream.read(size)
        self.at += len(part)
        return part

    def tell(self) -> int:
        return self.at

    def seek(self, offset: int, whence: int = 0) -> int:
        raise io.UnsupportedOperation

    def close(self) -> None:
        pass


class _Pieces:
    """A stream of pieces."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self.pieces = pieces
        self.held = b""

    def read(self, size: int, /) -> bytes:
        while not self.held:
            piece = next(self.pieces, None)
            if piece is None:
                return b""
            self.held = piece
        part, self.held = self.held[:size], self.held[size:]
        return part


class Chained:
    """A stream of which the beginning was read."""

    def __init__(self, head: bytes, rest: Stream) -> None:
        self.head, self.rest = head, rest

    def read(self, size: int, /) -> bytes:
        if not self.head:
            return self.rest.read(size)
        part, self.head = self.head[:size], self.head[size:]
        return part
