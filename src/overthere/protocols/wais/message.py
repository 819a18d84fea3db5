"""WAIS messages: writes requests, reads answers; no socket is touched.

"WAIS 1.5" is the WAIS Interface Protocol, Prototype Functional Specification 1.5 of 1990, on Z39.50-1988; RFC 1625 4
names the codes of a retrieval.  The header of 25 bytes before each message and the tags from 131 on came with
version 2 of the protocol's library and are not specified: they follow existing servers and clients.
Where servers differ from the printed samples (the version as a bit map, the tag of the query type, only search
among the options), this module follows the servers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from overthere.ground.errors import OverthereError
from overthere.schemes.known.wais.identifier import read_compressed, tag_field

HEADER_LENGTH = 25
"""The bytes before each message: length (10), "z", "2", server (10), compression, encoding, checksum."""
INIT, INIT_RESPONSE, SEARCH, SEARCH_RESPONSE = 20, 21, 22, 23
_FIXED = {INIT: (), INIT_RESPONSE: (1,), SEARCH: (3, 3, 3, 1), SEARCH_RESPONSE: (1, 3, 3, 3)}
"""The lengths of the fields without a tag (WAIS 1.5 B)."""

# Tags of Z39.50-1988, table 19, and of WAIS 1.5, 5.1.
_REFERENCE_ID, _VERSION, _OPTIONS, _PREFERRED_SIZE, _MAXIMUM_SIZE = 2, 3, 4, 5, 6
_AUTHENTICATION, _IMPLEMENTATION = 7, (8, 9, 10)
_RESULT_SET_NAME, _DATABASE_NAMES, _ELEMENT_SET_NAMES, _QUERY_TYPE, _QUERY = 17, 18, 19, 20, 21
_PRESENT_STATUS, _DIAGNOSTIC = 27, 28
_ATTRIBUTE_LIST, _TERM, _OPERATOR = 44, 45, 46
_USER_INFORMATION, _SEED_WORDS, _DATE_FACTOR, _MAX_DOCUMENTS, _SEED_WORDS_USED = 99, 106, 111, 114, 115
_DOCUMENT_ID, _VERSION_NUMBER, _SCORE, _BEST_MATCH, _LENGTH, _SOURCE, _DATE, _HEADLINE, _CITY = range(116, 125)
_TEXT, _LINES, _TYPES, _TYPE = 127, 131, 132, 133
_CITATIONS, _TEXT_GROUP = (150, 151, 152, 154), 153
_RECORD_END = 0x1D


class NotWAIS(OverthereError, ValueError):
    """The data is not a valid message, APDU or element of the protocol."""


# -- Requests


def message(apdu: bytes) -> bytes:
    """Put a header before an APDU: no compression, no encoding, and a checksum that servers do not check.

    >>> message(b"...")
    b'0000000003z2wais        0...'
    """
    return b"%010dz2%-10s  0" % (len(apdu), b"wais") + apdu


def _number(value: int) -> bytes:
    """Write a binary integer in as few bytes as possible (WAIS Protocol Users Manual 14)."""
    return value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big")


def _apdu(kind: int, fixed: bytes, *fields: tuple[int, bytes | None]) -> bytes:
    """Write an APDU with its length indicator.  Raises: ValueError if it is too long for the indicator."""
    body = bytes([kind]) + fixed + b"".join(tag_field(tag, data) for tag, data in fields if data is not None)
    if len(body) > 0xFFFF:
        raise ValueError("the length indicator of an APDU must have two octets (WAIS 1.5 B)")
    return len(body).to_bytes(2, "big") + body


def init(
    size: int = 100_000,
    *,
    authentication: bytes | None = None,
    implementation: tuple[bytes | None, bytes | None, bytes | None] = (None, None, None),
) -> bytes:
    """Return the message with the Init APDU (WAIS 1.5 2.1 and B.1).

    size: the maximal size of messages; implementation: id, name and version.

    Search is the only facility of WAIS (RFC 1625 3, 4): a server declines a client that requests more.
    """
    fields = (
        (_VERSION, b"\x80"),
        (_OPTIONS, b"\x80"),
        (_PREFERRED_SIZE, _number(size)),
        (_MAXIMUM_SIZE, _number(size)),
        (_AUTHENTICATION, authentication),
        *zip(_IMPLEMENTATION, implementation, strict=True),
    )
    return message(_apdu(INIT, b"", *fields))


def search(database: bytes, words: bytes, limit: int = 40) -> bytes:
    """Return the message with a Search APDU of a type-3 query: the words as a person wrote them (WAIS 1.5 A, B.3.1).

    limit: the maximal number of documents in the answer.

    The server answers with full citations; dates have no weight (Date-Factor 1).
    """
    head = _search(database, b"3", (30, 5000, 30))
    query = tag_field(_SEED_WORDS, words) + tag_field(_DATE_FACTOR, b"\x01") + tag_field(_MAX_DOCUMENTS, _number(limit))
    return message(head + tag_field(_USER_INFORMATION, query))


def retrieval(
    database: bytes,
    document_id: bytes,
    wtype: bytes,
    start: int,
    end: int,
    *,
    name: bytes = b"",
    reference: bytes = b"",
) -> bytes:
    """Return the message with a Search APDU of a type-1 query: the bytes of a document from start to before end.

    name: of the result set, which servers do not keep (WAIS 1.5 3.1); reference: repeated in the answer, if given.

    The query is in reverse Polish notation: the document-id, then each condition with the operator "and" after it
    (RFC 1625 4; WAIS Protocol Users Manual 8).
    """
    elements = b" \x1fDocument Text"  # this element set for all databases
    head = _search(database, b"1", (10, 16, 15), name, elements, reference or None)
    terms = [(b"un re", document_id)]
    terms += [(b"wt re", wtype)] if wtype else []
    terms += [(b"wb ro", b"%d" % start), (b"wb rl", b"%d" % end)]
    query = b"".join(
        # Position, structure, truncation and completeness are ignored.
        tag_field(_ATTRIBUTE_LIST, attributes + b" ig ig ig ig")
        + tag_field(_TERM, term)
        + (tag_field(_OPERATOR, b"a") if number else b"")
        for number, (attributes, term) in enumerate(terms)
    )
    return message(head + tag_field(_QUERY, query))


def _search(
    database: bytes,
    query_type: bytes,
    sizes: tuple[int, int, int],
    name: bytes = b"",
    elements: bytes | None = None,
    reference: bytes | None = None,
) -> bytes:
    """Write a Search APDU.  sizes: Small-Set-Upper-Bound, Large-Set-Lower-Bound, Medium-Set-Present-Number (3.1)."""
    fixed = b"".join(size.to_bytes(3, "big") for size in sizes) + b"\x01"
    return _apdu(
        SEARCH,
        fixed,
        (_RESULT_SET_NAME, name),
        (_DATABASE_NAMES, database),
        (_QUERY_TYPE, query_type),
        (_ELEMENT_SET_NAMES, elements),
        (_REFERENCE_ID, reference),
    )


# -- Answers


class APDU(NamedTuple):
    """The parts of an APDU."""

    kind: int
    fixed: tuple[int, ...]
    fields: tuple[tuple[int, bytes], ...]
    """Tags and bytes, in order, as far as the length indicator covers them."""
    rest: bytes
    """The user information or the query."""

    def field(self, tag: int) -> bytes | None:
        """Return the first field with the tag, or None."""
        return next((data for number, data in self.fields if number == tag), None)


class InitResponse(NamedTuple):
    """Whether the server accepts the client, and the sizes of messages (WAIS 1.5 2.2)."""

    accepted: bool
    preferred_size: int
    maximum_size: int
    implementation: tuple[str, str, str]
    """Id, name and version."""


class Citation(NamedTuple):
    """A document that a search found (RFC 1625 4)."""

    document_id: bytes
    score: int
    """At most 1000, but servers may send any number."""
    best_match: int
    length: int
    lines: int
    types: tuple[str, ...]
    """The available formats."""
    source: str
    date: str
    headline: str
    origin_city: str
    version: int


class DocumentText(NamedTuple):
    """A piece of a document."""

    document_id: bytes
    data: bytes
    version: int


class Diagnostic(NamedTuple):
    """The reason why the answer is incomplete: a code of two characters, and text."""

    code: str
    text: str
    surrogate: bool
    """Whether it replaces a record."""


class SearchResponse(NamedTuple):
    """The result of a search or a retrieval (WAIS 1.5 3.2)."""

    search_status: int
    """1 with citations, 0 with text or after a failed search: `diagnostics` distinguishes these."""
    result_count: int
    records_returned: int
    next_position: int
    present_status: int
    reference: bytes
    seed_words_used: str
    citations: tuple[Citation, ...]
    texts: tuple[DocumentText, ...]
    diagnostics: tuple[Diagnostic, ...]


def message_length(header: bytes) -> int:
    """Return the number of bytes after a header of HEADER_LENGTH bytes.

    Raises: NotWAIS if the header is invalid, or the message is compressed or encoded.

    >>> message_length(b"0000000085z2wais        0")
    85
    """
    digits = header[:10]
    if len(header) != HEADER_LENGTH or not digits.isdigit() or header[10:11] not in b"zZ":
        raise NotWAIS(f"not the header of a WAIS message: it begins with {header[:1]!r}")
    if header[22:24].strip(b" \0"):
        raise NotWAIS(f"a compressed or encoded message: {header[22:24]!r}")
    return int(digits)


class _Elements:
    """Reads elements from bytes, one after the other."""

    __slots__ = ("at", "octets")

    def __init__(self, octets: bytes) -> None:
        self.octets, self.at = octets, 0

    def __bool__(self) -> bool:
        return self.at < len(self.octets)

    def take(self, count: int) -> bytes:
        """Read `count` bytes.  Raises: NotWAIS if there are fewer."""
        if self.at + count > len(self.octets):
            raise NotWAIS(f"an element of {count:,} octets where {len(self.octets) - self.at:,} are left")
        self.at += count
        return self.octets[self.at - count : self.at]

    def take_integer(self) -> int:
        try:
            number, self.at = read_compressed(self.octets, self.at)
        except ValueError as error:
            raise NotWAIS(f"{error} (Z39.50-1988 A.1.2)") from None
        return number

    def element(self) -> tuple[int, bytes]:
        """Read tag and bytes; only a diagnostic has a length of two bytes, and an end mark."""
        tag = self.take_integer()
        if tag != _DIAGNOSTIC:
            return tag, self.take(self.take_integer())
        data = self.take(int.from_bytes(self.take(2), "big"))
        if self and self.octets[self.at] == _RECORD_END:
            self.at += 1
        return tag, data

    def elements(self) -> Iterator[tuple[int, bytes]]:
        while self:
            yield self.element()


def read_apdu(octets: bytes) -> APDU:
    """Parse an APDU, request or answer, without the header of its message.  Raises: NotWAIS."""
    reader = _Elements(octets)
    body = _Elements(reader.take(int.from_bytes(reader.take(2), "big")))
    kind = body.take(1)[0]
    if kind not in _FIXED:
        raise NotWAIS(f"an APDU of type {kind} (WAIS 1.5 1.1)")
    fixed = tuple(int.from_bytes(body.take(size), "big") for size in _FIXED[kind])
    return APDU(kind, fixed, tuple(body.elements()), octets[reader.at :])


def _answer(octets: bytes, kind: int) -> APDU:
    apdu = read_apdu(octets)
    if apdu.kind != kind:
        raise NotWAIS(f"an APDU of type {apdu.kind} instead of {kind} (WAIS 1.5 1.1)")
    return apdu


def read_init_response(octets: bytes) -> InitResponse:
    """Parse the answer to `init`, without the header of its message.  Raises: NotWAIS."""
    apdu = _answer(octets, INIT_RESPONSE)
    name, title, version = (_text(apdu.field(tag)) for tag in _IMPLEMENTATION)
    return InitResponse(
        apdu.fixed[0] != 0,
        _integer(apdu.field(_PREFERRED_SIZE)),
        _integer(apdu.field(_MAXIMUM_SIZE)),
        (name, title, version),
    )


def read_search_response(octets: bytes) -> SearchResponse:
    """Parse the answer to `search` or `retrieval`, without the header of its message.  Raises: NotWAIS."""
    apdu = _answer(octets, SEARCH_RESPONSE)
    seed_words = ""
    citations: list[Citation] = []
    texts: list[DocumentText] = []
    diagnostics: list[Diagnostic] = []
    elements = _Elements(apdu.rest).elements()
    records = [element for tag, data in elements if tag == _USER_INFORMATION for element in _Elements(data).elements()]
    for tag, data in records:
        if tag == _SEED_WORDS_USED:
            seed_words = _text(data)
        elif tag in _CITATIONS:
            citations.append(_citation(data))
        elif tag == _TEXT_GROUP:
            fields = dict(_Elements(data).elements())
            version = _integer(fields.get(_VERSION_NUMBER))
            texts.append(DocumentText(fields.get(_DOCUMENT_ID, b""), fields.get(_TEXT, b""), version))
        elif tag == _DIAGNOSTIC:
            diagnostics.append(Diagnostic(_text(data[:2]), _text(data[2:-1]), data[-1:] not in (b"", b"\0")))
    status, count, records_returned, next_position = apdu.fixed
    return SearchResponse(
        search_status=status,
        result_count=count,
        records_returned=records_returned,
        next_position=next_position,
        present_status=_integer(apdu.field(_PRESENT_STATUS)),
        reference=apdu.field(_REFERENCE_ID) or b"",
        seed_words_used=seed_words,
        citations=tuple(citations),
        texts=tuple(texts),
        diagnostics=tuple(diagnostics),
    )


def _citation(data: bytes) -> Citation:
    fields = dict(_Elements(data).elements())
    types = [_text(name) for tag, name in _Elements(fields.get(_TYPES, b"")).elements() if tag == _TYPE]
    return Citation(
        document_id=fields.get(_DOCUMENT_ID, b""),
        score=_integer(fields.get(_SCORE)),
        best_match=_integer(fields.get(_BEST_MATCH)),
        length=_integer(fields.get(_LENGTH)),
        lines=_integer(fields.get(_LINES)),
        types=tuple(types),
        source=_text(fields.get(_SOURCE)),
        date=_text(fields.get(_DATE)),
        headline=_text(fields.get(_HEADLINE)),
        origin_city=_text(fields.get(_CITY)),
        version=_integer(fields.get(_VERSION_NUMBER)),
    )


def _text(data: bytes | None) -> str:
    """Decode text: the documents specify ASCII, other bytes are read as ISO Latin 1."""
    return (data or b"").decode("latin-1")


def _integer(data: bytes | None) -> int:
    """Parse a binary integer; 0 if it is missing."""
    if data is not None and len(data) > 8:
        raise NotWAIS(f"an integer of {len(data):,} octets (WAIS Protocol Users Manual 14)")
    return int.from_bytes(data or b"", "big")
