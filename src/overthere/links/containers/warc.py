"""Documents of a WARC file: responses, resources and conversions by WARC-Target-URI (WARC 1.1)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, cast

from overthere.base import Base, establish, to_reference
from overthere.ground.errors import InvalidURI, NotSpecified
from overthere.links.containers.model import Member, Place, Stream
from overthere.links.containers.records import Record, records
from overthere.links.containers.response import has_stated_length, read_content
from overthere.links.documents.header import HTTP, Fields, fields, first_value, header, reference_fields
from overthere.links.documents.kinds import media_type_of
from overthere.links.documents.metadata import METADATA, base_of, page_of
from overthere.links.faults import note_kind
from overthere.links.model import BegunPage, Document, Note, Options, PassedContent
from overthere.values.uri import URI

__all__ = ["members", "response", "target"]


_HOLDS_REFERENCES = re.compile(
    rb"\s*+\{\s*+\"(?:Envelope|Container)\"|(?:(?!outlink:|via:)[^\n]*+\n)*+(?:outlink|via):", re.IGNORECASE
)
"""What metadata begins with, or has among its fields, that holds references."""


def members(
    stream: Stream,
    document: Document,
    place: Place = Place(),  # noqa: B008 - a value
) -> Iterator[BegunPage | Member | Note | PassedContent]:
    """As `Container.members`, of the records that begin in [start, end) of the place, as `records.cuts()` gives them.

    The source of a record is the octet at which it begins, or its gzip member: `crawl.warc.gz!12345`. Its base is its
    WARC-Target-URI (RFC 3986 5.1.3), or what a Content-Location of HTTP says (5.1.2). A response whose header refers
    to something (Location, Link, Refresh) is two documents of the same source: one of type application/http, which
    `header.read()` reads, and the content. Metadata of WAT and Heritrix is a document, and so are the page lists of
    browsertrix. Requests, other metadata, revisits and what came by DNS hold no documents, and are passed over.
    """
    try:
        pages = None if place.pages is None else place.pages(document)
        for record in records(cast("BinaryIO", stream), place.options.limit, place.start, place.end, pages):
            if isinstance(record, BegunPage):
                yield record
                continue
            if record.passed:
                yield PassedContent(record.passed)
                if not record.notes:
                    continue
            here = _record_document(record, document)
            yield Member(here, documents=_documents(record, here, place.options))
    except OSError as error:
        yield Note(note_kind(error))


def _record_document(record: Record, outside: Document) -> Document:
    source = f"{outside.source}!{record.at}"
    return Document(source, b"", outside.base, notes=record.notes, depth=outside.depth + 1)


def _documents(record: Record, here: Document, options: Options) -> Iterator[Document | Note | PassedContent]:
    if not record.header:
        yield here
        return
    said = fields(record.header)
    notes = list(record.notes)
    if first_value(said, b"warc-truncated") or first_value(said, b"warc-segment-number"):
        notes.append("truncated")  # a segmented record goes on in other records (WARC 1.1 section 7)
    kind = first_value(said, b"warc-type").lower()
    told = first_value(said, b"warc-target-uri")
    uri = target(next((value for name, value in said if name == b"warc-target-uri"), b""))
    if uri is None and (told or kind != "metadata"):  # metadata needs none (WARC 1.1 section 5.10)
        notes.append("corrupt")
    elif uri is None:
        pass
    elif uri.scheme.lower() == "dns":
        yield PassedContent("dns")
        if notes:
            yield here._replace(notes=_unique(notes))
        return
    else:
        here = here._replace(base=Base(uri, "retrieval", "retrieval"))
    media_type, charset = media_type_of(first_value(said, b"content-type"))
    # The field may be missing (WARC 1.1 section 5.6).
    if media_type == HTTP or (kind == "response" and not media_type and header(record.content) is not None):
        yield from response(record.content, here, notes, options)
        return
    if kind == "metadata":
        if not _HOLDS_REFERENCES.match(record.content):
            yield PassedContent("metadata")
            if notes:
                yield here._replace(notes=_unique(notes))
            return
        media_type, charset = METADATA, None
    elif uri is not None and media_type == "application/json" and (page := page_of(str(uri))) is not None:
        here = here._replace(base=base_of(page, here.base))
        media_type, charset = METADATA, None
    content = record.content
    if len(content) > options.limit:
        content = content[: options.limit]
        notes.append("too-large")
    yield Document(here.source, content, here.base, media_type, charset, _unique(notes), here.depth)


def response(block: bytes, here: Document, notes: list[str], options: Options) -> Iterator[Document | PassedContent]:
    """The documents of an HTTP response: its header, if it refers to something, and its content."""
    head = header(block)
    if head is None:
        notes.append("corrupt")  # no status line: the block is taken for the content
        yield here._replace(content=block[: options.limit], notes=_unique(notes))
        return
    content, found = read_content(block, head, options.limit)
    # An archive that undoes codings leaves the length as it was; a block that is cut has its note already.
    if head.is_ended and not {*notes, *found} & {"truncated", "too-large", "wrong-type"}:
        found += [] if has_stated_length(block, head) else ["wrong-length"]
    notes += found
    if referring := reference_fields(head.fields):
        yield here._replace(content=referring, media_type=HTTP, notes=())
    base = _base(here.base, head.fields, options.edition)
    media_type, charset = media_type_of(first_value(head.fields, b"content-type"))
    if content or notes or head.status == 200:
        yield Document(here.source, content, base, media_type, charset, _unique(notes), here.depth)
    else:
        yield PassedContent("empty")


def _base(target: Base, fields: Fields, edition: str) -> Base:
    """The fields of HTTP that may give a base, as the edition has it; most responses have none."""
    said = [
        (name.decode(), value.decode("utf-8", "replace"))
        for name, value in fields
        if name in (b"content-location", b"content-base")
    ]
    if not said or target.layer != "retrieval":
        return target
    try:
        return establish(headers=said, retrieval=target.uri, edition=edition, protocol="http")
    except NotSpecified:
        return target


def target(octets: bytes) -> URI | None:
    """The WARC-Target-URI; the drafts of WARC 0.18 and 1.0 have it in angle brackets."""
    octets = octets.strip()
    if octets.startswith(b"<") and octets.endswith(b">"):
        octets = octets[1:-1]
    octets = octets.partition(b"#")[0]
    try:
        text = octets.decode()
    except UnicodeDecodeError:
        # Octets of another charset keep their values, as those of file names do.
        text = "".join(chr(octet) if octet < 0x80 else f"%{octet:02X}" for octet in octets)
    try:
        return URI(text)
    except InvalidURI:
        reference, _ = to_reference(text)
    return None if reference is None or reference.scheme is None else URI(str(reference))


def _unique(notes: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(notes))
