"""The documents of an ARC file, versions 1, 1.1 and 2 (Internet Archive, ARC File Format): each behind a line that has
its URL, the address of its server, the time, its type and its length."""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterator
from typing import BinaryIO, NamedTuple, cast

from overthere.base import Base
from overthere.ground.atomic import open_unnamed
from overthere.links.containers.gzip_member import PIECE, inflate_octets, read_gzip_member
from overthere.links.containers.model import Member, Place, Stream
from overthere.links.containers.records import PageReader, write_pieces
from overthere.links.containers.warc import response, target
from overthere.links.documents.header import header
from overthere.links.documents.kinds import media_type_of
from overthere.links.faults import note_kind
from overthere.links.model import BegunPage, Document, Note, Options, PassedContent

__all__ = ["members"]


class _Line(NamedTuple):
    """The line before a document."""

    url: bytes
    media_type: str
    length: int
    size: int
    """Octets of the line with its end."""


class _Record(NamedTuple):
    at: str
    line: _Line | None
    content: bytes
    notes: tuple[str, ...] = ()


_LONGEST, _WINDOW = 1 << 16, 1 << 20
_GZIP = b"\x1f\x8b\x08"
_URL = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]{0,31}:")
_SURE_LINE = re.compile(
    rb"\n(?=[A-Za-z][A-Za-z0-9+.-]{0,31}:[^ \r\n]{0,4096} (?:[0-9A-Fa-f.:]{2,45}|-) [0-9]{14} "
    rb"[^\r\n]{0,400} [0-9]{1,18}\r?\n)"
)
"""Before a line that is one for sure."""


def members(
    stream: Stream,
    document: Document,
    place: Place = Place(),  # noqa: B008 - a value
) -> Iterator[BegunPage | Member | Note | PassedContent]:
    """As `Container.members`, of the records that begin in [start, end) of the place.

    Sources, bases and what a header of HTTP refers to are those of `warc.members`.  The record that describes the file
    (filedesc:) and what came by DNS are passed over.
    """
    file = cast("BinaryIO", stream)
    try:
        size = file.seek(0, os.SEEK_END)
        end = size if place.end is None else min(place.end, size)
        file.seek(place.start)
        read_records = _read_gzip if file.read(3) == _GZIP else _read_plain
        pages = None if place.pages is None else place.pages(document)
        for record in read_records(file, size, place.start, end, place.options.limit, pages):
            if isinstance(record, BegunPage):
                yield record
                continue
            here = Document(
                f"{document.source}!{record.at}", b"", document.base, notes=record.notes, depth=document.depth + 1
            )
            scheme = b"" if record.line is None else record.line.url.partition(b":")[0].lower()
            if scheme in (b"filedesc", b"dns"):
                yield PassedContent(scheme.decode())
                if record.notes:
                    yield Member(here)
            else:
                yield Member(here, documents=_documents(record, here, place.options))
    except OSError as error:
        yield Note(note_kind(error))


def _documents(record: _Record, here: Document, options: Options) -> Iterator[Document | PassedContent]:
    if record.line is None:
        yield here
        return
    notes = list(record.notes)
    uri = target(record.line.url)
    if uri is None:
        notes.append("corrupt")
    else:
        here = here._replace(base=Base(uri, "retrieval", "retrieval"))
    if header(record.content) is not None:
        yield from response(record.content, here, notes, options)
        return
    # What came by FTP, or by HTTP 0.9, which has no header.
    content = record.content
    if len(content) > options.limit:
        content = content[: options.limit]
        notes.append("too-large")
    media_type, charset = media_type_of(record.line.media_type)
    yield here._replace(content=content, media_type=media_type, charset=charset, notes=tuple(dict.fromkeys(notes)))


def _line(data: bytes) -> _Line | None:
    """The line that the octets begin with: five fields, or the ten of version 2; a URL may hold blanks."""
    end = data.find(b"\n", 0, _LONGEST)
    if end < 0 or not _URL.match(data):
        return None
    fields = data[:end].rstrip(b"\r").split(b" ")
    if not fields[-1].isdigit() or len(fields[-1]) > 18:
        return None
    for count in (5, 10):
        if len(fields) >= count and fields[2 - count].isdigit() and len(fields[2 - count]) >= 8:
            url = b" ".join(fields[: 1 - count])
            return _Line(url, fields[3 - count].decode("latin-1"), int(fields[-1]), end + 1)
    return None


