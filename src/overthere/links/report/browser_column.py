"""The column `browser`: targets by the WHATWG URL Standard, where they differ."""

from __future__ import annotations

import codecs
from typing import Any

from overthere.editions import whatwg
from overthere.ground.caches import bounded_cache
from overthere.links.documents.charset import MARKS, encoding
from overthere.links.documents.prescan import find_encoding
from overthere.links.faults import note_kind
from overthere.links.model import Document

__all__ = ["Browsing", "output_encoding"]

_READ = frozenset(("html", "xml", "css", "http"))
"""Kinds of documents whose references browsers parse; for running text no document says how."""
_FIELDS = frozenset(("Location", "Content-Location", "Link", "Refresh"))
_EMBEDDED = ("iframe srcdoc > ", "script ")
"""What may have a base of its own: a document in `srcdoc`, JSON-LD."""
_ENCODED = frozenset(f"{name}:" for name in whatwg.SPECIAL - {"ws", "wss"})
"""Those whose query is in the document's encoding: special, and neither ws nor wss (URL Standard 4.4, query state)."""
_QUERY = frozenset(b"\"#<>' ") | frozenset(range(0x21)) | frozenset(range(0x7F, 0x100))
"""The special-query percent-encode set (1.3), and what is beyond US-ASCII."""


def output_encoding(content: bytes, told: str | None) -> str:
    """The encoding in which an HTML document writes its queries (Encoding Standard 4.3, "get an output encoding").

    As `html.decode` finds it, but that UTF-16 is UTF-8.

    >>> output_encoding(b"<meta charset=latin1>", None), output_encoding(b"\\xe9", None), output_encoding(b"", "utf-16")
    ('windows-1252', 'windows-1252', 'utf-8')
    """
    if content.startswith(tuple(mark for mark, _ in MARKS)):
        return "utf-8"
    known = (None if told is None else encoding(told)) or find_encoding(content).encoding
    if known is None:
        try:
            content.decode()
        except UnicodeError:
            return "windows-1252"
    return "utf-8" if known is None or known.startswith(("utf-16", "replacement")) else known


class Browsing:
    """Fills the column; told of each document before its rows."""

    def __init__(self) -> None:
        self.pages: dict[str, str | None] = {}
        """Documents with rows, and the encoding in which one of HTML writes its queries."""
        self.bases: dict[str, tuple[str, str]] = {}
        """By the base element of a document that counts: what browsers have, and what stands in the column `base`."""
        self.last: str = ""
        self.rows: int = -1
        self.new: bool = False

    def begin(self, document: Document, kind: str, rows: int) -> None:
        """rows: how many wait to be filled."""
        if rows == self.rows and self.new:
            del self.pages[self.last]  # the one before had none
        self.new = kind in _READ and document.source not in self.pages
        self.rows = rows
        if kind in _READ:
            self.last = document.source
            self.pages[self.last] = output_encoding(document.content, document.charset) if kind == "html" else None

    def fill(self, batch: Any, hrefs: dict[str, str]) -> Any:
        """The batch with its column; the rows of a document may go on in the next.

        hrefs: what the base elements that count say (`Rows.hrefs`); those of documents that are over are taken out.
        """
        import pyarrow as pa

        names = ("source", "base", "reference", "where", "target")
        rows = list(zip(*(batch.column(name).to_pylist() for name in names), strict=True))
        for source, base, reference, where, target in rows:
            # It counts for what stands before it too (HTML 4.2.3).
            is_base = where == "base href" and hrefs.get(source) == reference
            if is_base and source not in self.bases and self.pages.get(source) is not None:
                url = self._read(source, reference, base, where)
                if url and not url.startswith(("data:", "javascript:")):
                    self.bases[source] = (url, base if target is None else target.partition("#")[0])
        opened = pa.array([self._row(*row) for row in rows], pa.string())
        self.pages = {source: page for source, page in self.pages.items() if source == self.last}
        self.bases = {source: base for source, base in self.bases.items() if source == self.last}
        for source in hrefs.keys() - {self.last}:
            del hrefs[source]
        self.rows = -1
        self.new = False
        return batch.set_column(batch.schema.get_field_index("browser"), "browser", opened)

    def _row(self, source: str, base: str, reference: str | None, where: str, target: str | None) -> str | None:
        if reference is None or source not in self.pages:
            return None
        outer, own = self.bases.get(source, (base, base))
        if where == "base href" or where in _FIELDS or (base != own and where.startswith(_EMBEDDED)):
            outer = base
        url = self._read(source, reference, outer, where)
        if url is None:
            return None if target is None else ""
        return None if url == target else url

    def _read(self, source: str, reference: str, base: str, where: str) -> str | None:
        # Fields of HTTP and style sheets have no encoding but UTF-8.
        own = where not in _FIELDS and "(" not in where and "@" not in where
        return _resolve_as_browser(reference, base, (self.pages[source] if own else None) or "utf-8")


@bounded_cache(1 << 14)
def _resolve_as_browser(reference: str, base: str, encoding: str) -> str | None:
    try:
        url = whatwg.read(reference, base)
        if url is None or encoding == "utf-8" or url.protocol not in _ENCODED:
            return None if url is None else url.href
        before, hash, fragment = reference.partition("#")
        start, mark, query = before.partition("?")
        if query.isascii():
            return url.href
        url = whatwg.read(f"{start}{mark}{_query(query, encoding)}{hash}{fragment}", base)
    except Exception as error:
        note_kind(error)
        return None
    return None if url is None else url.href


def _query(query: str, encoding: str) -> str:
    """The characters beyond US-ASCII, percent-encoded after encoding (URL Standard 1.3)."""
    from webencodings import lookup

    known = lookup(encoding)
    assert known is not None
    # Python has more under other names (`charset`); gbk writes less than it reads (10.1.2).
    encode = codecs.lookup({"shift_jis": "cp932", "euc-kr": "cp949"}.get(encoding, known.codec_info.name)).encode
    parts: list[str] = []
    for char in query:
        if char.isascii():
            parts.append(char)
            continue
        try:
            octets = encode(char, "strict")[0]
        except UnicodeError:
            parts.append(f"%26%23{ord(char)}%3B")  # as a form writes what its charset has not
        else:
            parts += (f"%{octet:02X}" if octet in _QUERY else chr(octet) for octet in octets)
    return "".join(parts)
