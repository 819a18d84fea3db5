"""The figures of README.md and the charts of the first page, from the last whole run and the table of broken.md."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from overthere.ground import svg
from plot import DARK, HATCH, LIGHT

ROOT = Path(__file__).resolve().parent.parent
PEERS = ("overthere", "can_ada", "url-py", "urllib.parse", "yarl")
OPERATIONS = {
    "parse": "parse", "read": "parse and read six components", "resolve": "resolve", "normalize": "normalize",
}  # fmt: skip
"""Operations on single values, and their names here."""
DAILY = {
    "set a parameter": "set a query parameter", "append a segment": "append a segment",
    "replace the host": "replace the host",
}  # fmt: skip
"""Everyday operations; these have no share of right answers."""
CRAWL = "links of a crawl of 40 MB, seconds of processor time"


def lines(rows: list[dict[str, Any]]) -> dict[str, str]:
    """The lines of the tables that a run gives, by their first cell."""
    found = {
        (row["operation"], row["peer"], row.get("processes")): row
        for row in rows
        if row["section"] in ("values", "daily", "links")
    }
    figures = {}
    for operation, name in (OPERATIONS | DAILY).items():
        cells = [_cell(found.get((operation, peer, None))) for peer in PEERS]
        figures[name] = f"| {name} | {' | '.join(cells)} |"
    ours, every, scrapy = (
        found["links of a crawl", peer, 1]["cpu_s"] for peer in ("overthere", "resiliparse, every attribute", "Scrapy")
    )
    figures[CRAWL] = f"| {CRAWL} | **{ours:.1f}** | Resiliparse, every attribute, {every:.1f}; Scrapy {scrapy:.1f} |"
    return figures


def _cell(row: dict[str, Any] | None) -> str:
    if row is None:
        return "–"
    nanoseconds = f"{row['ns']:,.0f}"
    if "of" not in row:
        return f"**{nanoseconds}**" if row["peer"] == PEERS[0] else nanoseconds
    if row["right"] == row["of"]:
        return f"**{nanoseconds}**, all"
    return f"{nanoseconds}, {row['right'] * 100 // row['of']} %"


def with_figures(page: str, rows: list[dict[str, Any]]) -> str:
    """The page with its figures replaced by these."""
    figures = lines(rows)
    return "\n".join(figures.get(line.split(" | ")[0].removeprefix("| "), line) for line in page.split("\n"))


def charts(rows: Sequence[dict[str, Any]], broken: str) -> dict[str, str]:
    """The charts of docs/index.md, by their names in docs/pictures; narrow, so that a phone shows their words.

    broken: docs/broken.md, whose table has the errors of each checker on external documentation.
    """
    return {"speed.svg": _speed(rows), "checkers.svg": _checkers(broken)}


class _Bar(NamedTuple):
    label: str
    length: float
    """From 0 to 1."""
    told: str
    kind: str
    """own, right or wrong"""


_WIDTH, _LABEL, _VALUE, _LINE = 460, 112, 104, 20
_STYLE = f"  .own {{ font-weight: 650 }}\n  .bar-wrong {{ fill: url(#wrong) }}\n{svg.colours(LIGHT, DARK)}"


def _speed(rows: Sequence[dict[str, Any]]) -> str:
    """Bars on a logarithmic scale from one nanosecond on, each with its share of right answers."""
    rows_shown = [row for row in rows if row["section"] == "values" and row["peer"] in PEERS]
    most = max(row["ns"] for row in rows_shown if row["operation"] in OPERATIONS)
    groups: list[tuple[str, list[_Bar]]] = []
    for operation, name in OPERATIONS.items():
        bars = []
        for row in sorted((row for row in rows_shown if row["operation"] == operation), key=lambda row: row["ns"]):
            is_right = row["right"] == row["of"]
            share = "all" if is_right else f"{row['right'] * 100 // row['of']} %"
            kind = "own" if row["peer"] == PEERS[0] else "right" if is_right else "wrong"
            bars.append(_Bar(row["peer"], math.log(row["ns"]) / math.log(most), f"{row['ns']:,.0f} · {share}", kind))
        groups.append((name, bars))
    note = "Nanoseconds, logarithmic; share of answers that follow RFC 3986"
    return _draw("One URI at a time; shorter is better", note, groups)


_ROW = re.compile(
    r"^\| ([\w.-]+/[\w.-]+) \| \w+ \| (\w+) \|[^|]*\|[^|]*\| ([\d,]+) \|[^|]*\| ([\d,]+) \|", re.MULTILINE
)


def _checkers(page: str) -> str:
    """Two bars for each repository: our errors and those of lychee."""
    pairs = [
        (f"{name} ({generator})", int(ours.replace(",", "")), int(other.replace(",", "")))
        for name, generator, ours, other in _ROW.findall(page)
    ]
    most = max(max(ours, other) for _, ours, other in pairs)
    groups = [
        (name, [_Bar("overthere", own / most, f"{own:,}", "own"), _Bar("lychee", other / most, f"{other:,}", "right")])
        for name, own, other in pairs
    ]
    return _draw("Errors on documentation of others", "None of overthere's is known to be false", groups)


def _draw(title: str, note: str, groups: Sequence[tuple[str, Sequence[_Bar]]]) -> str:
    shapes = [HATCH, svg.text(4, 22, title, "title"), svg.text(4, 42, note, "quiet")]
    top = 58.0
    for name, bars in groups:
        shapes.append(svg.text(4, top + 14, name, "panel"))
        top += 22
        for bar in bars:
            style = "own" if bar.kind == "own" else ""
            length = max(1.0, (_WIDTH - _LABEL - _VALUE) * bar.length)
            shapes += [
                svg.text(_LABEL - 8, top + 12, bar.label, style, "end"),
                svg.bar(_LABEL, top + 2, length, 13, f"bar-{bar.kind}"),
                svg.text(_LABEL + length + 6, top + 12, bar.told, style),
            ]
            top += _LINE
        top += 10
    text = "; ".join(f"{name}: {', '.join(f'{bar.label} {bar.told}' for bar in bars)}" for name, bars in groups)
    return svg.document(_WIDTH, top, title, text, _STYLE, shapes)


def main() -> None:
    """Write README.md and the charts from the last whole run."""
    results = (ROOT / "bench" / "results" / "latest.jsonl").read_text("utf-8").splitlines()
    page = ROOT / "README.md"
    rows = [json.loads(line) for line in results]
    page.write_text(with_figures(page.read_text("utf-8"), rows), "utf-8")
    for name, picture in charts(rows, (ROOT / "docs" / "broken.md").read_text("utf-8")).items():
        (ROOT / "docs" / "pictures" / name).write_text(picture, "utf-8")


if __name__ == "__main__":
    main()
