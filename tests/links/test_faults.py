"""A bug in a reader, ours or a library's, affects one document: in every container the others have their rows."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from email.errors import CharsetError
from pathlib import Path
from typing import Any

import pytest

from overthere.files.tables.arrays import to_arrow
from overthere.ground.errors import KernelBug
from overthere.links import extract
from overthere.links.documents.kinds import kind_of
from overthere.links.job import contents
from overthere.links.model import NOTES, UNREAD, Document, Options
from overthere.links.report import audit_column
from test_archives import tarred, zipped
from test_warc import record, response

PAGES = [b"<a href=x%d>" % number for number in range(4)]
BAD = 2
PAGES[BAD] = b"<!--BOOM--><a href=never>"
REST = ["x0", "x1", "x3"]

MAIL = b"From: a@example\r\nDate: today\r\nMIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n%s\r\n"
PART = b"--b\r\nContent-Type: text/html\r\n%s\r\n%s\r\n"


def aggregate(pages: list[bytes], field: bytes = b"") -> bytes:
    parts = b"".join(PART % (field if b"BOOM" in page else b"", page) for page in pages)
    return b"MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" + parts + b"--b--\r\n"


def mailbox(pages: list[bytes]) -> bytes:
    return b"".join(b"From a@example today\r\n" + MAIL % page + b"\r\n" for page in pages)


def crawl(pages: list[bytes]) -> bytes:
    return b"".join(gzip.compress(record(response(page))) for page in pages)


def named(pages: list[bytes]) -> dict[str, bytes]:
    return {f"{number}.html": page for number, page in enumerate(pages)}


CONTAINERS: dict[str, Callable[[list[bytes]], bytes]] = {
    "a.zip": lambda pages: zipped(named(pages)),
    "a.tar": lambda pages: tarred(named(pages)),
    "a.tar.gz": lambda pages: gzip.compress(tarred(named(pages))),
    "a.mbox": mailbox,
    "a.mhtml": aggregate,
    "a.warc.gz": crawl,
    "gz.zip": lambda pages: zipped({f"{name}.gz": gzip.compress(page) for name, page in named(pages).items()}),
    "mails.zip": lambda pages: zipped({f"{number}.eml": MAIL % page for number, page in enumerate(pages)}),
    "aggregate.tar": lambda pages: tarred({"a.mhtml": aggregate(pages)}),
}
ERRORS = [
    (RuntimeError("a mistake"), "reader-failed"),
    (CharsetError("of a library"), "reader-failed"),
    (KernelBug("a panic"), "reader-failed"),
    (RecursionError(), "too-deep"),
    (MemoryError(), "too-large"),
    (OSError(), "unreadable"),
]


@pytest.fixture(autouse=True)
def noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OVERTHERE_FAULTS")


def notes_by_source(source: Path | str) -> tuple[list[str], list[str]]:
    rows = list(extract(source, "http://h/"))
    return [row.reference for row in rows if row.reference is not None], [row.error for row in rows if row.error]


def failing(error: Exception, work: Callable[..., Any]) -> Callable[..., Any]:
    """The same work, which fails for the bad page."""

    def work_or_fail(args: Any, *kwargs: Any) -> Any:
        if b"BOOM" in (args.content if isinstance(args, Document) else args):
            raise error
        return work(args, *kwargs)

    return work_or_fail


@pytest.mark.parametrize(("error", "kind"), ERRORS)
@pytest.mark.parametrize("name", CONTAINERS)
def test_a_reader_that_fails(
    name: str, error: Exception, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from overthere.links.documents import html

    (tmp_path / name).write_bytes(CONTAINERS[name](PAGES))
    monkeypatch.setattr(html, "octets", failing(error, html.octets))
    assert notes_by_source(tmp_path / name) == (REST, [kind])


@pytest.mark.parametrize("name", CONTAINERS)
def test_an_error_while_detecting_the_kind(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / name).write_bytes(CONTAINERS[name](PAGES))
    monkeypatch.setattr("overthere.links.containers.nested.kind_of", failing(RuntimeError(), kind_of))
    # The native kernel detects no kinds.
    monkeypatch.setattr("overthere.links.report.rows._NativeRows.make_page_reader", None)
    # In a container, its content is what is read first.
    assert notes_by_source(tmp_path / name) == (
        [] if name in ("aggregate.tar", "a.tar.gz") else REST,
        ["reader-failed"],
    )


READERS = {
    "xml": (b"<?xml version='1.0'?><feed xmlns='http://www.w3.org/2005/Atom'/>", "a.xml"),
    "css": (b"a { background: url(x) }", "a.css"),
    "json": (b'{"href": "x"}', "a.json"),
    "markdown": (b"[a](x)", "a.md"),
    "plaintext": (b"http://h/", "a.txt"),
}


@pytest.mark.parametrize("name", READERS)
def test_every_reader(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content, file = READERS[name]
    (tmp_path / "a.zip").write_bytes(zipped({"0.html": PAGES[0], file: content, "z.html": PAGES[1]}))
    monkeypatch.setattr(f"overthere.links.documents.{name}.read", broken)
    rows = list(extract(tmp_path, json=True))
    assert [(row.reference, row.error) for row in rows] == [("x0", None), (None, "reader-failed"), ("x1", None)]


@pytest.mark.parametrize("name", ["mbox.members", "message.members", "warc.members", "warc._read_documents"])
@pytest.mark.parametrize("outer", [zipped, tarred])
def test_a_container_that_fails(
    name: str, outer: Callable[[dict[str, bytes]], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its container continues after it."""
    inner = {"mbox": mailbox, "message": aggregate, "warc": crawl}[name.partition(".")[0]](PAGES[1:2])
    end = {"mbox": "mbox", "message": "eml", "warc": "warc.gz"}[name.partition(".")[0]]
    (tmp_path / "o").write_bytes(outer({"0.html": PAGES[0], f"1.{end}": inner, "2.html": PAGES[3]}))
    monkeypatch.setattr(f"overthere.links.containers.{name}", broken)
    # Otherwise no record becomes a document.
    monkeypatch.setattr("overthere.links.report.rows._NativeRows.make_page_reader", None)
    assert notes_by_source(tmp_path / "o") == (["x0", "x3"], ["reader-failed"])


