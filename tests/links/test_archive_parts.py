"""A ZIP file, a tar file or a mailbox gives the same rows as a whole, in parts, and with its pages read in Python."""

from __future__ import annotations

import io
import random
import tarfile
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from overthere import kernel
from overthere.links.containers import mbox, tar, zip
from overthere.links.job.extraction import batches, extract
from overthere.links.job.sources import tasks
from overthere.links.job.task_builder import Task
from overthere.links.job.task_rows import TaskEnd, carry_out
from overthere.links.model import Link, Options
from overthere.links.report.batch import links
from overthere.links.report.rows import Rows, make_rows_builder
from support import linear

FIND_PARTS: dict[str, Any] = {"zip": zip.find_parts, "tar": tar.find_parts, "mbox": mbox.find_parts}
UNCUT = 1 << 40


def page(draw: random.Random, size: int = 4) -> bytes:
    lines = [b'<a href="/p/%d">t</a>\n' % number for number in range(draw.randrange(size))]
    return draw.choice((b"<!doctype html>\n", b"<meta charset=latin1>\xe9\n", b"")) + b"".join(lines)


def zip_file(draw: random.Random) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", draw.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for number in range(draw.randrange(1, 9)):
            name = draw.choice(("a", "d/b", "é", "l/", "x.png")) + str(number) + draw.choice((".html", ".htm", ""))
            archive.writestr(name, page(draw))
    return file.getvalue()


def tar_file(draw: random.Random) -> bytes:
    file = io.BytesIO()
    form = draw.choice((tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT))
    shared = draw.choice((None, None, {"comment": "x"}, {"path": "y.html"}))
    with tarfile.open(fileobj=file, mode="w", format=form, pax_headers=shared) as archive:
        for number in range(draw.randrange(1, 9)):
            info = tarfile.TarInfo(draw.choice(("a", "d/b", "é", "q" * 90)) + f"{number}.html")
            kinds = (tarfile.SYMTYPE, tarfile.DIRTYPE, tarfile.CHRTYPE, tarfile.GNUTYPE_SPARSE, b"\0", b"Z")
            if draw.random() < 0.2:
                info.type, info.linkname = draw.choice(kinds), "x" * draw.choice((3, 90))
                archive.addfile(info)
            else:
                content = page(draw)
                info.size, info.mtime = len(content), draw.choice((1, 1.5))
                archive.addfile(info, io.BytesIO(content))
    return file.getvalue()


def mbox_file(draw: random.Random) -> bytes:
    file = b""
    for _ in range(draw.randrange(1, 9)):
        end = draw.choice((b"\n", b"\r\n"))
        header = b"From x" + end + draw.choice((b"Content-Type: text/html" + end, b"")) + draw.choice((end, b""))
        file += (
            header + page(draw).replace(b"\n", end) + draw.choice((end, end * 2, b"")) + draw.choice((b"From ", b""))
        )
    return file


def mutated(draw: random.Random, file: bytes) -> bytes:
    """Return the file with up to three bytes or parts that are changed, lost or repeated."""
    data = bytearray(file)
    for _ in range(draw.randrange(4)):
        at = draw.randrange(len(data) + 1)
        size = draw.choice((1, 30, 512))
        match draw.randrange(3):
            case 0:
                data[at : at + 1] = bytes([draw.choice((0, 10, 13, 48, 80, 255, draw.randrange(256)))])
            case 1:
                del data[at : at + size]
            case _:
                copied = draw.randrange(len(data) + 1)
                data[at:at] = data[copied : copied + size]
    return bytes(data)


def table(path: Path, part_bytes: int, options: Options = Options()) -> tuple[list[Link], Counter[str], int]:  # noqa: B008 - a value
    """Return the rows of a file, its counts, and the number of its tasks."""
    rows: list[Link] = []
    counts: Counter[str] = Counter()
    number = 0
    for task in tasks([path], None, options, part_bytes):
        number += 1
        for result in carry_out(task, options):
            if isinstance(result, TaskEnd):
                counts.update(result.passed)
                for kind, (documents, octets) in result.kinds.items():
                    counts.update({kind: documents, f"{kind} bytes": octets})
            else:
                rows += links(result)
    return rows, counts, number


