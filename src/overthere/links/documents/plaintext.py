"""References in plain text: the URIs that `overthere.text` finds in it (RFC 3986 Appendix C)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from overthere.links.documents.charset import decode_text
from overthere.links.model import Document, Found, Note, Options
from overthere.text import find

__all__ = ["CUT", "read", "search"]

_SITEMAP = re.compile(r"^[ \t]*+sitemap[ \t]*+:[ \t]*+(?![a-z][a-z0-9+.-]*+:)([^\s#]++)", re.IGNORECASE | re.MULTILINE)
"""A relative reference in a record of robots.txt (RFC 9309 2.2.4); sitemaps.org asks for a whole URL."""

_COMPONENT = re.compile(r"\s*+BEGIN:V(?:CALENDAR|CARD)\s", re.IGNORECASE)
_FOLD = re.compile(r"\r?\n[ \t]|\\([nN,;\\])")
"""Of iCalendar and vCard: a line that is folded, and an escape (RFC 5545 3.1, 3.3.11; RFC 6350 3.2, 3.4)."""
CUT = ", cut"
"""What ends the place of a URI that may be cut short."""


def read(document: Document, options: Options) -> Iterator[Found | Note]:
    """The URIs of a text; of an abbreviated reference the URI that it may mean is the target, and of one that
    is cut (`overthere.text.Found`) the beginning, which its place says, and a note.

    A text has no base of its own, and no relative references: nothing tells them from words.  Only robots.txt has them,
    in its Sitemap records.
    """
    text, wrong = decode_text(document.content, document.charset)
    if wrong:
        yield Note("wrong-charset")
    if _COMPONENT.match(text):
        text = _FOLD.sub(lambda found: "\n" if found[1] in ("n", "N") else found[1] or "", text)
    sitemaps = dict.fromkeys(_SITEMAP.findall(text) if document.base.uri.path == "/robots.txt" else ())
    cut = False
    for one in search(text, "text"):
        sitemaps.pop(one.reference, None)
        cut = cut or one.where.endswith(CUT)
        yield one
    for path in sitemaps:
        yield Found("Sitemap", path)
    if cut:
        yield Note("cut")


def search(text: str, place: str) -> Iterator[Found]:
    """The URIs in running text, which stands at a place of a document."""
    for reference in find(text):
        abbreviated = reference.kind == "abbreviated"
        where = place + ", abbreviated" * abbreviated + CUT * bool(reference.cut)
        yield Found(where, reference.reference, target=reference.uri if abbreviated else None)
