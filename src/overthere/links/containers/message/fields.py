"""The header of a message or of a part: its fields, and what they say of the body (RFC 5322 2.2; RFC 2045 3)."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator
from contextlib import suppress
from email.utils import decode_params
from typing import Any, NamedTuple

from overthere.access.wire import Effect
from overthere.mail.reader import Reader
from overthere.mail.words import words

__all__ = ["NOTHING", "Entity", "Header", "header", "line_end_stays", "uris"]

_SIZE = 1 << 20
"""So many octets of a header are read as one: what follows is body."""
_VALUE = 1 << 16
"""So many octets of a value are looked at."""
_BEGINS = re.compile(rb"[!-9;-~]++[ \t]*+:|[ \t]|>?From ")
_TYPE = re.compile(r"\s*+([!#$%&'*+\-.^_`{|}~0-9A-Za-z]++/[!#$%&'*+\-.^_`{|}~0-9A-Za-z]++)\s*+(?:[;(]|$)")
_PARAMETER = re.compile(r';\s*+([^\s;="]++)\s*+=\s*+("(?:[^"\\]|\\.)*+"|[^\s;]*+)', re.DOTALL)
_PAIR = re.compile(r"\\(.)", re.DOTALL)
_ANGLES = re.compile(r"<([^<>]*+)>")
# RFC 2369 3, RFC 5064 2: fields whose values are URIs in angle brackets.
_URIS = {
    name.lower().encode(): name
    for name in (
        "List-Help", "List-Subscribe", "List-Unsubscribe", "List-Post", "List-Owner", "List-Archive", "Archived-At",
    )
}  # fmt: skip
_SAID = {b"content-base": "Content-Base", b"content-location": "Content-Location"}
_MIME = (b"content-type", b"content-transfer-encoding", b"content-id", b"message-id")
_FIELDS = re.compile(
    rb"^(%s)[ \t]*+:((?:[^\n]*+\n[ \t])*+[^\n]*+)" % b"|".join((*_MIME, *_SAID, *_URIS)), re.IGNORECASE | re.MULTILINE
)


class Entity(NamedTuple):
    """What a header says of the body."""

    media_type: str
    charset: str | None
    encoding: bytes
    content_id: bytes
    """Without the angle brackets."""
    said: tuple[tuple[str, str], ...]
    """The fields that establish a base, without comments and encoded words."""
    location: str
    """The Content-Location."""
    boundary: bytes
    start: bytes
    external: bool
    """Whether the body is elsewhere: message/external-body."""
    enveloped: bool
    """Whether it is encrypted: S/MIME."""


NOTHING = Entity("", None, b"", b"", (), "", b"", b"", external=False, enveloped=False)
"""Of a header that says nothing."""


class Header(NamedTuple):
    """A header as it was read."""

    raw: bytes
    broken: bool
    """Whether it ends where no header can end."""
    told: tuple[tuple[bytes, str], ...]

    @property
    def message_id(self) -> bytes:
        return _identifier(next((value for name, value in self.told if name == b"message-id"), ""))

    @property
    def uris(self) -> Iterator[tuple[str, str]]:
        return _uris(self.told)

    def entity(self, default: str) -> Entity:
        """What it says of the body; `default` is the media type if it says none (RFC 2045 5.2; RFC 2046 5.1.5)."""
        first: dict[bytes, str] = {}
        for name, value in self.told:
            first.setdefault(name, value)
        written = first.get(b"content-type", "")
        match = _TYPE.match(written)
        media_type = match[1].lower() if match else default
        told = parameters(written) if match else {}
        said = tuple((_SAID[name], _uri(first[name])) for name in _SAID if name in first)
        return Entity(
            media_type,
            told.get("charset", "").strip().lower() or None,
            first.get(b"content-transfer-encoding", "").strip().lower().encode("utf-8", "replace"),
            _identifier(first.get(b"content-id", "")),
            said,
            "".join(dict(said).get("Content-Location", "").split()),
            told.get("boundary", "").rstrip().encode("utf-8", "surrogateescape"),
            _identifier(told.get("start", "")),
            media_type == "message/external-body",
            # RFC 8551 3.2.2
            media_type in ("application/pkcs7-mime", "application/x-pkcs7-mime")
            and told.get("smime-type", "").lower() in ("enveloped-data", "authenveloped-data"),
        )


def header(reader: Reader) -> Generator[Effect, Any, Header]:
    """The header that comes next.  The line end before the body stays, for a delimiter may follow at once.

    A line that is no field ends it too: what follows is body.
    """
    reader.at += reader.owed
    reader.owed = False
    raw = bytearray()
    begins, broken = True, False
    while line := (yield from reader.line()):
        if begins and not line.strip(b"\r\n"):
            reader.at -= 1
            reader.owed = True
            break
        if len(raw) > _SIZE or (begins and not _BEGINS.match(line)):
            # A delimiter may follow a header that has no body (RFC 2046 5.1.1, body-part).
            broken = not line.startswith(b"--")
            reader.at -= len(line)
            line_end_stays(reader)
            break
        begins = line.endswith(b"\n")
        raw += line
    return Header(bytes(raw), broken, tuple(fields(raw)))


def line_end_stays(reader: Reader) -> None:
    """Let the end of the line before be found again: it is that of a delimiter that follows (RFC 2046 5.1.1)."""
    if reader.at and not reader.owed and reader.held[reader.at - 1] == 10:
        reader.at -= 1
        reader.owed = True


def fields(raw: bytes | bytearray) -> list[tuple[bytes, str]]:
    """The fields that are known here, unfolded (RFC 5322 2.2.3); each name in lower case."""
    return [(match[1].lower(), _text(match[2])) for match in _FIELDS.finditer(raw)]


def _text(value: bytes) -> str:
    return value[:_VALUE].translate(None, b"\r\n").decode("utf-8", "surrogateescape").strip()


def parameters(value: str) -> dict[str, str]:
    """The parameters of a Content-Type, their names in lower case; the first of a name counts."""
    found = [(match[1].lower(), match[2]) for match in _PARAMETER.finditer(value)]
    if any("*" in name for name, _ in found):
        # RFC 2231 3 and 4: continued, or with a charset.
        with suppress(ValueError, TypeError, LookupError):
            decoded = decode_params([("", ""), *found])[1:]
            found = [(name, text if isinstance(text, str) else text[2] or "") for name, text in decoded]
    return {name: _unquoted(text) for name, text in reversed(found)}


def _unquoted(text: str) -> str:
    return _PAIR.sub(r"\1", text[1:-1]) if len(text) > 1 and text[0] == text[-1] == '"' else text


def _identifier(value: str) -> bytes:
    match = _ANGLES.search(value)
    return (match[1] if match else value).strip().encode("utf-8", "surrogateescape")


def _uri(value: str) -> str:
    """A URI in a field: comments around it are left out (RFC 2557 4.1), encoded words decoded (4.4.1)."""
    if value.startswith("(") and ")" in value:
        value = value[value.index(")") + 1 :].lstrip()
    if value.endswith(")"):
        opens = value.rfind("(")
        # Without white space before it, it is of the URI.
        if opens > 0 and value[opens - 1].isspace():
            value = value[:opens].rstrip()
    return words(value)


def uris(raw: bytes) -> Iterator[tuple[str, str]]:
    """Field and reference; white space in a reference is of the folding (RFC 2369 2; RFC 2017 3.1)."""
    return _uris(fields(raw))


def _uris(told: Iterable[tuple[bytes, str]]) -> Iterator[tuple[str, str]]:
    for name, value in told:
        if name in _URIS:
            for match in _ANGLES.finditer(value):
                yield _URIS[name], "".join(match[1].split())
        elif name == b"content-type" and value[:21].lower() == "message/external-body":
            given = parameters(value)
            if given.get("access-type", "").lower() == "url" and "url" in given:
                yield "Content-Type URL", "".join(given["url"].split())
