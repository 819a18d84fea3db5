"""The content of an HTTP response as an archive holds it, without its codings."""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from overthere.links.containers.packed import Pieces, Stream, failing, pieces
from overthere.links.documents.header import Header

__all__ = ["content", "is_as_long_as_told"]


def content(block: bytes, header: Header, limit: int) -> tuple[bytes, list[str]]:
    """The content of a response without its codings (RFC 9112 7, RFC 9110 8.4), up to `limit` octets, and notes.

    Archives hold responses whose codings were undone and are still told: if not even the first octet can be decoded,
    the content is as it stands, with the note "wrong-type".
    """
    data = block[header.end :]
    notes: list[str] = []
    for name in (b"transfer-encoding", b"content-encoding"):
        told = b",".join(value for key, value in header.fields if key == name)
        for coding in reversed(told.lower().split(b",")) if told and data else ():
            coding = coding.strip().removeprefix(b"x-")
            if coding in _NONE:
                continue
            undo = _CODINGS.get(coding)
            plain, note = (b"", "wrong-type") if undo is None else undo(data, limit)
            if note == "wrong-type":
                plain = data
            if note:
                notes.append(note)
            data = plain
    if not header.whole:
        notes.append("truncated")
    if len(data) > limit:
        notes.append("too-large")
    return data[:limit], notes


def is_as_long_as_told(block: bytes, header: Header) -> bool:
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
_BEHIND = re.compile(rb"\r?+\n")
_TRAILER = re.compile(rb"[!-9;-~]++:[^\n]*+(?:\n|\Z)")
_DIGITS = 16
"""Of the size of a chunk: more do not count anything that there is."""


def _dechunked(data: bytes, limit: int) -> tuple[bytes, str]:
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
            return b"".join(parts), _trailed(data, at)
        end = at + int(size, 16)
        parts.append(data[at : min(end, at + limit + 1 - got)])
        got += len(parts[-1])
        if got > limit:
            break
        if end >= len(data):
            # Content that is not chunked may begin with digits: they count nothing.
            return b"".join(parts), "truncated"
        behind = _BEHIND.match(data, end)
        if behind is None:
            return b"".join(parts), "corrupt" if len(parts) > 1 else "wrong-type"
        at = behind.end()
    return b"".join(parts), ""


def _trailed(data: bytes, at: int) -> str:
    """What is to say of what stands behind the last chunk: fields, and an empty line."""
    while (line := _TRAILER.match(data, at)) is not None:
        at = line.end()
    return "wrong-length" if data[at : at + 3].strip(b"\r\n") or len(data) > at + 2 else ""


def _inflated(data: bytes, limit: int, *forms: int) -> tuple[bytes, str]:
    """Up to one octet more than `limit`; deflate is met with its zlib frame and without (RFC 9110 8.4.1.2)."""
    for form in forms:
        inflate = zlib.decompressobj(form)
        try:
            content = inflate.decompress(data, limit + 1)
        except zlib.error:
            # What stands before the error is not lost.
            content, note = _finely(_Inflating(data, form), limit)
            if note == "wrong-type":
                continue
            return content, note
        if len(content) > limit:
            return content, ""
        if not inflate.eof:
            return content, "truncated" if content else "wrong-type"
        behind = len(data) - len(inflate.unused_data)
        if data.startswith(_GZIP, behind):
            more, note = _finely(_Inflating(data, form, behind), limit - len(content))
            return content + more, "wrong-length" if note == "wrong-type" else note
        return content, "wrong-length" if inflate.unused_data.strip(b"\0") else ""
    return b"", "wrong-type"


_GZIP = b"\x1f\x8b"


class _Inflating:
    """What is inflated bit by bit, one stream behind the other (RFC 1952 2.2)."""

    def __init__(self, data: bytes, form: int, at: int = 0) -> None:
        self.data, self.form, self.at = data, form, at
        self.inflate = zlib.decompressobj(form)

    def read(self, size: int) -> bytes:
        while self.at < len(self.data):
            if self.inflate.eof:
                self.inflate = zlib.decompressobj(self.form)
            piece = self.data[self.at : self.at + size]
            inflated = self.inflate.decompress(piece)
            self.at += len(piece) - len(self.inflate.unused_data)
            if inflated:
                return inflated
        if not self.inflate.eof:
            raise EOFError("incomplete")
        return b""


def _finely(reader: Any, limit: int) -> tuple[bytes, str]:
    parts: list[bytes] = []
    got = 0
    try:
        while got <= limit and (part := reader.read(_FINE)):
            parts.append(part)
            got += len(part)
    except (EOFError, OSError, ValueError, zlib.error) as error:
        note = failing(error)
        return b"".join(parts)[: limit + 1], note if got or note == "too-large" else "wrong-type"
    return b"".join(parts)[: limit + 1], ""


_FINE = 64
"""Octets that are read at once where an error is known to come: what stands before it is not lost."""


def _by_library(data: bytes, limit: int, make: Callable[[bytes, int], Stream]) -> tuple[bytes, str]:
    """make: a stream of what is in the data, which makes so many octets of it at once."""
    reader = make(data, limit + 1)
    parts: list[bytes] = []
    left = limit + 1
    try:
        while left > 0 and (part := reader.read(left)):
            parts.append(part)
            left -= len(part)
    except (OSError, ValueError):
        return _finely(make(data, _FINE), limit)
    return b"".join(parts), "" if parts else "wrong-type"


def _brotli(data: bytes, most: int) -> Stream:
    from fastwarc.stream_io import BrotliReader

    made: Stream = BrotliReader(io.BytesIO(data))
    return made


def _zstd(data: bytes, most: int) -> Stream:
    return Pieces(_frames(data, most))


def _frames(data: bytes, most: int) -> Iterator[bytes]:
    from overthere.access.coding import zstd_library, zstd_unpacker

    library = zstd_library()
    try:
        yield from pieces(io.BytesIO(data), partial(zstd_unpacker, library), most)
    except EOFError:
        raise OSError("incomplete") from None
    except library.ZstdError as error:
        raise OSError(str(error)) from None


_CODINGS: dict[bytes, Callable[[bytes, int], tuple[bytes, str]]] = {
    b"chunked": _dechunked,
    b"gzip": lambda data, limit: _inflated(data, limit, 31),
    b"deflate": lambda data, limit: _inflated(data, limit, 15, -15),
    b"br": lambda data, limit: _by_library(data, limit, _brotli),
    b"zstd": lambda data, limit: _by_library(data, limit, _zstd),
}
