"""Rows of the link table, printed for people."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, groupby, islice
from shutil import get_terminal_size
from typing import Any

from overthere.cli.printing import without_commands
from overthere.cli.styles import HEADING, LEVELS, SIDE, LinePrinter, Piece, wrap_fields
from overthere.ground.display import columns, printable, printable_name
from overthere.ground.redact import mask
from overthere.links.model import NOTES, Link
from overthere.links.report.batch import links


def show(batches: Iterator[Any]) -> None:
    """Print the table, document by document."""
    rows = chain.from_iterable(map(links, batches))
    printer = LinePrinter()
    for source, group in groupby(rows, key=lambda row: row.source):
        printer.print(Piece(printable_name(source), HEADING))
        while chunk := list(islice(group, _ROWS_PER_LAYOUT)):
            _print(printer, chunk)
        printer.print()


_ROWS_PER_LAYOUT = 10_000
"""Rows of a document that share column widths."""


def _print(printer: LinePrinter, rows: list[Link]) -> None:
    for base, layer in dict.fromkeys((row.base, row.base_from) for row in rows if row.base_from is not None):
        printer.print(Piece(f"  base {printable(mask(base or ''))}  ({layer})", SIDE))
    most = printer.width or get_terminal_size((80, 24)).columns  # COLUMNS, for output that is not a terminal
    column = min(max(columns(row.reference or '""') for row in rows), max(16, most // 3))
    for row in rows:
        printer.print(*_line(row, column, printer.width))


def _line(row: Link, column: int, width: int | None) -> list[Piece]:
    """A row, wrapped to the width of the terminal."""
    if row.reference is None:
        return [Piece(f"  {NOTES.get(row.error or '', row.error)}", LEVELS["error"])]
    reference = without_commands(printable(mask(row.reference))) or '""'
    return wrap_fields(_fields(row, reference + " " * (column - columns(reference))), width)


def _fields(row: Link, reference: str) -> Iterator[Piece]:
    yield Piece(reference)
    if row.target is None:
        yield Piece(f"{row.error} at {row.error_at}", LEVELS["error"])
    else:
        yield Piece(printable(mask(row.target)))
        marks = ["same document"] if row.same_document else []
        if row.normal != row.target:
            marks.append(f"normal {printable(mask(row.normal or ''))}")
        if row.part is not None:
            marks.append(f"part {printable(row.part)}")
        if row.error is not None:
            marks.append(f"an IRI: {row.error} at {row.error_at}")
        if marks:
            yield Piece(f"({'; '.join(marks)})", SIDE)
    yield Piece(f"[{printable(row.where or '')}]", SIDE)
    if row.browser is not None:
        yield Piece(f"browsers: {printable(mask(row.browser)) or 'nothing'}", LEVELS["note"])
    if row.audit is not None:
        yield Piece(row.audit, LEVELS["warning"])
