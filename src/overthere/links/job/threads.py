"""A pool of threads; rows come in the order of the tasks.

The native kernel reads pages while other threads run, and threads share memory: rows are not copied.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Generator, Iterator

from overthere import kernel
from overthere.links.containers.compressed import content_name
from overthere.links.containers.progress import Progress
from overthere.links.documents.kinds import kind
from overthere.links.job.task_builder import Task
from overthere.links.job.task_rows import TaskEnd, carry_out
from overthere.links.model import Options
from overthere.links.report.batch import AnyBatch

_BUFFER_BYTES = 16 << 20
"""Bytes of rows of later tasks that are buffered, per thread."""
_TASKS_PER_THREAD = 4
"""Tasks that are started or queued, per thread; more would only fill the buffer."""
_JOIN_TIMEOUT = 5.0
"""Seconds to wait for a thread, which stops after its current document."""
_NATIVE_KINDS = ("html", "warc", "arc", "zip", "tar")


def is_native(task: Task, options: Options) -> bool:
    """Whether the native kernel does most of the work of a task, judging by its file names."""
    if kernel.name != "native" or options.edition != "rfc3986":
        return False
    if options.audit or options.whatwg or options.form is not None:
        return False  # these options need Python for every target
    media_type = "" if task.retrieved is None else task.retrieved.media_type
    kinds = [_content_kind(task.name or path, media_type) for path in task.paths]
    return 2 * sum(name in _NATIVE_KINDS for name in kinds) >= len(kinds)


def _content_kind(name: str, media_type: str) -> str:
    """Return the kind of a file, or of what is compressed in it, judging by its name."""
    file_kind = kind(name, media_type, b"")[0]
    return kind(content_name(name), "", b"")[0] if file_kind == "compressed" else file_kind


def run_threads(tasks: Iterator[Task], options: Options, workers: int) -> Generator[AnyBatch | TaskEnd, None, None]:
    """Run tasks in threads of this process, as `pool.run` does.  workers: the number of threads."""
    pool = _ThreadPool(tasks, options, workers)
    try:
        yield from pool.results()
    finally:
        pool.stop()


class _ThreadPool:
    def __init__(self, tasks: Iterator[Task], options: Options, workers: int) -> None:
        self.tasks, self.options, self.workers = tasks, options, workers
        self.state_changed = threading.Condition()
        """Guards all attributes below."""
        self.queue: deque[tuple[int, Task]] = deque()
        self.buffers: dict[int, deque[AnyBatch | TaskEnd]] = {}
        """Results that are not yielded yet, by task number; a task has an entry until its end is yielded."""
        self.buffered = 0
        self.current = self.next_number = 0
        self.progress: dict[int, Progress] = {}
        self.is_stopping = False
        self.error: BaseException | None = None
        self.threads: list[threading.Thread] = []

    def results(self) -> Iterator[AnyBatch | TaskEnd]:
        self.queue_tasks()
        while self.buffers:
            with self.state_changed:
                buffer = self.buffers[self.current]
                self.state_changed.wait_for(lambda: buffer or self.error is not None)  # noqa: B023 - used at once
                if not buffer:
                    assert self.error is not None
                    raise self.error
                result = buffer.popleft()
                if isinstance(result, TaskEnd):
                    del self.buffers[self.current]
                    self.current += 1
                else:
                    self.buffered -= result.nbytes
                self.state_changed.notify_all()
            yield result
            self.queue_tasks()

    def queue_tasks(self) -> None:
        """Queue tasks, in the caller's thread, since finding one may take long or start processes."""
        while self.next_number - self.current < _TASKS_PER_THREAD * self.workers:
            task = next(self.tasks, None)
            if task is None:
                return
            with self.state_changed:
                self.buffers[self.next_number] = deque()
                self.queue.append((self.next_number, task))
                self.next_number += 1
                self.state_changed.notify_all()
            if len(self.threads) < self.workers:
                thread = threading.Thread(target=self.work, name=f"links {len(self.threads)}", daemon=True)
                self.threads.append(thread)
                thread.start()

    def work(self) -> None:
        try:
            while (job := self.next_job()) is not None:
                number, task, progress = job
                for result in carry_out(task, self.options, progress):
                    if not self.store(number, result):
                        return
        except BaseException as error:  # raised again by `results`, in the caller's thread
            with self.state_changed:
                self.error = error
                self.state_changed.notify_all()

    def next_job(self) -> tuple[int, Task, Progress] | None:
        """Wait for the next job; return None if the pool is stopping."""
        with self.state_changed:
            self.state_changed.wait_for(lambda: self.queue or self.is_stopping)
            if self.is_stopping:
                return None
            number, task = self.queue.popleft()
            progress = self.progress[number] = Progress()
        return number, task, progress

    def store(self, number: int, result: AnyBatch | TaskEnd) -> bool:
        """Buffer a result, waiting while the buffer is full; return whether to continue."""
        with self.state_changed:
            self.state_changed.wait_for(
                lambda: self.is_stopping or number == self.current or self.buffered < _BUFFER_BYTES * self.workers
            )
            if self.is_stopping:
                return False
            self.buffers[number].append(result)
            if isinstance(result, TaskEnd):
                del self.progress[number]
            else:
                self.buffered += result.nbytes
            self.state_changed.notify_all()
        return True

    def stop(self) -> None:
        with self.state_changed:
            self.is_stopping = True
            for progress in self.progress.values():
                progress.is_stopped = True
            self.state_changed.notify_all()
        for thread in self.threads:
            thread.join(_JOIN_TIMEOUT)
