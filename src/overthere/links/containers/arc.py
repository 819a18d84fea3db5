"""Documents of an ARC file, versions 1, 1.1 and 2 (Internet Archive, ARC File Format): a line before each document
gives its URL, the address of its server, the time, its type and its length."""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterator
from functools import partial
from typing import BinaryIO, NamedTuple, cast

from overthere.base import Base
from overthere.ground.atomic import open_unnamed
from overthere.links.containers.gzip_member import PIECE, inflate_pieces, read_gzip_member
from overthere.links.containers.model import Budget, Member, Place, Stream
from overthere.links.containers.page_reader import PageReader
from overthere.links.containers.records import write_pieces
from overthere.links.containers.warc import parse_target, response
from overthere.links.documents.header import header
from overthere.links.documents.kinds import media_type_of
from overthere.links.faults import note_kind
from overthere.links.model import BegunPage, Document, Note, Options, PassedContent


class _Line(NamedTuple):
    """The line before a document."""

    url: bytes
    media_type: str
    length: int
    size: int
    """The length of the line in bytes, with its end."""


class _Record(NamedTuple):
    at: str
    line: _Line | None
    content: bytes
    notes: tuple[str, ...] = ()


_MAX_LINE_BYTES, _WINDOW_BYTES = 1 << 16, 1 << 20
_GZIP = b"\x1f\x8b\x08"
_URL = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]{0,31}:")
_CERTAIN_LINE = re.compile(
    rb"\n(?=[A-Za-z][A-Za-z0-9+.-]{0,31}:[^ \r\n]{0,4096} (?:[0-9A-Fa-f.:]{2,45}|-) [0-9]{14} "
    rb"[^\r\n]{0,400} [0-9]{1,18}\r?\n)"
)
"""Matches the line feed before a line that certainly begins a record."""
_BLANKS = re.compile(rb"(.+?) (?:[0-9A-Fa-f.:]{2,45}|-) [0-9]{14} ", re.DOTALL)
"""Matches what is before the media type in a line that has blanks in its media type, against the format."""


def members(
    stream: Stream,
    document: Document,
    place: Place = Place(),  # noqa: B008 - a value
) -> Iterator[BegunPage | Member | Note | PassedContent]:
    """Yield the records that begin in [start, end) of the place, as `Container.members`.

    Sources, bases and references of HTTP headers are as in `warc.members`.  The record that describes the file
    (filedesc:) and DNS records are counted, not read.
    """
    file = cast("BinaryIO", stream)
    try:
        size = file.seek(0, os.SEEK_END)
        end = size if place.end is None else min(place.end, size)
        file.seek(place.start)
        limit = place.options.limit
        budget = place.budget or Budget(64 * limit + 32 * size)
        read_records = partial(_read_gzip, budget=budget) if file.read(3) == _GZIP else _read_plain
        pages = None if place.pages is None else place.pages(document, budget)
        for record in read_records(file, size, place.start, end, limit, pages):
            if isinstance(record, BegunPage):
                yield record
                continue
            record_document = Document(
                f"{document.source}!{record.at}", b"", document.base, notes=record.notes, depth=document.depth + 1
            )
            scheme = b"" if record.line is None else record.line.url.partition(b":")[0].lower()
            if scheme in (b"filedesc", b"dns"):
                yield PassedContent(scheme.decode())
                if record.notes:
                    yield Member(record_document)
            else:
                yield Member(record_document, documents=_read_documents(record, record_document, place.options))
    except OSError as error:
        yield Note(note_kind(error))


def _read_documents(record: _Record, document: Document, options: Options) -> Iterator[Document | PassedContent]:
    if record.line is None:
        yield document
        return
    notes = list(record.notes)
    uri = parse_target(record.line.url)
    if uri is None:
        notes.append("corrupt")
    else:
        document = document._replace(base=Base(uri, "retrieval", "retrieval"))
    if header(record.content) is not None:
        yield from response(record.content, document, notes, options)
        return
    # Content retrieved by FTP, or by HTTP 0.9, which has no header.
    content = record.content
    if len(content) > options.limit:
        content = content[: options.limit]
        notes.append("too-large")
    media_type, charset = media_type_of(record.line.media_type)
    yield document._replace(content=content, media_type=media_type, charset=charset, notes=tuple(dict.fromkeys(notes)))


def _parse_line(data: bytes) -> _Line | None:
    """Parse the line at the beginning of the data: five fields, or ten in version 2; a URL may contain blanks."""
    end = data.find(b"\n", 0, _MAX_LINE_BYTES)
    if end < 0 or not _URL.match(data):
        return None
    fields = data[:end].rstrip(b"\r").split(b" ")
    if not fields[-1].isdigit() or len(fields[-1]) > 18:
        return None
    for count in (5, 10):
        if len(fields) >= count and fields[2 - count].isdigit() and len(fields[2 - count]) >= 8:
            url = b" ".join(fields[: 1 - count])
            return _Line(url, fields[3 - count].decode("latin-1"), int(fields[-1]), end + 1)
    match = _BLANKS.match(data, 0, end)
    media_type = b"" if match is None else b" ".join(data[match.end() : end].rstrip(b"\r").split(b" ")[:-1])
    return _Line(match[1], media_type.decode("latin-1"), int(fields[-1]), end + 1) if match and media_type else None


