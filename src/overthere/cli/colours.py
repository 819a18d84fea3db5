"""Colours of `explain` on a terminal: one per component, in the figure and in the table."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from overthere.anatomy import Explanation
from overthere.ground.display import printable

COLOURS = {
    "scheme": "magenta",
    "authority": "bright_blue",
    "userinfo": "bright_blue",
    "host": "bright_blue",
    "port": "bright_blue",
    "path": "green",
    "query": "cyan",
    "fragment": "red",
}
"""Those of the terminal's own sixteen that are read on dark and on light; the parts of an authority have its own."""


def print_coloured(explanation: Explanation, width: int) -> bool:
    """Print with colours; without colours (NO_COLOR, TERM=dumb, a pipe) print nothing and return False."""
    console = Console(highlight=False, soft_wrap=True)
    if console.color_system is None or console.no_color:
        return False
    lines = [Text(printable(line)) for line in explanation.render(width).split("\n")]
    for number, start, end, component in _places(explanation, width):
        lines[number].stylize(COLOURS[component], start, end)
    for line in lines:
        console.print(line)
    return True


def _places(explanation: Explanation, width: int) -> Iterator[tuple[int, int, int, str]]:
    """Yield line, first and last column, and the component there, in the layout of Explanation.render()."""
    table = 1
    if explanation.text:
        layout = explanation.layout(width - 2)
        at = 2 + layout.margin
        for name, text, column, columns in layout.pieces:
            if name is not None:
                yield 0, at, at + len(text), name
                yield 1, 2 + column, 2 + column + columns, name
            at += len(text)
        for label in layout.labels:
            for row in range(label.row + 1):
                yield 2 + row, 2 + label.centre, 3 + label.centre, label.name
            yield 3 + label.row, 2 + label.start, 2 + label.end, label.name
        table = len(explanation.figure(width - 2).split("\n")) + 2
    for number, part in enumerate(explanation.rows, table):
        yield number, 0, 1000 + len(part.text), part.component
