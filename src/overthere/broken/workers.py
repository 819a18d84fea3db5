"""Documents that Python reads, which takes long, read in several processes."""

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

__all__ = ["LotResult", "Workers", "cut_work"]

_SLOW = (".md", ".mdx", ".markdown", ".mkd", ".mdown", ".markdn", ".qmd", ".rmd", ".rst", ".ipynb")
"""Suffixes of what Python reads with a parser of its own: a megabyte takes a second, or several."""
_LEAST = 1 << 20
"""Octets of such documents that are worth the start of processes."""
_LOT = 1 << 17
"""Octets of a lot."""
_AHEAD = 2
"""Lots that a process has: one at hand and one that waits."""


class LotResult(NamedTuple):
    """What was read of a lot."""

    task: int
    """The number of its task."""
    pages: list[PageKeys]
    summary: Summary


def cut_work(tasks: list[Task], checker: Checker) -> list[tuple[int, Task]]:
    """The slow documents of tasks, in parts with the numbers of their tasks; none where processes are not worth it."""
    found: list[tuple[int, Task]] = []
    total = 0
    for number, task in enumerate(tasks):
        if task.name is not None or task.objects is not None or task.end is not None or task.notes:
            continue
        paths: list[str] = []
        size = 0
        for path in task.paths:
            if path.lower().endswith(_SLOW):
                with suppress(OSError):
                    size += os.path.getsize(path)
                paths.append(path)
            if size >= _LOT:
                found.append((number, task._replace(paths=tuple(paths))))
                total += size
                paths, size = [], 0
        if paths:
            found.append((number, task._replace(paths=tuple(paths))))
            total += size
    return found if total >= _LEAST and (checker.workers or cores()) > 1 else []


class Workers:
    """Processes that read lots; what one of them leaves, since it has ended, is read here."""

    def __init__(self, site: Site, checker: Checker, options: Options, count: int) -> None:
        from overthere.ground.processes import Child

        self._given = site, checker, options
        self._children: dict[Any, Child] = {}
        for _ in range(count):
            child = Child(_work, site, checker, options)
            self._children[child.pipe] = child

    def read(self, given: Iterable[tuple[int, Task]]) -> Iterator[LotResult]:
        """What was read, as it comes."""
        from multiprocessing.connection import wait

        waiting = iter(given)
        held: dict[Any, list[tuple[int, Task]]] = {pipe: [] for pipe in self._children}
        for _ in range(_AHEAD):
            for pipe in self._children:
                _give(pipe, held[pipe], waiting)
        while busy := [pipe for pipe, some in held.items() if some]:
            ready: list[Any] = wait(busy)
            for pipe in ready:
                try:
                    pages, summary = pipe.recv()
                except (EOFError, OSError):
                    left = [*held.pop(pipe), *(waiting if not held else ())]
                    yield from (_read(number, task, *self._given) for number, task in left)
                    continue
                number, _ = held[pipe].pop(0)
                _give(pipe, held[pipe], waiting)
                yield LotResult(number, pages, summary)

    def close(self) -> None:
        """The processes are ended."""
        for pipe, child in self._children.items():
            with suppress(OSError):
                pipe.close()
            child.end()


def _give(pipe: Connection, held: list[tuple[int, Task]], waiting: Iterator[tuple[int, Task]]) -> None:
    lot = next(waiting, None)
    if lot is not None:
        held.append(lot)
        with suppress(OSError):  # a process that has ended is met when it is listened to
            pipe.send(lot)


def _read(number: int, task: Task, site: Site, checker: Checker, options: Options) -> LotResult:
    summary = Summary()
    return LotResult(number, list(gather(task, site, checker, options, summary)), summary)


def _work(pipe: Connection, site: Site, checker: Checker, options: Options) -> None:
    # Ctrl-C is for the process that reads: it ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(EOFError, OSError):
        while True:
            number, task = pipe.recv()
            pipe.send(_read(number, task, site, checker, options)[1:])
