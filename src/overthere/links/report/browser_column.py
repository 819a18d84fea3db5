"""The column `browser`: targets by the WHATWG URL Standard, where they differ."""

from __future__ import annotations

import codecs

from overthere.editions import whatwg
from overthere.ground.caches import bounded_cache
from overthere.links.documents.charset import MARKS, encoding
from overthere.links.documents.prescan import find_encoding
from overthere.links.faults import note_kind
from overthere.links.model import Document
from overthere.links.report.batch import AnyBatch

_KINDS = frozenset(("html", "xml", "css", "http"))
"""Kinds of documents whose references browsers parse; no specification covers running text."""
_HEADER_FIELDS = frozenset(("Location", "Content-Location", "Link", "Refresh"))
_EMBEDDED = ("iframe srcdoc > ", "script ")
"""How `where` begins for content that may have its own base: a document in `srcdoc`, JSON-LD."""
_ENCODED_SCHEMES = frozenset(f"{name}:" for name in whatwg.SPECIAL - {"ws", "wss"})
"""Schemes whose query is in the document's encoding (URL Standard 4.4, query state)."""
_ESCAPED_BYTES = frozenset(b"\"#<>' ") | frozenset(range(0x21)) | frozenset(range(0x7F, 0x100))
"""The special-query percent-encode set (1.3), and bytes beyond US-ASCII."""


def output_encoding(content: bytes, declared: str | None) -> str:
    """Return the encoding of queries in an HTML document (Encoding Standard 4.3, "get an output encoding").

    declared: the label in its metadata.  It is the encoding of the document, except that UTF-16 becomes UTF-8.

    >>> output_encoding(b"<meta charset=latin1>", None), output_encoding(b"\\xe9", None), output_encoding(b"", "utf-16")
    ('windows-1252', 'windows-1252', 'utf-8')
    """
    if content.startswith(tuple(mark for mark, _ in MARKS)):
        return "utf-8"
    name = (None if declared is None else encoding(declared)) or find_encoding(content).encoding
    if name is None:
        try:
            content.decode()
        except UnicodeError:
            return "windows-1252"
    return "utf-8" if name is None or name.startswith(("utf-16", "replacement")) else name


class Browsing:
    """Fills the column; call `begin` for each document before its rows."""

    def __init__(self) -> None:
        self.pages: dict[str, str | None] = {}
        """source -> the encoding of queries, None if not HTML; for documents with rows."""
        self.bases: dict[str, tuple[str, str]] = {}
        """source -> the base of its effective base element, for browsers and as in the column `base`."""
        self.current: str = ""
        self.pending_rows: int = -1
        self.is_new: bool = False

    def begin(self, document: Document, kind: str, pending_rows: int) -> None:
        """Begin a document.  pending_rows: the number of rows that `fill` has not had."""
        if pending_rows == self.pending_rows and self.is_new:
            del self.pages[self.current]  # the previous document had no rows
        self.is_new = kind in _KINDS and document.source not in self.pages
        self.pending_rows = pending_rows
        if kind in _KINDS:
            self.current = document.source
            self.pages[self.current] = output_encoding(document.content, document.charset) if kind == "html" else None

    def fill(self, batch: AnyBatch, hrefs: dict[str, str]) -> AnyBatch:
        """Return the batch with its column filled; the rows of a document may continue in the next.

        hrefs: the href of each effective base element (`Rows.base_hrefs`); those of finished documents are removed.
        """
        names = ("source", "base", "reference", "where", "target")
        rows = list(zip(*(batch.column(name) for name in names), strict=True))
        for source, base, reference, where, target in rows:
            # It also applies to references before it (HTML 4.2.3).
            is_base = where == "base href" and hrefs.get(source) == reference
            if is_base and source not in self.bases and self.pages.get(source) is not None:
                url = self._resolve(source, reference, base, where)
                if url and not url.startswith(("data:", "javascript:")):
                    self.bases[source] = (url, base if target is None else target.partition("#")[0])
        urls = [self._target(*row) for row in rows]
        self.pages = {source: page for source, page in self.pages.items() if source == self.current}
        self.bases = {source: base for source, base in self.bases.items() if source == self.current}
        for source in hrefs.keys() - {self.current}:
            del hrefs[source]
        self.pending_rows = -1
        self.is_new = False
        return batch.with_texts("browser", urls)

    def _target(self, source: str, base: str, reference: str | None, where: str, target: str | None) -> str | None:
        if reference is None or source not in self.pages:
            return None
        browser_base, column_base = self.bases.get(source, (base, base))
        if where == "base href" or where in _HEADER_FIELDS or (base != column_base and where.startswith(_EMBEDDED)):
            browser_base = base
        url = self._resolve(source, reference, browser_base, where)
        if url is None:
            return None if target is None else ""
        return None if url == target else url

    def _resolve(self, source: str, reference: str, base: str, where: str) -> str | None:
        # Header fields and style sheets always use UTF-8.
        has_encoding = where not in _HEADER_FIELDS and "(" not in where and "@" not in where
        return _resolve_as_browser(reference, base, (self.pages[source] if has_encoding else None) or "utf-8")


@bounded_cache(1 << 14)
def _resolve_as_browser(reference: str, base: str, encoding: str) -> str | None:
    try:
        url = whatwg.read(reference, base)
        if url is None or encoding == "utf-8" or url.protocol not in _ENCODED_SCHEMES:
            return None if url is None else url.href
        before, hash, fragment = reference.partition("#")
        start, mark, query = before.partition("?")
        if query.isascii():
            return url.href
        url = whatwg.read(f"{start}{mark}{_encode_query(query, encoding)}{hash}{fragment}", base)
    except Exception as error:
        note_kind(error)
        return None
    return None if url is None else url.href


def _encode_query(query: str, encoding: str) -> str:
    """Encode and percent-encode the characters beyond US-ASCII (URL Standard 1.3)."""
    from webencodings import lookup

    codec = lookup(encoding)
    assert codec is not None
    # Python's full codecs have other names (`charset`); gbk encodes less than it decodes (10.1.2).
    encode = codecs.lookup({"shift_jis": "cp932", "euc-kr": "cp949"}.get(encoding, codec.codec_info.name)).encode
    parts: list[str] = []
    for char in query:
        if char.isascii():
            parts.append(char)
            continue
        try:
            octets = encode(char, "strict")[0]
        except UnicodeError:
            parts.append(f"%26%23{ord(char)}%3B")  # as forms encode characters that their charset lacks
        else:
            parts += (f"%{octet:02X}" if octet in _ESCAPED_BYTES else chr(octet) for octet in octets)
    return "".join(parts)
