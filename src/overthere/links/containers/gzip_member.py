"""Gzip members of a file, whole and damaged: where they are, and what they hold.

They are inflated by igzip where it is installed, in two thirds of the time that zlib takes.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, BinaryIO

from overthere.ground.codings import Zlib

__all__ = [
    "GZIP", "PIECE", "RATIO", "WINDOW", "MemberChain", "inflate_member", "inflate_octets", "is_continuation",
    "next_member", "read_gzip_member",
]  # fmt: skip

GZIP = b"\x1f\x8b\x08"
"""How a member begins (RFC 1952 2.3.1)."""
PIECE, MOST = 1 << 14, 1 << 16
"""Octets that are read at once, and that come out at once."""
WINDOW = 1 << 20
"""Octets in which the next member or record is searched for at once."""
RATIO = 64
"""Octets of a member for each octet in the file, beyond which it is a bomb.  Deflate reaches 1032."""
# How far a cut is looked into before it is believed. Octets that are seen as they are within a deflate stream lie in
# a stored block, which has at most 65,535 of them (RFC 1951 3.2.4): no gzip members in a row within the content of a
# record are longer.
_BELIEVED = 1 << 17
_FIRST = 1 << 10
"""Octets of a member in which its first ones must be."""


def _load_zlib() -> Any:
    try:
        return import_module("isal.isal_zlib")
    except ImportError:
        return zlib


_FAST = _load_zlib()
_UNUSUAL = 0b11100010
"""Flags that igzip does not see as zlib does: a checksum of the header, reserved ones (RFC 1952 2.3.1)."""


def inflate_member(file: BinaryIO, at: int, most: int, ratio: int) -> tuple[bytes, int, str]:
    """What the member at `at` holds, up to a piece more than `most`; its octets in the file; what is the matter.

    That is "", "long" if it holds more, "too-large" if it is a bomb (`ratio` times what it has in the file, beyond
    `most`), "truncated" or "corrupt".
    """
    file.seek(at)
    head = file.read(4)
    if len(head) == 4 and not head[3] & _UNUSUAL:
        pieces = _inflate(_FAST, file, at, most, ratio)
        if not pieces[2]:
            return pieces
    # What comes out before a fault is what zlib gives.
    return _inflate(zlib, file, at, most, ratio)


def _inflate(library: Any, file: BinaryIO, at: int, most: int, ratio: int) -> tuple[bytes, int, str]:
    """`inflate_member` by zlib, or by what has the same functions."""
    inflate = Zlib(31, library)
    parts: list[bytes] = []
    got = used = 0
    file.seek(at)
    while not inflate.eof:
        piece = file.read(PIECE) if inflate.needs_input else b""
        if not piece and inflate.needs_input:
            return b"".join(parts), used, "truncated"
        used += len(piece)
        try:
            out = inflate.decompress(piece, MOST)
        except library.error:
            return b"".join(parts), used, "corrupt"
        if got < most:
            parts.append(out)
        got += len(out)
        if got > most + ratio * used:
            return b"".join(parts), used, "too-large"
    return b"".join(parts), used - len(inflate.unused_data), "long" if got > most else ""


def read_gzip_member(
    file: BinaryIO, size: int, at: int, most: int, holds: Callable[[bytes], bool]
) -> tuple[bytes, str, int]:
    """The first `most` octets of a gzip member; what is the matter with it, or ""; and where the next one begins.

    holds: whether the first octets of what a member holds are those of a record.
    """
    data, used, note = inflate_member(file, at, most, RATIO)
    if note in ("", "long"):
        return data, note and "too-large", at + used
    after = next_member(file, at + (used if note == "too-large" else 1), size, holds, far=False)
    # A length that is broken may lead to the end of the file too.
    return data, "corrupt" if note == "truncated" and after < size else note, after


def next_member(file: BinaryIO, at: int, size: int, holds: Callable[[bytes], bool], *, far: bool) -> int:
    """Where from `at` on a gzip member begins that holds a record; or `size`.

    far: believe only what is followed by gzip members as far as `_BELIEVED`.
    """
    begun = at
    tried = 0
    step = PIECE
    while at < size:
        file.seek(at)
        window = file.read(step + _FIRST)
        place = window.find(GZIP)
        while 0 <= place < step:
            # Content made to look like endless members is tried only so often.
            if tried < RATIO * _BELIEVED + 8 * (at + place - begun):
                tried += _FIRST
                if _begins_with(window[place : place + _FIRST], holds):
                    good, cost = _try_member(file, at + place, far)
                    if good:
                        return at + place
                    tried += cost
            place = window.find(GZIP, place + 1)
        at += step
        step = WINDOW
    return size


def _begins_with(head: bytes, holds: Callable[[bytes], bool]) -> bool:
    try:
        return holds(zlib.decompressobj(31).decompress(head, 32))
    except zlib.error:
        return False


def _try_member(file: BinaryIO, at: int, far: bool) -> tuple[bool, int]:
    """Whether a member begins here, as far as is looked; and how much that cost."""
    inflate = zlib.decompressobj(31)
    file.seek(at)
    piece, between = b"", False
    used = made = 0
    try:
        while used < _BELIEVED and made < RATIO * _BELIEVED:
            if inflate.eof:
                if not far:
                    break
                piece, between = inflate.unused_data, True
                inflate = zlib.decompressobj(31)
            if not piece:
                piece = file.read(PIECE)
                if not piece:
                    return between or not far, used
                used += len(piece)
            between = False
            made += len(inflate.decompress(piece, MOST))
            piece = inflate.unconsumed_tail
    except zlib.error:
        return False, used + made // 8
    return True, used + made // 8


def inflate_octets(file: BinaryIO, at: int) -> Iterator[bytes]:
    """The octets of a gzip member, in pieces.  Raises: EOFError if it ends early; zlib.error."""
    inflate = zlib.decompressobj(31)
    file.seek(at)
    while not inflate.eof and (piece := file.read(PIECE)):
        while piece and not inflate.eof:
            yield inflate.decompress(piece, MOST)
            piece = inflate.unconsumed_tail
    if not inflate.eof:
        raise EOFError


def is_continuation(file: BinaryIO, at: int, holds: Callable[[bytes], bool]) -> bool:
    """Whether a gzip member begins at `at` that does not begin with a record."""
    file.seek(at)
    head = file.read(_FIRST)
    try:
        return head.startswith(GZIP) and not holds(zlib.decompressobj(31).decompress(head, 32))
    except zlib.error:
        return False


class MemberChain(Iterator[bytes]):
    """The octets of a gzip member and of those behind it that do not begin with a record, in pieces."""

    def __init__(self, file: BinaryIO, at: int, holds: Callable[[bytes], bool]) -> None:
        self.at: int = at
        """The member that is being read; behind the last one if `is_read`."""
        self.is_read: bool = False
        self._pieces: Iterator[bytes] = self._inflate(file, holds)

    def __next__(self) -> bytes:
        return next(self._pieces)

    def _inflate(self, file: BinaryIO, holds: Callable[[bytes], bool]) -> Iterator[bytes]:
        while True:
            inflate, used = Zlib(31), 0
            while not inflate.eof:
                piece = b""
                if inflate.needs_input:
                    file.seek(self.at + used)
                    piece = file.read(PIECE)
                    used += len(piece)
                    if not piece:
                        raise EOFError
                yield inflate.decompress(piece, MOST)
            self.at += used - len(inflate.unused_data)
            if not is_continuation(file, self.at, holds):
                self.is_read = True
                return
