"""Connections to nobody: the real transports over pairs of sockets, whose other side says what an input has.

What is waited for is there at once or never comes: no time passes.
"""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

from conversations import ACCEPT, ID
from overthere.access import aio, opening, transport
from overthere.access.transport import Carrier, Ready, Waiting
from overthere.access.websocket import accept
from overthere.access.wire import Dial, Effect, Look

__all__ = ["Script", "put_in"]

_PEER = "9.9.9.9"
"""The address of every host; nothing is ever sent to it."""
_KEPT = 1 << 16


@dataclass
class Script:
    """What the other side says: a piece each time that something is waited for, then an end."""

    pieces: dict[int, deque[bytes]]
    """By channel."""
    steps: int = 0
    most: int = 1 << 20
    sent: dict[int, bytes] = field(default_factory=dict[int, bytes])
    accepted: str = ""
    """The answer to a key of WebSocket."""

    def next(self, channel: int) -> bytes | None:
        """What is said now; None for the end."""
        held = self.pieces.get(channel)
        if not held:
            return None
        piece, sent = held.popleft(), self.sent.get(channel, b"")
        if ID in piece:
            piece = piece.replace(ID, sent[1:3].ljust(2, b"\0"), 1)
        if ACCEPT in piece:
            key = sent.partition(b"Sec-WebSocket-Key: ")[2].partition(b"\r\n")[0]
            piece = piece.replace(ACCEPT, accept(key), 1)
            self.accepted = accept(key).decode()
        return piece


class _Paired(Carrier):
    """A carrier whose connections are pairs of sockets; all else is the carrier's own."""

    script: Script

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.far: dict[int, socket.socket] = {}

    def _do(self, effect: Effect) -> Generator[Waiting, Any, Any]:
        self.script.steps += 1
        assert self.script.steps <= self.script.most, f"more than {self.script.most} steps"
        assert not isinstance(effect, Look), "what a server says leads to a file of this machine"
        return (yield from super()._do(effect))

    def _resolve(self, dial: Dial, until: float) -> Generator[Waiting, Any, list[Any]]:
        yield from ()
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (_PEER, dial.port))]

    def _connect(self, dial: Dial, family: int, address: Any, until: float) -> Generator[Waiting, Any, None]:
        self._hang_up(dial.channel)
        kind = socket.SOCK_DGRAM if dial.transport == "udp" else socket.SOCK_STREAM
        near, far = socket.socketpair(socket.AF_UNIX, kind)
        near.setblocking(False)
        far.setblocking(False)
        self.channels[dial.channel], self.far[dial.channel] = near, far
        yield from ()

    def _secure(self, dial: Dial, until: float) -> Generator[Waiting, Any, None]:
        """TLS is not ours: the octets are given as they are."""
        yield from ()

    def _hang_up(self, channel: int) -> None:
        super()._hang_up(channel)
        if channel in self.far:
            self.far.pop(channel).close()

    def release(self) -> None:
        super().release()
        while self.far:
            self.far.popitem()[1].close()

    def _wait(self, held: socket.socket, write: bool, until: float) -> Generator[Waiting, Any, None]:
        channel = next(number for number, one in self.channels.items() if one is held)
        spoken = self._speak(channel)
        if not (yield Ready(held, write, 1.0 if spoken or write else 0.0)):
            raise TimeoutError

    def _speak(self, channel: int) -> bool:
        """The other side's turn: it hears what was sent, and says its next piece.  Returns whether it did."""
        far = self.far[channel]
        heard = b""
        while (octets := _received(far)) is not None and octets:
            heard = octets if far.type == socket.SOCK_DGRAM else heard + octets
        self.script.sent[channel] = (heard or self.script.sent.get(channel, b""))[-_KEPT:]
        piece = self.script.next(channel)
        if piece is None or (not piece and far.type == socket.SOCK_STREAM):
            if far.type == socket.SOCK_STREAM and piece is None:
                far.shutdown(socket.SHUT_WR)
                return True
            return piece is not None and self._speak(channel)
        done = far.send(piece)
        if done < len(piece):
            self.script.pieces[channel].appendleft(piece[done:])
        return True


def _received(far: socket.socket) -> bytes | None:
    try:
        return far.recv(1 << 16)
    except BlockingIOError:
        return None


class _Blocking(_Paired, transport.Transport):
    pass


class _Async(_Paired, aio.AsyncTransport):
    pass


def put_in() -> None:
    """Let `open` and `aopen` of this process connect to nobody but the script."""
    vars(opening)["Transport"] = _Blocking
    vars(aio)["AsyncTransport"] = _Async
