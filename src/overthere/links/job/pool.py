"""A pool of worker processes, or of threads; rows come in the order of the tasks.

Each worker is a process with a pipe.  Rows that arrive before their turn are buffered, up to a limit; beyond it they
stay in the pipe, and the worker waits.
"""

from __future__ import annotations

import contextlib
import pickle
import signal
from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator
from functools import partial
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from overthere.ground.processes import Child
from overthere.links.containers.progress import Progress
from overthere.links.job.task_builder import Task
from overthere.links.job.task_documents import failed_sources
from overthere.links.job.task_rows import TaskEnd, carry_out
from overthere.links.job.threads import is_native, run_threads
from overthere.links.model import Options
from overthere.links.report.rows import rows

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    import pyarrow as pa

__all__ = ["frugal", "run"]

_MAX_BUFFERED = 16 << 20
"""Octets of rows that are buffered before their turn, for each worker: about the rows of one task of a WARC file."""
_TASKS_PER_WORKER = 2
_TASK_END, _PATH_END, _PLACE = b"done", b"part", b"path"
"""The first octets of a message: the end of a task, the end of one of its paths, the place where a worker reads.  Rows
begin with four octets of ones (Arrow IPC, encapsulated messages)."""
_PIPE_CAPACITY = 1 << 14
"""Octets that a pipe takes while nothing reads from it."""


def run(
    tasks: Iterable[Task], options: Options, workers: int, *, apart: bool = False
) -> Generator[pa.RecordBatch | TaskEnd, None, None]:
    """Yield the rows of all tasks in the order of the tasks, each task's followed by its end.

    Threads do the work if the native kernel reads the first task, otherwise processes, because Python runs one thread
    at a time.  A process that dies is replaced, and the document that it was reading gets a note.

    apart: use processes in any case.
    """
    if workers <= 1:
        for task in tasks:
            yield from carry_out(task, options)
        return
    # URIs are retrieved in this process: the certificates of its policy cannot be sent to another.
    for on_web, group in groupby(tasks, lambda task: task.policy is not None):
        first = next(group)
        together = chain((first,), group)  # noqa: B031 - it goes on with it
        if on_web or (not apart and is_native(first, options)):
            yield from run_threads(together, options, workers)
        else:
            yield from _run_processes(together, options, workers)


def _run_processes(
    tasks: Iterator[Task], options: Options, workers: int
) -> Generator[pa.RecordBatch | TaskEnd, None, None]:
    pool = _Pool(tasks, options, workers)
    try:
        yield from pool.results()
    finally:
        pool.end()


class _Worker:
    def __init__(self, options: Options) -> None:
        self.process = Child(_work, options)
        self.pipe = self.process.pipe
        self.tasks: deque[int] = deque()

    def end(self) -> None:
        with contextlib.suppress(OSError):
            self.pipe.close()
        self.process.end()


def _work(pipe: Connection, options: Options) -> None:
    frugal()
    # Ctrl-C is for the process that reads: it ends the workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(EOFError, OSError):
        while (task := pipe.recv()) is not None:
            if isinstance(task, _RetryTask):
                _work_again(pipe, task, options)
            else:
                _Sender(pipe).send(carry_out(task, options), _TASK_END)


class _RetryTask(NamedTuple):
    """A task during which a worker died, to be read again path by path and unit by unit (`progress.Progress`)."""

    task: Task
    rows: int
    """The number of its rows that have arrived already."""
    after: int = -1
    """The last unit of the first path whose rows have all arrived; -1 for none."""
    avoided: frozenset[int] = frozenset()
    """Units of the first path that ended a worker."""


def _work_again(pipe: Connection, retry: _RetryTask, options: Options) -> None:
    sender = _Sender(pipe, retry.rows)
    after, avoided = retry.after, retry.avoided
    for place in range(len(retry.task.paths)):
        send_place = partial(sender.place, place)
        walk = Progress(after, avoided, send_place)
        send_place(walk)
        sender.send(carry_out(retry.task.path_task(place), options, walk), _PATH_END)
        after, avoided = -1, frozenset()
    pipe.send_bytes(_TASK_END + pickle.dumps(TaskEnd({}, retry.task.size)))


