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

# The property Bidi_Control (UAX #9 2): RFC 3987 4.1 names the seven of its time; the isolates were added later.
BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_LETTER = f"[^\\x00-\\x9f{BIDI}{INVISIBLE}{JOINED}]"

_PLAIN = re.compile(r"[!-\[\]-~]*+")
_RAW = re.compile(
    rf"(?P<control>[\x00-\x1f\x7f-\x9f]++)|(?P<space>\ ++)|(?P<backslash>\\++)|(?P<bidi>[{BIDI}]++)"
    rf"|(?P<letters>(?:{_LETTER}[{JOINED}]*+)++)|(?P<invisible>[{INVISIBLE}{JOINED}]++)"
)
_CONTROLS = "".join(map(chr, range(0x21)))
_BREAKS = dict.fromkeys(map(ord, "\t\n\r"))
_KIND_BY_GROUP = {"letters": "non-ascii", "bidi": "bidi-control"}
_INVISIBLE = re.compile(f"(?<![^\\x00-\\x7f])[{JOINED}]|[{BIDI}{INVISIBLE}]")


def raw(parts: TextParts) -> Iterator[Place]:
    """Yield characters that a URI cannot hold but that occur in practice (2; RFC 3987 4.1), in runs of one kind."""
    if _PLAIN.fullmatch(parts.text):
        return
    for match in _RAW.finditer(parts.text):
        group = match.lastgroup or ""
        # Browsers drop controls and spaces before the scheme, and tabs and line ends inside of it (URL Standard 4.4).
        if group == "backslash" and parts.scheme and parts.scheme.lstrip(_CONTROLS).translate(_BREAKS) not in SPECIAL:
            group = "backslash-kept"
        yield Place(_KIND_BY_GROUP.get(group, group), *match.span())


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


def find_escapes(parts: TextParts) -> Iterator[Place]:
    """Yield escapes of delimiters and controls, and those that were encoded twice (7.2, 7.3, 2.4)."""
    if "%" not in parts.text or parts.is_content:  # content may have any octets (RFC 2397 2)
        return
    for component in ("userinfo", "host", "path", "query", "fragment"):
        span: Span | None = getattr(parts, component)
        # Between brackets "%25" begins a zone (RFC 6874 2).
        if span is None or (component == "host" and parts.text.startswith("[", span[0])):
            continue
        for start, end in _without_texts(parts, span) if component == "query" else (span,):
            for match in _ESCAPE.finditer(parts.text, start, end):
                place = _escape(parts.facts, component, match)
                if place is not None:
                    yield place
        if component == "query":
            yield from _half_line_breaks(parts, span)


def _half_line_breaks(parts: TextParts, span: Span) -> Iterator[Place]:
    """Yield each half of a line break in texts of mail, whose lines are separated by "%0D%0A" (RFC 6068 5)."""
    previous_end = span[0]
    for start, end in (*_without_texts(parts, span), (span[1], span[1])):
        for match in HALF_LINE_BREAK.finditer(parts.text, previous_end, start):
            yield Place("encoded-line-alone", *match.span())
        previous_end = end


def _without_texts(parts: TextParts, span: Span) -> Iterator[Span]:
    """Yield the span without the parameters that are texts: the body of a mailto URI has line ends (RFC 6068 5)."""
    previous_end = span[0]
    if parts.facts is not None and parts.facts.text_parameters:
        for match in _FIELD.finditer(parts.text, *span):
            if match[1].lower() in parts.facts.text_parameters:
                yield previous_end, match.start()
                previous_end = match.end()
    yield previous_end, span[1]


