"""Finds the members of a ZIP file with a missing or broken directory: reads from local header to local header (APPNOTE
4.3.7), skipping data descriptors (4.3.9) and anything that is not a header."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from typing import BinaryIO, NamedTuple


class Local(NamedTuple):
    """A member according to its local header."""

    info: zipfile.ZipInfo
    start: int
    """The offset of its data."""
    size: int
    """Bytes of its data in the file, which may be fewer than its header states."""
    encrypted: bool
    crc: int | None


_LOCAL, _DESCRIPTOR = b"PK\x03\x04", b"PK\x07\x08"
_DIRECTORY = (b"PK\x01\x02", b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07", b"PK\x06\x08")
_END_SIGNATURE = b"PK\x05\x06"
_HEADER = struct.Struct("<4s5H3L2H")
_WIDE = 0xFFFFFFFF
_UNKNOWN_SIZE = 1 << 62
_MIN_READ_BYTES, _MAX_PIECE_BYTES, _MAX_WINDOW_BYTES = 1 << 8, 1 << 14, 1 << 20
"""Bytes read at first, and at most, of a deflate stream and in a search: short data needs few."""
_MAX_RATIO = 64


def find_members(file: BinaryIO) -> Iterator[Local | str]:
    """Yield the members, and last the note for the file: "truncated" if only its end is missing, else "corrupt".

    A member that is cut off has as much of its data as the file has.
    """
    scan = _HeaderScan(file)
    while scan.at < scan.size:
        head = scan.read(scan.at, _HEADER.size)
        if head.startswith(_LOCAL) and len(head) == _HEADER.size:
            if (local := scan.read_local(head)) is not None:
                yield local
        elif head.startswith(_DIRECTORY):
            scan.is_damaged |= scan.has_end_record()
            break
        elif len(head) < _HEADER.size and (head.startswith(_LOCAL) or _LOCAL.startswith(head[:4])):
            break
        else:
            scan.is_damaged = True
            scan.at = scan.find(scan.at + 1, _LOCAL)
    yield "corrupt" if scan.is_damaged or scan.remaining_bytes <= 0 else "truncated"


def has_member(file: BinaryIO, gaps: Iterable[tuple[int, int]]) -> bool:
    """Whether the local header of a member is in a gap between others, or there are too many bytes to search.

    A header without a name only fills a gap.
    """
    scan = _HeaderScan(file)
    for at, end in gaps:
        while (at := scan.find(at, _LOCAL)) + _HEADER.size < end:
            name_size, extra_size = struct.unpack_from("<2H", scan.read(at, _HEADER.size), 26)
            if name_size and at + _HEADER.size + name_size + extra_size <= end:
                return True
            at += len(_LOCAL)
    return scan.remaining_bytes <= 0


def open_member(file: BinaryIO, local: Local) -> zipfile.ZipExtFile:
    """Return the data of a member without its compression.

    Raises: NotImplementedError for an unknown method of compression.
    """
    return zipfile.ZipExtFile(_FileSlice(file, local.start, local.size), "r", local.info)


class _HeaderScan:
    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.size = file.seek(0, io.SEEK_END)
        self.at = 0
        self.is_damaged = False
        """Whether the file has other damage than a missing end."""
        self.remaining_bytes = 16 * self.size + (1 << 26)
        """Bytes that may still be read to find the ends of members: headers within the data of other members must not
        cost unlimited work.  The smallest members with a data descriptor need half of it."""

    def read(self, at: int, size: int) -> bytes:
        self.file.seek(at)
        data = self.file.read(size)
        self.remaining_bytes -= len(data)
        return data

    def read_local(self, head: bytes) -> Local | None:
        """Return the member whose header is at `at`, if its data begins in the file; move to the next one."""
        _, _, flags, method, _, _, crc, packed, plain, name_size, extra_size = _HEADER.unpack(head)
        start = self.at + len(head) + name_size + extra_size
        if start > self.size:
            self._seek_next(self.at + len(head))
            return None
        fields = self.read(self.at + len(head), name_size + extra_size)
        self.at = start
        info = zipfile.ZipInfo(fields[:name_size].decode("utf-8" if flags & 0x800 else "cp437", "replace") or "?")
        info.compress_type = method
        info.file_size = _UNKNOWN_SIZE
        plain, packed = _zip64_sizes(fields[name_size:], plain, packed)
        checksum: int | None = crc
        if flags & 8 and not packed:
            available, checksum = self._read_descriptor(start, method)
            is_complete = checksum is not None
        else:
            available, is_complete = packed, start + packed <= self.size
            self.at = start + packed
            if not is_complete:
                available = self._seek_next(start)
            elif method == zipfile.ZIP_STORED:
                info.file_size = plain
        # With a size beyond the data, its end raises an error, which becomes a note.
        info.compress_size = available if is_complete else _UNKNOWN_SIZE
        return Local(info, start, available, bool(flags & 1), checksum)

    def _seek_next(self, start: int) -> int:
        """Go to the next header, or the end.  Returns: the number of bytes before it."""
        self.at = self.find(start, _LOCAL)
        self.is_damaged |= self.at < self.size  # a length beyond the end of the file hid it
        return self.at - start

    def _read_descriptor(self, start: int, method: int) -> tuple[int, int | None]:
        """Return the size of data with a data descriptor (4.3.9), and its checksum if the descriptor was found."""
        if method == zipfile.ZIP_DEFLATED:
            end = self._find_deflate_end(start)
            if end is not None and (descriptor := self._parse_descriptor(end, end - start)):
                crc, self.at = descriptor
                return end - start, crc
        else:
            end = start
            while (end := self.find(end, _DESCRIPTOR)) < self.size:
                if descriptor := self._parse_descriptor(end, end - start):
                    crc, self.at = descriptor
                    return end - start, crc
                end += 1
        return self._seek_next(start), None

    def _find_deflate_end(self, start: int) -> int | None:
        """Return the offset at which a deflate stream ends; None if it does not, or inflates too much."""
        inflater = zlib.decompressobj(-15)
        at, inflated_size, step = start, 0, _MIN_READ_BYTES
        try:
            while not inflater.eof and self.remaining_bytes > 0 and (piece := self.read(at, step)):
                at += len(piece)
                while piece and not inflater.eof:
                    # The output of a failing call is unknown; this limits it.
                    output = inflater.decompress(piece, _MAX_RATIO * step)
                    inflated_size += len(output)
                    self.remaining_bytes -= len(output) // 8
                    piece = inflater.unconsumed_tail
                if inflated_size > _MAX_RATIO * (at - start + _MAX_WINDOW_BYTES):
                    return None
                step = min(2 * step, _MAX_PIECE_BYTES)
        except zlib.error:
            return None
        return at - len(inflater.unused_data) if inflater.eof else None

    def _parse_descriptor(self, at: int, packed: int) -> tuple[int, int] | None:
        """Return the checksum of a data descriptor, with or without its signature, and the offset of its end."""
        data = self.read(at, 24)
        signature_size = 4 if data.startswith(_DESCRIPTOR) else 0
        for layout in ("<2LL", "<L2Q"):
            if len(data) >= signature_size + struct.calcsize(layout):
                crc, size, _ = struct.unpack_from(layout, data, signature_size)
                if size == packed:
                    return crc, at + signature_size + struct.calcsize(layout)
        return None

    def find(self, at: int, mark: bytes) -> int:
        """Return the next offset of a mark, or the size of the file."""
        step = _MIN_READ_BYTES
        while at < self.size and self.remaining_bytes > 0:
            place = self.read(at, step + len(mark) - 1).find(mark)
            if place >= 0:
                return at + place
            at += step
            step = min(2 * step, _MAX_WINDOW_BYTES)
        return self.size

    def has_end_record(self) -> bool:
        """Whether the last 65,557 bytes contain the end record of a directory."""
        tail = self.read(max(self.size - 65_557, 0), 65_557)
        return 0 <= tail.rfind(_END_SIGNATURE) <= len(tail) - 22


def _zip64_sizes(extra: bytes, plain: int, packed: int) -> tuple[int, int]:
    """Return the sizes, from the ZIP64 extra field if necessary (APPNOTE 4.5.3)."""
    at = 0
    while _WIDE in (plain, packed) and at + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, at)
        if kind == 1 and length >= 16 and at + 20 <= len(extra):
            first, second = struct.unpack_from("<2Q", extra, at + 4)
            return min(first, _UNKNOWN_SIZE), min(second, _UNKNOWN_SIZE)
        at += 4 + length
    return plain, packed


class _FileSlice(io.RawIOBase):
    """A range of a file as a file of its own."""

    def __init__(self, file: BinaryIO, start: int, size: int) -> None:
        super().__init__()
        self.file, self.at, self.end = file, start, start + size

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        remaining = self.end - self.at
        self.file.seek(self.at)
        data = self.file.read(remaining if size < 0 else min(size, remaining))
        self.at += len(data)
        return data
