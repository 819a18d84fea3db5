"""Processes and threads of the main job, and how they end."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import pytest

from overthere import kernel
from overthere.links.job import threads
from overthere.links.job.extraction import batches
from overthere.links.job.pool import (
    _count_rows,
    _make_rows_message,
    _parse_message,
    _Pool,
    _Position,
    _Suspect,
    _Worker,
)
from overthere.links.job.task_builder import Task
from overthere.links.job.task_rows import TaskEnd
from overthere.links.model import Link, Options
from overthere.links.report.batch import links, to_batch
from test_warc import record, response


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals are blocked on POSIX only")
def test_an_interrupt_does_not_end_workers() -> None:
    """Ctrl-C reaches every process of the terminal: one that is just starting dies of it, with a traceback."""
    pytest.importorskip("pyarrow")  # a worker imports it
    workers = [_Worker(Options()) for _ in range(2)]
    try:
        for worker in workers:
            assert worker.process.pid is not None
            os.kill(worker.process.pid, signal.SIGINT)
        for worker in workers:
            worker.pipe.send(None)
            worker.process.join(120)
            assert worker.process.exitcode == 0
    finally:
        for worker in workers:
            worker.end()
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_a_batch_is_sent_unchanged() -> None:
    rest_fields = (None,) * 8
    links = [
        Link(source, base, layer, f"r{number}", "a href", *rest_fields)
        for number, (source, base, layer) in enumerate(
            [("a", "http://a/", "content"), ("a", "http://a/", "content"), ("a", "http://a/", None), ("b", None, None)]
            * 3
        )
    ]
    batch = to_batch(links)
    for part in (batch, batch.slice(1), batch.slice(len(links))):
        message = _make_rows_message(part)
        assert _count_rows(message) == part.num_rows
        assert _parse_message(message).links() == part.links()  # type: ignore[union-attr]


PATHS = Task(("a", "b", "c"), None, None, objects=((1, "v"), (2, "w"), (3, "x")), ignored=4)


@pytest.mark.parametrize(("unit", "first"), [(-1, 2), (5, 1)])
def test_a_retry_has_the_objects_of_its_paths(unit: int, first: int) -> None:
    """A path would be read by the size and version of another."""
    suspect = _Suspect(4)
    suspect.position = _Position(1, unit, "b!5")
    retry, failed_paths, _ = suspect.next_retry(PATHS, 0)
    assert (retry.task.paths, retry.task.objects) == (PATHS.paths[first:], (PATHS.objects or ())[first:])
    assert failed_paths == PATHS._replace(paths=("b",), objects=((2, "w"),), ignored=0)


def test_counts_of_a_retry_are_counted_once() -> None:
    """Also what was skipped before its paths, and paths that were read again because the worker died early."""
    suspect, end = _Suspect(4), TaskEnd({"html": (1, 10)}, 10, {"video": 1})
    for position in (_Position(1, -1, "", False), _Position(1, -1, "", False), _Position(2)):
        suspect.path_ends += [end] * position.path_index
        suspect.position = position
        retry, _, _ = suspect.next_retry(PATHS, 7)
        assert retry.task.ignored == 0 or retry.task == PATHS
    assert suspect.add_path_ends() == TaskEnd({"html": (2, 20)}, 0, {"ignored": 4, "video": 2})
    assert PATHS.select(1, 2).ignored == 0


def test_a_task_whose_workers_all_die_early_ends_with_notes() -> None:
    """Rows that had arrived do not come twice."""
    suspect = _Suspect(0)
    for failed in (None, None, None, PATHS.paths):
        suspect.position = _Position(1, -1, "", False)
        retry, failed_paths, _ = suspect.next_retry(PATHS, 7)
        assert (failed_paths and failed_paths.paths) == failed
        assert (retry.task.paths, retry.arrived_rows) == (((), 0) if failed else (PATHS.paths, 7))


def test_a_worker_that_dies_before_its_first_message_was_among_rows_that_had_arrived() -> None:
    """The task is read again as a whole, and no path gets a note."""
    pool = _Pool(iter([]), Options(), 1)
    try:
        pool.workers.append(_Worker(Options()))
        pool.assign(pool.workers[0], 0, PATHS)
        pool.arrived_rows[0] = 7
        for _ in range(3):
            pool.replace_worker(pool.workers[0])
            assert (pool.unfinished[0], pool.messages) == (PATHS, {})
            assert not pool.suspects[0].position.has_new_rows
    finally:
        pool.end()


def test_no_worker_is_started_without_a_task() -> None:
    pool = _Pool(iter([Task((), None, None)]), Options(), 8)
    try:
        assert len(list(pool.results())) == 1
        assert len(pool.workers) == 1
    finally:
        pool.end()


# -- threads


def folder_of_pages(folder: Path, count: int) -> Path:
    for number in range(count):
        (folder / f"{number:04}.html").write_text(f"<a href=x{number}>" * (number % 5))
    return folder


def read(folder: Path, workers: int) -> list[Link]:
    return [
        link for batch in batches([folder], "http://h/", workers=workers) if not isinstance(batch, TaskEnd)
        for link in links(batch)
    ]  # fmt: skip


def test_threads_do_not_change_the_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are in the order of the sources, however small the buffer."""
    folder_of_pages(tmp_path, 900)
    alone = read(tmp_path, 1)
    monkeypatch.setattr(threads, "is_native", lambda *_: True)
    for buffer_bytes in (threads._BUFFER_BYTES, 0):
        monkeypatch.setattr(threads, "_BUFFER_BYTES", buffer_bytes)
        assert read(tmp_path, 4) == alone
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("links ")]


