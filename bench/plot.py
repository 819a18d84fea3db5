"""The plot: a panel for each operation, horizontal bars on a logarithmic scale, drawn from the rows as SVG."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from overthere.ground import svg

Row = dict[str, Any]

_WIDTH, _GAP, _LABEL, _VALUE, _LINE, _HEAD = 1180, 34, 168, 108, 19, 46
_PANEL = (_WIDTH - 3 * _GAP) // 2
LIGHT = {
    "back": "#ffffff", "text": "#2b2f36", "quiet": "#6b7280", "tick": "#6b7280", "line": "#e4e7ec", "mark": "#111827",
    "bar-own": "#d9480f", "bar-right": "#486581", "hatch-back": "#e9eef3", "hatch": "#b3c2d1",
}  # fmt: skip
DARK = {
    "back": "#14181d", "text": "#e6eaef", "quiet": "#9aa7b4", "tick": "#9aa7b4", "line": "#323b45", "mark": "#e6eaef",
    "bar-own": "#f0783c", "bar-right": "#7aa2c4", "hatch-back": "#242b33", "hatch": "#51606e",
}  # fmt: skip
_STYLE = """
  .section { font-size: 16px; font-weight: 650 } .tick { font-size: 10px } .own { font-weight: 650 }
  .bar-wrong { fill: url(#wrong) }
"""
HATCH = (
    '<defs><pattern id="wrong" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<rect width="6" height="6" class="hatch-back"/><rect width="2.4" height="6" class="hatch"/></pattern></defs>'
)


def _ns(value: float) -> str:
    return f"{value:,.0f}" if value >= 20 else f"{value:.1f}"


class _Scale:
    """Nanoseconds to a place between the labels and the figures."""

    def __init__(self, values: Iterable[float]) -> None:
        value_list = list(values)
        self.low = math.floor(math.log10(min(value_list)))
        self.high = math.ceil(math.log10(max(value_list)))
        self.length = _PANEL - _LABEL - _VALUE

    def __call__(self, value: float) -> float:
        return _LABEL + self.length * (math.log10(value) - self.low) / (self.high - self.low)

    def ticks(self) -> list[int]:
        return list(range(self.low, self.high + 1))


def _bar(scale: _Scale, y: float, row: Row, second: Row | None) -> list[str]:
    is_ours = row["peer"] == "overthere"
    right = row["right"] == row["of"] if "of" in row else True
    kind = "own" if is_ours else "right" if right else "wrong"
    figures = _ns(row["ns"]) + (f" / {_ns(second['ns'])}" if second else "")
    share = "" if "of" not in row else " · all" if right else f" · {row['right'] * 100 // row['of']} %"
    end = max(scale(row["ns"]), _LABEL + 1)
    shapes = [
        svg.text(_LABEL - 8, y + 12, row["peer"], "own" if is_ours else "", "end"),
        svg.bar(_LABEL, y + 2, end - _LABEL, 13, f"bar-{kind}"),
        svg.text(
            max(end, scale(second["ns"]) if second else 0) + 7, y + 12, figures + share, "own" if is_ours else "quiet"
        ),
    ]
    if second:
        at = max(scale(second["ns"]), _LABEL + 1)
        shapes.append(f'<rect x="{at - 1.25:.1f}" y="{y}" width="2.5" height="17" class="mark"/>')
    return shapes


def _floor(x: float, top: float, bottom: float) -> str:
    """A dashed line, of short bars."""
    dashes = (f"M{x:.1f} {y:.0f}h1v3h-1z" for y in range(round(top), round(bottom), 6))
    return f'<path d="{"".join(dashes)}" class="mark"/>'


def _panel(operation: str, rows: Sequence[Row], scale: _Scale, floor: Row | None) -> tuple[list[str], float]:
    single = sorted((r for r in rows if r.get("threads", 1) == 1), key=lambda r: r["ns"])
    double = {r["peer"]: r for r in rows if r.get("threads") == 2}
    bottom = _HEAD + len(single) * _LINE
    shapes = [svg.text(0, 16, operation, "panel")]
    for tick in scale.ticks():
        x = scale(10**tick)
        shapes.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_HEAD - 6}" y2="{bottom}"/>')
        shapes.append(svg.text(x, _HEAD - 11, f"{10**tick:,}" if tick >= 0 else str(10**tick), "tick", "middle"))
    if floor:
        x = scale(floor["ns"])
        shapes.append(_floor(x, _HEAD - 6, bottom))
    for number, row in enumerate(single):
        shapes += _bar(scale, _HEAD + number * _LINE, row, double.get(row["peer"]))
    return shapes, bottom + 16


def _section(title: str, note: str, rows: Sequence[Row], floor: Row | None, top: float) -> tuple[list[str], float]:
    operations = list(dict.fromkeys(row["operation"] for row in rows))
    scale = _Scale([row["ns"] for row in rows] + ([floor["ns"]] if floor else []))
    shapes = [svg.text(_GAP, top + 18, title, "section"), svg.text(_GAP, top + 38, note, "quiet")]
    top += 54
    for at in range(0, len(operations), 2):
        pair = operations[at : at + 2]
        heights = []
        for column, operation in enumerate(pair):
            panel, height = _panel(operation, [r for r in rows if r["operation"] == operation], scale, floor)
            x = _GAP + column * (_PANEL + _GAP)
            shapes += [f'<g transform="translate({x} {top:.0f})">', *panel, "</g>"]
            heights.append(height)
        top += max(heights)
    return shapes, top + 12


def _legend(y: float) -> list[str]:
    entries = (
        ("bar-own", "overthere"),
        ("bar-right", "the answer of RFC 3986 in every test case (“all”)"),
        ("bar-wrong", "not in every case: the share is next to the time"),
    )
    shapes, x = [], float(_GAP)
    for kind, text in entries:
        shapes.append(svg.bar(x, y - 10, 22, 12, kind))
        shapes.append(svg.text(x + 29, y, text))
        x += 52 + 6.5 * len(text)
    shapes.append(_floor(x + 8, y - 12, y + 4))
    return [*shapes, svg.text(x + 18, y, "the floor")]


def plot(rows: Sequence[Row]) -> str:
    """The SVG of a run."""
    top = 66.0
    shapes = [svg.text(_GAP, 36, "overthere and its peers: nanoseconds, logarithmic scale; shorter is better", "title")]
    shapes += _legend(60)
    floors = {(row["operation"], row.get("threads", 1)): row for row in rows if row["section"] == "floors"}
    sections = (
        (
            "values",
            "One value at a time",
            "Nanoseconds per call. Floor: a C function that does nothing.",
            "an empty call",
        ),
        (
            "columns",
            "Whole columns",
            "Nanoseconds per row; bar: one thread, mark: two threads. Floor: memcpy.",
            "memcpy",
        ),
        ("kernel", "In Rust", "Nanoseconds per text, one thread.", ""),
    )
    for section, title, note, floor in sections:
        section_rows = [row for row in rows if row["section"] == section and "of" in row]
        if section_rows:
            section_text, top = _section(title, note, section_rows, floors.get((floor, 1)), top + 10)
            shapes += section_text
    machine = rows[0]
    shapes.append(
        svg.text(_GAP, top + 8, f"{machine['machine']} · Python {machine['python']} · {machine['commit']}", "quiet")
    )
    text = ", ".join(f"{row['operation']}: {row['peer']} {_ns(row['ns'])}" for row in rows if "of" in row)
    title = "overthere and its peers"
    return svg.document(_WIDTH, top + 28, title, text, _STYLE + svg.colours(LIGHT, DARK), [HATCH, *shapes])
