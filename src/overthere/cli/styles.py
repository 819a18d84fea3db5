"""Styles of printed text: one for each role, from the sixteen colours of a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from overthere.cli.printing import is_terminal, without_commands
from overthere.ground.display import columns

if TYPE_CHECKING:
    from rich.console import Console

HEADING = "bold"
"""The subject of the lines below it."""
SIDE = "dim"
"""Side information: paragraphs, places, names of fields."""
LEVELS: Mapping[str, str] = {"error": "red", "warning": "yellow", "note": "cyan"}
"""Problems, and information worth knowing."""


class Piece(NamedTuple):
    """A part of a line, with its style on a terminal."""

    text: str
    style: str = ""


class LinePrinter:
    """Prints lines on standard output, with their styles on a terminal.  For a pipe or a file rich is not loaded."""

    def __init__(self) -> None:
        self.console: Console | None = terminal_console()
        self.width: int | None = None if self.console is None else self.console.width
        """In columns; None if the output is not a terminal."""
        self.is_log: bool = not is_terminal(sys.stdout)
        """Whether the output may be a log of GitHub, also if a variable asks for colours there."""

    def print(self, *pieces: Piece) -> None:
        if self.console is None:
            print(without_commands("".join(piece.text for piece in pieces)), flush=True)
            return
        from rich.text import Text

        if self.is_log:
            pieces = tuple(Piece(without_commands(piece.text), piece.style) for piece in pieces)
        self.console.print(Text.assemble(*pieces), soft_wrap=True)


def terminal_console(*, err: bool = False) -> Console | None:
    """Return a console on a terminal that colours only styled text; None if standard output or error is not one."""
    if not is_terminal(sys.stderr if err else sys.stdout) and _FORCED.isdisjoint(os.environ):
        return None
    from rich.console import Console

    console = Console(markup=False, highlight=False, emoji=False, stderr=err)
    return console if console.is_terminal else None


_FORCED = frozenset(("FORCE_COLOR", "TTY_COMPATIBLE"))
"""The variables of the environment by which rich takes a pipe for a terminal."""


def style_text(text: str, style: str, *, err: bool = False) -> str:
    """Text with the codes of its style, where the stream takes them (NO_COLOR, TERM=dumb, a pipe)."""
    target = terminal_console(err=err)
    if target is None:
        return text
    from rich.text import Text

    with target, target.capture() as captured:
        target.print(Text(text, style), end="", soft_wrap=True)
    return captured.get()


def wrap_fields(fields: Iterable[Piece], width: int | None) -> list[Piece]:
    """Put fields into a line, each after two blanks; what does not fit into `width` continues below, between words.

    width: in columns; None for a line of any length.
    """
    line, at = list[Piece](), 0
    for field in fields:
        end = 0 if width is None else at + len(_GAP.text) + columns(field.text)
        if width is None or not at or end <= width:
            line += (_GAP, field)
            at = end
            continue
        from textwrap import wrap

        pieces = wrap(field.text, max(20, width - 6), break_long_words=False, break_on_hyphens=False)
        for piece in pieces:
            line += (Piece("\n      "), Piece(piece, field.style))
        at = 6 + columns(pieces[-1]) if pieces else at
    return line


_GAP = Piece("  ")
