"""Blocks of the pages that show a console are run: each command prints what stands below it (docs/, README.md).

What a command prints is its standard output, and its standard error too where it fails.  "..." stands for anything.  A
block of commands that need more than the project's own examples is marked `sh`, and not run.  Each section of a how-to
begins in a folder of its own, as somebody who pastes it does.
"""

from __future__ import annotations

import doctest
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from console import run
from support import ROOT

PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
MATCHES = doctest.OutputChecker().check_output


def parts() -> Iterator[tuple[str, list[str]]]:
    """The blocks of each page, and of each section of a how-to, with a name."""
    for page in PAGES:
        texts = page.read_text("utf-8").split("\n## ") if page.parent.name == "howto" else [page.read_text("utf-8")]
        for text in texts:
            if found := BLOCK.findall(text):
                name = str(page.relative_to(ROOT))
                yield f"{name}: {text.splitlines()[0]}" if len(texts) > 1 else name, found


def commands(block: str) -> list[tuple[str, str]]:
    """The commands of a block, each with what it prints."""
    pieces = re.split(r"^\$ ", block, flags=re.MULTILINE)
    assert not pieces[0], "a block begins with a command"
    return [(line, shown) for line, _, shown in (piece.partition("\n") for piece in pieces[1:])]


@pytest.mark.parametrize("blocks", [pytest.param(found, id=name) for name, found in parts()])
def test_a_page_shows_what_is_printed(blocks: list[str], tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for block in blocks:
        for line, shown in commands(block):
            done = run(line, tmp_path)
            printed = done.stdout + (done.stderr if done.status else "")
            assert MATCHES(shown, printed, doctest.ELLIPSIS), f"$ {line}\n{printed}"
