"""Console blocks in docs/ and README.md are run: each command prints the text below it.

The output is standard output, and standard error if the command fails. "..." matches anything. Blocks with commands
that need more than the project's examples are marked `sh`, and not run. Each section of a how-to starts in a new
folder, as for a reader who pastes it.
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
    """The blocks of each page, or of each section of a how-to, with a name."""
    for page in PAGES:
        texts = page.read_text("utf-8").split("\n## ") if page.parent.name == "howto" else [page.read_text("utf-8")]
        for text in texts:
            if blocks := BLOCK.findall(text):
                name = str(page.relative_to(ROOT))
                yield f"{name}: {text.splitlines()[0]}" if len(texts) > 1 else name, blocks


def commands(block: str) -> list[tuple[str, str]]:
    """The commands of a block, each with its output."""
    pieces = re.split(r"^\$ ", block, flags=re.MULTILINE)
    assert not pieces[0], "a block begins with a command"
    return [(line, expected) for line, _, expected in (piece.partition("\n") for piece in pieces[1:])]


@pytest.mark.parametrize("blocks", [pytest.param(blocks, id=name) for name, blocks in parts()])
def test_pages_show_the_printed_output(blocks: list[str], tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for block in blocks:
        for line, expected in commands(block):
            result = run(line, tmp_path)
            printed = result.stdout + (result.stderr if result.status else "")
            assert MATCHES(expected, printed, doctest.ELLIPSIS), f"$ {line}\n{printed}"
