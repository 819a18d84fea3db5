"""A pool of worker processes; rows come in the order of the tasks.

Each worker is a process with a pipe.  Rows that arrive before their turn are buffered, up to a limit; beyond it they
stay in the pipe, and the worker waits.
"""

from __future__ import annotations

import contextlib
import pickle
import signal
from collections import Counter, deque
from collections.abc import Generator, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from overthere.ground.memory import configure_memory
from overthere.ground.processes import Child
from overthere.links.containers.progress import Progress
from overthere.links.job.task_builder import Task
from overthere.links.job.task_documents import failed_sources
from overthere.links.job.task_rows import TaskEnd, carry_out
from overthere.links.model import Options
from overthere.links.report.batch import AnyBatch
from overthere.links.report.rows import make_rows_builder

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_BUFFER_BYTES = 16 << 20
"""Bytes of rows of later tasks that are buffered per worker: about the rows of one task of a WARC file."""
_TASKS_PER_WORKER = 2
_TASK_END, _PATH_END, _POSITION, _ROWS = b"done", b"part", b"path", b"rows"
"""The first bytes of a message: the end of a task, the end of one of its paths, the position of a worker, a batch after
its number of rows."""
_COUNT_BYTES = 8
_PIPE_CAPACITY = 1 << 14
"""Bytes that a pipe accepts while nothing reads from it."""


def run_processes(tasks: Iterator[Task], options: Options, workers: int) -> Generator[AnyBatch | TaskEnd, None, None]:
    """Yield the rows of each task and then its `TaskEnd`, in the order of the tasks.

    A document that ends a worker process becomes a note.  Closing the generator ends the processes.
    """
    pool = _Pool(tasks, options, workers)
    try:
        yield from pool.results()
    finally:
        pool.end()


class _Worker:
    def __init__(self, options: Options) -> None:
        self.process = Child(_run_worker, options)
        self.pipe = self.process.pipe
        self.task_numbers: deque[int] = deque()

    def end(self) -> None:
        with contextlib.suppress(OSError):
            self.pipe.close()
        self.process.end()


def _run_worker(pipe: Connection, options: Options) -> None:
    configure_memory()
    # Ctrl-C is for the process that reads: it ends the workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(EOFError, OSError):
        while (task := pipe.recv()) is not None:
            if isinstance(task, _RetryTask):
                _run_retry(pipe, task, options)
            else:
                _Sender(pipe).send(carry_out(task, options), _TASK_END)


class _RetryTask(NamedTuple):
    """A task during which a worker died, read again path by path and unit by unit (`progress.Progress`)."""

    task: Task
    arrived_rows: int
    """The number of its rows that have arrived already."""
    last_unit: int = -1
    """The last unit of the first path to leave out, with all before it: it killed a worker; -1 for none."""
    deadly_units: frozenset[int] = frozenset()
    """Units of the first path that killed a worker."""


def _run_retry(pipe: Connection, retry: _RetryTask, options: Options) -> None:
    """Send the rows and the end of each path, then an end of the task without counts: the pool adds the paths' up."""
    sender = _Sender(pipe, retry.arrived_rows)
    last_unit, deadly_units = retry.last_unit, retry.deadly_units
    for index in range(len(retry.task.paths)):
        send_position = partial(sender.send_position, index)
        progress = Progress(last_unit, deadly_units, send_position)
        send_position(progress)
        sender.send(carry_out(retry.task.select(index, index + 1), options, progress), _PATH_END)
        last_unit, deadly_units = -1, frozenset()
    pipe.send_bytes(_TASK_END + pickle.dumps(TaskEnd({}, retry.task.size)))


class _Position(NamedTuple):
    """Where a worker is in a task that it reads again, and whether its rows from there on are new."""

    path_index: int = 0
    unit: int = -1
    source: str = ""
    has_new_rows: bool = True


class _Sender:
    """Sends results through a pipe, without the first `rows_to_skip` rows, which have arrived already."""

    def __init__(self, pipe: Connection, rows_to_skip: int = 0) -> None:
        self.pipe, self.rows_to_skip = pipe, rows_to_skip

    def send_position(self, path_index: int, progress: Progress) -> None:
        position = _Position(path_index, progress.unit, progress.source, not self.rows_to_skip)
        self.pipe.send_bytes(_POSITION + pickle.dumps(position))

    def send(self, results: Iterator[AnyBatch | TaskEnd], end_prefix: bytes) -> None:
        """Send results without the rows that have arrived; end_prefix begins the message of a `TaskEnd`."""
        for result in results:
            if isinstance(result, TaskEnd):
                self.pipe.send_bytes(end_prefix + pickle.dumps(result))
            else:
                skipped = min(self.rows_to_skip, result.num_rows)
                self.rows_to_skip -= skipped
                if skipped < result.num_rows:
                    self.pipe.send_bytes(_make_rows_message(result.slice(skipped)))


