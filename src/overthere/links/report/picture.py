"""An SVG summary of a job: links by host, errors by kind, base by layer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil
from typing import NamedTuple

from overthere.ground import svg
from overthere.links.report.summary import NOBODY, Summary, shorten_middle

__all__ = ["draw"]

_WIDTH, _EDGE, _GAP = 1080, 36, 44
_HOSTS = 20
_LINE, _BAR, _HEAD = 22, 14, 34
_ROOM = 32
"""Characters that a label beside its bar has at most; a longer one stands above."""
_LIGHT = {
    "back": "#ffffff", "text": "#1f2933", "quiet": "#616e7c", "host": "#2f6f9f", "rest": "#a9b8c6",
    "error": "#c2410c", "layer": "#3f7d58", "note": "#8a6116", "audit": "#7c3aed", "line": "#d9dee5",
}  # fmt: skip
_DARK = {
    "back": "#14181d", "text": "#e6eaef", "quiet": "#9aa7b4", "host": "#5ea3d6", "rest": "#51606e",
    "error": "#f0783c", "layer": "#67b388", "note": "#d3a04d", "audit": "#a78bfa", "line": "#323b45",
}  # fmt: skip


class _Panel(NamedTuple):
    title: str
    empty: str
    """What stands there if there are no bars."""
    bars: Sequence[tuple[str, int, str]]
    """Label, number, class."""
    note: str = ""


def draw(summary: Summary, title: str = "Links") -> str:
    """The picture, an SVG document.

    >>> draw(Summary()).startswith("<svg ")
    True
    """
    left, right = _panels(summary)
    half = (_WIDTH - 2 * _EDGE - _GAP) // 2
    top = 106
    shapes = [
        svg.text(_EDGE, 44, shorten_middle(_visible(title), 80), "title"),
        svg.text(_EDGE, 68, _facts(summary), "quiet"),
        f'<line x1="{_EDGE}" x2="{_WIDTH - _EDGE}" y1="84" y2="84"/>',
    ]
    bottoms = []
    for x, panels in ((_EDGE, left), (_EDGE + half + _GAP, right)):
        y = top
        names = [sum(map(_character_width, _visible(name))) for panel in panels for name, _, _ in panel.bars]
        room = ceil(max((wide for wide in names if wide <= _ROOM), default=0))
        for panel in panels:
            drawn, height = _draw_panel(panel, half, room)
            shapes += [f'<g transform="translate({x} {y})">', *drawn, "</g>"]
            y += height + 26
        bottoms.append(y)
    styles = svg.colours(_LIGHT, _DARK)
    return svg.document(_WIDTH, max(bottoms) - 4, title, _describe(summary), styles, shapes)


def _describe(summary: Summary) -> str:
    """What is drawn, in words, each name whole."""
    left, right = _panels(summary)
    return " ".join(
        f"{panel.title}: {', '.join(f'{_visible(name)} {number:,}' for name, number, _ in panel.bars) or panel.empty}."
        for panel in [*left, *right]
    )


def _panels(summary: Summary) -> tuple[list[_Panel], list[_Panel]]:
    hosts = _hosts(summary)
    right = [
        _Panel("Invalid references by kind", "every reference is valid", _bars(summary.invalid.items(), "error")),
        _Panel("Base URI by layer", "there are no references", _bars(summary.layers.items(), "layer")),
    ]
    if summary.notes:
        right.append(_Panel("Problems with documents", "", _bars(summary.notes.items(), "note")))
    if summary.audit:
        right.append(_Panel("Audit", "", _bars(summary.audit.items(), "audit")))
    return [hosts], right


def _hosts(summary: Summary) -> _Panel:
    ranked = summary.hosts.ranking()
    bars = [(host or NOBODY, number, "host") for host, number in ranked[:_HOSTS]]
    # Over its limit the list has forgotten hosts, while the sum knows of all.
    rest = summary.internal + summary.external - sum(number for _, number, _ in bars)
    if rest > 0:
        others = len(ranked) - len(bars)
        many = "all other hosts" if summary.hosts.missed or not others else f"{others:,} other hosts"
        bars.append(("1 other host" if many == "1 other hosts" else many, rest, "rest"))
    if summary.hostless:
        bars.append(
            ("no host: " + ", ".join(name for name, _ in summary.schemes.ranking()[:4]), summary.hostless, "rest")
        )
    missed = summary.hosts.missed
    note = f"counts of hosts may be {missed:,} too small" if missed else ""
    return _Panel("Links by host", "there are no valid references", bars, note)


def _bars(counts: Iterable[tuple[str, int]], kind: str, most: int = 12) -> list[tuple[str, int, str]]:
    ranked = sorted(((name, number) for name, number in counts if number), key=lambda item: (-item[1], item[0]))
    bars = [(name, number, kind) for name, number in ranked[:most]]
    if rest := sum(number for _, number in ranked[most:]):
        bars.append((f"{len(ranked) - most:,} others", rest, "rest"))
    return bars


_WIDE = frozenset("mwMWGOQCDHNU%@_ЖМШЩЮмшщюж")


def _character_width(character: str) -> float:
    return 1.5 if character in _WIDE or ord(character) > 0x2E7F else 1


def _lines(name: str, room: int) -> list[str]:
    """A name in lines of the width of so many characters, of which some are wider than most."""
    lines, wide = [""], 0.0
    for character in name:
        wide += _character_width(character)
        if wide > room and lines[-1]:
            lines.append("")
            wide = _character_width(character)
        lines[-1] += character
    return lines


def _draw_panel(panel: _Panel, width: int, room: int) -> tuple[list[str], int]:
    """The shapes of a panel of this width with labels of so many characters beside the bars, and its height."""
    shapes = [svg.text(0, 12, panel.title, "panel")]
    if panel.note:
        shapes.append(svg.text(width, 12, panel.note, "quiet", "end"))
    if not panel.bars:
        return [*shapes, svg.text(0, _HEAD + 10, panel.empty, "quiet")], _HEAD + _LINE
    most = max(number for _, number, _ in panel.bars)
    figures = max(len(f"{number:,}") for _, number, _ in panel.bars) * svg.CHARACTER + 8
    start = room * svg.CHARACTER + 10
    length = width - start - figures
    y = _HEAD
    for name, number, kind in panel.bars:
        shapes.append(f"<g><title>{svg.escape_xml(_visible(name))}: {number:,}</title>")
        quiet = "quiet" if kind == "rest" else ""
        if len(beside := _lines(_visible(name), room)) == 1:
            shapes.append(svg.text(start - 8, y + 11, beside[0], quiet, "end"))
        else:
            for line in _lines(_visible(name), int(width / svg.CHARACTER)):
                shapes.append(svg.text(0, y + 11, line, quiet))
                y += _LINE - 4
        shapes += [
            svg.bar(start, y, length * number / most, _BAR, kind),
            svg.text(start + max(length * number / most, 1.5) + 6, y + 11, f"{number:,}", "number quiet"),
            "</g>",
        ]
        y += _LINE
    return shapes, y


def _facts(summary: Summary) -> str:
    invalid = sum(summary.invalid.values())
    facts = [
        f"{summary.documents:,} documents",
        f"{summary.references:,} references",
        f"{invalid:,} invalid",
        f"{summary.external:,} to other hosts",
        f"{summary.same_document:,} same-document",
    ]
    if summary.unread:
        facts.append(f"{summary.unread:,} documents not read completely")
    return " · ".join(facts)


def _visible(text: str) -> str:
    """A text in which nothing turns the line around or hides: one mark for each character that has no shape."""
    return "".join(c if c.isprintable() else "\ufffd" for c in text)
