"""References in the header of an archived HTTP response.

No library is used: libraries end a header at the first CR LF CR LF, which may be far in the content, although a line
may end with LF alone (RFC 9112 2.2).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from overthere.links.documents.html import values
from overthere.links.model import Document, Found, Note, Options

HTTP = "application/http"
"""The media type of a document with the header of an HTTP response, which `read()` reads."""
_REFERENCE_FIELDS = (b"location", b"link", b"refresh")
"""The fields with references: RFC 9110 10.2.2, RFC 8288 3; Refresh as browsers read it (HTML 7.4.6)."""

Fields = list[tuple[bytes, bytes]]
"""Names in lower case, and values without surrounding white space."""

_MAX_LENGTH = 1 << 16
"""The maximum number of bytes of a header after the start of its status line."""
_STATUS = re.compile(rb"[\r\n]*+HTTP/[0-9]++(?:\.[0-9]++)?+[ \t]++([0-9]{3})(?![0-9])")
_EMPTY_LINE = re.compile(rb"\n\r?+\n")
_FOLD = re.compile(rb"\r?+\n[ \t]++")
# A link-value: the reference in angle brackets, then parameters, which may be quoted (RFC 8288 3).
_LINK = re.compile(r"[\s,]*+<([^<>]*+)>((?:[^,\"]|\"(?:[^\"\\]|\\.)*+\"?)*+)", re.DOTALL)


class Header(NamedTuple):
    status: int
    fields: Fields
    end: int
    """The offset of the content."""
    is_ended: bool
    """Whether an empty line ends it, and not the end of the bytes."""


def fields(block: bytes) -> Fields:
    """Return the fields of a header.  Lines end with LF or CR LF; a line that begins with a blank continues a field.

    >>> fields(b"HTTP/1.1 200 OK\\nA: b\\r\\nC:\\n d\\n\\n")
    [(b'a', b'b'), (b'c', b'd')]
    """
    if b"\n " in block or b"\n\t" in block:
        block = _FOLD.sub(b" ", block)
    pairs: Fields = []
    for line in block.split(b"\n"):
        name, colon, value = line.partition(b":")
        if colon:
            pairs.append((name.strip().lower(), value.strip()))
    return pairs


def first_value(fields: Fields, name: bytes) -> str:
    """Return the value of the first field with a name, or ""."""
    return next((value.decode("utf-8", "replace") for key, value in fields if key == name), "")


def header(data: bytes) -> Header | None:
    """Return the header at the start of a response; None if there is no status line, or the header is too long.

    Interim responses before the final one (RFC 9110 15.2) are skipped.
    """
    at = 0
    while (status := _STATUS.match(data, at)) is not None:
        end = _EMPTY_LINE.search(data, status.end(), at + _MAX_LENGTH)
        if end is None:
            is_long = len(data) > at + _MAX_LENGTH
            return None if is_long else Header(int(status[1]), fields(data[status.end() :]), len(data), is_ended=False)
        code = int(status[1])
        if code // 100 == 1 and code != 101 and _STATUS.match(data, end.end()):
            at = end.end()
            continue
        return Header(code, fields(data[status.end() : end.end()]), end.end(), is_ended=True)
    return None


def reference_fields(fields: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Return the fields with references as a document for `read`, or b""; their names are in lower case."""
    return b"".join(name + b": " + value + b"\r\n" for name, value in fields if name in _REFERENCE_FIELDS)


def read(document: Document, options: Options) -> Iterator[Found | Note]:
    """Yield the references in the header of an HTTP response."""
    for name, value in fields(document.content.partition(b"\n\n")[0].partition(b"\n\r\n")[0]):
        yield from references(name, value.decode("utf-8", "replace"))


def references(name: bytes, value: str) -> Iterator[Found]:
    """Yield the references in a field: Location, Content-Location, Link or Refresh; its name is in lower case.

    >>> [found.reference for found in references(b"link", '<a>; rel="next, last", </b>')]
    ['a', '/b']
    """
    match name:
        case b"location" | b"content-location":
            yield Found(name.decode().title(), value)
        case b"refresh":
            yield from (Found("Refresh", url) for url in values("refresh", value))
        case b"link":
            at = 0
            while link := _LINK.match(value, at):
                yield Found("Link", link[1].strip())
                at = link.end()
        case _:
            pass
