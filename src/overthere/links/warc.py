"""The documents of a WARC file: responses, resources and conversions, retrieved by their WARC-Target-URI (WARC 1.1)."""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO, Literal

from overthere.base import Base, establish, to_reference
from overthere.errors import InvalidURI, NotSpecified
from overthere.links.faults import guarded
from overthere.links.kinds import media_type_of
from overthere.links.model import Document, Found, Note, Options
from overthere.links.records import Record, records
from overthere.uri import URI

if TYPE_CHECKING:
    from fastwarc.warc import HeaderMap, WarcRecord

__all__ = ["HTTP", "members", "read"]

HTTP = "application/http"
"""The media type of a document that is the header of an HTTP response: its references, for `read()`."""

_LENGTH = re.compile(rb"(?<=\nContent-Length:)[ \t]*+[0-9]*+", re.IGNORECASE)
_FOLDED = re.compile(r"\r?\n[ \t]++")
# A link-value: the reference in angle brackets, then parameters, which may be quoted (RFC 8288 3).
_LINK = re.compile(r"[\s,]*+<([^<>]*+)>((?:[^,\"]|\"(?:[^\"\\]|\\.)*+\"?)*+)", re.DOTALL)


def members(
    file: BinaryIO, document: Document, options: Options, start: int = 0, end: int | None = None
) -> Iterator[Document | Note]:
    """The documents in the records that begin in [start, end), which come from `records.cuts()` if they are given.

    The source of a record is the octet at which it begins, or its gzip member: `crawl.warc.gz!12345`. Its base is its
    WARC-Target-URI (RFC 3986 5.1.3), or what a Content-Location of HTTP says (5.1.2). A response whose header refers
    to something (Location, Link) is two documents of the same source: one of type application/http, which `read()`
    reads, and the content. Requests, metadata, revisits and what came by DNS hold no documents.
    """
    try:
        for record in records(file, options.limit, start, end):
            here = _here(record, document)
            yield from guarded(_documents(record, here, options), here.failed)
    except OSError:
        yield Note("unreadable")


def read(document: Document, options: Options) -> Iterator[Found | Note]:
    """The references in the header of an HTTP response: Location (RFC 9110 10.2.2) and Link (RFC 8288 3)."""
    text = _FOLDED.sub(" ", document.content.decode("utf-8", "replace"))
    for line in text.split("\n"):
        name, colon, value = line.partition(":")
        match name.lower() if colon else "":
            case "location" | "content-location":
                yield Found(name.title(), value.strip())
            case "link":
                at = 0
                while link := _LINK.match(value, at):
                    yield Found("Link", link[1].strip())
                    at = link.end()
            case "":
                if not line.strip():
                    return  # the content begins
            case _:
                pass


def _here(record: Record, outside: Document) -> Document:
    source = f"{outside.source}!{record.at}"
    return Document(source, b"", outside.base, notes=record.notes, depth=outside.depth + 1)


def _documents(record: Record, here: Document, options: Options) -> Iterator[Document]:
    if not record.header:
        yield here
        return
    try:
        warc = _opened(record)
        headers = warc.headers
    except (OSError, ValueError):
        yield here._replace(notes=(*record.notes, "corrupt"))
        return
    notes = list(record.notes)
    if _field(headers, "WARC-Truncated") or _field(headers, "WARC-Segment-Number"):
        notes.append("truncated")  # a segmented record goes on in other records (WARC 1.1 section 7)
    target = _target(headers.get_bytes(b"WARC-Target-URI") or b"")
    if target is None:
        notes.append("corrupt")
    elif target.scheme.lower() == "dns":
        return
    else:
        here = here._replace(base=Base(target, "retrieval", "retrieval"))
    media_type, charset = media_type_of(_field(headers, "Content-Type"))
    if media_type == HTTP:
        yield from _response(record, warc, here, notes, options)
        return
    content = record.content
    if len(content) > options.limit:
        content = content[: options.limit]
        notes.append("too-large")
    yield Document(here.source, content, here.base, media_type, charset, _once(notes), here.depth)


def _response(
    record: Record, warc: WarcRecord, here: Document, notes: list[str], options: Options
) -> Iterator[Document]:
    content, said = _payload(record, warc, options.limit)
    notes += said
    headers = warc.http_headers
    if headers is None or headers.status_code is None:
        notes.append("corrupt")  # no status line: the block is taken for the content
        yield here._replace(content=record.content[: options.limit], notes=_once(notes))
        return
    pointing = [(name, value) for name in ("Location", "Link") for value in _fields(headers, name)]
    if pointing:
        block = "".join(f"{name}: {value}\r\n" for name, value in pointing)
        yield here._replace(content=block.encode("utf-8", "replace"), media_type=HTTP, notes=())
    base = _base(here.base, headers, options.edition)
    media_type, charset = media_type_of(_field(headers, "Content-Type"))
    if content or notes or headers.status_code == 200:
        yield Document(here.source, content, base, media_type, charset, _once(notes), here.depth)


