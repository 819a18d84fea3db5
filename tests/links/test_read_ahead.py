"""Archives whose members are taken out by one thread while another makes their rows."""

from __future__ import annotations

import io
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from overthere import URI
from overthere.base import Base
from overthere.ground.codings import Stream
from overthere.links.containers.streams import ChainedStream, PieceStream
from overthere.links.job import pool, read_ahead, task_documents, task_rows
from overthere.links.job.extraction import batches
from overthere.links.job.task_rows import TaskEnd
from overthere.links.model import Document, Link
from overthere.links.report.batch import links
from support import linear
from test_warc import packed, record, response

PAGES = {f"{number:03}.html": b"<a href=x%d>" % number * (number % 7) + b"<p>" * 5000 for number in range(60)}
CRAWL = packed([record(response(b"<a href=%d><base href=y>" % number * 40)) for number in range(80)])


def zipped(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


def tarred(members: dict[str, bytes], mode: str = "w") -> bytes:
    file = io.BytesIO()
    archive: Any
    with tarfile.open(fileobj=file, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return file.getvalue()


MIXED = {**PAGES, "a.warc.gz": CRAWL, "b.md": b"[a](b)", "c.zip": zipped(PAGES), "d.warc": CRAWL[:999], **PAGES}
ARCHIVES = {
    "pages.zip": zipped(PAGES),
    "mixed.zip": zipped(MIXED),
    "crawls.zip": zipped({"a.warc.gz": CRAWL, "b.html": b"<a href=x>", "c.warc.gz": CRAWL, "d.arc": CRAWL}),
    "empty.zip": zipped({}),
    "cut.zip": zipped(MIXED)[:-3000],
    "mixed.tar": tarred(MIXED),
    "mixed.tgz": tarred(MIXED, "w:gz"),
    "cut.tgz": tarred(MIXED, "w:gz")[:-500],
    "page.html.gz": b"\x1f\x8bnothing",
}


def read(path: Path, workers: int) -> list[Link | TaskEnd]:
    rows: list[Link | TaskEnd] = []
    for batch in batches([path], "http://h/", workers=workers):
        rows += [batch] if isinstance(batch, TaskEnd) else links(batch)
    return rows


@pytest.fixture(autouse=True)
def _threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Threads on both kernels; none is left."""
    monkeypatch.setattr(pool, "is_native", lambda *_: True)
    yield
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("links ")]


@pytest.mark.parametrize("name", ARCHIVES)
@pytest.mark.parametrize("held", [read_ahead._BUFFER_BYTES, 0])
def test_the_rows_are_the_same(name: str, held: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However little is read ahead, and whatever the archive holds: pages, crawls, archives, damage."""
    monkeypatch.setattr(read_ahead, "_BUFFER_BYTES", held)
    path = tmp_path / name
    path.write_bytes(ARCHIVES[name])
    rows = read(path, 1)
    assert [*map(read, [path] * 3, (2, 2, 5))] == [rows] * 3


def test_only_idle_threads_read_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[bool] = []
    as_it_is = task_documents.documents
    for number in range(8):
        (tmp_path / f"{number}.zip").write_bytes(ARCHIVES["pages.zip"])

    def documents(*arguments: Any) -> Any:
        started.append(threading.current_thread().name == "links reading ahead")
        yield from as_it_is(*arguments)

    monkeypatch.setattr(task_rows, "documents", documents)
    rows = read(tmp_path, 2)
    assert len(started) == 8
    assert sum(started) <= 2
    assert read(tmp_path, 1) == rows
    assert not any(started[8:])


@pytest.mark.parametrize("size", [0, 100])
def test_documents_without_content_count_too(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A million members that are only noted are not read ahead."""
    monkeypatch.setattr(read_ahead, "_BUFFER_BYTES", 1 << 14)
    begun: list[int] = []

    def documents() -> Any:
        for number in range(1000):
            begun.append(number)
            yield Document(f"a!{number}", bytes(size), Base(URI("http://h/"), "retrieval")), ("", ())

    ahead = read_ahead.ReadAhead().iterate(documents())
    next(ahead)
    ahead.close()
    assert len(begun) <= 18


def test_what_fails_is_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Iterator[tuple[Document, Any]]:
        raise RuntimeError("no document today")
        yield

    monkeypatch.setattr(task_rows, "documents", fail)
    (tmp_path / "a.zip").write_bytes(ARCHIVES["pages.zip"])
    with pytest.raises(RuntimeError, match="no document today"):
        read(tmp_path / "a.zip", 2)


def test_who_stops_early_leaves_no_thread(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(zipped({f"{number}.html": b"<a href=x>" * 4000 for number in range(40)}))
    results = batches([tmp_path / "a.zip"], "http://h/", workers=2)
    next(iter(results))
    results.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "make",
    [
        lambda data: ChainedStream(data, io.BytesIO()),
        lambda data: ChainedStream(b"", io.BytesIO(data)),
        lambda data: PieceStream(iter([data])),
    ],
)
def test_streams_take_linear_time(make: Callable[[bytes], Stream]) -> None:
    """A large head, or a large piece, is read in small pieces."""

    def drain(size: int) -> None:
        stream, remaining = make(bytes(size)), size
        while piece := stream.read(1 << 12):
            remaining -= len(piece)
        assert not remaining

    linear(drain, 1 << 23)
