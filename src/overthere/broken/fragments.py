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
from overthere.links.documents.kinds import kind_of, media_type_of
from overthere.links.model import Document, Options
from overthere.values.uri import URI


class Anchors(NamedTuple):
    """The anchors of a document, in which fragments are looked up."""

    kind: str
    """The name of the document's reader."""
    path: str
    names: array[int]
    """The hash of each anchor, to save memory for many documents; sorted, for fast look-ups of many fragments."""
    is_known: bool
    """Whether the document can have no other anchors."""
    is_whole: bool
    """Whether the document was read completely."""

    def _has(self, name: int) -> bool:
        return self.names[(at := bisect_left(self.names, name)) : at + 1] == array("q", [name])

    def find_missing(self, fragments: frozenset[str]) -> tuple[tuple[str, ...], str]:
        """The fragments that the document lacks; or none, and why that is uncertain."""
        if not self.is_known:
            return (), ""
        absent = tuple(
            sorted(
                fragment
                for fragment in fragments
                if not is_top(fragment)
                and reason(fragment, self.path, self.kind) is None
                and not any(self._has(hash(name)) for name in names(fragment))
            )
        )
        return (absent, "") if self.is_whole or not absent else ((), f"it was read only in part: {', '.join(absent)}")


_MAX_ANCHORS = 500_000
"""Maximum number of anchors that are stored for a document."""
_PREFIXING_HOSTS = ("github.com", "gist.github.com")
"""Hosts that prefix the anchors in users' texts; a script on their pages adds the prefix to fragments too."""


def anchors(content: bytes, media_type: str, uri: str, cut: bool, rule: str) -> Anchors:
    """The anchors of a retrieved document.

    media_type: the server's Content-Type field, or "".
    cut: whether the content is only the beginning of the document.
    """
    essence, charset = media_type_of(media_type)
    location = URI(uri).replace(fragment=None)
    base = Base(location, "retrieval", "retrieval")
    document = Document(uri, content, base, essence, charset, ("too-large",) if cut else ())
    kind, notes = kind_of(document)
    page = scan(document, kind, notes, Options(), NO_PROJECT._replace(anchors=rule))
    if (location.host or "").lower() in _PREFIXING_HOSTS:
        page.anchors.update([name.removeprefix("user-content-") for name in page.anchors])
    hashes = array("q", sorted(map(hash, islice(page.anchors, _MAX_ANCHORS))))
    return Anchors(kind, location.path, hashes, page.has_anchors, page.is_whole and len(page.anchors) <= _MAX_ANCHORS)
