"""WAIS messages: writes requests, reads answers; no socket is touched.

"WAIS 1.5" is the WAIS Interface Protocol, Prototype Functional Specification 1.5 of 1990, on Z39.50-1988; RFC 1625 4
names the codes of a retrieval.  The header of 25 octets before each message and the tags from 131 on came with
version 2 of the protocol's library and stand in no specification: they are as servers and clients send them.
Where the printed samples and what servers take differ (the version as a bit map, the tag of the query type, search
alone among the options), the servers are followed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from overthere.ground.errors import OverthereError
from overthere.schemes.known.wais.identifier import read_compressed, tag_field

__all__ = [
    "APDU", "HEADER_LENGTH", "Citation", "Diagnostic", "DocumentText", "InitResponse", "NotWAIS", "SearchResponse",
    "init", "message", "message_length", "read_apdu", "read_init_response", "read_search_response", "retrieval",
    "search",
]  # fmt: skip

HEADER_LENGTH = 25
"""How many octets stand before each message: length (10), "z", "2", server (10), compression, encoding, checksum."""
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
    """Octets that are no message, no APDU or no element as the protocol has them."""


# -- Requests


def message(apdu: bytes) -> bytes:
    """An APDU behind its header: no compression, no encoding, and a checksum that no server checks.

    >>> message(b"...")
    b'0000000003z2wais        0...'
    """
    return b"%010dz2%-10s  0" % (len(apdu), b"wais") + apdu


def _number(value: int) -> bytes:
    """A binary integer in as few octets as it needs (WAIS Protocol Users Manual 14)."""
    return value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big")


def _apdu(kind: int, fixed: bytes, *fields: tuple[int, bytes | None]) -> bytes:
    """The part that the length indicator measures.  Raises: ValueError if that has not enough octets."""
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
    """The Init APDU in its message (WAIS 1.5 2.1 and B.1).

    size: the longest message that is wanted; implementation: id, name and version.

    Search is the only facility that WAIS has (RFC 1625 3, 4): a server declines a client that asks for more.
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
    """The Search APDU with a type-3 query in its message: the words as a person wrote them (WAIS 1.5 A, B.3.1).

    limit: how many documents the answer may name.

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
    """The Search APDU with a type-1 query in its message: the octets of a document from start to before end.

    name: of the result set, which no server keeps (WAIS 1.5 3.1); reference: comes back in the answer, if it is given.

    The query is in reverse Polish notation: the document-id, then each condition with the operator "and" behind it
    (RFC 1625 4; WAIS Protocol Users Manual 8).
    """
    elements = b" \x1fDocument Text"  # for databases that are not named, this element set
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
    """sizes: Small-Set-Upper-Bound, Large-Set-Lower-Bound, Medium-Set-Present-Number; "replace" is on (3.1)."""
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
    """What any APDU holds."""

    kind: int
    fixed: tuple[int, ...]
    fields: tuple[tuple[int, bytes], ...]
    """Tag and octets, in their order, up to where the length indicator ends."""
    rest: bytes
    """The user information, or the query."""

    def field(self, tag: int) -> bytes | None:
        """The first field with that tag."""
        return next((data for number, data in self.fields if number == tag), None)


class InitResponse(NamedTuple):
    """Whether the server takes the client, and how long a message may be (WAIS 1.5 2.2)."""

    accepted: bool
    preferred_size: int
    maximum_size: int
    implementation: tuple[str, str, str]
    """Id, name and version."""


class Citation(NamedTuple):
    """A document that a search found (RFC 1625 4)."""

    document_id: bytes
    score: int
    """At most 1000, or what the server will."""
    best_match: int
    length: int
    lines: int
    types: tuple[str, ...]
    """The formats in which it can be had."""
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
    """Why there is not all that was asked for: a code of two characters, and words."""

    code: str
    text: str
    surrogate: bool
    """Whether it stands in the place of a record."""


class SearchResponse(NamedTuple):
    """What came of a search or a retrieval (WAIS 1.5 3.2)."""

    search_status: int
    """1 where citations come, 0 where text does or where the search failed: `diagnostics` tells these apart."""
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
    """How many octets follow a header of HEADER_LENGTH octets.

    Raises: NotWAIS if it is none, or if the message is compressed or encoded.

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
    """Octets from which elements are taken, one after the other."""

    __slots__ = ("at", "octets")

    def __init__(self, octets: bytes) -> None:
        self.octets, self.at = octets, 0

    def __bool__(self) -> bool:
        return self.at < len(self.octets)

    def take(self, count: int) -> bytes:
        """So many octets.  Raises: NotWAIS if there are less."""
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
        """Tag and octets; only a diagnostic has a length of two octets, and an end of its own."""
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
    """An APDU, request or answer, without the header of its message.  Raises: NotWAIS."""
    whole = _Elements(octets)
    head = _Elements(whole.take(int.from_bytes(whole.take(2), "big")))
    kind = head.take(1)[0]
    if kind not in _FIXED:
        raise NotWAIS(f"an APDU of type {kind} (WAIS 1.5 1.1)")
    fixed = tuple(int.from_bytes(head.take(size), "big") for size in _FIXED[kind])
    return APDU(kind, fixed, tuple(head.elements()), octets[whole.at :])


def _answer(octets: bytes, kind: int) -> APDU:
    apdu = read_apdu(octets)
    if apdu.kind != kind:
        raise NotWAIS(f"an APDU of type {apdu.kind} instead of {kind} (WAIS 1.5 1.1)")
    return apdu


def read_init_response(octets: bytes) -> InitResponse:
    """The answer to `init`, without the header of its message.  Raises: NotWAIS."""
    apdu = _answer(octets, INIT_RESPONSE)
    name, title, version = (_text(apdu.field(tag)) for tag in _IMPLEMENTATION)
    return InitResponse(
        apdu.fixed[0] != 0,
        _integer(apdu.field(_PREFERRED_SIZE)),
        _integer(apdu.field(_MAXIMUM_SIZE)),
        (name, title, version),
    )


def read_search_response(octets: bytes) -> SearchResponse:
    """The answer to `search` or `retrieval`, without the header of its message.  Raises: NotWAIS."""
    apdu = _answer(octets, SEARCH_RESPONSE)
    seed_words = ""
    citations: list[Citation] = []
    texts: list[DocumentText] = []
    diagnostics: list[Diagnostic] = []
    outside = _Elements(apdu.rest).elements()
    inside = [element for tag, data in outside if tag == _USER_INFORMATION for element in _Elements(data).elements()]
    for tag, data in inside:
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
    status, count, returned, following = apdu.fixed
    return SearchResponse(
        search_status=status,
        result_count=count,
        records_returned=returned,
        next_position=following,
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
    """ASCII is printed; what is more is read as ISO Latin 1."""
    return (data or b"").decode("latin-1")


def _integer(data: bytes | None) -> int:
    """A binary integer; 0 where there is none."""
    if data is not None and len(data) > 8:
        raise NotWAIS(f"an integer of {len(data):,} octets (WAIS Protocol Users Manual 14)")
    return int.from_bytes(data or b"", "big")