class _Sender:
    """Sends results through a pipe, without the first `rows` rows, which have arrived already."""

    def __init__(self, pipe: Connection, rows: int = 0) -> None:
        self.pipe, self.rows = pipe, rows

    def place(self, path: int, walk: Progress) -> None:
        self.pipe.send_bytes(_PLACE + pickle.dumps((path, walk.unit, walk.source, not self.rows)))

    def send(self, results: Iterator[pa.RecordBatch | TaskEnd], end: bytes) -> None:
        for result in results:
            if isinstance(result, TaskEnd):
                self.pipe.send_bytes(end + pickle.dumps(result))
            else:
                skipped = min(self.rows, result.num_rows)
                self.rows -= skipped
                if skipped < result.num_rows:
                    self.pipe.send_bytes(memoryview(result.slice(skipped).serialize()))


class _Suspect:
    """A task that ended a worker."""

    _MOST_DEATHS = 64  # in one path, which is given up then

    def __init__(self) -> None:
        self.path, self.unit, self.source, self.new = 0, -1, "", True
        """The place of the worker that reads it again, and whether its rows are new."""
        self.avoided: frozenset[int] = frozenset()
        self.vain_retries = 0  # without a new row
        self.kinds: dict[str, tuple[int, int]] = {}
        self.passed: Counter[str] = Counter()

    def add(self, end: TaskEnd) -> None:
        self.passed.update(end.passed)
        for kind, (count, octets) in end.kinds.items():
            before = self.kinds.get(kind, (0, 0))
            self.kinds[kind] = (before[0] + count, before[1] + octets)

    def next_task(self, task: Task, rows: int) -> tuple[_RetryTask, str | None]:
        """The task that continues after another death, and the source that gets a note: "" for the path, or None."""
        if not self.new and self.vain_retries < 3:
            self.vain_retries += 1
            return _RetryTask(task, rows, -1, self.avoided), None
        avoided = self.avoided if self.path == 0 else frozenset()
        if self.unit < 0 or self.unit in avoided or len(avoided) >= self._MOST_DEATHS:
            self.avoided = frozenset()
            return _RetryTask(task._replace(paths=task.paths[self.path + 1 :], ignored=0), 0), ""
        self.avoided = avoided | {self.unit}
        return _RetryTask(
            task._replace(paths=task.paths[self.path :], ignored=0), 0, self.unit, self.avoided
        ), self.source


