"""Content of feeds in another form than markup: escaped or in base64 (RFC 4287 3.1, 4.1.3; Atom 0.3, 3.1)."""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from overthere.base import Base
from overthere.links.documents import html
from overthere.links.documents.kinds import media_type_of, passed_kind
from overthere.links.model import Document, Note, PassedContent

__all__ = ["FEEDS", "Encoding", "declared_encoding", "decode_content", "encoding_of"]

FEEDS = frozenset(("RDF", "channel", "entry", "feed", "item", "rss"))
"""Root elements of feeds, and of their entries alone."""

_SPACE = " \t\r\n"
_MODES = ("mode", "encoding", "dt:dt", "rdf:datatype", "xsi:type")
"""Attributes that may name how the content of an element is encoded: of Atom 0.3, and as feeds have them elsewhere."""
_ENCODED = {"base64": "base64", "base64binary": "base64", "bin.base64": "base64"} | dict.fromkeys(
    ("bin.hex", "deflate", "gzip", "hex", "hexbinary", "quoted-printable", "uuencode", "x-uuencode"), "unknown"
)
"""Encodings by the names that these attributes give them."""
_HTML = ("html", "text/html", "application/xhtml+xml")
_TEXTS = ("", "text", "text/plain")
_BASE64 = re.compile(r"[A-Za-z0-9+/]++={0,2}")


class Encoding(NamedTuple):
    """How the text of an element becomes markup."""

    way: str
    """"html": the text is HTML; "escaped": it is HTML unless the element has child elements; "inline": the child
    elements are the content, and text instead of them is an error; "base64"; "unknown"."""
    media_type: str = ""


def encoding_of(attributes: Mapping[str, str], *, is_html: bool) -> Encoding | None:
    """How the text of an element is read, by its attributes; None for plain text.

    is_html: whether it is HTML where the attributes say nothing else, as `description` of RSS is.

    >>> encoding_of({"mode": "base64", "type": "text/html"}, is_html=False)
    Encoding(way='base64', media_type='text/html')
    >>> encoding_of({"type": "image/png"}, is_html=False)
    Encoding(way='base64', media_type='image/png')
    """
    if (encoding := declared_encoding(attributes)) is not None:
        return encoding
    mode = attributes.get("mode", "").strip(_SPACE).lower()
    essence, _ = media_type_of(attributes.get("type", ""))
    if mode not in ("", "xml", "escaped", "literal"):
        return Encoding("unknown")
    if is_html or mode or essence in ("html", "text/html"):
        return Encoding("html", essence)
    if essence == "xhtml" or _is_xml(essence):
        return Encoding("inline", essence)
    if "/" in essence and not essence.startswith(("text/", "multipart/")):
        return Encoding("base64", essence)  # RFC 4287 4.1.3.3, the last rule
    return None


def declared_encoding(attributes: Mapping[str, str]) -> Encoding | None:
    """The encoding that an attribute of any element names; None if the content is not encoded.

    >>> declared_encoding({"encoding": "utf-8"}), declared_encoding({"xsi:type": "xs:hexBinary"})
    (None, Encoding(way='unknown', media_type=''))
    """
    for name in _MODES:
        value = attributes.get(name, "").strip(_SPACE).lower()
        way = _ENCODED.get(value.rpartition("#")[2].rpartition(":")[2])
        if way is not None:
            return Encoding(way, media_type_of(attributes.get("type", ""))[0])
    return None


def decode_content(text: str, encoding: Encoding, base: Base) -> Iterator[Document | str | Note | PassedContent]:
    """The content of an element: HTML as text, XML as a document; otherwise what is the matter, or what is skipped.

    base: for the document.
    """
    if encoding.way == "unknown":
        yield Note("unsupported")
    elif encoding.way == "base64":
        octets = _decode_base64(text)
        if octets is None:
            yield Note("corrupt")
        else:
            yield from _as_content(octets, encoding.media_type, base)
    elif "<" in text:
        if encoding.way == "inline":
            yield Note("corrupt")  # escaped markup where elements belong
        yield text
    elif encoding.way == "inline" or encoding.media_type in _HTML:
        octets = _decode_base64(text)
        if octets is not None and b"<" in octets and octets.isascii():
            yield Note("wrong-encoding")
            yield from _as_content(octets, encoding.media_type, base)
        elif encoding.way == "inline":
            yield Note("corrupt")


def _as_content(octets: bytes, media_type: str, base: Base) -> Iterator[Document | str | Note | PassedContent]:
    if media_type in _HTML or media_type in _TEXTS or media_type == "xhtml":
        content, is_lossy = html.decode(octets)
        if is_lossy:
            yield Note("wrong-charset")
        yield content
    elif _is_xml(media_type):
        yield Document("", octets, base, media_type)
    else:
        yield PassedContent(passed_kind(Document("", octets, base, media_type)))


def _is_xml(media_type: str) -> bool:
    return media_type.endswith(("/xml", "+xml"))  # RFC 7303 4.2


def _decode_base64(text: str) -> bytes | None:
    packed = "".join(text.split())
    if not _BASE64.fullmatch(packed):
        return None
    try:
        return b64decode(packed + "=" * (-len(packed) % 4), validate=True)
    except Error:
        return None
