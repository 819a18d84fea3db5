"""Indexes that are lines of text, plain or in gzip: CDXJ, CDX, lists of paths."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from overthere.ground.option_files import read_json
from overthere.links.indexes.conditions import Where
from overthere.links.indexes.entry import Entry, make_entry, to_text
from overthere.links.model import Note

GZIP = b"\x1f\x8b\x08"
"""The first bytes of a member (RFC 1952 2.3.1)."""
_MAX_LINE_BYTES = 1 << 20
"""Maximum bytes of a line."""
_FREE_LINES, _LINES_PER_BYTE = 1 << 20, 4
"""Maximum lines of an index are the first number, plus the second for each byte.  Lists of paths have one in two."""
_STEP_BYTES, _PIECE_BYTES = 1 << 14, 1 << 16
"""Bytes of gzip to read at once; bytes to inflate, or of a plain file to read, at once."""
_MAX_FAULTS = 100
"""Maximum gzip faults, after which the rest is not read: each fault costs up to a step that is inflated again."""
_SURT_KEY = re.compile(rb"[^\s/{()]++\)")
"""The beginning of a key in SURT."""
_FIELDS = {
    "A": "urlkey", "N": "urlkey", "a": "url", "m": "mime", "s": "status", "k": "digest",
    "S": "length", "V": "offset", "g": "filename",
}  # fmt: skip
"""The CDXJ names of CDX fields, by their letters (Internet Archive, "CDX and DAT Legend")."""
_FIELDS_BY_COUNT = {
    len(letters): [_FIELDS.get(letter, letter) for letter in letters] for letters in ("NbamskrVg", "NbamskrMSVg")
}
"""The fields of a CDX without a header line, by their number."""


def read_cdxj(file: BinaryIO, where: Where) -> Iterator[Entry | Note]:
    """Read lines of a key, a timestamp and a JSON object, or of the object alone, as index servers answer."""
    for line in _read_lines(file, where):
        if isinstance(line, Note):
            yield line
        elif not line.startswith((b"!", b" CDX")):  # header lines of OpenWayback and pywb
            at = 0 if line.startswith(b"{") else line.find(b" {") + 1
            try:
                fields = read_json(line[at:])
            except ValueError:
                fields = None
            if not isinstance(fields, dict):
                yield Note("corrupt")
                continue
            key = to_text(line[:at].partition(b" ")[0] or fields.get("urlkey"))
            yield from _select(make_entry(fields), key, to_text(fields.get("languages")), where)


def read_cdx(file: BinaryIO, where: Where) -> Iterator[Entry | Note]:
    """Read lines of fields, in the order of the letters of the last header line; without one, of 9 or 11 fields.

    Raises: ValueError for a condition on a field that a header line does not name.
    """
    delimiter, field_names = b" ", None
    for line in _read_lines(file, where):
        if isinstance(line, Note):
            yield line
        elif line[1:5] == b"CDX" + line[:1] and not line[:1].isalnum():
            delimiter = line[:1]
            columns = [
                _FIELDS.get(letter, letter) for letter in line[5:].decode("latin-1").split(delimiter.decode("latin-1"))
            ]
            if "offset" not in columns or "filename" not in columns:
                yield Note("unsupported")
                return
            extra = ("url", "domain", "host") if "url" in columns else ("domain", "host") if "urlkey" in columns else ()
            try:
                where.check_answers((*columns, *extra), "a CDX whose header line does not name the field")
            except ValueError:
                if field_names is None:
                    raise
                yield Note("unsupported")  # the header line of another file, which was appended to the first
                return
            field_names = columns
        else:
            values = line.split(delimiter)
            names = field_names or _FIELDS_BY_COUNT.get(len(values), [])
            if len(names) != len(values):
                yield Note("corrupt")
                continue
            fields = dict(zip(names, map(to_text, values), strict=True))
            yield from _select(make_entry(fields), fields.get("urlkey", ""), "", where)


def read_paths(file: BinaryIO, where: Where) -> Iterator[Entry | Note]:
    """Read lines of a path or URI, each of a whole file."""
    for line in _read_lines(file, where):
        if isinstance(line, Note):
            yield line
            continue
        path = line.decode("utf-8", "replace").strip()
        yield Entry(path, None, None) if path.isprintable() and "\ufffd" not in path else Note("corrupt")


def _select(entry: Entry | Note, key: str, languages: str, where: Where) -> Iterator[Entry | Note]:
    if isinstance(entry, Note) or where.matches(entry, key, languages):
        yield entry


def _read_lines(file: BinaryIO, where: Where) -> Iterator[bytes | Note]:
    """Yield the lines that are not blank, without line ends, except lines whose key in SURT shows another host."""
    surts = where.surts()
    keys = tuple(f"{surt}{mark}".encode() for surt in surts for mark in "),:")
    count = 0
    for lines in _read_blocks(file):
        if isinstance(lines, Note):
            yield lines
            continue
        count += len(lines)
        if count > _FREE_LINES + _LINES_PER_BYTE * file.tell():
            yield Note("too-large")
            return
        for line in lines:
            if keys and not line.startswith(keys) and _SURT_KEY.match(line):
                continue
            if stripped := line.rstrip():
                yield stripped


def _read_blocks(file: BinaryIO) -> Iterator[list[bytes] | Note]:
    """Yield lists of lines.  A line is dropped if it is too long, or continues in damaged bytes."""
    buffer, is_long = bytearray(), False
    for piece in _read_pieces(file):
        if isinstance(piece, Note):
            buffer, is_long = bytearray(), False
            yield piece
            continue
        buffer += piece
        lines = bytes(buffer).split(b"\n") if b"\n" in piece else []
        if lines:
            buffer = bytearray(lines.pop())
            if not is_long and len(lines[0]) > _MAX_LINE_BYTES:
                yield Note("corrupt")
                is_long = True
            yield lines[1:] if is_long else lines
            is_long = False
        elif len(buffer) > _MAX_LINE_BYTES:
            if not is_long:
                yield Note("corrupt")
            buffer, is_long = bytearray(), True
    if buffer and not is_long:
        yield [bytes(buffer)]


def _read_pieces(file: BinaryIO) -> Iterator[bytes | Note]:
    """Yield the bytes of the file, inflated if it is gzip; after a fault those of the next member."""
    data = file.read(_STEP_BYTES)
    if not data.startswith(GZIP):
        while data:
            yield data
            data = file.read(_PIECE_BYTES)
        return
    inflater, output, fault_count, is_complete = zlib.decompressobj(31), b"", 0, True
    while data or len(output) == _PIECE_BYTES:
        try:
            output = inflater.decompress(data, _PIECE_BYTES)
            yield output
            data = inflater.unused_data.lstrip(b"\0") if inflater.eof else inflater.unconsumed_tail
            data = data or file.read(_STEP_BYTES)
            is_complete = inflater.eof
        except zlib.error:
            yield Note("corrupt")
            fault_count += 1
            if fault_count == _MAX_FAULTS:
                return
            output, is_complete = b"", True
            data = _find_member(data[1:], file)
        if is_complete:
            inflater = zlib.decompressobj(31)
    if not is_complete:
        yield Note("truncated")


def _find_member(data: bytes, file: BinaryIO) -> bytes:
    """Return the data from the next gzip member on; b"" without one."""
    while (at := data.find(GZIP)) < 0:
        piece = file.read(_STEP_BYTES)
        if not piece:
            return b""
        data = data[-2:] + piece
    return data[at:]