class _Pool:
    def __init__(self, tasks: Iterator[Task], options: Options, workers: int) -> None:
        self.tasks, self.options = tasks, options
        self.most = workers
        self.waiting: Task | None = None
        self.workers: list[_Worker] = []
        self.unfinished: dict[int, Task] = {}
        """The tasks that were given to workers, by their number."""
        self.messages: dict[int, deque[bytes]] = {}
        self.suspects: dict[int, _Suspect] = {}
        """The tasks that ended a worker, by their number."""
        self.rows: dict[int, int] = {}
        """The number of rows of each task that have arrived."""
        self.octets = 0
        self.next = 0
        self.turn = 0  # the task whose rows are yielded now

    def results(self) -> Iterator[pa.RecordBatch | TaskEnd]:
        self.feed()
        while self.unfinished:
            messages = self.messages.setdefault(self.turn, deque())
            while messages:
                message = messages.popleft()
                self.octets -= len(message)
                result = _read(message)
                yield result
                if isinstance(result, TaskEnd):
                    del self.unfinished[self.turn], self.messages[self.turn]
                    self.turn += 1
                    break
            else:
                self.listen()
            self.feed()

    def feed(self) -> None:
        """Give tasks to the workers that have the fewest."""
        while True:
            if len(self.workers) < self.most and all(worker.tasks for worker in self.workers):
                self.workers.append(_Worker(self.options))
            worker = min(self.workers, key=lambda worker: len(worker.tasks))
            # A task far ahead of its turn would only fill the buffer.
            if len(worker.tasks) >= _TASKS_PER_WORKER or self.next - self.turn > 4 * self.most:
                return
            self.waiting = self.waiting or next(self.tasks, None)
            # A worker may block until its pipe is read: a message larger than that pipe would block this process too.
            if self.waiting is None or (worker.tasks and len(pickle.dumps(self.waiting)) > _PIPE_CAPACITY):
                return
            self.give(worker, self.next, self.waiting)
            self.waiting = None
            self.next += 1

    def give(self, worker: _Worker, number: int, task: Task, message: Task | _RetryTask | None = None) -> None:
        self.unfinished[number] = task
        worker.tasks.append(number)
        with contextlib.suppress(OSError):  # a dead worker is found when its pipe is read
            worker.pipe.send(message or task)

    def listen(self) -> None:
        """Receive messages: always of the worker whose turn it is, of others while the buffer has room."""
        listening = [
            worker
            for worker in self.workers
            if worker.tasks and (worker.tasks[0] == self.turn or self.octets < _MAX_BUFFERED * self.most)
        ]
        from multiprocessing.connection import wait

        pipes = {worker.pipe: worker for worker in listening}
        ready: list[Any] = wait(list(pipes))
        for pipe in ready:
            worker = pipes[pipe]
            try:
                message = pipe.recv_bytes()
            except (EOFError, OSError):
                self.replace(worker)
                continue
            self.receive(worker, message)

    def receive(self, worker: _Worker, message: bytes) -> None:
        number = worker.tasks[0]
        suspect = self.suspects.get(number)
        if message.startswith(_PLACE):
            place = self.suspects[number]
            place.path, place.unit, place.source, place.new = pickle.loads(message[len(_PLACE) :])
            return
        if message.startswith((_PATH_END, _TASK_END)):
            end: TaskEnd = pickle.loads(message[len(_TASK_END) :])
            if suspect is not None:
                suspect.add(end)
                end = end._replace(kinds=suspect.kinds, passed=dict(suspect.passed))
            if message.startswith(_PATH_END):
                return
            worker.tasks.popleft()
            self.suspects.pop(number, None)
            self.rows.pop(number, None)
            message = _TASK_END + pickle.dumps(end)
        else:
            self.rows[number] = self.rows.get(number, 0) + _from_message(message).num_rows
        self.store_message(number, message)

    def store_message(self, number: int, message: bytes) -> None:
        self.messages.setdefault(number, deque()).append(message)
        self.octets += len(message)

    def replace(self, dead: _Worker) -> None:
        """Start another worker for the tasks of one that died.

        The task that it was reading is read again path by path and unit by unit, without the rows that have arrived.
        If a unit ends a worker once more, it gets a note, or its path if it has no units, and the rest is read.
        """
        dead.end()
        self.workers.remove(dead)
        if not dead.tasks:
            return
        number, *later = dead.tasks
        task = self.unfinished[number]
        suspect = self.suspects.get(number)
        if suspect is None:
            suspect = self.suspects[number] = _Suspect()
            retry = _RetryTask(task, self.rows.get(number, 0))
        else:
            retry, source = suspect.next_task(task, self.rows.get(number, 0))
            if source is not None:
                row_builder = rows(self.options)
                for document in failed_sources(
                    task._replace(paths=task.paths[suspect.path : suspect.path + 1], ignored=0), self.options
                ):
                    row_builder.note(document._replace(source=source or document.source), "unreadable")
                self.store_message(number, bytes(row_builder.take().serialize()))
            suspect.path, suspect.unit, suspect.source, suspect.new = 0, -1, "", not retry.rows
        worker = _Worker(self.options)
        self.workers.append(worker)
        self.give(worker, number, retry.task, retry)
        for number in later:
            self.give(worker, number, self.unfinished[number])

    def end(self) -> None:
        for worker in self.workers:
            worker.end()
        self.workers.clear()


def _read(message: bytes) -> pa.RecordBatch | TaskEnd:
    if message.startswith(_TASK_END):
        end: TaskEnd = pickle.loads(message[len(_TASK_END) :])
        return end
    return _from_message(message)


def _from_message(message: bytes) -> pa.RecordBatch:
    """A batch as it was sent."""
    import pyarrow as pa

    from overthere.links.report.table import schema

    return pa.ipc.read_record_batch(pa.py_buffer(message), schema())


def frugal() -> None:
    """Set the allocator of GNU's C library so that freed memory returns to the system; only in processes of our own.

    By default the allocator adapts its thresholds to keep large blocks, so that a job of hours holds twice the memory
    that it needs.  Batches and messages stay below the first threshold: mapping and unmapping them each time took a
    tenth of the job.  Objects that exist already are excluded from garbage collection.
    """
    import ctypes
    import gc

    import pyarrow as pa

    gc.freeze()
    pa.set_memory_pool(pa.system_memory_pool())
    with contextlib.suppress(OSError, AttributeError, TypeError):
        mallopt = ctypes.CDLL(None).mallopt
        for parameter, value in (
            (-3, 1 << 25),
            (-1, 1 << 26),
            (-8, 2),
        ):  # M_MMAP_THRESHOLD, M_TRIM_THRESHOLD, M_ARENA_MAX
            mallopt(parameter, value)
