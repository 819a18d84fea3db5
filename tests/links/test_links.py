"""The main job: documents in, rows out."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import urllib.parse
from pathlib import Path, PureWindowsPath
from typing import Any

import pytest

from overthere import URI, InvalidURI, NotSpecified, Rung
from overthere.base import Base, file_uri, from_content, retrieval_uri
from overthere.files.tables.arrays import to_arrow
from overthere.ground.errors import Unwritable
from overthere.links import Found, Link, Options, batches, extract, extract_html
from overthere.links.documents.html import decode, read
from overthere.links.job.task_rows import TaskEnd
from overthere.links.model import OptionFields
from servers import NET
from support import ROOT, cases, ids

HTML = cases("html")
SITE = ROOT / "examples" / "site"


@pytest.mark.parametrize("row", HTML, ids=ids(HTML))
def test_references_in_html(row: dict[str, Any]) -> None:
    page = read(row["html"])
    assert [[f.where, f.reference] for f in page.items if isinstance(f, Found)] == row["is"]
    assert page.base == row.get("base")


def test_deep_nesting_is_fast() -> None:
    assert [f[:2] for f in read("<div>" * 100_000 + "<a href=deep>").items] == [("a href", "deep")]


def link(html: str, at: str = "http://h/a/b") -> Link:
    return list(extract_html(html, URI(at)))[-1]


def test_fields_of_a_row() -> None:
    row = link('<a href="../x/./%7e?#s">')
    assert row == Link(
        "", "http://h/a/b", "retrieval", "../x/./%7e?#s", "a href",
        "http://h/x/%7e?#s", "s", False, "http://h/x/~?#s", None, None, None, None,
    )  # fmt: skip


def test_undefined_is_not_empty() -> None:
    assert link("<a href=x>").fragment is None
    assert link("<a href=x#>").fragment == ""


@pytest.mark.parametrize(("reference", "same"), [("", True), ("#s", True), ("b", True), ("?", False), ("c", False)])
def test_same_document(reference: str, same: bool) -> None:
    assert link(f'<a href="{reference}">').same_document is same


def test_invalid_reference_is_a_row() -> None:
    row = link('<a href="a b">')
    assert (row.target, row.error, row.error_at, row.reference) == ("http://h/a/a%20b", "space", 1, "a b")
    row = link('<a href="a\\b">')
    assert (row.target, row.error, row.error_at, row.reference) == (None, "path-char", 1, "a\\b")


@pytest.mark.parametrize("edition", ["url-1994", "rfc1738"])
def test_the_place_of_an_error_is_one_in_the_reference(edition: str, tmp_path: Path) -> None:
    """Also if the intended URI has a prefix.  "~" is not valid in these editions."""
    (tmp_path / "a.txt").write_text("see www.example.com/a~b or http://h/a~b")
    rows = [row for row in extract(tmp_path / "a.txt", edition=edition) if row.reference is not None]
    assert [(row.reference, row.error_at) for row in rows] == [("www.example.com/a~b", 17), ("http://h/a~b", 10)]


def test_an_iri_is_mapped_with_a_note() -> None:
    row = link('<a href="ü">')
    assert (row.target, row.error, row.error_at) == ("http://h/a/%C3%BC", "non-ascii", 0)
    assert link('<a href="ü b">').error == "space"


@pytest.mark.parametrize(
    ("html", "base", "layer"),
    [
        ("<a href=x>", "http://h/a/b", "retrieval"),
        ('<base href="c/d#f"><a href=x>', "http://h/a/c/d", "content"),
        ('<base href="//o/"><base href="//p/"><a href=x>', "http://o/", "content"),
        ('<base href="http://[x/"><a href=x>', "http://h/a/b", "retrieval"),
        ('<base href="data:,x"><a href=x>', "http://h/a/b", "retrieval"),
        ('<base href="JavaScript:x"><a href=x>', "http://h/a/b", "retrieval"),
        ('<base href="ü/"><a href=x>', "http://h/a/%C3%BC/", "content"),
        ('<base href=""><a href=x>', "http://h/a/b", "content"),
    ],
)
def test_base(html: str, base: str, layer: str) -> None:
    row = link(html)
    assert (row.base, row.base_from) == (base, layer)


def test_without_a_base_the_fallback_is_used() -> None:
    fallback = Base(URI("http://h/"), "retrieval")
    assert from_content(None, fallback) is fallback


def test_retrieval_uris(tmp_path: Path) -> None:
    assert str(file_uri("/a b/ü%.html")) == "file:///a%20b/%C3%BC%25.html"
    assert str(file_uri("/")) == "file:///"
    assert str(file_uri(PureWindowsPath("C:/a b"))) == "file:///C:/a%20b"
    assert str(file_uri(PureWindowsPath("//server/share/c"))) == "file://server/share/c"
    with pytest.raises(Unwritable, match="not an absolute path on windows"):
        file_uri(PureWindowsPath("a"))
    base = URI("http://h/docs/x")
    assert str(retrieval_uri(tmp_path / "a" / "b:c.html", tmp_path, base)) == "http://h/docs/a/b:c.html"
    assert str(retrieval_uri(tmp_path / "b:c.html", tmp_path, base)) == "http://h/docs/b%3Ac.html"
    assert retrieval_uri(tmp_path, tmp_path, base) == base


@pytest.mark.skipif(os.name == "nt", reason="names of octets exist on POSIX only")
def test_file_names_of_any_bytes(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9 #?.html")
    (tmp_path / name).write_text("<a href=x>")
    (row,) = extract([tmp_path], "http://h/")
    assert row.base == "http://h/caf%E9%20%23%3F.html"


def test_folders_and_files(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c.HTM").write_text("<a href=1>")
    (tmp_path / "a.html").write_text("<a href=2>")
    (tmp_path / "x.txt").write_text("see http://h/3.")
    rows = list(extract([tmp_path], "http://h/d/"))
    assert [r.target for r in rows] == ["http://h/d/2", "http://h/3", "http://h/d/b/1"]
    assert [r.base for r in rows] == ["http://h/d/a.html", "http://h/d/x.txt", "http://h/d/b/c.HTM"]
    assert [r.base for r in extract(tmp_path / "a.html")] == [str(file_uri(tmp_path / "a.html"))]


def test_a_broken_document_is_a_row(tmp_path: Path) -> None:
    (tmp_path / "a.html").mkdir()
    (tmp_path / "b.html").symlink_to("nowhere")
    (tmp_path / "c.html").write_bytes(bytes(range(256)) + b"<a href='x\xff'>")
    (tmp_path / "d.html").write_bytes(b"")
    rows = list(extract([tmp_path], "http://h/"))
    notes = [(Path(r.source).name, r.error) for r in rows if r.reference is None]
    assert notes == [("b.html", "unreadable"), ("d.html", "empty")]
    assert [r.target for r in rows if r.reference is not None] == ["http://h/x%C3%BF"]


@pytest.mark.skipif(os.name == "nt", reason="named pipes lie in folders on POSIX only")
def test_a_pipe_in_a_folder_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.html")
    assert [row.error for row in extract([tmp_path])] == ["unreadable"]


def test_base_must_be_a_uri() -> None:
    with pytest.raises(InvalidURI):
        list(extract([SITE], "no base"))


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("\ufeffü".encode(), "ü"),
        ("ü".encode("utf-16"), "ü"),
        ("ü".encode(), "ü"),
        (b"\xfc", "ü"),
        (b"<meta charset=koi8-r>\xc1", "<meta charset=koi8-r>а"),
        (b'<meta content="text/html; charset=iso-8859-1">\x80', '<meta content="text/html; charset=iso-8859-1">€'),
        (b"<meta charset=utf-16>\xc3\xbc", "<meta charset=utf-16>ü"),
        (b"<meta charset=no-such>\xc3\xbc\xff", "<meta charset=no-such>Ã¼ÿ"),
        (b"<meta charset=rot13>x", "<meta charset=rot13>x"),
    ],
)
def test_charset(data: bytes, text: str) -> None:
    assert decode(data)[0] == text


def test_the_example_site_agrees_with_lxml_and_urljoin() -> None:
    """Where both have a result, a plain reader of hrefs and the standard library's resolver give the same target."""
    from lxml import html

    compared = 0
    for row in extract([SITE], "http://museum.example/harbour/"):
        if row.where == "a href" and row.target is not None and row.error is None:
            joined = urllib.parse.urljoin(row.base or "", row.reference or "")
            if row.reference and "?" not in row.reference[-1:] and not row.reference.endswith("#"):
                assert joined == row.target, row
                compared += 1
    file = SITE / "index.html"
    hrefs = [a.get("href").strip() for a in html.fromstring(file.read_bytes()).iter("a")]
    assert hrefs == [r.reference for r in extract([file]) if r.where == "a href"]
    assert compared > 25


