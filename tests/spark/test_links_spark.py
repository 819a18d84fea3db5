"""The link job on Spark gives the rows of the local engine: on two threads, and on a cluster of two workers."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import random
import re
import shutil
import socket
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from overthere import InvalidURI, NotSpecified, Rung, links
from overthere.links.job.task_rows import TaskEnd
from overthere.links.model import Options
from overthere.links.report import graph
from overthere.links.report.batch import COLUMNS
from overthere.schemes import Registry
from servers import NET, wait_until
from servers.spark_cluster import spark_cluster
from support import ROOT

pytest.importorskip("pyspark", reason="pyspark is absent")
if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
    pytest.skip("java is absent", allow_module_level=True)

from click.testing import CliRunner
from pyspark.sql import DataFrame, SparkSession

from overthere.cli.links import command
from overthere.files.tables.arrays import to_arrow
from overthere.links import spark

CONFIG: dict[str, bool | float | int | str | None] = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "512m",
    "spark.log.level": "OFF",
    "spark.ui.enabled": False,
    "spark.ui.showConsoleProgress": False,
}
PART = 16_000
"""Bytes of sources in a part: some parts split the WARC file."""

# Opening deadly.html ends the process, as a crash in a library would.
DEADLY = """
import os, sys, time
def opened(event, given):
    if event == "open" and str(given[0]).endswith("deadly.html"):
        os._exit(9)
    while event == "open" and str(given[0]).endswith("patient.html") and os.path.exists(f"{given[0]}.wait"):
        time.sleep(0.05)
