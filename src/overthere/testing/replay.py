"""Runs a dialogue over recorded octets, without a socket."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from overthere.access.errors import DOCUMENTED, AccessFailed
from overthere.access.wire import (
    Data,
    Dial,
    Dialogue,
    Entry,
    Hangup,
    Head,
    Item,
    OpenLocal,
    Read,
    Seek,
    TimeCheck,
    Write,
)

__all__ = ["DOCUMENTED", "Outcome", "Recorded", "Replay"]

Recorded = bytes | Sequence[tuple[bytes, bytes]]
"""The octets that a server sent: all of them, or pairs of a request and its answer (b"" before a greeting)."""


@dataclass
class Outcome:
    """The outcome of a dialogue."""

    head: Head | None = None
    content: bytes = b""
    entries: list[Entry] = field(default_factory=list[Entry])
    sent: bytes = b""
    """The octets sent over the first connection."""
    error: Exception | None = None
    """One of the documented errors."""


class Replay:
    """A server that answers as recorded, and then closes.

    answer: the octets of the first connection; data: those of the second, as in FTP.
    piece: how many octets arrive at once.  length, data_length: the server closes after this many octets of either.
    again: octets that are repeated forever instead of closing.  held: how many octets a dialogue may read without
    output.

    >>> from overthere.access.wire import Wire
    >>> def dialogue():
    ...     yield Dial("h", 70)
    ...     yield Write(b"about\\r\\n")
    ...     yield Head("text/plain")
    ...     yield from Wire().read_to_period("the text")
    >>> found = Replay(b"one\\r\\n.\\r\\n").run(dialogue())
    >>> found.head.media_type, found.content, found.sent, found.error
    ('text/plain', b'one\\r\\n', b'about\\r\\n', None)
    """

    def __init__(
        self,
        answer: Recorded,
        data: bytes = b"",
        *,
        piece: int = 65_536,
        length: int | None = None,
        data_length: int | None = None,
        again: bytes = b"",
        held: int = 16 << 20,
    ) -> None:
        self.exchanges: list[tuple[bytes, bytes]] = [(b"", answer)] if isinstance(answer, bytes) else list(answer)
        self.piece = piece
        self.remaining: list[int] = [sum(len(reply) for _, reply in self.exchanges) if length is None else length, 0]
        self.data: bytes = data if data_length is None else data[:data_length]
        self.again = again
        self.held = held
        self.incoming: list[bytes] = [b"", b""]
        self.expected_requests: bytes = b""
        self.open: set[int] = set()
        self.is_datagram: bool = False
        self.unreported_bytes: int = 0
        self.empty_reads: int = 0

    def run(self, dialogue: Dialogue, most: int = 1 << 30) -> Outcome:
        """Run a dialogue until it has given `most` pieces or entries.

        Raises: AssertionError for a dialogue that waits for an answer without a request, or uses unlimited memory; any
        error of the dialogue that is not documented.
        """
        outcome = Outcome()
        content, pieces = bytearray(), 0
        answer: object = None
        try:
            while True:
                match effect := dialogue.send(answer):
                    case Head():
                        assert outcome.head is None, "a second head"
                        outcome.head = effect
                    case Data(octets):
                        assert outcome.head is not None, "content before the head"
                        content += octets
                    case Item(entry):
                        assert outcome.head is not None, "an entry before the head"
                        outcome.entries.append(entry)
                if isinstance(effect, Head | Data | Item):
                    self.unreported_bytes, answer, pieces = 0, None, pieces + 1
                    if len(content) > self.held or pieces > most:
                        break
                else:
                    answer = self._answer(effect, outcome)
        except StopIteration:
            pass
        except DOCUMENTED as error:
            outcome.error = error
        dialogue.close()
        outcome.content = bytes(content)
        return outcome

    def _answer(self, effect: object, outcome: Outcome) -> object:
        match effect:
            case Dial(transport=transport, channel=channel):
                self.open.add(channel)
                self.is_datagram = transport == "udp"
                if channel:
                    self.incoming[channel], self.remaining[channel] = self.data, len(self.data)
            case TimeCheck():
                return None
            case Hangup(channel):
                self.open.discard(channel)
            case Write(data, channel):
                assert channel in self.open, "it writes to a channel that is not open"
                outcome.sent += data if not channel else b""
            case Read(size, channel, timeout):
                if channel not in self.open:
                    raise AccessFailed("the connection is closed")
                return self._read(min(size, self.piece), channel, outcome, timeout)
            case Seek(port=port):
                return [("192.0.2.1", port)]
            case OpenLocal(path):
                raise AccessFailed("no file is recorded", where=path)
            case _:
                raise AssertionError(effect)
        return None

    def _read(self, size: int, channel: int, outcome: Outcome, timeout: float | None) -> bytes | None:
        while not channel and not self.incoming[0] and self.exchanges and self.remaining[0]:
            request, reply = self.exchanges[0]
            if not outcome.sent.startswith(self.expected_requests + request):
                assert timeout is not None, f"it waits, but has not sent {request!r} after {self.expected_requests!r}"
                self._count_empty_read()
                return None
            del self.exchanges[0]
            self.expected_requests += request
            self.incoming[0] = reply
        size = self.remaining[channel] if self.is_datagram else min(size, self.remaining[channel])
        data, self.incoming[channel] = self.incoming[channel][:size], self.incoming[channel][size:]
        self.remaining[channel] -= len(data)
        if not data and timeout is not None:
            self._count_empty_read()
            return None
        if not data and self.again:
            data = self.again
        self.unreported_bytes += len(data)
        assert self.unreported_bytes <= self.held, f"it has taken {self.unreported_bytes:,} octets and given nothing"
        return data

    def _count_empty_read(self) -> None:
        self.empty_reads += 1
        assert self.empty_reads < 1000, "it waits for ever"
