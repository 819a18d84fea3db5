"""SVG pictures: text, bars and a frame that scales, follows dark mode and has a description."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from html import escape

__all__ = ["CHARACTER", "bar", "colours", "document", "escape_xml", "text"]

CHARACTER = 6.9
"""Of a text of 12 px in the widest of its fonts, about: pixels a character."""
_STYLE = """
  text { font: 12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif }
  .title { font-size: 20px; font-weight: 650 } .panel { font-size: 14px; font-weight: 650 }
  .number { font-variant-numeric: tabular-nums }
"""
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no XML document can hold, escaped or not (XML 1.0 2.2)."""


def document(width: int, height: float, title: str, description: str, styles: str, shapes: Iterable[str]) -> str:
    """A whole picture, as wide as where it stands.

    description: what is drawn, in words.
    styles: further rules, such as `colours` writes; the class "back" is the background's.
    """
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:.0f}" width="100%" role="img" '
        'aria-labelledby="title desc">\n'
        f'<title id="title">{escape_xml(title)}</title>\n<desc id="desc">{escape_xml(description)}</desc>\n'
        f"<style>{_STYLE}{styles}</style>\n"
        '<rect width="100%" height="100%" rx="8" class="back"/>\n' + "\n".join(shapes) + "\n</svg>\n"
    )


def colours(light: Mapping[str, str], dark: Mapping[str, str]) -> str:
    """Rules for the classes of both choices; "text" is that of texts, "line" of lines, "quiet" of what stands beside.

    Not by variables of CSS, which not all that draws SVG understands.
    """

    def rules(chosen: Mapping[str, str]) -> str:
        fills = (f"{'' if name == 'text' else '.'}{name} {{ fill: {colour} }}" for name, colour in chosen.items())
        return f"{' '.join(fills)} line {{ stroke: {chosen['line']} }} text.quiet {{ fill: {chosen['quiet']} }}"

    return f"  {rules(light)}\n  @media (prefers-color-scheme: dark) {{ {rules(dark)} }}\n"


def text(x: float, y: float, said: str, kind: str = "", anchor: str = "start") -> str:
    """A line of text whose base line is at y."""
    chosen = (f' class="{kind}"' if kind else "") + (f' text-anchor="{anchor}"' if anchor != "start" else "")
    return f'<text x="{x:.1f}" y="{y:.1f}"{chosen}>{escape_xml(said)}</text>'


def bar(x: float, y: float, width: float, height: float, kind: str) -> str:
    """A bar; one that would be thinner than can be seen is as thin as can be."""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 1.5):.1f}" height="{height:g}" rx="2" class="{kind}"/>'


def escape_xml(said: str) -> str:
    """Text as a document of XML holds it; what none can hold is U+FFFD."""
    return escape(_NO_XML.sub("\ufffd", said))
