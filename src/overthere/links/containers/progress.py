"""Progress through a file, so that a record that killed a worker is skipped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable


class Progress:
    """Progress through a file by unit: each member of a container, at any depth, numbered in order.

    after: this unit and those before it are left out, -1 for none; it is one of `avoided`.
    avoided: units that are not read, with everything in them.
    on_unit: called when a unit begins.
    """

    def __init__(
        self, after: int = -1, avoided: frozenset[int] = frozenset(), on_unit: Callable[[Progress], None] | None = None
    ) -> None:
        self.after: int = after
        self.avoided: frozenset[int] = avoided
        self.on_unit: Callable[[Progress], None] | None = on_unit
        self.unit: int = -1
        self.source: str = ""
        """The source of the current unit."""
        self.is_past_start: bool = after < 0
        """Whether rows are wanted now: `after` is -1 or has begun."""
        self.is_stopped: bool = False
        """Whether reading must stop."""
        self.passed: Counter[str] = Counter()
        """Content without a readable document, counted by kind."""

    def begin_unit(self, source: str) -> bool:
        """Count a unit that begins.  Returns: whether to read it."""
        self.unit += 1
        self.source = source
        if self.on_unit is not None:
            self.on_unit(self)
        self.is_past_start = self.is_past_start or self.unit == self.after
        return self.unit not in self.avoided
