"""Help that fits the terminal: lists of choices wrap, and narrow terminals get a narrow option column."""

from __future__ import annotations

from collections.abc import Iterable

import click

__all__ = ["Context"]

_NARROW = 76
"""Below this width the option column takes a quarter of the line."""


class _Formatter(click.HelpFormatter):
    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        most = min(col_max, self.width // 4) if self.width < _NARROW else col_max
        super().write_dl([(self._wrap(name), said) for name, said in rows], most, col_spacing)

    def _wrap(self, name: str) -> str:
        """An option wrapped between its choices, if it is longer than a line."""
        lines = [""]
        for piece in name.replace("|", "|\0").split("\0"):
            if lines[-1].strip() and len(lines[-1]) + len(piece) > self.width - self.current_indent:
                lines.append("  ")
            lines[-1] += piece
        return f"\n{'':{self.current_indent}}".join(lines)


class Context(click.Context):
    """The context of every verb."""

    formatter_class: type[click.HelpFormatter] = _Formatter
