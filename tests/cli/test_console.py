"""Blocks of the pages that show a console are run: each command prints what stands below it (docs/, README.md).

What a command prints is its standard output, and its standard error too where it fails.  "..." stands for anything.  A
block of commands that need more than the project's own examples is marked `sh`, and not run.
"""

from __future__ import annotations

import doctest
import re
import shutil
from pathlib import Path

import pytest

from console import run
from support import ROOT

PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
MATCHES = doctest.OutputChecker().check_output


def blocks(page: Path) -> list[str]:
    return BLOCK.findall(page.read_text())


def commands(block: str) -> list[tuple[str, str]]:
    """The commands of a block, each with what it prints."""
    pieces = re.split(r"^\$ ", block, flags=re.MULTILINE)
    assert not pieces[0], "a block begins with a command"
    return [(line, shown) for line, _, shown in (piece.partition("\n") for piece in pieces[1:])]


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_shows_what_is_printed(page: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for block in blocks(page):
        for line, shown in commands(block):
            done = run(line, tmp_path)
            printed = done.stdout + (done.stderr if done.status else "")
            assert MATCHES(shown, printed, doctest.ELLIPSIS), f"$ {line}\n{printed}"
