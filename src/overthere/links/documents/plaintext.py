"""References in plain text: the URIs that `overthere.text` finds in it (RFC 3986 Appendix C)."""

from __future__ import annotations

from collections.abc import Iterator

from overthere.links.documents.charset import decode_text
from overthere.links.model import Document, Found, Note, Options
from overthere.text import find

__all__ = ["read"]


def read(document: Document, options: Options) -> Iterator[Found | Note]:
    """The URIs of a text; of an abbreviated reference the URI that it may mean is the target, and of one that
    is cut (`overthere.text.Found`) the beginning, which its place says, and a note.

    A text has no base of its own, and no relative references: nothing tells them from words.
    """
    text, wrong = decode_text(document.content, document.charset)
    if wrong:
        yield Note("wrong-charset")
    cut = False
    for reference in find(text):
        abbreviated = reference.kind == "abbreviated"
        where = "text" + ", abbreviated" * abbreviated + ", cut" * bool(reference.cut)
        cut = cut or bool(reference.cut)
        yield Found(where, reference.reference, target=reference.uri if abbreviated else None)
    if cut:
        yield Note("cut")
