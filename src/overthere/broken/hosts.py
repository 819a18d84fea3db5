"""Scheduling by host: limits of connections and rate, Retry-After."""

from __future__ import annotations

import heapq
import time
from collections import deque
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

__all__ = ["BACK_OFF", "DEAD", "MOST_PATIENCE", "MOST_WAIT", "TRIES", "Hosts"]

TRIES = 4
"""How often a URI is asked for whose server has no time."""
BACK_OFF = 1.0
"""Seconds before the second time, where the server does not say; each time twice as long."""
MOST_WAIT = 120.0
"""Seconds that are waited for a server at most."""
MOST_PATIENCE = 600.0
"""Seconds for which a host may want to be left alone, one time after the other, before it is not asked any more."""
DEAD = 4
"""Connections in a row that failed, after which a host is not asked any more."""

T = TypeVar("T")


class _Host(Generic[T]):
    __slots__ = ("busy", "failed", "interval", "per_host", "put_off", "queued", "ready", "waiting")

    def __init__(self, per_host: int, rate: float | None) -> None:
        self.per_host = per_host
        self.interval = 0.0 if rate is None else 1.0 / rate
        self.waiting: deque[T] = deque()
        self.busy = 0
        self.ready = 0.0
        """When it may be asked next."""
        self.failed = 0
        self.put_off = 0.0
        """Seconds since its last answer for which it wanted to be left alone."""
        self.queued = False


class Hosts(Generic[T]):
    """What is to be asked for, by host.

    per_host: asked of one host at once; rate: requests a second of one host at most.
    limits: both, for a host that has its own.
    clock: seconds, never less than before.
    """

    def __init__(
        self,
        per_host: int = 2,
        rate: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        limits: Callable[[Hashable], tuple[int, float | None]] | None = None,
    ) -> None:
        self.limits: Callable[[Hashable], tuple[int, float | None]] = limits or (lambda host: (per_host, rate))
        self.clock = clock
        self._hosts: dict[Hashable, _Host[T]] = {}
        self._ready: list[tuple[float, int, Hashable]] = []
        self._number = 0

    def add(self, host: Hashable, asked: T, *, first: bool = False) -> None:
        """More to ask a host; first: before all else."""
        there = self._hosts.get(host)
        if there is None:
            there = self._hosts[host] = _Host(*self.limits(host))
        if first:
            there.waiting.appendleft(asked)
        else:
            there.waiting.append(asked)
        self._queue(host, there)

    def _queue(self, host: Hashable, there: _Host[T]) -> None:
        if there.waiting and not there.queued and there.busy < there.per_host:
            there.queued = True
            self._number += 1
            heapq.heappush(self._ready, (there.ready, self._number, host))

    def take(self) -> tuple[Hashable, T] | None:
        """What is asked for next, and whom; None if nothing may be asked for now."""
        if self.pause() != 0:
            return None
        host = heapq.heappop(self._ready)[2]
        there = self._hosts[host]
        there.queued = False
        there.busy += 1
        there.ready = max(there.ready, self.clock()) + there.interval
        asked = there.waiting.popleft()
        self._queue(host, there)
        return host, asked

    def pause(self) -> float | None:
        """Seconds until something may be asked for; None: not before something has its answer, if ever."""
        while self._ready:
            ready, number, host = self._ready[0]
            there = self._hosts[host]
            if there.ready <= ready:
                return max(0.0, ready - self.clock())
            heapq.heapreplace(self._ready, (there.ready, number, host))  # it has asked for more time since
        return None

    def release(
        self, host: Hashable, *, failed: bool = False, busy: bool = False, wait: float = 0.0, again: T | None = None
    ) -> None:
        """What was taken has its answer.

        failed: whether there was no connection; busy: whether the host was too busy to answer.
        wait: seconds that it wants to be left alone; again: what is to be asked for once more.
        """
        there = self._hosts[host]
        there.busy -= 1
        there.failed = there.failed + 1 if failed else 0
        before = max(there.ready, self.clock())
        if wait:
            there.ready = max(there.ready, self.clock() + min(wait, MOST_WAIT))
        if again is None and not busy:
            there.put_off = 0.0
        else:
            there.put_off += max(0.0, there.ready - before)
        if again is not None:
            there.waiting.appendleft(again)
        self._queue(host, there)

    def is_dead(self, host: Hashable) -> bool:
        """Whether so many connections have failed that asking it for more would only take time."""
        there = self._hosts.get(host)
        return there is not None and there.failed >= DEAD

    def is_put_off(self, host: Hashable) -> bool:
        """Whether it has wanted to be left alone for so long that asking it for more would only take time."""
        there = self._hosts.get(host)
        return there is not None and there.put_off > MOST_PATIENCE
