"""Progress through a file, so that a record that killed a worker is skipped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

__all__ = ["Progress"]


class Progress:
    """Through a file, unit by unit: whatever a container holds, and what that holds, numbered as they begin.

    after: this unit and what comes before it are left out, -1 for none; it is one of `avoided`.
    avoided: units that are not read, nor what they hold.
    tell: called when a unit begins.
    """

    def __init__(
        self, after: int = -1, avoided: frozenset[int] = frozenset(), tell: Callable[[Progress], None] | None = None
    ) -> None:
        self.after: int = after
        self.avoided: frozenset[int] = avoided
        self.tell: Callable[[Progress], None] | None = tell
        self.unit: int = -1
        self.source: str = ""
        """The unit that has begun last."""
        self.behind: bool = after < 0
        """Whether what comes now is wanted."""
        self.is_stopped: bool = False
        """Whether nothing more is wanted."""
        self.passed: Counter[str] = Counter()
        """What held no document that can be read, by kind."""

    def begins(self, source: str) -> bool:
        """A unit begins.  Returns: whether it is to be read."""
        self.unit += 1
        self.source = source
        if self.tell is not None:
            self.tell(self)
        self.behind = self.behind or self.unit == self.after
        return self.unit not in self.avoided
