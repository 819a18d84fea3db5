"""The records of a WARC file with their places and raw content, even of a damaged or hostile one (WARC 1.1, 4 and D).

After a broken record, reading continues where the next one begins.  `warc` reads the documents in the content.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from io import BytesIO
from typing import BinaryIO, NamedTuple

from overthere.ground.atomic import open_unnamed
from overthere.ground.codings import FILE_WINDOW, SKIPPABLE, Decoder, decode, zstd_dictionary
from overthere.links.containers.gzip_member import (
    GZIP,
    PIECE,
    RATIO,
    WINDOW,
    MemberChain,
    find_member,
    inflate_pieces,
    is_continuation,
    read_gzip_member,
)  # fmt: skip
from overthere.links.containers.model import Budget
from overthere.links.containers.page_reader import PageReader, Record
from overthere.links.containers.streams import decoding_note
from overthere.links.model import BegunPage


class _Frame(NamedTuple):
    """A record's header, and its content at [start, end); without a header it is a damaged place."""

    at: int
    header: bytes
    start: int
    end: int
    notes: tuple[str, ...]


_HEAD_BYTES, _MAX_HEAD_BYTES = 1 << 13, 1 << 16
_END_LINES = b"\r\n\r\n"
_ZSTD, _LZ4 = b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18"
_VERSION = (b"WARC/1.", b"WARC/0.")

# A block with a second version line is two blocks, the first of them without an end.  Lines end with CR LF; some
# writers end them with LF.  Literals of its grammar are in any case (RFC 2616 2.1, by WARC 1.1 section 4).
_BLOCK = re.compile(rb"WARC/[01]\.[0-9]++\r?+\n(?:(?!WARC/)[^\r\n]++\r?+\n)*+\r?+\n", re.IGNORECASE)
_BEGINNING = re.compile(rb"\nWARC/", re.IGNORECASE)
_EMPTY_LINE = re.compile(rb"\n\r?\n")
_RECORD_END = re.compile(rb"\r?\n\r?\n(?=\r?\n|WARC/|(?:W(?:A(?:RC?)?)?)?\Z)", re.IGNORECASE)
_SEPARATOR = re.compile(rb"\r\n\r\n|\n\n")
_LENGTH = re.compile(rb"\nContent-Length[ \t]*+:(?:\r?\n[ \t]|[ \t])*+([0-9]{1,18})[ \t]*+\r?\n", re.IGNORECASE)
# A line that begins with a blank continues the line before it (WARC 1.1 section 4).
_TYPE = re.compile(
    rb"\nWARC-Type[ \t]*+:(?:\r?\n[ \t]|[ \t])*+([a-z]++)(?:\r?\n[ \t]|[ \t])*+\r?\n(?![ \t])", re.IGNORECASE
)
_MANDATORY = re.compile(rb"\n(?:WARC-Record-ID|WARC-Type|WARC-Date|Content-Length)[ \t]*+:", re.IGNORECASE)
_DOCUMENT_TYPES = (b"response", b"resource", b"conversion")
_OTHER_TYPES = (b"warcinfo", b"request", b"metadata", b"revisit", b"continuation")
# Metadata of these types may contain references (`documents.metadata`).
_REFERENCE_METADATA = re.compile(
    rb"\nContent-Type[ \t]*+:(?:\r?\n[ \t]|[ \t])*+application/(?:json|warc-fields)[ \t;\r\n]", re.IGNORECASE
)


def records(
    file: BinaryIO, max_content: int, start: int = 0, end: int | None = None, page_reader: PageReader | None = None,
    budget: Budget | None = None,
) -> Iterator[Record | BegunPage]:  # fmt: skip
    """Yield the records that begin in [start, end), and notes on damage; records with documents have their content.

    A `BegunPage` of the page reader passes through: its rows must be taken, or the page finished, before going on.
    Many records that are compressed together are unpacked into a temporary file.

    Raises: OSError if the file cannot be read, or the temporary file takes no more.

    file: seekable.
    max_content: bytes of a content to read; up to 64 KiB more are read, for the header of HTTP.
    start, end: from `find_cuts()`, or 0 and None; a file that is compressed as a whole is read from 0 only.
    page_reader: makes rows of whole pages, which are then not yielded as records.
    budget: limits the bytes that are unpacked; by default, by the size of the file.
    """
    size = file.seek(0, os.SEEK_END)
    budget = budget or Budget(RATIO * max_content + 32 * size)
    end = size if end is None else min(end, size)
    match _detect_packing(file, size, start):
        case "gzip":
            yield from _read_gzip(file, size, start, end, max_content, page_reader, budget)
        case "plain":
            yield from _read_plain(file, size, start, end, max_content, page_reader)
        case packing:
            if start == 0:
                yield from _read_unpacked(_decompress(file, packing, budget), "", budget, max_content, page_reader)
            else:
                yield Record(str(start), b"", b"", ("unsupported",))  # no record begins there


