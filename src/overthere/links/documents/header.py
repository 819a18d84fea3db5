"""References in the header of an archived HTTP response.

Written by hand: libraries end a header at the first CR LF CR LF, wherever in the content that is, while a line may end
with LF alone (RFC 9112 2.2).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from overthere.links.documents.html import values
from overthere.links.model import Document, Found, Note, Options

__all__ = ["HTTP", "Fields", "Header", "fields", "first_value", "header", "reference_fields", "read", "references"]

HTTP = "application/http"
"""The media type of a document that is the header of an HTTP response: its references, for `read()`."""
_POINTING = (b"location", b"link", b"refresh")
"""The fields that refer to something else: RFC 9110 10.2.2, RFC 8288 3; Refresh as browsers read it (HTML 7.4.6)."""

Fields = list[tuple[bytes, bytes]]
"""Names in lower case, and values without the white space around them."""

_MOST = 1 << 16
"""Octets of a header; what has no end by then is none."""
_STATUS = re.compile(rb"[\r\n]*+HTTP/[0-9]++(?:\.[0-9]++)?+[ \t]++([0-9]{3})(?![0-9])")
_EMPTY = re.compile(rb"\n\r?+\n")
_FOLDED = re.compile(rb"\r?+\n[ \t]++")
# A link-value: the reference in angle brackets, then parameters, which may be quoted (RFC 8288 3).
_LINK = re.compile(r"[\s,]*+<([^<>]*+)>((?:[^,\"]|\"(?:[^\"\\]|\\.)*+\"?)*+)", re.DOTALL)


class Header(NamedTuple):
    status: int
    fields: Fields
    end: int
    """Where the content begins."""
    whole: bool
    """Whether it ends with an empty line, and not with the octets."""


def fields(block: bytes) -> Fields:
    """The fields of a header: a line ends with LF, a CR before it is ignored; a line that begins with a blank goes on.

    >>> fields(b"HTTP/1.1 200 OK\\nA: b\\r\\nC:\\n d\\n\\n")
    [(b'a', b'b'), (b'c', b'd')]
    """
    if b"\n " in block or b"\n\t" in block:
        block = _FOLDED.sub(b" ", block)
    pairs: Fields = []
    for line in block.split(b"\n"):
        name, colon, value = line.partition(b":")
        if colon:
            pairs.append((name.strip().lower(), value.strip()))
    return pairs


def first_value(fields: Fields, name: bytes) -> str:
    """The value of the first field of that name, or ""."""
    return next((value.decode("utf-8", "replace") for key, value in fields if key == name), "")


def header(block: bytes) -> Header | None:
    """The header that a response begins with; None if there is no status line.

    An interim response (RFC 9110 15.2) stands before the one that counts.
    """
    at = 0
    while (status := _STATUS.match(block, at)) is not None:
        end = _EMPTY.search(block, status.end(), at + _MOST)
        if end is None:
            whole = len(block) > at + _MOST
            return None if whole else Header(int(status[1]), fields(block[status.end() :]), len(block), whole=False)
        code = int(status[1])
        if code // 100 == 1 and code != 101 and _STATUS.match(block, end.end()):
            at = end.end()
            continue
        return Header(code, fields(block[status.end() : end.end()]), end.end(), whole=True)
    return None


def reference_fields(fields: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Those of the fields, with names in lower case, that refer to something, as a document for `read`; or nothing."""
    return b"".join(name + b": " + value + b"\r\n" for name, value in fields if name in _POINTING)


def read(document: Document, options: Options) -> Iterator[Found | Note]:
    """The references in the header of an HTTP response."""
    for name, octets in fields(document.content.partition(b"\n\n")[0].partition(b"\n\r\n")[0]):
        yield from references(name, octets.decode("utf-8", "replace"))


def references(name: bytes, value: str) -> Iterator[Found]:
    """Those in a field whose name is in lower case: Location, Content-Location, Link and Refresh.

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