@pytest.mark.parametrize("kind", FIND_PARTS)
def test_parts_and_pages_give_the_rows_of_the_whole(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(f"parts {kind}")
    make = {"zip": zip_file, "tar": tar_file, "mbox": mbox_file}[kind]
    path = tmp_path / f"x.{kind}"
    tasks_per_file: Counter[int] = Counter()
    for _ in range(200):
        path.write_bytes(mutated(draw, make(draw)))
        with monkeypatch.context() as patch:
            patch.setattr(type(make_rows_builder(Options())), "make_page_reader", None)
            expected = table(path, UNCUT)
        for part_bytes in (UNCUT, 1, 300, 1500):
            rows, counts, number = table(path, part_bytes)
            assert (rows, counts) == expected[:2], path.read_bytes()
            tasks_per_file[number] += 1
    assert max(tasks_per_file) > 5


@pytest.mark.parametrize("kind", FIND_PARTS)
def test_two_workers_give_the_rows_of_one(kind: str, tmp_path: Path) -> None:
    draw = random.Random(f"workers {kind}")
    path = tmp_path / f"x.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as zip_archive:
            for number in range(200):
                zip_archive.writestr(f"{number}.html", page(draw, 500))
    elif kind == "tar":
        with tarfile.open(path, "w") as tar_archive:
            for number in range(200):
                info = tarfile.TarInfo(f"{number}.html")
                content = page(draw, 500)
                info.size = len(content)
                tar_archive.addfile(info, io.BytesIO(content))
    else:
        path.write_bytes(
            b"".join(b"From x\nContent-Type: text/html\n\n" + page(draw, 500) + b"\n\n" for _ in range(200))
        )
    assert len(list(tasks([path], None, Options()))) > 2

    def rows(workers: int) -> list[Link]:
        return [
            row for batch in batches([path], workers=workers) if not isinstance(batch, TaskEnd) for row in links(batch)
        ]

    assert rows(1) == rows(2)


def test_a_member_without_a_name_does_not_end_the_job(tmp_path: Path) -> None:
    """A part is fingerprinted: `zipfile.ZipInfo` has no repr without a name."""
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("qq", "a.html"):
            archive.writestr(name, b"<a href=x>" + bytes(1 << 20))
    path.write_bytes(path.read_bytes().replace(b"qq", b"\0\0"))
    assert [row.reference for row in extract([path])] == ["x"]


@pytest.mark.skipif(kernel.name != "native", reason="the native kernel is absent or not asked for")
def test_pages_are_read_natively(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.html", b"<a href=x>")
    monkeypatch.setattr(Rows, "read_html", lambda *_: pytest.fail("read in Python"), raising=False)
    rows, counts, _ = table(path, UNCUT)
    assert [row.target for row in rows] == [f"{path.as_uri()[:-5]}x"]
    assert counts == {"html": 1, "html bytes": 10}


@pytest.mark.parametrize("limit", [1 << 20, 12_000, 40])
def test_what_comes_out_of_an_archive_is_limited(limit: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few bytes can contain many pages; those beyond the limit are noted, whoever reads them."""
    path = tmp_path / "x.zip"
    content = b"<a href=x>" + bytes(10_000)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(300):
            archive.writestr(f"{number}.html", content)
    options = Options(limit=limit)

    def rows() -> list[Link]:
        task = Task((str(path),), None, None, size=path.stat().st_size)
        return [row for batch in carry_out(task, options) if not isinstance(batch, TaskEnd) for row in links(batch)]

    found = rows()
    monkeypatch.setattr(type(make_rows_builder(options)), "make_page_reader", None)
    assert found == rows()
    assert ("too-large" in {row.error for row in found}) == (limit < 1 << 20)


@pytest.mark.parametrize("forced_kind", ["text", "html", "warc", *FIND_PARTS])
@pytest.mark.parametrize("kind", FIND_PARTS)
def test_a_file_is_cut_only_as_the_kind_that_it_is_read_as(kind: str, forced_kind: str, tmp_path: Path) -> None:
    """Each part of a mailbox that is read as text was the whole text."""
    draw = random.Random(f"kinds {kind}")
    path = tmp_path / f"x.{kind}"
    path.write_bytes({"zip": zip_file, "tar": tar_file, "mbox": mbox_file}[kind](draw))
    options = Options(kind=forced_kind)
    assert table(path, 300, options)[:2] == table(path, UNCUT, options)[:2]


@pytest.mark.parametrize("later_kind", ["html", *FIND_PARTS])
@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_a_file_of_another_kind_than_the_one_that_was_cut_is_noted(kind: str, later_kind: str, tmp_path: Path) -> None:
    """A part of a ZIP file had no row where a tar file stood meanwhile."""
    make = {"zip": zip_file, "tar": tar_file, "mbox": mbox_file, "html": page}
    path = tmp_path / "x"
    path.write_bytes(make[kind](random.Random("kinds")))
    parts = list(tasks([path], None, Options(), 300))
    path.write_bytes(make[later_kind](random.Random("kinds")))
    for task in parts if later_kind != kind else ():
        (batch,) = [batch for batch in carry_out(task, Options()) if not isinstance(batch, TaskEnd)]
        assert [row.error for row in links(batch)] == ["unsupported"]


def test_a_header_that_is_overwritten_after_the_cut_is_noted(tmp_path: Path) -> None:
    """A block of zeros is the end of a tar file: the other members of its part had neither rows nor a note."""
    path = tmp_path / "x.tar"
    with tarfile.open(path, "w") as archive:
        for number in range(9):
            info = tarfile.TarInfo(f"{number}.html")
            info.size = 10
            archive.addfile(info, io.BytesIO(b"<a href=x>"))
    parts = list(tasks([path], None, Options(), 3000))
    with path.open("r+b") as file:
        file.seek(1024)
        file.write(bytes(512))
    batches = [batch for task in parts for batch in carry_out(task, Options()) if not isinstance(batch, TaskEnd)]
    assert [row.error for batch in batches for row in links(batch)] == [None, "corrupt", *[None] * 6]


def test_sizes_that_a_directory_makes_up_take_no_page_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They counted towards the limit of what comes out of an archive: the pages had no rows on the native kernel."""
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(100):
            archive.writestr(f"{number}.html", b"<a href=x>")
        for number, info in enumerate(archive.infolist()):
            info.CRC += not number
            info.file_size = 10 if number < 5 else Options().limit
    rows, counts, _ = table(path, UNCUT)
    monkeypatch.setattr(type(make_rows_builder(Options())), "make_page_reader", None)
    assert (rows, counts) == table(path, UNCUT)[:2]
    assert Counter(row.error for row in rows) == {None: 100, "corrupt": 1}


def test_a_global_size_in_a_tar_file_has_the_same_note_on_both_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The native kernel read a member beyond the next header, without a note."""
    path = tmp_path / "x.tar"
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT, pax_headers={"size": "700"}) as archive:
        for number in range(3):
            info = tarfile.TarInfo(f"{number}.html")
            info.size = 10
            archive.addfile(info, io.BytesIO(b"<a href=x>"))
    rows = table(path, UNCUT)[0]
    monkeypatch.setattr(type(make_rows_builder(Options())), "make_page_reader", None)
    assert rows == table(path, UNCUT)[0]
    assert "corrupt" in [row.error for row in rows]


@pytest.mark.parametrize(("content", "fault"), [(b"<a>", 1), (b"PK\3\4", 0)])
def test_many_pages_on_which_python_must_act_are_linear(content: bytes, fault: int, tmp_path: Path) -> None:
    """After each of them all pages of a mebibyte were passed to the native kernel again: a file of 1 MB took 75 s."""
    archives = {count: tmp_path / f"{count}.zip" for count in (1_500, 6_000)}
    for count, path in archives.items():
        with zipfile.ZipFile(path, "w") as archive:
            for number in range(count):
                archive.writestr(f"{number}.html", content)
            for info in archive.infolist():
                info.CRC ^= fault
    linear(lambda count: table(archives[count], UNCUT), 6_000)


def nested_zip(content: bytes, counts: tuple[int, ...]) -> bytes:
    """Return files of as many files of as many files of the content."""
    for number, count in enumerate(counts):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for member in range(count):
                archive.writestr(f"{member}.{'zip' if number else 'html'}", content)
        content = file.getvalue()
    return content


@pytest.mark.parametrize("kind", ["zip", "warc"])
def test_what_comes_out_of_parts_grows_as_the_file(kind: str, tmp_path: Path) -> None:
    """Each part had the limit of the whole file, so that a file of twice the size took four times as long."""
    path = tmp_path / f"x.{kind}"
    bomb = nested_zip(b"<a href=x>" + bytes(990), (50, 200))
    pages = []
    for count in (4, 8):
        if kind == "zip":
            path.write_bytes(nested_zip(bomb, (1, count)))
        else:
            head = (
                b"WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: http://h/x.zip\r\nContent-Type: application/zip"
            )
            record = b"%s\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n" % (head, len(bomb), bomb)
            path.write_bytes(record * count)
        _, counts, number = table(path, 1, Options(limit=2000))
        assert number == count
        pages.append(counts["html"])
    assert 0 < pages[1] < 2.5 * pages[0]
