"""Fragments looked up in a document that was retrieved (RFC 3986 3.5)."""

from __future__ import annotations

from overthere.base import Base
from overthere.broken.anchors import is_top, names, reason
from overthere.broken.scan import scan
from overthere.links.documents.kinds import kind_of
from overthere.links.model import Document, Options
from overthere.uri import URI

__all__ = ["content_type", "missing"]


def content_type(field: str) -> tuple[str, str | None]:
    """The media type that a field Content-Type names, and its charset (RFC 9110 8.3.1).

    >>> content_type('Text/HTML; charset="utf-8"'), content_type("")
    (('text/html', 'utf-8'), ('', None))
    """
    told, _, parameters = field.partition(";")
    charset = None
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            charset = value.strip().strip('"') or None
    return told.strip().lower(), charset


def missing(
    fragments: frozenset[str], content: bytes, media_type: str, uri: str, cut: bool, rule: str
) -> tuple[tuple[str, ...], str]:
    """The fragments that the document does not have; and why that is not sure, if so.

    media_type: the field Content-Type, as the server told it; "" if it did not.
    cut: whether there is more of the document.
    """
    told, charset = content_type(media_type)
    base = Base(URI(uri).replace(fragment=None), "retrieval", "retrieval")
    document = Document(uri, content, base, told, charset, ("too-large",) if cut else ())
    kind, notes = kind_of(document)
    read = scan(document, kind, notes, Options(), rule)
    path = URI(uri).path
    gone = tuple(
        sorted(
            fragment
            for fragment in fragments
            if not is_top(fragment)
            and reason(fragment, path, kind) is None
            and read.anchors.isdisjoint(names(fragment))
        )
    )
    if not gone or not read.has_anchors:
        return (), ""
    return (gone, "") if read.is_whole else ((), "not all of the document was read: " + ", ".join(gone))
