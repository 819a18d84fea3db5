"""Header fields of messages, unfolded: comments, parameters, identifiers, URIs (RFC 5322, RFC 2045, RFC 2231)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count, takewhile
from urllib.parse import unquote_to_bytes

from overthere.ground import charsets
from overthere.mail.words import words

EXTERNAL = "message/external-body"
"""The media type of a part whose body is elsewhere; the part contains that body's header (RFC 2046 5.2.3)."""
_MAX_VALUE = 1 << 16
"""The number of bytes of a field's value that are read; the rest is ignored."""
_TYPE = re.compile(r"\s*+([!#$%&'*+\-.^_`{|}~0-9A-Za-z]++)\s*+/\s*+([!#$%&'*+\-.^_`{|}~0-9A-Za-z]++)\s*+(?:[;(]|$)")
_PARAMETER = re.compile(r';\s*+([^\s;="]++)\s*+=\s*+("(?:[^"\\]|\\.)*+"|[^\s;]*+)', re.DOTALL)
_SECTION = re.compile(r"([^*]++)\*(?:([0-9]{1,4})(\*?))?")
_CHARSET = re.compile(r"([^']*+)'[^']*+'")
_QUOTED_PAIR = re.compile(r"\\(.)", re.DOTALL)
_ANGLES = re.compile(r"<([^<>]*+)>")
_OUTSIDE_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*+"|\\.|\(', re.DOTALL)
_INSIDE_COMMENT = re.compile(r"\\.|[()]", re.DOTALL)
_COMMENT_START = re.compile(r"\s\(")
# RFC 2369 3, RFC 5064 2: fields whose values are URIs in angle brackets.
_URI_NAMES = "List-Help", "List-Subscribe", "List-Unsubscribe", "List-Post", "List-Owner", "List-Archive", "Archived-At"
_URIS = {name.lower().encode(): name for name in _URI_NAMES}
_BASES = {b"content-base": "Content-Base", b"content-location": "Content-Location"}
_MISSPELT_ENCODINGS = {
    "7bits": "7bit", "7-bit": "7bit", "7-bits": "7bit", "7 bit": "7bit",
    "8bits": "8bit", "8-bit": "8bit", "8-bits": "8bit", "8 bit": "8bit",
    "quotedprintable": "quoted-printable", "quoted_printable": "quoted-printable",
    "quoted printable": "quoted-printable", "base-64": "base64", "base_64": "base64", "base 64": "base64",
}  # fmt: skip
"""Misspelt names of transfer encodings -> the only one of RFC 2045 6.1 that each can mean."""
_MIME = (b"content-type", b"content-transfer-encoding", b"content-id", b"message-id")
_FIELDS = re.compile(
    rb"^(%s)[ \t]*+:((?:[^\n]*+\n[ \t])*+[^\n]*+)" % b"|".join((*_MIME, *_BASES, *_URIS)), re.IGNORECASE | re.MULTILINE
)


class Header:
    """A header and the fields in it that describe the body (RFC 2045 3); of fields with one name, the first counts.

    blank: the empty line after the header, or b"".
    broken: whether the header ends where a header cannot end.
    default: the media type if the header has none (RFC 2045 5.2; RFC 2046 5.1.5).
    """

    def __init__(self, raw: bytes = b"", blank: bytes = b"", broken: bool = False, default: str = "") -> None:
        self.raw: bytes = raw
        self.blank: bytes = blank
        self.broken: bool = broken
        # RFC 5322 2.2.3: unfolded.
        self.is_cut: bool = len(raw) > _MAX_VALUE and any(len(match[2]) > _MAX_VALUE for match in _FIELDS.finditer(raw))
        """Whether a value is longer than the part of it that is read."""
        values = ((match[1].lower(), match[2][:_MAX_VALUE].translate(None, b"\r\n")) for match in _FIELDS.finditer(raw))
        self.fields: list[tuple[bytes, str]] = [
            (name, value.decode("utf-8", "surrogateescape").strip()) for name, value in values
        ]
        first = dict(reversed(self.fields))
        self.parameters: dict[str, str]
        media_type, self.parameters = _content_type(first.get(b"content-type", ""))
        self.media_type: str
        self.has_media_type: bool
        self.media_type, self.has_media_type = media_type or default, bool(media_type)
        encoding = remove_comments(first.get(b"content-transfer-encoding", "")).strip().lower()
        self.encoding: str = _MISSPELT_ENCODINGS.get(encoding, encoding)
        self.is_misspelt: bool = encoding in _MISSPELT_ENCODINGS
        """Whether the transfer encoding is a misspelling of one of RFC 2045 6.1."""
        self.message_id: bytes = _identifier(first.get(b"message-id", ""))
        self.content_id: bytes = _identifier(first.get(b"content-id", ""))
        self.bases: tuple[tuple[str, str], ...] = tuple((_BASES[name], first[name]) for name in _BASES if name in first)
        """The fields that establish a base: name and value as written."""
        self.charset: str | None = self.parameters.get("charset", "").strip().lower() or None
        self.start: bytes = _identifier(self.parameters.get("start", ""))
        """The Content-ID of the root of multipart/related (RFC 2387 3.2)."""
        boundary = self.parameters.get("boundary", "") if self.media_type.startswith("multipart/") else ""
        self.boundary: bytes = boundary.rstrip().encode("utf-8", "surrogateescape")
        self.content_ids: tuple[bytes, ...] = tuple(
            filter(None, dict.fromkeys((self.content_id, unquote_to_bytes(self.content_id))))
        )
        """The ids that cid: may name; in RFC 2392 2, cid:foo4%25foo1@bar.net names <foo4%25foo1@bar.net> too."""

    @property
    def location(self) -> str:
        """The Content-Location."""
        return next((uri(value) for name, value in self.bases if name == "Content-Location"), "")

    @property
    def media_type_text(self) -> str:
        """The media type with its parameters (RFC 2045 5.1)."""
        quoted = ((name, re.sub(r'(["\\])', r"\\\1", text)) for name, text in self.parameters.items())
        return "; ".join((self.media_type, *(f'{name}="{text}"' for name, text in quoted)))

    @property
    def uris(self) -> Iterator[tuple[str, str]]:
        """Pairs of field name and reference; white space in a reference is from folding (RFC 2369 2; RFC 2017 3.1)."""
        for name, value in self.fields:
            if name in _URIS:
                for match in _ANGLES.finditer(value):
                    yield _URIS[name], "".join(match[1].split())
            elif name == b"content-type" and "external-body" in value.lower():
                media_type, values = _content_type(value)
                if media_type == EXTERNAL and values.get("access-type", "").lower() == "url" and "url" in values:
                    yield "Content-Type URL", "".join(values["url"].split())


