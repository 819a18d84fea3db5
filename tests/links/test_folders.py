"""Files of a folder: version control data is never read, generated files only on request."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner

from overthere.broken import find
from overthere.cli.app import app
from overthere.links import batches
from overthere.links.job.folders import SKIPPED, list_files
from overthere.links.job.gitignore import IgnoredFiles
from overthere.links.job.part_files import Part, parts
from overthere.links.job.task_rows import TaskEnd

FILES = (
    ".git/HEAD", ".git/x.md", ".gitignore", "README.md", "build/a.md", "build/deep/b.md", "docs/.gitignore",
    "docs/c.md", "docs/made.md", "docs/kept.out.md", "docs/node_modules/p/d.md", "env/pyvenv.cfg", "env/lib/e.md",
    "sub/.hg/f.md", "sub/x.out.md",
)  # fmt: skip
IGNORED = {"build", "docs/made.md", "docs/node_modules", "env", "sub/x.out.md"}
READ = {".gitignore", "README.md", "docs/.gitignore", "docs/c.md", "docs/kept.out.md"}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in FILES:
        file = tmp_path / "r" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"[x](http://h/{name})\n")
    (tmp_path / "r" / ".gitignore").write_text("/build/\n*.out.md\n")
    (tmp_path / "r" / "docs" / ".gitignore").write_text("made.md\n!kept.out.md\n")
    return tmp_path / "r"


def listed(root: Path, below: str = "", *, with_ignored: bool = False) -> tuple[set[str], set[str]]:
    """The files that are read, and the excluded ones, by their paths below the root."""
    files = [
        (os.path.relpath(path, root), size) for path, size in list_files(str(root / below), with_ignored=with_ignored)
    ]
    return {path for path, size in files if size != SKIPPED}, {path for path, size in files if size == SKIPPED}


def test_excluded_files(tree: Path) -> None:
    assert listed(tree) == (READ, IGNORED)


def test_excluded_files_are_read_on_request(tree: Path) -> None:
    assert listed(tree, with_ignored=True) == (
        {name for name in FILES if ".git/" not in name and ".hg/" not in name},
        set(),
    )


@pytest.mark.parametrize(
    "folder", ["build", "build/deep", "docs/node_modules", "docs/node_modules/p", "env", "env/lib"]
)
def test_an_explicitly_named_folder_is_read(tree: Path, folder: str) -> None:
    assert listed(tree, folder) == ({name for name in FILES if name.startswith(f"{folder}/")}, set())


def test_outside_a_repository_patterns_are_ignored(tree: Path) -> None:
    shutil.rmtree(tree / ".git")
    assert listed(tree)[1] == {"docs/node_modules", "env"}


def test_a_relative_path_and_a_symlink_to_the_folder(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree)
    for root in (Path(), Path("../r"), Path("docs/..")):
        assert listed(root)[1] == IGNORED
    (tree.parent / "link").symlink_to(tree)
    assert listed(tree.parent / "link")[1] == IGNORED


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_git_ignores_the_same_files(tree: Path) -> None:
    shutil.rmtree(tree / ".git")
    subprocess.run(["git", "init", "--quiet", str(tree)], check=True)
    names = "\n".join(name for name in FILES if not name.startswith((".git/", "sub/.hg", "env", "docs/node_modules")))
    command = ["git", "-C", str(tree), "check-ignore", "--stdin"]
    ignored = subprocess.run(command, input=names, capture_output=True, text=True, check=True).stdout.split()
    read, left_out = listed(tree)
    assert all(any(line == out or line.startswith(f"{out}/") for out in left_out) for line in ignored)
    assert not read & set(ignored)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize("seed", range(12))
def test_git_applies_patterns_in_the_same_order(tmp_path: Path, seed: int) -> None:
    """Names, endings and paths that are looked up, mixed with patterns that are compared, some negated."""
    draw = Random(seed)
    names = ("a", "b", "ab", "a.b", "b.a.b", "c")
    parts = (*names, "*", "*.b", "*.a.b", "**", "a*", "?", "[ab]", "*.", "\\a")

    def pattern() -> str:
        path = "/".join(draw.choices(parts, k=draw.choice((1, 1, 1, 2, 3))))
        return draw.choice(("", "", "!")) + draw.choice(("", "", "/")) + path + draw.choice(("", "", "/"))

    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    paths = ["/".join(draw.choices((*names, "a.", "x.log"), k=draw.randrange(1, 5))) for _ in range(80)]
    for path in (*paths[:25], "a/b", "b"):
        with suppress(OSError):
            (tmp_path / path).mkdir(parents=True, exist_ok=True)
    for folder in ("", "a", "a/b", "b"):
        lines = (pattern() for _ in range(draw.randrange(8)))
        (tmp_path / folder / ".gitignore").write_text("\n".join((*lines, *draw.choices(("/", "!", "!/", "#"), k=2))))
    command = ["git", "-C", str(tmp_path), "check-ignore", "--no-index", "--stdin"]
    result = subprocess.run(command, input="\n".join(paths), capture_output=True, text=True, check=False)
    ignored = IgnoredFiles(str(tmp_path))
    ours = {path for path in paths if f"{tmp_path}/{path}{'/' * (tmp_path / path).is_dir()}" in ignored}
    assert ours == set(result.stdout.split())


def test_more_than_two_asterisks_match_any_number_of_folders(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("a/****/b\n")
    assert f"{tmp_path}/a/c/d/b" in IgnoredFiles(str(tmp_path))


SIGNS = ("a", "b", "-", "[", "]", "\\", "!", "^", ":", " ", "é", "\t", "\udcff", "\r", "\x0c", "\u2028", "x", "0")
SETS = ("[:alpha:]", "[[:digit:]]", "[[:no:]]", "[a-c]", "[b-a]", "[--0]", "[a\\-c]", "[\\]]", "[!b]", "*", "?", "  ")


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("seed", range(4))
def test_git_reads_the_same_octets_and_sets(tmp_path: Path, seed: int, mark: str) -> None:
    """Line ends, blanks, escapes, sets and octets that are not UTF-8."""
    draw = Random(seed)
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    names = [f"./{''.join(draw.choices(SIGNS, k=draw.randrange(1, 4)))}" for _ in range(150)]
    command = ["git", "-C", str(tmp_path), "check-ignore", "--no-index", "-z", "--stdin"]
    for _ in range(40):
        line = draw.choice(("", "/", "//")) + "".join(draw.choices((*SIGNS, *SETS), k=draw.randrange(1, 7)))
        (tmp_path / ".gitignore").write_bytes(os.fsencode(f"{mark}{line}\n"))
        result = subprocess.run(command, input=os.fsencode("\0".join(names)), capture_output=True, check=False)
        ignored = IgnoredFiles(str(tmp_path))
        ours = {os.fsencode(name) for name in names if f"{tmp_path}/{name}" in ignored}
        assert ours == {*result.stdout.split(b"\0")} - {b""}, ascii(line)


@pytest.mark.parametrize("target", ["../outside", "inside"])
def test_patterns_behind_a_symlink_are_not_read(tmp_path: Path, target: str) -> None:
    (tmp_path / "r").mkdir()
    for name in ("outside", "r/inside"):
        (tmp_path / name).write_text("*.md\n")
    (tmp_path / "r" / ".gitignore").symlink_to(target)
    assert f"{tmp_path}/r/a.md" not in IgnoredFiles(str(tmp_path / "r"))


@pytest.mark.parametrize("workers", [1, 2])
def test_excluded_files_are_counted(tree: Path, workers: int) -> None:
    ends = [batch for batch in batches([tree, tree / "docs"], workers=workers) if isinstance(batch, TaskEnd)]
    assert sum(end.passed.get("ignored", 0) for end in ends) == len(IGNORED) + 2
    parts_again = [Part.from_json(part.to_json()) for part in parts([tree])]
    assert sum(task.ignored for part in parts_again for task in part.tasks) == len(IGNORED)


def test_a_folder_with_excluded_files_only(tmp_path: Path) -> None:
    (tmp_path / "node_modules").mkdir()
    (end,) = (batch for batch in batches(tmp_path) if isinstance(batch, TaskEnd))
    assert end.passed == {"ignored": 1}
    result = CliRunner().invoke(app, ["broken", str(tmp_path)])
    assert "not read: 1 path of" in result.output
    assert "no documents were read" in result.output


def test_commands_report_excluded_files_and_can_include_them(tree: Path) -> None:
    (tree / "README.md").write_text("[a](build/a.md) [b](build/none.md) [c](build/a.md#x)\n")
    result = CliRunner().invoke(app, ["broken", str(tree)])
    assert "not read: 5 paths of installed packages, or that Git ignores (--no-ignore reads them)" in result.output
    result = CliRunner().invoke(app, ["broken", str(tree), "--no-ignore"])
    assert "not read" not in result.output
    for options, count in (([], 5), (["--no-ignore"], 0)):
        result = CliRunner().invoke(app, ["links", str(tree), "--format", "jsonl", *options])
        assert len([json.loads(line) for line in result.stdout.splitlines()]) > 2
        assert ("ignored 5" in result.stderr) is bool(count)


def test_links_to_excluded_files_are_checked(tree: Path) -> None:
    (tree / "README.md").write_text("# T\n\n[a](build/a.md) [c](build/a.md#x) [e](env/lib/e.md)\n")
    findings = [(finding.kind, finding.reference) for finding in find(tree) if finding.source.endswith("README.md")]
    assert findings == [("no-fragment", "build/a.md#x")]
