"""WAIS: the search or the retrieval that a URI stands for (RFC 4156 2; RFC 1625 4; WAIS Interface Protocol 1.5)."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from overthere.access.errors import LimitExceeded, ProtocolError, ResourceMissing
from overthere.access.steps import Connect, Credentials, Receive, Send, Step, connect, guarded
from overthere.access.wire import Data, Dial, Dialogue, Effect, Entry, Hangup, Head, Item, Wire, Write
from overthere.errors import OverthereError, PlanRefused
from overthere.protocols.wais import message as protocol
from overthere.schemes.known.wais import PORT, WAISLocator

if TYPE_CHECKING:
    from overthere.access.planning import Plan
    from overthere.access.policy import Policy

__all__ = ["SLICE", "dialogue", "document", "slice_request", "steps"]

SLICE = 10_000
"""How many octets of a document are asked for at a time, so that an answer fits into any server's message."""


def steps(locator: WAISLocator, credentials: Credentials) -> Iterator[Step]:
    """Init, then one search: by words, or by the document-id.  The protocol has no credentials (RFC 4156 3)."""
    if locator.query is not None:
        raise PlanRefused("a document in a WAIS database is not searched: it has no query (RFC 4156 2)")
    if locator.database is None:
        raise PlanRefused("there is no database: a slash and its name follow the host (RFC 4156 2)")
    if locator.wtype is not None and locator.wpath is None:
        raise PlanRefused("a document is named by its type and its document-id, here is a type alone (RFC 4156 2)")
    yield connect(locator.host, PORT if locator.port is None else locator.port, "RFC 4156 2")
    searchable = locator.wtype is None and not locator.words
    note = "the database is there to be searched: the words follow a question mark (RFC 4156 2)" if searchable else ""
    yield Send(source="WAIS 1.5 2.1", data=protocol.init(), lines=0, note=note)
    yield Receive(source="WAIS 1.5 2.2", what="the longest message that the server takes", until="length")
    if locator.wtype is not None:
        # Its database is found by the name in the request; the document-id goes as it came (RFC 4156 2).
        note = f"an answer with all {SLICE:,} octets: the same request is sent for the next {SLICE:,} (RFC 1625 4)"
        yield Send(source="RFC 1625 4", data=slice_request(locator, 0), lines=0, note=note)
        yield Receive(source="WAIS 1.5 4.4", what=f"the first {SLICE:,} octets of the document", until="length")
    elif not searchable:
        words = guarded(locator.search or "", "search", "WAIS 1.5 A", charset=locator.charset)
        yield Send(source="WAIS 1.5 A", data=protocol.search(_database(locator), words), lines=0)
        yield Receive(source="RFC 1625 4", what="the citations of the documents found", until="length")


def slice_request(locator: WAISLocator, start: int) -> bytes:
    """The message that asks for the octets of a document from `start` on, SLICE of them.

    Raises: PlanRefused if the type or the name of the database would end a field.
    """
    wtype = guarded(locator.wtype or "", "wtype", "RFC 1625 4", charset=locator.charset)
    return protocol.retrieval(_database(locator), locator.wpath or b"", wtype, start, start + SLICE)


def _database(locator: WAISLocator) -> bytes:
    """Its name; in a list of names 1F stands between them, and an element set follows 1E."""
    name = guarded(locator.database or "", "database", "WAIS 1.5 B.3", delimiters=b"\x1e\x1f", charset=locator.charset)
    if len(name) > 60_000:
        raise PlanRefused("the name of the database is too long for the header of an APDU (WAIS 1.5 B)")
    return name


def document(locator: WAISLocator, citation: protocol.Citation, wtype: str = "") -> WAISLocator:
    """Where a document is that a search has found.

    locator: of the search; wtype: which of the formats is wanted, the first one unless given.
    """
    name = wtype or (citation.types[0] if citation.types else "TEXT")
    docid = citation.document_id
    # A citation has its types as ISO Latin 1, so that each octet is a character.
    database = None if locator.database is None else locator.octets(locator.database).decode("latin-1")
    there = replace(locator, database=database, wtype=name, wpath=docid, as_fields=True, charset="latin-1")
    return replace(there, search=None, fragment=None, written=None)


# -- carrying it out

_LONGEST = 1 << 20
"""What is read of one message: ten times what Init asks for, as servers count the size in their own ways."""
# The names that servers of the time gave to formats, where a media type says the same.
_MEDIA_TYPES = {
    "TEXT": "text/plain",
    "HTML": "text/html",
    "GIF": "image/gif",
    "JPEG": "image/jpeg",
    "TIFF": "image/tiff",
    "PS": "application/postscript",
    "POSTSCRIPT": "application/postscript",
    "RTF": "application/rtf",
    "DVI": "application/x-dvi",
    "MPEG": "video/mpeg",
    "WSRC": "application/x-wais-source",
}
_OUT_OF_RANGE = "SF"
"""Present request out of range: how freeWAIS says that a document has ended."""