class _Suspect:
    """A task that killed a worker."""

    _MOST_DEATHS = 64  # in one path; the rest of it is skipped

    def __init__(self, ignored: int) -> None:
        self.position = _Position()
        self.deadly_units: frozenset[int] = frozenset()
        self.early_retries = 0
        self.path_ends: list[TaskEnd] = []
        """The ends of the paths that the present worker has read."""
        self.counts = TaskEnd({}, 0, {"ignored": ignored} if ignored else {})
        """The counts of the paths before these."""

    def add_path_ends(self) -> TaskEnd:
        """Add the counts of the present worker's paths to those before, and return them all."""
        kinds, passed = dict(self.counts.kinds), Counter(self.counts.passed)
        for end in self.path_ends:
            passed.update(end.passed)
            for kind, (count, octets) in end.kinds.items():
                total = kinds.get(kind, (0, 0))
                kinds[kind] = (total[0] + count, total[1] + octets)
        self.path_ends.clear()
        self.counts = TaskEnd(kinds, 0, dict(passed))
        return self.counts

    def next_retry(self, task: Task, arrived_rows: int) -> tuple[_RetryTask, Task | None, str]:
        """Count a death and choose what the next worker reads.

        Returns: it, the paths that get a note, and the source that the note names, "" for each path's own.

        If the worker died among rows that had arrived before, it reads the same again without a note, three times at
        most.  Then every path gets a note and none is read, because rows could come twice.
        """
        path_index, unit, source, has_new_rows = self.position
        if not has_new_rows:
            self.early_retries += 1
            self.path_ends.clear()
            if self.early_retries <= 3:
                return _RetryTask(task, arrived_rows, -1, self.deadly_units), None, ""
            return _RetryTask(task.select(len(task.paths)), 0), task.select(0), ""
        self.add_path_ends()
        failed_path = task.select(path_index, path_index + 1)
        deadly_units = self.deadly_units if path_index == 0 else frozenset()
        if unit < 0 or unit in deadly_units or len(deadly_units) >= self._MOST_DEATHS:
            self.deadly_units = frozenset()
            return _RetryTask(task.select(path_index + 1), 0), failed_path, ""
        self.deadly_units = deadly_units | {unit}
        return _RetryTask(task.select(path_index), 0, unit, self.deadly_units), failed_path, source


