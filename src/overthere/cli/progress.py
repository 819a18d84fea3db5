"""Progress bars on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from time import monotonic
from typing import Any

from overthere.cli.styles import terminal_console
from overthere.links.model import Options
from overthere.values.uri import URI

_OFTEN = 0.1
"""Seconds between two changes of what is shown."""


def _column(describe: Callable[[Any], str]) -> Any:
    """Make a column of a progress bar; describe: the text for a task.  rich.progress is loaded only for a terminal."""
    from rich.progress import ProgressColumn
    from rich.text import Text

    class Column(ProgressColumn):
        def render(self, task: Any) -> Text:
            return Text(describe(task))

    return Column()


def _describe_documents(task: Any) -> str:
    count = task.fields["documents"]
    return f"{count:,} documents, {count / task.elapsed if task.elapsed else 0:,.0f}/s"


def _describe_step(task: Any) -> str:
    """Return octets or URIs done, their total, and the rate."""
    finished, total, rate = task.completed, task.total or 0, task.completed / task.elapsed if task.elapsed else 0
    if task.description == "read":
        from rich.filesize import decimal

        return f"{decimal(int(finished))} of {decimal(int(total))}, {decimal(int(rate))}/s"
    return f"{finished:,.0f} of {total:,.0f} URIs, {rate:,.0f}/s"


@contextmanager
def progress(
    sources: tuple[str, ...], base: URI | None, options: Options, *, printed: bool, skip: int = 0
) -> Iterator[Callable[[int, int], None]]:
    """A bar if standard error is a terminal; gives a function of documents and octets.

    printed: whether the table goes to standard output, which may be the same terminal.
    """
    console = terminal_console(err=True)
    if console is None or (printed and sys.stdout.isatty()):
        yield lambda documents, octets: None
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    from overthere.links.job.ranged_sources import is_ranged
    from overthere.links.job.retrieval import is_uri
    from overthere.links.job.sources import is_pipe, tasks

    total: int | None = None
    # The total is unknown for a pipe, a store or a URI: these are read once, or listed only when the job runs.
    if not any(is_ranged(source) or source == "-" or is_pipe(source) or is_uri(source) for source in sources):
        total = sum(task.size for task in islice(tasks(sources, base, options), skip, None))
    layout = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), _column(_describe_documents), TimeRemainingColumn())
    with Progress(TextColumn("links"), *layout, console=console, transient=True) as bar:
        number = bar.add_task("links", total=total, documents=0)
        seen = 0

        def step(documents: int, octets: int) -> None:
            nonlocal seen
            seen += documents
            bar.update(number, advance=octets, documents=seen)

        yield step


@contextmanager
def steps() -> Iterator[tuple[Callable[[str, int, int], None], Callable[[], None]]]:
    """Show a progress bar for each step of a job, if standard error is a terminal.

    Yields: a function that updates a bar by the name of its step, the amount done and the total (octets for "read",
    otherwise URIs), and one that removes all bars."""
    console = terminal_console(err=True)
    if console is None:
        yield (lambda name, finished, total: None), (lambda: None)
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    layout = (TextColumn("{task.description}"), BarColumn(), _column(_describe_step), TimeRemainingColumn())
    with Progress(*layout, console=console, transient=True, redirect_stdout=False, redirect_stderr=False) as bar:
        numbers: dict[str, Any] = {}
        last = -_OFTEN

        def step(name: str, finished: int, total: int) -> None:
            nonlocal last
            current_time = monotonic()
            if name in numbers and current_time - last < _OFTEN and finished < total:
                return
            last = current_time
            if name not in numbers:
                numbers[name] = bar.add_task(name, total=total)
            bar.update(numbers[name], completed=finished, total=total)

        yield step, bar.stop