def broken(*args: Any) -> Any:
    raise ZeroDivisionError


def test_a_part_whose_header_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from overthere.mail import fields

    def broken(value: str) -> str:
        raise CharsetError

    monkeypatch.setattr(fields, "words", broken)
    (tmp_path / "a.mbox").write_bytes(
        b"From a today\r\n" + aggregate(PAGES, b"Content-Location: x\r\n") + b"\r\n" + mailbox(PAGES[:1])
    )
    assert notes_by_source(tmp_path / "a.mbox") == (["x0", "x1", "x3", "x0"], ["reader-failed"])


def test_contents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents in rows of a table."""
    from overthere.links.documents import html

    monkeypatch.setattr(html, "octets", failing(ZeroDivisionError(), html.octets))
    row_list: list[dict[str, Any]] = [{"path": f"/{number}", "content": page} for number, page in enumerate(PAGES)]
    row_list += [{"path": "/a.zip", "content": CONTAINERS["a.zip"](PAGES)}, {"path": 7, "content": 7}]
    row_list += [{"path": "/last", "content": PAGES[0]}]
    rows = [row for batch in contents.read(row_list, None, Options()) for row in to_arrow(batch).to_pylist()]
    assert [row["reference"] for row in rows if row["reference"]] == [*REST, *REST, "x0"]
    errors = [(row["source"], row["error"]) for row in rows if row["error"]]
    assert errors == [("/2", "reader-failed"), ("/a.zip!2.html", "reader-failed"), ("7", "reader-failed")]


PATCHES = """
from overthere.links.documents import html
from overthere.links.job import pool, threads
from test_faults import failing

