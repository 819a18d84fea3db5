"""The WAIS client: Init, the citations of a search, documents in slices (RFC 1625 4)."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from overthere.access.errors import LimitExceeded, ProtocolError, ResourceMissing
from overthere.access.planning import Plan
from overthere.access.policy import Policy
from overthere.access.steps import Connect, Receive, Send
from overthere.access.wire import Data, Dial, Dialogue, Effect, Entry, Hangup, Head, Item, Wire, Write
from overthere.ground.errors import OverthereError
from overthere.protocols.wais import message as protocol
from overthere.protocols.wais.steps import SLICE, WAISRole, document, slice_request
from overthere.schemes.known.wais import WAISLocator

__all__ = ["dialogue"]

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
    wire, details = Wire(policy.max_line), dict[str, Any]()
    for step in plan.steps:
        match step:
            case Connect(host=host, port=port):
                yield Dial(host, port)
            case Send(data=data):
                yield Write(data)
            case Receive(role=WAISRole.INIT_RESPONSE, what=what):
                details = _greeting((yield from _message(wire, what)), what)
            case Receive(role=WAISRole.DOCUMENT, what=what):
                yield from _document(wire, locator, what, details)
                return
            case Receive(role=WAISRole.CITATIONS, what=what):
                yield from _list_citations(wire, locator, what, details)
                return
            case _:
                raise ProtocolError(f"nothing can carry out {step.line()!r}", step.source, plan.uri)
    yield Hangup()
    yield Head(details=details)


def _message(wire: Wire, where: str) -> Generator[Effect, Any, bytes]:
    """A message without its header; its length is judged before it is read."""
    header = yield from wire.read_exactly(protocol.HEADER_LENGTH, where)
    try:
        length = protocol.message_length(header)
    except protocol.NotWAIS as error:
        raise ProtocolError(str(error), "WAIS 1.5 B", where=where) from None
    if length > _LONGEST:
        raise LimitExceeded(f"a message of {length:,} octets, more than {_LONGEST:,}", where=where)
    return (yield from wire.read_exactly(length, where))


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


def _missing_error(one: protocol.Diagnostic, where: str) -> ResourceMissing:
    return ResourceMissing(one.text or f"diagnostic {one.code}", one.code, "WAIS 1.5 4", where=where)


def _list_citations(wire: Wire, locator: WAISLocator, where: str, details: dict[str, Any]) -> Dialogue:
    """The citations (RFC 1625 4) as entries; the order is the server's, by the score."""
    told = _response((yield from _message(wire, where)), where)
    if told.diagnostics and not told.citations:
        raise _missing_error(told.diagnostics[0], where)
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
            raise ProtocolError(f"{len(data):,} octets instead of the requested {SLICE:,}", "RFC 1625 4", where=where)
        other = next((one for one in told.diagnostics if one.code != _OUT_OF_RANGE), None)
        if not data and told.diagnostics and (start == 0 or other is not None):
            raise _missing_error(other or told.diagnostics[0], where)
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
