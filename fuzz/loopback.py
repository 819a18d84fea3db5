"""Connections to nobody: the real transports, whose other side says what an input has.

A connection is a line in memory, or, where an input wants it, a pair of sockets.  Data is available at once or never
arrives: no time passes.
"""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Generator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from conversations import ACCEPT, ID
from overthere.access import aio, blocking, opening
from overthere.access.transport import Carrier, Ready, Waiting
from overthere.access.wire import Dial, Effect, OpenLocal
from overthere.protocols.websocket import dialogue
from overthere.protocols.websocket.steps import accept

_PEER = "9.9.9.9"
"""The address of every host; nothing is ever sent to it."""
_MAX_KEPT = 1 << 16


@dataclass
class Script:
    """The answers of the other side: a piece for each read, then an end."""

    pieces: dict[int, deque[bytes]]
    """By channel."""
    sockets: bool = False
    """Whether connections are pairs of sockets."""
    steps: int = 0
    most: int = 1 << 20
    sent: dict[int, bytes] = field(default_factory=dict[int, bytes])

    def next(self, channel: int) -> bytes | None:
        """The next piece; None for the end."""
        pieces = self.pieces.get(channel)
        if not pieces:
            return None
        piece, sent = pieces.popleft(), self.sent.get(channel, b"")
        if ID in piece:
            piece = piece.replace(ID, sent[1:3].ljust(2, b"\0"), 1)
        if ACCEPT in piece:
            key = sent.partition(b"Sec-WebSocket-Key: ")[2].partition(b"\r\n")[0]
            piece = piece.replace(ACCEPT, accept(key), 1)
        return piece


class _Line(socket.socket):
    """Both sides of a connection, and no descriptor."""

    def __init__(self, datagrams: bool) -> None:
        # Not the constructor of sockets, which asks the system for one.
        self.kind = socket.SOCK_DGRAM if datagrams else socket.SOCK_STREAM
        self.coming = deque[bytes]()
        self.heard = b""
        self.ended = False

    @property
    def type(self) -> socket.SocketKind:
        return self.kind

    def recv(self, size: int, flags: int = 0, /) -> bytes:
        if not self.coming:
            if self.ended:
                return b""
            raise BlockingIOError
        piece = self.coming.popleft()
        if self.kind == socket.SOCK_STREAM and len(piece) > size:
            self.coming.appendleft(piece[size:])
        return piece[:size]

    def send(self, data: Any, flags: int = 0, /) -> int:
        self.heard = bytes(data) if self.kind == socket.SOCK_DGRAM else self.heard + bytes(data)
        return len(data)

    def close(self) -> None:
        self.ended = True

    # The other side.

    def hear(self) -> bytes:
        received, self.heard = self.heard, b""
        return received

    def say(self, piece: bytes) -> int:
        self.coming.append(piece)
        return len(piece)

    def end(self) -> None:
        self.ended = True


class _Peer:
    """The other side of a pair of sockets."""

    def __init__(self, sock: socket.socket) -> None:
        self.held = sock
        sock.setblocking(False)

    def hear(self) -> bytes:
        data = b""
        while octets := _receive(self.held):
            data = octets if self.held.type == socket.SOCK_DGRAM else data + octets
        return data

    def say(self, piece: bytes) -> int:
        return self.held.send(piece)

    def end(self) -> None:
        self.held.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self.held.close()


class _ScriptedCarrier(Carrier):
    """A carrier whose connections lead to a script; all else is the carrier's own."""

    script: Script

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.far: dict[int, _Line | _Peer] = {}

    def _carry_out(self, effect: Effect) -> Generator[Waiting, Any, Any]:
        self.script.steps += 1
        assert self.script.steps <= self.script.most, f"more than {self.script.most} steps"
        assert not isinstance(effect, OpenLocal), "what a server says leads to a file of this machine"
        return (yield from super()._carry_out(effect))

    def _look_up_name(self, dial: Dial, until: float) -> Generator[Waiting, Any, list[Any]]:
        yield from ()
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (_PEER, dial.port))]

    def _connect(self, dial: Dial, family: int, address: Any, until: float) -> Generator[Waiting, Any, None]:
        self._hang_up(dial.channel)
        datagrams = dial.transport == "udp"
        if self.script.sockets:
            near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM if datagrams else socket.SOCK_STREAM)
            near.setblocking(False)
            self.channels[dial.channel], self.far[dial.channel] = near, _Peer(far)
        else:
            self.channels[dial.channel] = self.far[dial.channel] = _Line(datagrams)
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

    def _wait(self, sock: socket.socket, write: bool, until: float) -> Generator[Waiting, Any, None]:
        channel = next(number for number, channel in self.channels.items() if channel is sock)
        spoken = self._speak(channel, sock.type == socket.SOCK_STREAM)
        if self.script.sockets:
            spoken = yield Ready(sock, write, 1.0 if spoken or write else 0.0)
        if not spoken:
            raise TimeoutError

    def _speak(self, channel: int, stream: bool) -> bool:
        """The other side's turn: it hears what was sent, and says its next piece.  Returns whether it did."""
        far = self.far[channel]
        self.script.sent[channel] = (far.hear() or self.script.sent.get(channel, b""))[-_MAX_KEPT:]
        piece = self.script.next(channel)
        if piece is None:
            if stream:
                far.end()
            return stream
        if stream and not piece:
            return self._speak(channel, stream)
        is_done = far.say(piece)
        if is_done < len(piece):
            self.script.pieces[channel].appendleft(piece[is_done:])
        return True


def _receive(sock: socket.socket) -> bytes | None:
    try:
        return sock.recv(1 << 16)
    except BlockingIOError:
        return None


class _Blocking(_ScriptedCarrier, blocking.Transport):
    pass


class _Async(_ScriptedCarrier, aio.AsyncTransport):
    pass


def speaks(script: Script) -> None:
    """Let it be the other side of all connections from now on."""
    _ScriptedCarrier.script = script


def put_in() -> None:
    """Let `open` and `aopen` of this process connect to nobody but the script, with known keys of WebSocket."""
    vars(opening)["Transport"] = _Blocking
    vars(aio)["AsyncTransport"] = _Async
    vars(dialogue)["os"] = SimpleNamespace(urandom=bytes)