sys.addaudithook(opened)
"""


# -- sources


def page(number: int, noise: random.Random) -> bytes:
    rows = (f'<a href="../{noise.randbytes(30).hex()}?{n}#{n}">x</a><a href="//h{n}/">' for n in range(20))
    base = '<base href="/b/">' if number % 3 == 0 else ""
    return f"<!DOCTYPE html>{base}{''.join(rows)}<a href='#'><a href='x y'><a href='mailto:a@b'>".encode()


def record(uri: str, content: bytes, media_type: str = "text/html") -> bytes:
    block = (
        f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nContent-Length: {len(content)}\r\n\r\n".encode() + content
    )
    head = (
        f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:x:{uri}>\r\nWARC-Target-URI: {uri}\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return gzip.compress(head.encode() + block + b"\r\n\r\n", mtime=0)


def mail() -> bytes:
    message = EmailMessage()
    message["Subject"], message["Content-Base"] = "x", "http://h/mail/"
    message.set_content("see <http://h/in/text>")
    message.add_alternative('<a href="x"><img src="cid:1">', subtype="html")
    return bytes(message)


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A WARC file of about 130 kB."""
    noise = random.Random(7)
    path = tmp_path_factory.mktemp("crawl") / "a.warc.gz"
    path.write_bytes(b"".join(record(f"http://h/d/{n}", page(n, noise)) for n in range(100)))
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents of many kinds, some of them damaged or mislabelled."""
    root = tmp_path_factory.mktemp("site")
    noise = random.Random(8)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("in/a.html", page(0, noise))
        file.writestr("b.css", "@import 'c.css'; a { background: url(d.png) }")
        file.writestr("letter.eml", mail())
    shutil.copytree(ROOT / "examples" / "site", root / "site")
    for name, content in {
        "a.html": page(1, noise),
        "b.css": b"@import url(x);",
        "broken.zip": packed.getvalue()[:300],
        "c.md": b"[x](y) <http://h/>",
        "cut.warc.gz": b"".join(record(f"http://h/{n}", page(n, noise)) for n in range(3))[:-99],
        "data.json": b'{"see": "http://h/json"}',
        "empty.html": b"",
        "feed.xml": b'<feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://h/f/"><link href="e"/></feed>',
        "letter.eml": mail(),
        "lies.html": b"\x89PNG\r\n\x1a\n\0\0",
        "notes.txt": "http://h/ü and www.w3.org/Addressing/".encode(),
        "packed.zip": packed.getvalue(),
        "sub/ü &.html": page(2, noise),
    }.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(content)
    return root


# -- answers


def local(sources: Any, base: str | None = None, options: Options = Options(), workers: int = 1) -> pa.Table:  # noqa: B008
    table_batches = links.batches(sources, base, options, workers=workers)
    batches = [to_arrow(batch) for batch in table_batches if not isinstance(batch, TaskEnd)]
    return pa.Table.from_batches(batches, links.schema())


def stored(output: Path) -> pa.Table:
    """The rows of a folder, in the order of its tasks."""
    files = sorted(output.glob("task=*/*.parquet"))
    assert all(pq.read_schema(file).equals(links.schema()) for file in files)
    return pa.concat_tables([pq.ParquetFile(file).read() for file in files] or [links.schema().empty_table()])


def rows(table: pa.Table | DataFrame) -> list[tuple[Any, ...]]:
    if isinstance(table, DataFrame):
        assert table.columns == links.schema().names
        return [tuple(row) for row in table.collect()]
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def files(output: Path) -> dict[str, int]:
    """The files of the parts, each with the values that change when it is rewritten."""
    return {path.parent.name: path.stat().st_ino for path in output.glob("task=*/*.parquet")}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    extra = tmp_path_factory.mktemp("extra")
    (extra / "sitecustomize.py").write_text(DEADLY)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PYSPARK_PYTHON", sys.executable)
        environment.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        environment.setenv("PYTHONPATH", str(extra), prepend=os.pathsep)
        builder = SparkSession.builder.master("local[2,2]").config(map=CONFIG)
        # A JVM that earlier tests started has their environment.
        spark_session = builder.config("spark.executorEnv.PYTHONPATH", str(extra)).getOrCreate()
        yield spark_session
    spark_session.stop()


# -- run


@pytest.mark.parametrize(
    ("base", "options"),
    [
        (None, Options()),
        ("http://h/published/", Options(Rung.SCHEME, json=True, audit=True)),
        (None, Options(limit=100_000, registry=Registry.default())),
        (None, Options(edition="url-1997")),
        ("http://h/published/", Options(whatwg=True)),
    ],
    ids=["as it is", "with all", "limit", "1997", "browsers"],
)
def test_rows_are_those_of_the_local_engine(
    session: SparkSession, folder: Path, crawl: Path, tmp_path: Path, base: str | None, options: Options
) -> None:
    sources = [folder, crawl, folder / "none.html"]
    result = spark.run(session, sources, tmp_path / "x", base=base, octets=PART, **options._asdict())
    assert result.parts > 6
    assert (tmp_path / "x" / "_SUCCESS").exists()
    expected = local(sources, base, options)
    assert rows(stored(tmp_path / "x")) == rows(expected)
    assert (expected["browser"].null_count < expected.num_rows) == options.whatwg
    assert result.summary.references == expected.num_rows - expected["reference"].null_count
    assert {"empty", "truncated", "unreadable", "wrong-type"} <= result.summary.notes.keys()
    assert result.summary.octets > 130_000
    seen = session.read.parquet(f"file://{tmp_path / 'x'}").drop("task")
    assert sorted(map(str, rows(seen))) == sorted(map(str, rows(expected)))


def test_relative_paths_start_at_the_drivers_folder(
    session: SparkSession, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The executors run in other folders."""
    monkeypatch.chdir(folder)
    spark.run(session, "site", tmp_path)
    assert rows(stored(tmp_path)) == rows(local("site"))
    assert rows(spark.extract(spark.partitions(session, ["site", "a.html"]), part="part")) == rows(
        local(["site", "a.html"])
    )


