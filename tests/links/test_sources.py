"""Sources of documents, nested containers, and how a job is split into tasks."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import sys
import tracemalloc
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

import test_arc
from overthere import URI
from overthere.base import file_uri
from overthere.links import batches, extract
from overthere.links.containers.progress import Progress
from overthere.links.job.folders import MAX_DEPTH
from overthere.links.job.sources import tasks
from overthere.links.job.task_builder import Task
from overthere.links.job.task_documents import documents, failed_sources
from overthere.links.job.task_rows import TaskEnd
from overthere.links.model import Document, Options
from overthere.links.report.summary import Summary
from support import processor
from test_archives import tarred, zipped
from test_cli import process
from test_warc import PAGE, record, response

WARC = record(response())
MAIL = b"MIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n" + PAGE


def split_tasks(sources: Sequence[str | Path], base: str | None = None, split: int = 8 << 20) -> list[Task]:
    return list(tasks(sources, None if base is None else URI(base), Options(), split))


def read_all(paths: Sequence[str | Path], base: str | None = None, options: Options = Options()) -> list[Document]:  # noqa: B008
    return [document for task in split_tasks(paths, base) for document, _ in documents(task, options)]


def below(folder: Path, sources: Sequence[str | Path]) -> dict[str, tuple[str, ...]]:
    return {document.source.removeprefix(f"{folder}/"): document.notes for document in read_all(sources)}


def test_documents_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for name in ("z.html", "a.html", ".hidden", "b/c.txt", "b/.d"):
        (tmp_path / name).write_bytes(PAGE)
    (tmp_path / "b" / "e.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (tmp_path / "b" / "empty").write_bytes(b"")
    (tmp_path / "b" / "empty.html").write_bytes(b"")
    (tmp_path / "b" / "loop").symlink_to("..")
    names = [".hidden", "a.html", "z.html", "b/.d", "b/c.txt", "b/empty.html", "b/loop"]
    assert below(tmp_path, [tmp_path])["b/loop"] == ("not-followed",)
    assert list(below(tmp_path, [tmp_path])) == names
    bases = [str(document.base.uri) for document in read_all([tmp_path], "http://h/d/")]
    assert bases == [f"http://h/d/{name}" for name in names]
    assert {document.base.layer for document in read_all([tmp_path])} == {"retrieval"}


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_symlinks_in_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    (folder / "b").mkdir(parents=True)
    (tmp_path / "site2").mkdir()
    for place in ("secret.html", "site2/x.html", "site/b/a.html"):
        (tmp_path / place).write_bytes(PAGE)
    links: dict[str, str | Path] = {
        "in.html": "b/a.html", "absolute.html": folder / "b" / "a.html", "round.html": "../site/b/a.html",
        "chain.html": "in.html", "out.html": "../secret.html", "beside.html": tmp_path / "site2" / "x.html",
        "escape.html": "b/way.html", "b/way.html": "../../secret.html", "here": ".", "up": "..", "b/self": "self",
        "outside": "/", "null": os.devnull, "gone": "../nowhere",
    }  # fmt: skip
    for name, target in links.items():
        (folder / name).symlink_to(target)
    seen = below(folder, [folder])
    followed = {"in.html", "absolute.html", "round.html", "chain.html"}
    assert {name for name, notes in seen.items() if not notes} == {*followed, "b/a.html"}
    assert seen.pop("b/self") == ("unreadable",)
    assert {name for name, notes in seen.items() if notes == ("not-followed",)} == links.keys() - followed - {"b/self"}
    (tmp_path / "other").symlink_to(folder)  # an explicitly named one is followed
    assert below(tmp_path / "other", [tmp_path / "other"]).keys() == {*seen, "b/self"}
    assert below(tmp_path, [folder / "out.html"]) == {"site/out.html": ()}


def test_unreadable_sources(tmp_path: Path) -> None:
    (tmp_path / "broken").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to("loop")
    assert below(tmp_path, [tmp_path]) == {"broken": ("unreadable",), "loop": ("unreadable",)}
    missing = tmp_path / "missing"
    assert below(tmp_path, [missing, "a\0b"]) == {"missing": ("unreadable",), "a\0b": ("unreadable",)}


@pytest.mark.skipif(os.name == "nt", reason="named pipes lie in folders on POSIX only")
def test_pipes(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.html")
    assert below(tmp_path, [tmp_path]) == {"pipe.html": ("unreadable",)}
    reading, writing = os.pipe()
    os.write(writing, PAGE)
    os.close(writing)
    (document,) = read_all([f"/dev/fd/{reading}"], "http://h/")
    os.close(reading)
    assert (document.source, document.content, str(document.base.uri)) == (f"/dev/fd/{reading}", PAGE, "http://h/")


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    def given(data: bytes, base: str | None = None) -> list[Document]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        return read_all(["-"], base)

    (document,) = given(PAGE)
    assert (document.source, document.base.layer, str(document.base.uri)) == ("-", "default", f"{file_uri('.')}/")
    (document,) = given(PAGE, "http://h/a/b#s")
    assert (document.base.layer, str(document.base.uri)) == ("retrieval", "http://h/a/b")
    assert [item.source for item in given(gzip.compress(WARC))] == ["-!0"]
    assert [item.notes for item in given(b"%PDF-1.4")] == [("unsupported",)]


def test_named_files(tmp_path: Path) -> None:
    for name, content in {"a.png": b"\x89PNG\r\n\x1a\n", "b.html": PAGE, "e": b"", "t.html": b"%PDF-1.4"}.items():
        (tmp_path / name).write_bytes(content)
    names = [tmp_path / name for name in ("t.html", "a.png", "b.html", "e")]
    assert below(tmp_path, names) == {"t.html": ("unsupported",), "a.png": ("unsupported",), "b.html": (), "e": ()}
    assert [str(doc.base.uri) for doc in read_all([tmp_path / "b.html"], "http://h/x/y")] == ["http://h/x/b.html"]


@pytest.mark.skipif(os.name == "nt", reason="names of octets exist on POSIX only")
def test_names_of_any_bytes(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xe9 !.html")).write_bytes(PAGE)
    (document,) = read_all([tmp_path], "http://h/")
    assert (document.source, str(document.base.uri)) == (f"{tmp_path}/\ufffdE9 !.html", "http://h/%E9%20!.html")
    for task in split_tasks([tmp_path]):
        assert pickle.loads(pickle.dumps(task)) == task


def test_containers_in_containers(tmp_path: Path) -> None:
    inner = tarred({"w.warc.gz": gzip.compress(WARC), "p.html.gz": gzip.compress(PAGE), "i.png": b"\x89PNG\r\n\x1a\n"})
    (tmp_path / "o.zip").write_bytes(zipped({"t.tar": inner, "m.eml": MAIL, "f/x.html": PAGE}))
    sources = ["t.tar!w.warc.gz!0", "t.tar!p.html.gz!p.html", "m.eml!1", "f/x.html"]
    all_ = read_all([tmp_path / "o.zip"])
    assert [item.source for item in all_] == [f"{tmp_path}/o.zip!{name}" for name in sources]
    assert {item.content for item in all_} == {PAGE}
    assert [item.depth for item in all_] == [3, 3, 2, 1]
    assert [str(value.base.uri) for value in (all_[0], all_[3])] == ["http://h/a", str(file_uri(tmp_path / "o.zip"))]


def test_published_archives(tmp_path: Path) -> None:
    tar = tarred({"a/b.html": PAGE, "n.zip": zipped({"c.html": PAGE})})
    (tmp_path / "s.tar.gz").write_bytes(gzip.compress(tar))
    (tmp_path / "s.zip").write_bytes(zipped({"a/b.html": PAGE}))
    bases = [(str(item.base.uri), item.base.layer) for item in read_all([tmp_path / "s.tar.gz"], "http://h/")]
    assert bases == [("http://h/a/b.html", "retrieval"), ("http://h/n.zip", "entity")]
    assert [str(doc.base.uri) for doc in read_all([tmp_path / "s.zip"], "http://h/d/")] == ["http://h/d/a/b.html"]
    # In a folder it is a file of the folder, which gives the base of its members.
    assert str(read_all([tmp_path], "http://h/")[-1].base.uri) == "http://h/s.zip"


def test_the_depth_of_containers_is_limited(tmp_path: Path) -> None:
    data = PAGE
    for number in range(20):
        data = zipped({f"{number}.zip" if number else "a.html": data})
    (tmp_path / "z.zip").write_bytes(data)
    (document,) = read_all([tmp_path / "z.zip"])
    assert (document.depth, document.notes) == (16, ("too-deep",))
    (document,) = read_all([tmp_path / "z.zip"], options=Options(depth=20))
    assert (document.content, document.notes) == (PAGE, ())


def test_a_container_larger_than_a_document(tmp_path: Path) -> None:
    pages = {f"{number}.html": PAGE * 10 for number in range(200)}
    small = Options(limit=10_000)
    for name, data in {
        "t.tar": tarred(pages), "z.zip": zipped(pages), "w.warc": record(response(PAGE * 10)) * 200,
        "t.tgz": gzip.compress(tarred(pages)),
    }.items():  # fmt: skip
        (tmp_path / "o.zip").write_bytes(zipped({name: data}))
        all_ = read_all([tmp_path / "o.zip"], options=small)
        assert [item.content for item in all_ if not item.notes] == [PAGE * 10] * 200, name


def test_damaged_containers(tmp_path: Path) -> None:
    data = zipped({"a.html": PAGE})
    for name, content, notes in (
        ("z.zip", data[:-9], ("corrupt",)),
        ("z.zip", PAGE, ("wrong-type",)),
        ("z.html", data, ("wrong-type",)),
        ("t.tar", tarred({"a.html": PAGE * 99})[:900], ("truncated",)),
        ("g.html.gz", gzip.compress(PAGE)[:-9], ("truncated",)),
    ):
        (tmp_path / name).write_bytes(content)
        assert notes in [document.notes for document in read_all([tmp_path / name])] or name == "z.zip"
        (tmp_path / name).unlink()


def test_decompression_bombs_end(tmp_path: Path) -> None:
    zeros = zipped({f"{number}.html": bytes(1 << 24) for number in range(8)})
    bomb = zeros
    for _ in range(3):
        bomb = zipped({f"{number}.zip": bomb for number in range(8)})
    (tmp_path / "b.zip").write_bytes(bomb)
    (tmp_path / "g.html.gz").write_bytes(gzip.compress(bytes(1 << 28)))
    tracemalloc.start()
    options = Options(limit=1 << 18)
    with processor(100):
        seen = [document.notes for task in split_tasks([tmp_path]) for document, _ in documents(task, options)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert ("too-large",) in seen
    assert peak < 100 << 20


def test_parts_of_a_source_give_all_documents(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    for number in range(450):
        (tmp_path / "d" / f"{number:03}.html").write_bytes(PAGE + b"%d" % number)
    parts = [record(response(b"%d" % number * 500)) for number in range(300)]
    (tmp_path / "d" / "w.warc").write_bytes(b"".join(parts))
    (tmp_path / "d" / "w.warc.gz").write_bytes(b"".join(map(gzip.compress, parts)))
    complete = read_all([tmp_path])
    assert len(complete) == 1050
    for split in (1, 5000, 100_000):
        tasks = split_tasks([tmp_path], split=split)
        assert [document for task in tasks for document, _ in documents(task, Options())] == complete
        assert len(tasks) >= 6
    sizes = sum(task.size for task in split_tasks([tmp_path], split=5000))
    assert sizes == sum(file.stat().st_size for file in (tmp_path / "d").iterdir())


def test_small_files_share_a_task(tmp_path: Path) -> None:
    for number in range(450):
        (tmp_path / f"{number}.html").write_bytes(PAGE)
    assert [len(task.paths) for task in split_tasks([tmp_path])] == [200, 200, 50]
    assert [len(task.paths) for task in split_tasks(sorted(tmp_path.iterdir()))] == [200, 200, 50]


def test_failed_sources_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(PAGE)
    (task,) = split_tasks([tmp_path])
    assert [(source.source, source.notes) for source in failed_sources(task, Options())] == [
        (f"{tmp_path}/a.html", ("unreadable",))
    ]


@pytest.mark.parametrize("name", ["x.zip", "x.tar", "x.warc", "x.warc.gz", "x.gz", "x.eml", "x.mbox", "x.html", "x"])
@pytest.mark.parametrize(
    "content", [b"", b"\0", b"PK\x03\x04", b"\x1f\x8b\x08", b"BZh91AY&SY", b"\xfd7zXZ\0", b"WARC/1.0"]
)
def test_stubs(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    assert read_all([tmp_path / name]) or content == b""


def test_deep_folders(tmp_path: Path) -> None:
    folder = os.getcwd()
    os.chdir(tmp_path)
    try:
        for depth in range(1500):
            if depth == MAX_DEPTH:
                Path("a.html").write_bytes(PAGE)
            os.mkdir("d")
            os.chdir("d")
        Path("a.html").write_bytes(PAGE)
        read, passed = read_all([tmp_path])
        assert (read.content, read.source) == (PAGE, f"{tmp_path}{'/d' * MAX_DEPTH}/a.html")
        assert (passed.content, passed.notes) == (b"", ("too-deep",))
        assert passed.source == f"{tmp_path}{'/d' * (MAX_DEPTH + 1)}"
        os.unlink("a.html")
        for depth in range(1499, -1, -1):
            os.chdir("..")
            os.rmdir("d")
            if depth == MAX_DEPTH:
                os.unlink("a.html")
    finally:
        os.chdir(folder)


def test_misleading_names_of_zip_files(tmp_path: Path) -> None:
    file = tmp_path / "z.zip"
    with zipfile.ZipFile(file, "w") as archive:
        for name in ("../../../etc/x.html", "C:\\x.html", "a\nb.html", "!x!.html", "\u202e.html"):
            archive.writestr(name, PAGE)
    assert len(read_all([file], "http://h/")) == 5


def test_skipped_files_are_counted(tmp_path: Path) -> None:
    """By kind, in folders and archives; a named file without a reader has a note."""
    png = b"\x89PNG\r\n\x1a\n"
    (tmp_path / "d").mkdir()
    for name in ("a.png", "b.JPG", "c.js", "d.pdf", "e"):
        (tmp_path / "d" / name).write_bytes({"a.png": png, "d.pdf": b"%PDF-1.4"}.get(name, b"\0x"))
    (tmp_path / "z.zip").write_bytes(zipped({"i.png": png, "f.woff2": b"wOF2", "p.html": PAGE}))
    records = [record(b"GET / HTTP/1.1\r\n\r\n", b"request"), record(b"x", b"new"), record(b"1", target=b"dns:h"), WARC]
    picture = record(b"HTTP/1.1 200 OK\r\nContent-Type: image/webp\r\n\r\nRIFF\0", target=b"http://h/x")
    (tmp_path / "w.warc").write_bytes(b"".join((*records, picture)))
    walk = Progress()
    for task in split_tasks([tmp_path]):
        list(documents(task, Options(), walk))
    assert walk.passed == {"image": 4, "code": 1, "pdf": 1, "font": 1, "other": 2, "request": 1, "dns": 1}
    summary = Summary()
    for batch in batches([tmp_path], options=Options()):
        if isinstance(batch, TaskEnd):
            summary.passed.update(batch.passed)
    assert summary.passed == walk.passed
    assert any(line.split()[:2] == ["skipped", "11"] for line in summary.lines())
    assert Summary.from_dict(summary.to_dict()) == summary


@pytest.mark.parametrize("name", ["w.warc", "w.warc.gz", "w.arc", "w.arc.gz"])
def test_a_record_at_an_offset(name: str, tmp_path: Path) -> None:
    """As named by an index: FILE#OFFSET,LENGTH."""
    pages = [(test_arc.record if ".arc" in name else lambda page: record(response(page)))(b"%d" % n) for n in range(4)]
    parts = [gzip.compress(part) for part in pages] if name.endswith("gz") else pages
    (tmp_path / name).write_bytes(b"".join(parts))
    at, file = 0, str(tmp_path / name)
    for number, part in enumerate(parts):
        (document,) = read_all([f"{file}#{at},{len(part)}"])
        assert (document.content, document.source) == (b"%d" % number, f"{file}!{at}")
        at += len(part)
    assert [item.content for item in read_all([f"{file}#{len(parts[0])},{len(parts[1]) + 1}"])] == [b"1", b"2"]
    assert [document.notes for document in read_all([f"{file}#{at},5"])] == [("truncated",)]
    notes = read_all([f"{file}#{len(parts[0]) + 3},5"])[0].notes
    assert set(notes) <= {"corrupt", "truncated"}
    assert notes
    assert [document.notes for document in read_all([f"{file}#0"])] == [("unreadable",)]
    page = tmp_path / "a.html"
    page.write_bytes(PAGE)
    assert [document.notes for document in read_all([f"{page}#0,5"])] == [("unsupported",)]
    Path(f"{page}#0,5").write_bytes(b"its own")
    assert [document.content for document in read_all([f"{page}#0,5"])] == [b"its own"]


@pytest.mark.parametrize("form", ["a path", "a URI"])
def test_the_command_reads_a_record_at_an_offset(form: str, tmp_path: Path) -> None:
    parts = [gzip.compress(record(response(b"<a href=%d>" % number))) for number in range(3)]
    path = tmp_path / "w.warc.gz"
    path.write_bytes(b"".join(parts))
    source = str(path) if form == "a path" else path.as_uri()
    result = process("links", f"{source}#{len(parts[0])},{len(parts[1])}", "-o", str(tmp_path / "x.jsonl"))
    rows = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text().splitlines()]
    assert [row["reference"] for row in rows] == ["1"]
    assert result.returncode == 0
    assert "no such file" not in result.stderr.lower()


@pytest.mark.parametrize(
    "source", ["\ud800", Path("\ud800"), "http://h/\ud800", "http://h/a b#1,5", "https://[/#1,5", "http://h/\ud800#1,5"]
)
def test_a_source_that_is_no_name_becomes_a_note(source: str | Path, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(PAGE)
    rows = [*extract([source, tmp_path / "a.html"])]
    assert (rows[0].error, rows[0].reference) in (("unreadable", None), ("not-opened", None))
    assert rows[1].source == str(tmp_path / "a.html")
