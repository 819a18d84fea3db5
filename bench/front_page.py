"""The figures of README.md, from the rows of the last whole run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["lines", "with_figures"]

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


def main() -> None:
    """Write README.md from the last whole run."""
    results = (ROOT / "bench" / "results" / "latest.jsonl").read_text("utf-8").splitlines()
    page = ROOT / "README.md"
    page.write_text(with_figures(page.read_text("utf-8"), [json.loads(line) for line in results]), "utf-8")


if __name__ == "__main__":
    main()
