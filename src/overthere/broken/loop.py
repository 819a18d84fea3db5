"""An event loop in one thread for generators that yield the events they wait for (`access.transport`)."""

from __future__ import annotations

import selectors
import socket
from collections import deque
from collections.abc import Generator
from time import monotonic, sleep
from typing import Any, TypeVar

from overthere.access.transport import Call, Ready, Waiting

T = TypeVar("T")
Work = Generator[Waiting, Any, T]
_MAX_WAIT = 60.0
"""Maximum wait in seconds: systems have limits, and signals are handled between waits."""


class Loop:
    """Running work; all of it runs in one thread.

    One system call waits for all sockets, and a socket stays registered until it is waited for in another way.
    """

    def __init__(self, selector: selectors.BaseSelector | None = None) -> None:
        self._selector: selectors.BaseSelector = selector or selectors.DefaultSelector()
        self._registered: dict[int, tuple[socket.socket, bool]] = {}
        """The registered sockets by descriptor, and whether each is waited for to write."""
        self._waiting: dict[int, tuple[Work[None], float]] = {}
        """The work that waits for each descriptor, and its deadline."""
        self._runs: deque[tuple[Work[None], Any]] = deque()
        """Work that can continue, and the value to send to it."""
        self._next_deadline = float("inf")
        """The earliest deadline."""

    def __len__(self) -> int:
        return len(self._waiting) + len(self._runs)

    def add(self, work: Work[None]) -> None:
        """Start some work."""
        self._runs.append((work, None))

    def run_once(self, seconds: float | None) -> None:
        """Wait until work can continue, for at most `seconds` (None: without limit), and run it up to its next wait.

        Raises: what the work raises.
        """
        if self._waiting:
            self._wait(0.0 if self._runs else seconds)
        elif not self._runs and seconds:
            sleep(min(seconds, _MAX_WAIT))
        for _ in range(len(self._runs)):
            work, answer = self._runs.popleft()
            try:
                waiting = work.send(answer)
            except StopIteration:
                continue
            if isinstance(waiting, Ready):
                self._put(waiting, work)
            else:
                self._runs.append((work, waiting.function() if isinstance(waiting, Call) else None))

    def _put(self, waiting: Ready, work: Work[None]) -> None:
        waited_socket, write, seconds = waiting
        number = waited_socket.fileno()
        registered = self._registered.get(number)
        if registered is None or registered[0] is not waited_socket or registered[1] is not write:
            self._set_waiting(number, waited_socket, write, registered)
        deadline = monotonic() + seconds
        self._next_deadline = min(self._next_deadline, deadline)
        self._waiting[number] = work, deadline

    def _set_waiting(
        self, number: int, waited_socket: socket.socket, write: bool, registered: tuple[socket.socket, bool] | None
    ) -> None:
        events = selectors.EVENT_WRITE if write else selectors.EVENT_READ
        if registered is not None and registered[0] is waited_socket:
            self._selector.modify(number, events)
        else:
            if registered is not None:
                self._selector.unregister(number)  # that socket was closed, and this one reuses its number
            self._selector.register(number, events)
        self._registered[number] = waited_socket, write

    def _wait(self, seconds: float | None) -> None:
        timeout = min(max(0.0, self._next_deadline - monotonic()), _MAX_WAIT)
        for key, _ in self._ready(timeout if seconds is None else min(timeout, seconds)):
            entry = self._waiting.pop(key.fd, None)
            if entry is None:
                self._remove(key.fd)  # an idle connection that its server has closed
            else:
                self._runs.append((entry[0], True))
        time_now = monotonic()
        if time_now < self._next_deadline:
            return
        for number, (work, deadline) in list(self._waiting.items()):
            if deadline <= time_now:
                del self._waiting[number]
                self._remove(number)
                self._runs.append((work, False))
        self._next_deadline = min((deadline for _, deadline in self._waiting.values()), default=float("inf"))

    def _ready(self, seconds: float) -> list[tuple[selectors.SelectorKey, int]]:
        try:
            return self._selector.select(seconds)
        except (OSError, ValueError):
            # Some systems fail unless closed sockets are unregistered.
            closed = [number for number, (registered, _) in self._registered.items() if registered.fileno() != number]
            if not closed:
                raise
            for number in closed:
                self._remove(number)
            return []

    def _remove(self, number: int) -> None:
        self._selector.unregister(number)
        del self._registered[number]

    def close(self) -> None:
        """End all work where it is."""
        works = [work for work, *_ in (*self._waiting.values(), *self._runs)]
        self._waiting.clear()
        self._runs.clear()
        for work in works:
            work.close()
        self._selector.close()