def dialogue(plan: Plan, policy: Policy) -> Dialogue:
    """Init, then the search or the document, slice by slice; only Init where there are no words to search for."""
    locator = plan.locator
    assert isinstance(locator, WAISLocator)
    wire, greeted, details = Wire(policy.max_line), False, {}
    for step in plan.steps:
        match step:
            case Connect(host=host, port=port):
                yield Dial(host, port)
            case Send(data=data):
                yield Write(data)
            case Receive(what=what) if not greeted:
                details, greeted = _greeting((yield from _message(wire, what)), what), True
            case Receive(what=what) if locator.wtype is not None:
                yield from _document(wire, locator, what, details)
                return
            case Receive(what=what):
                yield from _found(wire, locator, what, details)
                return
            case _:
                raise ProtocolError(f"nothing carries out {step.line()!r}", step.source, plan.uri)
    yield Hangup()
    yield Head(details=details)


def _message(wire: Wire, where: str) -> Generator[Effect, Any, bytes]:
    """A message without its header; its length is judged before it is read."""
    header = yield from wire.exactly(protocol.HEADER_LENGTH, where)
    try:
        length = protocol.message_length(header)
    except protocol.NotWAIS as error:
        raise ProtocolError(str(error), "WAIS 1.5 B", where=where) from None
    if length > _LONGEST:
        raise LimitExceeded(f"a message of {length:,} octets, more than {_LONGEST:,}", where=where)
    return (yield from wire.exactly(length, where))


def _greeting(octets: bytes, where: str) -> dict[str, Any]:
    """Whether the server takes us, and messages that a slice fits into (WAIS 1.5 2.2)."""
    try:
        told = protocol.read_init_response(octets)
    except protocol.NotWAIS as error:
        raise ProtocolError(str(error), "WAIS 1.5 2.2", where=where) from None
    details = {"implementation": told.implementation, "message_size": told.preferred_size}
    if not told.accepted:
        raise ResourceMissing("the server declines", "", "WAIS 1.5 2.2", where=where)
    if 0 < told.maximum_size < SLICE:
        message = f"the server's longest record has {told.maximum_size:,} octets, a slice {SLICE:,}"
        raise ProtocolError(message, "WAIS 1.5 2.2", where=where)
    return details


def _response(octets: bytes, where: str) -> protocol.SearchResponse:
    try:
        return protocol.read_search_response(octets)
    except protocol.NotWAIS as error:
        raise ProtocolError(str(error), "WAIS 1.5 3.2", where=where) from None


def _missing(one: protocol.Diagnostic, where: str) -> ResourceMissing:
    return ResourceMissing(one.text or f"diagnostic {one.code}", one.code, "WAIS 1.5 4", where=where)


def _found(wire: Wire, locator: WAISLocator, where: str, details: dict[str, Any]) -> Dialogue:
    """The citations (RFC 1625 4) as entries; the order is the server's, by the score."""
    told = _response((yield from _message(wire, where)), where)
    if told.diagnostics and not told.citations:
        raise _missing(told.diagnostics[0], where)
    yield Hangup()
    details = {**details, "result_count": told.result_count, "seed_words_used": told.seed_words_used}
    if told.diagnostics:
        details["diagnostics"] = tuple((one.code, one.text) for one in told.diagnostics)
    yield Head(listing=True, details=details)
    for one in told.citations:
        yield Item(_entry(locator, one))


def _entry(locator: WAISLocator, one: protocol.Citation) -> Entry:
    uri = None
    if one.document_id:
        try:
            there = document(locator, one)
            slice_request(there, 0)
            uri = str(there.uri())
        except OverthereError:  # a type that no URI or no request holds
            uri = None
    details: dict[str, Any] = {"types": one.types, "score": one.score, "lines": one.lines, "size": one.length}
    texts = {"date": one.date, "source": one.source, "origin_city": one.origin_city}
    details |= {name: value for name, value in texts.items() if value not in ("", "0")}
    return Entry(one.headline.strip(), uri, ", ".join(one.types), details)


def _document(wire: Wire, locator: WAISLocator, where: str, details: dict[str, Any]) -> Dialogue:
    """Slice by slice: one that is not full is the last, and so is one of which the server says that it lies outside."""
    start = 0
    while True:
        told = _response((yield from _message(wire, where)), where)
        data = b"".join(text.data for text in told.texts)
        if len(data) > SLICE:
            raise ProtocolError(f"{len(data):,} octets where {SLICE:,} were asked for", "RFC 1625 4", where=where)
        other = next((one for one in told.diagnostics if one.code != _OUT_OF_RANGE), None)
        if not data and told.diagnostics and (start == 0 or other is not None):
            raise _missing(other or told.diagnostics[0], where)
        last = len(data) < SLICE or bool(told.diagnostics)
        if start == 0:
            media_type = _MEDIA_TYPES.get((locator.wtype or "").upper())
            length = len(data) if last else None
            if told.texts:
                details = {**details, "version": told.texts[0].version}
            yield Head(media_type, "scheme" if media_type else "", length, details=details)
        if data:
            yield Data(data)
        if last:
            yield Hangup()
            return
        start += SLICE
        where = f"the octets of the document from {start:,} on"
        yield Write(slice_request(locator, start))
