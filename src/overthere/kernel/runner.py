"""Runs the automaton of a rule: one table lookup per byte."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Trigger: Any = None
"""Only the native kernel searches texts faster than `re`."""


class Runner:
    """A deterministic automaton; state 0 is dead.

    classes: byte to class; table: per state and class, the next state; accepting: the states where a text may end.
    """

    def __init__(self, classes: bytes, width: int, table: Sequence[int], start: int, accepting: Sequence[int]) -> None:
        self._classes, self._width = classes, width
        # States are multiplied by the width in advance: each byte costs one addition and one lookup.
        self._rows = [state * width for state in table]

    def run(self, data: bytes, state: int) -> tuple[int, int]:
        """Run from a state: return the number of bytes read before the dead state, and the last live state."""
        rows, width = self._rows, self._width
        row_start = state * width
        for offset, c in enumerate(data.translate(self._classes)):
            next_row = rows[row_start + c]
            if not next_row:
                return offset, row_start // width
            row_start = next_row
        return len(data), row_start // width
