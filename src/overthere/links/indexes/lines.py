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

__all__ = ["GZIP", "read_cdx", "read_cdxj", "read_paths"]

GZIP = b"\x1f\x8b\x08"
"""How a member begins (RFC 1952 2.3.1)."""
_LONGEST = 1 << 20
"""Octets of a line."""
_STEP, _PIECE = 1 << 14, 1 << 16
"""Octets that are inflated at once, and those of a plain file that are read at once."""
_FAULTS = 100
"""After so many faults of gzip the rest is not read: each costs up to a step that is inflated again."""
_SURT = re.compile(rb"[^\s/{()]++\)")
"""What a key in SURT begins with."""
_NAMES = {
    "A": "urlkey", "N": "urlkey", "a": "url", "m": "mime", "s": "status", "k": "digest",
    "S": "length", "V": "offset", "g": "filename",
}  # fmt: skip
"""The fields of CDXJ that are those of CDX, by their letters (Internet Archive, "CDX and DAT Legend")."""
_BY_COUNT = {
    len(letters): [_NAMES.get(letter, letter) for letter in letters] for letters in ("NbamskrVg", "NbamskrMSVg")
}
"""The fields of a CDX without a header line."""


def read_cdxj(file: BinaryIO, where: Where) -> Iterator[Entry | Note]:
    """Lines of a key, a timestamp and a JSON object; or of the object alone, as the servers of indexes answer."""
    for line in _lines(file, where):
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
    """Lines of fields, in the order of the letters of the last header line; without one, of 9 or 11 fields.

    Raises: ValueError for a condition on a field that a header line does not name.
    """
    delimiter, order = b" ", None
    for line in _lines(file, where):
        if isinstance(line, Note):
            yield line
        elif line[1:5] == b"CDX" + line[:1] and not line[:1].isalnum():
            delimiter = line[:1]
            given = [
                _NAMES.get(letter, letter) for letter in line[5:].decode("latin-1").split(delimiter.decode("latin-1"))
            ]
            if "offset" not in given or "filename" not in given:
                yield Note("unsupported")
                return
            named = ("url", "domain", "host") if "url" in given else ("domain", "host") if "urlkey" in given else ()
            try:
                where.check_answers((*given, *named), "a CDX whose header line does not name the field")
            except ValueError:
                if order is None:
                    raise
                yield Note("unsupported")  # the header line of another file, which was put behind the first
                return
            order = given
        else:
            values = line.split(delimiter)
            names = order or _BY_COUNT.get(len(values), [])
            if len(names) != len(values):
                yield Note("corrupt")
                continue
            fields = dict(zip(names, map(to_text, values), strict=True))
            yield from _select(make_entry(fields), fields.get("urlkey", ""), "", where)


def read_paths(file: BinaryIO, where: Where) -> Iterator[Entry | Note]:
    """Lines of a path or a URI each, of whole files."""
    for line in _lines(file, where):
        if isinstance(line, Note):
            yield line
            continue
        path = line.decode("utf-8", "replace").strip()
        yield Entry(path, None, None) if path.isprintable() and "\ufffd" not in path else Note("corrupt")


def _select(entry: Entry | Note, key: str, languages: str, where: Where) -> Iterator[Entry | Note]:
    if isinstance(entry, Note) or where.matches(entry, key, languages):
        yield entry


def _lines(file: BinaryIO, where: Where) -> Iterator[bytes | Note]:
    """The lines that are not blank, without line ends; those whose key in SURT shows another host are left out."""
    surts = where.surts()
    keys = tuple(f"{surt}{mark}".encode() for surt in surts for mark in "),:")
    for lines in _blocks(file):
        if isinstance(lines, Note):
            yield lines
            continue
        for line in lines:
            if keys and not line.startswith(keys) and _SURT.match(line):
                continue
            if stripped := line.rstrip():
                yield stripped


def _blocks(file: BinaryIO) -> Iterator[list[bytes] | Note]:
    """Some lines at once.  A line is dropped if it is too long, or goes on in damaged octets."""
    rest, is_long = bytearray(), False
    for piece in _octets(file):
        if isinstance(piece, Note):
            rest, is_long = bytearray(), False
            yield piece
            continue
        rest += piece
        lines = bytes(rest).split(b"\n") if b"\n" in piece else []
        if lines:
            rest = bytearray(lines.pop())
            if not is_long and len(lines[0]) > _LONGEST:
                yield Note("corrupt")
                is_long = True
            yield lines[1:] if is_long else lines
            is_long = False
        elif len(rest) > _LONGEST:
            if not is_long:
                yield Note("corrupt")
            rest, is_long = bytearray(), True
    if rest and not is_long:
        yield [bytes(rest)]


def _octets(file: BinaryIO) -> Iterator[bytes | Note]:
    """The octets of the file, inflated if they are gzip; after a fault those of the next member."""
    octets = file.read(_STEP)
    if not octets.startswith(GZIP):
        while octets:
            yield octets
            octets = file.read(_PIECE)
        return
    member, out, faults, is_whole = zlib.decompressobj(31), b"", 0, True
    while octets or len(out) == _PIECE:
        try:
            out = member.decompress(octets, _PIECE)
            yield out
            octets = member.unused_data.lstrip(b"\0") if member.eof else member.unconsumed_tail
            octets = octets or file.read(_STEP)
            is_whole = member.eof
        except zlib.error:
            yield Note("corrupt")
            faults += 1
            if faults == _FAULTS:
                return
            out, is_whole = b"", True
            octets = _find_member(octets[1:], file)
        if is_whole:
            member = zlib.decompressobj(31)
    if not is_whole:
        yield Note("truncated")


def _find_member(octets: bytes, file: BinaryIO) -> bytes:
    """What follows, from the next gzip member on; b"" if there is none."""
    while (at := octets.find(GZIP)) < 0:
        piece = file.read(_STEP)
        if not piece:
            return b""
        octets = octets[-2:] + piece
    return octets[at:]
