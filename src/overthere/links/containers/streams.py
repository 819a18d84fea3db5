"""Reads bytes of a member up to a limit, with notes for errors that end them early."""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Iterator

from overthere.files.stores.model import StoreError
from overthere.ground.codings import Stream
from overthere.links.faults import is_own_error, note_kind

PIECE = 1 << 16


class TooLarge(Exception):
    """Something within an archive does not fit in memory."""


def read_content(stream: Stream, limit: int, crc: int | None = None) -> tuple[bytes, tuple[str, ...]]:
    """Return the first `limit` bytes and the notes on them; bytes before an error are kept."""
    return truncate(*read_bytes(stream, limit + 1), limit, crc)


def truncate(content: bytes, note: str, limit: int, crc: int | None) -> tuple[bytes, tuple[str, ...]]:
    """Return content of up to `limit` bytes, and notes.  content: one byte more than `limit` if there are more."""
    if len(content) > limit:
        return content[:limit], ("too-large",)
    if not note and crc is not None and zlib.crc32(content) != crc:
        note = "corrupt"
    return content, (note,) if note else ()


def read_bytes(stream: Stream, max_bytes: int) -> tuple[bytes, str]:
    """Return the next `max_bytes` bytes, or all that exist, and the note for an error that ends them, or ""."""
    pieces: list[bytes] = []
    try:
        while max_bytes > 0 and (piece := stream.read(min(PIECE, max_bytes))):
            pieces.append(piece)
            max_bytes -= len(piece)
    except Exception as error:  # whatever a library makes of hostile octets
        return b"".join(pieces), fault_note(error)
    return b"".join(pieces), ""


def fault_note(error: Exception) -> str:
    """Return the note for an error in reading an archive or a member of one."""
    if is_own_error(error) or isinstance(error, StoreError):
        return note_kind(error)
    if isinstance(error, MemoryError | TooLarge):
        return "too-large"
    if isinstance(error, NotImplementedError):
        return "unsupported"  # a method of compression
    return decoding_note(error)


def decoding_note(error: Exception) -> str:
    """Return the note for an error of a decompressor; each library has its own message for data that ends early, and
    for a window above its limit."""
    if isinstance(error, StoreError):
        return error.note
    message = str(error).lower()
    if "memory" in message:
        return "too-large"
    return "truncated" if isinstance(error, EOFError) or _EARLY_END.search(message) else "corrupt"


_EARLY_END = re.compile("incomplete|unexpected end|end of data")


class PieceStream:
    """A stream over pieces of bytes."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self.pieces = pieces
        self.piece: io.BytesIO = io.BytesIO()

    def read(self, size: int, /) -> bytes:
        while not (data := self.piece.read(size)) and (piece := next(self.pieces, None)) is not None:
            self.piece = io.BytesIO(piece)
        return data


class ChainedStream:
    """A stream that first returns bytes already read from it."""

    def __init__(self, head: bytes, tail: Stream) -> None:
        self.head: io.BytesIO = io.BytesIO(head)
        self.tail: Stream = tail

    def read(self, size: int, /) -> bytes:
        return self.head.read(size) or self.tail.read(size)