def _read_plain(
    file: BinaryIO, size: int, at: int, end: int, limit: int, pages: PageReader | None = None
) -> Iterator[_Record | BegunPage]:
    file.seek(max(at - 1, 0))
    if at and file.read(1) != b"\n":
        yield _Record(str(at), None, b"", ("corrupt",))  # no record begins here
        at = _find_next_record(file, at, size)
    while at < end:
        if pages is not None:
            at = yield from _read_native_pages(pages, file, at, end, is_packed=False)
            if at >= end:
                break
        file.seek(at)
        head = file.read(_MAX_LINE_BYTES)
        blank_size = len(head) - len(head.lstrip(b"\r\n"))
        if blank_size:
            at += blank_size
            continue
        line = _parse_line(head)
        if line is None:
            is_truncated = at + len(head) == size and b"\n" not in head
            yield _Record(str(at), None, b"", ("truncated" if is_truncated else "corrupt",))
            at = _find_next_record(file, at, size)
            continue
        body_start = at + line.size
        body_end = next_at = body_start + line.length
        notes: tuple[str, ...] = ()
        if not _is_record_end(file, body_end, size):
            # A length that is too large would swallow the next records; one too small, hide the rest of its own.
            body_end = next_at = _find_next_record(file, body_start - 1, size)
            notes = ("truncated",) if body_start + line.length > size and next_at >= size else ("wrong-length",)
        max_bytes = limit + _MAX_LINE_BYTES
        file.seek(body_start)
        content = file.read(min(body_end - body_start, max_bytes))
        yield _Record(str(at), line, content, (*notes, "too-large") if body_end - body_start > max_bytes else notes)
        at = next_at


def _is_record_end(file: BinaryIO, stop: int, size: int) -> bool:
    """Whether the file ends at `stop`, or line ends and a record (perhaps cut off) follow, or at once a certain one."""
    if stop >= size:
        return stop == size
    file.seek(stop)
    tail = file.read(_MAX_LINE_BYTES)
    following = tail.lstrip(b"\r\n")
    if len(following) == len(tail):
        # Otherwise a length that is too large by one would take a letter of the next scheme.
        file.seek(stop - 1)
        return _CERTAIN_LINE.match(b"\n" + tail) is not None and re.match(rb"[^A-Za-z0-9+.-]", file.read(1)) is not None
    return not following or _parse_line(following) is not None or (stop + len(tail) == size and b"\n" not in following)


def _find_next_record(file: BinaryIO, at: int, size: int) -> int:
    """Return the offset, from `at` on, of the next line that certainly begins a record; `size` without one."""
    step = PIECE  # usually the next record is near
    while at < size:
        file.seek(at)
        match = _CERTAIN_LINE.search(file.read(step + _MAX_LINE_BYTES))
        if match is not None and match.start() < step:
            return at + match.end()
        at += step
        step = _WINDOW_BYTES
    return size


def _read_native_pages(
    pages: PageReader, file: BinaryIO, at: int, end: int, *, is_packed: bool
) -> Generator[BegunPage, None, int]:
    reader_steps = pages.read_records(file, at, end, "", is_packed=is_packed, is_arc=True)
    return (yield from cast("Generator[BegunPage, None, int]", reader_steps))


def _read_gzip(
    file: BinaryIO, size: int, at: int, end: int, limit: int, pages: PageReader | None, budget: Budget
) -> Iterator[_Record | BegunPage]:
    while at < end:
        if pages is not None:
            at = yield from _read_native_pages(pages, file, at, end, is_packed=True)
            if at >= end:
                break
        data, note, next_at = read_gzip_member(
            file, size, at, limit + _MAX_LINE_BYTES, lambda head: _URL.match(head) is not None
        )
        line = _parse_line(data)
        notes = (note,) if note else ()
        if line is None:
            if data.strip(b"\r\n") or note:
                yield _Record(str(at), None, b"", notes or ("corrupt",))
        else:
            following = data[line.size :]
            if following[line.length :].strip(b"\r\n") and not note:
                yield from _read_long(file, at, limit, budget)
            else:
                content = following[: line.length]
                yield _Record(
                    str(at), line, content, notes or (("wrong-length",) if len(content) < line.length else ())
                )
        at = next_at


def _read_long(file: BinaryIO, at: int, limit: int, budget: Budget) -> Iterator[_Record]:
    """Read a gzip member with several records, or with more data than its line states."""
    before = budget.remaining
    with open_unnamed() as unpacked:
        unpacked_size, note = write_pieces(inflate_pieces(file, at), unpacked, before)
        for record in cast("Iterator[_Record]", _read_plain(unpacked, unpacked_size, 0, unpacked_size, limit)):
            yield record._replace(at=f"{at}!{record.at}" if record.at != "0" else str(at))
        if note:
            yield _Record(f"{at}!{unpacked_size}", None, b"", (note,))
    budget.remaining = min(budget.remaining, before - unpacked_size)  # the contents of the records count too
