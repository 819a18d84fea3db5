"""A pool of threads; rows come in the order of the tasks.

The native kernel reads pages while other threads run, so that threads are enough where it reads most: one process
holds the memory of one, and hands no rows over.  What a thread makes before its turn is held up to a bound; beyond that
the thread waits.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

from overthere import kernel
from overthere.links.containers.progress import Progress
from overthere.links.documents.kinds import kind
from overthere.links.job.task_builder import Task
from overthere.links.job.task_rows import TaskEnd, carry_out
from overthere.links.model import Options

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["is_native", "run_threads"]

_HELD = 16 << 20
"""Octets of rows that are held before their turn, for each thread."""
_AHEAD = 4
"""Tasks that are begun or wait, for each thread: what is far ahead of its turn would only be held."""
_PATIENCE = 5.0
"""Seconds that a thread has to end, which it does behind the document that it reads."""
_NATIVE = ("html", "warc", "arc", "zip", "tar")


def is_native(task: Task, options: Options) -> bool:
    """Whether a task is mostly work of the native kernel, by the names of its files."""
    if kernel.name != "native" or options.edition != "rfc3986":
        return False
    if options.audit or options.whatwg or options.form is not None:
        return False  # Python looks at every target
    told = "" if task.retrieved is None else task.retrieved.media_type
    known = [kind(task.name or path, told, b"")[0] for path in task.paths]
    return 2 * sum(name in _NATIVE for name in known) >= len(known)


def run_threads(
    tasks: Iterator[Task], options: Options, workers: int
) -> Generator[pa.RecordBatch | TaskEnd, None, None]:
    """`pool.run` with threads of this process.  workers: how many."""
    pool = _Threads(tasks, options, workers)
    try:
        yield from pool.results()
    finally:
        pool.end()


class _Threads:
    def __init__(self, tasks: Iterator[Task], options: Options, workers: int) -> None:
        self.tasks, self.options, self.workers = tasks, options, workers
        self.changed = threading.Condition()
        """Holds all that follows."""
        self.waiting: deque[tuple[int, Task]] = deque()
        self.made: dict[int, deque[pa.RecordBatch | TaskEnd]] = {}
        """What was made of the tasks that are not over, by their number."""
        self.octets = 0
        self.turn = self.next = 0
        self.walks: dict[int, Progress] = {}
        self.ended = False
        self.error: BaseException | None = None
        self.threads: list[threading.Thread] = []

    def results(self) -> Iterator[pa.RecordBatch | TaskEnd]:
        self.feed()
        while self.made:
            with self.changed:
                made = self.made[self.turn]
                self.changed.wait_for(lambda: made or self.error is not None)  # noqa: B023 - it is over by then
                if not made:
                    assert self.error is not None
                    raise self.error
                result = made.popleft()
                if isinstance(result, TaskEnd):
                    del self.made[self.turn]
                    self.turn += 1
                else:
                    self.octets -= result.nbytes
                self.changed.notify_all()
            yield result
            self.feed()

    def feed(self) -> None:
        """Give out tasks.  They are found here: finding one may take a while, and may start processes."""
        while self.next - self.turn < _AHEAD * self.workers:
            task = next(self.tasks, None)
            if task is None:
                return
            with self.changed:
                self.made[self.next] = deque()
                self.waiting.append((self.next, task))
                self.next += 1
                self.changed.notify_all()
            if len(self.threads) < self.workers:
                thread = threading.Thread(target=self.work, name=f"links {len(self.threads)}", daemon=True)
                self.threads.append(thread)
                thread.start()

    def work(self) -> None:
        try:
            while (given := self.take()) is not None:
                number, task, walk = given
                for result in carry_out(task, self.options, walk):
                    if not self.put(number, result):
                        return
        except BaseException as error:  # whatever it is, it is raised where the results are asked for
            with self.changed:
                self.error = error
                self.changed.notify_all()

    def take(self) -> tuple[int, Task, Progress] | None:
        """The next task; None when it is over."""
        with self.changed:
            self.changed.wait_for(lambda: self.waiting or self.ended)
            if self.ended:
                return None
            number, task = self.waiting.popleft()
            walk = self.walks[number] = Progress()
        return number, task, walk

    def put(self, number: int, result: pa.RecordBatch | TaskEnd) -> bool:
        """Hold a result until its turn.  Returns: whether to go on."""
        with self.changed:
            self.changed.wait_for(lambda: self.ended or number == self.turn or self.octets < _HELD * self.workers)
            if self.ended:
                return False
            self.made[number].append(result)
            if isinstance(result, TaskEnd):
                del self.walks[number]
            else:
                self.octets += result.nbytes
            self.changed.notify_all()
        return True

    def end(self) -> None:
        with self.changed:
            self.ended = True
            for walk in self.walks.values():
                walk.is_stopped = True
            self.changed.notify_all()
        for thread in self.threads:
            thread.join(_PATIENCE)
