"""Decodes content of feeds that is not markup: escaped or in base64 (RFC 4287 3.1, 4.1.3; Atom 0.3, 3.1)."""

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

FEEDS = frozenset(("RDF", "channel", "entry", "feed", "item", "rss"))
"""Root elements of feeds and of separate entries."""

_SPACE = " \t\r\n"
_ENCODING_ATTRIBUTES = ("mode", "encoding", "dt:dt", "rdf:datatype", "xsi:type")
"""Attributes that may name the encoding of an element's content: that of Atom 0.3, and others that occur in feeds."""
_FORMS_BY_NAME = {"base64": "base64", "base64binary": "base64", "bin.base64": "base64"} | dict.fromkeys(
    ("bin.hex", "deflate", "gzip", "hex", "hexbinary", "quoted-printable", "uuencode", "x-uuencode"), "unknown"
)
"""Forms of `Encoding` by the names in these attributes."""
_HTML_TYPES = ("html", "text/html", "application/xhtml+xml")
_TEXT_TYPES = ("", "text", "text/plain")
_BASE64 = re.compile(r"[A-Za-z0-9+/]++={0,2}")


class Encoding(NamedTuple):
    """How the text of an element is decoded to markup."""

    form: str
    """"html": the text is HTML; "escaped": it is HTML unless the element has child elements; "inline": the child
    elements are the content, and escaped markup instead is an error; "base64"; "unknown"."""
    media_type: str = ""


def encoding_of(attributes: Mapping[str, str], *, is_html: bool) -> Encoding | None:
    """Return the encoding of an element's text by its attributes; None for plain text.

    is_html: whether the text is HTML unless an attribute differs, such as `description` of RSS.

    >>> encoding_of({"mode": "base64", "type": "text/html"}, is_html=False)
    Encoding(form='base64', media_type='text/html')
    >>> encoding_of({"type": "image/png"}, is_html=False)
    Encoding(form='base64', media_type='image/png')
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
    """Return the encoding that an attribute of any element names; None if the content is not encoded.

    >>> declared_encoding({"encoding": "utf-8"}), declared_encoding({"xsi:type": "xs:hexBinary"})
    (None, Encoding(form='unknown', media_type=''))
    """
    for name in filter(attributes.__contains__, _ENCODING_ATTRIBUTES):
        value = attributes[name].strip(_SPACE).lower()
        if (form := _FORMS_BY_NAME.get(value.rpartition("#")[2].rpartition(":")[2])) is not None:
            return Encoding(form, media_type_of(attributes.get("type", ""))[0])
    return None


def decode_content(text: str, encoding: Encoding, base: Base) -> Iterator[Document | str | Note | PassedContent]:
    """Yield the content of an element: HTML as text, XML as a document, other types as skipped; notes on errors.

    base: the base of the document.
    """
    if encoding.form == "unknown":
        yield Note("unsupported")
    elif encoding.form == "base64":
        data = _decode_base64(text)
        if data is None:
            yield Note("corrupt")
        else:
            yield from _read_data(data, encoding.media_type, base)
    elif "<" in text:
        if encoding.form == "inline":
            yield Note("corrupt")  # escaped markup where elements belong
        yield text
    elif encoding.form == "inline" or encoding.media_type in _HTML_TYPES:
        data = _decode_base64(text)
        if data is not None and b"<" in data and data.isascii():
            yield Note("wrong-encoding")
            yield from _read_data(data, encoding.media_type, base)
        elif encoding.form == "inline":
            yield Note("corrupt")


def _read_data(data: bytes, media_type: str, base: Base) -> Iterator[Document | str | Note | PassedContent]:
    if media_type in _HTML_TYPES or media_type in _TEXT_TYPES or media_type == "xhtml":
        content, is_lossy = html.decode(data)
        if is_lossy:
            yield Note("wrong-charset")
        yield content
    elif _is_xml(media_type):
        yield Document("", data, base, media_type)
    else:
        yield PassedContent(passed_kind(Document("", data, base, media_type)))


def _is_xml(media_type: str) -> bool:
    return media_type.endswith(("/xml", "+xml"))  # RFC 7303 4.2


def _decode_base64(text: str) -> bytes | None:
    compact = "".join(text.split())
    if not _BASE64.fullmatch(compact):
        return None
    try:
        return b64decode(compact + "=" * (-len(compact) % 4), validate=True)
    except Error:
        return None
