"""Visits the parts of a message in order, including nested messages (RFC 2046 5.1 and 5.2.1)."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, NamedTuple

from overthere.access.wire import Effect
from overthere.mail.fields import Header
from overthere.mail.reader import ENCODED, END, Boundary, MessageReader

_MAX_DEPTH = 100
"""The limit of messages and multiparts nested in each other."""


class Part(NamedTuple):
    """The header of a message or a part; its body comes next."""

    number: str
    """The IMAP section (RFC 9051 6.4.5): the body of a message that is not a multipart is 1; "" for the outermost."""
    header: Header
    message: str | None
    """The number of the message that begins here, "" for the outermost; None if the header is only of a part."""
    holds: str
    """The body's content: "message", "parts", or "" for neither; "deep" if it is nested too deeply."""


class PartEnd(NamedTuple):
    """The end of a part at a delimiter, or the end of the message."""

    open: int
    """The number of messages and multiparts that are still open: 0 at the end of the message."""
    is_cut: bool
    """Whether a multipart ended without its closing delimiter."""
    empty: bool
    """Whether a multipart without parts was closed."""


@dataclass(slots=True)
class _Level:
    """A multipart or a message that has not ended yet."""

    number: str
    multipart: str = ""
    count: int = 1
    """The number of its parts so far; a message has one."""


class Traversal:
    """Walks through the reader's next message: `next_part` goes on; `piece` and `skip` consume a body instead.

    The time is linear in the message; the memory does not grow with it.
    """

    def __init__(self, reader: MessageReader) -> None:
        self.reader = reader
        self.marks: dict[bytes, int] = {}
        """The boundaries of the open multiparts, and the depth of each."""
        self._levels: list[_Level] = []
        self._part: Part | None = None
        self._is_part_next = False

    def next_part(self) -> Generator[Effect, Any, Part | PartEnd]:
        """Return the next header of a message or part, or the next end.  Not to be called after the last end.

        A body that was not consumed is entered if it holds parts or a message, and skipped otherwise.
        """
        part, self._part = self._part, None
        if not self._levels or (part is not None and part.holds == "message"):
            self._levels.append(_Level(part.number if part else ""))
            return (yield from self._header(message=True))
        if part is not None and part.holds == "parts":
            self.marks.setdefault(part.header.boundary, len(self._levels))
            self._levels.append(_Level(part.number, part.header.media_type, 0))
        elif part is None and self._is_part_next:
            self._levels[-1].count += 1
            return (yield from self._header(message=False))
        return (yield from self.skip())

    def skip(self) -> Generator[Effect, Any, PartEnd]:
        """Skip a body, preamble or epilogue, up to its end."""
        end = None
        while end is None:
            _, end = yield from self.piece()
        return end

    def piece(self) -> Generator[Effect, Any, tuple[bytes, PartEnd | None]]:
        """Return the next piece of a body, still encoded, and the end of the body if this is its last piece."""
        self._part = None
        octets, mark = yield from self.reader.read_piece(self.marks)
        return octets, None if mark is None else self._end_part(mark)

    def _header(self, *, message: bool) -> Generator[Effect, Any, Part]:
        level = self._levels[-1]
        # RFC 2046 5.1.5
        default = "message/rfc822" if level.multipart == "multipart/digest" else "text/plain"
        header = yield from self.reader.read_header(default, self.marks)
        holds = ""
        if header.media_type in ("message/rfc822", "message/global") and header.encoding not in ENCODED:
            holds = "message"
        elif header.boundary:
            holds = "parts"
        if holds and len(self._levels) > _MAX_DEPTH:
            holds = "deep"
        is_multipart_message = message and header.media_type.startswith("multipart/")
        number = level.number if is_multipart_message else f"{level.number}.{level.count}".removeprefix(".")
        self._part = Part(number, header, level.number if message else None, holds)
        return self._part

    def _end_part(self, mark: Boundary) -> PartEnd:
        open_levels = 0 if mark is END else mark.depth + (not mark.is_closing)
        is_unclosed = any(level.multipart for level in self._levels[mark.depth + 1 :])
        is_empty = mark.is_closing and not self._levels[mark.depth].count
        del self._levels[open_levels:]
        self.marks = {text: depth for text, depth in self.marks.items() if depth < open_levels}
        self._is_part_next = not mark.is_closing
        return PartEnd(open_levels, is_unclosed, is_empty)
