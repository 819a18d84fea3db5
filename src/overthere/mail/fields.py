"""Header fields of messages, unfolded: comments, parameters, identifiers, URIs (RFC 5322, RFC 2045, RFC 2231)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count, takewhile
from urllib.parse import unquote_to_bytes

from overthere.ground import charsets
from overthere.mail.words import words

__all__ = ["EXTERNAL", "Header", "parameters", "remove_comments", "uri"]

EXTERNAL = "message/external-body"
"""The body is elsewhere, and a header of it stands in its place (RFC 2046 5.2.3)."""
_VALUE = 1 << 16
"""So many octets of a value are looked at."""
_TYPE = re.compile(r"\s*+([!#$%&'*+\-.^_`{|}~0-9A-Za-z]++)\s*+/\s*+([!#$%&'*+\-.^_`{|}~0-9A-Za-z]++)\s*+(?:[;(]|$)")
_PARAMETER = re.compile(r';\s*+([^\s;="]++)\s*+=\s*+("(?:[^"\\]|\\.)*+"|[^\s;]*+)', re.DOTALL)
_SECTION = re.compile(r"([^*]++)\*(?:([0-9]{1,4})(\*?))?")
_CHARSET = re.compile(r"([^']*+)'[^']*+'")
_PAIR = re.compile(r"\\(.)", re.DOTALL)
_ANGLES = re.compile(r"<([^<>]*+)>")
_OUTSIDE = re.compile(r'"(?:[^"\\]|\\.)*+"|\\.|\(', re.DOTALL)
_INSIDE = re.compile(r"\\.|[()]", re.DOTALL)
_BEHIND = re.compile(r"\s\(")
# RFC 2369 3, RFC 5064 2: fields whose values are URIs in angle brackets.
_LISTS = "List-Help", "List-Subscribe", "List-Unsubscribe", "List-Post", "List-Owner", "List-Archive", "Archived-At"
_URIS = {name.lower().encode(): name for name in _LISTS}
_BASES = {b"content-base": "Content-Base", b"content-location": "Content-Location"}
_MISSPELT = {
    "7bits": "7bit", "7-bit": "7bit", "7-bits": "7bit", "7 bit": "7bit",
    "8bits": "8bit", "8-bit": "8bit", "8-bits": "8bit", "8 bit": "8bit",
    "quotedprintable": "quoted-printable", "quoted_printable": "quoted-printable",
    "quoted printable": "quoted-printable", "base-64": "base64", "base_64": "base64", "base 64": "base64",
}  # fmt: skip
"""Names of transfer encodings that can mean one of RFC 2045 6.1 alone."""
_MIME = (b"content-type", b"content-transfer-encoding", b"content-id", b"message-id")
_FIELDS = re.compile(
    rb"^(%s)[ \t]*+:((?:[^\n]*+\n[ \t])*+[^\n]*+)" % b"|".join((*_MIME, *_BASES, *_URIS)), re.IGNORECASE | re.MULTILINE
)


class Header:
    """A header as it was read, and what its fields say of the body (RFC 2045 3); the first of a name counts.

    blank: the empty line behind it, b"" if there is none.
    broken: whether it ends where no header can end.
    default: the media type if none is told (RFC 2045 5.2; RFC 2046 5.1.5).
    """

    def __init__(self, raw: bytes = b"", blank: bytes = b"", broken: bool = False, default: str = "") -> None:
        self.raw: bytes = raw
        self.blank: bytes = blank
        self.broken: bool = broken
        # RFC 5322 2.2.3: unfolded.
        self.is_cut: bool = len(raw) > _VALUE and any(len(match[2]) > _VALUE for match in _FIELDS.finditer(raw))
        """Whether a value is longer than what is looked at."""
        values = ((match[1].lower(), match[2][:_VALUE].translate(None, b"\r\n")) for match in _FIELDS.finditer(raw))
        self.fields: list[tuple[bytes, str]] = [
            (name, value.decode("utf-8", "surrogateescape").strip()) for name, value in values
        ]
        first = dict(reversed(self.fields))
        self.parameters: dict[str, str]
        told, self.parameters = _content_type(first.get(b"content-type", ""))
        self.media_type: str
        self.told: bool
        self.media_type, self.told = told or default, bool(told)
        encoding = remove_comments(first.get(b"content-transfer-encoding", "")).strip().lower()
        self.encoding: str = _MISSPELT.get(encoding, encoding)
        self.is_misspelt: bool = encoding in _MISSPELT
        """The transfer encoding is written as RFC 2045 6.1 has none, and can mean one alone."""
        self.message_id: bytes = _identifier(first.get(b"message-id", ""))
        self.content_id: bytes = _identifier(first.get(b"content-id", ""))
        self.bases: tuple[tuple[str, str], ...] = tuple((_BASES[name], first[name]) for name in _BASES if name in first)
        """The fields that establish a base, as they are written."""
        self.charset: str | None = self.parameters.get("charset", "").strip().lower() or None
        self.start: bytes = _identifier(self.parameters.get("start", ""))
        """Which Content-ID the root of multipart/related has (RFC 2387 3.2)."""
        boundary = self.parameters.get("boundary", "") if self.media_type.startswith("multipart/") else ""
        self.boundary: bytes = boundary.rstrip().encode("utf-8", "surrogateescape")
        self.content_ids: tuple[bytes, ...] = tuple(
            filter(None, dict.fromkeys((self.content_id, unquote_to_bytes(self.content_id))))
        )
        """What cid: may say: RFC 2392 2 prints cid:foo4%25foo1@bar.net for the Content-ID <foo4%25foo1@bar.net> too."""

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
        """Field and reference; white space in a reference is of the folding (RFC 2369 2; RFC 2017 3.1)."""
        for name, value in self.fields:
            if name in _URIS:
                for match in _ANGLES.finditer(value):
                    yield _URIS[name], "".join(match[1].split())
            elif name == b"content-type" and "external-body" in value.lower():
                media_type, given = _content_type(value)
                if media_type == EXTERNAL and given.get("access-type", "").lower() == "url" and "url" in given:
                    yield "Content-Type URL", "".join(given["url"].split())


def _content_type(value: str) -> tuple[str, dict[str, str]]:
    written = remove_comments(value)
    match = _TYPE.match(written)
    return (f"{match[1]}/{match[2]}".lower(), parameters(written)) if match else ("", {})


def parameters(value: str) -> dict[str, str]:
    """The parameters of a Content-Type without comments, their names in lower case; the first of a name counts.

    Continued ones are put together, up to the first that is missing, and read by their charset (RFC 2231 3 and 4).

    >>> parameters("a/b; Charset=x; n*0*=utf-8'en'%C3; n*1*=%A9%20; n*2=\\"%20 \\\\\\"\\"; n*4=no; m*='''")
    {'charset': 'x', 'n': 'é %20 "', 'm': "'"}
    """
    values: dict[str, str] = {}
    continued: dict[str, dict[int, tuple[str, bool]]] = {}
    for match in _PARAMETER.finditer(value):
        name, text = match[1].lower(), match[2]
        if len(text) > 1 and text[0] == text[-1] == '"':
            text = _PAIR.sub(r"\1", text[1:-1])
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
    octets, charset = bytearray(), "utf-8"
    for number in takewhile(sections.__contains__, count()):
        text, escaped = sections[number]
        if not number and escaped and (told := _CHARSET.match(text)) is not None:
            charset, text = told[1] or charset, text[told.end() :]
        written = text.encode("utf-8", "surrogateescape")
        octets += unquote_to_bytes(written) if escaped else written
    try:
        return charsets.text(bytes(octets), charset)
    except ValueError:
        return octets.decode("utf-8", "surrogateescape")


def remove_comments(value: str) -> str:
    """A value of words and quoted strings with a space for each comment (RFC 5322 3.2.2); one without an end stays.

    >>> remove_comments('text/html (a (b) \\\\) " c); charset="(x)" (d')
    'text/html  ; charset="(x)" (d'
    """
    if "(" not in value:
        return value
    kept: list[str] = []
    at = begin = 0
    while (match := _OUTSIDE.search(value, at)) is not None:
        at = match.end()
        if match[0] == "(":
            at = _comment(value, match.start())
            if at < 0:
                break
            kept.append(value[begin : match.start()])
            begin = at
    return " ".join((*kept, value[begin:]))


def _comment(value: str, at: int) -> int:
    """Where the comment ends that begins there; -1 if it does not."""
    depth = 0
    for match in _INSIDE.finditer(value, at):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if not depth:
            return match.end()
    return -1


def _skip_comments(value: str, at: int) -> int:
    """Where the white space and the comments end that begin there; -1 if a comment has no end."""
    while at >= 0 and (one := value[at : at + 1]) and (one == "(" or one.isspace()):
        at = _comment(value, at) if one == "(" else at + 1
    return at


def _identifier(value: str) -> bytes:
    """What stands between the angle brackets (RFC 5322 3.6.4, msg-id)."""
    match = _ANGLES.search(value, max(0, _skip_comments(value, 0)))
    return (match[1] if match else value).strip().encode("utf-8", "surrogateescape")


def uri(value: str) -> str:
    """The URI in a Content-Base or Content-Location.

    Comments around it are left out (RFC 2557 4.1), encoded words read (4.4.1), and white space is of the folding
    (4.4.2).  Behind it a comment has leading white space, or else "(" is of the URI.

    >>> uri("(now (or not)) http://h/x(1) (the page)"), uri("=?us-ascii?Q?http=3A//h/?=\\n =?us-ascii?Q?x?=")
    ('http://h/x(1)', 'http://h/x')
    """
    start = at = max(0, _skip_comments(value, 0))
    end = len(value)
    while at >= 0 and (match := _BEHIND.search(value, at)) is not None:
        at = _skip_comments(value, match.start())
        if at == len(value):
            end = match.start()
            break
    return "".join(words(value[start:end]).split())
