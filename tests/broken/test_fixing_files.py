"""Files that `--fix` skips, each with the reason, while it fixes the others."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from overthere.broken import Checker, Summary, check
from overthere.broken.fixing import FixedFile, fix_files, write
from overthere.cli.app import app
from support import linear

PAGE = "<a href=other.html>x</a>"
MENDED = "<a href=Other.html>x</a>"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    site = tmp_path / "site"
    site.mkdir()
    (site / "Other.html").write_text("x")
    for name in ("a.html", "m.html", "z.html"):
        (site / name).write_text(PAGE)
    return site


def fix(site: Path) -> Result:
    return CliRunner().invoke(
        app, ["broken", "--no-config", "--base", "http://h.example/", "--fix", "--yes", str(site)]
    )


def linked(path: Path) -> None:
    path.rename(path.with_name("q.html"))
    path.symlink_to("q.html")


def hard_linked(path: Path) -> None:
    os.link(path, path.parent.parent / "elsewhere.html")


def read_only(path: Path) -> None:
    path.chmod(0o444)


@pytest.mark.parametrize(("change", "why"), [(linked, "symlink"), (hard_linked, "hard link"), (read_only, "read-only")])
def test_special_and_foreign_files_are_skipped(site: Path, change: Callable[[Path], None], why: str) -> None:
    change(site / "m.html")

    def state() -> tuple[int, int, int, int]:
        """The state without the time of access."""
        status = (site / "m.html").lstat()
        return status.st_ino, status.st_mode, status.st_nlink, status.st_mtime_ns

    before = state()
    result = fix(site)
    assert state() == before or change is linked
    assert f"m.html: not changed: it {'has another name too' if why == 'hard link' else 'is'}" in result.output
    assert why in result.output
    assert (site / "m.html").is_symlink() == (change is linked)
    assert (site / "a.html").read_text() == (site / "z.html").read_text() == MENDED


def replaced_by_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def replaced_by_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def replaced_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    "change",
    [replaced_by_link, replaced_by_pipe, replaced_by_folder, Path.unlink, lambda path: path.write_text("other")],
    ids=["link", "pipe", "folder", "removed", "changed"],
)
def test_files_changed_since_the_check_are_skipped(site: Path, change: Callable[[Path], object]) -> None:
    findings = list(check([str(site)], checker=Checker(base=("http://h.example/",)), summary=Summary()))
    files = {Path(file.source).name: file for file in fix_files(findings)}
    assert [file.changed for file in files.values()] == [1, 1, 1]
    change(site / "m.html")
    with pytest.raises(OSError):  # noqa: PT011  # of several kinds
        write(files["m.html"])
    (changed,) = (file for file in fix_files(findings) if file.source.endswith("m.html"))
    assert changed.refused
    write(files["z.html"])
    assert (site / "z.html").read_text() == MENDED


LINES = ("a", "b", "a\x0cb", "\u2028a")


def test_a_diff_that_joins_lines_can_be_applied() -> None:
    """Line breaks in a reference are removed; nearby lines may repeat."""
    draw = random.Random(7)
    for _ in range(500):
        old: list[str] = []
        new: list[str] = []
        for _ in range(draw.randrange(1, 12)):
            if draw.random() < 0.3:
                joined = draw.randrange(1, 4)
                old += [draw.choice(LINES) for _ in range(joined)]
                new.append(draw.choice(LINES))
            else:
                old.append(draw.choice(LINES))
                new.append(old[-1])
        diff = list(FixedFile("x", "\n".join(old).encode(), "\n".join(new).encode(), 1, "").diff())
        assert diff[:2] == ["--- x", "+++ x"]
        patched, at = [], 0
        for line in diff[2:]:
            if line.startswith("@@"):
                start = int(line.split(",")[0].split(" ")[1][1:])
                patched += old[at : start - 1]
                at = start - 1
            elif line.startswith("-"):
                assert old[at] == line[1:]
                at += 1
            else:
                patched.append(line[1:])
        assert patched + old[at:] == new


def test_showing_a_change_is_linear() -> None:
    def show(count: int) -> None:
        pages = (f"<a href='{name}.md?{{0}}'></a>\n<p>{{1}}</p>\n" for name in ("target", "Target"))
        before, after = ("".join(page.format(n, n % 51) for n in range(count)).encode() for page in pages)
        lines = list(FixedFile("a.html", before, after, count, "").diff())
        assert lines[:5] == [
            "--- a.html",
            "+++ a.html",
            "@@ -1 +1 @@",
            "-<a href='target.md?0'></a>",
            "+<a href='Target.md?0'></a>",
        ]
        assert len(lines) == 2 + 3 * count

    linear(show, 100_000)


@pytest.mark.parametrize(
    ("name", "text", "places"),
    [
        ("a.md", "[x](other.html)\n\n![i](other.html)\n", [(1, 5), (3, 6)]),
        ("a.rst", "`x <other.html>`_ and `y`_\n\n.. _y: other.html\n", [(1, 5), (3, 8)]),
    ],
)
def test_equal_references_have_different_places(
    site: Path, name: str, text: str, places: list[tuple[int, int]]
) -> None:
    for page in site.glob("[amz].html"):
        page.unlink()
    (site / name).write_text(text)
    findings = list(check([str(site)], checker=Checker(base=("http://h.example/",)), summary=Summary()))
    assert [(finding.line, finding.column) for finding in findings] == places
    fix(site)
    assert (site / name).read_text() == text.replace("other", "Other")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "a.xml",
            '<feed xmlns="http://www.w3.org/2005/Atom"><entry xml:base="d1/"><link href="Guide.html"/></entry>\n'
            '<entry xml:base="d2/"><link href="Guide.html"/></entry></feed>',
        ),
        (
            "a.md",
            '<object codebase="d1/" data="Guide.html"></object>\n\n<object codebase="d2/" data="Guide.html"></object>',
        ),
    ],
)
def test_the_faulty_one_of_equal_references_is_fixed(
    name: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for path in ("d1/Guide.html", "d2/guide.html"):
        Path(path).parent.mkdir(exist_ok=True)
        Path(path).write_text("x")
    Path(name).write_text(text)
    CliRunner().invoke(app, ["broken", "--no-config", "--fix", "--yes", name, "d1", "d2"])
    first, second = text.split("\n", 1)
    assert Path(name).read_text() == f"{first}\n{second.replace('Guide', 'guide')}"


@pytest.mark.skipif(os.name == "nt", reason="names of octets exist on POSIX only")
def test_a_file_with_a_name_of_octets_is_fixed(tmp_path: Path) -> None:
    """And not the one whose name is that of the reports."""
    (tmp_path / "Page.html").write_text("<p>")
    files = [tmp_path / os.fsdecode(name) for name in (b"\xe9.html", "\ufffd.html".encode(), "\ufffdE9.html".encode())]
    for file in files[:1]:
        file.write_text("<a href=page.html>")
    for file in files[1:]:
        file.write_text("<a href=Page.html>")
    assert "changed" in fix(tmp_path).stderr
    assert {file.read_text() for file in files} == {"<a href=Page.html>"}
