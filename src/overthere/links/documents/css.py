"""References in style sheets: url(), src(), image-set(), @import (CSS Syntax 3; CSS Values 4 4.5; CSS Cascade 4 2).

Only tokens that contain or could hide a reference are recognized; the text between them is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from overthere.links.documents.charset import decode_text
from overthere.links.model import Document, Found, Note, Options

PAINTED = frozenset(
    ["clip-path", "cursor", "fill", "filter", "marker", "marker-end", "marker-mid", "marker-start", "mask", "stroke"]
)
"""Properties of SVG whose presentation attributes may hold url() (SVG 2 6.6)."""

# The productions of CSS Syntax 3 4.2, for text whose line ends may still be CR, CRLF or FF (3.3).
_SPACE = " \t\r\n\f"
_BLANK = r"[ \t\r\n\f]"
_ESCAPE = rf"\\(?:[0-9a-f]{{1,6}}+(?:\r\n|{_BLANK})?+|[^0-9a-f\r\n\f])"
_CHAR = rf"(?:[-\w]|[^\x00-\x7f]|{_ESCAPE})"
_COMMENT = r"/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z)"
_GAP = rf"(?:{_BLANK}|{_COMMENT})*+"


def _word(name: str) -> str:
    """Return the pattern of an identifier, whose letters may be escaped (4.3.7)."""
    pieces = []
    for letter in name:
        itself = letter if letter in "abcdef" else rf"\\?{letter}"
        code = rf"\\0{{0,4}}(?:{ord(letter):x}|{ord(letter.upper()):x})(?:\r\n|{_BLANK})?"
        pieces.append(f"(?:{itself}|{code})")
    return "".join(pieces)


def _string(group: str) -> str:
    """Return the pattern of a string up to its quote, an unescaped line end, or the end of the text (4.3.5)."""
    escape = rf"{_ESCAPE}|\\(?:\r\n|[\r\n\f]|\Z)"
    return "|".join(
        rf"{quote}(?P<{group}{number}>(?:[^{quote}\\\r\n\f]++|{escape})*+){quote}?+"
        for number, quote in enumerate("\"'")
    ).join(("(?:", ")"))


def _url(group: str) -> str:
    """Return the pattern of url(): a function with a string, a url token, or a bad url (4.3.6, 4.3.14)."""
    token = rf"(?P<{group}2>(?:[^\x00-\x20\x7f\"'()\\]++|{_ESCAPE})*+)"
    bad_url = r"(?:[^)\\]++|\\.?+)*+\)?+"
    return rf"{_word('url')}\({_BLANK}*+(?:(?=[\"']){_string(group)}|{token}(?:{_BLANK}*+(?:\)|\Z)|{bad_url}))"


# Directly after a name, a number, "#" or "@" no new token starts.
_START = r"(?<![-\w#@])(?<![^\x00-\x7f])"
_SRC = rf"{_word('src')}\({_GAP}"
_TOKENS = [
    rf"(?P<import>@{_word('import')}(?!{_CHAR}){_GAP}(?:{_url('i')}|{_SRC}(?:{_string('j')})?|{_string('k')})?)",
    rf"@{_word('namespace')}(?!{_CHAR})(?:{_GAP}(?!{_word('url')}\(){_CHAR}++)?{_GAP}(?:{_url('n')}|{_string('m')})?",
    rf"{_START}(?P<url>{_url('u')})",
    rf"{_START}(?P<src>{_SRC}(?:{_string('r')})?)",
    rf"{_START}(?P<set>(?:-{_word('webkit')}-)?{_word('image')}(?:-{_word('set')})?\()",
    _COMMENT,
    rf"(?P<string>{_string('s')})",
    rf"{_ESCAPE}{_CHAR}*+",
]
_FLAGS = re.IGNORECASE | re.ASCII | re.DOTALL


@cache
def _token_pattern(in_image_set: bool) -> re.Pattern[str]:
    """Return the pattern of all tokens, in an image-set or outside; it is compiled on first use, because that is slow.

    Its lookahead checks the first character once, not in each alternative.
    """
    if in_image_set:
        return re.compile(rf"(?=[@usi\-\\/\"'()])(?:{'|'.join(_TOKENS)}|(?P<open>\()|(?P<close>\)))", _FLAGS)
    return re.compile(rf"(?=[@usi\-\\/\"'])(?:{'|'.join(_TOKENS)})", _FLAGS)


# The groups that may contain the reference of each token.
_VALUE_GROUPS = {"import": ("i0", "i1", "i2", "j0", "j1", "k0", "k1"), "url": ("u0", "u1", "u2"), "src": ("r0", "r1")}
_VALUE_GROUPS["string"] = ("s0", "s1")
_PLACES = {"import": "@import", "url": "url()", "src": "src()", "string": "image-set()"}

_ESCAPE_SEQUENCE = re.compile(rf"\\(?:([0-9a-f]{{1,6}})(?:\r\n|{_BLANK})?|(\r\n|[\r\n\f])|(.))?", _FLAGS)
_CHARSET = re.compile(rb'@charset "([^"]{1,64})";')


def decode(document: Document) -> tuple[str, bool]:
    """Return the text of a style sheet, and whether its charset is wrong.

    The charset is that of the byte order mark, otherwise the declared one, otherwise that of an `@charset` that begins
    the text (CSS Syntax 3 3.2), otherwise UTF-8.
    """
    charset = document.charset
    if charset is None and (rule := _CHARSET.match(document.content)):
        # A declaration that is readable as US-ASCII is not in UTF-16.
        charset = rule[1].decode("ascii", "replace")
        charset = "utf-8" if charset.lower().startswith("utf-16") else charset
    return decode_text(document.content, charset)


def read(document: Document, options: Options) -> Iterator[Found | Note]:
    """Yield the references of a style sheet, in its order."""
    text, is_wrong = decode(document)
    if is_wrong:
        yield Note("wrong-charset")
    for place, reference in inline(text):
        yield Found(place, reference)


def inline(text: str) -> Iterator[tuple[str, str]]:
    """Yield the references of a style sheet or a `style` attribute, each after its place, such as "url()".

    Escapes are decoded.  These are not references: an empty url (CSS Values 4 4.5.2), a bad url or string, and the name
    that `@namespace` declares.

    >>> list(inline('@import "a.css"; p { background: url( b\\\\29 .png ) }'))
    [('@import', 'a.css'), ('url()', 'b).png')]
    """
    return ((place, reference) for place, reference, _ in with_places(text))


def with_places(text: str) -> Iterator[tuple[str, str, tuple[int, int]]]:
    """Yield the same references, each with the span of its text, escapes included.

    >>> list(with_places("a { b: url( 'c' ) }"))
    [('url()', 'c', (13, 14))]
    """
    depth, set_depths = 0, [0]  # open parentheses from the first image-set() on; the depths of all open image-set()
    at = 0
    text = text.replace("\0", "\ufffd")  # 3.3
    token_pattern = _token_pattern(in_image_set=False)
    while match := token_pattern.search(text, at):
        at = match.end()
        kind = match.lastgroup
        if kind == "set":
            depth += 1
            set_depths.append(depth)
            token_pattern = _token_pattern(in_image_set=True)
        elif kind == "close":
            if depth == set_depths[-1]:
                set_depths.pop()
            depth -= 1
            token_pattern = _token_pattern(depth > 0)
        elif kind == "open":
            depth += 1
        elif kind in _VALUE_GROUPS:
            # The ")" of a function is a token of its own; a url() with a string is one (CSS Syntax 3 4.3.4).
            if depth and (kind == "src" or match["u0"] is not None or match["u1"] is not None):
                depth += 1
            if kind == "string" and not (depth and depth == set_depths[-1]):
                continue
            reference, span = _read_reference(match, _VALUE_GROUPS[kind])
            if reference:
                yield _PLACES[kind], reference, span


def _read_reference(match: re.Match[str], groups: tuple[str, ...]) -> tuple[str, tuple[int, int]]:
    """Return the reference in a token and its span; "" if the token is bad."""
    group = next((group for group in groups if match[group] is not None), None)
    if group is None:
        return "", (0, 0)
    token_end = match.string[match.end(group) : match.end()].strip(_SPACE)
    if token_end != {"0": '"', "1": "'", "2": ")"}[group[1]] and (token_end or match.end() < len(match.string)):
        return "", (0, 0)
    value = match[group]
    return (_ESCAPE_SEQUENCE.sub(_decode_escape, value) if "\\" in value else value).strip(_SPACE), match.span(group)


def _decode_escape(match: re.Match[str]) -> str:
    digits, _, itself = match.groups()
    if digits is None:
        return itself or ""  # an escaped line end is removed
    code = int(digits, 16)
    return chr(code) if 0 < code < 0xD800 or 0xDFFF < code < 0x110000 else "\ufffd"
