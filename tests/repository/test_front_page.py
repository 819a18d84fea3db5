"""The figures in README.md and the charts of the first page come from the last complete run."""

from __future__ import annotations

import json
import sys

from support import ROOT

sys.path.append(str(ROOT / "bench"))

import front_page

ROWS = [json.loads(line) for line in (ROOT / "bench" / "results" / "latest.jsonl").read_text("utf-8").splitlines()]


def test_the_figures_come_from_the_last_run() -> None:
    page = (ROOT / "README.md").read_text("utf-8")
    assert front_page.with_figures(page, ROWS) == page
    assert all(line in page for line in front_page.lines(ROWS).values())


def test_the_charts_come_from_the_last_run_and_the_table() -> None:
    broken = (ROOT / "docs" / "broken.md").read_text("utf-8")
    for name, picture in front_page.charts(ROWS, broken).items():
        assert (ROOT / "docs" / "pictures" / name).read_text("utf-8") == picture
    assert front_page.charts(ROWS, broken.replace(" | 714 | ", " | 7 | "))["checkers.svg"].count("714") == 0
    assert len(front_page._ROW.findall(broken)) == 8


def test_another_run_gives_other_figures() -> None:
    faster = [{**row, "ns": row["ns"] / 2} if "ns" in row else row for row in ROWS]
    page = (ROOT / "README.md").read_text("utf-8")
    assert front_page.with_figures(page, faster) != page
