"""Small hostile indexes of archives that try to exhaust memory or time, or to end the job."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from overthere.access.policy import Policy
from overthere.links import batches, extract
from overthere.links.indexes import Entry, Where, read_index
from overthere.links.indexes import lines as index_lines
from overthere.links.job import ranged_sources
from overthere.links.job.ranged_sources import Index, ranged_tasks
from overthere.links.job.task_builder import TaskBuilder
from overthere.links.model import Note
from support import ROOT, linear

LONG = 100_000
ROWS = 4096


def columnar() -> bytes:
    """Values of 100,000 characters in 4,096 rows, in few bytes."""
    column = pa.DictionaryArray.from_arrays(pa.array([0] * ROWS, pa.int32()), pa.array(["x" * LONG]))
    file = io.BytesIO()
    pq.write_table(
        pa.table({
            "warc_filename": column, "url": column, "content_digest": column,
            "warc_record_offset": pa.array(range(ROWS), pa.int64()),
        }),
        file, compression="zstd", store_schema=False, dictionary_pagesize_limit=1 << 31, write_statistics=False,
    )  # fmt: skip
    return file.getvalue()


_PEAK = """
import sys
from overthere.links.indexes import Entry, Where, read_index
from support import most_memory
before = most_memory()
for _ in read_index(sys.argv[1], open(sys.argv[1], "rb"), Where()):
    pass
