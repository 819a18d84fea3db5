"""A table whose job is stopped at any step, even while it resumes, loses and repeats no rows."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from stored import new_bucket, served, use

from overthere.files.stores.by_obstore import ObjectStore
from overthere.files.stores.opening import list_objects, open_object
from overthere.files.tables import (
    Layout,
    atomic_table,
    folder,
    open_source,
    open_writer,
    store_folder,
    text_table,
    writers,
)
from overthere.files.tables.checkpoint import Checkpoint, ResumeError
from overthere.files.tables.folder import part_names
from servers.s3 import Store

SCHEMA = pa.schema([("text", pa.string()), ("row", pa.int64())])
TASKS = (1, 1, 12, 1, 9)
"""The batches of each task: some tasks share a part, and some have several."""
ROWS = list(range(10 * sum(TASKS)))
TEXTS = [random.Random(number).randbytes(60).hex() for number in ROWS]


forked = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked on POSIX only")


class Stop(BaseException):
    """The job is stopped."""


class Steps:
    """Counts the steps that write, and stops before or after one of them: from then on nothing is written."""

    def __init__(self) -> None:
        self.count, self.last, self.is_done = 0, 0, False

    def around(self, step: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any) -> Any:
            self.count += 1
            if not self.last or self.count < self.last or (self.count == self.last and self.is_done):
                result = step(*arguments)
            if self.last and self.count >= self.last:
                raise Stop(self.count)
            return result

        return counted

    def stops(self, place: str, resume: bool) -> bool:
        """Whether the job is stopped.  With files it is a process of its own, which ends without a last word."""
        if place.startswith("s3:"):
            try:
                write(place, resume)
            except Stop:
                return True
            return False
        if (child := os.fork()) == 0:
            code = 1
            try:
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr(sys.modules[__name__], "Stop", lambda count: os._exit(9))
                    write(place, resume)
                code = 0
            finally:
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code in (0, 9), code
        return code == 9


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Steps:
    steps = Steps()
    for owner, name in (
        (ObjectStore, "put"), (ObjectStore, "remove"), (folder, "remove"), (atomic_table, "rename"),
        (atomic_table, "remove"), (text_table, "rename"), (text_table, "remove"), (Checkpoint, "save"),
    ):  # fmt: skip
        monkeypatch.setattr(owner, name, steps.around(getattr(owner, name)))
    for module, name, value in (
        (folder, "ROWS", 30), (folder, "BYTES", 1 << 11), (store_folder, "BYTES", 1 << 11), (writers, "ROWS", 20),
        (text_table, "SECONDS", 0), (text_table, "BLOCK", 1 << 11),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, value)
    return steps


@pytest.fixture(scope="module")
def server() -> Iterator[Store]:
    with served() as store:
        yield store


@pytest.fixture(params=["/", "store", ".csv", ".jsonl.gz", ".parquet", ".arrow"])
def new_place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], str]]:
    numbers = itertools.count()
    if request.param != "store":
        yield lambda: f"{tmp_path / str(next(numbers))}{request.param}"
    else:
        server = request.getfixturevalue("server")
        with use(server):
            yield lambda: f"s3://{new_bucket(server)}/table/"


def write(place: str, resume: bool) -> None:
    try:
        table = open_writer(place, Layout(SCHEMA), job="j", resume=resume)
    except ResumeError as error:  # the table got its name, and the mark is gone
        if resume and "it is complete or" in str(error):
            return
        raise
    with table as writer:
        for task in range((writer.state or {}).get("tasks", 0), len(TASKS) * (not writer.done)):
            start = 10 * sum(TASKS[:task])
            for row in range(start, start + 10 * TASKS[task], 10):
                writer.write(pa.record_batch([TEXTS[row : row + 10], ROWS[row : row + 10]], schema=SCHEMA))
            writer.commit({"tasks": task + 1, "done": task + 1 == len(TASKS)})


def stored_rows(place: str) -> list[int]:
    if place.endswith(".jsonl.gz"):
        return [json.loads(line)["row"] for line in gzip.decompress(Path(place).read_bytes()).splitlines()]
    if not place.endswith("/"):
        with open_source(place) as source:
            return [int(row) for batch, _ in source.batches for row in batch.column("row").to_pylist()]
    if not place.startswith("s3:"):
        names: list[Any] = [Path(place) / name for name in part_names(path.name for path in Path(place).iterdir())]
    else:
        names = [open_object(place + name) for name in part_names(info.uri[-18:] for info in list_objects(place))]
    rows = [row for name in names for row in pq.read_table(name).column("row").to_pylist()]
    for file in names:
        if not isinstance(file, Path):
            file.close()
    return rows


@forked
@pytest.mark.parametrize("is_done", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("is_old", [False, True], ids=["new", "old"])
def test_a_job_that_is_stopped_at_any_step_continues(
    new_place: Callable[[], str], steps: Steps, is_done: bool, is_old: bool
) -> None:
    """Also over a complete table of the same job, which it replaces; and stopped again while it resumes."""
    draw = random.Random(3)
    for last in range(1, 1000):
        place, steps.last = new_place(), 0
        if is_old:
            write(place, resume=False)
        steps.count, steps.last, steps.is_done = 0, last, is_done
        stops: list[int] = []
        while steps.stops(place, resume=bool(stops)):
            stops.append(steps.last)
            steps.count, steps.last = 0, draw.randint(1, 6) if len(stops) < 5 else 0
        steps.last = 0
        write(place, resume=True)  # it is complete
        assert stored_rows(place) == ROWS, stops
        if not stops:  # the undisturbed run has fewer steps
            assert last > 1
            return


@forked
@pytest.mark.parametrize("new_place", ["/", "store"], indirect=True)
def test_a_missing_part_is_an_error(new_place: Callable[[], str], steps: Steps) -> None:
    """The rows of the next part were taken for its rows."""
    place = new_place()
    steps.last = 6
    assert steps.stops(place, resume=False)
    steps.last = 0
    if place.startswith("s3:"):
        store_folder.Place(place).remove("part-00000.parquet")
    else:
        (Path(place) / "part-00000.parquet").unlink()
    with pytest.raises(ResumeError, match=r"part-00000\.parquet is missing|it has .* rows, and had"):
        write(place, resume=True)


def test_a_table_in_a_store_is_found_by_any_spelling(server: Store, steps: Steps) -> None:
    with use(server):
        bucket = new_bucket(server)
        steps.last = 6
        assert steps.stops(f"s3://{bucket}/a~b/", resume=False)
        steps.last = 0
        write(f"S3://{bucket}/%61%7Eb/", resume=True)
        assert stored_rows(f"s3://{bucket}/a~b/") == ROWS
