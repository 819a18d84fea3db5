"""Help that fits the terminal: lists of choices wrap, and narrow terminals get a narrow option column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

import click

_NARROW = 76
"""Below this width the option column takes a quarter of the line."""


class _Formatter(click.HelpFormatter):
    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        most = min(col_max, self.width // 4) if self.width < _NARROW else col_max
        super().write_dl([(self._wrap(name), help_text) for name, help_text in rows], most, col_spacing)

    def _wrap(self, name: str) -> str:
        """An option wrapped between its choices, if it is longer than a line."""
        lines = [""]
        for piece in name.replace("|", "|\0").split("\0"):
            if lines[-1].strip() and len(lines[-1]) + len(piece) > self.width - self.current_indent:
                lines.append("  ")
            lines[-1] += piece
        return f"\n{'':{self.current_indent}}".join(lines)


class SectionedCommand(click.Command):
    """A verb with many options, which its help shows in sections."""

    sections: ClassVar[Mapping[str, str]] = {}
    """Titles -> names of options, with blanks between them; all others stand last, as "Other options"."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows: dict[str, tuple[str, str]] = {}
        for option in self.get_params(ctx):
            if (row := option.get_help_record(ctx)) is not None:
                rows[max(option.opts, key=len)] = row
        for title, names in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([rows.pop(name) for name in names.split()])
        with formatter.section("Other options"):
            formatter.write_dl(list(rows.values()))


class Context(click.Context):
    """The context of every verb."""

    formatter_class: type[click.HelpFormatter] = _Formatter
