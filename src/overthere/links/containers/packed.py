"""Single files that are compressed, read as streams: gzip, bzip2, xz, zstd."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

from overthere.ground.codings import CODINGS, FILE_WINDOW, SKIPPABLE, STEP, Decoder, Stream, decode

__all__ = ["MAGICS", "Chained", "Pieces", "Stream", "failing", "skipped", "unpacked"]

_MAGICS = {CODINGS[name].magics[0]: name for name in ("gzip", "bz2", "xz", "zstd")}
MAGICS = tuple(_MAGICS)
"""How they begin."""


def unpacked(file: Stream) -> Stream | None:
    """What is in it; None if it does not begin as one does.  Reading raises what `decode` does."""
    head = file.read(STEP)
    name = next((name for magic, name in _MAGICS.items() if head.startswith(magic)), None)
    return None if name is None else Pieces(decode(Chained(head, file), Decoder(name, FILE_WINDOW)))


def failing(error: Exception) -> str:
    """The note for what a library says of compressed octets; each has its own words for an end before the end, and for
    a window above its bound."""
    said = str(error).lower()
    if "memory" in said:
        return "too-large"
    return "truncated" if isinstance(error, EOFError) or _ENDED.search(said) else "corrupt"


_ENDED = re.compile("incomplete|unexpected end|end of data")


def skipped(file: BinaryIO) -> tuple[int, bytes]:
    """Where the first frame begins that is not passed over, and its first octets: before it may lie a dictionary."""
    at = file.seek(0)
    while (head := file.read(8)).startswith(SKIPPABLE) and len(head) == 8:
        at = file.seek(at + 8 + int.from_bytes(head[4:], "little"))
    return at, head


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