def test_a_second_run_writes_only_what_changed(session: SparkSession, crawl: Path, tmp_path: Path) -> None:
    source, output = tmp_path / "a", tmp_path / "x"
    source.mkdir()
    shutil.copy(crawl, source / "a.warc.gz")
    shutil.copy(ROOT / "examples" / "site" / "index.html", source / "b.html")

    def run_again(**kwargs: Any) -> int:
        result = spark.run(session, source, output, octets=PART, **kwargs)
        options = Options(kwargs.get("rung", Rung.SYNTAX))
        assert rows(stored(output)) == rows(local(source, None, options))
        assert result.parts == len(files(output))
        return result.parts - result.found

    assert run_again() == (count := len(files(output))) > 5
    before = files(output)
    assert run_again() == 0
    assert files(output) == before

    first, second, *_ = sorted(before)
    (output / first / "links.parquet").unlink()
    with (output / second / "links.parquet").open("r+b") as file:
        file.truncate(1000)  # a file that a crashed machine left incomplete
    (output / "_temporary").mkdir()
    (output / "_temporary" / "0-x.parquet").write_bytes(b"PAR1")
    assert run_again() == 2
    assert not (output / "_temporary").exists()
    assert {**files(output), first: 0, second: 0} == {**before, first: 0, second: 0}

    (source / "b.html").write_text("<a href=new>")
    assert run_again() == 1
    assert run_again(rung=Rung.SCHEME) == count
    (source / "a.warc.gz").unlink()
    assert run_again(rung=Rung.SCHEME) == 1
    assert len(files(output)) == 1


def test_an_unreadable_source_is_read_again_by_the_next_run(session: SparkSession, tmp_path: Path) -> None:
    source = tmp_path / "a.html"
    for parts, results in ((1, 0), (1, 0)):
        result = spark.run(session, source, tmp_path / "x")
        assert (result.parts, result.found, result.summary.unread) == (parts, results, 1)
    assert rows(stored(tmp_path / "x")) == rows(local(source))


