"""Runs the message reader over a file: supplies the bytes that it requests, and yields its results."""

from __future__ import annotations

import io
from collections.abc import Callable, Generator, Iterator
from typing import Any, BinaryIO, TypeVar, cast

from overthere.access.wire import Effect, Read
from overthere.links.containers.model import Stream
from overthere.links.model import Document, Note
from overthere.mail.reader import Decoder

_End = TypeVar("_End")
Steps = Generator[Effect | Document | Note, Any, None]
"""Yields documents, notes and `Read`s; the latter are answered with bytes."""


def run_steps(steps: Steps, file: Stream) -> Iterator[Document | Note]:
    """Yield the documents and notes of the steps; where the file cannot be read further, they get an end and a note."""
    answer: bytes | None = None
    while True:
        try:
            result = steps.send(answer)
        except StopIteration:
            return
        answer = None
        if isinstance(result, Document | Note):
            yield result
        elif isinstance(result, Read):
            answer, note = _read(file, result.size)
            if note is not None:
                yield note


def read_body(
    read_piece: Callable[[], Generator[Effect, Any, tuple[bytes, _End | None]]], decoder: Decoder, limit: int
) -> Generator[Effect, Any, tuple[bytes, list[str], _End]]:
    """Read and decode a body up to its end; return at most `limit` bytes, the notes on them, and the end."""
    pieces: list[bytes] = []
    remaining, end = limit, None
    while end is None:
        data, end = yield from read_piece()
        if remaining >= 0:
            decoded = decoder.feed(data) + (b"" if end is None else decoder.end())
            remaining -= len(decoded)
            pieces.append(decoded if remaining >= 0 else decoded[:remaining])
    corrupt = bool(decoder.fault or decoder.had_ignored_bytes)
    return b"".join(pieces), ["corrupt"] * corrupt + ["too-large"] * (remaining < 0), end


def make_rewindable(file: Stream, limit: int) -> tuple[BinaryIO | None, Note | None]:
    """Return the file, or its first `limit` bytes if it cannot be read twice; None if it cannot be read."""
    try:
        seekable = cast("BinaryIO", file)
        if seekable.seekable():
            seekable.seek(seekable.tell())
            return seekable, None
    except Exception:  # some streams claim to be seekable, and are not
        pass
    buffer = bytearray()
    while len(buffer) <= limit:
        data, note = _read(file, min(1 << 18, limit + 1 - len(buffer)))
        buffer += data
        if note is not None:
            return (io.BytesIO(buffer) if buffer else None), note
        if not data:
            return io.BytesIO(buffer), None
    del buffer[limit:]
    return io.BytesIO(buffer), Note("too-large")


def _read(file: Stream, size: int) -> tuple[bytes, Note | None]:
    """Return the next bytes; at the end b"", and after an error b"" and a note."""
    try:
        return file.read(size), None
    except EOFError:
        return b"", Note("truncated")
    except OSError:
        return b"", Note("unreadable")
    except Exception:  # zlib.error, lzma.LZMAError, zipfile.BadZipFile, ...: each decompressor raises its own
        return b"", Note("corrupt")
