"""A fault injector: a socket of this process that answers as badly as a test says, and what may not be left behind."""

from __future__ import annotations

import gc
import os
import select
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from servers import NET

__all__ = [
    "Fault",
    "Running",
    "asked",
    "cut",
    "dripped",
    "endless",
    "faulty",
    "full",
    "nothing_left",
    "reset",
    "simple",
    "stalled",
]

Fault = Callable[[socket.socket], None]


class Running:
    """Where it listens, and what has been sent to it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.accepted = 0
        self.sent = 0
        self.over = threading.Event()
        """Whether the test is at its end: a fault that goes on for long looks at it."""


def asked(held: socket.socket) -> bytes:
    """What a client sends first, as far as it comes at once."""
    held.settimeout(NET)
    with suppress(OSError):
        return held.recv(65_536)
    return b""


def cut(answer: bytes, offset: int | None = None) -> Fault:
    """So much of an answer, and the end."""

    def fault(held: socket.socket) -> None:
        asked(held)
        with suppress(OSError):
            held.sendall(answer[:offset])

    return fault


def reset(answer: bytes, offset: int) -> Fault:
    """So much of an answer, and a reset."""

    def fault(held: socket.socket) -> None:
        asked(held)
        with suppress(OSError):
            held.sendall(answer[:offset])
        held.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    return fault


@contextmanager
def faulty(fault: Callable[[socket.socket, Running], None], host: str = "127.0.0.1") -> Iterator[Running]:
    """A server that treats each connection so, in a thread of its own, and then closes it."""
    with socket.create_server((host, 0), backlog=64) as listening:
        running = Running(listening.getsockname()[1])
        threads: list[threading.Thread] = []

        def treat(held: socket.socket) -> None:
            with held, suppress(OSError):
                fault(held, running)

        def serve() -> None:
            while not running.over.is_set():
                try:
                    held, _ = listening.accept()
                except OSError:
                    continue  # at the end
                running.accepted += 1
                threads.append(threading.Thread(target=treat, args=(held,), daemon=True))
                threads[-1].start()

        threads.append(threading.Thread(target=serve, daemon=True))
        threads[0].start()
        try:
            yield running
        finally:
            running.over.set()
            listening.shutdown(socket.SHUT_RDWR)
            for thread in threads:
                thread.join(NET)


def simple(fault: Fault) -> Callable[[socket.socket, Running], None]:
    return lambda held, running: fault(held)


def dripped(answer: bytes, pause: float) -> Callable[[socket.socket, Running], None]:
    """An octet at a time."""

    def fault(held: socket.socket, running: Running) -> None:
        asked(held)
        held.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for octet in answer:
            held.sendall(bytes((octet,)))
            if running.over.wait(pause) if pause else running.over.is_set():
                return

    return fault


def stalled(answer: bytes) -> Callable[[socket.socket, Running], None]:
    """So much, and then nothing, while the connection stays."""

    def fault(held: socket.socket, running: Running) -> None:
        asked(held)
        held.sendall(answer)
        running.over.wait(NET)

    return fault


def endless(start: bytes, again: bytes, *, first: bool = False) -> Callable[[socket.socket, Running], None]:
    """The same without end; `Running.sent` says how much was taken.  first: the server speaks first."""

    def fault(held: socket.socket, running: Running) -> None:
        if not first:
            asked(held)
        held.sendall(start)
        while not running.over.is_set():
            held.sendall(again)
            running.sent += len(again)

    return fault


@contextmanager
def full(host: str = "127.0.0.1") -> Iterator[int]:
    """A port whose queue of connections is full, and nobody takes one: who connects waits (Linux)."""
    waiting: list[socket.socket] = []
    with socket.create_server((host, 0), backlog=0) as listening:
        port: int = listening.getsockname()[1]
        try:
            for _ in range(4):
                held = socket.socket()
                held.setblocking(False)
                held.connect_ex((host, port))
                waiting.append(held)
            # Once the first is taken into the queue, there is no place for another.
            assert select.select([], waiting, [], NET)[1]
            yield port
        finally:
            for held in waiting:
                held.close()


def left_open() -> tuple[dict[str, str], int]:
    """The descriptors of this process, and how many threads it has."""
    found: dict[str, str] = {}
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            found[name] = os.readlink(f"/proc/self/fd/{name}")
    return found, threading.active_count()


@contextmanager
def nothing_left(seconds: float = NET) -> Iterator[None]:
    """Raises: AssertionError if descriptors or threads are left that were not there before."""
    gc.collect()
    before: Any = left_open()
    yield
    until = time.monotonic() + seconds
    while True:
        after = left_open()
        if len(after[0]) <= len(before[0]) and after[1] <= before[1]:
            return
        if time.monotonic() > until:
            more = {name: what for name, what in after[0].items() if before[0].get(name) != what}
            raise AssertionError(f"left open: {more}, threads {before[1]} -> {after[1]}: {threading.enumerate()}")
        time.sleep(0.02)
