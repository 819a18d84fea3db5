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

# The minimal length of a shortened component.
_MIN_CHARACTERS = 9


def draw(pieces: Sequence[tuple[str | None, str]], width: int = 80) -> str:
    """Draw the figure for pieces of (component or None for a delimiter, text) in the order of the text.

    In a text wider than `width`, the middle of the longest components is omitted.
    """
    placed, labels, margin = layout(pieces, width)
    brackets = ""
    for name, _, _, piece_columns in placed:
        if name is None or piece_columns == 0:
            brackets += " " * piece_columns
        else:
            brackets += "|" if piece_columns == 1 else "\\" + "_" * (piece_columns - 2) + "/"
    rows = [" " * margin + row for row in ("".join(piece.text for piece in placed), brackets)]
    return "\n".join(row.rstrip() for row in [*rows, *_lines(labels)])


class PlacedPiece(NamedTuple):
    """A piece of the text at its place in the figure."""

    name: str | None
    """The component; None for a delimiter."""
    text: str
    """The text for display: printable, and shortened in the middle if the figure would be too wide."""
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
    """The positions of everything in the figure, in columns."""

    pieces: list[PlacedPiece]
    labels: list[Label]
    margin: int
    """The columns before the text, because the first label may begin before it."""


def layout(pieces: Sequence[tuple[str | None, str]], width: int = 80) -> Layout:
    """Compute the positions in the figure; the parameters are those of `draw`.

    >>> [(one.name, one.row, one.start) for one in layout([("scheme", "x"), (None, ":"), ("path", "y")]).labels]
    [('path', 0, 5), ('scheme', 1, 3)]
    """
    placed: list[PlacedPiece] = []
    marks: list[tuple[int, str]] = []
    column = 0
    for name, text in _fit([(name, printable(text)) for name, text in pieces], width):
        piece_columns = columns(text)
        placed.append(PlacedPiece(name, text, column, piece_columns))
        if name is not None and piece_columns:
            marks.append((column + (piece_columns - 1) // 2, name))
        column += piece_columns
    margin = max([0, *(len(name) // 2 - centre for centre, name in marks)])
    marks = [(centre + margin, name) for centre, name in marks]
    return Layout([piece._replace(column=piece.column + margin) for piece in placed],
                  _centre_labels(marks) or _align_left(marks), margin)  # fmt: skip


def _fit(pieces: list[tuple[str | None, str]], width: int) -> list[tuple[str | None, str]]:
    """Shorten the longest components until the text fits, or nothing more can be shortened."""
    excess = sum(columns(text) for _, text in pieces) - width
    while excess > 0:
        longest = max(range(len(pieces)), key=lambda i: len(pieces[i][1]) if pieces[i][0] else 0)
        name, text = pieces[longest]
        if name is None or len(text) <= _MIN_CHARACTERS:
            break
        lengths = sorted((len(t) for n, t in pieces if n), reverse=True)
        # Shorten it towards the next longest, but not more than needed.
        size = max(_MIN_CHARACTERS, len(text) - excess - 1, (lengths[1] if len(lengths) > 1 else 0) * 3 // 4)
        size = min(size, len(text) - 2)
        head = (size - 1) // 2
        shortened = text[:head] + "…" + text[len(text) - (size - 1 - head) :]
        pieces[longest] = (name, shortened)
        excess -= columns(text) - columns(shortened)
    return pieces


def _lines(placed: list[Label]) -> list[str]:
    """Return lines with each name below its mark; names that would touch are on lower lines."""
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
    """Centre each name below its mark, all on one line; return None if two would touch."""
    placed: list[Label] = []
    for centre, name in marks:
        label = Label(0, max(0, centre - len(name) // 2), centre, name)
        if placed and placed[-1].end >= label.start:
            return None
        placed.append(label)
    return placed


def _align_left(marks: list[tuple[int, str]]) -> list[Label]:
    """Let each name begin below its mark, and below every name to its right that it would cross."""
    placed: list[Label] = []
    for centre, name in reversed(marks):
        row = max((p.row + 1 for p in placed if p.centre <= centre + len(name)), default=0)
        placed.append(Label(row, centre, centre, name))
    return placed


def grid(
    heads: Sequence[str], rows: Sequence[Sequence[str | None]], width: int = 80, kept_columns: int = 2
) -> list[str]:
    """Write rows under their heads: undefined is blank, empty is `""`; a column without a value is omitted.

    Cells are shortened so that a line is about `width` columns wide, except in the first `kept_columns`.
    """
    used = [i for i in range(len(heads)) if any(row[i] is not None for row in rows)]
    cells = [[heads[i] for i in used], *([_quote_cell(row[i], width) for i in used] for row in rows)]
    widths = [max(columns(row[i]) for row in cells) for i in range(len(used))]
    while sum(widths) + 2 * len(widths) > width and max(widths[kept_columns:], default=0) > 4:
        widths[widths.index(max(widths[kept_columns:]), kept_columns)] -= 1
    return ["  ".join(_cell(text, w) for text, w in zip(row, widths, strict=True)).rstrip() for row in cells]


def note_lines(notes: Sequence[str], width: int = 80) -> list[str]:
    """Write notes as lines of at most `width` columns, and 24 at least, each note with a "!" before it."""
    from textwrap import wrap

    return [line for note in notes for line in wrap(f"! {printable(note)}", max(24, width), subsequent_indent="  ")]


def shorten(text: str, width: int) -> str:
    """Omit the middle of a text if it has more than `width` characters."""
    if len(text) <= width:
        return text
    return text[: width // 2] + "…" + text[len(text) - (width - width // 2 - 1) :]


def shorten_distinctly(texts: Sequence[str], width: int) -> list[str]:
    """Shorten texts to at most `width` characters in such a way that their differences remain visible.

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
    tail = text[max(start, 0) :]
    room = width - len(head)
    return head + (tail if len(tail) <= room else tail[: room - 1] + "…")


def _quote_cell(cell: str | None, width: int) -> str:
    return "" if cell is None else printable(shorten(cell, width)) or '""'


def _cell(text: str, width: int) -> str:
    shortened, size = text, width
    while columns(shortened) > width:  # a wide character takes two
        shortened, size = shorten(text, size), size - 1
    return shortened + " " * (width - columns(shortened))