def find_cuts(file: BinaryIO, task_bytes: int) -> Iterator[int]:
    """Yield offsets at which to cut a file into tasks of about `task_bytes`: 0 and offsets of records or damage.

    An uncompressed file is read from header to header: a WARC file in a record of a WARC file has records too. In a
    gzip file a member is searched from each multiple of `task_bytes` on, and accepted if the next 128 KiB are gzip
    members too: no content of a record can look like this (see `gzip_member`).  Other files are not cut.
    """
    yield 0
    size = file.seek(0, os.SEEK_END)
    last = 0
    match _detect_packing(file, size):
        case "gzip":
            for at in range(task_bytes, size, task_bytes):
                if at > last:
                    last = find_member(file, at, size, _is_record, strict=True)
                    if last >= size:
                        break
                    yield last
        case "plain":
            at = 0
            while at < size:
                frame, at = _parse_frame(file, size, at)
                if frame is not None and frame.at - last >= task_bytes:
                    last = frame.at
                    yield last


def _detect_packing(file: BinaryIO, size: int, start: int = 0) -> str:
    """Return "plain", "gzip", "zstd" or "lz4", by the bytes at `start`, or if these show nothing, by the first ones."""
    if start:  # the record there shows it, without reading the beginning of the file
        file.seek(start)
        head = file.read(8)
        if head.upper().startswith((GZIP, b"WARC/")):
            return "gzip" if head.startswith(GZIP) else "plain"
    at, head = _skip_skippable_frames(file)
    if head.startswith(GZIP):
        return "gzip"
    if at or head.startswith((_ZSTD, _LZ4)):
        return "lz4" if head.startswith(_LZ4) else "zstd"
    if head.upper().startswith(b"WARC/") or find_member(file, 0, size, _is_record, strict=False) >= size:
        return "plain"
    return "gzip"  # its beginning is broken


def _skip_skippable_frames(file: BinaryIO) -> tuple[int, bytes]:
    """Return the offset and first 8 bytes of what follows the skippable frames at the start (Zstandard, LZ4)."""
    at = file.seek(0)
    while (head := file.read(8)).startswith(SKIPPABLE) and len(head) == 8:
        at = file.seek(at + 8 + int.from_bytes(head[4:], "little"))
    return at, head


def _read_plain(
    file: BinaryIO, size: int, at: int, end: int, max_content: int, page_reader: PageReader | None, prefix: str = ""
) -> Iterator[Record | BegunPage]:
    while at < end:
        if page_reader is not None:
            at = yield from page_reader.read_records(file, at, end, prefix, is_packed=False)
            if at >= end:
                break
        frame, at = _parse_frame(file, size, at)
        if frame is not None:
            yield _read_record(file, frame, max_content, prefix)


def _read_record(file: BinaryIO, frame: _Frame, max_content: int, prefix: str) -> Record:
    at, header, start, end, notes = frame
    place = f"{prefix}{at}"
    if not header:
        return Record(place, header, b"", notes)
    if (passed := _find_passed_type(header)) is not None:
        return _make_passed_record(place, passed, notes)
    max_bytes = max_content + _MAX_HEAD_BYTES
    file.seek(start)
    content = file.read(min(end - start, max_bytes))
    return Record(place, header, content, (*notes, "too-large") if end - start > max_bytes else notes)


def _find_passed_type(header: bytes) -> str | None:
    """Return the type of a record without a document: "other" for unknown types, "" if it has none.

    None for a record with a document.
    """
    kind = _TYPE.search(header)
    if kind is None:
        return ""
    name = kind[1].lower()
    if name == b"metadata" and _REFERENCE_METADATA.search(header):
        return None
    return None if name in _DOCUMENT_TYPES else name.decode() if name in _OTHER_TYPES else "other"


def _make_passed_record(place: str, passed: str, notes: tuple[str, ...]) -> Record:
    """Return a record without header and content; it is noted as corrupt if it has no type and no other note."""
    return Record(place, b"", b"", notes if passed or notes else ("corrupt",), passed)