html.octets = failing(ZeroDivisionError(), html.octets)
"""
JOB = """
for batch in batches([sys.argv[1]], "http://h/", workers=int(sys.argv[2])):
    if not isinstance(batch, patches.pool.TaskEnd):
        for row in batch.links():
            print(row[3], row[9])
"""


def test_workers(tmp_path: Path) -> None:
    """Every container in a folder, read by worker processes: one note each, and nothing is read twice or lost."""
    from test_links import run_deadly_job

    (folder := tmp_path / "all").mkdir()
    for name, make in CONTAINERS.items():
        (folder / name).write_bytes(make(PAGES))
    path = os.pathsep.join(sys.path)
    first, two = (run_deadly_job(tmp_path, PATCHES, JOB, folder, workers, PYTHONPATH=path) for workers in ("1", "2"))
    assert first.splitlines() == ["x0 None", "x1 None", "None reader-failed", "x3 None"] * len(CONTAINERS)
    assert two == first


def test_a_job_continues_after_a_failing_document(tmp_path: Path) -> None:
    """A mail of 87 bytes once ended the job, and --resume failed at it again."""
    mail = b"Date: x\r\nFrom: a@b\r\nContent-Location: =?\xc3\xa9?q?a?=\r\nContent-Type: text/html\r\n\r\n"
    (tmp_path / "a.mbox").write_bytes(mailbox(PAGES[:1]) + b"From a b\r\n" + mail + PAGES[1] + b"\r\n\r\n")
    (tmp_path / "b.html").write_bytes(PAGES[3])
    table = tmp_path / "t.jsonl"
    sources = [str(tmp_path / name) for name in ("a.mbox", "b.html")]
    command = [sys.executable, "-m", "overthere", "links", *sources, "-o", str(table)]
    for code, message in ((0, ""), (2, "t.jsonl: it is complete or belongs to another job")):
        result = subprocess.run([*command, "--resume"], capture_output=True, text=True, check=False, timeout=120)
        assert (result.returncode, message in result.stdout + result.stderr) == (code, True)
        assert [json.loads(line)["reference"] for line in table.read_text().splitlines()] == ["x0", "x1", "x3"]
        assert not list(tmp_path.glob("*.resume"))


def test_an_audit_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    audit_column._audit_target.cache_clear()
    monkeypatch.setattr(audit_column, "kinds", broken)
    (tmp_path / "a.html").write_bytes(b"<a href=http://joe:pw@h/>")
    assert [row.audit for row in extract(tmp_path, audit=True)] == ["audit-failed"]
    audit_column._audit_target.cache_clear()


def test_bugs_in_readers_are_raised_in_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A note must not hide a bug where it can be fixed."""
    monkeypatch.setenv("OVERTHERE_FAULTS", "raise")
    monkeypatch.setattr("overthere.links.documents.css.read", broken)
    (tmp_path / "a.css").write_bytes(b"a { background: url(x) }")
    with pytest.raises(ZeroDivisionError):
        list(extract(tmp_path))
    (tmp_path / "a.css").unlink()
    (tmp_path / "b.html").symlink_to("nowhere")
    assert [row.error for row in extract(tmp_path)] == ["unreadable"]


@pytest.mark.parametrize("name", ["member_document", "member_base"])
@pytest.mark.parametrize("make", [zipped, tarred])
def test_a_bug_in_an_archive_is_attributed_to_its_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[dict[str, bytes]], bytes], name: str
) -> None:
    (tmp_path / f"a.{make.__name__}").write_bytes(make({"a.html": PAGES[0]}))
    kind = "zip" if make is zipped else "tar"
    monkeypatch.setattr(f"overthere.links.containers.{kind}.{name}", None)
    assert "reader-failed" in [row.error for row in extract(tmp_path)]
    monkeypatch.setenv("OVERTHERE_FAULTS", "raise")
    with pytest.raises(TypeError):
        list(extract(tmp_path))


def test_all_kinds_of_notes_are_known() -> None:
    assert "reader-failed" in NOTES.keys() & UNREAD
