"""The figure of RFC 3986 section 3, drawn for any text split into components.

 foo://example.com:8042/over/there?name=ferret#nose
 \\_/   \\______________/\\_________/ \\_________/ \\__/
  |           |            |            |        |
scheme     authority      path        query   fragment
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from overthere.ground.display import columns, printable

__all__ = ["Label", "PlacedPiece", "Layout", "shorten_distinctly", "draw", "grid", "layout", "note_lines", "shorten"]

# A component is not shortened below this many characters.
_SHORTEST = 9


def draw(pieces: Sequence[tuple[str | None, str]], width: int = 80) -> str:
    """The figure for (component or None for a delimiter, text) pieces in the order of the text.

    A text wider than `width` is shown with the middle of its longest components left out.
    """
    laid, labels, margin = layout(pieces, width)
    brackets = ""
    for name, _, _, wide in laid:
        if name is None or wide == 0:
            brackets += " " * wide
        else:
            brackets += "|" if wide == 1 else "\\" + "_" * (wide - 2) + "/"
    rows = [" " * margin + row for row in ("".join(piece.text for piece in laid), brackets)]
    return "\n".join(row.rstrip() for row in [*rows, *_lines(labels)])


class PlacedPiece(NamedTuple):
    """A piece of the text at its place in the figure."""

    name: str | None
    """The component; None for a delimiter."""
    text: str
    """As it is shown: visible, and without its middle where the figure would be too wide."""
    column: int
    columns: int


class Label(NamedTuple):
    """The name of a component below its mark."""

    row: int
    start: int
    centre: int
    name: str

    @property
    def end(self) -> int:
        return self.start + len(self.name)


class Layout(NamedTuple):
    """Where everything in the figure stands, in columns."""

    pieces: list[PlacedPiece]
    labels: list[Label]
    margin: int
    """Columns before the text: the first label may begin before it."""


def layout(pieces: Sequence[tuple[str | None, str]], width: int = 80) -> Layout:
    """The figure before it is drawn; as for `draw`.

    >>> [(one.name, one.row, one.start) for one in layout([("scheme", "x"), (None, ":"), ("path", "y")]).labels]
    [('path', 0, 5), ('scheme', 1, 3)]
    """
    laid: list[PlacedPiece] = []
    marks: list[tuple[int, str]] = []
    at = 0
    for name, text in _fit([(name, printable(text)) for name, text in pieces], width):
        wide = columns(text)
        laid.append(PlacedPiece(name, text, at, wide))
        if name is not None and wide:
            marks.append((at + (wide - 1) // 2, name))
        at += wide
    margin = max([0, *(len(name) // 2 - centre for centre, name in marks)])
    marks = [(centre + margin, name) for centre, name in marks]
    return Layout([one._replace(column=one.column + margin) for one in laid],
                  _centre_labels(marks) or _align_left(marks), margin)  # fmt: skip


def _fit(pieces: list[tuple[str | None, str]], width: int) -> list[tuple[str | None, str]]:
    """Cut the longest components until the text fits, or nothing more can be cut."""
    excess = sum(columns(text) for _, text in pieces) - width
    while excess > 0:
        longest = max(range(len(pieces)), key=lambda i: len(pieces[i][1]) if pieces[i][0] else 0)
        name, text = pieces[longest]
        if name is None or len(text) <= _SHORTEST:
            break
        others = sorted((len(t) for n, t in pieces if n), reverse=True)
        # Down to the next longest, no further than needed.
        size = max(_SHORTEST, len(text) - excess - 1, (others[1] if len(others) > 1 else 0) * 3 // 4)
        size = min(size, len(text) - 2)
        head = (size - 1) // 2
        cut = text[:head] + "…" + text[len(text) - (size - 1 - head) :]
        pieces[longest] = (name, cut)
        excess -= columns(text) - columns(cut)
    return pieces


def _lines(placed: list[Label]) -> list[str]:
    """Lines that name each mark below its centre; names that would touch are on lower lines."""
    lines: list[str] = []
    for row in range(-1, max((p.row for p in placed), default=-2) + 1):
        line: dict[int, str] = {}
        for label in placed:
            if label.row == row:
                line.update(enumerate(label.name, label.start))
            elif label.row > row:
                line[label.centre] = "|"
        lines.append("".join(line.get(i, " ") for i in range(max(line, default=-1) + 1)))
    return lines


def _centre_labels(marks: list[tuple[int, str]]) -> list[Label] | None:
    """Each name centred below its mark, all on one line; None if two would touch."""
    placed: list[Label] = []
    for centre, name in marks:
        label = Label(0, max(0, centre - len(name) // 2), centre, name)
        if placed and placed[-1].end >= label.start:
            return None
        placed.append(label)
    return placed


def _align_left(marks: list[tuple[int, str]]) -> list[Label]:
    """Each name begins below its mark, and below every name to its right that it would cross."""
    placed: list[Label] = []
    for centre, name in reversed(marks):
        row = max((p.row + 1 for p in placed if p.centre <= centre + len(name)), default=0)
        placed.append(Label(row, centre, centre, name))
    return placed


def grid(heads: Sequence[str], rows: Sequence[Sequence[str | None]], width: int = 80, whole: int = 2) -> list[str]:
    """Rows under their heads: undefined is blank, empty is `""`; a column without a value is left out.

    Cells are cut so that a line is about `width` columns wide, but not those of the first `whole` columns.
    """
    held = [i for i in range(len(heads)) if any(row[i] is not None for row in rows)]
    shown = [[heads[i] for i in held], *([_quote_cell(row[i], width) for i in held] for row in rows)]
    wide = [max(columns(row[i]) for row in shown) for i in range(len(held))]
    while sum(wide) + 2 * len(wide) > width and max(wide[whole:], default=0) > 4:
        wide[wide.index(max(wide[whole:]), whole)] -= 1
    return ["  ".join(_cell(text, w) for text, w in zip(row, wide, strict=True)).rstrip() for row in shown]


def note_lines(notes: Sequence[str], width: int = 80) -> list[str]:
    """Notes as lines of at most `width` columns, each begun with a "!"."""
    from textwrap import wrap

    return [line for note in notes for line in wrap(f"! {printable(note)}", width, subsequent_indent="  ")]


def shorten(text: str, width: int) -> str:
    """The text with its middle left out, if it has more than `width` characters."""
    if len(text) <= width:
        return text
    return text[: width // 2] + "…" + text[len(text) - (width - width // 2 - 1) :]


def shorten_distinctly(texts: Sequence[str], width: int) -> list[str]:
    """Texts of at most `width` characters, cut where they are alike: what differs between them is shown.

    >>> shorten_distinctly(["/a" * 20 + "/x" + "/b" * 20, "/a" * 20 + "/y" + "/b" * 20], 12)
    ['…/a/a/x/b/b…', '…/a/a/y/b/b…']
    """
    if all(len(text) <= width for text in texts):
        return list(texts)
    first, last = min(texts), max(texts)
    alike = next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    start = max(0, alike - width // 2 + 1)
    return [_slice_text(text, start, width) for text in texts]


def _slice_text(text: str, start: int, width: int) -> str:
    start = 0 if len(text) <= width else min(start, len(text) - width + 1)
    head = "…" if start > 0 else ""
    rest = text[max(start, 0) :]
    room = width - len(head)
    return head + (rest if len(rest) <= room else rest[: room - 1] + "…")


def _quote_cell(cell: str | None, width: int) -> str:
    return "" if cell is None else printable(shorten(cell, width)) or '""'


def _cell(text: str, width: int) -> str:
    shown, size = text, width
    while columns(shown) > width:  # a wide character takes two
        shown, size = shorten(text, size), size - 1
    return shown + " " * (width - columns(shown))
