"""A pool of worker processes, or of threads; rows come in the order of the tasks.

Each worker is a process with a pipe.  What it sends before its turn is held up to a bound; beyond that it waits in the
pipe, and the worker with it.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator
from functools import cache, partial
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

__all__ = ["cores", "frugal", "run"]


_HELD = 16 << 20
"""Octets of rows that are held before their turn, for each worker: about what a task of a WARC file gives."""
_AHEAD = 2
"""Tasks that a worker has at once."""
_DONE, _PART, _PLACE = b"done", b"part", b"path"
"""How the end of a task begins, the end of one of its paths, and where a worker is; a batch begins with four
octets of ones (Arrow IPC, encapsulated messages)."""
_MESSAGE = 1 << 14
"""Octets that a pipe takes while nothing reads from it."""


def run(
    tasks: Iterable[Task], options: Options, workers: int, *, apart: bool = False
) -> Generator[pa.RecordBatch | TaskEnd, None, None]:
    """The rows of all tasks in their order, each task's followed by its end.

    Threads read where the first task is the native kernel's, else processes: Python lets one thread run at a time.
    apart: processes in any case.
    A process that dies leaves a note on what it was reading, and another takes its place.
    """
    if workers <= 1:
        for task in tasks:
            yield from carry_out(task, options)
        return
    # What is asked for on the web has the policy of this process, whose certificates no other can have.
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
                _Sender(pipe).send(carry_out(task, options), _DONE)


class _RetryTask(NamedTuple):
    """A task of which a worker died, to be read path by path, and each unit by unit (`progress.Progress`)."""

    task: Task
    rows: int
    """So many of its rows are there already."""
    after: int = -1
    """Of the first path the unit up to which all rows are there."""
    avoided: frozenset[int] = frozenset()
    """Units of the first path of which workers died."""


def _work_again(pipe: Connection, again: _RetryTask, options: Options) -> None:
    sender = _Sender(pipe, again.rows)
    after, avoided = again.after, again.avoided
    for place in range(len(again.task.paths)):
        tell = partial(sender.place, place)
        walk = Progress(after, avoided, tell)
        tell(walk)
        sender.send(carry_out(again.task.path_task(place), options, walk), _PART)
        after, avoided = -1, frozenset()
    pipe.send_bytes(_DONE + pickle.dumps(TaskEnd({}, again.task.size)))


class _Sender:
    """Sends what comes but for the first rows."""

    def __init__(self, pipe: Connection, rows: int = 0) -> None:
        self.pipe, self.rows = pipe, rows

    def place(self, path: int, walk: Progress) -> None:
        self.pipe.send_bytes(_PLACE + pickle.dumps((path, walk.unit, walk.source, not self.rows)))

    def send(self, results: Iterator[pa.RecordBatch | TaskEnd], end: bytes) -> None:
        for result in results:
            if isinstance(result, TaskEnd):
                self.pipe.send_bytes(end + pickle.dumps(result))
            else:
                there = min(self.rows, result.num_rows)
                self.rows -= there
                if there < result.num_rows:
                    self.pipe.send_bytes(memoryview(_to_buffer(result.slice(there))))


class _Suspect:
    """A task that a worker died of."""

    _MOST = 64  # deaths in a path, after which it is given up

    def __init__(self) -> None:
        self.path, self.unit, self.source, self.new = 0, -1, "", True
        """Where the worker is that reads it again, and whether its rows are such as have not come yet."""
        self.avoided: frozenset[int] = frozenset()
        self.again = 0  # how often it was begun again for nothing
        self.kinds: dict[str, tuple[int, int]] = {}
        self.passed: Counter[str] = Counter()

    def add(self, done: TaskEnd) -> None:
        self.passed.update(done.passed)
        for kind, (count, octets) in done.kinds.items():
            before = self.kinds.get(kind, (0, 0))
            self.kinds[kind] = (before[0] + count, before[1] + octets)

    def next_task(self, task: Task, rows: int) -> tuple[_RetryTask, str | None]:
        """What is to be read now that a worker has died again; the source to blame, "" for the path, None for none."""
        if not self.new and self.again < 3:
            self.again += 1
            return _RetryTask(task, rows, -1, self.avoided), None
        avoided = self.avoided if self.path == 0 else frozenset()
        if self.unit < 0 or self.unit in avoided or len(avoided) >= self._MOST:
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
        self.given: dict[int, Task] = {}
        """The tasks that are not over, by their number."""
        self.held: dict[int, deque[bytes]] = {}
        self.again: dict[int, _Suspect] = {}
        """What is known of tasks that a worker died of."""
        self.rows: dict[int, int] = {}
        """How many rows of a task have come."""
        self.octets = 0
        self.next = 0
        self.turn = 0

    def results(self) -> Iterator[pa.RecordBatch | TaskEnd]:
        self.feed()
        while self.given:
            held = self.held.setdefault(self.turn, deque())
            while held:
                message = held.popleft()
                self.octets -= len(message)
                result = _read(message)
                yield result
                if isinstance(result, TaskEnd):
                    del self.given[self.turn], self.held[self.turn]
                    self.turn += 1
                    break
            else:
                self.listen()
            self.feed()

    def feed(self) -> None:
        """Give out tasks, to the worker that has least."""
        while True:
            if len(self.workers) < self.most and all(worker.tasks for worker in self.workers):
                self.workers.append(_Worker(self.options))
            worker = min(self.workers, key=lambda worker: len(worker.tasks))
            # What is far ahead of its turn would only be held.
            if len(worker.tasks) >= _AHEAD or self.next - self.turn > 4 * self.most:
                return
            self.waiting = self.waiting or next(self.tasks, None)
            # A worker may wait to be read from: a message that its pipe cannot hold would wait for it in turn.
            if self.waiting is None or (worker.tasks and len(pickle.dumps(self.waiting)) > _MESSAGE):
                return
            self.give(worker, self.next, self.waiting)
            self.waiting = None
            self.next += 1

    def give(self, worker: _Worker, number: int, task: Task, message: Task | _RetryTask | None = None) -> None:
        self.given[number] = task
        worker.tasks.append(number)
        with contextlib.suppress(OSError):  # a worker that is gone is met when it is listened to
            worker.pipe.send(message or task)

    def listen(self) -> None:
        """Take what workers have to say: always whose turn it is, the others while there is room."""
        listening = [
            worker
            for worker in self.workers
            if worker.tasks and (worker.tasks[0] == self.turn or self.octets < _HELD * self.most)
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
        suspect = self.again.get(number)
        if message.startswith(_PLACE):
            at = self.again[number]
            at.path, at.unit, at.source, at.new = pickle.loads(message[len(_PLACE) :])
            return
        if message.startswith((_PART, _DONE)):
            done: TaskEnd = pickle.loads(message[len(_DONE) :])
            if suspect is not None:
                suspect.add(done)
                done = done._replace(kinds=suspect.kinds, passed=dict(suspect.passed))
            if message.startswith(_PART):
                return
            worker.tasks.popleft()
            self.again.pop(number, None)
            self.rows.pop(number, None)
            message = _DONE + pickle.dumps(done)
        else:
            self.rows[number] = self.rows.get(number, 0) + _from_message(message).num_rows
        self.store_message(number, message)

    def store_message(self, number: int, message: bytes) -> None:
        self.held.setdefault(number, deque()).append(message)
        self.octets += len(message)

    def replace(self, dead: _Worker) -> None:
        """Another worker for the tasks of one that died.

        The one that it died of is read again path by path and unit by unit, past the rows that are there; the unit of
        which a worker dies once more gets a note, or the path if it has no units, and what is behind it goes on.
        """
        dead.end()
        self.workers.remove(dead)
        if not dead.tasks:
            return
        number, *others = dead.tasks
        task = self.given[number]
        suspect = self.again.get(number)
        if suspect is None:
            suspect = self.again[number] = _Suspect()
            again = _RetryTask(task, self.rows.get(number, 0))
        else:
            again, source = suspect.next_task(task, self.rows.get(number, 0))
            if source is not None:
                made = rows(self.options)
                for document in failed_sources(
                    task._replace(paths=task.paths[suspect.path : suspect.path + 1], ignored=0), self.options
                ):
                    made.note(document._replace(source=source or document.source), "unreadable")
                self.store_message(number, bytes(_to_buffer(made.take())))
            suspect.path, suspect.unit, suspect.source, suspect.new = 0, -1, "", not again.rows
        worker = _Worker(self.options)
        self.workers.append(worker)
        self.give(worker, number, again.task, again)
        for number in others:
            self.give(worker, number, self.given[number])

    def end(self) -> None:
        for worker in self.workers:
            worker.end()
        self.workers.clear()


def _read(message: bytes) -> pa.RecordBatch | TaskEnd:
    if message.startswith(_DONE):
        done: TaskEnd = pickle.loads(message[len(_DONE) :])
        return done
    import pyarrow as pa

    from overthere.columns.rowwise import compute
    from overthere.links.report.table import schema

    batch = _from_message(message)
    decode = compute().run_end_decode
    columns = [
        decode(column) if name in _IN_RUNS else column
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema())


_IN_RUNS = ("source", "base", "base_from")
"""Columns that say the same for all of a document: sent in runs, a message is less than two thirds of what it was."""


def _to_buffer(batch: pa.RecordBatch) -> pa.Buffer:
    import pyarrow as pa

    from overthere.columns.rowwise import compute

    encode = compute().run_end_encode
    columns = [
        encode(column) if name in _IN_RUNS else column
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=_in_runs()).serialize()


def _from_message(message: bytes) -> pa.RecordBatch:
    """A batch as it was sent."""
    import pyarrow as pa

    return pa.ipc.read_record_batch(pa.py_buffer(message), _in_runs())


@cache
def _in_runs() -> pa.Schema:
    import pyarrow as pa

    from overthere.links.report.table import schema

    runs = pa.run_end_encoded(pa.int32(), pa.string())
    return pa.schema([(field.name, runs if field.name in _IN_RUNS else field.type) for field in schema()])


def frugal() -> None:
    """Take memory in pieces and give it back: for processes that are ours alone, and the C library of GNU.

    By default it learns to keep what it is asked for often, and a job of hours holds twice of what it needs.  Batches
    and messages are below the first threshold: taken from the system and given back each time, their pages took a
    tenth of the job.  What is there already is no garbage and is not looked through again.
    """
    import ctypes
    import gc

    import pyarrow as pa

    gc.freeze()
    pa.set_memory_pool(pa.system_memory_pool())
    with contextlib.suppress(OSError, AttributeError, TypeError):
        mallopt = ctypes.CDLL(None).mallopt
        for what, value in ((-3, 1 << 25), (-1, 1 << 26), (-8, 2)):  # M_MMAP_THRESHOLD, M_TRIM_THRESHOLD, M_ARENA_MAX
            mallopt(what, value)


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
