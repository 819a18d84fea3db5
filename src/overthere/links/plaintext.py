"""References in plain text: the URIs that `overthere.text` finds in it (RFC 3986 Appendix C)."""

from __future__ import annotations

from collections.abc import Iterator

from overthere.links.charset import decoded
from overthere.links.model import Document, Found, Note, Options
from overthere.text import find

__all__ = ["read"]


def read(document: Document, options: Options) -> Iterator[Found | Note]:
    """The URIs of a text; of an abbreviated reference the URI that it may mean is the target.

    A text has no base of its own, and no relative references: nothing tells them from words.
    """
    text, wrong = decoded(document.content, document.charset)
    if wrong:
        yield Note("wrong-charset")
    for found in find(text):
        if found.kind == "abbreviated":
            yield Found("text, abbreviated", found.reference, target=found.uri)
        else:
            yield Found("text", found.reference)
