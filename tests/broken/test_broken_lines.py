"""Findings as text: number of lines, order, and what a terminal shows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from overthere.base import Base
from overthere.broken import Broken, Checker, Summary, check, find
from overthere.broken.reference_check import ReferenceState
from overthere.broken.reporting import finding
from overthere.broken.scan import Reference
from overthere.cli.broken_lines import GROUPS, lines
from overthere.cli.broken_summary import summary_lines
from overthere.cli.styles import Piece
from overthere.values.uri import URI
from support import linear

BASE = Base(URI("file:///"), "retrieval", "retrieval")


def plain(line: list[Piece]) -> str:
    return "".join(piece.text for piece in line)


def missing(source: str, target: str, line: int = 1) -> Broken:
    reference = Reference("a href", target, BASE, None, None)
    return finding(source, "no-document", "it", reference, ReferenceState(target), (line, 1, 0, 1))


def printed_lines(findings: list[Broken], by: str | None, width: int | None = None) -> list[str]:
    return [plain(line) for line in lines(findings, by, width)]


@pytest.mark.parametrize(
    "pairs",
    [
        [("a", f"t{n}") for n in range(40)],
        [(f"s{n}", "t") for n in range(40)],
        [("a", f"t{n % 20}") for n in range(40)],
        [(f"s{n % 7}", f"t{n % 11}") for n in range(77)],
        [],
    ],
)
def test_by_target_is_never_longer_than_by_document(pairs: list[tuple[str, str]]) -> None:
    findings = [missing(source, target) for source, target in pairs]
    assert len(printed_lines(findings, "target")) <= len(printed_lines(findings, "file"))


def test_a_terminal_shows_fifty_and_counts_the_others() -> None:
    findings = [missing(f"{number}.html", f"t{number}") for number in range(60)]
    lines = printed_lines(findings, None, 80)
    assert sum(" error " in line for line in lines) == 50
    assert lines[-1] == "and 10 more: 10 no-document; all of them with --group file, or -o FILE.html"
    assert sum(" error " in line for by in GROUPS[:2] for line in printed_lines(findings, by, 80)) == 120
    assert sum(" error " in line for line in printed_lines(findings, None)) == 60


def test_a_terminal_shows_targets_that_many_findings_share() -> None:
    findings = [missing(f"{number}.html", "t") for number in range(11)]
    assert len(printed_lines(findings, None, 80)) == 2
    assert len(printed_lines(findings[1:], None, 80)) == 20


def test_an_interrupted_check_shows_findings_without_a_summary() -> None:
    def interrupted() -> Iterator[Broken]:
        yield missing("a.html", "t")
        raise KeyboardInterrupt

    messages: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        messages.extend(plain(line) for line in lines(interrupted(), None, 80))
    assert len(messages) == 2
    summary = Summary(documents=1)
    assert "no broken links" in list(summary_lines(summary, 1))
    assert "no broken links" not in list(summary_lines(summary, 1, is_whole=False))


def test_a_file_is_named_relative_to_the_current_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    finding = missing("a.html", f"{(tmp_path / 'b.html').as_uri()}")
    assert "  b.html  " in printed_lines([finding], "target")[0]
    assert "file:" not in printed_lines([missing("a.html", "file:///elsewhere/b.html")], "target")[0]


def test_the_advice_for_a_kind_is_shown_once() -> None:
    findings = [missing("a.html", "t"), missing("a.html", "u")]
    assert not any("correct the path" in line for line in printed_lines(findings, "file"))
    summary = Summary(documents=1)
    summary.kinds.update(finding.kind for finding in findings)
    assert list(summary_lines(summary, 1)).count("  no-document: correct the path or restore the file") == 1


def test_an_anchor_is_looked_up_after_a_refresh(tmp_path: Path) -> None:
    refresh = '<meta http-equiv="refresh" content="{}; url={}"><title>moved</title>'
    pages = {
        "old.html": refresh.format(0, "between.html"),
        "between.html": refresh.format(0, "new/page.html"),
        "later.html": refresh.format(5, "new/page.html"),
        "one.html": refresh.format(0, "two.html"),
        "two.html": refresh.format(0, "one.html"),
        "new/page.html": "<h1 id=part>x</h1>",
        "index.html": "".join(
            f'<a href="{path}">x</a>'
            for path in ("old.html", "old.html#part", "old.html#gone", "later.html#part", "one.html#part")
        ),
    }
    os.mkdir(tmp_path / "new")
    for name, text in pages.items():
        (tmp_path / name).write_text(text)
    results = [finding for finding in check([tmp_path], Checker(), Summary()) if finding.source.endswith("index.html")]
    assert [(finding.reference, finding.kind, finding.suggestion) for finding in results] == [
        ("old.html#part", "sent-on", "new/page.html#part"),
        ("old.html#gone", "no-fragment", None),
        ("later.html#part", "no-fragment", None),
        ("one.html#part", "no-fragment", None),
    ]


def test_a_broken_unused_definition_is_a_note(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(
        "[b] and [text][Long\n  name] and ![i][pic]\n\n[b]: 1.md\n[long name]: 2.md\n[unused]: 3.md\n[PIC]: 4.png\n"
        "> [quoted]: <5.md>\n\n- [list]:\n  6.md\n"
    )
    results = {finding.reference: finding.kind for finding in find(tmp_path)}
    assert results.pop("6.md") in ("unused-definition", "no-document")  # its label is on the line before
    assert results == {
        "1.md": "no-document",
        "2.md": "no-document",
        "3.md": "unused-definition",
        "4.png": "no-document",
        "5.md": "unused-definition",
    }


def test_many_unused_definitions_are_linear(tmp_path: Path) -> None:
    def use(count: int) -> None:
        (tmp_path / "a.md").write_text("".join(f"[{number}]: page{number:05}.md\n" for number in range(count)))
        assert "unused-definition" in {finding.kind for finding in find(tmp_path)}  # some have no known offset

    linear(use, 4000)
