"""Octets of a member, up to a limit, and the notes for what ends them early."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator

from overthere.ground.codings import Stream
from overthere.links.faults import is_own_error, note_kind
from overthere.stores.model import StoreError

__all__ = [
    "ChainedStream", "PieceStream", "TooLarge", "coding_fault", "fault_note", "read_content", "take_octets",
    "truncate",
]  # fmt: skip

PIECE = 1 << 16


class TooLarge(Exception):
    """Something within an archive does not fit in memory."""


def read_content(stream: Stream, limit: int, crc: int | None = None) -> tuple[bytes, tuple[str, ...]]:
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
        while most > 0 and (part := stream.read(min(PIECE, most))):
            parts.append(part)
            most -= len(part)
    except Exception as error:  # whatever a library makes of hostile octets
        return b"".join(parts), fault_note(error)
    return b"".join(parts), ""


def fault_note(error: Exception) -> str:
    """The note for an error in reading an archive or a member of one."""
    if is_own_error(error) or isinstance(error, StoreError):
        return note_kind(error)
    if isinstance(error, MemoryError | TooLarge):
        return "too-large"
    if isinstance(error, NotImplementedError):
        return "unsupported"  # a method of compression
    return coding_fault(error)


def coding_fault(error: Exception) -> str:
    """The note for what a library says of compressed octets; each has its own words for an end before the end, and for
    a window above its bound."""
    if isinstance(error, StoreError):
        return error.note
    message = str(error).lower()
    if "memory" in message:
        return "too-large"
    return "truncated" if isinstance(error, EOFError) or _ENDED.search(message) else "corrupt"


_ENDED = re.compile("incomplete|unexpected end|end of data")


class PieceStream:
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


class ChainedStream:
    """A stream of which the beginning was read."""

    def __init__(self, head: bytes, rest: Stream) -> None:
        self.head: bytes = head
        self.rest: Stream = rest

    def read(self, size: int, /) -> bytes:
        if not self.head:
            return self.rest.read(size)
        part, self.head = self.head[:size], self.head[size:]
        return part
