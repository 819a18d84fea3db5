"""The content of an HTTP response as an archive holds it, without its codings."""

from __future__ import annotations

import re

from overthere.ground.codings import CONTENT, MOST_CODINGS, TrailingOctets, decode_until_fault
from overthere.links.containers.streams import decoding_note
from overthere.links.documents.header import Header


def read_content(block: bytes, header: Header, limit: int) -> tuple[bytes, list[str]]:
    """Return the content of a response without its codings (RFC 9112 7, RFC 9110 8.4), up to `limit` bytes, and notes.

    Archives contain responses whose codings were undone and are still named: content that cannot be decoded is returned
    unchanged, with the note "wrong-type".
    """
    data = block[header.end :]
    notes: list[str] = []
    for name in (b"transfer-encoding", b"content-encoding"):
        value_list = b",".join(value for key, value in header.fields if key == name)
        codings = [coding.strip().removeprefix(b"x-") for coding in reversed(value_list.lower().split(b","))]
        applied = [coding for coding in codings if coding not in _NO_CODING] if data else []
        if len(applied) > MOST_CODINGS:
            notes.append("wrong-type")
            continue
        for coding in applied:
            plain, note = _decode(data, coding.decode("latin-1"), limit)
            data = data if note == "wrong-type" else plain
            notes += [note] if note else []
    if not header.is_ended:
        notes.append("truncated")
    if len(data) > limit:
        notes.append("too-large")
    return data[:limit], notes


def has_stated_length(block: bytes, header: Header) -> bool:
    """Whether the body has the length in Content-Length, where that applies (RFC 9112 6.3).

    It does not apply next to a Transfer-Encoding, nor to a response without a body (204, 304).
    """
    values = dict(reversed(header.fields))
    stated_length = values.get(b"content-length", b"")
    if not stated_length.isdigit() or len(stated_length) > _MAX_DIGITS or values.get(b"transfer-encoding"):
        return True
    size = len(block) - header.end
    return int(stated_length) == size or (not size and header.status in (204, 304))


_NO_CODING = (b"", b"identity")
_CHUNK = re.compile(rb"[ \t]*+([0-9A-Fa-f]++)[ \t]*+(?:;[^\n]*+|\r?+)\n")
_LINE_END = re.compile(rb"\r?+\n")
_TRAILER = re.compile(rb"[!-9;-~]++:[^\n]*+(?:\n|\Z)")
_MAX_DIGITS = 16
"""Maximum digits of a size: no content is larger."""


def _decode_chunks(data: bytes, limit: int) -> tuple[bytes, str]:
    """Join the chunks, up to one byte more than `limit` (RFC 9112 7.1); ignore their extensions."""
    content = bytearray()  # a list of chunks would take 60 octets for each
    at = count = 0
    while len(content) <= limit:
        line = _CHUNK.match(data, at)
        size: bytes = b"" if line is None else line[1].lstrip(b"0")
        if line is None or len(size) > _MAX_DIGITS:
            note = "truncated" if len(data) - at < _MAX_DIGITS and count else "corrupt"
            return bytes(content), note if count else "wrong-type"
        at = line.end()
        if not size:
            return bytes(content), _trailer_note(data, at)
        end = at + int(size, 16)
        content += data[at : min(end, at + limit + 1 - len(content))]
        count += 1
        if len(content) > limit:
            break
        if end >= len(data):
            return bytes(content), "truncated"
        # Content that is not chunked may begin with digits that are not a size.
        line_end = _LINE_END.match(data, end)
        if line_end is None:
            return bytes(content), "corrupt" if count > 1 else "wrong-type"
        at = line_end.end()
    return bytes(content), ""


def _trailer_note(data: bytes, at: int) -> str:
    """Return the note on the data after the last chunk: "" for trailer fields and an empty line."""
    while (line := _TRAILER.match(data, at)) is not None:
        at = line.end()
    return "wrong-length" if data[at : at + 3].strip(b"\r\n") or len(data) > at + 2 else ""


def _decode(data: bytes, coding: str, limit: int) -> tuple[bytes, str]:
    """Decode one coding, up to one byte more than `limit`; return the content and a note."""
    if coding == "chunked":
        return _decode_chunks(data, limit)
    if coding not in CONTENT:
        return b"", "wrong-type"
    content, fault = decode_until_fault(data, coding, limit + 1)
    note = "" if fault is None else "wrong-length" if isinstance(fault, TrailingOctets) else decoding_note(fault)
    return content, "wrong-type" if not content and note in ("truncated", "corrupt") else note
