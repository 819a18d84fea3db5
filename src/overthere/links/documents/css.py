"""References in style sheets: url(), src(), image-set(), @import (CSS Syntax 3; CSS Values 4 4.5; CSS Cascade 4 2).

Only the tokens are made that hold a reference or could hide one; what is between them is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from overthere.links.documents.charset import decode_text
from overthere.links.model import Document, Found, Note, Options

__all__ = ["PAINTED", "inline", "with_places", "read"]

PAINTED = frozenset(
    ["clip-path", "cursor", "fill", "filter", "marker", "marker-end", "marker-mid", "marker-start", "mask", "stroke"],
)
"""Properties of SVG whose presentation attributes may hold url() (SVG 2 6.6)."""

# The productions of CSS Syntax 3 4.2, for text whose line ends may still be CR, CRLF or FF (3.3).
_SPACE = " \t\r\n\f"
_WHITE = r"[ \t\r\n\f]"
_ESCAPE = rf"\\(?:[0-9a-f]{{1,6}}+(?:\r\n|{_WHITE})?+|[^0-9a-f\r\n\f])"
_NAME = rf"(?:[-\w]|[^\x00-\x7f]|{_ESCAPE})"
_COMMENT = r"/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z)"
_GAP = rf"(?:{_WHITE}|{_COMMENT})*+"


def _word(name: str) -> str:
    """An identifier whose letters may be escaped (4.3.7)."""
    pieces = []
    for letter in name:
        itself = letter if letter in "abcdef" else rf"\\?{letter}"
        code = rf"\\0{{0,4}}(?:{ord(letter):x}|{ord(letter.upper()):x})(?:\r\n|{_WHITE})?"
        pieces.append(f"(?:{itself}|{code})")
    return "".join(pieces)


def _string(group: str) -> str:
    """A string to its quote, to the line end that breaks it, or to the end of the text (4.3.5)."""
    escape = rf"{_ESCAPE}|\\(?:\r\n|[\r\n\f]|\Z)"
    return "|".join(
        rf"{quote}(?P<{group}{number}>(?:[^{quote}\\\r\n\f]++|{escape})*+){quote}?+"
        for number, quote in enumerate("\"'")
    ).join(("(?:", ")"))


def _url(group: str) -> str:
    """url(): a function around a string, a url token, or what is left of a bad one (4.3.6, 4.3.14)."""
    token = rf"(?P<{group}2>(?:[^\x00-\x20\x7f\"'()\\]++|{_ESCAPE})*+)"
    left = r"(?:[^)\\]++|\\.?+)*+\)?+"
    return rf"{_word('url')}\({_WHITE}*+(?:(?=[\"']){_string(group)}|{token}(?:{_WHITE}*+(?:\)|\Z)|{left}))"


# What follows a name, a number, "#" or "@" is part of that token.
_START = r"(?<![-\w#@])(?<![^\x00-\x7f])"
_SRC = rf"{_word('src')}\({_GAP}"
_TOKENS = [
    rf"(?P<import>@{_word('import')}(?!{_NAME}){_GAP}(?:{_url('i')}|{_SRC}(?:{_string('j')})?|{_string('k')})?)",
    rf"@{_word('namespace')}(?!{_NAME})(?:{_GAP}(?!{_word('url')}\(){_NAME}++)?{_GAP}(?:{_url('n')}|{_string('m')})?",
    rf"{_START}(?P<url>{_url('u')})",
    rf"{_START}(?P<src>{_SRC}(?:{_string('r')})?)",
    rf"{_START}(?P<set>(?:-{_word('webkit')}-)?{_word('image')}(?:-{_word('set')})?\()",
    _COMMENT,
    rf"(?P<string>{_string('s')})",
    rf"{_ESCAPE}{_NAME}*+",
]
_FLAGS = re.IGNORECASE | re.ASCII | re.DOTALL


@cache
def _tokens(inside: bool) -> re.Pattern[str]:
    """What is looked for, in an image-set or outside of one; compiled when there is a style sheet, for it takes long.

    The first characters are looked at once, not by each alternative.
    """
    if inside:
        return re.compile(rf"(?=[@usi\-\\/\"'()])(?:{'|'.join(_TOKENS)}|(?P<open>\()|(?P<close>\)))", _FLAGS)
    return re.compile(rf"(?=[@usi\-\\/\"'])(?:{'|'.join(_TOKENS)})", _FLAGS)


# Where each token has its reference.
_GROUPS = {"import": ("i0", "i1", "i2", "j0", "j1", "k0", "k1"), "url": ("u0", "u1", "u2"), "src": ("r0", "r1")}
_GROUPS["string"] = ("s0", "s1")
_WHERE = {"import": "@import", "url": "url()", "src": "src()", "string": "image-set()"}

_ESCAPED = re.compile(rf"\\(?:([0-9a-f]{{1,6}})(?:\r\n|{_WHITE})?|(\r\n|[\r\n\f])|(.))?", _FLAGS)
_CHARSET = re.compile(rb'@charset "([^"]{1,64})";')


def read(document: Document, options: Options) -> Iterator[Found | Note]:
    """The references of a style sheet, in its order.

    The charset is that of the byte order mark, else as told, else of an `@charset` that begins the text (CSS Syntax 3
    3.2), else UTF-8.
    """
    told = document.charset
    if told is None and (rule := _CHARSET.match(document.content)):
        # What declares itself in US-ASCII is not UTF-16.
        told = rule[1].decode("ascii", "replace")
        told = "utf-8" if told.lower().startswith("utf-16") else told
    text, wrong = decode_text(document.content, told)
    if wrong:
        yield Note("wrong-charset")
    for where, reference in inline(text):
        yield Found(where, reference)


def inline(text: str) -> Iterator[tuple[str, str]]:
    """Where and what the references of a style sheet or a `style` attribute are.

    Escapes are undone. What CSS gives no meaning is no reference: an empty url (CSS Values 4 4.5.2), a bad url or
    string; the name that `@namespace` declares is none either.

    >>> list(inline('@import "a.css"; p { background: url( b\\\\29 .png ) }'))
    [('@import', 'a.css'), ('url()', 'b).png')]
    """
    return ((where, reference) for where, reference, _ in with_places(text))


def with_places(text: str) -> Iterator[tuple[str, str, tuple[int, int]]]:
    """The same, each with the place of what is written there.

    >>> list(with_places("a { b: url( 'c' ) }"))
    [('url()', 'c', (13, 14))]
    """
    depth, sets = 0, [0]  # open parentheses since the first image-set(), and at which depths there is one
    at = 0
    tokens = _tokens(inside=False)
    while match := tokens.search(text, at):
        at = match.end()
        kind = match.lastgroup
        if kind == "set":
            depth += 1
            sets.append(depth)
            tokens = _tokens(inside=True)
        elif kind == "close":
            if depth == sets[-1]:
                sets.pop()
            depth -= 1
            tokens = _tokens(depth > 0)
        elif kind == "open":
            depth += 1
        elif kind in _GROUPS:
            if kind == "src" and depth:
                depth += 1
            if kind == "string" and not (depth and depth == sets[-1]):
                continue
            reference, place = _reference(match, _GROUPS[kind])
            if reference:
                yield _WHERE[kind], reference, place


def _reference(match: re.Match[str], groups: tuple[str, ...]) -> tuple[str, tuple[int, int]]:
    """The reference in a token and its place; "" if it is bad."""
    group = next((group for group in groups if match[group] is not None), None)
    if group is None:
        return "", (0, 0)
    rest = match.string[match.end(group) : match.end()].strip(_SPACE)
    if rest != {"0": '"', "1": "'", "2": ")"}[group[1]] and (rest or match.end() < len(match.string)):
        return "", (0, 0)
    value = match[group]
    return (_ESCAPED.sub(_character, value) if "\\" in value else value).strip(_SPACE), match.span(group)


def _character(match: re.Match[str]) -> str:
    digits, _, itself = match.groups()
    if digits is None:
        return itself or ""  # a line end that is escaped is not there
    code = int(digits, 16)
    return chr(code) if 0 < code < 0xD800 or 0xDFFF < code < 0x110000 else "\ufffd"
