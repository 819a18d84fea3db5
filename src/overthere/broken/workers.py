"""Worker processes for documents that are slow to read because Python reads them."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from overthere.broken.collecting import PageKeys, gather
from overthere.broken.model import Checker, Summary
from overthere.broken.site import Site
from overthere.ground.cores import cores
from overthere.links.job.task_builder import Task
from overthere.links.model import Options

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from overthere.ground.processes import Child

_SLOW_SUFFIXES = (".md", ".mdx", ".markdown", ".mkd", ".mdown", ".markdn", ".qmd", ".rmd", ".rst", ".ipynb")
"""Suffixes of documents with parsers in Python: a megabyte takes a second or more."""
_MIN_TOTAL_BYTES = 1 << 20
"""Below this total size of such documents, workers do not pay off."""
_BATCH_BYTES = 1 << 17
"""Size of a batch."""


class LotResult(NamedTuple):
    """The result of a batch."""

    task: int
    """The number of its task."""
    pages: list[PageKeys]
    summary: Summary


def cut_work(tasks: list[Task], checker: Checker) -> list[tuple[int, Task]]:
    """The slow documents of tasks in batches, with the numbers of their tasks; none if workers do not pay off."""
    batches: list[tuple[int, Task]] = []
    total = 0
    for number, task in enumerate(tasks):
        if task.name is not None or task.objects is not None or task.end is not None or task.notes:
            continue
        paths: list[str] = []
        size = 0
        for path in task.paths:
            if path.lower().endswith(_SLOW_SUFFIXES):
                with suppress(OSError):
                    size += os.path.getsize(path)
                paths.append(path)
            if size >= _BATCH_BYTES:
                batches.append((number, task._replace(paths=tuple(paths))))
                total += size
                paths, size = [], 0
        if paths:
            batches.append((number, task._replace(paths=tuple(paths))))
            total += size
    return batches if total >= _MIN_TOTAL_BYTES and (checker.workers or cores()) > 1 else []


class Workers:
    """Processes that read batches; if one dies, its batches are read in this process."""

    def __init__(self, site: Site, checker: Checker, options: Options, count: int) -> None:
        from overthere.ground.processes import Child

        self._context = site, checker, options
        self._children: dict[Any, Child] = {}
        for _ in range(count):
            child = Child(_work, site, checker, options)
            self._children[child.pipe] = child

    def read(self, tasks: Iterable[tuple[int, Task]]) -> Iterator[LotResult]:
        """Yield the results as they arrive.

        A worker gets a batch when it waits for one: while it sends a result it reads nothing, and both would wait.
        """
        from multiprocessing.connection import wait

        waiting = iter(tasks)
        sent: dict[Any, tuple[int, Task]] = {}
        for pipe in self._children:
            _send_next(pipe, sent, waiting)
        while sent:
            ready: list[Any] = wait(list(sent))
            for pipe in ready:
                batch = sent.pop(pipe)
                try:
                    pages, summary = pipe.recv()
                except (EOFError, OSError):
                    unread = [batch, *(waiting if not sent else ())]
                    yield from (_read(number, task, *self._context) for number, task in unread)
                    continue
                _send_next(pipe, sent, waiting)
                yield LotResult(batch[0], pages, summary)

    def close(self) -> None:
        """End the processes."""
        for pipe, child in self._children.items():
            with suppress(OSError):
                pipe.close()
            child.end()


def _send_next(pipe: Connection, sent: dict[Any, tuple[int, Task]], waiting: Iterator[tuple[int, Task]]) -> None:
    batch = next(waiting, None)
    if batch is not None:
        sent[pipe] = batch
        with suppress(OSError):  # `read` notices a dead process when it waits for it
            pipe.send(batch)


def _read(number: int, task: Task, site: Site, checker: Checker, options: Options) -> LotResult:
    summary = Summary()
    return LotResult(number, list(gather(task, site, checker, options, summary)), summary)


def _work(pipe: Connection, site: Site, checker: Checker, options: Options) -> None:
    # Ctrl-C is handled by the main process, which ends the workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(EOFError, OSError):
        while True:
            number, task = pipe.recv()
            pipe.send(_read(number, task, site, checker, options)[1:])
