"""overthere links: the main job."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import IO

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from overthere.cli.common import base_uri, rung_option
from overthere.errors import columns, printable
from overthere.links import Document, Link, documents, extract
from overthere.normalize import Rung
from overthere.redact import mask
from overthere.uri import URI


@click.command()
@click.argument("sources", nargs=-1, required=True, type=click.Path(exists=True))
@click.option("--base", metavar="URI", help="Where the sources are published: the URI of a folder's root.")
@click.option("-o", "output", type=click.Path(dir_okay=False, path_type=Path), help="FILE.parquet, .csv or .jsonl.")
@rung_option
@click.option("--format", "form", type=click.Choice(["text", "jsonl"]), default="text", help="On standard output.")
def command(sources: tuple[str, ...], base: str | None, output: Path | None, rung: str, form: str) -> None:
    """Write the table of links of HTML files and folders of them.

    Without -o the table is printed.  A broken document or reference is a row, not an end; the summary
    on standard error counts them.  Exit 1 if a document could not be read.
    """
    own = None if base is None else base_uri(base)
    try:
        with _progress(sources, own) as step:
            counted = Summary(step)
            rows = counted.watch(extract(sources, own, rung=Rung[rung.upper()], on_document=counted.document))
            if output is None and form == "text":
                show(rows)
            else:
                write(rows, output)
    except ModuleNotFoundError as error:
        raise click.ClickException(f"{error.name} is missing: pip install 'overthere[links]'") from None
    counted.show()
    if counted.kinds["unreadable"]:
        raise SystemExit(1)


def write(rows: Iterator[Link], output: Path | None) -> None:
    """Write the rows to a file by its suffix, or as JSON lines to standard output."""
    from overthere.links.table import Jsonl, open_writer

    try:
        writer = open_writer(output) if output is not None else Jsonl(_stdout())
    except (ValueError, OSError) as error:
        raise click.UsageError(f"-o: {error}") from None
    with writer:
        for row in rows:
            writer.write(row)


def _stdout() -> IO[str]:
    return open(sys.stdout.fileno(), "w", encoding="utf-8", errors="replace", closefd=False)


@contextmanager
def _progress(sources: tuple[str, ...], base: URI | None) -> Iterator[Callable[[Document], None] | None]:
    """A progress bar on standard error, where that is a terminal and the table does not go there too."""
    console = Console(stderr=True)
    if not console.is_terminal or sys.stdout.isatty():
        yield None
        return
    shown = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*shown, console=console, transient=True) as bar:
        task = bar.add_task("documents", total=sum(1 for _ in documents(sources, base)))
        yield lambda _: bar.advance(task)


class Summary:
    """What the job has seen."""

    def __init__(self, step: Callable[[Document], None] | None) -> None:
        self.step = step
        self.documents = 0
        self.references = self.same = self.mapped = 0
        self.layers: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()

    def document(self, document: Document) -> None:
        """A document begins; one without references has no row."""
        self.documents += 1
        if self.step is not None:
            self.step(document)

    def watch(self, rows: Iterator[Link]) -> Iterator[Link]:
        for row in rows:
            self.references += row.reference is not None
            self.same += row.same_document is True
            self.layers[row.base_from or "none"] += row.reference is not None
            if row.error is not None:
                self.kinds[row.error] += row.target is None
                self.mapped += row.target is not None
            yield row

    def show(self) -> None:
        invalid = sum(self.kinds.values()) - self.kinds["unreadable"]
        kinds = ", ".join(f"{k} {n}" for k, n in self.kinds.most_common() if n and k != "unreadable")
        layers = ", ".join(f"{k} {n:,}" for k, n in self.layers.most_common() if n)
        lines = [
            f"{self.documents:,} documents, {self.references:,} references, {self.same:,} of them same-document",
            f"base from: {layers or 'nothing'}",
            f"invalid: {invalid:,}"
            + (f" ({kinds})" if kinds else "")
            + f"; mapped from IRIs: {self.mapped:,}; unreadable documents: {self.kinds['unreadable']:,}",
        ]
        click.echo("\n".join(lines), err=True)


def show(rows: Iterator[Link]) -> None:
    """The table for people, document by document."""
    console = Console(markup=False, highlight=False, emoji=False)
    for source, links in groupby(rows, key=lambda row: row.source):
        held = list(links)
        console.print(Text(printable(source), style="bold"), soft_wrap=True)
        for base, layer in dict.fromkeys((row.base, row.base_from) for row in held if row.base_from is not None):
            console.print(Text(f"  base {printable(mask(base or ''))}  ({layer})", style="dim"), soft_wrap=True)
        column = min(max(columns(row.reference or '""') for row in held), max(16, console.width // 3))
        for row in held:
            console.print(_line(row, column), soft_wrap=True)
        console.print()


def _line(row: Link, column: int) -> Text:
    reference = printable(mask(row.reference or "")) or '""'
    if columns(reference) > column:
        reference = reference[:column]  # no character takes less than a column but combining ones
        while columns(reference) >= column > 1:
            reference = reference[:-1]
        reference += "…"
    line = Text(f"  {reference}{' ' * (column - columns(reference))}  ")
    if row.error == "unreadable":
        return Text("  cannot be read", style="red")
    if row.target is None:
        line.append(f"{row.error} at {row.error_at}", style="red")
    else:
        line.append(printable(mask(row.target)))
        marks = ["same document"] if row.same_document else []
        if row.normal != row.target:
            marks.append(f"normal {printable(mask(row.normal or ''))}")
        if row.error is not None:
            marks.append(f"an IRI: {row.error} at {row.error_at}")
        if marks:
            line.append(f"  ({'; '.join(marks)})", style="dim")
    line.append(f"  [{row.where}]", style="dim")
    return line
