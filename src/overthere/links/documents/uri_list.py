"""Lists of URIs, one on each line (text/uri-list, RFC 2483 5)."""

from __future__ import annotations

from collections.abc import Iterator

from overthere.links.documents.charset import decode_text
from overthere.links.model import Document, Found, Note, Options


def read(document: Document, options: Options) -> Iterator[Found | Note]:
    """Yield each line without surrounding blanks, except empty lines and comments ("#")."""
    text, is_wrong = decode_text(document.content, document.charset)
    if is_wrong:
        yield Note("wrong-charset")
    for line in text.replace("\r", "\n").split("\n"):
        reference = line.strip(" \t")
        if reference and not reference.startswith("#"):
            yield Found("uri-list", reference)
