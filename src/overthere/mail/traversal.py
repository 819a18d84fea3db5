"""Visits the parts of a message in order, including nested messages (RFC 2046 5.1 and 5.2.1)."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, NamedTuple

from overthere.access.wire import Effect
from overthere.mail.fields import Header
from overthere.mail.reader import ENCODED, END, Boundary, MessageReader

__all__ = ["PartEnd", "Part", "Traversal"]

_DEEPEST = 100
"""So many messages and multiparts may stand in one another."""


class Part(NamedTuple):
    """A header, whose body comes next."""

    number: str
    """As IMAP counts (RFC 9051 6.4.5): of a message that is no multipart the body is 1; "" for the outermost one."""
    header: Header
    message: str | None
    """The number of the message that begins here, "" for the outermost; None for a header that is only of a part."""
    holds: str
    """What there is in it: "message", "parts", or "" for none; "deep" is too many of these in one another."""


class PartEnd(NamedTuple):
    """A delimiter, or the end of the message."""

    open: int
    """How many messages and multiparts are open behind it: 0 at the end of the message."""
    cut: bool
    """Whether a multipart has ended that was not closed."""
    empty: bool
    """Whether a multipart was closed that has no part."""


@dataclass(slots=True)
class _Level:
    """A multipart or a message whose end is not there yet."""

    number: str
    multipart: str = ""
    count: int = 1
    """Of its parts; a message has one."""


class Traversal:
    """Through the message that a reader stands before; `next_part` goes on, `piece` and `skip` take a body instead.

    Linear in the message; what is held does not grow with it.
    """

    def __init__(self, reader: MessageReader) -> None:
        self.reader = reader
        self.marks: dict[bytes, int] = {}
        """The boundaries of the multiparts that are open, and how deep they are."""
        self._levels: list[_Level] = []
        self._part: Part | None = None
        self._begins = False

    def next_part(self) -> Generator[Effect, Any, Part | PartEnd]:
        """What comes: the header of a message or of a part, or an end.  Not to be asked for more at the last one.

        A body that was not taken is gone into where it holds parts or a message, and else left out.
        """
        part, self._part = self._part, None
        if not self._levels or (part is not None and part.holds == "message"):
            self._levels.append(_Level(part.number if part else ""))
            return (yield from self._header(message=True))
        if part is not None and part.holds == "parts":
            self.marks.setdefault(part.header.boundary, len(self._levels))
            self._levels.append(_Level(part.number, part.header.media_type, 0))
        elif part is None and self._begins:
            self._levels[-1].count += 1
            return (yield from self._header(message=False))
        return (yield from self.skip())

    def skip(self) -> Generator[Effect, Any, PartEnd]:
        """Leave out a body, preamble or epilogue, up to its end."""
        end = None
        while end is None:
            _, end = yield from self.piece()
        return end

    def piece(self) -> Generator[Effect, Any, tuple[bytes, PartEnd | None]]:
        """What comes next of a body, as it is encoded, and its end if it is the last before that."""
        self._part = None
        octets, mark = yield from self.reader.piece(self.marks)
        return octets, None if mark is None else self._end_part(mark)

    def _header(self, *, message: bool) -> Generator[Effect, Any, Part]:
        around = self._levels[-1]
        # RFC 2046 5.1.5
        default = "message/rfc822" if around.multipart == "multipart/digest" else "text/plain"
        header = yield from self.reader.header(default)
        holds = ""
        if header.media_type in ("message/rfc822", "message/global") and header.encoding not in ENCODED:
            holds = "message"
        elif header.boundary:
            holds = "parts"
        if holds and len(self._levels) > _DEEPEST:
            holds = "deep"
        whole = message and header.media_type.startswith("multipart/")
        number = around.number if whole else f"{around.number}.{around.count}".removeprefix(".")
        self._part = Part(number, header, around.number if message else None, holds)
        return self._part

    def _end_part(self, mark: Boundary) -> PartEnd:
        keep = 0 if mark is END else mark.depth + (not mark.closes)
        cut = any(level.multipart for level in self._levels[mark.depth + 1 :])
        empty = mark.closes and not self._levels[mark.depth].count
        del self._levels[keep:]
        self.marks = {text: depth for text, depth in self.marks.items() if depth < keep}
        self._begins = not mark.closes
        return PartEnd(keep, cut, empty)
