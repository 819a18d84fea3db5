"""Runs tasks in this thread, in threads or in processes."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from itertools import chain, groupby

from overthere.links.job.task_builder import Task
from overthere.links.job.task_rows import TaskEnd, carry_out
from overthere.links.model import Options
from overthere.links.report.batch import AnyBatch


def run(
    tasks: Iterable[Task], options: Options, workers: int, *, needs_processes: bool = False
) -> Generator[AnyBatch | TaskEnd, None, None]:
    """Yield the rows of all tasks in the order of the tasks, each task's followed by its end.

    Tasks of the web run in threads, others too if the native kernel reads the first of them; otherwise they run in
    processes, because Python runs one thread at a time.  With one worker all run in this thread.  A process that dies
    is replaced, and the document that it was reading gets a note.

    needs_processes: use processes also where the native kernel could use threads, but never for tasks of the web.
    """
    if workers <= 1:
        for task in tasks:
            yield from carry_out(task, options)
        return
    from overthere.links.job.threads import is_native, run_threads

    # URIs are retrieved in this process: the certificates of its policy cannot be sent to another.
    for is_on_web, group in groupby(tasks, lambda task: task.policy is not None):
        first_task = next(group)
        group_tasks = chain((first_task,), group)  # noqa: B031 - the same group, continued
        if is_on_web or (not needs_processes and is_native(first_task, options)):
            yield from run_threads(group_tasks, options, workers)
        else:
            from overthere.links.job.pool import run_processes

            yield from run_processes(group_tasks, options, workers)
