"""Members of a ZIP file, also of one that is damaged."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import struct
import zipfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, BinaryIO, NamedTuple, cast
from zipfile import ZIP_DEFLATED, ZIP_STORED

from overthere.base import Base, enclosed
from overthere.links.containers import zip_names, zip_recovery
from overthere.links.containers.archive_members import member_base, member_document
from overthere.links.containers.model import Member, Part, Place, Stream
from overthere.links.containers.page_run import PageRun
from overthere.links.containers.streams import TooLarge, fault_note, read_content
from overthere.links.faults import guard
from overthere.links.model import BegunPage, Document, Note, PassedContent
from overthere.values.uri import URI


class Entry(NamedTuple):
    """An entry of the directory, and the offset at which its member must have ended."""

    info: zipfile.ZipInfo
    end: int


def members(
    stream: Stream,
    document: Document,
    place: Place = Place(),  # noqa: B008 - a value
) -> Iterator[BegunPage | Member | Note | PassedContent]:
    """Yield the members, as `Container.members`.  Folders are skipped silently; links are counted."""
    try:
        yield from _read_zip(cast("BinaryIO", stream), document, place)
    except Exception as error:  # on hostile bytes the library may raise anything
        yield Note(fault_note(error))


class _GuardedZip(io.RawIOBase):
    """A ZIP file that raises TooLarge for a directory too large for memory, and transforms names (`zip_names`)."""

    _MAX_READ_BYTES = 1 << 24

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self.file = file
        self.transform: Callable[[bytes], bytes] = zip_names.prepare_directory
        """Transforms the bytes that are read: a directory, the header of a member, or content."""

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return self.file.seek(offset, whence)

    def tell(self) -> int:
        return self.file.tell()

    def read(self, size: int = -1, /) -> bytes:
        data = self.file.read(self._MAX_READ_BYTES + 1 if size < 0 else min(size, self._MAX_READ_BYTES + 1))
        if len(data) > self._MAX_READ_BYTES:
            raise TooLarge
        return self.transform(data)


def find_parts(file: BinaryIO, size: int) -> Iterator[Part]:
    """Yield parts of about `size` bytes; none for a file that is damaged, or EPUB."""
    try:
        with zipfile.ZipFile(cast("Any", _GuardedZip(file))) as archive:
            is_damaged = _lacks_members(archive, file) or _has_hidden_members(archive, file)
            if is_damaged or _is_epub(archive) or _find_end_note(archive, file):
                return
            entries = [*_list_entries(archive)]
    except Exception as error:  # on hostile bytes the library may raise anything; the reader notes it
        fault_note(error)
        return
    start = first = packed = 0
    for number, entry in enumerate(entries, 1):
        packed += entry.info.compress_size
        if packed - start >= size or number == len(entries):
            yield Part(packed - start, start, members=entries[first:number])
            start, first = packed, number


def _read_zip(file: BinaryIO, document: Document, place: Place) -> Iterator[BegunPage | Member | Note | PassedContent]:
    guarded_file = _GuardedZip(file)
    if place.part is not None:
        with zipfile.ZipFile(io.BytesIO(_EMPTY_ZIP)) as archive:
            archive.fp, guarded_file.transform = cast("Any", guarded_file), bytes
            yield from _read_entries(archive, guarded_file, place.part.members, document, place)
        return
    try:
        archive = zipfile.ZipFile(guarded_file)
    except zipfile.BadZipFile:
        yield from _recover_members(file, document, place)
        return
    with archive:
        guarded_file.transform = bytes
        is_short = _lacks_members(archive, file)
        if is_short:
            yield Note("corrupt")
        if is_short or _has_hidden_members(archive, file):
            yield from _recover_members(file, document, place)
            return
        entries = _list_entries(archive)
        yield from _read_entries(archive, guarded_file, entries, document, place, is_epub=_is_epub(archive))
        if (note := _find_end_note(archive, file)) is not None:
            yield Note(note)


_EMPTY_ZIP = b"PK\x05\x06" + bytes(18)
"""An archive without members: a part has its entries of the directory already."""


def _read_entries(
    archive: zipfile.ZipFile, guarded_file: _GuardedZip, entries: Iterable[Entry], document: Document, place: Place,
    is_epub: bool = False,
) -> Iterator[BegunPage | Member | Note | PassedContent]:  # fmt: skip
    base = enclosed(document.base)
    run = PageRun(guarded_file.file, place, document)
    for info, end in entries:
        info.filename = zip_names.read_name(info)
        if _is_folder(info):
            continue
        if stat.S_ISLNK(info.external_attr >> 16):
            yield PassedContent("link")
            continue
        member = _make_document(info, document, base, place.root_uri, is_epub)
        if info.header_offset + _HEADER_BYTES + info.compress_size > end:
            yield from run.flush()
            yield Member(member._replace(notes=("corrupt",)), None)
            continue
        read = partial(guard, _read_member(archive, guarded_file, info, member), Note)
        is_plain = info.compress_type in _NATIVE_METHODS and not info.flag_bits & _UNUSUAL_FLAGS
        if is_plain and run.accepts(member, info.file_size):
            entry = info.orig_filename.encode("cp437"), info.file_size, info.CRC, info.compress_type == ZIP_DEFLATED
            yield from run.add(member, info.header_offset, end, info.compress_size, info.file_size, entry, read)
        else:
            yield from run.flush()
            yield from read()
    yield from run.flush()


_NATIVE_METHODS, _UNUSUAL_FLAGS = (ZIP_STORED, ZIP_DEFLATED), 0b0110_0001
"""The methods that the native kernel reads; flags of encryption, patches, strong encryption (APPNOTE 4.4.4)."""


def _is_folder(info: zipfile.ZipInfo) -> bool:
    """Whether a member is a folder: its name ends in "/" and it is empty.  `is_dir` fails on an empty name."""
    return info.filename.endswith("/") and not info.file_size and info.compress_size <= _MAX_EMPTY_BYTES


_MAX_EMPTY_BYTES = 2
"""Bytes of empty content after compression."""


def _list_entries(archive: zipfile.ZipFile) -> Iterator[Entry]:
    """Yield the entries of the directory; a second entry for the same member gets the end 0."""
    ends = _find_ends(archive)
    for info in archive.infolist():
        yield Entry(info, ends.pop(info.header_offset, 0))


def _find_ends(archive: zipfile.ZipFile) -> dict[int, int]:
    """Map the offset of each member to the limit of its end: overlapping members could be any number of documents."""
    places = sorted({info.header_offset for info in archive.infolist()})
    return dict(zip(places, [*places[1:], archive.start_dir], strict=False))


def _make_document(
    info: zipfile.ZipInfo, container: Document, base: Base, root_uri: URI | None, is_epub: bool
) -> Document:
    name = info.filename.encode("utf-8", "surrogateescape")
    member = member_document(container, info.filename, member_base(name, base, root_uri))
    if is_epub and info.filename.lower().endswith((".html", ".htm")):
        # Documents of EPUB are XHTML (EPUB 3.3 6.1).
        return member._replace(media_type="application/xhtml+xml")
    return member


def ends_as_zip(file: BinaryIO) -> bool:
    """Whether a file ends with the end record of a ZIP file, after a directory of the size that it states.

    Then it may begin with other data, such as a program that unpacks it (APPNOTE 4.1.9, 4.3.16).
    """
    at, record = _find_end_record(file)
    size = file.seek(0, os.SEEK_END)
    if not record or at + 22 + int.from_bytes(record[20:22], "little") != size:
        return False
    directory = at - int.from_bytes(record[12:16], "little")
    file.seek(max(directory, 0))
    return 0 <= directory < at and file.read(4) == b"PK\x01\x02"


_MAX_END_BYTES = 22 + 0xFFFF
"""Bytes of the end record with the longest comment."""


def _has_hidden_members(archive: zipfile.ZipFile, file: BinaryIO) -> bool:
    """Whether there are members that the directory does not name: between others, or before them, as from an archive
    inside another that is cut off."""
    file.seek(0)
    if file.read(4) == b"PK\x03\x04" and min((info.header_offset for info in archive.infolist()), default=1) > 0:
        return True
    return zip_recovery.has_member(file, _find_gaps(archive, file))


def _find_gaps(archive: zipfile.ZipFile, file: BinaryIO) -> Iterator[tuple[int, int]]:
    """Yield the gaps between members that have room for a header: a data descriptor is shorter."""
    infos = {info.header_offset: info for info in archive.infolist()}
    for at, next_at in _find_ends(archive).items():
        min_end = at + _HEADER_BYTES + infos[at].compress_size
        if at >= 0 and min_end + _HEADER_BYTES < next_at <= archive.start_dir:  # a hostile offset may be any number
            file.seek(at + _HEADER_BYTES - 4)
            name_size, extra_size = struct.unpack("<2H", file.read(4))
            yield min_end + name_size + extra_size, next_at


_HEADER_BYTES = 30
"""Bytes of a local header before its name (APPNOTE 4.3.7)."""


def _lacks_members(archive: zipfile.ZipFile, file: BinaryIO) -> bool:
    """Whether the directory has fewer entries than the end record states (APPNOTE 4.3.14, 4.3.16): an entry may hide
    those after it."""
    at, end_record = _find_end_record(file)
    count, stated_count = len(archive.infolist()), int.from_bytes(end_record[10:12], "little")
    if stated_count == 0xFFFF:  # the ZIP64 record before its locator has the count
        file.seek(max(at - _LOCATOR_BYTES - _ZIP64_BYTES, 0))
        record = file.read(_ZIP64_BYTES)
        return record.startswith(b"PK\x06\x06") and count < int.from_bytes(record[32:40], "little")
    return count % 0x10000 < stated_count


_ZIP64_BYTES, _LOCATOR_BYTES = 56, 20
"""Bytes of the ZIP64 end record without extensions, and of its locator."""


def _find_end_record(file: BinaryIO) -> tuple[int, bytes]:
    """Return the offset of the end record that `zipfile` uses, and its bytes without the comment; b"" without one."""
    start = max(file.seek(0, os.SEEK_END) - _MAX_END_BYTES, 0)
    file.seek(start)
    tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    return start + at, tail[at : at + 22] if at >= 0 else b""


def _find_end_note(archive: zipfile.ZipFile, file: BinaryIO) -> str | None:
    """Return the note for a file that does not end where its end record states (APPNOTE 4.3.16)."""
    at, record = _find_end_record(file)
    if int.from_bytes(record[20:22], "little") > len(archive.comment):
        return "truncated"
    return None if at + 22 + len(archive.comment) == file.seek(0, os.SEEK_END) else "corrupt"


def _recover_members(file: BinaryIO, document: Document, place: Place) -> Iterator[Member | Note]:
    """Yield the members of an archive whose directory cannot be used, even if cut off, and a note on the archive."""
    base = enclosed(document.base)
    is_epub = False
    for number, local in enumerate(zip_recovery.find_members(file)):
        if isinstance(local, str):
            yield Note(local)
            continue
        if _is_folder(local.info):
            continue
        member = _make_document(local.info, document, base, place.root_uri, is_epub)
        if local.encrypted:
            yield Member(member._replace(notes=("encrypted",)), None)
            continue
        try:
            stream = zip_recovery.open_member(file, local)
        except Exception as error:  # on hostile bytes the library may raise anything
            yield Member(member._replace(notes=(fault_note(error),)), None)
            continue
        if number == 0 and local.info.filename == "mimetype":
            is_epub = read_content(stream, len(_EPUB))[0] == _EPUB
            stream = zip_recovery.open_member(file, local)
        yield Member(member, stream, local.crc)


def _read_member(
    archive: zipfile.ZipFile, guarded_file: _GuardedZip, info: zipfile.ZipInfo, member: Document
) -> Iterator[Member | Note]:
    """Yield the member with its stream, or without one if it cannot be opened."""
    if info.flag_bits & 1:
        yield Member(member._replace(notes=("encrypted",)), None)
        return
    crc = info.CRC
    # The library checks it at the last bytes, and withholds these if it differs.
    del info.CRC
    guarded_file.transform = zip_names.prepare_header
    try:
        stream = archive.open(info)
    except Exception as error:  # on hostile bytes the library may raise anything
        yield Member(member._replace(notes=(fault_note(error),)), None)
        return
    finally:
        guarded_file.transform = bytes
    with stream:
        yield Member(member, stream, crc)


_EPUB = b"application/epub+zip"


def _is_epub(archive: zipfile.ZipFile) -> bool:
    """Whether the first member declares EPUB (EPUB 3.3 4.2.7.3)."""
    first = next(iter(archive.infolist()), None)
    if first is None or first.filename != "mimetype" or first.file_size != len(_EPUB):
        return False
    with contextlib.suppress(Exception), archive.open(first) as stream:
        return stream.read(len(_EPUB)) == _EPUB
    return False
