"""WAIS: the search or retrieval of a URI (RFC 4156 2; RFC 1625 4; WAIS Interface Protocol 1.5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from overthere.access.steps import Credentials, Receive, Role, Send, Step, connect, guarded
from overthere.ground.errors import Cited, PlanRefused
from overthere.protocols.wais import message as protocol
from overthere.schemes.known.wais import PORT, WAISLocator

SLICE = 10_000
"""The bytes of a document in one request, so that an answer fits into any server's message."""


class WAISRole(Role):
    """The answers that the dialogue distinguishes."""

    INIT_RESPONSE = "InitResponse"
    DOCUMENT = "document"
    CITATIONS = "citations"


def steps(locator: WAISLocator, credentials: Credentials) -> Iterator[Step]:
    """Return Init, then one search: by words or by document-id.  The protocol has no credentials (RFC 4156 3)."""
    if locator.query is not None:
        raise PlanRefused("a document in a WAIS database cannot be searched: it has no query", "RFC 4156 2")
    if locator.database is None:
        raise PlanRefused("the database is missing: a slash and its name must follow the host", "RFC 4156 2")
    if locator.wtype is not None and locator.wpath is None:
        raise PlanRefused("a document needs its type and its document-id, but here is only a type", "RFC 4156 2")
    yield connect(locator.host, PORT if locator.port is None else locator.port, "RFC 4156 2")
    searchable = locator.wtype is None and not locator.words
    note = Cited("the search words are missing: they follow a question mark", "RFC 4156 2") if searchable else ""
    yield Send(source="WAIS 1.5 2.1", data=protocol.init(), lines=0, note=note)
    description = "the longest message that the server takes"
    yield Receive(source="WAIS 1.5 2.2", what=description, until="length", role=WAISRole.INIT_RESPONSE)
    if locator.wtype is not None:
        # The name in the request selects the database; the document-id is sent unchanged (RFC 4156 2).
        note = Cited(
            f"an answer with all {SLICE:,} octets: the same request is sent for the next {SLICE:,}", "RFC 1625 4"
        )
        yield Send(source="RFC 1625 4", data=slice_request(locator, 0), lines=0, note=note)
        description = f"the first {SLICE:,} octets of the document"
        yield Receive(source="WAIS 1.5 4.4", what=description, until="length", role=WAISRole.DOCUMENT)
    elif not searchable:
        words = guarded(locator.search or "", "search", "WAIS 1.5 A", charset=locator.charset)
        yield Send(source="WAIS 1.5 A", data=protocol.search(_database(locator), words), lines=0)
        description = "the citations of the documents found"
        yield Receive(source="RFC 1625 4", what=description, until="length", role=WAISRole.CITATIONS)


def slice_request(locator: WAISLocator, start: int) -> bytes:
    """Return the message that requests SLICE bytes of a document from `start` on.

    Raises: PlanRefused if the type or the name of the database contains a byte that would end a field.
    """
    wtype = guarded(locator.wtype or "", "wtype", "RFC 1625 4", charset=locator.charset)
    return protocol.retrieval(_database(locator), locator.wpath or b"", wtype, start, start + SLICE)


def _database(locator: WAISLocator) -> bytes:
    """Encode the name of the database; 1F separates names in a list, and 1E begins an element set."""
    name = guarded(locator.database or "", "database", "WAIS 1.5 B.3", delimiters=b"\x1e\x1f", charset=locator.charset)
    if len(name) > 60_000:
        raise PlanRefused("the name of the database is too long for the header of an APDU", "WAIS 1.5 B")
    return name


def document(locator: WAISLocator, citation: protocol.Citation, wtype: str = "") -> WAISLocator:
    """Return the locator of a document that a search has found.

    locator: of the search; wtype: the format, by default the citation's first one.
    """
    name = wtype or (citation.types[0] if citation.types else "TEXT")
    docid = citation.document_id
    # The types in a citation are decoded as ISO Latin 1, in which each byte is a character.
    database = None if locator.database is None else locator.octets(locator.database).decode("latin-1")
    target = replace(locator, database=database, wtype=name, wpath=docid, as_fields=True, charset="latin-1")
    return replace(target, search=None, fragment=None, written=None)
