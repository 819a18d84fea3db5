"""Deceptive characters and escapes (RFC 3986 2, 7.2, 7.3; RFC 3987 4.1, 8)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from overthere.editions.whatwg import SPECIAL
from overthere.ground.display import name_of
from overthere.iri import INVISIBLE, JOINED
from overthere.kernel.percent import percent_decode
from overthere.schemes.model import Scheme
from overthere.security.parts import Place, Span, TextParts
from overthere.values.scheme_query import HALF_LINE_BREAK

__all__ = ["BIDI", "INVISIBLE", "devices", "dots", "find_escapes", "raw"]

# The property Bidi_Control (UAX #9 2): RFC 3987 4.1 names the seven of its day, the isolates came later.
BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_LETTER = f"[^\\x00-\\x9f{BIDI}{INVISIBLE}{JOINED}]"

_PLAIN = re.compile(r"[!-\[\]-~]*+")
_RAW = re.compile(
    rf"(?P<control>[\x00-\x1f\x7f-\x9f]++)|(?P<space>\ ++)|(?P<backslash>\\++)|(?P<bidi>[{BIDI}]++)"
    rf"|(?P<letters>(?:{_LETTER}[{JOINED}]*+)++)|(?P<invisible>[{INVISIBLE}{JOINED}]++)"
)
_CONTROLS = "".join(map(chr, range(0x21)))
_NO_LINES = dict.fromkeys(map(ord, "\t\n\r"))
_KIND_OF_RAW = {"letters": "non-ascii", "bidi": "bidi-control"}
_UNSEEN = re.compile(f"(?<![^\\x00-\\x7f])[{JOINED}]|[{BIDI}{INVISIBLE}]")


def raw(cut: TextParts) -> Iterator[Place]:
    """Characters that no URI holds but that are met all the same (2; RFC 3987 4.1), in runs of one kind."""
    if _PLAIN.fullmatch(cut.text):
        return
    for match in _RAW.finditer(cut.text):
        group = match.lastgroup or ""
        # Browsers take controls and spaces off before the scheme, and tabs and line ends out of it (URL Standard 4.4).
        if group == "backslash" and cut.scheme and cut.scheme.lstrip(_CONTROLS).translate(_NO_LINES) not in SPECIAL:
            group = "backslash-kept"
        yield Place(_KIND_OF_RAW.get(group, group), *match.span())


# -- escapes

_OVERLONG = (
    r"(?:%[cC][01]%[89aAbB][0-9a-fA-F]|%[eE]0%[89][0-9a-fA-F]%[89aAbB][0-9a-fA-F]"
    r"|%[fF]0%8[0-9a-fA-F](?:%[89aAbB][0-9a-fA-F]){2})"
)
_ALL_OVERLONG = re.compile(rf"{_OVERLONG}++")
_ESCAPE = re.compile(
    r"(?P<nul>(?:%00)++)|(?P<line>(?:%0[aAdD])++)|(?P<tab>(?:%09)++)"
    r"|(?P<control>(?:%(?:0[1-8bBcCeEfF]|1[0-9a-fA-F]|7[fF]))++)"
    r"|%25(?P<double>[0-9A-Fa-f]{2})|(?P<delimiter>%(?:2[fF]|5[cC]|3[aAfF]|23|40))"
    r"|(?P<high>(?:%[89a-fA-F][0-9a-fA-F])++)"
)
_FIELD = re.compile(r"(?<![^?&])([^=&#?]*+)=[^&#]*+")


def find_escapes(cut: TextParts) -> Iterator[Place]:
    """Escapes whose octets are delimiters or controls, and such as were encoded twice (7.2, 7.3, 2.4)."""
    if "%" not in cut.text or cut.is_content:  # any octets are content there (RFC 2397 2)
        return
    for component in ("userinfo", "host", "path", "query", "fragment"):
        span: Span | None = getattr(cut, component)
        # Between brackets a zone follows "%25" (RFC 6874 2).
        if span is None or (component == "host" and cut.text.startswith("[", span[0])):
            continue
        for start, end in _without_texts(cut, span) if component == "query" else (span,):
            for match in _ESCAPE.finditer(cut.text, start, end):
                place = _escape(cut.facts, component, match)
                if place is not None:
                    yield place
        if component == "query":
            yield from _half_line_breaks(cut, span)


def _half_line_breaks(cut: TextParts, span: Span) -> Iterator[Place]:
    """Half of a line break in a text of mail, whose lines are parted by "%0D%0A" (RFC 6068 5)."""
    done = span[0]
    for start, end in (*_without_texts(cut, span), (span[1], span[1])):
        for match in HALF_LINE_BREAK.finditer(cut.text, done, start):
            yield Place("encoded-line-alone", *match.span())
        done = end


def _without_texts(cut: TextParts, span: Span) -> Iterator[Span]:
    """Line ends belong in the body of a mailto URI (RFC 6068 5)."""
    done = span[0]
    if cut.facts is not None and cut.facts.text_parameters:
        for match in _FIELD.finditer(cut.text, *span):
            if match[1].lower() in cut.facts.text_parameters:
                yield done, match.start()
                done = match.end()
    yield done, span[1]


def _escape(facts: Scheme | None, component: str, match: re.Match[str]) -> Place | None:
    group, (start, end) = match.lastgroup, match.span()
    own = frozenset[int]() if facts is None else facts.own_octets
    if group == "double":
        octet = int(match["double"], 16)
        # A URI in a query is encoded twice by right.
        if component in ("query", "fragment"):
            return Place("double-encoding", start, end) if octet < 0x20 else None
        return Place("double-encoding", start, end)
    if group == "delimiter":
        return _delimiter(own, component, match[0].upper(), start, end)
    if group == "high":
        return _find_high_octets(match[0], start, end)
    if own.issuperset(percent_decode(match[0].encode())):
        return None
    if group == "line" and facts is not None and facts.lines:
        return Place("command-lines", start, end)
    return Place({"nul": "encoded-nul", "line": "encoded-line"}.get(group or "", "encoded-control"), start, end)


def _delimiter(own: frozenset[int], component: str, escape: str, start: int, end: int) -> Place | None:
    if component == "host":
        return Place("encoded-host-delimiter", start, end)
    if component == "userinfo" or (component == "path" and escape != "%40" and int(escape[1:], 16) not in own):
        return Place("encoded-delimiter", start, end)
    return None


def _find_high_octets(run: str, start: int, end: int) -> Place | None:
    # Legacy charsets have the octets C0 and C1 among others; a run of nothing else is meant for tolerant decoders.
    if _ALL_OVERLONG.fullmatch(run):
        return Place("overlong", start, end)
    unseen = _UNSEEN.search(percent_decode(run.encode()).decode("utf-8", "replace"))
    return None if unseen is None else Place("encoded-invisible", start, end, name_of(unseen[0]))


# -- dot-segments

_SLASH = r"(?:[/\\]|%2[fF]|%5[cC])"
_DOTS = re.compile(rf"(?:(?<=[/\\])|(?<=%2[fF])|(?<=%5[cC])|\A)(?:\.|%2[eE]){{1,2}}(?={_SLASH}|\Z)")


def dots(cut: TextParts) -> Iterator[Place]:
    """Segments "." and ".." that resolution has not removed, and those that decoding makes (6.2.2.2, 6.2.2.3)."""
    start, end = cut.path
    path = cut.text[start:end]
    if cut.is_content or not ("." in path or "%2e" in path.lower()):
        return
    # Relative references have them by right, and a path without "/" at its start need not be a hierarchy (3.3).
    final = (cut.scheme or cut.authority is not None) and path.startswith("/")
    for match in _DOTS.finditer(path):
        low, high = match.span()
        before, after = path[low - 1 : low] if low else "/", path[high : high + 1] or "/"
        place = start + low, start + high
        if "%" in match[0] or (before not in "/\\" and len(match[0]) == 2) or (after == "%" and len(match[0]) == 2):
            yield Place("dot-segments-encoded", *place)
        elif final and before in "/\\" and after in "/\\":
            yield Place("dot-segments", *place)


# 7.3 names "...", aux and lpt; the others are of Windows, where superscript digits count, and blanks at the end do not.
_DEVICE = re.compile(
    r"(?i)(?:con|prn|aux|nul|(?:com|lpt)[0-9\u00b9\u00b2\u00b3]?|clock\$|conin\$|conout\$) *(?:[.:]|\Z)"
)
_SEGMENT = re.compile(r"[^/\\]+")
_LONGEST = 64
"""So much of a segment is read: a device has a short name."""


def devices(cut: TextParts) -> Iterator[Place]:
    """Segments that a file system takes for a device (7.3), once they are decoded."""
    start, end = cut.path
    if cut.is_content or cut.scheme == "javascript" or not (cut.text.startswith("/", start) or not cut.scheme):
        return
    for match in _SEGMENT.finditer(cut.text, start, end):
        name = match[0][:_LONGEST]
        if "%" in name:
            name = percent_decode(name.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")
        if name == "..." or _DEVICE.match(name):
            yield Place("device-name", *match.span())


_FOREIGN = re.compile(f"[\\x00-\\x20\\x7f-\\x9f\\\\{BIDI}{INVISIBLE}]")


def foreign(text: str) -> bool:
    """Whether a text holds characters that `raw` tells and no IRI has."""
    return _FOREIGN.search(text) is not None