def _parse_frame(file: BinaryIO, size: int, at: int) -> tuple[_Frame | None, int]:
    """Return the frame at an offset, or None at blank lines; and the offset of the next frame."""
    file.seek(at)
    head = file.read(_HEAD_BYTES)
    block = _BLOCK.match(head)
    if block is None and len(head) == _HEAD_BYTES:
        head += file.read(_MAX_HEAD_BYTES - _HEAD_BYTES)
        block = _BLOCK.match(head)
    length = _LENGTH.search(block[0]) if block else None
    if block is None or length is None:
        blank_size = len(head) - len(head.lstrip(b"\r\n"))
        if blank_size:
            return None, at + blank_size
        is_cut = (
            b"WARC/".startswith(head[:5].upper())
            and at + len(head) == size
            and block is None
            and not _EMPTY_LINE.search(head)
        )
        return _Frame(at, b"", at, at, ("truncated" if is_cut else "corrupt",)), _find_block(file, at + 1, size)
    start = at + block.end()
    end = start + int(length[1])
    tail = _match_end_lines(file, end, size)
    next_at = end + len(_END_LINES if tail is None else tail)
    has_bare_lf = _has_bare_lf(block[0]) or tail not in (None, b"", _END_LINES)
    notes: tuple[str, ...] = ("corrupt",) if has_bare_lf else ()
    if tail is None and end <= size and (separator := _SEPARATOR.match(_read_at(file, end, 4))):
        next_at = end + separator.end()  # the length is right: the rest belongs to no record
    elif tail is None and end <= size and (gap := _blank_before_block(_read_at(file, end, _HEAD_BYTES))) is not None:
        next_at, notes = end + gap, ("corrupt",)  # the length is right, but there are not two line ends
    elif tail is None:
        # A length that is too large would swallow the next records; one too small, hide the rest of its own.
        next_at = _find_block(file, start, size)
        notes += ("truncated",) if end > size and next_at >= size else ("wrong-length",)
        end = max(start, next_at - _count_end_bytes_before(file, next_at, has_bare_lf))
    elif not tail:
        next_at = end + len(_END_LINES)
        notes += ("truncated",)
    return _Frame(at, block[0], start, end, notes), next_at


def _has_bare_lf(block: bytes) -> bool:
    """Whether a line ends with LF alone."""
    return block.count(b"\n") != block.count(b"\r\n")


def _match_end_lines(file: BinaryIO, end: int, size: int) -> bytes | None:
    """Return the two line ends after a content, if a record, blank line or nothing follows; b"" if cut; else None."""
    if end > size:
        return None
    tail = _read_at(file, end, 9)
    if match := _RECORD_END.match(tail):
        return match[0]
    return b"" if len(tail) < 4 and (_END_LINES.startswith(tail) or tail == b"\n") else None


def _read_at(file: BinaryIO, at: int, count: int) -> bytes:
    file.seek(at)
    return file.read(count)


def _count_end_bytes_before(file: BinaryIO, at: int, has_bare_lf: bool) -> int:
    """Return the number of bytes of the two line ends before an offset: 4, 2 if LF alone is allowed, or 0."""
    tail = _read_at(file, max(at - 4, 0), min(at, 4))
    return 4 if tail == _END_LINES else 2 if has_bare_lf and tail.endswith(b"\n\n") else 0


def _blank_before_block(octets: bytes) -> int | None:
    """Return the length of the line end, if any, before a header block; None unless a block certainly begins there."""
    blank = 2 if octets.startswith(b"\r\n") else int(octets.startswith(b"\n"))
    block = _BLOCK.match(octets, blank)
    return blank if block and _MANDATORY.search(block[0]) else None


def _find_block(file: BinaryIO, at: int, size: int) -> int:
    """Return the offset, from `at` on, of the next block with a mandatory field (WARC 1.1 section 5), or `size`."""
    at = max(at - 1, 0)
    step = PIECE  # usually the next record is near
    while at < size:
        file.seek(at)
        window = file.read(step + _MAX_HEAD_BYTES)
        for line in _BEGINNING.finditer(window, 0, step + len(b"WARC/")):
            place = line.start() + 1
            block = _BLOCK.match(window, place, place + _MAX_HEAD_BYTES)
            if block and _MANDATORY.search(block[0]):
                return at + place
        at += step
        step = WINDOW
    return size


# With gzip, record by record (annex D.2)


