"""The link table on disk: written tables are read back, and interrupted ones are continued."""

from __future__ import annotations

import errno
import gzip
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from drawn import links
from overthere.columns import cells
from overthere.files.tables import Layout, atomic_table, folder, reading, text_table, writers
from overthere.files.tables.checkpoint import Checkpoint, ResumeError, delay_signals
from overthere.links.model import Link
from overthere.links.report.batch import COLUMNS, schema, to_batch
from overthere.links.report.batch import links as links_of
from overthere.links.report.table import FORMATS, open_writer
from servers import NET
from support import ROOT

KINDS = (*FORMATS, "/")
INDEXED = (".parquet", ".arrow", ".feather", ".arrows")
"""Bytes of formats that cannot be continued byte by byte."""


def from_duckdb(file: Path) -> list[dict[str, Any]]:
    duckdb = pytest.importorskip("duckdb", reason="duckdb is absent")
    types = {f.name: {"bool": "BOOLEAN", "int64": "BIGINT"}.get(str(f.type), "VARCHAR") for f in schema()}
    table = duckdb.read_csv(
        str(file), header=True, columns=types, delimiter=",", quotechar='"', escapechar='"', na_values=[""],
        allow_quoted_nulls=False, sample_size=-1, auto_detect=False, strict_mode=False,
    )  # fmt: skip
    return [dict(zip(table.columns, row, strict=True)) for row in table.fetchall()]


def stored(path: Path) -> list[dict[str, Any]]:
    """The rows of a table, read by another library."""
    if path.is_dir():
        return [row for part in sorted(path.glob("part-*.parquet")) for row in pq.read_table(part).to_pylist()]
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()  # type: ignore[no-any-return]
    if path.suffix in (".arrow", ".feather"):
        return pa.ipc.open_file(path).read_all().to_pylist()  # type: ignore[no-any-return]
    if path.suffix == ".arrows":
        return pa.ipc.open_stream(path.read_bytes()).read_all().to_pylist()  # type: ignore[no-any-return]
    data = path.read_bytes()
    if path.suffix == ".gz":
        data, path = gzip.decompress(data), path.with_suffix("")
        path.write_bytes(data)
    return from_duckdb(path) if path.suffix == ".csv" else [json.loads(line) for line in data.decode().splitlines()]


def name(folder: Path, kind: str) -> str:
    return f"{folder}/t{kind}"


def test_the_schema_has_the_fields_of_a_link() -> None:
    assert tuple(schema().names) == Link._fields
    assert not any(pa.types.is_dictionary(field.type) for field in schema())


@pytest.mark.parametrize("kind", KINDS)
def test_written_tables_are_read_back(tmp_path: Path, kind: str) -> None:
    rows = links(500)
    with open_writer(name(tmp_path, kind)) as writer:
        for start in range(0, 500, 70):
            writer.write(to_batch(rows[start : start + 70]))
    assert writer.rows == 500
    assert stored(Path(name(tmp_path, kind))) == [row._asdict() for row in rows]


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_without_rows_is_a_table(tmp_path: Path, kind: str) -> None:
    with open_writer(name(tmp_path, kind)):
        pass
    assert stored(Path(name(tmp_path, kind))) == []
    if kind in (".parquet", "/"):
        assert pq.read_table(name(tmp_path, kind)).schema.equals(schema())


def test_csv_distinguishes_undefined_and_empty_and_json_lines_are_json(tmp_path: Path) -> None:
    row = Link("s", "", None, '"', ",", None, None, True, None, None, 7, None, "=")
    for kind in (".csv", ".jsonl"):
        with open_writer(name(tmp_path, kind)) as writer:
            writer.write(to_batch([row]))
    assert (tmp_path / "t.csv").read_text().splitlines()[1] == '"s","",,"""",",",,,true,,,7,,"=",'
    assert (tmp_path / "t.jsonl").read_text() == json.dumps(row._asdict(), ensure_ascii=False) + "\n"


def test_json_lines_of_any_slice_and_any_column() -> None:
    rows = links(300, 5)
    _, encode = writers.make_encoder(Layout(schema(), ".jsonl"))
    _, encode_own = writers.make_encoder(Layout(COLUMNS, ".jsonl"))
    for batch in (to_batch(rows), to_batch(rows).slice(17), to_batch([Link("", *[None] * 12)]), to_batch([])):
        expected = "".join(json.dumps(row._asdict(), ensure_ascii=False) + "\n" for row in links_of(batch)).encode()
        assert b"".join(map(bytes, encode(batch))) == expected
        assert b"".join(encode_own(batch)) == expected


