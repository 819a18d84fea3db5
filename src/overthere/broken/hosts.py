"""Scheduling by host: limits of connections and rate, Retry-After."""

from __future__ import annotations

import heapq
import time
from collections import deque
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

TRIES = 4
"""Maximum number of requests for a URI whose server is too busy."""
BACK_OFF = 1.0
"""Seconds before the second request if the server does not specify them; they double each time."""
MOST_WAIT = 120.0
"""Maximum seconds to wait for a server."""
MOST_PATIENCE = 600.0
"""Total seconds for which a host may postpone requests in a row, before it gets no more."""
DEAD = 4
"""Number of failed connections in a row after which a host gets no more requests."""

T = TypeVar("T")


class _Host(Generic[T]):
    __slots__ = ("busy", "failed", "interval", "per_host", "put_off", "queued", "ready", "waiting")

    def __init__(self, per_host: int, rate: float | None) -> None:
        self.per_host = per_host
        self.interval = 0.0 if rate is None else 1.0 / rate
        self.waiting: deque[T] = deque()
        self.busy = 0
        self.ready = 0.0
        """The time from which the next request may be sent."""
        self.failed = 0
        self.put_off = 0.0
        """Total seconds by which it has postponed requests since its last answer."""
        self.queued = False


class Hosts(Generic[T]):
    """A queue of requests by host.

    per_host: parallel requests to a host; rate: maximum requests per second to a host.
    limits: a function that returns both for a host, if hosts differ.
    clock: monotonic seconds.
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

    def add(self, host: Hashable, request: T, *, first: bool = False) -> None:
        """Queue a request to a host; first: before its other requests."""
        state = self._hosts.get(host)
        if state is None:
            state = self._hosts[host] = _Host(*self.limits(host))
        if first:
            state.waiting.appendleft(request)
        else:
            state.waiting.append(request)
        self._queue(host, state)

    def _queue(self, host: Hashable, state: _Host[T]) -> None:
        if state.waiting and not state.queued and state.busy < state.per_host:
            state.queued = True
            self._number += 1
            heapq.heappush(self._ready, (state.ready, self._number, host))

    def take(self) -> tuple[Hashable, T] | None:
        """The next request, with its host; None if no request may be sent now."""
        if self.pause() != 0:
            return None
        host = heapq.heappop(self._ready)[2]
        state = self._hosts[host]
        state.queued = False
        state.busy += 1
        state.ready = max(state.ready, self.clock()) + state.interval
        request = state.waiting.popleft()
        self._queue(host, state)
        return host, request

    def pause(self) -> float | None:
        """Seconds until the next request may be sent; None if that depends on an answer, or the queue is empty."""
        while self._ready:
            ready, number, host = self._ready[0]
            state = self._hosts[host]
            if state.ready <= ready:
                return max(0.0, ready - self.clock())
            heapq.heapreplace(self._ready, (state.ready, number, host))  # the host has postponed it since
        return None

    def release(
        self, host: Hashable, *, failed: bool = False, busy: bool = False, wait: float = 0.0, again: T | None = None
    ) -> None:
        """Record the answer to a request from `take`.

        failed: whether there was no connection; busy: whether the host was too busy to answer.
        wait: seconds until the host accepts another request; again: the request to retry.
        """
        state = self._hosts[host]
        state.busy -= 1
        state.failed = state.failed + 1 if failed else 0
        before = max(state.ready, self.clock())
        if wait:
            state.ready = max(state.ready, self.clock() + min(wait, MOST_WAIT))
        if again is None and not busy:
            state.put_off = 0.0
        else:
            state.put_off += max(0.0, state.ready - before)
        if again is not None:
            state.waiting.appendleft(again)
        self._queue(host, state)

    def is_dead(self, host: Hashable) -> bool:
        """Whether so many connections have failed that more requests would only take time."""
        state = self._hosts.get(host)
        return state is not None and state.failed >= DEAD

    def is_put_off(self, host: Hashable) -> bool:
        """Whether the host has postponed requests for so long that more requests would only take time."""
        state = self._hosts.get(host)
        return state is not None and state.put_off > MOST_PATIENCE
