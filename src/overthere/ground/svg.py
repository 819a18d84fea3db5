"""SVG pictures: text, bars and a frame that scales, follows dark mode and has a description."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from html import escape

CHARACTER = 6.9
"""The approximate width of a character in pixels, at 12 px in the widest of the fonts."""
_STYLE = """
  text { font: 12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif }
  .title { font-size: 20px; font-weight: 650 } .panel { font-size: 14px; font-weight: 650 }
  .number { font-variant-numeric: tabular-nums }
"""
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that an XML document cannot contain, escaped or not (XML 1.0 2.2)."""


def document(width: int, height: float, title: str, description: str, styles: str, shapes: Iterable[str]) -> str:
    """Return a complete picture, as wide as its container.

    description: the content of the picture, in words.
    styles: further rules, such as those of `colours`; the class "back" is the background's.
    """
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:.0f}" width="100%" role="img" '
        'aria-labelledby="title desc">\n'
        f'<title id="title">{escape_xml(title)}</title>\n<desc id="desc">{escape_xml(description)}</desc>\n'
        f"<style>{_STYLE}{styles}</style>\n"
        '<rect width="100%" height="100%" rx="8" class="back"/>\n' + "\n".join(shapes) + "\n</svg>\n"
    )


def colours(light: Mapping[str, str], dark: Mapping[str, str]) -> str:
    """Return the style rules of light and dark mode; "text" is for texts, "line" for lines, "quiet" for side notes.

    CSS variables are not used, because not all SVG viewers support them.
    """

    def rules(chosen: Mapping[str, str]) -> str:
        fills = (f"{'' if name == 'text' else '.'}{name} {{ fill: {colour} }}" for name, colour in chosen.items())
        return f"{' '.join(fills)} line {{ stroke: {chosen['line']} }} text.quiet {{ fill: {chosen['quiet']} }}"

    return f"  {rules(light)}\n  @media (prefers-color-scheme: dark) {{ {rules(dark)} }}\n"


def text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    """Return a line of text whose base line is at y."""
    attributes = (f' class="{kind}"' if kind else "") + (f' text-anchor="{anchor}"' if anchor != "start" else "")
    return f'<text x="{x:.1f}" y="{y:.1f}"{attributes}>{escape_xml(text)}</text>'


def bar(x: float, y: float, width: float, height: float, kind: str) -> str:
    """Return a bar, with a minimal visible width."""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 1.5):.1f}" height="{height:g}" rx="2" class="{kind}"/>'


def escape_xml(text: str) -> str:
    """Escape text for XML; characters that XML cannot contain become U+FFFD."""
    return escape(_NO_XML.sub("\ufffd", text))
