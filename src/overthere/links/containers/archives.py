"""Members of ZIP and tar files, and single compressed files: gzip, bzip2, xz, zstd."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple, Self, cast

from overthere.base import Base, enclosed
from overthere.links.containers import zip_recovery, zipnames
from overthere.links.containers.packed import MAGICS, Chained, Stream, failing, unpacked
from overthere.links.faults import guard, is_own_error, note_kind
from overthere.links.model import Document, Note, Options, PassedContent
from overthere.values.encoding import IN_SEGMENT
from overthere.values.uri import URI, URIReference

__all__ = ["ends_as_zip", "Chained", "Member", "Stream", "truncate", "members", "open_archive", "read", "take_octets"]


class Member(NamedTuple):
    """A member before it is read."""

    document: Document
    """Without content."""
    stream: Stream | None
    """None if it cannot be read; the document's notes say why."""
    crc: int | None = None


def members(file: BinaryIO, document: Document, options: Options) -> Iterator[Document | Note | PassedContent]:
    """The members of an archive, of the kind that its first octets show; the base of each is that of the archive."""
    head = file.read(8)
    file.seek(-len(head), os.SEEK_CUR)
    kind = "zip" if head.startswith(b"PK") else "compressed" if head.startswith(MAGICS) else "tar"
    for member in open_archive(kind, file, document):
        if isinstance(member, Note | PassedContent) or member.stream is None:
            yield member.document if isinstance(member, Member) else member
            continue
        content, notes = read(member.stream, options.limit, member.crc)
        yield member.document._replace(content=content, notes=member.document.notes + notes)


def open_archive(
    kind: str, file: Stream, document: Document, beneath: URI | None = None
) -> Iterator[Member | Note | PassedContent]:
    """The members one by one, each to be read before the next is asked for; what is the matter with the archive.

    kind: "zip", for which the file must be one that can seek, "tar" or "compressed".
    beneath: the URI under which the members of a ZIP or tar file are published, as the files of a folder are; without
    it the base of a member is that of the archive (RFC 3986 5.1.2).

    Folders say nothing; links and devices are passed over.
    """
    try:
        if kind == "compressed":
            yield from _read_compressed(file, document)
        elif kind == "zip":
            yield from _zip(cast("BinaryIO", file), document, beneath)
        else:
            yield from _tar(file, document, beneath)
    except Exception as error:  # whatever a library makes of hostile octets
        yield Note(_note(error))


def read(stream: Stream, limit: int, crc: int | None = None) -> tuple[bytes, tuple[str, ...]]:
    """The first `limit` octets, and what is the matter with them; what stands before an error is kept."""
    return truncate(*take_octets(stream, limit + 1), limit, crc)


def truncate(content: bytes, note: str, limit: int, crc: int | None) -> tuple[bytes, tuple[str, ...]]:
    """What was taken, up to one octet more than `limit`, as content and notes."""
    if len(content) > limit:
        return content[:limit], ("too-large",)
    if not note and crc is not None and zlib.crc32(content) != crc:
        note = "corrupt"
    return content, (note,) if note else ()


def take_octets(stream: Stream, most: int) -> tuple[bytes, str]:
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
    if is_own_error(error):
        return note_kind(error)
    if isinstance(error, MemoryError | _TooLarge):
        return "too-large"
    if isinstance(error, NotImplementedError):
        return "unsupported"  # a method of compression
    return failing(error)


class _TooLarge(Exception):
    pass


class _GuardedZip(io.RawIOBase):
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


def _member_base(name: bytes, base: Base, beneath: URI | None) -> Base:
    if beneath is None:
        return base
    # A path that leads out of the archive ends at its root, as dot-segments do (RFC 3986 5.2.4).
    segments = [segment for segment in name.split(b"/") if segment not in (b"", b".", b"..")]
    return (
        Base(beneath.join(URIReference.build(segments=segments, keep=IN_SEGMENT)), "retrieval", "retrieval")
        if segments
        else base
    )


def _member_document(document: Document, name: str, base: Base, *notes: str) -> Document:
    shown = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return Document(f"{document.source}!{shown}", b"", base, notes=notes, depth=document.depth + 1)


def _zip(file: BinaryIO, document: Document, beneath: URI | None) -> Iterator[Member | Note | PassedContent]:
    base = enclosed(document.base)
    octets = _GuardedZip(file)
    try:
        archive = zipfile.ZipFile(octets)
    except zipfile.BadZipFile:
        yield from _recover_members(file, document, base, beneath)
        return
    with archive:
        octets.reads = bytes
        if _has_hidden_members(archive, file):
            yield from _recover_members(file, document, base, beneath)
            return
        is_epub = _is_epub(archive)
        for info in archive.infolist():
            info.filename = zipnames.name(info)
            if info.filename.endswith("/"):  # not `is_dir`, which fails where there is no name
                continue
            if stat.S_ISLNK(info.external_attr >> 16):
                yield PassedContent("link")
                continue
            within = _zip_document(info, document, base, beneath, is_epub)
            yield from guard(_read_member(archive, octets, info, within), Note)
        if (note := _trailing_note(archive, file)) is not None:
            yield Note(note)


def _zip_document(
    info: zipfile.ZipInfo, document: Document, base: Base, beneath: URI | None, is_epub: bool
) -> Document:
    name = info.filename.encode("utf-8", "surrogateescape")
    within = _member_document(document, info.filename, _member_base(name, base, beneath))
    if is_epub and info.filename.lower().endswith((".html", ".htm")):
        # Its documents are XHTML (EPUB 3.3 6.1).
        return within._replace(media_type="application/xhtml+xml")
    return within


