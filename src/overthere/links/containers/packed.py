"""Single files that are compressed, read as streams: gzip, bzip2, xz, zstd."""

from __future__ import annotations

import bz2
import io
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Protocol

__all__ = ["MAGICS", "Chained", "Pieces", "Stream", "failing", "pieces", "skipped", "unpacked"]


class Stream(Protocol):
    """What can be read."""

    def read(self, size: int, /) -> bytes: ...


_PACKINGS: dict[bytes, Callable[[], Any]] = {
    b"\x1f\x8b": lambda: zlib.decompressobj(31),
    b"BZh": bz2.BZ2Decompressor,
    b"\xfd7zXZ\x00": lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=1 << 28),
}
_ZSTD = b"\x28\xb5\x2f\xfd"
MAGICS = (_ZSTD, *_PACKINGS)
"""How they begin."""


def unpacked(file: Stream) -> Stream | None:
    """What is in it; None if it does not begin as one does.  Reading raises what a library makes of hostile octets."""
    head = file.read(_STEP)
    whole = Chained(head, file)
    if head.startswith(_ZSTD):
        from fastwarc.stream_io import ZstdReader

        made: Stream = ZstdReader(_Forward(whole))
        return made
    make = next((make for magic, make in _PACKINGS.items() if head.startswith(magic)), None)
    return None if make is None else Pieces(pieces(whole, make))


# Octets fed at once: on an error the library drops all that it had made of them.
_STEP = 1 << 10
_PIECE = 1 << 16


def pieces(file: Stream, make: Callable[[], Any], most: int = _PIECE) -> Iterator[bytes]:
    """What is in it, one stream behind the other.

    make: a decompressor as the standard library has them.
    most: octets of a piece; on an error the library drops all that it had made of one.

    Raises: EOFError at an end before the end, or an error of the library.
    """
    piece = file.read(_STEP)
    while piece:
        unpacker = make()
        while True:
            yield unpacker.decompress(piece, most)
            if unpacker.eof:
                break
            piece = getattr(unpacker, "unconsumed_tail", b"")
            if not piece and getattr(unpacker, "needs_input", True):
                piece = file.read(_STEP)
                if not piece:
                    raise EOFError
        # Behind the end: another stream, or zeros that fill a block.
        piece = (unpacker.unused_data or b"").lstrip(b"\0")
        while not piece and (more := file.read(_STEP)):
            piece = more.lstrip(b"\0")


def failing(error: Exception) -> str:
    """The note for what a library says of compressed octets; each has its own words for an end before the end, and for
    a window above its bound."""
    said = str(error).lower()
    if "too much memory" in said:
        return "too-large"
    return "truncated" if isinstance(error, EOFError) or _ENDED.search(said) else "corrupt"


_ENDED = re.compile("incomplete|fill whole|unexpected end|end of data")


# The size of what follows stands behind the mark (RFC 8878 3.1.2; LZ4 Frame Format, "Skippable Frames").
_SKIPPABLE = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18.{4}", re.DOTALL)


def skipped(file: BinaryIO) -> tuple[int, bytes]:
    """Where the first frame begins that is not passed over, and its first octets: before it may lie a dictionary."""
    at = file.seek(0)
    while _SKIPPABLE.match(head := file.read(8)):
        at = file.seek(at + 8 + int.from_bytes(head[4:], "little"))
    return at, head


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


class Pieces:
    """A stream of pieces."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self.pieces = pieces
        self.held: bytes = b""

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
        self.head: bytes = head
        self.rest: Stream = rest

    def read(self, size: int, /) -> bytes:
        if not self.head:
            return self.rest.read(size)
        part, self.head = self.head[:size], self.head[size:]
        return part
