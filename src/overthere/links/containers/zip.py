"""Members of a ZIP file, also of one that is damaged."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import struct
import zipfile
from collections.abc import Callable, Iterator
from typing import BinaryIO, cast

from overthere.base import Base, enclosed
from overthere.links.containers import zip_names, zip_recovery
from overthere.links.containers.archive_members import member_base, member_document
from overthere.links.containers.model import Member, Place, Stream
from overthere.links.containers.streams import TooLarge, fault_note, read_content
from overthere.links.faults import guard
from overthere.links.model import Document, Note, PassedContent
from overthere.values.uri import URI

__all__ = ["ends_as_zip", "members"]


def members(
    stream: Stream,
    document: Document,
    place: Place = Place(),  # noqa: B008 - a value
) -> Iterator[Member | Note | PassedContent]:
    """As `Container.members`.  Folders say nothing; links are passed over."""
    try:
        yield from _read(cast("BinaryIO", stream), document, place.beneath)
    except Exception as error:  # whatever the library makes of hostile octets
        yield Note(fault_note(error))


class _GuardedZip(io.RawIOBase):
    """A ZIP file whose directory is not read if it would not fit in memory, and whose names are read by `zip_names`."""

    _MOST = 1 << 24

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self.file = file
        self.reads: Callable[[bytes], bytes] = zip_names.directory
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
            raise TooLarge
        return self.reads(data)


def _read(file: BinaryIO, document: Document, beneath: URI | None) -> Iterator[Member | Note | PassedContent]:
    base = enclosed(document.base)
    octets = _GuardedZip(file)
    try:
        archive = zipfile.ZipFile(octets)
    except zipfile.BadZipFile:
        yield from _recover_members(file, document, base, beneath)
        return
    with archive:
        octets.reads = bytes
        is_short = _lacks_members(archive, file)
        if is_short:
            yield Note("corrupt")
        if is_short or _has_hidden_members(archive, file):
            yield from _recover_members(file, document, base, beneath)
            return
        is_epub = _is_epub(archive)
        ends = _ends(archive)
        for info in archive.infolist():
            info.filename = zip_names.name(info)
            if _is_folder(info):
                continue
            if stat.S_ISLNK(info.external_attr >> 16):
                yield PassedContent("link")
                continue
            within = _zip_document(info, document, base, beneath, is_epub)
            if info.header_offset + _HEADER + info.compress_size > ends.pop(info.header_offset, 0):
                yield Member(within._replace(notes=("corrupt",)), None)
                continue
            yield from guard(_read_member(archive, octets, info, within), Note)
        if (note := _trailing_note(archive, file)) is not None:
            yield Note(note)


def _is_folder(info: zipfile.ZipInfo) -> bool:
    """Whether a member is a folder: one that is called so may have content.  `is_dir` fails where there is no name."""
    return info.filename.endswith("/") and not info.file_size and info.compress_size <= _EMPTY


_EMPTY = 2
"""Octets of nothing, compressed."""


def _ends(archive: zipfile.ZipFile) -> dict[int, int]:
    """Where each member begins, and has to end: in members that overlap few octets could be any number of documents."""
    places = sorted({info.header_offset for info in archive.infolist()})
    return dict(zip(places, [*places[1:], archive.start_dir], strict=False))


def _zip_document(
    info: zipfile.ZipInfo, document: Document, base: Base, beneath: URI | None, is_epub: bool
) -> Document:
    name = info.filename.encode("utf-8", "surrogateescape")
    within = member_document(document, info.filename, member_base(name, base, beneath))
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
    """Whether there are members that the directory does not name: between others, or before them, as those of an
    archive within one that is cut.
    """
    file.seek(0)
    if file.read(4) == b"PK\x03\x04" and min((info.header_offset for info in archive.infolist()), default=1) > 0:
        return True
    return zip_recovery.has_member(file, _gaps(archive, file))


def _gaps(archive: zipfile.ZipFile, file: BinaryIO) -> Iterator[tuple[int, int]]:
    """Where members end and the next ones begin, if there is room for a header between: a descriptor is shorter."""
    infos = {info.header_offset: info for info in archive.infolist()}
    for at, next_at in _ends(archive).items():
        least = at + _HEADER + infos[at].compress_size
        if at >= 0 and least + _HEADER < next_at <= archive.start_dir:  # an offset of hostile octets may be any
            file.seek(at + _HEADER - 4)
            name_size, extra_size = struct.unpack("<2H", file.read(4))
            yield least + name_size + extra_size, next_at


_HEADER = 30
"""Octets of a local header before its name (APPNOTE 4.3.7)."""


def _lacks_members(archive: zipfile.ZipFile, file: BinaryIO) -> bool:
    """Whether the directory has fewer entries than the last record says (APPNOTE 4.3.14, 4.3.16): one may hide those
    behind it.
    """
    count, said = len(archive.infolist()), int.from_bytes(_last_record(archive, file)[10:12], "little")
    if said == 0xFFFF:  # they are counted in the record before its locator
        end = file.seek(0, os.SEEK_END) - 22 - len(archive.comment) - _LOCATOR
        file.seek(max(end - _ZIP64, 0))
        record = file.read(_ZIP64)
        return record.startswith(b"PK\x06\x06") and count < int.from_bytes(record[32:40], "little")
    return count % 0x10000 < said


_ZIP64, _LOCATOR = 56, 20
"""Octets of the record of ZIP64 without extensions, and of what says where it is."""


def _last_record(archive: zipfile.ZipFile, file: BinaryIO) -> bytes:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - 22 - len(archive.comment), 0))
    return file.read(22)


def _trailing_note(archive: zipfile.ZipFile, file: BinaryIO) -> str | None:
    """The note for a file that does not end where its last record says (APPNOTE 4.3.16)."""
    there = len(archive.comment)
    record = _last_record(archive, file)
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
        if _is_folder(local.info):
            continue
        within = _zip_document(local.info, document, base, beneath, is_epub)
        if local.encrypted:
            yield Member(within._replace(notes=("encrypted",)), None)
            continue
        try:
            stream = zip_recovery.open_member(file, local)
        except Exception as error:  # as above
            yield Member(within._replace(notes=(fault_note(error),)), None)
            continue
        if number == 0 and local.info.filename == "mimetype":
            is_epub = read_content(stream, len(_EPUB))[0] == _EPUB
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
    octets.reads = zip_names.header
    try:
        stream = archive.open(info)
    except Exception as error:  # as above
        yield Member(within._replace(notes=(fault_note(error),)), None)
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