def test_lone_surrogates_do_not_end_a_job() -> None:
    batch = to_batch([Link("s\ud800", None, None, "ü\udfff", *[None] * 9), Link("ok", *[None] * 12)])
    assert batch.column("source") == ["s\ufffd", "ok"]
    assert batch.column("reference") == ["ü\ufffd", None]


def test_large_batches_are_converted_to_text_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = links(200)
    monkeypatch.setattr(reading, "_BATCH_BYTES", 500)
    monkeypatch.setattr(text_table, "BLOCK", 100)
    for kind in (".csv", ".jsonl.gz"):
        with open_writer(name(tmp_path, kind)) as writer:
            writer.write(to_batch(rows))
        assert stored(Path(name(tmp_path, kind))) == [row._asdict() for row in rows]


def test_row_groups_are_neither_small_nor_large(tmp_path: Path) -> None:
    with open_writer(tmp_path / "t.parquet") as writer:
        batch = to_batch(links(1000))
        for _ in range(150):
            writer.write(batch)
    file = pq.ParquetFile(tmp_path / "t.parquet")
    assert [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)] == [66_000, 66_000, 18_000]
    assert file.metadata.row_group(0).column(0).statistics is not None
    with open_writer(tmp_path / "u.parquet") as writer:
        for _ in range(5):
            writer.write(to_batch([Link("s", "x" * (9 << 20), *[None] * 11)]))
    assert pq.ParquetFile(tmp_path / "u.parquet").num_row_groups == 3


def test_a_table_has_its_name_only_when_complete(tmp_path: Path) -> None:
    for kind in FORMATS:
        file = Path(name(tmp_path, kind))
        file.write_text("before")
        file.chmod(0o640)
        with open_writer(file) as writer:
            writer.write(to_batch(links(10)))
            assert file.read_text() == "before"
        assert file.stat().st_mode & 0o777 == 0o640
        assert len(stored(file)) == 10
    assert not list(tmp_path.glob("*.part"))
    assert not list(tmp_path.glob("*.resume"))


def finish(path: str, tasks: list[list[Link]], resume: bool = True) -> None:
    with open_writer(path, job="j", resume=resume) as writer:
        start = (writer.state or {}).get("tasks", 0)
        for number in range(start, len(tasks)):
            for row in range(0, len(tasks[number]), 7):
                writer.write(to_batch(tasks[number][row : row + 7]))
            writer.commit({"tasks": number + 1, "done": number + 1 == len(tasks)})


