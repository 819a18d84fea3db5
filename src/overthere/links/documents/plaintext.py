"""References in plain text: the URIs that `overthere.text` finds (RFC 3986 Appendix C)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from overthere.links.documents.charset import decode_text
from overthere.links.model import CUT_SUFFIX, Document, Found, Note, Options
from overthere.text import find

_SITEMAP = re.compile(r"^[ \t]*+sitemap[ \t]*+:[ \t]*+(?![a-z][a-z0-9+.-]*+:)([^\s#]++)", re.IGNORECASE | re.MULTILINE)
"""A relative reference in a Sitemap record of robots.txt (RFC 9309 2.2.4); sitemaps.org requires a URL."""

_CALENDAR_START = re.compile(r"\s*+BEGIN:V(?:CALENDAR|CARD)\s", re.IGNORECASE)
_FOLD_OR_ESCAPE = re.compile(r"\r?\n[ \t]|\\([nN,;\\])")
"""In iCalendar and vCard: the break in a folded line, or an escape (RFC 5545 3.1, 3.3.11; RFC 6350 3.2, 3.4)."""


def read(document: Document, options: Options) -> Iterator[Found | Note]:
    """Yield the URIs of a text.  The target of an abbreviated reference is its likely URI.  If a URI may be cut short
    (`overthere.text.Found`), its place ends with `CUT_SUFFIX`, and there is a note.

    A text has no base of its own, and no relative references, because they look like words.  Only robots.txt has them,
    in its Sitemap records.
    """
    text, is_wrong = decode_text(document.content, document.charset)
    if is_wrong:
        yield Note("wrong-charset")
    if _CALENDAR_START.match(text):
        text = _FOLD_OR_ESCAPE.sub(lambda match: "\n" if match[1] in ("n", "N") else match[1] or "", text)
    sitemaps = dict.fromkeys(_SITEMAP.findall(text) if document.base.uri.path == "/robots.txt" else ())
    is_cut = False
    for reference in search(text, "text"):
        sitemaps.pop(reference.reference, None)
        is_cut = is_cut or reference.where.endswith(CUT_SUFFIX)
        yield reference
    for path in sitemaps:
        yield Found("Sitemap", path)
    if is_cut:
        yield Note("cut")


def search(text: str, place: str) -> Iterator[Found]:
    """Yield the URIs in running text; place: the place of the text in its document."""
    for reference in find(text):
        is_abbreviated = reference.kind == "abbreviated"
        full_place = place + ", abbreviated" * is_abbreviated + CUT_SUFFIX * bool(reference.cut)
        yield Found(full_place, reference.reference, target=reference.uri if is_abbreviated else None)