def _content_type(value: str) -> tuple[str, dict[str, str]]:
    text = remove_comments(value)
    match = _TYPE.match(text)
    return (f"{match[1]}/{match[2]}".lower(), parameters(text)) if match else ("", {})


def parameters(value: str) -> dict[str, str]:
    """Return the parameters of a Content-Type without comments, names in lower case; of one name the first counts.

    Continued parameters are joined, up to the first missing section, and decoded by their charset (RFC 2231 3 and 4).

    >>> parameters("a/b; Charset=x; n*0*=utf-8'en'%C3; n*1*=%A9%20; n*2=\\"%20 \\\\\\"\\"; n*4=no; m*='''")
    {'charset': 'x', 'n': 'é %20 "', 'm': "'"}
    """
    values: dict[str, str] = {}
    continued: dict[str, dict[int, tuple[str, bool]]] = {}
    for match in _PARAMETER.finditer(value):
        name, text = match[1].lower(), match[2]
        if len(text) > 1 and text[0] == text[-1] == '"':
            text = _QUOTED_PAIR.sub(r"\1", text[1:-1])
        section = _SECTION.fullmatch(name)
        if section is None:
            values.setdefault(name, text)
        else:
            escaped = section[2] is None or bool(section[3])
            continued.setdefault(section[1], {}).setdefault(int(section[2] or 0), (text, escaped))
    for name, sections in continued.items():
        if 0 in sections:
            values.setdefault(name, _join_sections(sections))
    return values


def _join_sections(sections: dict[int, tuple[str, bool]]) -> str:
    data, charset = bytearray(), "utf-8"
    for number in takewhile(sections.__contains__, count()):
        text, escaped = sections[number]
        if not number and escaped and (prefix := _CHARSET.match(text)) is not None:
            charset, text = prefix[1] or charset, text[prefix.end() :]
        encoded = text.encode("utf-8", "surrogateescape")
        data += unquote_to_bytes(encoded) if escaped else encoded
    try:
        return charsets.text(bytes(data), charset)
    except ValueError:
        return data.decode("utf-8", "surrogateescape")


def remove_comments(value: str) -> str:
    """Replace each comment in a value by a space (RFC 5322 3.2.2); an unclosed comment stays.

    >>> remove_comments('text/html (a (b) \\\\) " c); charset="(x)" (d')
    'text/html  ; charset="(x)" (d'
    """
    if "(" not in value:
        return value
    pieces: list[str] = []
    position = piece_start = 0
    while (match := _OUTSIDE_COMMENT.search(value, position)) is not None:
        position = match.end()
        if match[0] == "(":
            position = _comment_end(value, match.start())
            if position < 0:
                break
            pieces.append(value[piece_start : match.start()])
            piece_start = position
    return " ".join((*pieces, value[piece_start:]))


def _comment_end(value: str, start: int) -> int:
    """Return the end of the comment that begins at `start`; -1 if it is not closed."""
    depth = 0
    for match in _INSIDE_COMMENT.finditer(value, start):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if not depth:
            return match.end()
    return -1


def _skip_comments(value: str, position: int) -> int:
    """Return the end of the white space and comments at `position`; -1 if a comment is not closed."""
    while position >= 0 and (char := value[position : position + 1]) and (char == "(" or char.isspace()):
        position = _comment_end(value, position) if char == "(" else position + 1
    return position


def _identifier(value: str) -> bytes:
    """Return the id between the angle brackets (RFC 5322 3.6.4, msg-id)."""
    match = _ANGLES.search(value, max(0, _skip_comments(value, 0)))
    return (match[1] if match else value).strip().encode("utf-8", "surrogateescape")


def uri(value: str) -> str:
    """Return the URI in a Content-Base or Content-Location.

    Comments around it are removed (RFC 2557 4.1), encoded words decoded (4.4.1), and white space removed, for it is
    from folding (4.4.2).  A comment after the URI needs white space before it; otherwise "(" belongs to the URI.

    >>> uri("(now (or not)) http://h/x(1) (the page)"), uri("=?us-ascii?Q?http=3A//h/?=\\n =?us-ascii?Q?x?=")
    ('http://h/x(1)', 'http://h/x')
    """
    start = position = max(0, _skip_comments(value, 0))
    end = len(value)
    while position >= 0 and (match := _COMMENT_START.search(value, position)) is not None:
        position = _skip_comments(value, match.start())
        if position == len(value):
            end = match.start()
            break
    return "".join(words(value[start:end]).split())