def ends_as_zip(file: BinaryIO) -> bool:
    """Whether a file ends with the record that ends a ZIP file, behind a directory of the size that it says.

    What stands in front, as in a file that unpacks itself, says nothing then (APPNOTE 4.1.9, 4.3.16).
    """
    size = file.seek(0, os.SEEK_END)
    start = max(size - _END_MOST, 0)
    file.seek(start)
    tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    record = tail[at : at + 22]
    if at < 0 or len(record) < 22 or int.from_bytes(record[20:22], "little") != len(tail) - at - 22:
        return False
    directory = start + at - int.from_bytes(record[12:16], "little")
    file.seek(max(directory, 0))
    return 0 <= directory < start + at and file.read(4) == b"PK\x01\x02"


_END_MOST = 22 + 0xFFFF
"""Octets of the last record with the longest comment."""


def _has_hidden_members(archive: zipfile.ZipFile, file: BinaryIO) -> bool:
    """Whether there are members before the first one of the directory: that is of an archive within one that is cut."""
    file.seek(0)
    return file.read(4) == b"PK\x03\x04" and min((info.header_offset for info in archive.infolist()), default=1) > 0


def _trailing_note(archive: zipfile.ZipFile, file: BinaryIO) -> str | None:
    """The note for a file that does not end where its last record says (APPNOTE 4.3.16)."""
    size = file.seek(0, os.SEEK_END)
    there = len(archive.comment)
    file.seek(max(size - 22 - there, 0))
    record = file.read(22)
    if record.startswith(b"PK\x05\x06"):
        return None if int.from_bytes(record[20:22], "little") == there else "truncated"
    return "corrupt"


def _recover_members(
    file: BinaryIO, document: Document, base: Base, beneath: URI | None
) -> Iterator[Member | Note | PassedContent]:
    """What is whole of an archive without its directory, and what there is of the rest."""
    is_epub = False
    for number, local in enumerate(zip_recovery.locals_of(file)):
        if isinstance(local, str):
            yield Note(local)
            continue
        if local.info.is_dir():
            continue
        within = _zip_document(local.info, document, base, beneath, is_epub)
        if local.encrypted:
            yield Member(within._replace(notes=("encrypted",)), None)
            continue
        try:
            stream = zip_recovery.open_member(file, local)
        except Exception as error:  # as above
            yield Member(within._replace(notes=(_note(error),)), None)
            continue
        if number == 0 and local.info.filename == "mimetype":
            is_epub = read(stream, len(_EPUB))[0] == _EPUB
            stream = zip_recovery.open_member(file, local)
        yield Member(within, stream, local.crc)


def _read_member(
    archive: zipfile.ZipFile, octets: _GuardedZip, info: zipfile.ZipInfo, within: Document
) -> Iterator[Member | Note | PassedContent]:
    if info.flag_bits & 1:
        yield Member(within._replace(notes=("encrypted",)), None)
        return
    crc = info.CRC
    # The library compares it at the last octets, and does not give these out if it differs.
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


def _tar(file: Stream, document: Document, beneath: URI | None) -> Iterator[Member | Note | PassedContent]:
    base = enclosed(document.base)
    broken: list[str] = []
    ended = False

    class Info(tarfile.TarInfo):
        """A header that is broken is told, which the library takes for the end; one too large for memory is refused."""

        @classmethod
        def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
            nonlocal ended
            try:
                info = super().frombuf(buf, encoding, errors)
            except tarfile.HeaderError:
                ended = len(buf) == tarfile.BLOCKSIZE
                if bytes(buf).strip(b"\0"):
                    broken.append("corrupt" if len(buf) == tarfile.BLOCKSIZE else "truncated")
                raise
            if info.type in _EXTENDED and info.size > _EXTENSION:
                raise _TooLarge
            if info.size < 0:
                broken.append("corrupt")
                raise tarfile.HeaderError("a size below zero")
            return info

    stream: Any = _BoundedStream(file)
    archive: Any
    with tarfile.open(fileobj=stream, mode="r|", tarinfo=Info, encoding="utf-8", errors="surrogateescape") as archive:
        while (info := archive.next()) is not None:
            archive.members.clear()  # else it would remember all of them
            if not info.isreg():
                if not info.isdir():
                    yield PassedContent("link" if info.issym() or info.islnk() else "device")
                continue
            content = archive.extractfile(info)
            if content is not None:
                name = info.name.encode("utf-8", "surrogateescape")
                yield Member(_member_document(document, info.name, _member_base(name, base, beneath)), content)
        if not broken:
            # Two blocks of zeros end it (pax, "ustar Interchange Format"), and zeros may fill what is read at once.
            block = archive.fileobj.read(tarfile.BLOCKSIZE) if ended else b""
            if len(block) < tarfile.BLOCKSIZE:
                broken.append("truncated")
            while block and not broken:
                if block.strip(b"\0"):
                    broken.append("corrupt")
                block = archive.fileobj.read(_PIECE)
    if broken:
        yield Note(broken[0])


class _BoundedStream:
    """A stream that raises when read beyond its end: tarfile would read 2**95 octets that are not there."""

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


_SUFFIXES = {
    ".gz": "", ".bz2": "", ".xz": "", ".zst": "", ".tgz": ".tar", ".tbz2": ".tar", ".txz": ".tar", ".svgz": ".svg",
}  # fmt: skip


def _read_compressed(file: Stream, document: Document) -> Iterator[Member | Note | PassedContent]:
    """Compression is a coding of the document, not an entity around it: its base stays."""
    name = (document.name or document.source.rpartition("!")[2]).rpartition("/")[2]
    stem, suffix = os.path.splitext(name)
    within = _member_document(document, stem + _SUFFIXES.get(suffix.lower(), suffix), document.base)
    stream = unpacked(file)
    yield Note("corrupt") if stream is None else Member(within, stream)
