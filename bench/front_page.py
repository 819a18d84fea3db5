"""The figures of README.md and the charts of the first page, from the last whole run and the table of broken.md."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from overthere.ground import svg
from plot import DARK, LIGHT, plot

__all__ = ["charts", "lines", "with_figures"]

ROOT = Path(__file__).resolve().parent.parent
PEERS = ("overthere", "can_ada", "url-py", "urllib.parse", "yarl")
OPERATIONS = {
    "parse": "parse", "read": "parse and read six components", "resolve": "resolve", "normalize": "normalize",
}  # fmt: skip
"""Of single values, and their names here."""
DAILY = {
    "set a parameter": "set a query parameter", "append a segment": "append a segment",
    "replace the host": "replace the host",
}  # fmt: skip
"""Of what programs do every day; these have no share of right answers."""
CRAWL = "links of a crawl of 40 MB, seconds of processor time"


def lines(rows: list[dict[str, Any]]) -> dict[str, str]:
    """The lines of the tables that a run gives, by their first cell."""
    found = {
        (row["operation"], row["peer"], row.get("processes")): row
        for row in rows
        if row["section"] in ("values", "daily", "links")
    }
    told = {}
    for operation, name in (OPERATIONS | DAILY).items():
        cells = [_cell(found.get((operation, peer, None))) for peer in PEERS]
        told[name] = f"| {name} | {' | '.join(cells)} |"
    own, every, scrapy = (
        found["links of a crawl", peer, 1]["cpu_s"] for peer in ("overthere", "resiliparse, every attribute", "Scrapy")
    )
    told[CRAWL] = f"| {CRAWL} | **{own:.1f}** | Resiliparse, every attribute, {every:.1f}; Scrapy {scrapy:.1f} |"
    return told


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
    """The page with these figures in the place of others."""
    told = lines(rows)
    return "\n".join(told.get(line.split(" | ")[0].removeprefix("| "), line) for line in page.split("\n"))


def charts(rows: Sequence[dict[str, Any]], broken: str) -> dict[str, str]:
    """The charts of docs/index.md, by their names in docs/pictures.

    broken: docs/broken.md, whose table has the errors of each checker on documentation of others.
    """
    values = [row for row in rows if row["section"] == "values"]
    shown = [row for row in values if row["operation"] in OPERATIONS and row["peer"] in PEERS]
    floors = [row for row in rows if row["section"] == "floors"]
    return {"speed.svg": plot([*shown, *floors]), "checkers.svg": _checkers(broken)}


_ROW = re.compile(
    r"^\| ([\w.-]+/[\w.-]+) \| \w+ \| (\w+) \|[^|]*\|[^|]*\| ([\d,]+) \|[^|]*\| ([\d,]+) \|", re.MULTILINE
)
_WIDTH, _LABEL, _VALUE, _LINE = 1180, 330, 90, 44


def _checkers(page: str) -> str:
    """Two bars for each repository: our errors and those of lychee."""
    found = [
        (name, generator, *(int(one.replace(",", "")) for one in counts))
        for name, generator, *counts in _ROW.findall(page)
    ]
    most = max(max(own, other) for *_, own, other in found)
    title = "Errors on the documentation of others; none of overthere's is known to be false"
    shapes = [
        svg.text(34, 36, title, "title"), svg.bar(34, 50, 22, 12, "bar-own"), svg.text(63, 61, "overthere"),
        svg.bar(160, 50, 22, 12, "bar-right"), svg.text(189, 61, "lychee, offline, with anchors"),
    ]  # fmt: skip
    top = 84.0
    for name, generator, *counts in found:
        shapes.append(svg.text(_LABEL - 10, top + 22, f"{name} ({generator})", "", "end"))
        for place, (count, kind) in enumerate(zip(counts, ("bar-own", "bar-right"), strict=True)):
            length = (_WIDTH - _LABEL - _VALUE) * int(count) / most
            shapes.append(svg.bar(_LABEL, top + 4 + place * 17, length, 13, kind))
            shapes.append(svg.text(_LABEL + length + 7, top + 15 + place * 17, f"{count:,}", "" if place else "own"))
        top += _LINE
    told = ", ".join(f"{name}: overthere {own:,}, lychee {other:,}" for name, _, own, other in found)
    return svg.document(
        _WIDTH, top + 10, title, told, "  .own { font-weight: 650 }\n" + svg.colours(LIGHT, DARK), shapes
    )


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