def _read_plain(
    file: BinaryIO, size: int, at: int, end: int, limit: int, pages: PageReader | None = None
) -> Iterator[_Record | BegunPage]:
    file.seek(max(at - 1, 0))
    if at and file.read(1) != b"\n":
        yield _Record(str(at), None, b"", ("corrupt",))  # no record begins here
        at = _next_record(file, at, size)
    while at < end:
        if pages is not None:
            at = yield from _native_pages(pages, file, at, end, is_packed=False)
            if at >= end:
                break
        file.seek(at)
        head = file.read(_LONGEST)
        blank = len(head) - len(head.lstrip(b"\r\n"))
        if blank:
            at += blank
            continue
        line = _line(head)
        if line is None:
            cut = at + len(head) == size and b"\n" not in head
            yield _Record(str(at), None, b"", ("truncated" if cut else "corrupt",))
            at = _next_record(file, at, size)
            continue
        begin = at + line.size
        stop = after = begin + line.length
        notes: tuple[str, ...] = ()
        if not _ends(file, stop, size):
            # Too long, it would swallow the next records; too short, it would hide the rest of its own.
            stop = after = _next_record(file, begin - 1, size)
            notes = ("truncated",) if begin + line.length > size and after >= size else ("wrong-length",)
        most = limit + _LONGEST
        file.seek(begin)
        content = file.read(min(stop - begin, most))
        yield _Record(str(at), line, content, (*notes, "too-large") if stop - begin > most else notes)
        at = after


def _ends(file: BinaryIO, stop: int, size: int) -> bool:
    """Whether the file ends there, or after a line end a record begins; or one does at once, for sure."""
    if stop >= size:
        return stop == size
    file.seek(stop)
    tail = file.read(_LONGEST)
    behind = tail.lstrip(b"\r\n")
    if len(behind) == len(tail):
        # A length that is too great by one would else take a letter of the next scheme.
        file.seek(stop - 1)
        return _SURE_LINE.match(b"\n" + tail) is not None and re.match(rb"[^A-Za-z0-9+.-]", file.read(1)) is not None
    return not behind or _line(behind) is not None or (stop + len(tail) == size and b"\n" not in behind)


def _next_record(file: BinaryIO, at: int, size: int) -> int:
    """Where from `at` on a line of a record follows a line end; or `size`."""
    step = PIECE  # where every record lies, the next one is near
    while at < size:
        file.seek(at)
        match = _SURE_LINE.search(file.read(step + _LONGEST))
        if match is not None and match.start() < step:
            return at + match.end()
        at += step
        step = _WINDOW
    return size


def _native_pages(
    pages: PageReader, file: BinaryIO, at: int, end: int, *, is_packed: bool
) -> Generator[BegunPage, None, int]:
    reading = pages.read_records(file, at, end, "", is_packed=is_packed, is_arc=True)
    return (yield from cast("Generator[BegunPage, None, int]", reading))


def _read_gzip(
    file: BinaryIO, size: int, at: int, end: int, limit: int, pages: PageReader | None
) -> Iterator[_Record | BegunPage]:
    while at < end:
        if pages is not None:
            at = yield from _native_pages(pages, file, at, end, is_packed=True)
            if at >= end:
                break
        data, note, after = read_gzip_member(
            file, size, at, limit + _LONGEST, lambda head: _URL.match(head) is not None
        )
        line = _line(data)
        notes = (note,) if note else ()
        if line is None:
            if data.strip(b"\r\n") or note:
                yield _Record(str(at), None, b"", notes or ("corrupt",))
        else:
            rest = data[line.size :]
            if rest[line.length :].strip(b"\r\n") and not note:
                yield from _read_long(file, at, size, limit)
            else:
                content = rest[: line.length]
                yield _Record(
                    str(at), line, content, notes or (("wrong-length",) if len(content) < line.length else ())
                )
        at = after


def _read_long(file: BinaryIO, at: int, size: int, limit: int) -> Iterator[_Record]:
    """Many records in one gzip member, or one that has more than was said."""
    most = 64 * limit + 32 * size
    with open_unnamed() as into:
        made, note = write_pieces(inflate_octets(file, at), into, most)
        for record in cast("Iterator[_Record]", _read_plain(into, made, 0, made, limit)):
            yield record._replace(at=f"{at}!{record.at}" if record.at != "0" else str(at))
        if note:
            yield _Record(f"{at}!{made}", None, b"", (note,))
