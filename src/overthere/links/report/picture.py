"""An SVG summary of a job: links by host, errors by kind, base by layer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil
from typing import NamedTuple

from overthere.ground import svg
from overthere.links.report.summary import EMPTY_HOST, Summary, shorten_middle

_WIDTH, _MARGIN, _GAP = 1080, 36, 44
_MAX_HOSTS = 20
_ROW_HEIGHT, _BAR_HEIGHT, _HEAD_HEIGHT = 22, 14, 34
_MAX_LABEL = 32
"""The most characters of a label next to its bar; a longer one is above it."""
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
    """The text without bars."""
    bars: Sequence[tuple[str, int, str]]
    """Label, number, class."""
    note: str = ""


def draw(summary: Summary, title: str = "Links") -> str:
    """Return the picture, an SVG document.

    >>> draw(Summary()).startswith("<svg ")
    True
    """
    left_panels, right_panels = _panels(summary)
    column_width = (_WIDTH - 2 * _MARGIN - _GAP) // 2
    top = 106
    shapes = [
        svg.text(_MARGIN, 44, shorten_middle(_visible(title), 80), "title"),
        svg.text(_MARGIN, 68, _facts_line(summary), "quiet"),
        f'<line x1="{_MARGIN}" x2="{_WIDTH - _MARGIN}" y1="84" y2="84"/>',
    ]
    bottoms = []
    for x, panels in ((_MARGIN, left_panels), (_MARGIN + column_width + _GAP, right_panels)):
        y = top
        label_widths = [sum(map(_character_width, _visible(name))) for panel in panels for name, _, _ in panel.bars]
        label_room = ceil(max((label_width for label_width in label_widths if label_width <= _MAX_LABEL), default=0))
        for panel in panels:
            panel_shapes, height = _draw_panel(panel, column_width, label_room)
            shapes += [f'<g transform="translate({x} {y})">', *panel_shapes, "</g>"]
            y += height + 26
        bottoms.append(y)
    styles = svg.colours(_LIGHT, _DARK)
    return svg.document(_WIDTH, max(bottoms) - 4, title, _describe(summary), styles, shapes)


def _describe(summary: Summary) -> str:
    """Return the picture in words, with unabridged names."""
    left_panels, right_panels = _panels(summary)
    return " ".join(
        f"{panel.title}: {', '.join(f'{_visible(name)} {number:,}' for name, number, _ in panel.bars) or panel.empty}."
        for panel in [*left_panels, *right_panels]
    )


def _panels(summary: Summary) -> tuple[list[_Panel], list[_Panel]]:
    hosts = _host_panel(summary)
    right = [
        _Panel("Invalid references by kind", "every reference is valid", _bars(summary.invalid.items(), "error")),
        _Panel("Base URI by layer", "there are no references", _bars(summary.layers.items(), "layer")),
    ]
    if summary.notes:
        right.append(_Panel("Problems with documents", "", _bars(summary.notes.items(), "note")))
    if summary.audit:
        right.append(_Panel("Audit", "", _bars(summary.audit.items(), "audit")))
    return [hosts], right


def _host_panel(summary: Summary) -> _Panel:
    ranked = summary.hosts.ranking()
    bars = [(host or EMPTY_HOST, number, "host") for host, number in ranked[:_MAX_HOSTS]]
    # Beyond its limit the list omits hosts, but the sum counts all.
    other_links = summary.internal + summary.external - sum(number for _, number, _ in bars)
    if other_links > 0:
        other_hosts = len(ranked) - len(bars)
        label = "all other hosts" if summary.hosts.missed or not other_hosts else f"{other_hosts:,} other hosts"
        bars.append(("1 other host" if label == "1 other hosts" else label, other_links, "rest"))
    if summary.hostless:
        bars.append(
            ("no host: " + ", ".join(name for name, _ in summary.schemes.ranking()[:4]), summary.hostless, "rest")
        )
    missed = summary.hosts.missed
    note = f"counts of hosts may be {missed:,} too small" if missed else ""
    return _Panel("Links by host", "there are no valid references", bars, note)


def _bars(counts: Iterable[tuple[str, int]], kind: str, limit: int = 12) -> list[tuple[str, int, str]]:
    ranked = sorted(((name, number) for name, number in counts if number), key=lambda item: (-item[1], item[0]))
    bars = [(name, number, kind) for name, number in ranked[:limit]]
    if remainder := sum(number for _, number in ranked[limit:]):
        bars.append((f"{len(ranked) - limit:,} others", remainder, "rest"))
    return bars


_WIDE_CHARACTERS = frozenset("mwMWGOQCDHNU%@_ЖМШЩЮмшщюж")


def _character_width(character: str) -> float:
    return 1.5 if character in _WIDE_CHARACTERS or ord(character) > 0x2E7F else 1


def _break_label(name: str, room: int) -> list[str]:
    """Break a name into lines of `room` characters; wide characters count as 1.5."""
    lines, line_width = [""], 0.0
    for character in name:
        line_width += _character_width(character)
        if line_width > room and lines[-1]:
            lines.append("")
            line_width = _character_width(character)
        lines[-1] += character
    return lines


def _draw_panel(panel: _Panel, width: int, room: int) -> tuple[list[str], int]:
    """Return the shapes of a panel, and its height.  room: the characters of labels next to the bars."""
    shapes = [svg.text(0, 12, panel.title, "panel")]
    if panel.note:
        shapes.append(svg.text(width, 12, panel.note, "quiet", "end"))
    if not panel.bars:
        return [*shapes, svg.text(0, _HEAD_HEIGHT + 10, panel.empty, "quiet")], _HEAD_HEIGHT + _ROW_HEIGHT
    largest = max(number for _, number, _ in panel.bars)
    number_width = max(len(f"{number:,}") for _, number, _ in panel.bars) * svg.CHARACTER + 8
    start = room * svg.CHARACTER + 10
    length = width - start - number_width
    y = _HEAD_HEIGHT
    for name, number, kind in panel.bars:
        shapes.append(f"<g><title>{svg.escape_xml(_visible(name))}: {number:,}</title>")
        quiet = "quiet" if kind == "rest" else ""
        if len(label_lines := _break_label(_visible(name), room)) == 1:
            shapes.append(svg.text(start - 8, y + 11, label_lines[0], quiet, "end"))
        else:
            for line in _break_label(_visible(name), int(width / svg.CHARACTER)):
                shapes.append(svg.text(0, y + 11, line, quiet))
                y += _ROW_HEIGHT - 4
        shapes += [
            svg.bar(start, y, length * number / largest, _BAR_HEIGHT, kind),
            svg.text(start + max(length * number / largest, 1.5) + 6, y + 11, f"{number:,}", "number quiet"),
            "</g>",
        ]
        y += _ROW_HEIGHT
    return shapes, y


def _facts_line(summary: Summary) -> str:
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
    """Replace characters that are invisible or change the direction of text by U+FFFD."""
    return "".join(c if c.isprintable() else "\ufffd" for c in text)
