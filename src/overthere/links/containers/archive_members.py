"""Members of ZIP and tar files as documents: their sources and bases."""

from __future__ import annotations

from overthere.base import Base
from overthere.links.model import Document
from overthere.values.encoding import IN_SEGMENT
from overthere.values.uri import URI, URIReference


def member_base(name: bytes, base: Base, root_uri: URI | None) -> Base:
    if root_uri is None:
        return base
    # A path that leaves the archive ends at its root, as dot-segments do (RFC 3986 5.2.4).
    segments = [segment for segment in name.split(b"/") if segment not in (b"", b".", b"..")]
    if not segments:
        return base
    return Base(root_uri.join(URIReference.build(segments=segments, keep=IN_SEGMENT)), "retrieval", "retrieval")


def member_document(document: Document, name: str, base: Base) -> Document:
    """Return a member as a document without content.  name: bytes that are not valid UTF-8 are surrogates."""
    name_text = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return Document(f"{document.source}!{name_text}", b"", base, depth=document.depth + 1)
