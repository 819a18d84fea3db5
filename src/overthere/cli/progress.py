"""How far the main job is, on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.text import Text

from overthere.links.model import Options
from overthere.uri import URI

__all__ = ["progress"]


class _Documents(ProgressColumn):
    """Documents, and how many in a second."""

    def render(self, task: Task) -> Text:
        count = task.fields["documents"]
        rate = count / task.elapsed if task.elapsed else 0
        return Text(f"{count:,} documents, {rate:,.0f}/s")


@contextmanager
def progress(
    sources: tuple[str, ...], base: URI | None, options: Options, *, printed: bool, skip: int = 0
) -> Iterator[Callable[[int, int], None]]:
    """A bar where standard error is a terminal; takes documents and octets.

    printed: whether the table goes to standard output, which may be the same terminal.
    """
    console = Console(stderr=True)
    if not console.is_terminal or (printed and sys.stdout.isatty()):
        yield lambda documents, octets: None
        return
    from overthere.links.job.retrieved import is_uri
    from overthere.links.job.sources import is_pipe, tasks

    total: int | None = None
    if not any(source == "-" or is_pipe(source) or is_uri(source) for source in sources):  # these can be read once
        total = sum(task.size for task in islice(tasks(sources, base, options), skip, None))
    shown: tuple[Any, ...] = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), _Documents(), TimeRemainingColumn())
    with Progress(TextColumn("links"), *shown, console=console, transient=True) as bar:
        number = bar.add_task("links", total=total, documents=0)
        seen = 0

        def step(documents: int, octets: int) -> None:
            nonlocal seen
            seen += documents
            bar.update(number, advance=octets, documents=seen)

        yield step
