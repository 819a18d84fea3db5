"""The plot of throughput against workers, drawn from the rows of `cluster.py` as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from overthere.ground import svg

Row = dict[str, Any]

_WIDTH, _PANEL, _GAP, _TOP, _HEIGHT, _LEFT = 760, 350, 24, 100, 200, 44
_LIGHT = {"back": "#ffffff", "text": "#2b2f36", "quiet": "#6b7280", "line": "#e4e7ec", "own": "#d9480f"}
_DARK = {"back": "#14181d", "text": "#e6eaef", "quiet": "#9aa7b4", "line": "#323b45", "own": "#f0783c"}
_STYLE = """
  .curve { fill: none; stroke: #d9480f; stroke-width: 2.5 }
  @media (prefers-color-scheme: dark) { .curve { stroke: #f0783c } }
"""


def _panel(rows: Sequence[Row], left: float) -> list[str]:
    last: int = rows[-1]["workers"]
    most: float = max(row["mb_s"] for row in rows) * 1.12
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100, 200, 500) if most / step <= 6)

    def x(workers: float) -> float:
        return left + _LEFT + (_PANEL - _LEFT - 30) * (workers - 1) / (last - 1) + 12

    def y(rate: float) -> float:
        return _TOP + _HEIGHT * (1 - rate / most)

    shapes = [svg.text(left, _TOP - 16, f"{rows[0]['format']}: MB a second, uncompressed", "panel")]
    for tick in range(0, int(most) + 1, step):
        line = f'<line x1="{left + _LEFT:.1f}" x2="{left + _PANEL - 6:.1f}" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>'
        shapes += [line, svg.text(left + _LEFT - 8, y(tick) + 4, f"{tick}", "quiet", "end")]
    points = [(x(row["workers"]), y(row["mb_s"]), row["mb_s"]) for row in rows]
    shapes.append(f'<polyline points="{" ".join(f"{at:.1f},{up:.1f}" for at, up, _ in points)}" class="curve"/>')
    for at, up, rate in points:
        shapes.append(f'<circle cx="{at:.1f}" cy="{up:.1f}" r="4" class="own"/>')
        shapes.append(svg.text(at, up - 9, f"{rate:.0f}", "number", "middle"))
    shapes += [svg.text(x(row["workers"]), _TOP + _HEIGHT + 18, str(row["workers"]), "quiet", "middle") for row in rows]
    shapes.append(svg.text(x((1 + last) / 2), _TOP + _HEIGHT + 38, "workers", "quiet", "middle"))
    return shapes


def plot(rows: Sequence[Row]) -> str | None:
    """The SVG; None if workers were not measured."""
    worker_rows = [row for row in rows if row["section"] == "workers"]
    if not worker_rows:
        return None
    cores, load = worker_rows[0]["cores"], max(row["load"] for row in worker_rows)
    note = f"By the clock, the best of the rounds; load of the machine at most {load:g}, the job included."
    shapes = [svg.text(_GAP, 34, f"Throughput against workers, on {cores} cores", "title")]
    shapes.append(svg.text(_GAP, 58, note, "quiet"))
    words = []
    for number, name in enumerate(dict.fromkeys(row["format"] for row in worker_rows)):
        points = sorted((row for row in worker_rows if row["format"] == name), key=lambda row: row["workers"])
        shapes += _panel(points, _GAP + number * (_PANEL + _GAP))
        words.append(f"{name}: " + ", ".join(f"{row['workers']} workers {row['mb_s']:.0f} MB/s" for row in points))
    styles = _STYLE + svg.colours(_LIGHT, _DARK)
    height = _TOP + _HEIGHT + 56
    return svg.document(_WIDTH, height, "Throughput against workers", "; ".join(words), styles, shapes)