class _Pool:
    def __init__(self, tasks: Iterator[Task], options: Options, workers: int) -> None:
        self.tasks, self.options = tasks, options
        self.max_workers = workers
        self.waiting_task: Task | None = None
        self.workers: list[_Worker] = []
        self.unfinished: dict[int, Task] = {}
        """Tasks assigned to workers, by number."""
        self.messages: dict[int, deque[bytes]] = {}
        """Messages that wait for `results`, by task number."""
        self.suspects: dict[int, _Suspect] = {}
        """Tasks that killed a worker, by number."""
        self.arrived_rows: dict[int, int] = {}
        """Rows that have arrived, by the number of the task."""
        self.buffered_bytes = 0
        self.next_number = 0
        self.current_number = 0  # the task whose rows are yielded now

    def results(self) -> Iterator[AnyBatch | TaskEnd]:
        self.assign_tasks()
        while self.unfinished:
            messages = self.messages.setdefault(self.current_number, deque())
            while messages:
                message = messages.popleft()
                self.buffered_bytes -= len(message)
                result = _parse_message(message)
                yield result
                if isinstance(result, TaskEnd):
                    del self.unfinished[self.current_number], self.messages[self.current_number]
                    self.current_number += 1
                    break
            else:
                self.receive_messages()
            self.assign_tasks()

    def assign_tasks(self) -> None:
        """Start workers while all are busy, and give tasks to those that have the fewest."""
        while True:
            self.waiting_task = self.waiting_task or next(self.tasks, None)
            if self.waiting_task is None:
                return
            if len(self.workers) < self.max_workers and all(worker.task_numbers for worker in self.workers):
                self.workers.append(_Worker(self.options))
            worker = min(self.workers, key=lambda worker: len(worker.task_numbers))
            # A task far ahead of the current one would only fill the buffer.
            if (
                len(worker.task_numbers) >= _TASKS_PER_WORKER
                or self.next_number - self.current_number > 4 * self.max_workers
            ):
                return
            # A worker may block until its pipe is read: a message larger than that pipe would block this process too.
            if worker.task_numbers and len(pickle.dumps(self.waiting_task)) > _PIPE_CAPACITY:
                return
            self.assign(worker, self.next_number, self.waiting_task)
            self.waiting_task = None
            self.next_number += 1

    def assign(self, worker: _Worker, number: int, task: Task, retry: _RetryTask | None = None) -> None:
        """Send a worker a task, or its retry, under its number."""
        self.unfinished[number] = task
        worker.task_numbers.append(number)
        with contextlib.suppress(OSError):  # a dead worker is found when its pipe is read
            worker.pipe.send(retry or task)

    def receive_messages(self) -> None:
        """Receive from the worker with the current task, and from others while there is room; replace dead ones."""
        readable_workers = [
            worker
            for worker in self.workers
            if worker.task_numbers
            and (
                worker.task_numbers[0] == self.current_number or self.buffered_bytes < _BUFFER_BYTES * self.max_workers
            )
        ]
        from multiprocessing.connection import wait

        pipes = {worker.pipe: worker for worker in readable_workers}
        ready: list[Any] = wait(list(pipes))
        for pipe in ready:
            worker = pipes[pipe]
            try:
                message = pipe.recv_bytes()
            except (EOFError, OSError):
                self.replace_worker(worker)
                continue
            self.handle_message(worker, message)

    def handle_message(self, worker: _Worker, message: bytes) -> None:
        """Store rows and ends of tasks for `results`; keep a position or a path's end with the suspect."""
        number = worker.task_numbers[0]
        suspect = self.suspects.get(number)
        if message.startswith(_POSITION):
            self.suspects[number].position = pickle.loads(message[len(_POSITION) :])
            return
        if message.startswith((_PATH_END, _TASK_END)):
            end: TaskEnd = pickle.loads(message[len(_TASK_END) :])
            if suspect is not None:
                suspect.path_ends.append(end)
            if message.startswith(_PATH_END):
                return
            if suspect is not None:
                end = suspect.add_path_ends()._replace(size=end.size)
            worker.task_numbers.popleft()
            self.suspects.pop(number, None)
            self.arrived_rows.pop(number, None)
            message = _TASK_END + pickle.dumps(end)
        else:
            self.arrived_rows[number] = self.arrived_rows.get(number, 0) + _count_rows(message)
        self.store_message(number, message)

    def store_message(self, number: int, message: bytes) -> None:
        self.messages.setdefault(number, deque()).append(message)
        self.buffered_bytes += len(message)

    def replace_worker(self, dead: _Worker) -> None:
        """Start another worker for the tasks of one that died.

        The task that it was reading is read again path by path and unit by unit, without the rows that have arrived.
        If a unit kills another worker, it gets a note, or its path if it has no units, and the rest is read.
        """
        dead.end()
        self.workers.remove(dead)
        if not dead.task_numbers:
            return
        number, *later = dead.task_numbers
        task = self.unfinished[number]
        suspect = self.suspects.get(number)
        if suspect is None:
            suspect = self.suspects[number] = _Suspect(task.ignored)
            retry = _RetryTask(task, self.arrived_rows.get(number, 0))
        else:
            retry, failed_paths, source = suspect.next_retry(task, self.arrived_rows.get(number, 0))
            if failed_paths is not None:
                row_builder = make_rows_builder(self.options)
                for document in failed_sources(failed_paths, self.options):
                    row_builder.add_note(document._replace(source=source or document.source), "unreadable")
                self.store_message(number, _make_rows_message(row_builder.take()))
        suspect.position = _Position(has_new_rows=not retry.arrived_rows)
        worker = _Worker(self.options)
        self.workers.append(worker)
        self.assign(worker, number, retry.task, retry)
        for number in later:
            self.assign(worker, number, self.unfinished[number])

    def end(self) -> None:
        for worker in self.workers:
            worker.end()
        self.workers.clear()


def _parse_message(message: bytes) -> AnyBatch | TaskEnd:
    start = len(_TASK_END) if message.startswith(_TASK_END) else len(_ROWS) + _COUNT_BYTES
    result: AnyBatch | TaskEnd = pickle.loads(memoryview(message)[start:])
    return result


def _make_rows_message(batch: AnyBatch) -> bytes:
    return _ROWS + batch.num_rows.to_bytes(_COUNT_BYTES, "big") + pickle.dumps(batch)


def _count_rows(message: bytes) -> int:
    """Return the number of rows of a message with a batch."""
    return int.from_bytes(message[len(_ROWS) : len(_ROWS) + _COUNT_BYTES], "big")
