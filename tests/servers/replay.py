"""Replayed servers: loopback servers that give recorded answers to recorded requests.

A test's `same` compares a request with the recorded one: byte by byte, except for fields that the protocol leaves to
the client. A difference closes the connection at once and is reported at the end of the block.
"""

from __future__ import annotations

import json
import socket
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Any, NamedTuple

from servers import NET

TRANSCRIPTS = Path(__file__).parent.parent / "transcripts"

Same = Callable[[bytes, bytes], str]
Length = Callable[[bytes], int | None]


class Exchange(NamedTuple):
    """A request with its recorded answer: pieces of a stream, or datagrams."""

    request: bytes
    answers: tuple[bytes, ...]


@dataclass
class Served:
    """A running server: its port, the requests, and the problems."""

    port: int
    requests: list[bytes] = field(default_factory=list[bytes])
    """In order, over all connections."""
    problems: list[str] = field(default_factory=list[str])
    connections: int = 0
    peers: list[Any] = field(default_factory=list[Any])
    """The sender of each UDP request."""


def recorded(path: str) -> list[dict[str, Any]]:
    """The rows of a recording in tests/transcripts, base64 decoded.

    Keys: "send" and "recv" (one exchange per row), or "conn", "dir" and "b64" (one direction per row).
    """
    rows: list[dict[str, Any]] = [json.loads(line) for line in (TRANSCRIPTS / path).read_text().splitlines()]
    for row in rows:
        for key in ("send", "b64"):
            if key in row:
                row[key] = b64decode(row[key])
        if "recv" in row:
            row["recv"] = tuple(b64decode(piece) for piece in row["recv"])
    return rows


def difference(request: bytes, expected: bytes) -> str:
    """The bytes in which two requests differ; "" if they are equal."""
    return "" if request == expected else f"asked {request!r} where {expected!r} was recorded"


@contextmanager
def serve(handler: Callable[[socket.socket, Served], None]) -> Iterator[Served]:
    """A TCP server: `handler` runs for each connection in a thread, and may stop at any point."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.1)
        served, over = Served(listening.getsockname()[1]), Event()
        threads: list[Thread] = []

        def one(client: socket.socket) -> None:
            with client, suppress(OSError):
                client.settimeout(NET)
                handler(client, served)

        def accept() -> None:
            while not over.is_set():
                with suppress(TimeoutError, OSError):
                    client, _ = listening.accept()
                    served.connections += 1
                    threads.append(Thread(target=one, args=(client,), daemon=True))
                    threads[-1].start()

        accepting = Thread(target=accept, daemon=True)
        accepting.start()
        try:
            yield served
        finally:
            over.set()
            accepting.join(NET)
            for thread in threads:
                thread.join(NET)
    assert not served.problems, served.problems


@contextmanager
def replay(
    *conversations: Sequence[Exchange],
    length: Length,
    same: Same = difference,
    close: bool = False,
    piece: int = 1 << 16,
) -> Iterator[Served]:
    """A TCP server that replays a conversation on each connection; the last one repeats.

    length: the length of the request at the beginning of the data, None if more is needed; same: the relevant
    difference from the recorded request, or ""; close: whether the server closes after the last answer (it always
    closes after an unknown request); piece: the maximum size of the pieces of an answer.
    """

    def handler(client: socket.socket, served: Served) -> None:
        buffer = bytearray()
        for expected, answers in conversations[min(served.connections, len(conversations)) - 1]:
            while (count := length(bytes(buffer))) is None or len(buffer) < count:
                data = client.recv(1 << 16)
                if not data:
                    if buffer:
                        served.problems.append(f"the client left in the middle of a request: {bytes(buffer)!r}")
                    return
                buffer += data
            request = bytes(buffer[:count])
            del buffer[:count]
            served.requests.append(request)
            if problem := same(request, expected):
                served.problems.append(problem)
                return
            for answer in answers:
                for start in range(0, len(answer), piece):
                    client.sendall(answer[start : start + piece])
        if not close and (received := bytes(buffer) + client.recv(1 << 16)):
            served.problems.append(f"asked for more than was recorded: {received!r}")

    with serve(handler) as served:
        yield served


@contextmanager
def serve_udp(handler: Callable[[bytes, Served], Iterable[bytes]]) -> Iterator[Served]:
    """A UDP server: `handler` returns the answers to a datagram."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.settimeout(0.1)
        served, over = Served(listening.getsockname()[1]), Event()

        def run() -> None:
            while not over.is_set():
                with suppress(TimeoutError):
                    request, peer = listening.recvfrom(1 << 16)
                    served.requests.append(request)
                    served.peers.append(peer)
                    for answer in handler(request, served):
                        with suppress(OSError):
                            listening.sendto(answer, peer)

        running = Thread(target=run, daemon=True)
        running.start()
        try:
            yield served
        finally:
            over.set()
            running.join(NET)
    assert not served.problems, served.problems


@contextmanager
def replay_datagrams(
    exchanges: Sequence[Exchange],
    *,
    same: Same = difference,
    adapt: Callable[[bytes, bytes], bytes] = lambda request, answer: answer,
    faults: Callable[[int, tuple[bytes, ...]], Iterable[bytes]] = lambda number, answers: answers,
) -> Iterator[Served]:
    """A UDP server that gives each datagram the recorded answer; an unknown one is reported.

    adapt: sets what depends on the request (a connection id) in an answer; faults: changes the answers to datagram
    `number` (from 0): lost, doubled, reordered, cut.
    """

    def handler(request: bytes, served: Served) -> Iterable[bytes]:
        problems: list[str] = []
        for expected, answers in exchanges:
            if not (problem := same(request, expected)):
                return faults(len(served.requests) - 1, tuple(adapt(request, answer) for answer in answers))
            problems.append(problem)
        served.problems.append(f"{request!r} was not recorded: {problems[:1]}")
        return ()

    with serve_udp(handler) as served:
        yield served
