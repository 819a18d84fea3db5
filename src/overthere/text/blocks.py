"""Finds inline text in Markdown: paragraphs, and labels of link reference definitions.

It reads the leaf blocks of CommonMark 0.31 (4) that matter for autolinks: code, HTML blocks and definitions have none.
Containers are not distinguished; a list item or a heading begins a new paragraph.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_LINE = re.compile(r"[^\r\n]*+(?:\r\n?|\n|\Z)")
_FENCE = re.compile(r"[ >]{0,80}+(?P<fence>`{3,}+(?=[^`\r\n]*+(?:[\r\n]|\Z))|~{3,}+)")
_BLANK = re.compile(r"[ \t>]*+(?:[\r\n]|\Z)")
_INDENTED = re.compile(r" {4}| {0,3}\t")
_ITEM = re.compile(r"[ \t>]{0,80}(?:[-+*]|[0-9]{1,9}[.)])[ \t]")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]")
_HTML = re.compile(
    r"(?i) {0,3}</?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details"
    r"|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe"
    r"|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|pre|script|search|section|style"
    r"|summary|table|tbody|td|textarea|tfoot|th|thead|title|tr|track|ul)(?:[ \t\r\n>]|/>)"
)
_DEFINITION = re.compile(r" {0,3}\[((?:[^\[\]\\\r\n]|\\.){1,999}+)\]:[ \t]*+(?:(?:\r\n?|\n)[ \t]*+)?\S")


def label(text: str) -> str:
    """Return a link label in the form that is compared: without case, white space as one blank (CommonMark 4.7)."""
    return " ".join(text.split()).casefold()


class Blocks:
    """The paragraphs of a text as spans, and the labels that it defines."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.labels: set[str] = set()
        self.paragraphs: list[tuple[int, int]] = list(self._read())

    def _read(self) -> Iterator[tuple[int, int]]:
        text, begin, fence, in_list, in_html = self.text, -1, "", False, False
        at = 0
        while at < len(text):
            line = _LINE.match(text, at)
            start, at = at, line.end() if line else len(text)
            fence_match = _FENCE.match(text, start, at)
            if fence:
                if fence_match and fence_match["fence"].startswith(fence) and _BLANK.match(text, fence_match.end(), at):
                    fence = ""
                continue
            ends_paragraph = fence_match is not None or _BLANK.match(text, start, at) is not None
            is_item = not ends_paragraph and _ITEM.match(text, start, at) is not None
            if begin >= 0 and (ends_paragraph or is_item or _HEADING.match(text, start, at)):
                yield begin, start
                begin = -1
            if fence_match:
                fence = fence_match["fence"]
            if ends_paragraph:
                in_html = False
            if ends_paragraph or in_html:
                continue
            if begin < 0:
                in_list = is_item or (in_list and text[start] in " \t")
                in_html = _HTML.match(text, start, at) is not None
                if in_html or (not in_list and _INDENTED.match(text, start, at)):
                    continue
                if definition := _DEFINITION.match(text, start):
                    self.labels.add(label(definition[1]))
                    continue
                begin = start
        if begin >= 0:
            yield begin, len(text)
