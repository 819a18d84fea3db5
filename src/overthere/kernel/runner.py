"""Runs the automaton of a rule: one table lookup per octet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["Runner", "Trigger"]

Trigger: Any = None
"""Only the native kernel searches texts more quickly than `re`."""


class Runner:
    """A deterministic automaton; state 0 is dead.

    classes: octet to class; table: per state and class, the next state; accepting: where a text may end.
    """

    def __init__(self, classes: bytes, width: int, table: Sequence[int], start: int, accepting: Sequence[int]) -> None:
        self._classes, self._width = classes, width
        # Each state multiplied by the width: one addition and one look-up an octet.
        self._rows = [state * width for state in table]

    def run(self, data: bytes, state: int) -> tuple[int, int]:
        """Read from a state on: how many octets were read before the dead state, and the last live state."""
        rows, width = self._rows, self._width
        here = state * width
        for offset, c in enumerate(data.translate(self._classes)):
            there = rows[here + c]
            if not there:
                return offset, here // width
            here = there
        return len(data), here // width
