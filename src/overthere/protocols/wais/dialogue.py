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

_MAX_MESSAGE = 1 << 20
"""The limit of a message: ten times the size that Init requests, because servers count it differently."""
# The format names of servers of the time, with the equivalent media type.
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
"""Present request out of range: freeWAIS sends it at the end of a document."""


def dialogue(plan: Plan, policy: Policy) -> Dialogue:
    """Send Init, then search or read the document slice by slice; only Init if the search words are missing."""
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
    """Read a message without its header; its length is checked before it is read."""
    header = yield from wire.read_exactly(protocol.HEADER_LENGTH, where)
    try:
        length = protocol.message_length(header)
    except protocol.NotWAIS as error:
        raise ProtocolError(str(error), "WAIS 1.5 B", where=where) from None
    if length > _MAX_MESSAGE:
        raise LimitExceeded(f"a message of {length:,} octets, more than {_MAX_MESSAGE:,}", where=where)
    return (yield from wire.read_exactly(length, where))


def _greeting(octets: bytes, where: str) -> dict[str, Any]:
    """Parse the InitResponse; raise if the server rejects the client, or messages are too small for a slice (2.2)."""
    try:
        response = protocol.read_init_response(octets)
    except protocol.NotWAIS as error:
        raise ProtocolError(str(error), "WAIS 1.5 2.2", where=where) from None
    details = {"implementation": response.implementation, "message_size": response.preferred_size}
    if not response.accepted:
        raise ResourceMissing("the server declines", "", "WAIS 1.5 2.2", where=where)
    if 0 < response.maximum_size < SLICE:
        message = f"the server's longest record has {response.maximum_size:,} octets, a slice {SLICE:,}"
        raise ProtocolError(message, "WAIS 1.5 2.2", where=where)
    return details


def _response(octets: bytes, where: str) -> protocol.SearchResponse:
    try:
        return protocol.read_search_response(octets)
    except protocol.NotWAIS as error:
        raise ProtocolError(str(error), "WAIS 1.5 3.2", where=where) from None


def _missing_error(item: protocol.Diagnostic, where: str) -> ResourceMissing:
    return ResourceMissing(item.text or f"diagnostic {item.code}", item.code, "WAIS 1.5 4", where=where)


def _list_citations(wire: Wire, locator: WAISLocator, where: str, details: dict[str, Any]) -> Dialogue:
    """Yield the citations (RFC 1625 4) as entries, in the server's order, by score."""
    response = _response((yield from _message(wire, where)), where)
    if response.diagnostics and not response.citations:
        raise _missing_error(response.diagnostics[0], where)
    yield Hangup()
    details = {**details, "result_count": response.result_count, "seed_words_used": response.seed_words_used}
    if response.diagnostics:
        details["diagnostics"] = tuple((item.code, item.text) for item in response.diagnostics)
    yield Head(listing=True, details=details)
    for citation in response.citations:
        yield Item(_entry(locator, citation))


def _entry(locator: WAISLocator, item: protocol.Citation) -> Entry:
    uri = None
    if item.document_id:
        try:
            target = document(locator, item)
            slice_request(target, 0)
            uri = str(target.uri())
        except OverthereError:  # a type that a URI or a request cannot contain
            uri = None
    details: dict[str, Any] = {"types": item.types, "score": item.score}
    optional: dict[str, Any] = {"lines": item.lines, "size": item.length, "date": item.date, "source": item.source}
    optional["origin_city"] = item.origin_city
    details |= {name: value for name, value in optional.items() if value not in ("", "0", 0)}  # 0: it was not sent
    return Entry(item.headline.strip(), uri, ", ".join(item.types), details)


def _document(wire: Wire, locator: WAISLocator, where: str, details: dict[str, Any]) -> Dialogue:
    """Read a document slice by slice; the last slice is not full, or the server reports that it is out of range."""
    start = 0
    while True:
        response = _response((yield from _message(wire, where)), where)
        data = b"".join(text.data for text in response.texts)
        if len(data) > SLICE:
            raise ProtocolError(f"{len(data):,} octets instead of the requested {SLICE:,}", "RFC 1625 4", where=where)
        errors = [item for item in response.diagnostics if item.code != _OUT_OF_RANGE or not (data or start)]
        if errors:  # also with data, which then are not all
            raise _missing_error(errors[0], where)
        if not (response.texts or start or response.diagnostics):
            raise ProtocolError("neither text nor a diagnostic", "WAIS 1.5 3.2", where=where)
        last = len(data) < SLICE or bool(response.diagnostics)
        if start == 0:
            media_type = _MEDIA_TYPES.get((locator.wtype or "").upper())
            length = len(data) if last else None
            if response.texts:
                details = {**details, "version": response.texts[0].version}
            yield Head(media_type, "scheme" if media_type else "", length, details=details)
        if data:
            yield Data(data)
        if last:
            yield Hangup()
            return
        start += SLICE
        where = f"the octets of the document from {start:,} on"
        yield Write(slice_request(locator, start))
