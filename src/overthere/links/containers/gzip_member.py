"""Finds and inflates gzip members in a file, intact or damaged.

`inflate_member` uses igzip if it is installed, which takes two thirds of the time of zlib.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, BinaryIO

from overthere import kernel
from overthere.ground.codings import Zlib

GZIP = b"\x1f\x8b\x08"
"""The first bytes of a member (RFC 1952 2.3.1)."""
PIECE, MAX_OUTPUT = 1 << 14, 1 << 16
"""Bytes to read at once, and bytes to inflate at once."""
WINDOW = 1 << 20
"""Bytes to search at once for the next member or record."""
RATIO = 64
"""Bytes that a member may have for each of its bytes in the file; more is a bomb.  Deflate reaches 1032."""
# A cut is accepted if this many bytes after it are gzip members. Bytes that appear unchanged in a deflate stream are in
# a stored block of at most 65,535 bytes (RFC 1951 3.2.4), so gzip members in a row within the content of a record are
# never longer.
_CONFIRMED_BYTES = 1 << 17
_HEAD_BYTES = 1 << 10
"""Bytes of a member that must contain its first inflated bytes."""


def _load_zlib() -> Any:
    try:
        return import_module("isal.isal_zlib")
    except ImportError:
        return zlib


_FAST_ZLIB = _load_zlib()
_UNUSUAL_FLAGS = 0b11100010
"""Flags that igzip handles differently from zlib: header checksum, reserved bits (RFC 1952 2.3.1)."""


def inflate_member(file: BinaryIO, at: int, max_bytes: int, ratio: int) -> tuple[bytes, int, str]:
    """Inflate the member at `at`; return its bytes, the number of bytes read for it, and a note.

    Its bytes are up to a piece more than `max_bytes`.  The note is "", "long" if the member has more bytes, "too-large"
    if it is a bomb (more than `max_bytes` and `ratio` times the bytes read), "truncated" or "corrupt".
    """
    file.seek(at)
    head = file.read(4)
    if len(head) == 4 and not head[3] & _UNUSUAL_FLAGS:
        result = _inflate(_FAST_ZLIB, file, at, max_bytes, ratio)
        if not result[2]:
            return result
    # On a fault the bytes before it are those that zlib inflates.
    return _inflate(zlib, file, at, max_bytes, ratio)


def _inflate(library: Any, file: BinaryIO, at: int, max_bytes: int, ratio: int) -> tuple[bytes, int, str]:
    """Do the same as `inflate_member` with zlib, or with a library that has the same functions."""
    inflater = Zlib(31, library)
    parts: list[bytes] = []
    inflated_size = used_size = 0
    file.seek(at)
    while not inflater.eof:
        piece = file.read(PIECE) if inflater.needs_input else b""
        if not piece and inflater.needs_input:
            return b"".join(parts), used_size, "truncated"
        used_size += len(piece)
        try:
            output = inflater.decompress(piece, MAX_OUTPUT)
        except library.error:
            return b"".join(parts), used_size, "corrupt"
        if inflated_size < max_bytes:
            parts.append(output)
        inflated_size += len(output)
        if inflated_size > max_bytes + ratio * used_size:
            return b"".join(parts), used_size, "too-large"
    return b"".join(parts), used_size - len(inflater.unused_data), "long" if inflated_size > max_bytes else ""


def read_gzip_member(
    file: BinaryIO, size: int, at: int, max_bytes: int, is_record: Callable[[bytes], bool]
) -> tuple[bytes, str, int]:
    """Inflate a gzip member; return its bytes (up to a piece more than `max_bytes`), a note or "", and the next offset.

    is_record: whether the first bytes of a member are those of a record.
    """
    data, used_size, note = inflate_member(file, at, max_bytes, RATIO)
    if note in ("", "long"):
        return data, note and "too-large", at + used_size
    next_at = find_member(file, at + (used_size if note == "too-large" else 1), size, is_record, strict=False)
    # A broken length can lead to the end of the file too.
    return data, "corrupt" if note == "truncated" and next_at < size else note, next_at


def find_member(file: BinaryIO, at: int, size: int, is_record: Callable[[bytes], bool], *, strict: bool) -> int:
    """Return the offset, from `at` on, of the next gzip member with a record; `size` without one.

    strict: accept a member only if gzip members follow for `_CONFIRMED_BYTES`.
    """
    start = at
    work = 0
    step = PIECE
    while at < size:
        file.seek(at)
        window = file.read(step + _HEAD_BYTES)
        place = window.find(GZIP)
        while 0 <= place < step:
            # This limits the work on content that looks like endless members.
            if work < RATIO * _CONFIRMED_BYTES + 8 * (at + place - start):
                work += _HEAD_BYTES
                if _begins_record(window[place : place + _HEAD_BYTES], is_record):
                    is_valid, cost = _check_member(file, at + place, strict)
                    if is_valid:
                        return at + place
                    work += cost
            place = window.find(GZIP, place + 1)
        at += step
        step = WINDOW
    return size


def _begins_record(head: bytes, is_record: Callable[[bytes], bool]) -> bool:
    try:
        return is_record(zlib.decompressobj(31).decompress(head, 32))
    except zlib.error:
        return False


def _check_member(file: BinaryIO, at: int, strict: bool) -> tuple[bool, int]:
    """Return whether a member begins here, as far as it is checked; and the cost of the check in bytes."""
    file.seek(at)
    if strict and kernel.name == "native":
        from overthere._native import is_gzip_members

        window = file.read(_CONFIRMED_BYTES)
        if len(window) == _CONFIRMED_BYTES and is_gzip_members(window, RATIO * _CONFIRMED_BYTES):
            return True, _CONFIRMED_BYTES
        file.seek(at)
    inflater = zlib.decompressobj(31)
    piece, is_between = b"", False
    used_size = inflated_size = 0
    try:
        while used_size < _CONFIRMED_BYTES and inflated_size < RATIO * _CONFIRMED_BYTES:
            if inflater.eof:
                if not strict:
                    break
                piece, is_between = inflater.unused_data, True
                inflater = zlib.decompressobj(31)
            if not piece:
                piece = file.read(PIECE)
                if not piece:
                    return is_between or not strict, used_size
                used_size += len(piece)
            is_between = False
            inflated_size += len(inflater.decompress(piece, MAX_OUTPUT))
            piece = inflater.unconsumed_tail
    except zlib.error:
        return False, used_size + inflated_size // 8
    return True, used_size + inflated_size // 8


def inflate_pieces(file: BinaryIO, at: int) -> Iterator[bytes]:
    """Yield the bytes of a gzip member, in pieces.  Raises: EOFError if it ends early; zlib.error."""
    inflater = zlib.decompressobj(31)
    file.seek(at)
    while not inflater.eof and (piece := file.read(PIECE)):
        while piece and not inflater.eof:
            yield inflater.decompress(piece, MAX_OUTPUT)
            piece = inflater.unconsumed_tail
    if not inflater.eof:
        raise EOFError


def is_continuation(file: BinaryIO, at: int, is_record: Callable[[bytes], bool]) -> bool:
    """Whether a gzip member that does not begin with a record starts at `at`."""
    file.seek(at)
    head = file.read(_HEAD_BYTES)
    try:
        return head.startswith(GZIP) and not is_record(zlib.decompressobj(31).decompress(head, 32))
    except zlib.error:
        return False


class MemberChain(Iterator[bytes]):
    """Yields the bytes of a gzip member and of the members after it that do not begin with a record, in pieces."""

    def __init__(self, file: BinaryIO, at: int, is_record: Callable[[bytes], bool]) -> None:
        self.at: int = at
        """The offset of the current member; if `is_read`, the offset after the last one."""
        self.is_read: bool = False
        self._pieces: Iterator[bytes] = self._inflate(file, is_record)

    def __next__(self) -> bytes:
        return next(self._pieces)

    def _inflate(self, file: BinaryIO, is_record: Callable[[bytes], bool]) -> Iterator[bytes]:
        while True:
            inflater, used_size = Zlib(31), 0
            while not inflater.eof:
                piece = b""
                if inflater.needs_input:
                    file.seek(self.at + used_size)
                    piece = file.read(PIECE)
                    used_size += len(piece)
                    if not piece:
                        raise EOFError
                yield inflater.decompress(piece, MAX_OUTPUT)
            self.at += used_size - len(inflater.unused_data)
            if not is_continuation(file, self.at, is_record):
                self.is_read = True
                return
