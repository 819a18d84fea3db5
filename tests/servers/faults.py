"""A fault injector: a server of this process whose answers are faulty as a test needs, and a check for leaks."""

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

Fault = Callable[[socket.socket], None]


class Running:
    """The port of the server, and the data that it received."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.accepted = 0
        self.sent = 0
        self.over = threading.Event()
        """Whether the test is at its end: a fault that goes on for long looks at it."""


def read_request(client: socket.socket) -> bytes:
    """Return what a client sends first, as far as it arrives at once."""
    client.settimeout(NET)
    with suppress(OSError):
        return client.recv(65_536)
    return b""


def close_at(answer: bytes, offset: int | None = None) -> Fault:
    """Send this much of an answer, then close."""

    def fault(client: socket.socket) -> None:
        read_request(client)
        with suppress(OSError):
            client.sendall(answer[:offset])

    return fault


def reset_at(answer: bytes, offset: int) -> Fault:
    """Send this much of an answer, then reset."""

    def fault(client: socket.socket) -> None:
        read_request(client)
        with suppress(OSError):
            client.sendall(answer[:offset])
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    return fault


@contextmanager
def faulty(fault: Callable[[socket.socket, Running], None], host: str = "127.0.0.1") -> Iterator[Running]:
    """A server that handles each connection by `fault`, in its own thread, and then closes it."""
    with socket.create_server((host, 0), backlog=64) as listening:
        running = Running(listening.getsockname()[1])
        threads: list[threading.Thread] = []

        def treat(client: socket.socket) -> None:
            with client, suppress(OSError):
                fault(client, running)

        def serve() -> None:
            while not running.over.is_set():
                try:
                    client, _ = listening.accept()
                except OSError:
                    continue  # at the end
                running.accepted += 1
                threads.append(threading.Thread(target=treat, args=(client,), daemon=True))
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
    return lambda client, running: fault(client)


def dripped(answer: bytes, pause: float) -> Callable[[socket.socket, Running], None]:
    """Send byte by byte."""

    def fault(client: socket.socket, running: Running) -> None:
        read_request(client)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for octet in answer:
            client.sendall(bytes((octet,)))
            if running.over.wait(pause) if pause else running.over.is_set():
                return

    return fault


def stalled(answer: bytes) -> Callable[[socket.socket, Running], None]:
    """Send this much, then nothing, with the connection open."""

    def fault(client: socket.socket, running: Running) -> None:
        read_request(client)
        client.sendall(answer)
        running.over.wait(NET)

    return fault


def endless(start: bytes, piece: bytes, *, first: bool = False) -> Callable[[socket.socket, Running], None]:
    """Send `start`, then repeat; `Running.sent` counts the bytes. first: the server sends before the client."""

    def fault(client: socket.socket, running: Running) -> None:
        if not first:
            read_request(client)
        client.sendall(start)
        while not running.over.is_set():
            client.sendall(piece)
            running.sent += len(piece)

    return fault


@contextmanager
def full_queue(host: str = "127.0.0.1") -> Iterator[int]:
    """A port whose connection queue is full: further clients wait (Linux)."""
    waiting: list[socket.socket] = []
    with socket.create_server((host, 0), backlog=0) as listening:
        port: int = listening.getsockname()[1]
        try:
            for _ in range(4):
                client = socket.socket()
                client.setblocking(False)
                client.connect_ex((host, port))
                waiting.append(client)
            # When the first is in the queue, no place is left.
            assert select.select([], waiting, [], NET)[1]
            yield port
        finally:
            for client in waiting:
                client.close()


def resources_in_use() -> tuple[dict[str, str], int]:
    """The open descriptors and the number of threads of this process."""
    descriptors: dict[str, str] = {}
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            descriptors[name] = os.readlink(f"/proc/self/fd/{name}")
    return descriptors, threading.active_count()


@contextmanager
def assert_no_leaks(seconds: float = NET) -> Iterator[None]:
    """Raises: AssertionError if new descriptors or threads are left at the end."""
    gc.collect()
    before: Any = resources_in_use()
    yield
    until = time.monotonic() + seconds
    while True:
        after = resources_in_use()
        if len(after[0]) <= len(before[0]) and after[1] <= before[1]:
            return
        if time.monotonic() > until:
            new = {name: target for name, target in after[0].items() if before[0].get(name) != target}
            raise AssertionError(f"left open: {new}, threads {before[1]} -> {after[1]}: {threading.enumerate()}")
        time.sleep(0.02)
