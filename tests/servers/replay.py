"""Servers that exist no more: loopback servers that give recorded octets for recorded requests.

A request is compared with the recorded one by `same`, which a test states: octet by octet unless the protocol leaves
fields to the client.  What differs is told when the block ends, and the connection is closed there and then.
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

__all__ = [
    "TRANSCRIPTS",
    "Exchange",
    "Served",
    "differ",
    "recorded",
    "replay",
    "replay_datagrams",
    "serve",
    "serve_udp",
]

TRANSCRIPTS = Path(__file__).parent.parent / "transcripts"

Same = Callable[[bytes, bytes], str]
Length = Callable[[bytes], int | None]


class Exchange(NamedTuple):
    """A request, and what the server answered: pieces of a stream, or datagrams."""

    request: bytes
    answers: tuple[bytes, ...]


@dataclass
class Served:
    """A server that runs: where, what it was asked, what was wrong."""

    port: int
    requests: list[bytes] = field(default_factory=list[bytes])
    """In their order, over all connections."""
    problems: list[str] = field(default_factory=list[str])
    connections: int = 0
    peers: list[Any] = field(default_factory=list[Any])
    """Who asked, for each of the requests over UDP."""


def recorded(path: str) -> list[dict[str, Any]]:
    """The rows of a recording below tests/transcripts, octets that stand there in base64 as bytes.

    Keys: "send" and "recv" (one exchange a row), or "conn", "dir" and "b64" (one direction a row).
    """
    rows: list[dict[str, Any]] = [json.loads(line) for line in (TRANSCRIPTS / path).read_text().splitlines()]
    for row in rows:
        for key in ("send", "b64"):
            if key in row:
                row[key] = b64decode(row[key])
        if "recv" in row:
            row["recv"] = tuple(b64decode(one) for one in row["recv"])
    return rows


def differ(request: bytes, expected: bytes) -> str:
    """In what octets two requests differ; "" if they do not."""
    return "" if request == expected else f"asked {request!r} where {expected!r} was recorded"


@contextmanager
def serve(handler: Callable[[socket.socket, Served], None]) -> Iterator[Served]:
    """A TCP server: `handler` has each connection in a thread of its own, and may break off as it likes."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.1)
        served, over = Served(listening.getsockname()[1]), Event()
        threads: list[Thread] = []

        def one(held: socket.socket) -> None:
            with held, suppress(OSError):
                held.settimeout(NET)
                handler(held, served)

        def accept() -> None:
            while not over.is_set():
                with suppress(TimeoutError, OSError):
                    held, _ = listening.accept()
                    served.connections += 1
                    threads.append(Thread(target=one, args=(held,), daemon=True))
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
    *conversations: Sequence[Exchange], length: Length, same: Same = differ, close: bool = False, piece: int = 1 << 16
) -> Iterator[Served]:
    """A TCP server that goes through a conversation on each connection, the last one over and over.

    length: how long the request at the beginning of these octets is, None if more must come to know it;
    same: in what a request differs from the recorded one, "" if in nothing that counts;
    close: whether the server closes behind the last answer (it always does behind a request it does not know);
    piece: the longest piece in which answers are written.
    """

    def handler(held: socket.socket, served: Served) -> None:
        buffer = bytearray()
        for expected, answers in conversations[min(served.connections, len(conversations)) - 1]:
            while (count := length(bytes(buffer))) is None or len(buffer) < count:
                data = held.recv(1 << 16)
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
                    held.sendall(answer[start : start + piece])
        if not close and (more := bytes(buffer) + held.recv(1 << 16)):
            served.problems.append(f"asked for more than was recorded: {more!r}")

    with serve(handler) as served:
        yield served


@contextmanager
def serve_udp(handler: Callable[[bytes, Served], Iterable[bytes]]) -> Iterator[Served]:
    """A UDP server: for each datagram, `handler` gives those to be sent back."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as held:
        held.bind(("127.0.0.1", 0))
        held.settimeout(0.1)
        served, over = Served(held.getsockname()[1]), Event()

        def run() -> None:
            while not over.is_set():
                with suppress(TimeoutError):
                    request, peer = held.recvfrom(1 << 16)
                    served.requests.append(request)
                    served.peers.append(peer)
                    for answer in handler(request, served):
                        with suppress(OSError):
                            held.sendto(answer, peer)

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
    same: Same = differ,
    adapt: Callable[[bytes, bytes], bytes] = lambda request, answer: answer,
    faults: Callable[[int, tuple[bytes, ...]], Iterable[bytes]] = lambda number, answers: answers,
) -> Iterator[Served]:
    """A UDP server that answers each datagram as the exchange does whose request it is; one it does not know is told.

    adapt: the recorded answer with what must be the request's own (a connection id);
    faults: what becomes of the answers to datagram `number` (from 0 on): lost, doubled, in another order, cut.
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
