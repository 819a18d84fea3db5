"""How processor time grows with the length of what is read: the ratio of times, each the least of several."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import thread_time
from typing import Any

_SHORT = 50
"""An action that takes this long for fewer characters is exponential, and is not measured again."""

_SURE = 256
"""At this length the time is not exponential, for a shorter text came to an end: twice the length can be measured."""


def seconds(action: Callable[[Any], object], value: object) -> float:
    """Processor time of this thread."""
    start = thread_time()
    action(value)
    return thread_time() - start


def outgrows(
    action: Callable[[Any], object],
    make: Callable[[int], object],
    lengths: Iterable[int],
    floor: float,
    ratio: float = 9,
) -> str | None:
    """A description of the times if an action on `make(n)` is more than linear, else None.

    The lengths go up until one takes longer than `floor` seconds.  It is bad if that takes more than `ratio` times the
    time of a quarter of it, each the least of several: 4 is linear, 16 quadratic.  Below the floor an action counts as
    linear, so a quadratic loop must reach the floor at the last length.
    """
    for length in lengths:
        value = make(length)
        if seconds(action, value) < floor or seconds(action, value) < floor:
            continue
        return _confirmed(action, make, length, floor, ratio)
    return None


def _confirmed(
    action: Callable[[Any], object], make: Callable[[int], object], length: int, floor: float, ratio: float
) -> str | None:
    if length < _SHORT:
        return f"{length}: more than {floor * 1000:.0f} ms"
    large, small = make(length), make(length // 4)
    # Other processes make single measurements longer, at any length: the least of several counts.
    long, short = float("inf"), float("inf")
    for _ in range(4):
        long = min(long, seconds(action, large))
        short = min(short, *(seconds(action, small) for _ in range(3)))
        if 1.5 * long < ratio * short:
            return None
    if long < ratio * short:
        return None
    # A busy machine may have disturbed every long run: twice the length takes four times as long if it is quadratic.
    double = make(2 * length)
    if length >= _SURE and min(seconds(action, double) for _ in range(4)) < 3 * long:
        return None
    return f"{length // 4}: {short * 1000:.1f} ms, {length}: {long * 1000:.1f} ms"
