"""ARDP: reliable requests over datagrams that may be lost, duplicated or late (Prospero 5, ARDP).

The document leaves some decisions to clients (when to resend, and what); these follow the library of Prospero.
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

TRIES = 4
"""The number of times that a request is sent without an answer; each wait is twice as long as the last."""
_MAX_ANSWER_BYTES = 1 << 22
"""The limit of an answer, which is buffered until it is complete."""
_MAX_WAITS = 100
_SOURCE = "Prospero 5, ARDP"


class Redirection(NamedTuple):
    """The server redirects the client to another server (options 4 and 5)."""

    host: str
    port: int


def connections() -> Iterator[int]:
    """Yield ids for connections, each once, and not guessable: only someone who sees the request can answer
    it.  There are 65,535, because the field has 16 bits.
    """
    used = {0}
    while len(used) < 1 << 16:
        number = randbelow(1 << 16)
        if number not in used:
            used.add(number)
            yield number


class _Answer:
    """The packets of an answer that have arrived."""

    def __init__(self) -> None:
        self.pieces: dict[int, bytes] = {}
        self.total = 0
        self.through = 0
        self.size = 0

    @property
    def is_complete(self) -> bool:
        return 0 < self.total == self.through

    def take(self, packet: Packet, where: str) -> bool:
        """Store a packet; return whether it is new.  Raises: ProtocolError, LimitExceeded."""
        total = packet.total or self.total
        highest = max(packet.number, self.through, *self.pieces) if total != self.total else packet.number
        if total and (highest > total or self.total not in (0, total)):
            raise ProtocolError(f"packet {highest:,} of {total:,}", _SOURCE, where=where)
        self.total = total
        if packet.number in self.pieces:
            return False
        # Bit 6: a sequenced control packet, which is not for the application.
        self.pieces[packet.number] = b"" if packet.flags & 0x40 else packet.data
        self.size += len(self.pieces[packet.number])
        if self.size > _MAX_ANSWER_BYTES:
            raise LimitExceeded(f"an answer of more than {_MAX_ANSWER_BYTES:,} octets", where=where)
        while self.through + 1 in self.pieces:
            self.through += 1
        return True


def exchange(
    data: bytes, connection_id: int, timeout: float, where: str
) -> Generator[Effect, Any, bytes | Redirection]:
    """Send a request, in one packet, until it is answered; join the answer from its packets.

    connection_id: one of `connections`.
    timeout: the total time without a new packet; the request is sent again after a fifteenth of that,
    then after two, four and eight fifteenths.  Packets of other requests, duplicates and invalid packets
    do not count, and do not extend the time.

    Raises: AccessTimeout, AccessFailed if the server refuses, ProtocolError, LimitExceeded.
    """
    request = packet(data, connection_id)
    answer = _Answer()
    is_confirmed = False  # whether the server has confirmed the request
    tries, waits, pause = 1, 0, timeout / (2**TRIES - 1)
    first_pause, deadline = pause, monotonic() + timeout
    yield Write(request)
    resend_time = monotonic() + pause
    while True:
        remaining = resend_time - monotonic()
        datagram = (yield Read(65_536, patience=remaining)) if remaining > 0 else None
        if datagram is None:
            if tries == TRIES or monotonic() >= deadline:
                raise AccessTimeout(f"no answer in {timeout:g} s after {tries} requests", _SOURCE, where=where)
            yield Write(
                acknowledgement(connection_id, answer.through)
                if is_confirmed
                else acknowledge_through(request, answer.through)
            )
            tries, pause = tries + 1, pause * 2
            resend_time = min(monotonic() + pause, deadline)
            continue
        try:
            reply = read_packet(datagram)
        except NotProspero:
            continue
        if reply.connection != connection_id:
            continue
        if reply.option == 1:
            raise AccessFailed("the server refused the connection", _SOURCE, where=where)
        if reply.option in (4, 5) and len(reply.extra) >= 6:
            return Redirection(".".join(map(str, reply.extra[:4])), int.from_bytes(reply.extra[4:6], "big"))
        is_confirmed = is_confirmed or reply.received > 0
        is_new = reply.number > 0 and answer.take(reply, where)
        if reply.flags & 0x80:
            yield Write(acknowledgement(connection_id, answer.through))
        if answer.is_complete:
            return b"".join(answer.pieces[number] for number in range(1, answer.total + 1))
        if reply.wait and waits < _MAX_WAITS:
            waits, is_new = waits + 1, True
        if is_new:
            tries, pause, deadline = 1, first_pause, monotonic() + timeout
            resend_time = min(monotonic() + max(first_pause, reply.wait), deadline)
