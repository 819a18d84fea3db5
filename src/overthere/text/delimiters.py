"""URIs in angle brackets or double quotes (RFC 3986 Appendix C): white space and line marks are ignored.

1. The brackets end at the next bracket or at an empty line; between quotes stand no brackets.
2. A ">" or "|" at the start of a line is the mark of quoted mail: after a line that begins with such marks as many as
   those, else one, and then only if the rest up to the closing bracket has no white space.
3. Between brackets all white space is ignored.  Between quotes so is a line break, and no blank within a line: quotes
   stand around prose and commands too.
4. Where a URI of its own follows white space, they wrap no single one: `<GET http://h/x>`, `"http://a/ http://b/"`.
   What they hold is read like any other text then, and white space delimits.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from overthere.text.names import Names, names

__all__ = ["DelimitedText", "read_delimited"]


class DelimitedText(NamedTuple):
    """What a pair of delimiters holds."""

    reference: str
    """Without white space, line marks and the prefix "URL:"."""
    start: int
    """Where the first character of the reference stands, and the end of the last."""
    end: int
    closed: int
    """The end of the closing delimiter."""
    delimiter: str
    prefixed: bool
    broken: bool
    """Whether white space stood in it."""
    alternative: str | None
    """The reference without the hyphens at its line ends."""


_PREFIX = re.compile(r"\s*+((?i:url):\s*+)?+")
_BREAK = r"(?:\r\n?|\n)"
_HYPHEN = re.compile(rf"-[^\S\r\n]*+{_BREAK}\s*+")
_ONE_LINE = {"<": re.compile(r"<([^<>\r\n]*+)>"), '"': re.compile(r'"([^<>"\r\n]*+)"')}
_DEEPEST = 20
_MARKS = re.compile(rf"[ \t]{{0,80}}+((?:[>|][ \t]?+){{1,{_DEEPEST}}}+)")
# Rule 2 where the first line has no mark.
_UNMARKED = re.compile(rf"<([^<>\r\n]*+(?:{_BREAK}[>|][ \t]?+[^\s<>]*+)++)>")


@cache
def _lines(opening: str, marks: int) -> re.Pattern[str]:
    """Several lines, each after at most so many marks, none of them empty."""
    inside = r"[^<>\r\n]*+" if opening == "<" else r'[^<>"\r\n]*+'
    mark = rf"(?:[ \t]*+[>|]){{0,{marks}}}+" if marks else "(?:[ \\t]*+[|])?+"
    return re.compile(
        rf"{opening}({inside}(?:{_BREAK}{mark}(?![ \t]*+[\r\n]){inside})++){'>' if opening == '<' else opening}"
    )


@cache
def _line_marks(marks: int) -> re.Pattern[str]:
    return re.compile(rf"({_BREAK})(?:[ \t]*+[>|]){{1,{marks}}}+")


def read_delimited(text: str, at: int, line: int, known: Names | None = None) -> DelimitedText | None:
    """What stands between the delimiter at `at` and its partner; None if there is none.

    line: where the line of the delimiter begins; known: the schemes, those of the default registry unless given.

    >>> read_delimited("> <http://h/a-\\n> b>", 2, 0).reference
    'http://h/a-b'
    """
    opening, marks = text[at], 1
    match = _ONE_LINE[opening].match(text, at)
    if match is None:
        quoted = _MARKS.match(text, line, at)
        marks = sum(map(quoted[1].count, ">|")) if quoted else 0
        if marks:
            match = _lines(opening, marks).match(text, at)
        elif opening == "<":
            match = _UNMARKED.match(text, at)
        match = match or _lines(opening, 0).match(text, at)
        marks = marks or 1
        if match is None:
            return None
    return _read(text, match, opening, marks, known or names())


def _read(text: str, match: re.Match[str], opening: str, marks: int, known: Names) -> DelimitedText | None:
    start, end = match.span(1)
    prefix = _PREFIX.match(text, start, end)
    assert prefix is not None  # all of it is optional
    start = prefix.end()
    lines = text[start:end]
    end = start + len(lines.rstrip())
    if broken := "\n" in lines or "\r" in lines:
        lines = _line_marks(marks).sub(r"\1", lines)
    inside = lines.rstrip()
    pieces = inside.split()
    if not pieces:
        return None
    if len(pieces) > 1 and (
        (opening == '"' and _BLANK.search(inside) is not None) or any(_is_own(piece, known) for piece in pieces[1:])
    ):
        return None
    reference = "".join(pieces)
    other = "".join(_HYPHEN.sub("", lines).split()) if broken else reference
    return DelimitedText(
        reference, start, end, match.end(), "<>" if opening == "<" else '""',
        prefix[1] is not None, len(pieces) > 1, None if other == reference else other,
    )  # fmt: skip


_OWN = re.compile(r"[^\w\s]*+([A-Za-z][A-Za-z0-9+.-]++):(//[^\s/?#])?+")


def _is_own(piece: str, known: Names) -> bool:
    """Rule 4: whether a URI begins with a piece that follows white space."""
    match = _OWN.match(piece)
    if match is None:
        return False
    shape = None if match[2] else known.shape_of(match[1].lower())
    return bool(match[2]) or (shape is not None and shape.match(piece, match.end()) is not None)


_BLANK = re.compile(r"\S[^\S\r\n]++\S")
