"""The end of a Gopher answer, and the periods in its text (RFC 1436 Appendix; Gopher+ 2.3).

RFC 1436 ends a text with a period, and doubles periods at the start of lines.  Servers of Minnesota do only the
first, gophernicus and pygopherd neither.  A period counts as the end only if nothing follows, and as a
doubled one only if the text has no single period at the start of a line.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import Any

from overthere.access.errors import AccessFailed, LimitExceeded
from overthere.access.wire import Data, Dialogue, Effect, Read, Wire

_END_TIMEOUT = 1.0
"""Seconds to wait for the end of the connection after the answer seems to be complete."""
_MAX_UNDECIDED_BYTES = 1 << 20
"""The limit of text that is buffered until it is known whether periods are doubled."""
_MAX_FIRST_LINE = 4096
"""The maximal length of a line that is checked for an error, or for the head of a Gopher+ answer."""


class FramedAnswer:
    """Reads the bytes of an answer to its end, however the end is marked."""

    def __init__(self, wire: Wire, context: str, until: str = "", count: int = 0) -> None:
        """until: "dot" ("+-1"), "close" ("+-2") or "count" ("+5340") by Gopher+ 2.3; "" if it is not stated."""
        self.wire = wire
        self.context = context
        self.until = until
        self.remaining: int = count

    def line(self) -> Generator[Effect, Any, bytes | None]:
        """Return the next line; None at the end.  Raises: LimitExceeded, AccessFailed.

        If the end is stated in another way, a period alone is an end only if nothing follows: servers add it.
        """
        wire, searched = self.wire, 0
        while True:
            limit = self.remaining if self.until == "count" else None
            end = wire.buffer.find(b"\n", searched, limit)
            if end >= 0 or (limit is not None and len(wire.buffer) >= limit):
                break
            searched = len(wire.buffer)
            if searched > wire.max_line:
                raise LimitExceeded(f"a line of more than {wire.max_line:,} octets", where=self.context)
            if not (yield from wire.fill()):
                if limit is not None:
                    problem = f"the server closed {limit - searched:,} octets before the end"
                elif searched and wire.buffer.rstrip() != b".":
                    problem = "the server closed the connection in the middle of a line"
                elif self.until == "dot" and not searched:
                    problem = "the server closed the connection without the announced period"
                else:
                    return None
                raise AccessFailed(problem, where=self.context)
        size = end + 1 if end >= 0 else self.remaining
        if size > wire.max_line + 1:
            raise LimitExceeded(f"a line of more than {wire.max_line:,} octets", where=self.context)
        if self.until == "count":
            if not self.remaining:
                return None
            self.remaining -= size
        line = bytes(wire.buffer[:size])
        del wire.buffer[:size]
        line = line.removesuffix(b"\n").removesuffix(b"\r")
        if line == b"." and self.until == "count":
            return line if self.remaining else None
        if line == b"." and self.until == "close":
            return line if wire.buffer or (yield from _read_more(wire)) else None
        return None if line == b"." else line

    def data(self, text: bool) -> Dialogue:
        """Yield the answer as `Data`.  text: whether a line with a period alone ends it if the end is not stated."""
        if self.until == "count":
            yield from self.wire.stream(self.remaining, self.context)
        elif self.until == "dot" or (text and not self.until):
            yield from _text(self.wire, self.context, self.until == "dot")
        else:
            yield from self.wire.read_rest()

    def first_line(self) -> Generator[Effect, Any, bytes]:
        """Return the first line with its end without consuming it; b"" if it is too long."""
        buffer = self.wire.buffer
        while (end := buffer.find(b"\n", 0, _MAX_FIRST_LINE)) < 0:
            if len(buffer) >= _MAX_FIRST_LINE:
                return b""
            if not (yield from self.wire.fill()):
                return bytes(buffer)
        return bytes(buffer[: end + 1])

    def ends_after(self, size: int) -> Generator[Effect, Any, bool]:
        """Whether nothing, or only a period, follows the first `size` bytes."""
        buffer = self.wire.buffer
        while bytes(buffer[size : size + 4]).strip(b"\r\n") in (b"", b"."):
            if len(buffer) > size + 3 or (yield from _read_more(self.wire)) is not True:
                return len(buffer) <= size + 3
        return False


def _read_more(wire: Wire) -> Generator[Effect, Any, bool | None]:
    """Read more data; return False at the end, None if no data arrives for a while."""
    if wire.over:
        return False
    data: bytes | None = yield Read(65_536, wire.channel, _END_TIMEOUT)
    if data is None:
        return None
    wire.over = not data
    wire.buffer += data
    return bool(data)


def _text(wire: Wire, context: str, is_period_due: bool) -> Dialogue:
    """Yield a text up to the end of the connection, without the period at its end; its lines stay as they were sent.

    "The client should be prepared for the server closing the connection without sending the Lastline" (RFC 1436
    Appendix).  is_period_due: whether the server announced a period, so that the text cannot end within a line.
    """
    buffer = wire.buffer
    periods = _Periods()
    is_line_start = True  # whether the next byte begins a line
    while True:
        line_start = 0 if is_line_start and buffer[:1] == b"." else buffer.find(b"\n.") + 1
        if not line_start and not (is_line_start and buffer[:1] == b"."):
            if buffer:
                is_line_start = buffer.endswith(b"\n")
                yield from periods.add(bytes(buffer))
                buffer.clear()
            if (yield from wire.fill()):
                continue
            if is_period_due and not is_line_start:
                raise AccessFailed("the server closed the connection in the middle of a line", where=context)
            yield from periods.decide(False)
            return
        if line_start:
            yield from periods.add(bytes(buffer[:line_start]))
            del buffer[:line_start]
        while len(buffer) < 3 and buffer.startswith(b".") and buffer.rstrip(b"\r") == b"." and (yield from wire.fill()):
            pass
        if buffer[:2] == b"..":
            yield from periods.double()
            del buffer[:2]
            is_line_start = False
            continue
        if match := _LONE_PERIOD.match(buffer):
            alone = match.end() == len(buffer)
            if alone and (wire.over or (yield from _read_more(wire)) is not True):
                yield from periods.decide(True)
                buffer.clear()
                return
        # A single period at the beginning of a line: this text does not double periods.
        yield from periods.decide(False)
        yield from periods.add(b".")
        del buffer[:1]
        is_line_start = False


_LONE_PERIOD = re.compile(rb"\.(?:\r?\n|\r?\Z)")


class _Periods:
    """Buffers text while it is unknown whether periods at the beginning of lines are doubled."""

    def __init__(self) -> None:
        self.doubled: bool | None = None
        self.buffer = bytearray()
        self.marks: list[int] = []
        """The places in `buffer` of periods that may be doubled."""

    def add(self, octets: bytes) -> Dialogue:
        if self.doubled is None and self.marks:
            self.buffer += octets
            if len(self.buffer) > _MAX_UNDECIDED_BYTES:
                yield from self.decide(True)  # RFC 1436 Appendix
        elif octets:
            yield Data(octets)

    def double(self) -> Dialogue:
        """Add two periods at the beginning of a line."""
        if self.doubled is None:
            self.marks.append(len(self.buffer))
            yield from self.add(b"..")
        else:
            yield Data(b"." if self.doubled else b"..")

    def decide(self, doubled: bool) -> Dialogue:
        """Yield the buffered text, now that it is known whether periods are doubled."""
        if self.doubled is not None:
            return
        self.doubled = doubled
        buffer, self.buffer = bytes(self.buffer), bytearray()
        if doubled:
            starts = [0, *(mark + 1 for mark in self.marks)]
            ends = [*self.marks, len(buffer)]
            buffer = b"".join(buffer[start:end] for start, end in zip(starts, ends, strict=True))
        self.marks.clear()
        if buffer:
            yield Data(buffer)
