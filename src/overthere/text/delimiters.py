"""URIs in angle brackets or double quotes (RFC 3986 Appendix C): white space and line marks are ignored.

1. The brackets end at the next bracket or at an empty line; quotes cannot contain brackets.
2. A ">" or "|" at the start of a line is the mark of quoted mail.  After a line that begins with such marks, as many
   are ignored; otherwise one, and only if the text up to the closing bracket has no white space.
3. Between brackets all white space is ignored.  Between quotes a line break is ignored, but not a blank within a line:
   quotes also enclose prose and commands.
4. If another URI follows white space, the delimiters do not enclose one URI: `<GET http://h/x>`, `"http://a/ http://b/"`.
   Their content is then read like any other text, in which white space delimits.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from overthere.ground.redact import hides_secrets
from overthere.text.names import Names, names


@hides_secrets
class DelimitedText(NamedTuple):
    """The text between a pair of delimiters."""

    reference: str
    """Without white space, line marks, and the prefix "URL:"."""
    start: int
    """The offset of the first character of the reference; `end` is that of its last character plus one."""
    end: int
    closed: int
    """The end of the closing delimiter."""
    delimiter: str
    prefixed: bool
    broken: bool
    """Whether it contained white space."""
    alternative: str | None
    """The reference without the hyphens at its line ends."""


_PREFIX = re.compile(r"\s*+((?i:url):\s*+)?+")
_BREAK = r"(?:\r\n?|\n)"
_HYPHEN = re.compile(rf"-[^\S\r\n]*+{_BREAK}\s*+")
_ONE_LINE = {"<": re.compile(r"<([^<>\r\n]*+)>"), '"': re.compile(r'"([^<>"\r\n]*+)"')}
_MAX_MARKS = 20
_MARKS = re.compile(rf"[ \t]{{0,80}}+((?:[>|][ \t]?+){{1,{_MAX_MARKS}}}+)")
# Rule 2 for a first line without a mark.
_UNMARKED_FIRST_LINE = re.compile(rf"<([^<>\r\n]*+(?:{_BREAK}[>|][ \t]?+[^\s<>]*+)++)>")


@cache
def _multiline(opening: str, marks: int) -> re.Pattern[str]:
    """Return a pattern for several non-empty lines, each after at most `marks` marks."""
    inside = r"[^<>\r\n]*+" if opening == "<" else r'[^<>"\r\n]*+'
    mark = rf"(?:[ \t]*+[>|]){{0,{marks}}}+" if marks else "(?:[ \\t]*+[|])?+"
    return re.compile(
        rf"{opening}({inside}(?:{_BREAK}{mark}(?![ \t]*+[\r\n]){inside})++){'>' if opening == '<' else opening}"
    )


@cache
def _line_marks(marks: int) -> re.Pattern[str]:
    return re.compile(rf"({_BREAK})(?:[ \t]*+[>|]){{1,{marks}}}+")


def read_delimited(text: str, at: int, line: int, schemes: Names | None = None) -> DelimitedText | None:
    """Read the text between the delimiter at `at` and its partner; None if there is no partner.

    line: where the line of the delimiter begins; schemes: the known ones, by default those of the default registry.

    >>> read_delimited("> <http://h/a-\\n> b>", 2, 0).reference
    'http://h/a-b'
    """
    opening, marks = text[at], 1
    match = _ONE_LINE[opening].match(text, at)
    if match is None:
        quoted = _MARKS.match(text, line, at)
        marks = sum(map(quoted[1].count, ">|")) if quoted else 0
        if marks:
            match = _multiline(opening, marks).match(text, at)
        elif opening == "<":
            match = _UNMARKED_FIRST_LINE.match(text, at)
        match = match or _multiline(opening, 0).match(text, at)
        marks = marks or 1
        if match is None:
            return None
    return _read(text, match, opening, marks, schemes or names())


def _read(text: str, match: re.Match[str], opening: str, marks: int, schemes: Names) -> DelimitedText | None:
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
        (opening == '"' and _BLANK.search(inside) is not None) or any(_is_uri(piece, schemes) for piece in pieces[1:])
    ):
        return None
    reference = "".join(pieces)
    without_hyphens = "".join(_HYPHEN.sub("", lines).split()) if broken else reference
    return DelimitedText(
        reference, start, end, match.end(), "<>" if opening == "<" else '""',
        prefix[1] is not None, len(pieces) > 1, None if without_hyphens == reference else without_hyphens,
    )  # fmt: skip


_URI_START = re.compile(r"[^\w\s]*+([A-Za-z][A-Za-z0-9+.-]++):(//[^\s/?#])?+")


def _is_uri(piece: str, schemes: Names) -> bool:
    """Rule 4: whether a URI begins with a piece that follows white space."""
    match = _URI_START.match(piece)
    if match is None:
        return False
    shape = None if match[2] else schemes.shape_of(match[1].lower())
    return bool(match[2]) or (shape is not None and shape.match(piece, match.end()) is not None)


_BLANK = re.compile(r"\S[^\S\r\n]++\S")
