"""The end of a Gopher answer, and the periods of its text (RFC 1436 Appendix; Gopher+ 2.3).

Servers differ from RFC 1436 in what they do about periods: those of Minnesota end a text with one but double none,
gophernicus and pygopherd do neither, and RFC 1436 does both.  A period is taken for the end only where nothing
follows, and for a doubled one only where the text gives no sign that none are.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import Any

from overthere.access.errors import AccessFailed, LimitExceeded
from overthere.access.wire import Data, Dialogue, Effect, Read, Wire

__all__ = ["FramedAnswer"]

_PATIENCE = 1.0
"""How long the end of the connection is waited for, in seconds, once the answer seems to be over."""
_HELD = 1 << 20
"""How much text waits for a sign that periods are doubled, or are not."""
_FIRST = 4096
"""How long a line may be that is looked at as an error, or as the head of a Gopher+ answer."""


class FramedAnswer:
    """The octets of an answer: to their end, however that is told."""

    def __init__(self, wire: Wire, what: str, until: str = "", count: int = 0) -> None:
        """until: "dot" ("+-1"), "close" ("+-2") or "count" ("+5340") by Gopher+ 2.3; "" where nothing is told."""
        self.wire = wire
        self.what = what
        self.until = until
        self.left: int = count

    def line(self) -> Generator[Effect, Any, bytes | None]:
        """The next line; None at the end.  Raises: LimitExceeded, AccessFailed."""
        wire, looked = self.wire, 0
        while True:
            most = self.left if self.until == "count" else None
            end = wire.held.find(b"\n", looked, most)
            if end >= 0 or (most is not None and len(wire.held) >= most):
                break
            looked = len(wire.held)
            if looked > wire.max_line:
                raise LimitExceeded(f"a line of more than {wire.max_line:,} octets", where=self.what)
            if not (yield from wire.fill()):
                if most is not None:
                    raise AccessFailed(f"the server closed {most - looked:,} octets before the end", where=self.what)
                if looked and wire.held.rstrip() != b".":
                    raise AccessFailed("the server closed the connection in the middle of a line", where=self.what)
                if self.until == "dot" and not looked:
                    raise AccessFailed("the server closed the connection without the announced period", where=self.what)
                return None
        size = end + 1 if end >= 0 else self.left
        if size > wire.max_line + 1:
            raise LimitExceeded(f"a line of more than {wire.max_line:,} octets", where=self.what)
        if self.until == "count":
            if not self.left:
                return None
            self.left -= size
        line = bytes(wire.held[:size])
        del wire.held[:size]
        line = line.removesuffix(b"\n").removesuffix(b"\r")
        return None if line == b"." else line

    def data(self, text: bool) -> Dialogue:
        """All of it as `Data`.  text: whether a line with a period alone is its end where nothing else is told."""
        if self.until == "count":
            yield from self.wire.stream(self.left, self.what)
        elif self.until == "dot" or (text and not self.until):
            yield from _text(self.wire, self.what, self.until == "dot")
        else:
            yield from self.wire.read_rest()

    def first_line(self) -> Generator[Effect, Any, bytes]:
        """The first line with its end, which stays to be read; b"" if it is too long to be looked at."""
        held = self.wire.held
        while (end := held.find(b"\n", 0, _FIRST)) < 0:
            if len(held) >= _FIRST:
                return b""
            if not (yield from self.wire.fill()):
                return bytes(held)
        return bytes(held[: end + 1])

    def ends_after(self, size: int) -> Generator[Effect, Any, bool]:
        """Whether nothing comes after so many octets, or a period alone."""
        held = self.wire.held
        while bytes(held[size : size + 4]).strip(b"\r\n") in (b"", b"."):
            if len(held) > size + 3 or (yield from _read_more(self.wire)) is not True:
                return len(held) <= size + 3
        return False


def _read_more(wire: Wire) -> Generator[Effect, Any, bool | None]:
    """Read more; False at the end, None if nothing comes for a while."""
    if wire.over:
        return False
    data: bytes | None = yield Read(65_536, wire.channel, _PATIENCE)
    if data is None:
        return None
    wire.over = not data
    wire.held += data
    return bool(data)


def _text(wire: Wire, what: str, told: bool) -> Dialogue:
    """A text: octets to the end of the connection, without the period that ends it, and the lines as they are sent.

    "The client should be prepared for the server closing the connection without sending the Lastline" (RFC 1436
    Appendix).  told: whether the server says that a period will come, so that the text cannot end within a line.
    """
    held = wire.held
    periods = _Periods()
    begins = True  # whether a line begins at what comes next
    while True:
        at = 0 if begins and held[:1] == b"." else held.find(b"\n.") + 1
        if not at and not (begins and held[:1] == b"."):
            if held:
                begins = held.endswith(b"\n")
                yield from periods.give(bytes(held))
                held.clear()
            if (yield from wire.fill()):
                continue
            if told and not begins:
                raise AccessFailed("the server closed the connection in the middle of a line", where=what)
            yield from periods.decide(False)
            return
        if at:
            yield from periods.give(bytes(held[:at]))
            del held[:at]
        while len(held) < 3 and held.startswith(b".") and held.rstrip(b"\r") == b"." and (yield from wire.fill()):
            pass
        if held[:2] == b"..":
            yield from periods.double()
            del held[:2]
            begins = False
            continue
        if match := _ALONE.match(held):
            alone = match.end() == len(held)
            if alone and (wire.over or (yield from _read_more(wire)) is not True):
                yield from periods.decide(True)
                held.clear()
                return
        # In this text no period at the beginning of a line is doubled.
        yield from periods.decide(False)
        yield from periods.give(b".")
        del held[:1]
        begins = False


_ALONE = re.compile(rb"\.(?:\r?\n|\r?\Z)")


class _Periods:
    """Text on its way, while it is not known whether a period at the beginning of a line was doubled."""

    def __init__(self) -> None:
        self.doubled: bool | None = None
        self.held = bytearray()
        self.marks: list[int] = []
        """Where in `held` a period stands that may be one too many."""

    def give(self, octets: bytes) -> Dialogue:
        if self.doubled is None and self.marks:
            self.held += octets
            if len(self.held) > _HELD:
                yield from self.decide(True)  # RFC 1436 Appendix
        elif octets:
            yield Data(octets)

    def double(self) -> Dialogue:
        """Two periods that begin a line."""
        if self.doubled is None:
            self.marks.append(len(self.held))
            yield from self.give(b"..")
        else:
            yield Data(b"." if self.doubled else b"..")

    def decide(self, doubled: bool) -> Dialogue:
        """It is known now."""
        if self.doubled is not None:
            return
        self.doubled = doubled
        held, self.held = bytes(self.held), bytearray()
        if doubled:
            starts = [0, *(mark + 1 for mark in self.marks)]
            ends = [*self.marks, len(held)]
            held = b"".join(held[start:end] for start, end in zip(starts, ends, strict=True))
        self.marks.clear()
        if held:
            yield Data(held)
