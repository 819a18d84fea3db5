"""Rounds: the order of the measurements, and the summary of their times."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any, TypeVar

Name = TypeVar("Name")


def rotate(names: Sequence[Name], steps: int) -> list[Name]:
    """The same names in the order of this round: another one is first, and every other round runs backwards."""
    start = steps % len(names)
    order = [*names[start:], *names[:start]]
    return order[::-1] if steps % 2 else order


def summary(seconds: list[float], rows: int) -> dict[str, Any]:
    """The median of the rounds, and the quickest and the slowest."""
    middle = statistics.median(seconds)
    return {
        "ns": round(middle / rows * 1e9, 2),
        "ns_min": round(min(seconds) / rows * 1e9, 2),
        "ns_max": round(max(seconds) / rows * 1e9, 2),
        "seconds": round(middle, 6),
        "rounds": len(seconds),
        "rows": rows,
    }
