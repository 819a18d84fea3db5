"""Runs the message reader over a file: supplies the octets it requests, passes on what it yields."""

from __future__ import annotations

import io
from collections.abc import Callable, Generator, Iterator
from typing import Any, BinaryIO, TypeVar, cast

from overthere.access.wire import Effect, Read
from overthere.links.containers.model import Stream
from overthere.links.model import Document, Note
from overthere.mail.reader import Decoder

__all__ = ["Steps", "run_steps", "rewindable", "take_body"]

_End = TypeVar("_End")
Steps = Generator[Effect | Document | Note, Any, None]
"""Yields `Read`s, which are answered with octets, and what is found."""


def run_steps(steps: Steps, file: Stream) -> Iterator[Document | Note]:
    """What the steps find; a file that cannot be read on ends there, with a note."""
    answer: bytes | None = None
    while True:
        try:
            asked = steps.send(answer)
        except StopIteration:
            return
        answer = None
        if isinstance(asked, Document | Note):
            yield asked
        elif isinstance(asked, Read):
            answer, note = _read(file, asked.size)
            if note is not None:
                yield note


def take_body(
    piece: Callable[[], Generator[Effect, Any, tuple[bytes, _End | None]]], through: Decoder, limit: int
) -> Generator[Effect, Any, tuple[bytes, list[str], _End]]:
    """What stands up to an end, decoded, so much of it as is read; what is the matter with it; and the end."""
    pieces: list[bytes] = []
    left, end = limit, None
    while end is None:
        octets, end = yield from piece()
        if left >= 0:
            decoded = through.feed(octets) + (b"" if end is None else through.end())
            left -= len(decoded)
            pieces.append(decoded if left >= 0 else decoded[:left])
    corrupt = bool(through.wrong or through.strange)
    return b"".join(pieces), ["corrupt"] * corrupt + ["too-large"] * (left < 0), end


def rewindable(file: Stream, limit: int) -> tuple[BinaryIO | None, Note | None]:
    """The file, or so much of it as is read if it cannot be read twice; None if it cannot be read."""
    try:
        seen = cast("BinaryIO", file)
        if seen.seekable():
            seen.seek(seen.tell())
            return seen, None
    except Exception:  # some streams say that they can, and cannot
        pass
    held = bytearray()
    while len(held) <= limit:
        data, note = _read(file, min(1 << 18, limit + 1 - len(held)))
        held += data
        if note is not None:
            return (io.BytesIO(held) if held else None), note
        if not data:
            return io.BytesIO(held), None
    del held[limit:]
    return io.BytesIO(held), Note("too-large")


def _read(file: Stream, size: int) -> tuple[bytes, Note | None]:
    """What comes next; b"" at the end, and where nothing can be read any more, with a note."""
    try:
        return file.read(size), None
    except EOFError:
        return b"", Note("truncated")
    except OSError:
        return b"", Note("unreadable")
    except Exception:  # zlib.error, lzma.LZMAError, zipfile.BadZipFile, ...: each decompressor has its own
        return b"", Note("corrupt")
