"""Sections of the how-to pages run alone, as a reader pastes them; the code passes a type checker."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from support import ROOT

HOWTO = sorted((ROOT / "docs" / "howto").glob("*.md"))
TYPED = [ROOT / "README.md", *(ROOT / "docs" / name for name in ("start.md", "guide.md")), *HOWTO]
FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
UNSEEN = 'error: "Expr" has no attribute "uri"'
"""Namespaces of polars, unknown to type checkers."""
PARSER = doctest.DocTestParser()


class Section(NamedTuple):
    """A second-level heading and the text below it."""

    page: Path
    title: str
    text: str

    @property
    def name(self) -> str:
        return f"{self.page.stem}: {self.title}"


def sections(page: Path) -> list[Section]:
    text = page.read_text("utf-8")
    outside = FENCED.sub(lambda block: re.sub(r"[^\n]", " ", block[0]), text)
    places = [(heading.start(), heading[1]) for heading in HEADING.finditer(outside)]
    ends = [*(start for start, _ in places[1:]), len(text)]
    return [Section(page, title, text[start:end]) for (start, title), end in zip(places, ends, strict=True)]


SECTIONS = [section for page in HOWTO for section in sections(page)]
PASTED = [section for section in SECTIONS if ">>> " in section.text]


def test_pages_have_sections() -> None:
    assert len(PASTED) > 40
    assert len({section.name for section in SECTIONS}) == len(SECTIONS)


@pytest.mark.parametrize("section", PASTED, ids=lambda section: section.name)
def test_a_section_runs_alone(section: Section) -> None:
    """It contains its imports, and prints the output that it shows."""
    test = PARSER.get_doctest(section.text, {}, section.name, str(section.page), 0)
    assert any(example.want for example in test.examples), "it shows no result"
    printed: list[str] = []
    flags = doctest.NORMALIZE_WHITESPACE
    failed, _ = doctest.DocTestRunner(optionflags=flags, verbose=False).run(test, out=printed.append)
    assert not failed, "".join(printed)


def test_the_code_of_the_pages_is_typed(tmp_path: Path) -> None:
    """One run of mypy --strict: one file per section of a how-to, and one per other page."""
    for page in TYPED:
        texts = [section.text for section in sections(page)] if page in HOWTO else [page.read_text("utf-8")]
        for number, text in enumerate(texts):
            code = "".join(example.source for example in PARSER.get_examples(text))
            (tmp_path / f"{page.stem.lower()}_{number}.py").write_text(code, "utf-8")
    options = ["--strict", "--allow-redefinition", "--no-incremental", "--no-error-summary", "--no-pretty"]
    result = subprocess.run(
        [sys.executable, "-m", "mypy", *options, str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert [line for line in result.stdout.splitlines() if UNSEEN not in line] == [], result.stderr
    assert result.returncode < 2, result.stdout + result.stderr