def test_rung() -> None:
    rows = extract_html('<a href="http://h:80">', URI("http://x/"), rung=Rung.SCHEME)
    assert [r.normal for r in rows] == ["http://h/"]


def test_an_unknown_edition() -> None:
    with pytest.raises(NotSpecified):
        list(extract([SITE], edition="rfc1"))


def rows(sources: list[Path], workers: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for batch in batches(sources, "http://h/", workers=workers):
        rows += [] if isinstance(batch, TaskEnd) else to_arrow(batch).to_pylist()
    return rows


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Enough small documents for several tasks, with distinct references."""
    folder = tmp_path_factory.mktemp("crowd")
    for n in range(700):
        (folder / f"{n:04}.html").write_text(f"<a href=x{n}>" * (n % 7))
    return folder


def test_workers_do_not_change_the_rows(crowd: Path) -> None:
    alone = rows([crowd], 1)
    assert len([row for row in alone if row["reference"] is not None]) == sum(n % 7 for n in range(700))
    assert rows([crowd], 3) == alone


def run_deadly_job(folder: Path, patches: str, job: str, *arguments: str | Path, **environment: str) -> str:
    """The output of a job with patched workers: a worker imports its function by name, and so applies the patches."""
    (folder / "patches.py").write_text(patches + PATCHED_WORK)
    script = folder / "job.py"
    script.write_text("import patches\nimport sys\nfrom overthere.links import batches\n" + job)
    command: list[str | Path] = [sys.executable, script, *arguments]
    env = os.environ | environment
    return subprocess.run(command, capture_output=True, text=True, timeout=NET, check=True, env=env).stdout


PATCHED_WORK = """
own_work = pool._run_worker

def work_with_patches(pipe, options):
    own_work(pipe, options)

pool._run_worker = work_with_patches
threads.is_native = lambda *_: False  # processes, though the kernel is native
"""


def test_a_worker_that_dies_leaves_a_note(crowd: Path, tmp_path: Path) -> None:
    """Whatever a document does to its process, the job continues with the next."""
    patches = """
import os, signal
from overthere.links.job import pool, threads

work = pool.carry_out

def deadly(task, options, *walk):
    # In the middle of a task, with rows of it on their way.
    for path in task.paths:
        if path.endswith("0303.html"):
            os.kill(os.getpid(), signal.SIGKILL)
        for result in work(task._replace(paths=(path,)), options, *walk):
            if not isinstance(result, pool.TaskEnd):
                yield result
    yield pool.TaskEnd({"html": (len(task.paths), 0)}, task.size)

pool.carry_out = deadly
"""
    job = """
unread = read = 0
for batch in batches([sys.argv[1]], workers=2):
    if not isinstance(batch, patches.pool.TaskEnd):
        errors = batch.column("error")
        unread += errors.count("unreadable")
        read += len(errors) - errors.count("unreadable") - errors.count("empty")
print(unread, read)
"""
    unread, read = map(int, run_deadly_job(tmp_path, patches, job, crowd).split())
    assert unread == 1
    assert read == sum(n % 7 for n in range(700)) - 303 % 7


DEADLY = """
import os, signal
from overthere.links.documents import html
from overthere.links.job import pool, threads
from overthere.links.containers import warc
from overthere.links.report.rows import _NativeRows

octets, documents = html.octets, warc._read_documents

def die(content):
    if b"BOOM" in content:
        os.kill(os.getpid(), signal.SIGKILL)

def deadly(data, told=None):
    die(data)
    return octets(data, told)

def deadly_record(record, here, options):
    if "EARLY" in os.environ:
        die(record.content)
    yield from documents(record, here, options)

html.octets, warc._read_documents = deadly, deadly_record
if "EARLY" in os.environ:
    _NativeRows.make_page_reader = None  # and each record in Python
"""
DEADLY_JOB = """
for batch in batches([sys.argv[1]], "http://h/", workers=2):
    if isinstance(batch, patches.pool.TaskEnd):
        print("done", batch.documents)
    else:
        for row in batch.links():
            print(row[0].rpartition("/")[2], row[3], row[9])
"""


@pytest.mark.skipif(os.name == "nt", reason="signals exist on POSIX only")
@pytest.mark.parametrize(
    ("name", "early"),
    [(name, "late") for name in ("a.warc", "a.warc.gz", "a.mbox", "a.zip", "a.tar.gz", "gz.zip")]
    + [(name, "early") for name in ("a.warc", "a.warc.gz")],
)
def test_a_dying_worker_loses_one_record(name: str, early: str, tmp_path: Path) -> None:
    """Workers die twice in one file: once its rest was lost, and could not be requested again.

    early: before anything of the record is read; DEADLY recognizes records of WARC files only.
    """
    from test_archives import tarred, zipped
    from test_faults import mailbox
    from test_warc import packed, record, response

    pages = [b"<a href=x%d>" % number * number for number in range(1, 6)]
    bad = (1, 3)
    for number in bad:
        pages[number] = b"<a href=never>BOOM"
    files = {f"{number}.html": page for number, page in enumerate(pages)}
    records = [record(response(page)) for page in pages]
    archives, sources = {
        "a.warc": (b"".join(records), [str(sum(map(len, records[:number]))) for number in bad]),
        "a.warc.gz": (packed(records), [str(len(packed(records[:number]))) for number in bad]),
        "a.mbox": (mailbox(pages), ["2!1", "4!1"]),
        "a.zip": (zipped(files), ["1.html", "3.html"]),
        "a.tar.gz": (gzip.compress(tarred(files)), ["a.tar!1.html", "a.tar!3.html"]),
        "gz.zip": (
            zipped({f"{name}.gz": gzip.compress(page) for name, page in files.items()}),
            ["1.html.gz!1.html", "3.html.gz!3.html"],
        ),
    }[name]
    (tmp_path / name).write_bytes(archives)
    environment = {"EARLY": "1"} if early == "early" else {}
    *lines, end = run_deadly_job(tmp_path, DEADLY, DEADLY_JOB, tmp_path / name, **environment).splitlines()
    assert [line.split(" ", 1)[1] for line in lines] == [
        text for number in range(1, 6)
        for text in (["None unreadable"] if number - 1 in bad else [f"x{number} None"] * number)
    ]  # fmt: skip
    assert [line.split()[0] for line in lines if "unreadable" in line] == [f"{name}!{source}" for source in sources]
    assert end == "done 3"


# Ctrl-C arrives when the first document is marked as done, however fast the machine is.
INTERRUPTED = """
import os, signal
from overthere.cli import main
from overthere.files.tables.writer import Writer

commit = Writer.commit

def then_stop(self, state):
    commit(self, state)
    os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
Writer.commit = then_stop
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="signals exist on POSIX only")
def test_an_interrupted_job_continues(crowd: Path, tmp_path: Path) -> None:
    """Ctrl-C leaves a complete table; --resume completes it to that of an uninterrupted run."""
    import pyarrow.parquet as pq

    complete, interrupted = tmp_path / "whole.parquet", tmp_path / "cut.parquet"
    verb = ["links", *[str(crowd)] * 3, "--base", "http://h/"]

    def run(*command: str | Path) -> tuple[int, str]:
        result = subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=NET)
        return result.returncode, result.stderr

    assert run("-m", "overthere", *verb, "-o", complete, "--workers", "1")[0] == 0
    code, message = run("-c", INTERRUPTED, *verb, "-o", interrupted, "--workers", "2")
    assert code == 130
    assert "--resume" in message
    assert 0 < pq.read_table(interrupted).num_rows < pq.read_table(complete).num_rows
    code, message = run("-m", "overthere", *verb, "-o", interrupted, "--resume")
    assert (code, "continuing" in message) == (0, True)
    assert pq.read_table(interrupted).equals(pq.read_table(complete))
    code, message = run("-m", "overthere", *verb, "-o", interrupted, "--resume")
    assert (code, "nothing to do" in message) == (0, True)


