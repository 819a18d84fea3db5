"""Archives give the same rows with one worker and with several, in threads and in processes."""

from __future__ import annotations

import io
import tarfile
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest

from overthere.links.job import threads
from overthere.links.job.extraction import batches
from overthere.links.job.task_rows import TaskEnd
from overthere.links.model import Link
from overthere.links.report.batch import links
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


@pytest.mark.parametrize("name", ARCHIVES)
@pytest.mark.parametrize("by_threads", [False, True])
def test_workers_do_not_change_the_rows(
    name: str, by_threads: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the archive contains: pages, crawls, archives, damage."""
    monkeypatch.setattr(threads, "is_native", lambda *_: by_threads)
    path = tmp_path / name
    path.write_bytes(ARCHIVES[name])
    rows = read(path, 1)
    assert read(path, 2) == rows
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("links ")]
