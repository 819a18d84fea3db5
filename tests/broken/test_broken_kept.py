"""Documents read by Python are not read again for findings; discarded ones give the same findings."""

from __future__ import annotations

from pathlib import Path

import pytest

from overthere.broken import Broken, Checker, Summary, check, internal

PAGES = {
    "front.md": "---\ntitle: é\r\nslug: [a](gone.md)\n---\n# Ä top\n\n[a](gone.md) ![b](gone.md)\r\n[c](#nowhere)\n",
    "plain.md": "# One\n\n{{ url }} [a](front.md#top) [b](other.rst#two) [c](#One) [d][e]\n\n[e]: gone.md\n[f]: x.md\n",
    "page.mdx": "import A from './a.jsx'\n\n# T {/*own*/}\n\n[a](#own) [b](@/x) [c](gone.md)\n<a href={x}>y</a>\n",
    "marked.md": "\ufeff# Ä\n\n[é](gone.md#é) <a href='gone.html'>x</a>\n\n[t](javascript:x) [u](http://[)\n",
    "other.rst": "One\n===\n\n`a <gone.html>`_ `b <#nowhere>`_ |x|\n",
    "book.ipynb": '{"cells": [{"cell_type": "markdown", "source": ["# A\\n", "[a](gone.md) [b](#A)"]}], "nbformat": 4}',
    "notes.txt": "file:///gone htp://example.org/ <mailto:a@>\n",
    "list.uri": "gone.md\n",
}


def _site(folder: Path) -> None:
    for name, text in PAGES.items():
        (folder / name).write_bytes(text.encode())


def _findings(folder: Path, monkeypatch: pytest.MonkeyPatch, most: int, workers: int) -> tuple[list[Broken], Summary]:
    monkeypatch.setattr(internal, "_MAX_UNSETTLED", most)
    summary = Summary()
    return list(check([str(folder)], Checker(workers=workers), summary)), summary


@pytest.mark.parametrize("config", ["", "mkdocs.yml", "conf.py", "myst.yml", "docusaurus.config.js"])
def test_findings_are_the_same_when_documents_are_read_again(
    config: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _site(tmp_path)
    if config:
        (tmp_path / config).write_text("")
    first, summary = _findings(tmp_path, monkeypatch, 50_000, 1)
    repeated, second = _findings(tmp_path, monkeypatch, 0, 1)
    assert len(first) > 9
    assert first == repeated
    assert summary.read_again == 0
    assert second.read_again > 3
    assert (summary.passed, summary.kinds, summary.references) == (second.passed, second.kinds, second.references)


def test_worker_processes_return_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(9):
        (tmp_path / f"site{number}").mkdir()
        _site(tmp_path / f"site{number}")
        (tmp_path / f"site{number}" / "long.md").write_text("A paragraph.\n\n" * 10_000 + "[a](gone.md)\n")
    shared, summary = _findings(tmp_path, monkeypatch, 50_000, 2)
    alone, _ = _findings(tmp_path, monkeypatch, 0, 1)
    assert len(shared) > 90
    assert shared == alone
    assert summary.read_again == 0


def test_offsets_after_front_matter_are_known(tmp_path: Path) -> None:
    _site(tmp_path)
    findings = list(check([str(tmp_path / "front.md")], Checker(), Summary()))
    content = (tmp_path / "front.md").read_bytes()
    places = [(finding.offset or 0, finding.length or 0) for finding in findings]
    assert [content[at : at + length].decode() for at, length in places] == ["gone.md", "gone.md", "#nowhere"]
    assert [(finding.line, finding.column) for finding in findings] == [(7, 5), (7, 19), (8, 5)]
