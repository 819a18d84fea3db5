"""Documents of a WARC file: responses, resources and conversions by WARC-Target-URI (WARC 1.1)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, cast

from overthere.base import Base, establish, to_reference
from overthere.ground.errors import InvalidURI, NotSpecified
from overthere.links.containers.model import Member, Place, Stream
from overthere.links.containers.page_reader import Record
from overthere.links.containers.records import records
from overthere.links.containers.response import has_stated_length, read_content
from overthere.links.documents.header import HTTP, Fields, fields, first_value, header, reference_fields
from overthere.links.documents.kinds import media_type_of
from overthere.links.documents.metadata import METADATA, base_of, page_of
from overthere.links.faults import note_kind
from overthere.links.model import BegunPage, Document, Note, Options, PassedContent
from overthere.values.uri import URI

_REFERENCE_METADATA = re.compile(
    rb"\s*+\{\s*+\"(?:Envelope|Container)\"|(?:(?!outlink:|via:)[^\n]*+\n)*+(?:outlink|via):", re.IGNORECASE
)
"""Matches metadata with references, by its beginning or by one of its fields."""


def members(
    stream: Stream,
    document: Document,
    place: Place = Place(),  # noqa: B008 - a value
) -> Iterator[BegunPage | Member | Note | PassedContent]:
    """Yield the records that begin in [start, end) of the place, from `records.find_cuts()`, as `Container.members`.

    The source of a record is its offset, or that of its gzip member: `crawl.warc.gz!12345`. Its base is its
    WARC-Target-URI (RFC 3986 5.1.3), or a Content-Location of HTTP (5.1.2). A response whose header has references
    (Location, Link, Refresh) is two documents of the same source: one of type application/http, which `header.read()`
    reads, and the content. Metadata of WAT and Heritrix is a document, as are page lists of browsertrix. Requests,
    other metadata, revisits and DNS records are only counted.
    """
    try:
        pages = None if place.pages is None else place.pages(document, place.budget)
        file, limit = cast("BinaryIO", stream), place.options.limit
        for record in records(file, limit, place.start, place.end, pages, place.budget):
            if isinstance(record, BegunPage):
                yield record
                continue
            if record.passed:
                yield PassedContent(record.passed)
                if not record.notes:
                    continue
            record_document = _make_document(record, document)
            yield Member(record_document, documents=_read_documents(record, record_document, place.options))
    except OSError as error:
        yield Note(note_kind(error))


def _make_document(record: Record, container: Document) -> Document:
    source = f"{container.source}!{record.at}"
    return Document(source, b"", container.base, notes=record.notes, depth=container.depth + 1)


def _read_documents(record: Record, document: Document, options: Options) -> Iterator[Document | Note | PassedContent]:
    if not record.header:
        yield document
        return
    warc_fields = fields(record.header)
    notes = list(record.notes)
    if first_value(warc_fields, b"warc-truncated") or first_value(warc_fields, b"warc-segment-number"):
        notes.append("truncated")  # a segmented record continues in other records (WARC 1.1 section 7)
    kind = first_value(warc_fields, b"warc-type").lower()
    text = first_value(warc_fields, b"warc-target-uri")
    uri = parse_target(next((value for name, value in warc_fields if name == b"warc-target-uri"), b""))
    if uri is None and (text or kind != "metadata"):  # metadata needs none (WARC 1.1 section 5.10)
        notes.append("corrupt")
    elif uri is None:
        pass
    elif uri.scheme.lower() == "dns":
        yield PassedContent("dns")
        if notes:
            yield document._replace(notes=_unique(notes))
        return
    else:
        document = document._replace(base=Base(uri, "retrieval", "retrieval"))
    media_type, charset = media_type_of(first_value(warc_fields, b"content-type"))
    # The field may be missing (WARC 1.1 section 5.6).
    if media_type == HTTP or (kind == "response" and not media_type and header(record.content) is not None):
        yield from response(record.content, document, notes, options)
        return
    if kind == "metadata":
        if not _REFERENCE_METADATA.match(record.content):
            yield PassedContent("metadata")
            if notes:
                yield document._replace(notes=_unique(notes))
            return
        media_type, charset = METADATA, None
    elif uri is not None and media_type == "application/json" and (page := page_of(str(uri))) is not None:
        document = document._replace(base=base_of(page, document.base))
        media_type, charset = METADATA, None
    content = record.content
    if len(content) > options.limit:
        content = content[: options.limit]
        notes.append("too-large")
    yield Document(document.source, content, document.base, media_type, charset, _unique(notes), document.depth)


def response(data: bytes, document: Document, notes: list[str], options: Options) -> Iterator[Document | PassedContent]:
    """Yield the documents of an HTTP response: its header, if it has references, and its content."""
    head = header(data)
    if head is None:
        notes.append("corrupt")  # no status line: the block is read as content
        yield document._replace(content=data[: options.limit], notes=_unique(notes))
        return
    content, content_notes = read_content(data, head, options.limit)
    # An archive that undoes codings keeps the length; a block that is cut off has its note already.
    if head.is_ended and not {*notes, *content_notes} & {"truncated", "too-large", "wrong-type"}:
        content_notes += [] if has_stated_length(data, head) else ["wrong-length"]
    notes += content_notes
    if reference_lines := reference_fields(head.fields):
        yield document._replace(content=reference_lines, media_type=HTTP, notes=())
    base = _find_base(document.base, head.fields, options.edition)
    media_type, charset = media_type_of(first_value(head.fields, b"content-type"))
    if content or notes or head.status == 200:
        yield Document(document.source, content, base, media_type, charset, _unique(notes), document.depth)
    else:
        yield PassedContent("empty")


def _find_base(default: Base, fields: Fields, edition: str) -> Base:
    """Return the base that HTTP fields give in the edition; without one, which is usual, the default."""
    base_fields = [
        (name.decode(), value.decode("utf-8", "replace"))
        for name, value in fields
        if name in (b"content-location", b"content-base")
    ]
    if not base_fields or default.layer != "retrieval":
        return default
    try:
        return establish(headers=base_fields, retrieval=default.uri, edition=edition, protocol="http")
    except NotSpecified:
        return default


def parse_target(octets: bytes) -> URI | None:
    """Parse a WARC-Target-URI; the drafts of WARC 0.18 and 1.0 write it in angle brackets."""
    octets = octets.strip()
    if octets.startswith(b"<") and octets.endswith(b">"):
        octets = octets[1:-1]
    octets = octets.partition(b"#")[0]
    try:
        text = octets.decode()
    except UnicodeDecodeError:
        # Bytes of another charset keep their values, as those of file names do.
        text = "".join(chr(octet) if octet < 0x80 else f"%{octet:02X}" for octet in octets)
    try:
        return URI(text)
    except InvalidURI:
        reference, _ = to_reference(text)
    return None if reference is None or reference.scheme is None else URI(str(reference))


def _unique(notes: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(notes))