def _base(target: Base, headers: HeaderMap, edition: str) -> Base:
    """The fields of HTTP that may give a base, as the edition has it; most responses have none."""
    said = [(name, value) for name in ("Content-Location", "Content-Base") for value in _fields(headers, name)]
    if not said or target.layer != "retrieval":
        return target
    try:
        return establish(headers=said, retrieval=target.uri, edition=edition, protocol="http")
    except NotSpecified:
        return target


def _opened(record: Record) -> WarcRecord:
    from fastwarc.warc import WarcRecord

    header = record.header
    if record.notes:
        # The length is what there is, whatever was said.
        header = _LENGTH.sub(b" %d" % len(record.content), header)
    return WarcRecord.from_reader(io.BytesIO(header + record.content))


# Coding of the content -> what zlib calls it; deflate is met with its zlib frame and without (RFC 9110 8.4.1).
_ZLIB = {"gzip": (31,), "x-gzip": (31,), "deflate": (15, -15)}


def _payload(record: Record, warc: WarcRecord, limit: int) -> tuple[bytes, list[str]]:
    """The content of an HTTP response without its codings (RFC 9112 7, RFC 9110 8.4), and notes.

    Archives hold responses whose codings were undone and are still told: if not even the first octet can be decoded,
    the content is as it stands, with the note "wrong-type".
    """
    content, notes = _decoded(record, warc, "transfer", limit)
    headers = warc.http_headers
    coding = _field(headers, "Content-Encoding").strip().lower() if headers is not None else ""
    if coding and coding != "identity" and content:
        if coding in _ZLIB:
            plain, told = _inflated(content, _ZLIB[coding], limit)
        else:
            again = _opened(record)
            plain, told = _decoded(record, again, "all", limit)
        content = plain or content
        notes += told if plain else ["wrong-type"]
    if len(content) > limit:
        notes.append("too-large")
    return content[:limit], notes


def _decoded(
    record: Record, warc: WarcRecord, coding: Literal["transfer", "all"], limit: int
) -> tuple[bytes, list[str]]:
    """Up to one more octet than `limit`, and what is the matter with the codings."""
    try:
        warc.parse_http(coding)
        content = _read(warc, limit + 1, limit + 1)
    except (OSError, ValueError):
        pass
    else:
        return content, []
    parts: list[bytes] = []
    again = _opened(record)
    try:
        again.parse_http(coding)
        for _ in range(limit // _FINE + 1):
            parts.append(again.reader.read(_FINE))
            if not parts[-1]:
                break
    except (OSError, ValueError):
        pass
    if any(parts) or coding == "all":
        return b"".join(parts), ["corrupt"]
    again = _opened(record)
    try:
        again.parse_http("none")
        return _read(again, limit + 1, 1 << 16), ["wrong-type"]
    except (OSError, ValueError):
        return b"", ["corrupt"]


_FINE = 64
"""Octets that are read at once where an error is known to come: what stands before it is not lost."""


def _read(warc: WarcRecord, most: int, piece: int) -> bytes:
    parts: list[bytes] = []
    while most > 0 and (part := warc.reader.read(min(piece, most))):
        parts.append(part)
        most -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _inflated(content: bytes, forms: tuple[int, ...], limit: int) -> tuple[bytes, list[str]]:
    for form in forms:
        inflate = zlib.decompressobj(form)
        parts: list[bytes] = []
        got = 0
        try:
            for at in range(0, len(content), _INFLATED):
                parts.append(inflate.decompress(content[at : at + _INFLATED], limit + 1 - got))
                got += len(parts[-1])
                if inflate.eof or got > limit:
                    return b"".join(parts), []
        except zlib.error:
            if got:
                return b"".join(parts), ["corrupt"]
        else:
            return b"".join(parts), ["truncated"]
    return b"", ["wrong-type"]


_INFLATED = 1 << 12


def _fields(headers: HeaderMap, name: str) -> list[str]:
    return [value.decode("utf-8", "replace") for value in headers.get_bytes_multiple(name.encode())]


def _field(headers: HeaderMap, name: str) -> str:
    value = headers.get_bytes(name.encode())
    return "" if value is None else value.decode("utf-8", "replace")


def _target(octets: bytes) -> URI | None:
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


def _once(notes: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(notes))
