"""Anchors of Markdown headings compared with the programs that make them, and with their documentation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overthere.broken import Checker, Summary, check
from overthere.broken.heading_slugs import slug
from overthere.broken.markdown_anchors import MarkdownAnchors

TEXTS = (
    "What's new in 2.0?", "Straße & Ærø", "Łódź đħ", "H₂O and x² ½", "a - b -- c", "- leading", "trailing -",
    "你好", "Привет", "snake_case", "2 numbers", "café", "café", "ᴬﬁ", "10", "",
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "हिन्दी भाषा",
            "हिन्दी-भाषा",
        ),
        ("ภาษาไทย", "ภาษาไทย"),
        (
            "العَرَبِيّة",
            "العَرَبِيّة",
        ),
        ("עִבְרִית", "עִבְרִית"),
        ("café", "café"),
        ("x² and ½", "x-and-"),
        ("Ⅷ parts", "ⅷ-parts"),
        ("a — b", "a--b"),
    ],
)
def test_github_keeps_letters_marks_digits_and_connectors(text: str, expected: str) -> None:
    assert slug(text, "github") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("This heading has spaces in it", "this-heading-has-spaces-in-it"),
        ("This heading has a :thumbsup: in it", "this-heading-has-a-thumbsup-in-it"),
        ("This heading has Unicode in it: 한글", "this-heading-has-unicode-in-it-한글"),
        ("This heading has 3.5 in it (and parentheses)", "this-heading-has-35-in-it-and-parentheses"),
        ("2024", "anchor-2024"),
        ("- a", "-a"),
        ("Mirrors **(PREMIUM SELF)**", "mirrors"),
    ],
)
def test_gitlab_anchors_follow_its_documentation(text: str, expected: str) -> None:
    assert slug(text, "gitlab") == expected


@pytest.mark.parametrize("text", TEXTS)
def test_sphinx_anchors_equal_those_of_docutils(text: str) -> None:
    nodes = pytest.importorskip("docutils.nodes")
    assert slug(text, "sphinx") == nodes.make_id(text)


@given(st.text(max_size=12))
def test_sphinx_anchors_equal_those_of_docutils_for_any_text(text: str) -> None:
    nodes = pytest.importorskip("docutils.nodes")
    assert slug(text, "sphinx") == nodes.make_id(text)


@pytest.mark.parametrize("text", TEXTS)
def test_mkdocs_anchors_equal_those_of_python_markdown(text: str) -> None:
    toc = pytest.importorskip("markdown.extensions.toc")
    assert slug(text, "mkdocs") == toc.slugify(text, "-")


def test_repeated_headings_are_numbered_like_python_markdown(tmp_path: Path) -> None:
    markdown = pytest.importorskip("markdown")
    titles = ["你好", "世界", "A", "A", "A_1", "A", "b_9", "b_9", "Привет"]
    text = "".join(f"# {title}\n\n" for title in titles)
    names = re.findall(r' id="([^"]*)"', markdown.markdown(text, extensions=["toc"]))
    assert len(names) == len(titles)
    (tmp_path / "a.md").write_text(text + "".join(f"[x](#{name})\n" for name in names) + "[y](#a_9)\n")
    findings = check([str(tmp_path / "a.md")], Checker(anchors="mkdocs"), Summary())
    assert [finding.reference for finding in findings] == ["#a_9"]


@pytest.mark.parametrize(("mark", "last"), [("---", "---"), ("+++", "+++"), ("---", "...")])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("charset", ["utf-8", "utf-8-sig"])
def test_front_matter_is_not_markdown(mark: str, last: str, end: str, charset: str, tmp_path: Path) -> None:
    lines = [mark, "title: x", "link: [a](gone.md)", last, "# Start", "[b](#title-x) [c](#start) [d](lost.md)", "---"]
    (tmp_path / "a.md").write_bytes(end.join(lines).encode(charset))
    results = [(one.line, one.column, one.reference) for one in check([str(tmp_path)], Checker(), Summary())]
    assert results == [(6, 5, "#title-x"), (6, 31, "lost.md")]


def test_a_thematic_break_at_the_start_is_not_front_matter(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\n\n[a](gone.md)\n\n...\n")
    assert [finding.reference for finding in check([str(tmp_path)], Checker(), Summary())] == ["gone.md"]


def test_a_destination_in_angle_brackets_may_have_spaces(tmp_path: Path) -> None:
    """CommonMark 6.3."""
    (tmp_path / "a b.md").write_text("x")
    (tmp_path / "a.md").write_text('[x](<a b.md>) ![y](<a c.png>)\n\n<a href="a b.md">z</a>\n')
    results = [(finding.kind, finding.reference) for finding in check([str(tmp_path)], Checker(), Summary())]
    assert results == [("no-document", "a c.png"), ("repaired", "a b.md")]


@pytest.mark.parametrize("rule", ["mkdocs", "pymdownx", "kramdown", "jekyll"])
def test_headings_in_html_with_markdown(rule: str) -> None:
    """As md_in_html and kramdown give them, where no blank line follows the tag."""
    anchors = MarkdownAnchors(rule)
    text = '<div class="a" markdown="1" id="b">\n## Two\n</div>\n<div markdown="0">\n## Three\n</div>\n'
    anchors.read(f'{text}\n<p markdown="1">\n    <a id="c"></a>\n</p>\n')
    assert anchors.anchors == {"b", "c", "two"}
