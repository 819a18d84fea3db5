"""The plot: a panel for each operation, horizontal bars on a logarithmic scale, drawn from the rows as SVG."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

__all__ = ["plot"]

Row = dict[str, Any]

_WIDTH, _GAP, _LABEL, _VALUE, _LINE, _HEAD = 1180, 34, 168, 108, 19, 46
_PANEL = (_WIDTH - 3 * _GAP) // 2
_STYLE = """
  text { font: 12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #2b2f36 }
  .title { font-size: 20px; font-weight: 650 } .section { font-size: 16px; font-weight: 650 }
  .panel { font-size: 13px; font-weight: 650 } .quiet { fill: #6b7280 } .tick { font-size: 10px; fill: #8b93a0 }
  .own { font-weight: 650 } .grid { stroke: #e4e7ec } .floor { stroke: #111827; stroke-dasharray: 3 3 }
  .bar-own { fill: #d9480f } .bar-right { fill: #486581 } .bar-wrong { fill: url(#wrong); stroke: #9fb3c8 }
  .two { stroke: #111827; stroke-width: 2.5 }
"""
_HATCH = (
    '<pattern id="wrong" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<rect width="6" height="6" fill="#e9eef3"/><rect width="2.4" height="6" fill="#b3c2d1"/></pattern>'
)


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(text)}</text>'


def _ns(value: float) -> str:
    return f"{value:,.0f}" if value >= 20 else f"{value:.1f}"


class _Scale:
    """Nanoseconds to a place between the labels and the figures."""

    def __init__(self, values: Iterable[float]) -> None:
        found = list(values)
        self.low = math.floor(math.log10(min(found)))
        self.high = math.ceil(math.log10(max(found)))
        self.length = _PANEL - _LABEL - _VALUE

    def __call__(self, value: float) -> float:
        return _LABEL + self.length * (math.log10(value) - self.low) / (self.high - self.low)

    def ticks(self) -> list[int]:
        return list(range(self.low, self.high + 1))


def _bar(scale: _Scale, y: float, row: Row, second: Row | None) -> list[str]:
    own = row["peer"] == "overthere"
    right = row["right"] == row["of"] if "of" in row else True
    kind = "own" if own else "right" if right else "wrong"
    figures = _ns(row["ns"]) + (f" / {_ns(second['ns'])}" if second else "")
    share = "" if "of" not in row else " · all" if right else f" · {row['right'] * 100 // row['of']} %"
    end = max(scale(row["ns"]), _LABEL + 1)
    shapes = [
        _text(_LABEL - 8, y + 12, row["peer"], "own" if own else "", "end"),
        f'<rect x="{_LABEL}" y="{y + 2}" width="{end - _LABEL:.1f}" height="13" rx="2" class="bar-{kind}"/>',
        _text(max(end, scale(second["ns"]) if second else 0) + 7, y + 12, figures + share, "own" if own else "quiet"),
    ]
    if second:
        at = max(scale(second["ns"]), _LABEL + 1)
        shapes.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{y}" y2="{y + 17}" class="two"/>')
    return shapes


def _panel(operation: str, rows: Sequence[Row], scale: _Scale, floor: Row | None) -> tuple[list[str], float]:
    single = sorted((r for r in rows if r.get("threads", 1) == 1), key=lambda r: r["ns"])
    double = {r["peer"]: r for r in rows if r.get("threads") == 2}
    bottom = _HEAD + len(single) * _LINE
    shapes = [_text(0, 16, operation, "panel")]
    for tick in scale.ticks():
        x = scale(10**tick)
        shapes.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_HEAD - 6}" y2="{bottom}" class="grid"/>')
        shapes.append(_text(x, _HEAD - 11, f"{10**tick:,}" if tick >= 0 else str(10**tick), "tick", "middle"))
    if floor:
        x = scale(floor["ns"])
        shapes.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_HEAD - 6}" y2="{bottom}" class="floor"/>')
    for number, row in enumerate(single):
        shapes += _bar(scale, _HEAD + number * _LINE, row, double.get(row["peer"]))
    return shapes, bottom + 16


def _section(title: str, note: str, rows: Sequence[Row], floor: Row | None, top: float) -> tuple[list[str], float]:
    operations = list(dict.fromkeys(row["operation"] for row in rows))
    scale = _Scale([row["ns"] for row in rows] + ([floor["ns"]] if floor else []))
    shapes = [_text(_GAP, top + 18, title, "section"), _text(_GAP, top + 38, note, "quiet")]
    top += 54
    for at in range(0, len(operations), 2):
        pair = operations[at : at + 2]
        heights = []
        for column, operation in enumerate(pair):
            found, height = _panel(operation, [r for r in rows if r["operation"] == operation], scale, floor)
            x = _GAP + column * (_PANEL + _GAP)
            shapes += [f'<g transform="translate({x} {top:.0f})">', *found, "</g>"]
            heights.append(height)
        top += max(heights)
    return shapes, top + 12


def _legend(y: float) -> list[str]:
    entries = (
        ("bar-own", "overthere"),
        ("bar-right", "the standard's answer on every fixed row (“all”)"),
        ("bar-wrong", "not on every one: the share stands beside the time"),
    )
    shapes, x = [], float(_GAP)
    for kind, text in entries:
        shapes.append(f'<rect x="{x:.0f}" y="{y - 10}" width="22" height="12" rx="2" class="{kind}"/>')
        shapes.append(_text(x + 29, y, text))
        x += 52 + 6.5 * len(text)
    shapes.append(f'<line x1="{x + 8:.0f}" x2="{x + 8:.0f}" y1="{y - 12}" y2="{y + 4}" class="floor"/>')
    return [*shapes, _text(x + 18, y, "the floor")]


def plot(rows: Sequence[Row]) -> str:
    """The SVG of a run."""
    top = 66.0
    shapes = [_text(_GAP, 36, "overthere beside its peers: nanoseconds, logarithmic; shorter is better", "title")]
    shapes += _legend(60)
    floors = {(row["operation"], row.get("threads", 1)): row for row in rows if row["section"] == "floors"}
    sections = (
        (
            "values",
            "One value at a time",
            "Nanoseconds a call. Floor: a C function that does nothing.",
            "an empty call",
        ),
        (
            "columns",
            "Whole columns",
            "Nanoseconds a row: the bar is one thread, the mark two. Floor: memcpy.",
            "memcpy",
        ),
        ("kernel", "In Rust", "Nanoseconds a text, one thread.", ""),
    )
    for section, title, note, floor in sections:
        found = [row for row in rows if row["section"] == section and "of" in row]
        if found:
            more, top = _section(title, note, found, floors.get((floor, 1)), top + 10)
            shapes += more
    machine = rows[0]
    shapes.append(
        _text(_GAP, top + 8, f"{machine['machine']} · Python {machine['python']} · {machine['commit']}", "quiet")
    )
    height = top + 28
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:.0f}" width="{_WIDTH}" role="img">'
    body = "\n".join(shapes)
    return (
        f"{head}\n<title>overthere beside its peers</title>\n<style>{_STYLE}</style>\n<defs>{_HATCH}</defs>\n"
        f'<rect width="100%" height="100%" rx="8" fill="#fff"/>\n{body}\n</svg>\n'
    )
