"""An mbox as a container: each message follows a line that begins with "From " (RFC 4155)."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import count
from typing import BinaryIO, cast

from overthere.base import enclosed
from overthere.links.containers.message.steps import Steps, read_body, run_steps
from overthere.links.containers.model import Part, Place, Stream
from overthere.links.model import Document, Note, Options
from overthere.mail.reader import FROM_LINE, Decoder, MessageReader


def members(
    stream: Stream,
    document: Document,
    place: Place = Place(),  # noqa: B008 - a value
) -> Iterator[Document | Note]:
    """Yield the messages, as `Container.members`, numbered from 1: `inbox.mbox!1`.

    The file is read once, one message at a time.

    A line "From " begins a message only after an empty line.  Lines quoted for that reason (">From ") stay quoted,
    because the program that wrote them is unknown (RFC 4155 Appendix A).  Never raises.
    """
    if place.part is not None:
        cast("BinaryIO", stream).seek(place.part.start)
    yield from run_steps(_read_messages(document, place.options, place.part), stream)


def find_parts(file: BinaryIO, size: int) -> Iterator[Part]:
    """Yield parts of about `size` bytes; none if lines do not end in LF."""
    start = at = file.seek(0)
    first = number = 1
    window = b""
    with suppress(OSError):  # the reader of the last part reports it
        while data := file.read(_WINDOW_BYTES):
            if not at and b"\n" not in data:
                return
            at += len(data)
            window = window[-_MARK_BYTES - 2 :] + data
            for mark in FROM_LINE.finditer(window, max(len(window) - len(data) - _MARK_BYTES + 1, 0)):
                number += 1
                place = at - len(window) + mark.start() + 1
                if place - start >= size:
                    yield Part(place - start, start, members=range(first, number))
                    start, first = place, number
    yield Part(at - start, start, members=range(first, sys.maxsize))


_WINDOW_BYTES, _MARK_BYTES = 1 << 18, len(b"\nFrom ")
"""Bytes that are searched at once, as many as `MessageReader` reads; bytes of a mark, before which are two others."""


def _read_messages(document: Document, options: Options, part: Part | None) -> Steps:
    reader = MessageReader()
    reader.is_mbox = True
    base = enclosed(document.base)
    numbers: Iterable[int] = count(1)
    if part is not None:
        numbers, reader.has_lone_returns = part.members, False
    if not (yield from reader.starts_with(b"From ")):
        yield Note("corrupt" if reader.buffer else "empty")
    for number in numbers:
        if not (yield from reader.next_message()):
            return
        content, flaws, _ = yield from read_body(lambda: reader.read_piece({}), Decoder(), options.limit)
        notes = (*flaws,) if content.strip() or flaws else ("empty",)
        if (yield from reader.at_end()) and not reader.buffer.endswith((b"\n\n", b"\n\r\n")):
            notes = (*notes, "truncated")  # an empty line ends each message, the last one too (RFC 4155 Appendix A)
        source = f"{document.source}!{number}"
        yield Document(source, content, base, "message/rfc822", None, notes, document.depth + 1)