@pytest.mark.parametrize(
    ("name", "is_native"),
    [
        *((name, True) for name in ("a.html", "a.warc", "a.warc.gz", "a.arc.gz", "a.warc.wat.gz", "a.zip", "a.tar.gz")),
        *((name, False) for name in ("a.warc.wet.gz", "a.wat", "a.mbox", "a.md", "a.json.gz")),
    ],
)
def test_files_that_the_kernel_reads_are_read_in_threads(name: str, is_native: bool) -> None:
    """Judging by their names; the others keep Python's lock, and processes are faster."""
    task = Task((name,), None, None)
    assert threads.is_native(task, Options()) is (is_native and kernel.name == "native")


def test_an_error_in_a_thread_is_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **options: object) -> Iterator[TaskEnd]:
        raise RuntimeError("no task today")
        yield TaskEnd({}, 0)

    folder_of_pages(tmp_path, 900)
    monkeypatch.setattr(threads, "is_native", lambda *_: True)
    monkeypatch.setattr(threads, "carry_out", fail)
    with pytest.raises(RuntimeError, match="no task today"):
        read(tmp_path, 2)


def test_stopping_early_leaves_no_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder_of_pages(tmp_path, 900)
    monkeypatch.setattr(threads, "is_native", lambda *_: True)
    results = batches([tmp_path], "http://h/", workers=2)
    next(iter(results))
    results.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("links ")]


@pytest.mark.parametrize(
    ("name", "options", "by_threads"),
    [
        ("a.html", {}, True), ("a.warc.gz", {}, True), ("a.arc", {}, True), ("a.zip", {}, True), ("a.tar", {}, True),
        ("a.md", {}, False), ("a.mbox", {}, False), ("a.md.gz", {}, False), ("a.tgz", {}, True),
        ("a.html.gz", {}, True),
        ("a.html", {"audit": True}, False), ("a.html", {"edition": "rfc1738"}, False),
    ],
)  # fmt: skip
def test_threads_are_for_the_native_kernel(name: str, options: dict[str, Any], by_threads: bool) -> None:
    """Python reads in one thread at a time: processes are used instead."""
    task = Task((name,), None, None)
    assert threads.is_native(task, Options(**options)) is (by_threads and kernel.name == "native")


# -- memory


def test_no_frame_is_kept_in_a_reference_cycle(tmp_path: Path) -> None:
    """It would keep the rows of its task: a stored error with its traceback kept a crawl's rows."""
    references = ["http://[bad", "http://h/a b", "é|x", "http://h:99x/", "x y", "%zz", "//é[/", "a:b c", "\\x", ""]
    links = "".join(f'<a href="{reference}">' for reference in references)
    (tmp_path / "a.html").write_text(links + "<base href='http://[x'>")
    (tmp_path / "b.xml").write_text(
        f"<urlset>{''.join(f'<loc>{reference}</loc>' for reference in references)}</urlset>"
    )
    (tmp_path / "c.md").write_text("\n".join(f"[a](<{reference}>)" for reference in references))
    (tmp_path / "d.css").write_text("".join(f"a {{ b: url('{reference}') }}" for reference in references))
    (tmp_path / "e.txt").write_text(" ".join(references))
    (tmp_path / "f.warc").write_bytes(b"".join(record(response(links.encode())) for _ in range(3)))
    assert read(tmp_path, 1)
    gc.collect()
    try:
        gc.disable()
        gc.set_debug(gc.DEBUG_SAVEALL)
        assert read(tmp_path, 1)
        gc.collect()
        assert not [item for item in gc.garbage if isinstance(item, FrameType | TracebackType)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
