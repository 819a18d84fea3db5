"""Looks up fragments in a retrieved document (RFC 3986 3.5)."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from itertools import islice
from typing import NamedTuple

from overthere.base import Base
from overthere.broken.anchors import is_top, names, reason
from overthere.broken.generators.project import NO_PROJECT
from overthere.broken.scan import scan
from overthere.links.documents.kinds import kind_of
from overthere.links.model import Document, Options
from overthere.values.uri import URI

__all__ = ["Anchors", "anchors", "content_type"]


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


class Anchors(NamedTuple):
    """What fragments of a document are looked up in."""

    kind: str
    """Of the document, as its reader is called."""
    path: str
    names: array[int]
    """Of each anchor the hash, for there may be many documents; sorted, for there may be many fragments."""
    is_known: bool
    """Whether those are all that it may have."""
    is_whole: bool
    """Whether all of it was read."""

    def _has(self, name: int) -> bool:
        return self.names[(at := bisect_left(self.names, name)) : at + 1] == array("q", [name])

    def find_missing(self, fragments: frozenset[str]) -> tuple[tuple[str, ...], str]:
        """The fragments that the document does not have; and why that is not sure, if so."""
        if not self.is_known:
            return (), ""
        gone = tuple(
            sorted(
                fragment
                for fragment in fragments
                if not is_top(fragment)
                and reason(fragment, self.path, self.kind) is None
                and not any(self._has(hash(name)) for name in names(fragment))
            )
        )
        return (gone, "") if self.is_whole or not gone else ((), f"it was read only in part: {', '.join(gone)}")


_MOST = 500_000
"""Anchors of a document that are kept."""
_PREFIXED = ("github.com", "gist.github.com")
"""Hosts whose pages have a prefix before the anchors of what users wrote, which a script of theirs puts before a
fragment, too."""


def anchors(content: bytes, media_type: str, uri: str, cut: bool, rule: str) -> Anchors:
    """What a document has.

    media_type: the field Content-Type, as the server told it; "" if it did not.
    cut: whether there is more of the document.
    """
    told, charset = content_type(media_type)
    there = URI(uri).replace(fragment=None)
    base = Base(there, "retrieval", "retrieval")
    document = Document(uri, content, base, told, charset, ("too-large",) if cut else ())
    kind, notes = kind_of(document)
    read = scan(document, kind, notes, Options(), NO_PROJECT._replace(anchors=rule))
    if (there.host or "").lower() in _PREFIXED:
        read.anchors.update([name.removeprefix("user-content-") for name in read.anchors])
    found = array("q", sorted(map(hash, islice(read.anchors, _MOST))))
    return Anchors(kind, there.path, found, read.has_anchors, read.is_whole and len(read.anchors) <= _MOST)
