"""The content of an HTTP response as an archive holds it, without its codings."""

from __future__ import annotations

import re

from overthere.ground.codings import CONTENT, MOST_CODINGS, TrailingOctets, decode_until_fault
from overthere.links.containers.streams import coding_fault
from overthere.links.documents.header import Header

__all__ = ["has_stated_length", "read_content"]


def read_content(block: bytes, header: Header, limit: int) -> tuple[bytes, list[str]]:
    """The content of a response without its codings (RFC 9112 7, RFC 9110 8.4), up to `limit` octets, and notes.

    Archives hold responses whose codings were undone and are still named: if nothing can be decoded, the content is as
    it stands, with the note "wrong-type".
    """
    data = block[header.end :]
    notes: list[str] = []
    for name in (b"transfer-encoding", b"content-encoding"):
        told = b",".join(value for key, value in header.fields if key == name)
        named = [coding.strip().removeprefix(b"x-") for coding in reversed(told.lower().split(b","))]
        applied = [coding for coding in named if coding not in _NONE] if data else []
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
    """Whether the body has as many octets as Content-Length says, where it counts (RFC 9112 6.3).

    It does not beside a Transfer-Encoding, nor of a response that has no body (204, 304).
    """
    said = dict(reversed(header.fields))
    told = said.get(b"content-length", b"")
    if not told.isdigit() or len(told) > _DIGITS or said.get(b"transfer-encoding"):
        return True
    size = len(block) - header.end
    return int(told) == size or (not size and header.status in (204, 304))


_NONE = (b"", b"identity")
_CHUNK = re.compile(rb"[ \t]*+([0-9A-Fa-f]++)[ \t]*+(?:;[^\n]*+|\r?+)\n")
_LINE_END = re.compile(rb"\r?+\n")
_TRAILER = re.compile(rb"[!-9;-~]++:[^\n]*+(?:\n|\Z)")
_DIGITS = 16
"""Of the size of a chunk: more do not count anything that there is."""


def _decode_chunks(data: bytes, limit: int) -> tuple[bytes, str]:
    """The chunks together, up to one octet more than `limit` (RFC 9112 7.1); their extensions say nothing here."""
    parts: list[bytes] = []
    at = got = 0
    while got <= limit:
        line = _CHUNK.match(data, at)
        size: bytes = b"" if line is None else line[1].lstrip(b"0")
        if line is None or len(size) > _DIGITS:
            note = "truncated" if len(data) - at < _DIGITS and parts else "corrupt"
            return b"".join(parts), note if parts else "wrong-type"
        at = line.end()
        if not size:
            return b"".join(parts), _trailer_note(data, at)
        end = at + int(size, 16)
        parts.append(data[at : min(end, at + limit + 1 - got)])
        got += len(parts[-1])
        if got > limit:
            break
        if end >= len(data):
            # Content that is not chunked may begin with digits: they count nothing.
            return b"".join(parts), "truncated"
        behind = _LINE_END.match(data, end)
        if behind is None:
            return b"".join(parts), "corrupt" if len(parts) > 1 else "wrong-type"
        at = behind.end()
    return b"".join(parts), ""


def _trailer_note(data: bytes, at: int) -> str:
    """What is to say of what stands behind the last chunk: fields, and an empty line."""
    while (line := _TRAILER.match(data, at)) is not None:
        at = line.end()
    return "wrong-length" if data[at : at + 3].strip(b"\r\n") or len(data) > at + 2 else ""


def _decode(data: bytes, coding: str, limit: int) -> tuple[bytes, str]:
    """What is in the coding, up to one octet more than `limit`, and a note."""
    if coding == "chunked":
        return _decode_chunks(data, limit)
    if coding not in CONTENT:
        return b"", "wrong-type"
    content, fault = decode_until_fault(data, coding, limit + 1)
    note = "" if fault is None else "wrong-length" if isinstance(fault, TrailingOctets) else coding_fault(fault)
    return content, "wrong-type" if not content and note in ("truncated", "corrupt") else note
