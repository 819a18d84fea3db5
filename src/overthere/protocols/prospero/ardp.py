"""ARDP: reliable requests over datagrams that may be lost, duplicated or late (Prospero 5, ARDP).

What the document leaves to clients (when to ask again, what to say then) is done as the library of Prospero does it.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from secrets import randbelow
from time import monotonic
from typing import Any, NamedTuple

from overthere.access.errors import AccessFailed, AccessTimeout, LimitExceeded, ProtocolError
from overthere.access.wire import Effect, Read, Write
from overthere.protocols.prospero.message import (
    NotProspero,
    Packet,
    acknowledge_through,
    acknowledgement,
    packet,
    read_packet,
)

__all__ = ["TRIES", "Redirection", "connections", "exchange"]

TRIES = 4
"""How often a request is sent while nothing comes; each time is waited twice as long."""
_MOST = 1 << 22
"""Octets of an answer, which is held until it is whole."""
_WAITS = 100
_SOURCE = "Prospero 5, ARDP"


class Redirection(NamedTuple):
    """The server sends the client elsewhere (options 4 and 5)."""

    host: str
    port: int


def connections() -> Iterator[int]:
    """Ids for connections, none twice and none that others can guess: without sight of the request none can answer
    it.  There are 65,535, as the field has 16 bits.
    """
    used = {0}
    while len(used) < 1 << 16:
        number = randbelow(1 << 16)
        if number not in used:
            used.add(number)
            yield number


class _Answer:
    """The packets of an answer, as far as they have come."""

    def __init__(self) -> None:
        self.pieces: dict[int, bytes] = {}
        self.total = 0
        self.through = 0
        self.size = 0

    @property
    def is_complete(self) -> bool:
        return 0 < self.total == self.through

    def take(self, packet: Packet, where: str) -> bool:
        """Whether the packet is a new one.  Raises: ProtocolError, LimitExceeded."""
        total = packet.total or self.total
        highest = max(packet.number, self.through, *self.pieces) if total != self.total else packet.number
        if total and (highest > total or self.total not in (0, total)):
            raise ProtocolError(f"packet {highest:,} of {total:,}", _SOURCE, where=where)
        self.total = total
        if packet.number in self.pieces:
            return False
        # Bit 6: a sequenced control packet, which is not passed on to the application.
        self.pieces[packet.number] = b"" if packet.flags & 0x40 else packet.data
        self.size += len(self.pieces[packet.number])
        if self.size > _MOST:
            raise LimitExceeded(f"an answer of more than {_MOST:,} octets", where=where)
        while self.through + 1 in self.pieces:
            self.through += 1
        return True


def exchange(data: bytes, mine: int, patience: float, where: str) -> Generator[Effect, Any, bytes | Redirection]:
    """Send a request, in one packet, until it is answered; the answer is put together from its packets.

    mine: the id of the connection, one of `connections`.
    patience: how long the server may say nothing in all; of that a fifteenth is waited before the request is sent
    once more, then two, four and eight of them.  Packets of other requests, doubled ones and what is no packet at all
    are no answer, and gain no time.

    Raises: AccessTimeout, AccessFailed if the server refuses, ProtocolError, LimitExceeded.
    """
    request = packet(data, mine)
    answer = _Answer()
    taken = False  # whether the server has said that the request has come
    tries, waits, pause = 1, 0, patience / (2**TRIES - 1)
    first, end = pause, monotonic() + patience
    yield Write(request)
    until = monotonic() + pause
    while True:
        left = until - monotonic()
        octets = (yield Read(65_536, patience=left)) if left > 0 else None
        if octets is None:
            if tries == TRIES or monotonic() >= end:
                raise AccessTimeout(f"no answer in {patience:g} s after {tries} requests", _SOURCE, where=where)
            yield Write(
                acknowledgement(mine, answer.through) if taken else acknowledge_through(request, answer.through)
            )
            tries, pause = tries + 1, pause * 2
            until = min(monotonic() + pause, end)
            continue
        try:
            came = read_packet(octets)
        except NotProspero:
            continue
        if came.connection != mine:
            continue
        if came.option == 1:
            raise AccessFailed("the server refused the connection", _SOURCE, where=where)
        if came.option in (4, 5) and len(came.extra) >= 6:
            return Redirection(".".join(map(str, came.extra[:4])), int.from_bytes(came.extra[4:6], "big"))
        taken = taken or came.received > 0
        new = came.number > 0 and answer.take(came, where)
        if came.flags & 0x80:
            yield Write(acknowledgement(mine, answer.through))
        if answer.is_complete:
            return b"".join(answer.pieces[number] for number in range(1, answer.total + 1))
        if came.wait and waits < _WAITS:
            waits, new = waits + 1, True
        if new:
            tries, pause, end = 1, first, monotonic() + patience
            until = min(monotonic() + max(first, came.wait), end)
