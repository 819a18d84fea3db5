"""The members of a ZIP file with a missing or broken directory: it is read from local header to local header (APPNOTE
4.3.7), skipping sizes after the data (4.3.9) and anything that is not a header."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from typing import BinaryIO, NamedTuple

__all__ = ["Local", "has_member", "locals_of", "open_member"]


class Local(NamedTuple):
    """A member as its local header has it."""

    info: zipfile.ZipInfo
    start: int
    """Where its data begins."""
    size: int
    """Octets of it that are there."""
    encrypted: bool
    crc: int | None


_LOCAL, _DESCRIPTOR = b"PK\x03\x04", b"PK\x07\x08"
_DIRECTORY = (b"PK\x01\x02", b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07", b"PK\x06\x08")
_END = b"PK\x05\x06"
_HEADER = struct.Struct("<4s5H3L2H")
_WIDE = 0xFFFFFFFF
_UNKNOWN = 1 << 62
_FIRST, _PIECE, _WINDOW = 1 << 8, 1 << 14, 1 << 20
"""Octets that are read at first, and at most, of a deflate stream and of anything: what is short is found with few."""
_RATIO = 64


def locals_of(file: BinaryIO) -> Iterator[Local | str]:
    """The members, and last the note for the file: "truncated" if only its end is missing, else "corrupt".

    A member that is cut off has as much of its data as there is.
    """
    walk = _HeaderScan(file)
    while walk.at < walk.size:
        head = walk.read(walk.at, _HEADER.size)
        if head.startswith(_LOCAL) and len(head) == _HEADER.size:
            if (local := walk.local(head)) is not None:
                yield local
        elif head.startswith(_DIRECTORY):
            walk.broken |= walk.has_end()
            break
        elif len(head) < _HEADER.size and (head.startswith(_LOCAL) or _LOCAL.startswith(head[:4])):
            break
        else:
            walk.broken = True
            walk.at = walk.find(walk.at + 1, _LOCAL)
    yield "corrupt" if walk.broken or walk.left <= 0 else "truncated"


def has_member(file: BinaryIO, gaps: Iterable[tuple[int, int]]) -> bool:
    """Whether the local header of a member is in a gap between others, or there is too much to look through.

    A header without a name only fills a gap.
    """
    scan = _HeaderScan(file)
    for at, end in gaps:
        while (at := scan.find(at, _LOCAL)) + _HEADER.size < end:
            name_size, extra_size = struct.unpack_from("<2H", scan.read(at, _HEADER.size), 26)
            if name_size and at + _HEADER.size + name_size + extra_size <= end:
                return True
            at += len(_LOCAL)
    return scan.left <= 0


def open_member(file: BinaryIO, local: Local) -> zipfile.ZipExtFile:
    """The data of a member without its compression.

    Raises: NotImplementedError for an unknown method of compression.
    """
    return zipfile.ZipExtFile(_FileSlice(file, local.start, local.size), "r", local.info)


class _HeaderScan:
    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.size = file.seek(0, io.SEEK_END)
        self.at = 0
        self.broken = False
        """Whether something else than the end of the file is the matter."""
        self.left = 16 * self.size + (1 << 26)
        """Octets that may still be read, to find where members end: headers within what others hold are not looked
        behind without end.  The least members, whose size stands behind them, need half of it."""

    def read(self, at: int, size: int) -> bytes:
        self.file.seek(at)
        data = self.file.read(size)
        self.left -= len(data)
        return data

    def local(self, head: bytes) -> Local | None:
        """The member whose header is here; the next one is `at` then."""
        _, _, flags, method, _, _, crc, packed, plain, name_size, extra_size = _HEADER.unpack(head)
        start = self.at + len(head) + name_size + extra_size
        if start > self.size:
            self._seek_next(self.at + len(head))
            return None
        rest = self.read(self.at + len(head), name_size + extra_size)
        self.at = start
        info = zipfile.ZipInfo(rest[:name_size].decode("utf-8" if flags & 0x800 else "cp437", "replace") or "?")
        info.compress_type = method
        info.file_size = _UNKNOWN
        plain, packed = _zip64_sizes(rest[name_size:], plain, packed)
        told: int | None = crc
        if flags & 8 and not packed:
            there, told = self._read_descriptor(start, method)
            whole = told is not None
        else:
            there, whole = packed, start + packed <= self.size
            self.at = start + packed
            if not whole:
                there = self._seek_next(start)
            elif method == zipfile.ZIP_STORED:
                info.file_size = plain
        # More than there is: its end is an error then, and a note.
        info.compress_size = there if whole else _UNKNOWN
        return Local(info, start, there, bool(flags & 1), told)

    def _seek_next(self, start: int) -> int:
        """Go to the next header, or the end.  Returns: how much data is before that."""
        self.at = self.find(start, _LOCAL)
        self.broken |= self.at < self.size  # a length that leads beyond the end hid it
        return self.at - start

    def _read_descriptor(self, start: int, method: int) -> tuple[int, int | None]:
        """How much data there is whose size stands behind it (4.3.9), and its sum if that was found."""
        if method == zipfile.ZIP_DEFLATED:
            end = self._deflate_end(start)
            if end is not None and (described := self._descriptor(end, end - start)):
                crc, self.at = described
                return end - start, crc
        else:
            end = start
            while (end := self.find(end, _DESCRIPTOR)) < self.size:
                if described := self._descriptor(end, end - start):
                    crc, self.at = described
                    return end - start, crc
                end += 1
        return self._seek_next(start), None

    def _deflate_end(self, start: int) -> int | None:
        """Where a deflate stream ends; None if it does not, or makes too much of too little."""
        inflate = zlib.decompressobj(-15)
        at, made, step = start, 0, _FIRST
        try:
            while not inflate.eof and self.left > 0 and (piece := self.read(at, step)):
                at += len(piece)
                while piece and not inflate.eof:
                    # How much a failing call has made is unknown: at most this much.
                    out = inflate.decompress(piece, _RATIO * step)
                    made += len(out)
                    self.left -= len(out) // 8
                    piece = inflate.unconsumed_tail
                if made > _RATIO * (at - start + _WINDOW):
                    return None
                step = min(2 * step, _PIECE)
        except zlib.error:
            return None
        return at - len(inflate.unused_data) if inflate.eof else None

    def _descriptor(self, at: int, packed: int) -> tuple[int, int] | None:
        """The sum in a data descriptor, with its signature or without, and where it ends."""
        data = self.read(at, 24)
        skipped = 4 if data.startswith(_DESCRIPTOR) else 0
        for form in ("<2LL", "<L2Q"):
            if len(data) >= skipped + struct.calcsize(form):
                crc, size, _ = struct.unpack_from(form, data, skipped)
                if size == packed:
                    return crc, at + skipped + struct.calcsize(form)
        return None

    def find(self, at: int, mark: bytes) -> int:
        """Where it stands next, or the size of the file."""
        step = _FIRST
        while at < self.size and self.left > 0:
            place = self.read(at, step + len(mark) - 1).find(mark)
            if place >= 0:
                return at + place
            at += step
            step = min(2 * step, _WINDOW)
        return self.size

    def has_end(self) -> bool:
        """Whether the record that ends a directory is there, 65,557 octets from the end at most."""
        tail = self.read(max(self.size - 65_557, 0), 65_557)
        return 0 <= tail.rfind(_END) <= len(tail) - 22


def _zip64_sizes(extra: bytes, plain: int, packed: int) -> tuple[int, int]:
    """The sizes, those of ZIP64 from the extra field (APPNOTE 4.5.3)."""
    at = 0
    while _WIDE in (plain, packed) and at + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, at)
        if kind == 1 and length >= 16 and at + 20 <= len(extra):
            first, second = struct.unpack_from("<2Q", extra, at + 4)
            return min(first, _UNKNOWN), min(second, _UNKNOWN)
        at += 4 + length
    return plain, packed


class _FileSlice(io.RawIOBase):
    """A part of a file, as a file that ends."""

    def __init__(self, file: BinaryIO, start: int, size: int) -> None:
        super().__init__()
        self.file, self.at, self.end = file, start, start + size

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        left = self.end - self.at
        self.file.seek(self.at)
        data = self.file.read(left if size < 0 else min(size, left))
        self.at += len(data)
        return data
