"""A picture of what the job has seen, as SVG: links by host, errors by kind, base by layer.

Bars by hand: a drawing library would be larger than all else that the job needs.  The picture brings its own
background, and follows a reader's choice of dark or light.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

from overthere.links.report.summary import NOBODY, Summary, cut
from overthere.showing import columns

__all__ = ["draw"]

_WIDTH, _EDGE, _GAP = 1080, 36, 44
_HOSTS = 20
_LINE, _BAR, _HEAD = 22, 14, 34
_CHARACTER = 6.9
"""Of a text of 12 px in the widest of its fonts, about, so that labels that are cut to it fit."""
_LIGHT = {
    "back": "#ffffff", "text": "#1f2933", "quiet": "#616e7c", "host": "#2f6f9f", "rest": "#a9b8c6",
    "error": "#c2410c", "layer": "#3f7d58", "note": "#8a6116", "audit": "#7c3aed", "line": "#d9dee5",
}  # fmt: skip
_DARK = {
    "back": "#14181d", "text": "#e6eaef", "quiet": "#9aa7b4", "host": "#5ea3d6", "rest": "#51606e",
    "error": "#f0783c", "layer": "#67b388", "note": "#d3a04d", "audit": "#a78bfa", "line": "#323b45",
}  # fmt: skip


def _colours(colours: dict[str, str]) -> str:
    """Rules for the classes.  Not by variables of CSS, which not all that draws SVG understands."""
    rules = (f"{'' if name == 'text' else '.'}{name} {{ fill: {colour} }}" for name, colour in colours.items())
    return " ".join(rules) + f" line {{ stroke: {colours['line']} }} text.quiet {{ fill: {colours['quiet']} }}"


_STYLE = f"""
  text {{ font: 12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif }}
  .title {{ font-size: 20px; font-weight: 650 }} .panel {{ font-size: 14px; font-weight: 650 }}
  .number {{ font-variant-numeric: tabular-nums }}
  {_colours(_LIGHT)}
  @media (prefers-color-scheme: dark) {{ {_colours(_DARK)} }}
"""
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no XML document can hold, escaped or not (XML 1.0 2.2)."""


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
        _text(_EDGE, 44, cut(_visible(title), 80), "title"),
        _text(_EDGE, 68, _facts(summary), "quiet"),
        f'<line x1="{_EDGE}" x2="{_WIDTH - _EDGE}" y1="84" y2="84"/>',
    ]
    bottoms = []
    for x, panels in ((_EDGE, left), (_EDGE + half + _GAP, right)):
        y = top
        names = [columns(_visible(name)) for panel in panels for name, _, _ in panel.bars]
        room = min(max(names, default=0), 32)
        for panel in panels:
            drawn, height = _drawn(panel, half, room)
            shapes += [f'<g transform="translate({x} {y})">', *drawn, "</g>"]
            y += height + 26
        bottoms.append(y)
    height = max(bottoms) - 4
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="100%" role="img" '
        'aria-labelledby="title desc">\n'
        f'<title id="title">{_escaped(title)}</title>\n<desc id="desc">{_escaped(_told(summary))}</desc>\n'
        f"<style>{_STYLE}</style>\n"
        f'<rect width="100%" height="100%" rx="8" class="back"/>\n' + "\n".join(shapes) + "\n</svg>\n"
    )


def _told(summary: Summary) -> str:
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
        right.append(_Panel("What was the matter with documents", "", _bars(summary.notes.items(), "note")))
    if summary.audit:
        right.append(_Panel("Audit", "", _bars(summary.audit.items(), "audit")))
    return [hosts], right


def _hosts(summary: Summary) -> _Panel:
    ranked = summary.hosts.ranked()
    bars = [(host or NOBODY, number, "host") for host, number in ranked[:_HOSTS]]
    # Over its limit the list has forgotten hosts, while the sum knows of all.
    rest = summary.internal + summary.external - sum(number for _, number, _ in bars)
    if rest > 0:
        others = len(ranked) - len(bars)
        many = "all other hosts" if summary.hosts.missed or not others else f"{others:,} other hosts"
        bars.append(("1 other host" if many == "1 other hosts" else many, rest, "rest"))
    if summary.hostless:
        bars.append(
            ("no host: " + ", ".join(name for name, _ in summary.schemes.ranked()[:4]), summary.hostless, "rest")
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


def _fitting(name: str, room: int) -> str:
    """A name in the width of so many characters, of which some are wider than most."""
    text, less = cut(_visible(name), room), room
    while less > 1 and sum(1.5 if c in _WIDE or ord(c) > 0x2E7F else 1 for c in text) > room:
        less -= 1
        text = cut(_visible(name), less)
    return text


_WIDE = frozenset("mwMWGOQCDHNU%@_ЖМШЩЮмшщюж")


def _drawn(panel: _Panel, width: int, room: int) -> tuple[list[str], int]:
    """The shapes of a panel of this width with labels of so many characters, and its height."""
    shapes = [_text(0, 12, panel.title, "panel")]
    if panel.note:
        shapes.append(_text(width, 12, panel.note, "quiet", "end"))
    if not panel.bars:
        return [*shapes, _text(0, _HEAD + 10, panel.empty, "quiet")], _HEAD + _LINE
    most = max(number for _, number, _ in panel.bars)
    figures = max(len(f"{number:,}") for _, number, _ in panel.bars) * _CHARACTER + 8
    start = room * _CHARACTER + 10
    length = width - start - figures
    for place, (name, number, kind) in enumerate(panel.bars):
        y = _HEAD + place * _LINE
        # A bar that would be thinner than this could not be seen.
        end = start + max(length * number / most, 1.5)
        shapes += [
            f"<g><title>{_escaped(_visible(name))}: {number:,}</title>",
            _text(start - 8, y + 11, _fitting(name, room), "quiet" if kind == "rest" else "", "end"),
            f'<rect x="{start:.1f}" y="{y}" width="{end - start:.1f}" height="{_BAR}" rx="2" class="{kind}"/>',
            _text(end + 6, y + 11, f"{number:,}", "number quiet"),
            "</g>",
        ]
    return shapes, _HEAD + len(panel.bars) * _LINE


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
        facts.append(f"{summary.unread:,} documents not read whole")
    return " · ".join(facts)


def _visible(text: str) -> str:
    """A text in which nothing turns the line around or hides: one mark for each character that has no shape."""
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


def _escaped(text: str) -> str:
    return escape(_NO_XML.sub("\ufffd", text))


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    chosen = (f' class="{kind}"' if kind else "") + (f' text-anchor="{anchor}"' if anchor != "start" else "")
    return f'<text x="{x:.1f}" y="{y:.1f}"{chosen}>{_escaped(text)}</text>'