def test_options_are_a_value() -> None:
    assert Options() == Options(Rung.SYNTAX)
    kinds = [
        {name: kind.__forward_arg__ for name, kind in one.__annotations__.items()} for one in (Options, OptionFields)
    ]
    assert kinds[0] == kinds[1]


def test_a_job_does_not_continue_with_other_sources(crowd: Path) -> None:
    """The skipped tasks must be those that were done."""
    marks = [batch.mark for batch in batches([crowd]) if isinstance(batch, TaskEnd)]
    marks_again = [batch.mark for batch in batches([crowd], skip=2, mark=marks[1]) if isinstance(batch, TaskEnd)]
    assert marks_again == marks[2:]
    with pytest.raises(ValueError, match="sources have changed"):
        list(batches([crowd / "0001.html", crowd], skip=1, mark=marks[0]))
    with pytest.raises(ValueError, match="sources have changed"):
        list(batches([crowd], skip=len(marks) + 1, mark=marks[-1]))


def test_an_error_of_a_document_is_its_own_row(crowd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(data: bytes, message: str | None = None) -> tuple[bytes, bool]:
        if b"x13>" in data:
            raise RuntimeError("a mistake in a reader")
        return data, False

    monkeypatch.setenv("OVERTHERE_FAULTS", "")
    monkeypatch.setattr("overthere.links.documents.html.octets", broken)
    table = list(extract(crowd))
    assert [Path(row.source).name for row in table if row.error == "reader-failed"] == ["0013.html"]
    assert len(table) > 2000


def test_very_many_attributes() -> None:
    """A tag of half a million quoted attributes takes no more stack than one."""
    html = "<a " + ' b="c"' * 500_000 + ' href="y">'
    assert [row.reference for row in extract_html(html, URI("http://h/"))] == ["y"]


@pytest.mark.parametrize(
    ("head", "references"),
    [
        (b"Subject: hi\r\nFrom: a@b\r\nContent-Type: text/html\r\n\r\n", ["q"]),
        (b"From: <Saved by Blink>\r\nMIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n", ["q"]),
        (b"Note: this\r\nis no: message\r\n\r\n", []),
    ],
)
def test_a_message_without_a_typical_name(tmp_path: Path, head: bytes, references: list[str]) -> None:
    (tmp_path / "x").write_bytes(head + b"<a href=q>")
    assert [row.reference for row in extract(tmp_path / "x")] == references


def test_files_that_are_wrongly_called_documents(tmp_path: Path) -> None:
    """A file has the same rows whether it is named or found in a folder."""
    (tmp_path / "x.html").write_bytes(b"%PDF-1.4 ...")
    (tmp_path / "y.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (tmp_path / "z.html").write_bytes(
        (tmp_path / "x.html").read_bytes().replace(b"%PDF-1.4", b"PK\x05\x06" + bytes(18))
    )
    errors = {(Path(row.source).name, row.error) for row in extract(tmp_path)}
    assert errors >= {("x.html", "wrong-type"), ("x.html", "unsupported"), ("z.html", "wrong-type")}
    assert ("z.html", "empty") not in errors
    assert {row.error for row in extract(tmp_path / "x.html")} == {"wrong-type", "unsupported"}


@pytest.mark.parametrize(
    ("edition", "action"), [("url-1997", "http://h/a"), ("uri-2003", "http://h/d/"), ("rfc3986", "http://h/d/")]
)
def test_an_empty_reference_that_makes_a_request(edition: str, action: str, tmp_path: Path) -> None:
    """1997 3: the current document; 2003 4.2: its base URI."""
    (tmp_path / "a").write_text('<!doctype html><base href="http://h/d/"><form action=""><a href="">')
    rows = {row.where: row for row in extract(tmp_path / "a", "http://h/", edition=edition)}
    assert rows["form action"].target == action
    assert rows["a href"].same_document
    assert rows["a href"].error is None


@pytest.mark.parametrize(
    ("edition", "page", "target"),
    [
        ("url-1997", b"<base href='http://%C3%A9/'><a href=x>", "http://%C3%A9/x"),
        ("rfc1738", b"<a href='URL://h/a'>", "URL://h/a"),
    ],
)
def test_an_invalid_target_by_the_edition(edition: str, page: bytes, target: str, tmp_path: Path) -> None:
    """It is noted, and the rest of the document is read, which was once lost."""
    (tmp_path / "a.html").write_bytes(page + b"<a href='http://h/'>")
    table = list(extract(tmp_path, "http://h/", edition=edition))
    *_, wrong, right = table
    assert (wrong.target, wrong.normal, wrong.error) == (target, None, "not-derivable")
    assert (right.target, right.normal, right.error) == ("http://h/", "http://h/", None)


def test_an_invalid_guess(tmp_path: Path) -> None:
    """An extended autolink of GFM may be invalid; the rest of the document was once lost."""
    (tmp_path / "a.md").write_bytes(b"[a](x) www.h.example:base='/ [b](y)")
    rows = [(row.reference, row.target is None, row.error) for row in extract(tmp_path)]
    assert rows == [("x", False, None), ("www.h.example:base='/", True, "port-char"), ("y", False, None)]
