"""Styles of printed text: one for each role, from the sixteen colours of a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from textwrap import wrap

from rich.console import Console
from rich.text import Text

from overthere.ground.display import columns

__all__ = ["HEADING", "LEVELS", "SIDE", "console", "wrap_fields", "style_text"]

HEADING = "bold"
"""Of what the lines below it are about."""
SIDE = "dim"
"""What stands beside: paragraphs, places, the names of fields."""
LEVELS: Mapping[str, str] = {"error": "red", "warning": "yellow", "note": "cyan"}
"""What is wrong, and what is worth knowing."""


def console(*, err: bool = False) -> Console:
    """Standard output, or standard error, on which nothing is coloured but what has a style."""
    return Console(markup=False, highlight=False, emoji=False, stderr=err)


def style_text(text: str, style: str, *, err: bool = False) -> str:
    """Text with the codes of its style, where the stream takes them (NO_COLOR, TERM=dumb, a pipe)."""
    with console(err=err) as target, target.capture() as captured:
        target.print(Text(text, style), end="", soft_wrap=True)
    return captured.get()


def wrap_fields(fields: Iterable[Text], width: int | None, gap: int = 2) -> Text:
    """Fields in a line that begins two columns in; what does not fit into `width` goes on below, between words.

    width: in columns; None for a line of any length without styles, as it goes into a file.
    """
    if width is None:
        return Text("  " + (" " * gap).join(field.plain for field in fields))
    line, at = Text("  "), 2
    for place, field in enumerate(fields):
        wide = columns(field.plain)
        if place and at + gap + wide > width:
            pieces = wrap(field.plain, max(20, width - 6), break_long_words=False, break_on_hyphens=False)
            for piece in pieces:
                line.append("\n      ").append(piece, field.style)
            at = 6 + columns(pieces[-1]) if pieces else at
            continue
        if place:
            line.append(" " * gap)
            at += gap
        line.append_text(field)
        at += wide
    return line
