"""An event loop in one thread for generators that yield what they wait for (`access.transport`)."""

from __future__ import annotations

import selectors
import socket
from collections import deque
from collections.abc import Generator
from time import monotonic, sleep
from typing import Any, TypeVar

from overthere.access.transport import Call, Ready, Waiting

__all__ = ["Loop", "Work"]

T = TypeVar("T")
Work = Generator[Waiting, Any, T]
_MOST = 60.0
"""Seconds that are waited at once at most: systems have bounds, and signals are heard between."""


class Loop:
    """What is under way; nothing of it is ever in two threads.

    A system is asked once for all that wait, and a socket stays known to it until it is waited for otherwise.
    """

    def __init__(self, selector: selectors.BaseSelector | None = None) -> None:
        self._selector: selectors.BaseSelector = selector or selectors.DefaultSelector()
        self._known: dict[int, tuple[socket.socket, bool]] = {}
        """By descriptor, what the selector was told: the socket, and whether it is to be written."""
        self._waiting: dict[int, tuple[Work[None], float]] = {}
        """By descriptor: what goes on then, and when it is too late."""
        self._runs: deque[tuple[Work[None], Any]] = deque()
        """What can go on, and the answer that it is given."""
        self._soonest = float("inf")
        """Nothing is too late before."""

    def __len__(self) -> int:
        return len(self._waiting) + len(self._runs)

    def add(self, work: Work[None]) -> None:
        """Carry on some work."""
        self._runs.append((work, None))

    def run_once(self, seconds: float | None) -> None:
        """Carry on what can go on, after waiting for it; seconds: at most so long, None as long as it takes.

        Raises: what the work raises.
        """
        if self._waiting:
            self._wait(0.0 if self._runs else seconds)
        elif not self._runs and seconds:
            sleep(min(seconds, _MOST))
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
        held, write, seconds = waiting
        number = held.fileno()
        known = self._known.get(number)
        if known is None or known[0] is not held or known[1] is not write:
            self._set_waiting(number, held, write, known)
        late = monotonic() + seconds
        self._soonest = min(self._soonest, late)
        self._waiting[number] = work, late

    def _set_waiting(
        self, number: int, held: socket.socket, write: bool, known: tuple[socket.socket, bool] | None
    ) -> None:
        events = selectors.EVENT_WRITE if write else selectors.EVENT_READ
        if known is not None and known[0] is held:
            self._selector.modify(number, events)
        else:
            if known is not None:
                self._selector.unregister(number)  # its socket was closed, and this one has its number
            self._selector.register(number, events)
        self._known[number] = held, write

    def _wait(self, seconds: float | None) -> None:
        left = min(max(0.0, self._soonest - monotonic()), _MOST)
        for key, _ in self._ready(left if seconds is None else min(left, seconds)):
            there = self._waiting.pop(key.fd, None)
            if there is None:
                self._remove(key.fd)  # a connection at rest, which its server has closed
            else:
                self._runs.append((there[0], True))
        now = monotonic()
        if now < self._soonest:
            return
        for number, (work, late) in list(self._waiting.items()):
            if late <= now:
                del self._waiting[number]
                self._remove(number)
                self._runs.append((work, False))
        self._soonest = min((late for _, late in self._waiting.values()), default=float("inf"))

    def _ready(self, seconds: float) -> list[tuple[selectors.SelectorKey, int]]:
        try:
            return self._selector.select(seconds)
        except (OSError, ValueError):
            # Some systems want to hear that a socket was closed.
            closed = [number for number, (held, _) in self._known.items() if held.fileno() != number]
            if not closed:
                raise
            for number in closed:
                self._remove(number)
            return []

    def _remove(self, number: int) -> None:
        self._selector.unregister(number)
        del self._known[number]

    def close(self) -> None:
        """What is under way is ended where it stands."""
        works = [work for work, *_ in (*self._waiting.values(), *self._runs)]
        self._waiting.clear()
        self._runs.clear()
        for work in works:
            work.close()
        self._selector.close()