def _escape(facts: Scheme | None, component: str, match: re.Match[str]) -> Place | None:
    group, (start, end) = match.lastgroup, match.span()
    allowed = frozenset[int]() if facts is None else facts.own_octets
    if group == "double":
        octet = int(match["double"], 16)
        # In a query a URI is rightly encoded twice.
        if component in ("query", "fragment"):
            return Place("double-encoding", start, end) if octet < 0x20 else None
        return Place("double-encoding", start, end)
    if group == "delimiter":
        return _delimiter(allowed, component, match[0].upper(), start, end)
    if group == "high":
        return _find_high_octets(match[0], start, end)
    if allowed.issuperset(percent_decode(match[0].encode())):
        return None
    if group == "line" and facts is not None and facts.lines:
        return Place("command-lines", start, end)
    return Place({"nul": "encoded-nul", "line": "encoded-line"}.get(group or "", "encoded-control"), start, end)


def _delimiter(allowed: frozenset[int], component: str, escape: str, start: int, end: int) -> Place | None:
    if component == "host":
        return Place("encoded-host-delimiter", start, end)
    if component == "userinfo" or (component == "path" and escape != "%40" and int(escape[1:], 16) not in allowed):
        return Place("encoded-delimiter", start, end)
    return None


def _find_high_octets(run: str, start: int, end: int) -> Place | None:
    # Texts in legacy charsets have C0 and C1 among other octets; a run of them alone targets tolerant decoders.
    if _ALL_OVERLONG.fullmatch(run):
        return Place("overlong", start, end)
    invisible = _INVISIBLE.search(percent_decode(run.encode()).decode("utf-8", "replace"))
    return None if invisible is None else Place("encoded-invisible", start, end, name_of(invisible[0]))


# -- dot-segments

_SLASH = r"(?:[/\\]|%2[fF]|%5[cC])"
_DOTS = re.compile(rf"(?:(?<=[/\\])|(?<=%2[fF])|(?<=%5[cC])|\A)(?:\.|%2[eE]){{1,2}}(?={_SLASH}|\Z)")


def dots(parts: TextParts) -> Iterator[Place]:
    """Yield segments "." and ".." that resolution keeps, and those that appear after decoding (6.2.2.2, 6.2.2.3)."""
    start, end = parts.path
    path = parts.text[start:end]
    if parts.is_content or not ("." in path or "%2e" in path.lower()):
        return
    # Relative references may have them, and a path without "/" at its start is not always a hierarchy (3.3).
    is_absolute = (parts.scheme or parts.authority is not None) and path.startswith("/")
    for match in _DOTS.finditer(path):
        low, high = match.span()
        before, after = path[low - 1 : low] if low else "/", path[high : high + 1] or "/"
        place = start + low, start + high
        if "%" in match[0] or (before not in "/\\" and len(match[0]) == 2) or (after == "%" and len(match[0]) == 2):
            yield Place("dot-segments-encoded", *place)
        elif is_absolute and before in "/\\" and after in "/\\":
            yield Place("dot-segments", *place)


# 7.3 names "...", aux and lpt; the others are of Windows: superscript digits count, and blanks at the end do not.
_DEVICE = re.compile(
    r"(?i)(?:con|prn|aux|nul|(?:com|lpt)[0-9\u00b9\u00b2\u00b3]?|clock\$|conin\$|conout\$) *(?:[.:]|\Z)"
)
_SEGMENT = re.compile(r"[^/\\]+")
_MAX_DEVICE_LENGTH = 64
"""Characters read of a segment: a device has a short name."""


def devices(parts: TextParts) -> Iterator[Place]:
    """Yield segments that a file system takes for a device once they are decoded (7.3)."""
    start, end = parts.path
    if parts.is_content or parts.scheme == "javascript" or not (parts.text.startswith("/", start) or not parts.scheme):
        return
    for match in _SEGMENT.finditer(parts.text, start, end):
        name = match[0][:_MAX_DEVICE_LENGTH]
        if "%" in name:
            name = percent_decode(name.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")
        if name == "..." or _DEVICE.match(name):
            yield Place("device-name", *match.span())


_FOREIGN = re.compile(f"[\\x00-\\x20\\x7f-\\x9f\\\\{BIDI}{INVISIBLE}]")


def foreign(text: str) -> bool:
    """Whether a text holds characters that `raw` reports and that an IRI cannot have."""
    return _FOREIGN.search(text) is not None