@pytest.mark.parametrize("often", [True, False], ids=["marks at every commit", "marks at the end"])
@pytest.mark.parametrize("kind", KINDS)
def test_an_interrupted_job_continues(tmp_path: Path, kind: str, often: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_table, "SECONDS", 0 if often else 1e9)
    monkeypatch.setattr(writers, "ROWS", 10)
    monkeypatch.setattr(folder, "ROWS", 15)
    draw = random.Random(1)
    tasks = [links(draw.choice((0, 1, 5, 23, 90)), seed) for seed in range(8)]
    finish(name(tmp_path, "0" + kind), tasks, resume=False)
    complete = stored(Path(name(tmp_path, "0" + kind)))
    assert complete == [row._asdict() for task in tasks for row in task]
    for count in range(len(tasks)):
        path = name(tmp_path, f"{count + 1}{kind}")
        with open_writer(path, job="j") as writer:
            for number, task in enumerate(tasks[:count]):
                writer.write(to_batch(task))
                writer.commit({"tasks": number + 1})
            writer.write(to_batch(tasks[count][: len(tasks[count]) // 2]))  # part of an unfinished task
        rows_before = sum(map(len, tasks[:count]))
        assert stored(Path(path)) == complete[: rows_before + len(tasks[count]) // 2]
        with open_writer(path, job="j", resume=True) as writer:  # and again, without progress
            assert (writer.rows, writer.state) == (rows_before, {"tasks": count} if count else None)
            assert f"{rows_before:,} rows" in (writer.notice or "")
        assert stored(Path(path)) == complete[:rows_before]
        finish(path, tasks)
        assert stored(Path(path)) == complete
        if kind in (".csv", ".jsonl"):
            assert Path(path).read_bytes() == Path(name(tmp_path, "0" + kind)).read_bytes()
        before = sorted((f, f.stat().st_mtime_ns) for f in tmp_path.rglob("*"))
        if kind in (".parquet", "/"):
            with open_writer(path, job="j", resume=True) as writer:
                assert writer.done
                assert "complete" in (writer.notice or "")
        else:  # its marker is gone, since nothing remains to do
            with pytest.raises(ResumeError, match="is complete or belongs to another job"):
                open_writer(path, job="j", resume=True)
        assert sorted((f, f.stat().st_mtime_ns) for f in tmp_path.rglob("*")) == before


JOB = """
import sys
from overthere.files.tables import folder, text_table, writers
text_table.SECONDS = 0
writers.ROWS = 20
folder.ROWS = 30
sys.path.insert(0, "tests")
from drawn import links
from overthere.links.report.batch import to_batch
from overthere.links.report.table import open_writer
with open_writer(sys.argv[1], job="j", resume=sys.argv[2] == "resume") as writer:
    for number in range((writer.state or {}).get("tasks", 0), 100_000):
        writer.write(to_batch(links(17, number)))
        writer.commit({"tasks": number + 1})
        print(number + 1, writer.notice or "", flush=True)
"""


def broken_off(path: str, sent: signal.Signals, least: int, resume: bool = False) -> int:
    """A job that gets a signal after some tasks; the result is the minimum number of reported tasks."""
    job = subprocess.Popen(
        [sys.executable, "-c", JOB, path, "resume" if resume else ""],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip
    assert job.stdout is not None
    count = 0
    for line in job.stdout:
        count = int(line.split()[0])
        if count >= least:
            break
    job.send_signal(sent)
    _, errors = job.communicate(timeout=NET)
    assert count >= least, errors
    return count


posix = pytest.mark.skipif(os.name == "nt", reason="signals exist on POSIX only")


@posix
@pytest.mark.parametrize("kind", KINDS)
def test_after_a_kill_the_table_is_consistent(tmp_path: Path, kind: str) -> None:
    path = name(tmp_path, kind)
    count = broken_off(path, signal.SIGKILL, 12)
    if kind != "/":
        assert not Path(path).exists()
    with open_writer(path, job="j", resume=True) as writer:
        tasks = (writer.state or {}).get("tasks", 0)
        assert writer.rows == 17 * tasks
        if kind in INDEXED:
            assert tasks == 0
            assert "starts again" in (writer.notice or "")
        else:
            assert tasks >= count - 2
        writer.write(to_batch(links(17, tasks)))
        writer.commit({"tasks": tasks + 1})
    assert stored(Path(path)) == [row._asdict() for number in range(tasks + 1) for row in links(17, number)]


@posix
@pytest.mark.parametrize("kind", KINDS)
def test_ctrl_c_leaves_complete_rows_and_a_later_kill_loses_none(tmp_path: Path, kind: str) -> None:
    path = name(tmp_path, kind)
    count = broken_off(path, signal.SIGINT, 5)
    table = stored(Path(path))
    assert len(table) >= 17 * count
    assert table == [row._asdict() for number in range(len(table) // 17 + 1) for row in links(17, number)][: len(table)]
    count_after = broken_off(path, signal.SIGKILL, count + 3, resume=True)
    with open_writer(path, job="j", resume=True) as writer:
        tasks = (writer.state or {}).get("tasks", 0)
        assert tasks >= (count if kind in INDEXED else count_after - 2)
        assert writer.rows == 17 * tasks
    assert stored(Path(path)) == [row._asdict() for number in range(tasks) for row in links(17, number)]


@posix
@pytest.mark.parametrize("kind", KINDS)
def test_a_full_disk_is_reported_and_complete_rows_are_kept(tmp_path: Path, kind: str) -> None:
    # The first tasks fit into parts of a folder, and nothing else fits.
    job = JOB.replace("17", "900 if number < 3 else 40_000").replace("ROWS = 20", "ROWS = 300")
    limited = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (250_000, 250_000))"
    path = name(tmp_path, kind)
    result = subprocess.run(
        [sys.executable, "-c", limited + job, path, ""],
        capture_output=True, text=True, cwd=ROOT, timeout=NET, check=False,
    )  # fmt: skip
    errors = [line for line in result.stderr.splitlines() if line]
    assert errors[-1] == f"OSError: [Errno 27] File too large: '{path.rstrip('/')}'"
    assert "Exception ignored" not in result.stderr
    assert not list(tmp_path.rglob("*.part"))
    if kind in INDEXED:
        assert not list(tmp_path.iterdir())
        return
    expected = [row._asdict() for number in range(5) for row in links(900, number)]
    rows = stored(Path(path))
    assert rows == expected[: len(rows)]
    with open_writer(path, job="j", resume=True) as writer:
        assert writer.rows == 900 * (writer.state or {}).get("tasks", 0)
        assert writer.rows >= (2700 if kind == "/" else 900)


@posix
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "/"])
def test_a_full_disk_at_any_byte_leaves_no_table_that_looks_complete(tmp_path: Path, kind: str) -> None:
    """There is the old table, or complete rows with the marker from which the next run continues."""
    limited = "import resource; limit = int(sys.argv[3]); resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))"
    job = JOB.replace("import sys", f"import sys; {limited}").replace("100_000", "100")
    old = [row._asdict() for row in links(5)]
    stayed = 0
    for limit in (0, 1, 200, 5_000, 30_000):
        path = name(tmp_path / str(limit), kind)
        Path(path).parent.mkdir()
        with open_writer(path, job="old") as writer:
            writer.write(to_batch(links(5)))
            writer.commit({"tasks": 1, "done": True})
        result = subprocess.run(
            [sys.executable, "-c", job, path, "", str(limit)],
            capture_output=True, text=True, cwd=ROOT, timeout=NET, check=False,
        )  # fmt: skip
        assert "OSError: [Errno 27] File too large" in result.stderr, result.stderr
        assert not list(tmp_path.rglob("*.part"))
        if kind in INDEXED or not list(tmp_path.rglob(f"{limit}/*.resume")):
            assert stored(Path(path)) == old, limit
            stayed += 1
        else:
            with open_writer(path, job="j", resume=True) as writer:
                tasks = (writer.state or {}).get("tasks", 0)
                assert writer.rows == 17 * tasks > 0
            assert stored(Path(path)) == [row._asdict() for number in range(tasks) for row in links(17, number)]
    assert stayed == 5 if kind in INDEXED else 2 <= stayed < 5


SHORT = """
import resource
from overthere.links.report.batch import to_batch
from overthere.links.report.table import open_writer
with open_writer(sys.argv[1], job="j") as writer:
    writer.write(to_batch(links(200)))
    writer.commit({"tasks": 1, "done": True})
    limit = int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
"""


@posix
@pytest.mark.parametrize("kind", INDEXED)
def test_a_full_disk_at_the_last_byte_is_reported(tmp_path: Path, kind: str) -> None:
    # The system writes as much as fits and reports that; only the next byte is an error.
    with open_writer(name(tmp_path, kind), job="j") as writer:
        writer.write(to_batch(links(200)))
        writer.commit({"tasks": 1, "done": True})
    size = Path(name(tmp_path, kind)).stat().st_size
    code = "import sys; sys.path[:0] = ['tests', 'tests/links']\nfrom test_link_table import links" + SHORT
    result = subprocess.run(
        [sys.executable, "-c", code, name(tmp_path, f"2{kind}"), str(size - 1)],
        capture_output=True, text=True, cwd=ROOT, timeout=NET, check=False,
    )  # fmt: skip
    assert "OSError: [Errno 27] File too large" in result.stderr, result.stderr
    assert not Path(name(tmp_path, f"2{kind}")).exists()


@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize("tasks", [2, 4])
@pytest.mark.parametrize(
    ("owner", "step"), [(Checkpoint, "save"), (writers._GroupWriter, "end"), (atomic_table, "rename")]
)
@pytest.mark.parametrize("kind", [".arrow", ".arrows"])
def test_an_incomplete_table_always_has_its_mark(
    tmp_path: Path, kind: str, owner: Any, step: str, tasks: int, started: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(tasks: int) -> None:
        with open_writer(name(tmp_path, kind), job="j", resume=True) as writer:
            for number in range((writer.state or {}).get("tasks", 0), tasks):
                writer.write(to_batch(links(17, number)))
                writer.commit({"tasks": number + 1, "done": number == 3})

    def fail(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def read() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    if started:
        write(1)
    before = read()
    with monkeypatch.context() as patch:
        patch.setattr(owner, step, fail)
        if step == "rename":  # as by a kill, which leaves the part
            patch.setattr(atomic_table.PartFile, "drop", lambda part: part.file.close())
        with pytest.raises(OSError, match="No space left"):
            write(tasks)
    assert step == "rename" or read() == before
    if tasks < 4:
        write(tasks + 1)
        assert set(read()) == {f"t{kind}", f"t{kind}.resume"}
    write(4)
    assert stored(Path(name(tmp_path, kind))) == [row._asdict() for number in range(4) for row in links(17, number)]
    assert set(read()) == {f"t{kind}"}


@pytest.mark.parametrize("kind", KINDS)
def test_another_job_is_rejected(tmp_path: Path, kind: str) -> None:
    path = name(tmp_path, kind)
    with open_writer(path, job='{"base": "http://u:secret@h/", "rung": "SYNTAX"}') as writer:
        writer.write(to_batch(links(3)))
        writer.commit({"tasks": 1})
    before = stored(Path(path))
    with pytest.raises(ResumeError, match="another job, with another base") as caught:
        open_writer(path, job='{"base": "http://h/", "rung": "SYNTAX"}', resume=True)
    assert "secret" not in str(caught.value)
    with pytest.raises(ResumeError, match="another job"):
        open_writer(path, job="j", resume=True)
    assert stored(Path(path)) == before


@pytest.mark.parametrize("kind", FORMATS)
def test_a_table_without_a_marker_is_not_continued(tmp_path: Path, kind: str) -> None:
    with open_writer(name(tmp_path, kind)) as writer:
        writer.write(to_batch(links(3)))
    with pytest.raises(ResumeError, match=r"mark|complete"):
        open_writer(name(tmp_path, kind), job="j", resume=True)


def spoil_text(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:10])


def spoil_mark(path: Path) -> None:
    file = path / "_overthere.json" if path.is_dir() else path.with_name(path.name + ".resume")
    file.write_text('{"overthere.links": 1, "job": "j", "rows": "x"}')


def lose_a_part(path: Path) -> None:
    next(path.glob("part-*")).unlink()


@pytest.mark.parametrize(
    ("kind", "spoil"),
    [
        (".csv", spoil_text),
        (".parquet", spoil_text),
        (".arrow", spoil_text),
        (".jsonl.gz", spoil_text),
        (".csv", spoil_mark),
        ("/", spoil_mark),
        ("/", lose_a_part),
    ],
)
def test_a_table_changed_in_between_is_rejected(tmp_path: Path, kind: str, spoil: Callable[[Path], None]) -> None:
    path = name(tmp_path, kind)
    with open_writer(path, job="j") as writer:
        writer.write(to_batch(links(3)))
        writer.commit({"tasks": 1})
    spoil(Path(path))
    with pytest.raises(ResumeError):
        open_writer(path, job="j", resume=True)


@posix
@pytest.mark.parametrize("kind", KINDS)
def test_two_jobs_cannot_write_the_same_table(tmp_path: Path, kind: str) -> None:
    with open_writer(name(tmp_path, kind), job="j"), pytest.raises(BlockingIOError, match="another process"):
        open_writer(name(tmp_path, kind), job="j", resume=True)


def test_invalid_places_for_a_table(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"\.parquet"):
        open_writer(tmp_path / "x.xls")
    with pytest.raises(ValueError, match="for a folder"):
        open_writer(tmp_path / "parquet")
    with pytest.raises(FileNotFoundError, match="no such folder"):
        open_writer(tmp_path / "no" / "x.csv")
    with pytest.raises(FileNotFoundError):
        open_writer(f"{tmp_path}/no/x/")
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "part-00000.parquet").write_text("mine")
    with pytest.raises(FileExistsError, match="not parts of a link table"):
        open_writer(tmp_path / "d")
    assert (tmp_path / "d" / "part-00000.parquet").read_text() == "mine"


def test_a_folder_is_overwritten_only_if_it_is_a_table(tmp_path: Path) -> None:
    path = f"{tmp_path}/d/"
    for number in (5, 3):
        with open_writer(path) as writer:
            writer.write(to_batch(links(number)))
        assert len(stored(Path(path))) == number
    assert sorted(os.listdir(path)) == ["_overthere.json", "part-00000.parquet"]


@posix
def test_a_part_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    path = f"{tmp_path}/d/"
    with open_writer(path) as writer:
        writer.write(to_batch(links(3)))
    os.mkfifo(tmp_path / "d" / "part-00001.parquet")
    with pytest.raises(ResumeError, match="it is a pipe"):
        open_writer(path, resume=True)


def test_a_long_task_is_split_into_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "ROWS", 10)
    with open_writer(f"{tmp_path}/d/") as writer:
        for number in range(20):
            writer.write(to_batch(links(7, number)))
    assert len(os.listdir(tmp_path / "d")) == 5
    assert [row["source"] for row in stored(tmp_path / "d")] == [r.source for n in range(20) for r in links(7, n)]


@pytest.mark.parametrize("form", [".jsonl", ".csv"])
def test_standard_output(tmp_path: Path, form: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    with open_writer(f"{tmp_path}/x{form}") as writer:
        writer.write(to_batch(links(20)))
    with open_writer("-", form=form) as writer:
        writer.write(to_batch(links(20)))
        writer.commit({"tasks": 1})
    sys.stdout.flush()
    assert capfdbinary.readouterr().out == (tmp_path / f"x{form}").read_bytes()


@posix
@pytest.mark.parametrize("kind", FORMATS)
def test_a_pipe_is_written_directly(tmp_path: Path, kind: str) -> None:
    os.mkfifo(tmp_path / f"x{kind}")
    with open(tmp_path / f"y{kind}", "wb") as file:
        cat = subprocess.Popen(["cat", tmp_path / f"x{kind}"], stdout=file)
    with cat, open_writer(tmp_path / f"x{kind}") as writer:
        writer.write(to_batch(links(20)))
    assert stored(tmp_path / f"y{kind}") == [row._asdict() for row in links(20)]


@posix
@pytest.mark.parametrize("kind", INDEXED)
@pytest.mark.parametrize("columns", [None, schema()], ids=["native", "pyarrow"])
def test_a_pipe_that_is_interrupted_has_no_end_of_a_table(tmp_path: Path, kind: str, columns: Any) -> None:
    os.mkfifo(tmp_path / "pipe")
    os.symlink("pipe", tmp_path / f"x{kind}")
    received: list[bytes] = []

    def receive() -> None:
        with open(tmp_path / "pipe", "rb", buffering=0) as file:
            received.append(file.read(1))
            time.sleep(0.2)  # the pipe is full
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            received.extend(file)

    reader = threading.Thread(target=receive)
    rows = [link._replace(target=random.Random(n).randbytes(99).hex()) for n, link in enumerate(links(writers.ROWS))]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        reader.start()
        writer = open_writer(tmp_path / f"x{kind}", columns)
        with pytest.raises(KeyboardInterrupt):
            writer.write(to_batch(rows) if columns is None else pa.record_batch(to_batch(rows)))
        writer.close()
    finally:
        signal.signal(signal.SIGINT, before)
        reader.join()
    (tmp_path / f"y{kind}").write_bytes(b"".join(received))
    with pytest.raises((OSError, pa.ArrowInvalid)):
        stored(tmp_path / f"y{kind}")


def test_a_batch_of_another_schema_and_a_closed_table(tmp_path: Path) -> None:
    with open_writer(tmp_path / "x.csv") as writer, pytest.raises(ValueError, match="other columns"):
        writer.write(pa.RecordBatch.from_pydict({"a": [1]}))
    with pytest.raises(ValueError, match="closed"):
        writer.write(to_batch([]))


@posix
def test_a_signal_is_handled_after_the_block() -> None:
    reached = []

    def write() -> None:
        with delay_signals():
            os.kill(os.getpid(), signal.SIGINT)
            reached.append(True)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # Spark, from other tests, has its own
    try:
        with pytest.raises(KeyboardInterrupt):
            write()
        assert reached
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


PLANTED = ("{}", "{}.part", "{}.resume", "{}.resume.part")


@posix
@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("planted", PLANTED)
@pytest.mark.parametrize("uri", ["link", "dangling", "hard"])
def test_a_planted_symlink_is_never_followed(tmp_path: Path, kind: str, planted: str, uri: str) -> None:
    victim, path = tmp_path / "victim", tmp_path / f"x{kind}"
    link = Path(planted.format(path))
    if uri != "dangling":
        victim.write_bytes(b"precious")
    if uri == "hard":
        os.link(victim, link)
    else:
        link.symlink_to(victim)
    if link == path and uri != "hard":
        with pytest.raises(OSError, match="it is a symlink"):
            open_writer(path, job="j")
        assert link.is_symlink()
    elif uri == "hard" and planted == "{}.resume":
        # A foreign file in place of a marker: it is neither replaced nor removed.
        with pytest.raises(ResumeError, match="it has another name too"):
            open_writer(path, job="j")
        assert link.exists()
    else:
        with open_writer(path, job="j") as writer:
            writer.write(to_batch(links(5)))
            writer.commit({"tasks": 1})
        assert stored(path) == [row._asdict() for row in links(5)]
        assert not path.is_symlink()
    assert victim.exists() == (uri != "dangling")
    assert uri == "dangling" or victim.read_bytes() == b"precious"


@posix
@pytest.mark.parametrize("kind", [".csv", ".jsonl.gz"])
@pytest.mark.parametrize("planted", ["{}.part", "{}.resume"])
@pytest.mark.parametrize("uri", ["link", "hard", "fifo", "owner"])
def test_a_job_continues_only_its_own_table(tmp_path: Path, kind: str, planted: str, uri: str) -> None:
    path = tmp_path / f"x{kind}"
    with open_writer(path, job="j") as writer:
        writer.write(to_batch(links(5)))
        writer.commit({"tasks": 1})
    path.rename(f"{path}.part")
    odd, victim, before = Path(planted.format(path)), tmp_path / "victim", b""
    if uri == "owner":
        if os.geteuid():
            pytest.skip("only the superuser gives files away")
        os.chown(odd, 12345, -1)
    else:
        odd.rename(victim)
        before = victim.read_bytes()
        if uri == "fifo":
            os.mkfifo(odd)
        elif uri == "hard":
            os.link(victim, odd)
        else:
            odd.symlink_to(victim)
    with pytest.raises(ResumeError, match=r"link|regular|another"):
        open_writer(path, job="j", resume=True)
    assert uri == "owner" or victim.read_bytes() == before


@posix
def test_a_part_of_a_folder_does_not_follow_a_symlink(tmp_path: Path) -> None:
    (tmp_path / "victim").write_bytes(b"precious")
    with open_writer(f"{tmp_path}/d/"):
        pass
    for planted in ("part-00000.parquet", "_overthere.json"):
        (tmp_path / "d" / planted).unlink()
        (tmp_path / "d" / planted).symlink_to(tmp_path / "victim")
    with open_writer(f"{tmp_path}/d/") as writer:
        (tmp_path / "d" / ".part-00000.parquet").symlink_to(tmp_path / "victim")
        writer.write(to_batch(links(5)))
    assert len(stored(tmp_path / "d")) == 5
    assert (tmp_path / "victim").read_bytes() == b"precious"


@posix
def test_permissions_are_those_of_the_file_that_is_replaced(tmp_path: Path) -> None:
    for kind in (".csv", ".parquet"):
        path = tmp_path / f"x{kind}"
        path.touch()
        path.chmod(0o600)
        with open_writer(path):
            pass
        assert path.stat().st_mode & 0o777 == 0o600


def test_formulas_in_cells_are_escaped(tmp_path: Path) -> None:
    texts = ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", "'=1", "''-", "'x", "x", "", None, "http://h/?=a", "=", "\n=1"]
    rows = [Link(text or "", text, text, text, text, text, text, None, text, text, -5, text, text) for text in texts]
    with pytest.raises(ValueError, match="applies to CSV only"):
        open_writer(tmp_path / "x.jsonl", csv_safe=True)
    for kind in (".csv", ".csv.gz"):
        with open_writer(tmp_path / f"x{kind}", csv_safe=True) as writer:
            writer.write(to_batch(rows))
        read = stored(tmp_path / f"x{kind}")
        references = [row["reference"] for row in read]
        assert references[:8] == ["'=1+1", "'+1", "'-1", "'@x", "'\t=1", "'\r=1", "''=1", "'''-"]
        assert [None if cell is None else cells.unescape(cell) for cell in references] == texts
        assert not [cell for cell in references if cell and cell[0] in "=+-@\t\r"]
        assert {row["error_at"] for row in read} == {-5}  # numbers are not foreign text
