"""Types of options whose values are numbers between two limits, however they are written or huge."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import click

from overthere.ground.display import printable, shorten
from overthere.ground.redact import mask

LONGEST_WAIT = 2_000_000
"""Seconds of one wait for a socket: 23 days, below the 2^31 milliseconds that systems take."""
LONGEST_TIME = 1_000_000_000
"""Seconds of all else: 31 years."""
MOST_OCTETS = 1 << 62


def in_range(kind: click.IntRange | click.FloatRange, value: Any) -> Any:
    """The number of a value; None unless it is in the range, in which NaN never is."""
    assert kind.min is not None
    assert kind.max is not None
    if isinstance(value, bool) or (isinstance(value, float) and isinstance(kind, click.IntRange)):
        return None
    with suppress(ValueError, OverflowError, TypeError):
        number = (float if isinstance(kind, click.FloatRange) else int)(value)
        if kind.min <= number <= kind.max:
            return number
    return None


def show_value(value: object) -> str:
    """A value for a message; a whole number may have more digits than Python writes."""
    try:
        return shorten(printable(mask(repr(value))), 40)
    except ValueError:
        return "a number of thousands of digits"


class _Limited:
    """The part of both types that reads a number."""

    def convert(self: Any, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Raises: click.BadParameter."""
        number = in_range(self, value)
        if number is None:
            raise click.BadParameter(f"{show_value(value)} is not a number from {self.min:,} to {self.max:,}")
        return number


class Count(_Limited, click.IntRange):
    """A whole number from 1, or another, to a limit."""

    def __init__(self, most: int, least: int = 1) -> None:
        super().__init__(least, most)


class Amount(_Limited, click.FloatRange):
    """A number between two limits."""

    def __init__(self, least: float, most: float) -> None:
        super().__init__(least, most)


WORKERS = Count(1024)
"""Processes or threads."""
JOBS = Count(10_000)
"""Requests at once."""
RATE = Amount(0.000_01, 1_000_000)
"""Requests per second: from about one a day."""
