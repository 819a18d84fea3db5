"""Projects in each Markdown dialect with planted valid and broken links: exactly the broken ones are found.

The anchors were written by hand from the documentation of the programs.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import NamedTuple

import pytest

from overthere.broken import find


class Dialect(NamedTuple):
    """new: the anchor of "What's new?"; digit: that of "3 rooms"; second, third: the suffixes of equal headings."""

    configuration: tuple[str, str] | None
    new: str
    digit: str
    second: str
    third: str
    own: str = ""
    """How a heading gets an explicit anchor."""
    block: str = ""
    """How a paragraph gets one."""
    footnote: str = ""
    """The anchor of the footnote "n"."""


DIALECTS = {
    "github": Dialect(None, "whats-new", "3-rooms", "{}-1", "{}-2"),
    "gitlab": Dialect(None, "whats-new", "3-rooms", "{}-1", "{}-2", " {{#{}}}"),
    "sphinx": Dialect(("conf.py", "extensions = ['myst_parser']\n"), "what-s-new", "rooms", "id1", "id2"),
    "myst": Dialect(
        ("conf.py", "extensions = ['myst_parser']\nmyst_heading_anchors = 3\n"), "whats-new", "3-rooms", "{}-1", "{}-2",
        block="{{#{}}}\nA paragraph.",
    ),
    "mkdocs": Dialect(
        ("mkdocs.yml", "site_name: Harbour\nmarkdown_extensions: [attr_list, footnotes, toc]\n"), "whats-new",
        "3-rooms", "{}_1", "{}_2", " {{#{}}}", "A paragraph.\n{{: #{}}}", "fn:n",
    ),
    "docusaurus": Dialect(
        ("docusaurus.config.js", "module.exports = {};\n"), "whats-new", "3-rooms", "{}-1",
        "{}-2", " {{#{}}}",
    ),
    "mdbook": Dialect(
        ("book.toml", "[book]\ntitle = 'Harbour'\n"), "whats-new", "3-rooms", "{}-1", "{}-2", " {{#{}}}"
    ),
    "pandoc": Dialect(None, "whats-new", "rooms", "{}-1", "{}-2", " {{#{}}}", footnote="fn1"),
    "kramdown": Dialect(
        ("_config.yml", "markdown: kramdown\nkramdown:\n  input: kramdown\n"), "whats-new", "rooms", "{}-1", "{}-2",
        " {{#{}}}", "A paragraph.\n{{:#{}}}", "fn:n",
    ),
    "jekyll": Dialect(
        ("_config.yml", "markdown: kramdown\n"), "whats-new", "3-rooms", "{}-1", "{}-2", block="A paragraph.\n{{:#{}}}",
        footnote="fn:n",
    ),
}  # fmt: skip
WORDS = ("harbour", "keeper", "lamp", "rope", "tide", "voyage")


def page(chance: random.Random, dialect: Dialect, number: int) -> tuple[list[str], list[str]]:
    """Blocks of a page, and its anchors."""
    blocks, anchors = ["# Start"], ["start"]
    titles = [f"{chance.choice(WORDS)} {chance.choice(WORDS)}".capitalize() for _ in range(3)]
    for title in titles:
        if (anchor := title.lower().replace(" ", "-")) not in anchors:
            blocks.append(f"{'#' * chance.randrange(2, 4)} {title}")
            anchors.append(anchor)
    blocks += ["## What's new?", "## 3 rooms", "## Twice over", "## Twice over", "### Twice over"]
    anchors += [dialect.new, dialect.digit, "twice-over"]
    anchors += [extra.format("twice-over") for extra in (dialect.second, dialect.third)]
    if dialect.own:
        blocks.append(f"## Named{dialect.own.format(f'own{number}')}")
        anchors.append(f"own{number}")
    if dialect.block:
        blocks.append(dialect.block.format(f"block{number}"))
        anchors.append(f"block{number}")
    if dialect.footnote:
        blocks += ["See[^n].", "[^n]: A note."]
        anchors.append(dialect.footnote)
    return blocks, anchors


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize("seed", range(6))
def test_exactly_the_planted_faults_are_found(name: str, seed: int, tmp_path: Path) -> None:
    chance = random.Random(f"{name} {seed}")
    dialect = DIALECTS[name]
    pages = [page(chance, dialect, number) for number in range(5)]
    planted: list[tuple[str, str]] = []
    docs = tmp_path / "docs" if name == "mkdocs" else tmp_path
    docs.mkdir(exist_ok=True)
    if dialect.configuration is not None:
        (tmp_path / dialect.configuration[0]).write_text(dialect.configuration[1])
    for number, (blocks, anchors) in enumerate(pages):
        file = docs / f"page{number}.md"
        good = [f"#{chance.choice(anchors)}"]
        good += [f"page{at}.md#{chance.choice(pages[at][1])}" for at in range(5)]
        good += [f"page{at}.md#{anchor}" for at, (_, names) in enumerate(pages) for anchor in chance.sample(names, 3)]
        bad = ["#nowhere", f"page{chance.randrange(5)}.md#Not-there", "gone.md", "page9.md#start"]
        bad.append(f"page{chance.randrange(5)}.md#{dialect.third.format('twice-over')}-9")
        if not dialect.own:
            bad.append("#own9")
        lines = [f"A [link]({target}) in a line." for target in chance.sample(good, len(good))]
        faults = chance.sample(bad, 3)
        lines += [f"- a [fault]({fault})" for fault in faults]
        planted += [(str(file), fault) for fault in faults]
        chance.shuffle(lines)
        file.write_text("\n\n".join([*blocks, *lines]) + "\n")
    anchors_by = "auto" if dialect.configuration is not None else name
    invented = [(one.source, one.reference) for one in find(tmp_path, anchors=anchors_by) if one.level == "error"]
    assert sorted(invented) == sorted(planted)
    assert [finding for finding in find(tmp_path, anchors=name) if finding.level == "warning"] == []
