"""The rows of the link table for people."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, groupby, islice
from typing import Any

from rich.console import Console
from rich.text import Text

from overthere.links.job import links
from overthere.links.model import NOTES, Link
from overthere.redact import mask
from overthere.showing import columns, printable

__all__ = ["show"]


def show(batches: Iterator[Any]) -> None:
    """The table for people, document by document."""
    rows = chain.from_iterable(map(links, batches))
    console = Console(markup=False, highlight=False, emoji=False)
    for source, group in groupby(rows, key=lambda row: row.source):
        console.print(Text(printable(source), style="bold"), soft_wrap=True)
        while held := list(islice(group, _TOGETHER)):
            _print(console, held)
        console.print()


_TOGETHER = 10_000
"""Rows of a document that stand in columns of one width."""


def _print(console: Console, held: list[Link]) -> None:
    for base, layer in dict.fromkeys((row.base, row.base_from) for row in held if row.base_from is not None):
        console.print(Text(f"  base {printable(mask(base or ''))}  ({layer})", style="dim"), soft_wrap=True)
    column = min(max(columns(row.reference or '""') for row in held), max(16, console.width // 3))
    for row in held:
        console.print(_line(row, column), soft_wrap=True)


def _line(row: Link, column: int) -> Text:
    if row.reference is None:
        return Text(f"  {NOTES.get(row.error or '', row.error)}", style="red")
    reference = printable(mask(row.reference)) or '""'
    if columns(reference) > column:
        reference = reference[:column]  # no character takes less than a column but combining ones
        while columns(reference) >= column > 1:
            reference = reference[:-1]
        reference += "…"
    line = Text(f"  {reference}{' ' * (column - columns(reference))}  ")
    if row.target is None:
        line.append(f"{row.error} at {row.error_at}", style="red")
    else:
        line.append(printable(mask(row.target)))
        marks = ["same document"] if row.same_document else []
        if row.normal != row.target:
            marks.append(f"normal {printable(mask(row.normal or ''))}")
        if row.part is not None:
            marks.append(f"part {printable(row.part)}")
        if row.error is not None:
            marks.append(f"an IRI: {row.error} at {row.error_at}")
        if marks:
            line.append(f"  ({'; '.join(marks)})", style="dim")
    line.append(f"  [{printable(row.where or '')}]", style="dim")
    if row.browser is not None:
        line.append(f"  browsers: {printable(mask(row.browser)) or 'nothing'}", style="cyan")
    if row.audit is not None:
        line.append(f"  {row.audit}", style="yellow")
    return line