print((most_memory() - before) >> 10)
"""


def test_a_value_of_many_rows_is_stored_once(tmp_path: Path) -> None:
    path = tmp_path / "index.parquet"
    path.write_bytes(columnar())
    assert path.stat().st_size < 50_000
    result = subprocess.run(
        [sys.executable, "-P", "-c", _PEAK, str(path)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "tests")},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert int(result.stdout) < 300  # mebibytes; 100,000 bytes in three columns of each row are 1,200


def test_conditions_on_a_value_of_many_rows() -> None:
    records = list(read_index("i.parquet", io.BytesIO(columnar()), Where.parse(("url=xx",))))
    assert len(records) == ROWS
    assert list(read_index("i.parquet", io.BytesIO(columnar()), Where.parse(("url=xy",)))) == []


@pytest.mark.parametrize("count", [10, 300_000, 3_000_000])
@pytest.mark.parametrize("place", ["columns", "row groups"])
def test_a_footer_of_many_objects_is_not_read(count: int, place: str) -> None:
    """pyarrow made 275 MB of 900 KB, and gigabytes of ten megabytes."""
    list_head = b"\xfc" + bytes(
        (*(count >> shift & 127 | 128 for shift in (0, 7, 14)), count >> 21)
    )  # a list of structs
    schema = b"\x1c\x48\x01r\x15\x00\x00"
    groups = b"\x1c\x19" + list_head + b"\x26\x00\x00" * count + b"\x16\x00\x16\x00\x00"
    if place == "row groups":
        groups = list_head + b"\x19\x0c\x16\x00\x16\x00\x00" * count
    footer = b"\x15\x02\x19" + schema + b"\x16\x00\x19" + groups + b"\x00"
    file = io.BytesIO(b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    assert (list(read_index("i.parquet", file, Where())) == [Note("too-large")]) is (count > 10)


def test_an_index_of_many_row_groups_is_read() -> None:
    file, count = io.BytesIO(), 5_000
    numbers = pa.array(range(count), pa.int64())
    names = pa.array(["a.warc.gz"] * count)
    pq.write_table(pa.table({"warc_filename": names, "warc_record_offset": numbers}), file, row_group_size=1)
    records = list(read_index("i.parquet", file, Where()))
    assert [record.offset for record in records if isinstance(record, Entry)] == list(range(count))


@pytest.fixture
def bucket() -> str:
    store = fsspec.filesystem("memory")
    store.store.clear()
    store.pseudo_dirs[:] = [""]
    return "memory://b"


def test_nested_lists_of_paths_are_not_followed(bucket: str) -> None:
    """A list could name itself, or each the next one twice."""
    store = fsspec.filesystem("memory")
    store.pipe("/b/x.paths", b"x.paths\n")
    for number in range(30):
        store.pipe(f"/b/n{number}.paths", f"n{number + 1}.paths\n".encode() * 2)
    for name in ("x", "n0"):
        tasks = list(ranged_tasks(f"{bucket}/{name}.paths", TaskBuilder(None, 1 << 26), Policy.local()))
        assert len(tasks) <= 2
        assert len(list(batches([f"{bucket}/{name}.paths"], policy=Policy.local()))) <= 4


def test_a_long_name_is_linear(tmp_path: Path) -> None:
    def read(size: int) -> None:
        index = tmp_path / "i.paths.gz"
        index.write_bytes(gzip.compress(b"a/" * size + b"x\n"))
        tasks = list(ranged_tasks(str(index), TaskBuilder(None, 1 << 26), None))
        assert [task.notes for task in tasks] == [("refused",)]

    linear(read, 400_000)


@pytest.mark.parametrize(
    "line", ["a\n", "\n", "{\n", "a b {\n", " CDX V g\n", '{"filename": "a", "offset": "1", "url": "http://h/"}\n']
)
@pytest.mark.parametrize("name", ["i.paths.gz", "i.cdxj.gz", "i.cdx.gz"])
def test_the_lines_of_a_packed_index_are_limited(
    tmp_path: Path, name: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """4 KB of a list of paths took 28 seconds, and 73 KB of lines that are not JSON 42."""
    monkeypatch.setattr(index_lines, "_FREE_LINES", 1000)
    index = tmp_path / name
    index.write_bytes(gzip.compress(f"{name} 0 {{}}\n".encode() + line.encode() * ((1 << 21) // len(line))))
    tasks = list(ranged_tasks(Index(str(index)), TaskBuilder(None, 1 << 26), None))
    assert "too-large" in [note for task in tasks for note in task.notes]


def test_a_name_in_many_lines_is_looked_up_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up: list[str] = []
    real = os.path.realpath

    def realpath(path: str) -> str:
        looked_up.append(path)
        return real(path)

    monkeypatch.setattr(os.path, "realpath", realpath)
    (tmp_path / "i.paths").write_text("a.warc\nb.warc\n" * 1000)
    list(ranged_tasks(str(tmp_path / "i.paths"), TaskBuilder(None, 1 << 26), None))
    assert len(looked_up) < 10


def test_the_stored_bytes_of_an_index_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranged_sources, "_MAX_BUFFERED_BYTES", 1 << 22)
    index = tmp_path / "i.cdxj.gz"
    line = '{{"url": "http://b.a/{}", "filename": "a.warc.gz", "offset": {}, "length": 10}}'
    lines = [f"a,b)/ 20240101000000 {line.format('x' * 500_000, number)}\n" for number in range(100)]
    index.write_bytes(gzip.compress("".join(lines).encode()))
    tracemalloc.start()
    count = sum(len(task.records or ()) for task in ranged_tasks(Index(str(index)), TaskBuilder(None, 1 << 26), None))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == len(lines)
    assert peak < 24 << 20


def test_an_archive_is_read_once_for_all_spellings_of_its_name(tmp_path: Path, bucket: str) -> None:
    (tmp_path / "a.warc.gz").write_bytes(b"x")
    names = ["a.warc.gz", "./a.warc.gz", "././a.warc.gz", "b/../a.warc.gz", "a.warc.gz"]
    (tmp_path / "i.paths").write_text("".join(f"{name}\n" for name in names))
    lines = [f'a)/ 1 {{"url": "http://a/", "filename": "{name}", "offset": 5, "length": 9}}\n' for name in names]
    (tmp_path / "i.cdxj").write_text("".join(lines))
    fsspec.filesystem("memory").pipe("/b/i.cdxj", "".join(lines).replace("b/../", "%61/../").encode())
    for name in (tmp_path / "i.cdxj", f"{bucket}/i.cdxj"):
        (task,) = ranged_tasks(Index(str(name)), TaskBuilder(None, 1 << 26), Policy.local())
        assert [(record.offset, record.length) for record in task.records or ()] == [(5, 9)]
    tasks = list(ranged_tasks(str(tmp_path / "i.paths"), TaskBuilder(None, 1 << 26), None))
    assert sorted(note for task in tasks for note in task.notes) == ["repeated"]
    assert sum(len(task.paths) for task in tasks if not task.notes) == 1


@pytest.mark.parametrize("is_packed", [False, True])
def test_a_length_over_other_records_leads_to_none_of_them(tmp_path: Path, *, is_packed: bool) -> None:
    # With the rest of the file as length of each record, each was read once for every record before it.
    octets, lines, size = b"", [], 20
    for number in range(size):
        record = (
            f"WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:x:{number}>\r\nContent-Type: text/html\r\n"
            f"WARC-Target-URI: http://h/{number}\r\nContent-Length: 10\r\n\r\n<a href=a>\r\n\r\n"
        ).encode()
        fields = {"url": f"http://h/{number}", "filename": "a.warc", "offset": len(octets), "length": 1 << 20}
        lines.append(f"h)/{number} 20261101000000 {json.dumps(fields)}\n")
        octets += gzip.compress(record) if is_packed else record
    (tmp_path / "a.warc").write_bytes(octets)
    for count in (1, size):
        index = tmp_path / f"{count}.cdxj"
        index.write_text("".join(lines[:count]))
        assert len(list(extract(Index(index)))) == count


def test_a_pipe_in_a_folder_of_indexes_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.cdxj")
    (tmp_path / "b.paths").mkdir()
    (tmp_path / "c.cdxj").write_text('a)/ 1 {"url": "http://a/", "filename": "a.warc.gz", "offset": 5, "length": 9}\n')
    tasks = list(ranged_tasks(Index(str(tmp_path)), TaskBuilder(None, 1 << 26), None))
    assert [note for task in tasks for note in task.notes] == ["unreadable"]
    assert [record.offset for task in tasks for record in task.records or ()] == [5]


def test_invalid_content_of_an_index_does_not_end_the_job(tmp_path: Path) -> None:
    file = io.BytesIO()
    pq.write_table(pa.table({"url": ["http://h/"]}), file)
    (tmp_path / "i.parquet").write_bytes(file.getvalue())
    (tmp_path / "p.html").write_text("<a href=x>")
    tables = list(extract([Index(str(tmp_path / "i.parquet")), str(tmp_path / "p.html")]))
    assert [table.reference for table in tables if table.reference] == ["x"]
    first = b" CDX N b a m s k r M S V g\n" + b"a)/ 1 http://a/ text/html 200 X - - 9 5 a.warc.gz\n"
    read = list(read_index("i.cdx", io.BytesIO(first + b" CDX g V\n"), Where.parse(("status=200",))))
    assert [getattr(row, "kind", "entry") for row in read] == ["entry", "unsupported"]
    with pytest.raises(ValueError, match="cannot answer the condition status"):
        list(read_index("i.cdx", io.BytesIO(b" CDX g V\n"), Where.parse(("status=200",))))


@pytest.mark.parametrize("name", ["a\0.cdxj", "a\0.paths", "pipe.paths"])
def test_an_index_that_is_no_file_becomes_a_note(name: str, tmp_path: Path) -> None:
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.paths")  # without a writer, opening it would wait for ever
    assert [link.error for link in extract(Index(f"{tmp_path}/{name}"))] == ["unreadable"]