def _read_gzip(
    file: BinaryIO, size: int, at: int, end: int, max_content: int, page_reader: PageReader | None, budget: Budget
) -> Iterator[Record | BegunPage]:
    while at < end:
        if page_reader is not None:
            at = yield from page_reader.read_records(file, at, end, "", is_packed=True)
            if at >= end:
                break
        data, note, next_at = read_gzip_member(file, size, at, max_content + _MAX_HEAD_BYTES, _is_record)
        block = _BLOCK.match(data)
        length = _LENGTH.search(block[0]) if block else None
        content_start = block.end() if block else 0
        record_end = content_start + int(length[1]) if length else -1
        is_whole = 0 <= record_end <= len(data) and not data[record_end:].lstrip(b"\r\n")
        if not (is_whole or note) and _is_record(data) and is_continuation(file, next_at, _is_record):
            chain = MemberChain(file, at, _is_record)
            # Read by Python, which notes each record that more than its own member contains.
            for record in _read_unpacked(chain, f"{at}!", budget, max_content, None):
                if isinstance(record, Record):
                    record = record._replace(notes=tuple(dict.fromkeys(("corrupt", *record.notes))))
                yield record
            next_at = chain.at if chain.is_read else find_member(file, chain.at + 1, size, _is_record, strict=False)
        elif not is_whole and (record_end <= len(data) or not note) and _has_more(data, content_start, record_end):
            yield from _read_unpacked(inflate_pieces(file, at), f"{at}!", budget, max_content, page_reader)
        elif block is None or length is None:
            if data or note:
                yield Record(str(at), b"", b"", (note or "corrupt",))
        else:
            notes = tuple(dict.fromkeys(filter(None, ("corrupt" if _has_bare_lf(block[0]) else "", note))))
            if (passed := _find_passed_type(block[0])) is None:
                yield _make_record(at, block[0], data, int(length[1]), notes, is_damaged=bool(note))
            else:
                yield _make_passed_record(str(at), passed, notes)
        at = next_at


def _make_record(at: int, header: bytes, data: bytes, length: int, notes: tuple[str, ...], is_damaged: bool) -> Record:
    """Return the record in an unpacked gzip member, `data`; if undamaged, with a note if its stated length is wrong."""
    start = len(header)
    end = start + length
    if is_damaged or (len(data) >= end and not data[end:].strip(b"\r\n")):
        return Record(str(at), header, data[start:end], notes)
    content = data[start:]
    without_end = content.removesuffix(_END_LINES)
    content = without_end.removesuffix(b"\n\n") if notes and without_end is content else without_end
    return Record(str(at), header, content, (*notes, "wrong-length"))


def _has_more(data: bytes, start: int, end: int) -> bool:
    """Whether another record begins in an unpacked gzip member, at the end of the first or after its header."""
    return _is_record(data[end:].lstrip(b"\r\n")) or _find_block(BytesIO(data), start, len(data)) < len(data)


def _is_record(head: bytes) -> bool:
    return head[:7].upper().startswith(_VERSION)


# Compressed as a whole, or many records in one gzip member


def _read_unpacked(
    pieces: Iterator[bytes], prefix: str, budget: Budget, max_content: int, page_reader: PageReader | None
) -> Iterator[Record | BegunPage]:
    """Write decompressed pieces, up to the budget, to a temporary file; yield the records in it, with `prefix`."""
    before = budget.remaining
    with open_unnamed() as file:
        size, note = write_pieces(pieces, file, before)
        yield from _read_plain(file, size, 0, size, max_content, page_reader, prefix)
        if note:
            yield Record(f"{prefix}{size}", b"", b"", (note,))
    budget.remaining = min(budget.remaining, before - size)  # the contents of the records count too


def write_pieces(pieces: Iterator[bytes], file: BinaryIO, max_bytes: int) -> tuple[int, str]:
    """Write pieces to a file until there are more than `max_bytes`.

    Returns: the bytes written, and a note: "too-large", or the fault of the pieces, or "".

    Raises: OSError if `file` takes no more.
    """
    size = 0
    while size <= max_bytes:
        try:
            piece = next(pieces, None)
        except Exception as error:  # each library raises its own errors
            return size, decoding_note(error)
        if piece is None:
            return size, ""
        size += file.write(piece)
    return size, "too-large"


def _decompress(file: BinaryIO, packing: str, budget: Budget) -> Iterator[bytes]:
    file.seek(0)
    dictionary = zstd_dictionary(file, budget.spend) if packing == "zstd" else None
    file.seek(0)
    yield from decode(file, Decoder(packing, FILE_WINDOW, dictionary))