def test_a_stopped_job_continues(session: SparkSession, crawl: Path, tmp_path: Path) -> None:
    # The last document is read only after the stop, so that the job is still running then.
    last, wait, output = tmp_path / "patient.html", tmp_path / "patient.html.wait", tmp_path / "x"
    last.write_bytes(page(0, random.Random(9)))
    wait.touch()

    def stop() -> None:
        try:
            wait_until(lambda: files(output), "no part is made", 5 * NET)
            session.sparkContext.cancelAllJobs()
        finally:
            wait.unlink()

    stopping = threading.Thread(target=stop)
    stopping.start()
    with pytest.raises(Exception, match="cancelled"):
        spark.run(session, [crawl, last], output, octets=PART // 10)
    stopping.join()
    assert not (output / "_SUCCESS").exists()
    before = files(output)
    result = spark.run(session, [crawl, last], output, octets=PART // 10)
    assert len(before) <= result.found < result.parts
    assert before.items() <= files(output).items()
    assert rows(stored(output)) == rows(local([crawl, last]))


def test_a_document_that_kills_its_reader_is_a_row(
    session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "a"
    source.mkdir()
    for name in ("a.html", "deadly.html", "z.zip"):
        (source / name).write_bytes(b"<a href=x>")
    spark.run(session, source, tmp_path / "x")
    table_rows = rows(stored(tmp_path / "x"))
    assert [row[9] for row in table_rows if row[0].endswith("deadly.html")] == ["unreadable"]
    assert any(row[0].endswith("z.zip") for row in table_rows)
    assert rows(spark.extract(spark.partitions(session, source), part="part")) == table_rows
    frame = session.createDataFrame([(str(source),)], "path string")
    assert rows(spark.extract(frame)) == table_rows
    (tmp_path / "sitecustomize.py").write_text(DEADLY)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr("overthere.links.job.threads.is_native", lambda *_: False)  # processes, not threads of this one
    assert rows(local(source, workers=2)) == table_rows


def test_only_and_distinct_filter_rows(session: SparkSession, folder: Path, crawl: Path, tmp_path: Path) -> None:
    sources = [folder, crawl]
    result = spark.run(session, sources, tmp_path / "only", octets=PART, only=["invalid", "notes"])
    expected = [row for row in rows(local(sources)) if row[5] is None]
    assert rows(stored(tmp_path / "only")) == expected
    assert result.summary.references > len(expected)

    with graph.Graph() as added:
        for batch in local(sources).to_batches():
            added.add(COLUMNS.from_arrow(batch).pairs())
        pairs = rows(pa.Table.from_batches(added.batches(), graph.schema()))
    output = tmp_path / "graph[1]{a,b}*"  # for Hadoop a pattern, which `graph1a` matches
    (tmp_path / "graph1a" / "_pairs" / "task=000000").mkdir(parents=True)
    for _ in range(2):
        result = spark.run(session, sources, output, octets=PART, distinct=True)
        parts = sorted(output.glob("*.parquet"))
        assert rows(pa.concat_tables(map(pq.read_table, parts))) == pairs
        assert result.summary.references > sum(row[3] for row in pairs) > 3_000
    assert {path.name for path in output.iterdir()} == {
        "_SUCCESS", "_overthere.json", *(path.name for path in parts)
    }  # fmt: skip


def test_a_job_without_sources(session: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    assert spark.run(session, tmp_path / "a", tmp_path / "x")[1:] == (0, 0)
    assert rows(stored(tmp_path / "x")) == []
    assert rows(spark.extract(spark.partitions(session, []), part="part")) == []


def test_invalid_options_are_rejected(session: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "mine.parquet").touch()
    for distinct in (False, True):
        with pytest.raises(FileExistsError, match="not parts of a link table"):
            spark.run(session, ROOT / "examples", tmp_path, distinct=distinct)
    with pytest.raises(ValueError, match="standard input"):
        spark.run(session, "-", tmp_path / "x")
    with pytest.raises(InvalidURI):
        spark.partitions(session, "x", base="no base")
    frame = session.createDataFrame([("x",)], "path string")
    with pytest.raises(NotSpecified):
        spark.extract(frame, edition="rfc9999")
    with pytest.raises(ValueError, match="a column of paths or of contents is missing"):
        spark.extract(frame, path=None)


# -- extract


def test_parts_give_the_rows_of_local_files(session: SparkSession, crawl: Path, folder: Path) -> None:
    frame = spark.partitions(session, [crawl, folder], octets=PART)
    count = frame.count()
    assert frame.rdd.getNumPartitions() == count > 6
    assert frame.agg({"octets": "sum"}).collect()[0][0] > crawl.stat().st_size
    assert rows(spark.extract(frame, part="part", audit=True, whatwg=True)) == rows(
        local([crawl, folder], options=Options(audit=True, whatwg=True))
    )


class Payload:
    """An object that creates a folder when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.path),)


def test_a_part_is_never_unpickled(session: SparkSession, tmp_path: Path) -> None:
    """A frame like one of `partitions`, made by an attacker."""
    code = pickle.dumps(Payload(tmp_path / "made"))
    names = "task int, sources string, octets long, part"
    for value, kind in ((bytearray(code), "binary"), (code.decode("latin-1"), "string"), (None, "string")):
        frame = session.createDataFrame([(0, "x", 1, value)], f"{names} {kind}")
        with pytest.raises(Exception, match="path"):
            spark.extract(frame).collect()
        with pytest.raises(Exception, match="ValueError: not a part of a job"):
            spark.extract(frame, part="part").collect()
    assert not (tmp_path / "made").exists()
    with pytest.raises(ValueError, match="content, url, media_type and base do not go with"):
        spark.extract(frame, part="part", base="http://h/")


def test_a_column_of_paths(session: SparkSession, folder: Path, crawl: Path) -> None:
    paths = [str(folder / "a.html"), str(folder / "packed.zip"), str(crawl), "/none", str(folder / "site")]
    frame = session.createDataFrame([(path,) for path in paths], "name string").coalesce(1)
    assert rows(spark.extract(frame, path="name", base="http://h/p/")) == rows(local(paths, "http://h/p/"))
    # Paths as Spark writes them; null and "-" are not files.
    frame = session.createDataFrame([(f"file:{paths[0]}",), (None,), ("-",)], "path string").coalesce(1)
    table_rows = rows(spark.extract(frame))
    assert [row for row in table_rows if row[2]] == rows(local(paths[:1]))
    assert [row[9] for row in table_rows if not row[2]] == ["unreadable"] * 2


def test_the_column_browser(session: SparkSession, tmp_path: Path) -> None:
    """It is the same for documents as paths, as parts and as contents."""
    page = "<meta charset=latin1><base href=/b/><a href='x y?é'><a href='\\\\o\\p'><a href=z>".encode("latin-1")
    (tmp_path / "a.html").write_bytes(page)
    opened = ["file:///b/x%20y?%E9", "file://o/p", None]
    expected = [row for row in rows(local(tmp_path / "a.html", options=Options(whatwg=True))) if row[4] == "a href"]
    assert [row[13] for row in expected] == opened
    paths = session.createDataFrame([(str(tmp_path / "a.html"),)], "path string")
    parts = spark.partitions(session, [tmp_path / "a.html"])
    contents = session.createDataFrame([(str(tmp_path / "a.html"), page)], "path string, content binary")
    for table in (
        spark.extract(paths, whatwg=True),
        spark.extract(parts, part="part", whatwg=True),
        spark.extract(contents, content="content", base=tmp_path.as_uri(), whatwg=True),
    ):
        assert [row[13] for row in rows(table) if row[4] == "a href"] == opened


def test_a_uri_as_source_is_rejected_without_a_request(session: SparkSession, tmp_path: Path) -> None:
    """In a column of paths it becomes a row with an error; otherwise the driver raises an error."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        uri = f"http://127.0.0.1:{server.getsockname()[1]}/"
        with pytest.raises(ValueError, match=f"{uri}: a part of a job can have files only"):
            spark.run(session, [uri], tmp_path / "x")
        with pytest.raises(ValueError, match=f"{uri}: a part of a job can have files only"):
            spark.partitions(session, [uri])
        frame = session.createDataFrame([(uri,)], "path string")
        assert [(row[0], row[9]) for row in rows(spark.extract(frame))] == [(uri, "unreadable")]
        result = CliRunner().invoke(command, [uri, "--engine", "spark", "-o", f"{tmp_path}/y/"])
        assert (result.exit_code, result.output.count("Error: ")) == (2, 1), result.output
        assert f"{uri}: with --engine spark sources must be files" in result.output
        with pytest.raises(BlockingIOError):
            server.accept()
    assert not list(tmp_path.iterdir())


def test_a_column_of_contents(session: SparkSession, folder: Path) -> None:
    names = ["a.html", "packed.zip", "cut.warc.gz", "broken.zip", "letter.eml", "lies.html", "sub/ü &.html"]
    with_names = session.read.format("binaryFile").option("recursiveFileLookup", True).load(f"file://{folder}")
    found = rows(spark.extract(with_names, content="content"))
    for name in names:
        expected = [tuple(row) for row in rows(local(folder / name))]
        ours = [(row[0].removeprefix("file:"), *row[1:]) for row in found if row[0].startswith(f"file:{folder}/{name}")]
        assert ours == expected, name
    frame = session.createDataFrame([("s3a://b/d/x y.html", b"<a href=z>")], "path string, content binary")
    assert rows(spark.extract(frame, content="content"))[0][1] == "s3a://b/d/x%20y.html"
    assert rows(spark.extract(frame, content="content", base="http://h/"))[0][5] == "http://h/z"


def test_contents_must_be_binary(session: SparkSession) -> None:
    frame = session.createDataFrame([("a", "<a href=x>")], "path string, body string")
    with pytest.raises(ValueError, match="the column 'body' is string, and documents must be in a binary column"):
        spark.extract(frame, content="body")


def test_contents_with_url_and_media_type(session: SparkSession) -> None:
    contents = [
        ("http://h/a/b#c", b"<a href=x>", "text/html"),
        ("http://h.md", b"<a href=y>", None),
        ("http://h/x", "<a href=é>".encode("latin-1"), "text/html; charset=iso-8859-1"),
        ("http://h/b", b"x", "image/png"),
        ("no uri", b"<a href=x>", "text/html"),
        (None, b"<a href=//h/>", "text/html"),
        ("http://h/none", None, "text/html"),
    ]
    frame = session.createDataFrame(contents, "at string, body binary, said string").coalesce(1)
    table_rows = rows(spark.extract(frame, content="body", url="at", media_type="said"))
    assert [(row[0], row[2], row[3], row[5], row[9]) for row in table_rows] == [
        ("http://h/a/b#c", "retrieval", "x", "http://h/a/x", None),
        ("http://h.md", "retrieval", "y", "http://h.md/y", None),
        ("http://h/x", "retrieval", "é", "http://h/%C3%A9", "non-ascii"),
        ("http://h/b", None, None, None, "wrong-type"),
        ("no uri", None, None, None, "corrupt"),
        ("no uri", "default", "x", "thismessage:/x", None),
        ("", "default", "//h/", "thismessage://h/", None),
        ("http://h/none", None, None, None, "unreadable"),
    ]


# -- the command line, and a cluster


def test_options_that_spark_does_not_support(tmp_path: Path) -> None:
    output = f"{tmp_path}/"
    for arguments, message in (
        (["-o", output, "--resume"], "always continues"),
        (["-o", output, "--workers", "2"], "the cluster decides"),
        (["-o", output, "--jobs", "2"], "sources must be files"),
        (["-o", output, "--format", "csv"], "Parquet"),
        (["-o", f"{tmp_path}/x.csv"], "-o DIR/"),
        ([], "-o DIR/"),
        (["-o", output, "--only", "nothing"], "unknown value 'nothing'"),
        (["-o", output, "-"], "no standard input"),
        (["-o", output, "--base", "x"], "--base is not a valid URI"),
    ):
        result = CliRunner().invoke(command, ["x.html", "--engine", "spark", *arguments])
        assert (result.exit_code, message in result.output) == (2, True), result.output


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    with spark_cluster(tmp_path) as running:
        yield running


def test_a_job_survives_the_death_of_a_worker(
    cluster: tuple[str, list[subprocess.Popen[bytes]]], folder: Path, crawl: Path, tmp_path: Path
) -> None:
    """The command gives its output, messages and exit status."""
    url, workers = cluster
    source = tmp_path / "crawl"
    source.mkdir()
    for n in range(12):
        shutil.copy(crawl, source / f"{n:02}.warc.gz")
    configured = tmp_path / "conf"
    configured.mkdir()
    config = {**CONFIG, "spark.executor.memory": "512m", "spark.log.level": "ERROR"}
    (configured / "spark-defaults.conf").write_text("".join(f"{name} {value}\n" for name, value in config.items()))
    output, picture = tmp_path / "x", tmp_path / "x.svg"
    environment = {
        **os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_CONF_DIR": str(configured),
        "SPARK_LOCAL_IP": "127.0.0.1", "COLUMNS": "100",
    }  # fmt: skip
    smaller = (
        "from overthere.links.job import part_files; part_files.MIN_PART_BYTES = 60_000; "
        "from overthere.cli import main; main()"
    )
    order = [sys.executable, "-c", smaller, "links", str(source), str(folder), "-o", f"{output}/"]
    order += ["--engine", "spark", "--master", url, "--plot", str(picture)]
    with subprocess.Popen(order, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as running:
        try:
            wait_until(lambda: files(output) or running.poll() is not None, "the cluster is not so far", 5 * NET)
            wait_until(
                lambda: (
                    running.poll() is not None
                    or all(list((tmp_path / f"w{n}").glob("app-*/*/stderr")) for n in range(2))
                ),
                "the cluster is not so far",
                5 * NET,
            )
            workers[0].kill()
            out, error = running.communicate(timeout=10 * NET)
        finally:
            running.kill()
    text = error.decode(errors="replace")
    assert (running.returncode, out) == (1, b""), text
    assert rows(stored(output)) == rows(local([source, folder]))
    assert re.search(r"^documents +1,2\d\d   html 1,2\d\d", text, re.MULTILINE), text
    assert "  not read completely" in text
    assert "Traceback" not in text
    assert picture.read_text().startswith("<svg")


def test_no_executor_imports_from_the_current_folder(tmp_path: Path) -> None:
    """The folder of driver and executors has modules of every name; none is imported."""
    from test_import_path import hostile_folder, imported_names

    folder = hostile_folder(tmp_path / "hostile")
    script = tmp_path / "bin" / "overthere"
    script.parent.mkdir()
    script.write_text("from overthere.cli import main\nmain()\n")
    command = [sys.executable, str(script), "links", ".", "--engine", "spark", "-o", "out/", "--master", "local[2]"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=20 * NET, check=False)
    assert result.returncode == 0, result.stderr
    assert imported_names(folder) == set()
