"""The places of the records in a WARC file, even a damaged or hostile one (WARC 1.1 section 4, annex D).

`warc` reads the content of records.  This module goes through a file from record to record; after a broken one it
continues where the next record begins.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterator
from typing import BinaryIO, NamedTuple, Protocol

from overthere.ground.atomic import open_unnamed
from overthere.ground.codings import FILE_WINDOW, SKIPPABLE, Decoder, decode, zstd_dictionary
from overthere.links.containers.gzip_member import (
    GZIP,
    PIECE,
    RATIO,
    WINDOW,
    MemberChain,
    inflate_octets,
    is_continuation,
    next_member,
    read_gzip_member,
)  # fmt: skip
from overthere.links.containers.streams import coding_fault
from overthere.links.model import BegunPage

__all__ = ["PageReader", "Record", "cuts", "records", "write_pieces"]


class Record(NamedTuple):
    """A record in its file."""

    at: str
    """The octet at which it begins; if it is compressed, its gzip member, and `!` and its octet within, if need be."""
    header: bytes
    """The header block with its empty line; empty if none can be read."""
    content: bytes
    notes: tuple[str, ...] = ()
    passed: str = ""
    """The type of a record without a document, whose header is left out; "other" is a type that WARC 1.1 lacks."""


class PageReader(Protocol):
    """A reader that makes rows of whole HTML records; these records are not yielded."""

    def read_records(
        self, file: BinaryIO, at: int, end: int, prefix: str, *, is_packed: bool, is_arc: bool = False
    ) -> Generator[Record | BegunPage, None, int]:
        """Read records from `at` on that begin before `end`.

        prefix: the beginning of `Record.at`.  is_packed: whether each record is a gzip member.  is_arc: whether the
        file is an ARC file, whose records are never yielded.
        Yields: whole records that were not read; a page when rows are ready, or part of it was not read.
        Returns: the offset of the first record that is incomplete or uncertain; `end` or more without one.
        """
        ...


class _Frame(NamedTuple):
    at: int
    header: bytes
    start: int
    end: int
    """The octets of the content."""
    notes: tuple[str, ...]


_HEAD, _HEAD_MOST = 1 << 13, 1 << 16
_END = b"\r\n\r\n"
_ZSTD, _LZ4 = b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18"
_VERSION = (b"WARC/1.", b"WARC/0.")

# A block that has a second version line is two blocks, the first of them without an end.  Lines end with CR LF; some
# writers end them with LF.  Literals of its grammar are in any case (RFC 2616 2.1, by WARC 1.1 section 4).
_BLOCK = re.compile(rb"WARC/[01]\.[0-9]++\r?+\n(?:(?!WARC/)[^\r\n]++\r?+\n)*+\r?+\n", re.IGNORECASE)
_BEGINNING = re.compile(rb"\nWARC/", re.IGNORECASE)
_EMPTY_LINE = re.compile(rb"\n\r?\n")
_RECORD_END = re.compile(rb"\r?\n\r?\n(?=\r?\n|WARC/|(?:W(?:A(?:RC?)?)?)?\Z)", re.IGNORECASE)
_SEPARATOR = re.compile(rb"\r\n\r\n|\n\n")
_LENGTH = re.compile(rb"\nContent-Length[ \t]*+:(?:\r?\n[ \t]|[ \t])*+([0-9]{1,18})[ \t]*+\r?\n", re.IGNORECASE)
# A line that begins with a blank goes on with the one before (WARC 1.1 section 4).
_TYPE = re.compile(
    rb"\nWARC-Type[ \t]*+:(?:\r?\n[ \t]|[ \t])*+([a-z]++)(?:\r?\n[ \t]|[ \t])*+\r?\n(?![ \t])", re.IGNORECASE
)
_MANDATORY = re.compile(rb"\n(?:WARC-Record-ID|WARC-Type|WARC-Date|Content-Length)[ \t]*+:", re.IGNORECASE)
_DOCUMENT_TYPES = (b"response", b"resource", b"conversion")
_OTHER_TYPES = (b"warcinfo", b"request", b"metadata", b"revisit", b"continuation")
# Metadata may hold references (`links.metadata`): of these types.
_TELLING = re.compile(
    rb"\nContent-Type[ \t]*+:(?:\r?\n[ \t]|[ \t])*+application/(?:json|warc-fields)[ \t;\r\n]", re.IGNORECASE
)


def records(
    file: BinaryIO, limit: int, start: int = 0, end: int | None = None, pages: PageReader | None = None
) -> Iterator[Record | BegunPage]:
    """The records that begin in [start, end), and what is broken; those that hold documents have their content.

    file: can seek.
    limit: octets of a content that are read; there may be a few more, for the header of HTTP.
    start, end: of `cuts()`, or 0 and None; within a file that is compressed as a whole they have no meaning.
    pages: what it reads does not come here; the documents are its own.
    """
    size = file.seek(0, os.SEEK_END)
    end = size if end is None else min(end, size)
    match _packing(file, size, start):
        case "gzip":
            yield from _read_gzip(file, size, start, end, limit, pages)
        case "plain":
            yield from _read_plain(file, size, start, end, limit, pages)
        case other:
            if start == 0:
                yield from _read_unpacked(_decompress(file, other), "", _unpacked_limit(limit, size), limit, pages)
            else:
                yield Record(str(start), b"", b"", ("unsupported",))  # no record begins there


def cuts(file: BinaryIO, split: int) -> Iterator[int]:
    """Where to cut a file into tasks of about `split` octets: 0 and places at which a record begins, in their order.

    Without compression the file is walked from header to header: a WARC file in a record of a WARC file has records
    too. With gzip, a member is looked for from each multiple of `split` on, and believed if the next 128 KiB are gzip
    members too: no content of a record can look so (see `gzip_member`).
    """
    yield 0
    size = file.seek(0, os.SEEK_END)
    last = 0
    match _packing(file, size):
        case "gzip":
            for at in range(split, size, split):
                if at > last:
                    last = next_member(file, at, size, _is_record, far=True)
                    if last >= size:
                        break
                    yield last
        case "plain":
            at = 0
            while at < size:
                frame, at = _next_frame(file, size, at)
                if frame is not None and frame.at - last >= split:
                    last = frame.at
                    yield last
        case _:
            pass


def _packing(file: BinaryIO, size: int, start: int = 0) -> str:
    if start:  # where a record begins, it says enough: what is far away need not be read
        file.seek(start)
        head = file.read(8)
        if head.upper().startswith((GZIP, b"WARC/")):
            return "gzip" if head.startswith(GZIP) else "plain"
    at, head = _first_frame(file)
    if head.startswith(GZIP):
        return "gzip"
    if at or head.startswith((_ZSTD, _LZ4)):
        return "lz4" if head.startswith(_LZ4) else "zstd"
    if head.upper().startswith(b"WARC/") or next_member(file, 0, size, _is_record, far=False) >= size:
        return "plain"
    return "gzip"  # its beginning is broken


def _first_frame(file: BinaryIO) -> tuple[int, bytes]:
    """The offset of the first frame that is not skippable, and its first octets: a dictionary may come before it."""
    at = file.seek(0)
    while (head := file.read(8)).startswith(SKIPPABLE) and len(head) == 8:
        at = file.seek(at + 8 + int.from_bytes(head[4:], "little"))
    return at, head


def _unpacked_limit(limit: int, size: int) -> int:
    """Octets that a file may have when it is uncompressed."""
    return RATIO * limit + 32 * size


# Without compression


def _read_plain(
    file: BinaryIO, size: int, at: int, end: int, limit: int, pages: PageReader | None, prefix: str = ""
) -> Iterator[Record | BegunPage]:
    while at < end:
        if pages is not None:
            at = yield from pages.read_records(file, at, end, prefix, is_packed=False)
            if at >= end:
                break
        frame, at = _next_frame(file, size, at)
        if frame is not None:
            yield _frame_record(file, frame, limit, prefix)


def _frame_record(file: BinaryIO, frame: _Frame, limit: int, prefix: str) -> Record:
    at, header, begin, stop, notes = frame
    place = f"{prefix}{at}"
    if not header:
        return Record(place, header, b"", notes)
    if (passed := _passed_type(header)) is not None:
        return _passed_record(place, passed, notes)
    most = limit + _HEAD_MOST
    file.seek(begin)
    content = file.read(min(stop - begin, most))
    return Record(place, header, content, (*notes, "too-large") if stop - begin > most else notes)


def _passed_type(header: bytes) -> str | None:
    """The type of a record that holds no document; None if it holds one, "" if it has no type."""
    kind = _TYPE.search(header)
    if kind is None:
        return ""
    name = kind[1].lower()
    if name == b"metadata" and _TELLING.search(header):
        return None
    return None if name in _DOCUMENT_TYPES else name.decode() if name in _OTHER_TYPES else "other"


def _passed_record(at: str, passed: str, notes: tuple[str, ...]) -> Record:
    return Record(at, b"", b"", notes if passed or notes else ("corrupt",), passed)


def _next_frame(file: BinaryIO, size: int, at: int) -> tuple[_Frame | None, int]:
    """The frame at an offset, or None at line ends; and the offset of the next one."""
    file.seek(at)
    head = file.read(_HEAD)
    block = _BLOCK.match(head)
    if block is None and len(head) == _HEAD:
        head += file.read(_HEAD_MOST - _HEAD)
        block = _BLOCK.match(head)
    length = _LENGTH.search(block[0]) if block else None
    if block is None or length is None:
        blank = len(head) - len(head.lstrip(b"\r\n"))
        if blank:
            return None, at + blank
        is_cut = (
            b"WARC/".startswith(head[:5].upper())
            and at + len(head) == size
            and block is None
            and not _EMPTY_LINE.search(head)
        )
        return _Frame(at, b"", at, at, ("truncated" if is_cut else "corrupt",)), _next_block(file, at + 1, size)
    begin = at + block.end()
    stop = begin + int(length[1])
    end = _end_lines(file, stop, size)
    after = stop + len(_END if end is None else end)
    has_lf = _has_lf(block[0]) or end not in (None, b"", _END)
    notes: tuple[str, ...] = ("corrupt",) if has_lf else ()
    if end is None and stop <= size and (separator := _SEPARATOR.match(_read_at(file, stop, 4))):
        after = stop + separator.end()  # its length is right: what follows belongs to no record
    elif end is None and stop <= size and (behind := _blank_before_block(_read_at(file, stop, _HEAD))) is not None:
        after, notes = stop + behind, ("corrupt",)  # it has the length that it says, but not two line ends behind it
    elif end is None:
        # Too long, it would swallow the next records; too short, it would hide the rest of its own.
        after = _next_block(file, begin, size)
        notes += ("truncated",) if stop > size and after >= size else ("wrong-length",)
        stop = max(begin, after - _blank_before(file, after, has_lf))
    elif not end:
        after = stop + len(_END)
        notes += ("truncated",)
    return _Frame(at, block[0], begin, stop, notes), after


def _has_lf(block: bytes) -> bool:
    """Whether a line ends with LF alone."""
    return block.count(b"\n") != block.count(b"\r\n")


def _end_lines(file: BinaryIO, stop: int, size: int) -> bytes | None:
    """The two line ends behind a content, before a record or nothing (WARC 1.1 section 4): b"" if the file ends within
    them, None if something else is there."""
    if stop > size:
        return None
    tail = _read_at(file, stop, 9)
    if match := _RECORD_END.match(tail):
        return match[0]
    return b"" if len(tail) < 4 and (_END.startswith(tail) or tail == b"\n") else None


def _read_at(file: BinaryIO, at: int, count: int) -> bytes:
    file.seek(at)
    return file.read(count)


def _blank_before(file: BinaryIO, at: int, has_lf: bool) -> int:
    tail = _read_at(file, max(at - 4, 0), min(at, 4))
    return 4 if tail == _END else 2 if has_lf and tail.endswith(b"\n\n") else 0


def _blank_before_block(octets: bytes) -> int | None:
    """The length of the line end before a header block, at most one; None unless a block certainly begins there."""
    blank = 2 if octets.startswith(b"\r\n") else int(octets.startswith(b"\n"))
    block = _BLOCK.match(octets, blank)
    return blank if block and _MANDATORY.search(block[0]) else None


def _next_block(file: BinaryIO, at: int, size: int) -> int:
    """The offset from `at` on of the next header block with a mandatory field (WARC 1.1 section 5), or `size`."""
    at = max(at - 1, 0)
    step = PIECE  # where every record lies, the next one is near
    while at < size:
        file.seek(at)
        window = file.read(step + _HEAD_MOST)
        for line in _BEGINNING.finditer(window, 0, step + len(b"WARC/")):
            place = line.start() + 1
            block = _BLOCK.match(window, place, place + _HEAD_MOST)
            if block and _MANDATORY.search(block[0]):
                return at + place
        at += step
        step = WINDOW
    return size


# With gzip, record by record (annex D.2)


def _read_gzip(
    file: BinaryIO, size: int, at: int, end: int, limit: int, pages: PageReader | None
) -> Iterator[Record | BegunPage]:
    while at < end:
        if pages is not None:
            at = yield from pages.read_records(file, at, end, "", is_packed=True)
            if at >= end:
                break
        data, note, after = read_gzip_member(file, size, at, limit + _HEAD_MOST, _is_record)
        block = _BLOCK.match(data)
        length = _LENGTH.search(block[0]) if block else None
        stop = -1 if block is None or length is None else block.end() + int(length[1])
        is_whole = 0 <= stop <= len(data) and not data[stop:].lstrip(b"\r\n")
        if not (is_whole or note) and _is_record(data) and is_continuation(file, after, _is_record):
            chain = MemberChain(file, at, _is_record)
            # Python notes each record that more than its own member holds.
            for record in _read_unpacked(chain, f"{at}!", _unpacked_limit(limit, size), limit, None):
                if isinstance(record, Record):
                    record = record._replace(notes=tuple(dict.fromkeys(("corrupt", *record.notes))))
                yield record
            after = chain.at if chain.is_read else next_member(file, chain.at + 1, size, _is_record, far=False)
        elif block is None or length is None:
            if data or note:
                yield Record(str(at), b"", b"", (note or "corrupt",))
        elif _is_record(data[stop:].lstrip(b"\r\n")):
            pieces, most = inflate_octets(file, at), _unpacked_limit(limit, size)
            yield from _read_unpacked(pieces, f"{at}!", most, limit, pages)
        else:
            notes = tuple(dict.fromkeys(filter(None, ("corrupt" if _has_lf(block[0]) else "", note))))
            if (passed := _passed_type(block[0])) is None:
                yield _only_record(at, block[0], data, int(length[1]), notes, note)
            else:
                yield _passed_record(str(at), passed, notes)
        at = after


def _only_record(at: int, header: bytes, data: bytes, length: int, notes: tuple[str, ...], fault: str) -> Record:
    begin = len(header)
    end = begin + length
    if fault or (len(data) >= end and not data[end:].strip(b"\r\n")):
        return Record(str(at), header, data[begin:end], notes)
    content = data[begin:]
    ended = content.removesuffix(_END)
    content = ended.removesuffix(b"\n\n") if notes and ended is content else ended
    return Record(str(at), header, content, (*notes, "wrong-length"))


def _is_record(head: bytes) -> bool:
    return head[:7].upper().startswith(_VERSION)


# Compressed as a whole, or many records in one gzip member


def _read_unpacked(
    pieces: Iterator[bytes], prefix: str, most: int, limit: int, pages: PageReader | None
) -> Iterator[Record | BegunPage]:
    """The records of what is laid uncompressed into a temporary file, up to `most` octets of it."""
    with open_unnamed() as file:
        size, note = write_pieces(pieces, file, most)
        yield from _read_plain(file, size, 0, size, limit, pages, prefix)
        if note:
            yield Record(f"{prefix}{size}", b"", b"", (note,))


def write_pieces(pieces: Iterator[bytes], file: BinaryIO, most: int) -> tuple[int, str]:
    """Write pieces into a file until there are more than `most` octets.  Returns: how many, and a note or ""."""
    size = 0
    try:
        for piece in pieces:
            size += file.write(piece)
            if size > most:
                return size, "too-large"
    except Exception as error:  # each library has its own
        return size, coding_fault(error)
    return size, ""


def _decompress(file: BinaryIO, packing: str) -> Iterator[bytes]:
    file.seek(0)
    dictionary = zstd_dictionary(file) if packing == "zstd" else None
    file.seek(0)
    yield from decode(file, Decoder(packing, FILE_WINDOW, dictionary))
