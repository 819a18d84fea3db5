"""Reads a file of messages: header fields, boundaries of parts and messages, transfer encodings.

The memory does not grow with the file (RFC 5322 2.2; RFC 2046 5.1.1; RFC 2045 6; RFC 4155).
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Generator
from typing import Any, NamedTuple

from overthere.access.wire import Effect, Read
from overthere.mail.fields import Header

_READ_BYTES = 1 << 18
_MAX_LINE_BYTES = 1 << 16
_MAX_HEADER_BYTES = 1 << 20
"""Maximal bytes of a header; the rest is read as body."""
_MAX_BOUNDARY_BYTES = 1024
_LOOKBACK_BYTES = 4
"""Consumed bytes that stay in the buffer, to check whether the line before a boundary is empty."""

# Possible boundaries, by whether there are delimiters and whether the file is an mbox; `re` finds line feeds fast.
_DELIMITER, _FROM = rb"--", rb"From (?:(?<=\n\nFrom )|(?<=\n\r\nFrom ))"
FROM_LINE = re.compile(rb"\n%s" % _FROM)
"""The beginning of a message of an mbox, after an empty line, whose line feed is the first byte."""
_CANDIDATES = {
    (True, True): re.compile(rb"\n(?:%s|%s)" % (_DELIMITER, _FROM)),
    (True, False): re.compile(rb"\n%s" % _DELIMITER),
    (False, True): FROM_LINE,
}
_HEADER_LINE = re.compile(rb"[!-9;-~]++[ \t]*+:|[ \t]|>?From ")


class Boundary(NamedTuple):
    """A line that ends a part: a delimiter of the multipart at `depth`; depth -1: the end of the message."""

    depth: int
    is_closing: bool = False


END = Boundary(-1)


class MessageReader:
    """Reads the file of channel 0 piece by piece."""

    def __init__(self) -> None:
        self.buffer: bytearray = bytearray()
        self.at: int = 0
        """The offset in the buffer of the first byte that is not consumed."""
        self.is_finished: bool = False
        self.is_mbox = False
        self.has_lone_returns: bool | None = None
        """Whether lines end in CR alone, which is then read as LF; None if nothing has been read."""
        self.is_line_end_due: bool = False
        """Whether the line end at `at` belongs to the header or delimiter before it, and must be skipped."""

    def fill(self) -> Generator[Effect, Any, bool]:
        """Drop consumed bytes from the buffer (`at` changes with it) and read more; return False at the file's end."""
        if self.is_finished:
            return False
        consumed = max(0, self.at - _LOOKBACK_BYTES)
        del self.buffer[:consumed]
        self.at -= consumed
        piece: bytes = yield Read(_READ_BYTES, counted=False)
        data = bytearray(piece)
        while self.has_lone_returns is None and piece and b"\n" not in piece and len(data) < _READ_BYTES:
            piece = yield Read(_READ_BYTES, counted=False)
            data += piece
        if self.has_lone_returns is None:
            self.has_lone_returns = b"\n" not in data[:_READ_BYTES] and b"\r" in data[: _READ_BYTES - 1]
        self.is_finished = not piece
        self.buffer += data.replace(b"\r", b"\n") if self.has_lone_returns else data
        return bool(data)

    def starts_with(self, text: bytes) -> Generator[Effect, Any, bool]:
        """Return whether the file starts with the text; valid only before anything is consumed."""
        while len(self.buffer) < len(text) and (yield from self.fill()):
            pass
        return self.buffer.startswith(text)

    def at_end(self) -> Generator[Effect, Any, bool]:
        """Whether the whole file has been consumed."""
        while self.at >= len(self.buffer):
            if not (yield from self.fill()):
                return True
        return False

    def read_line(self) -> Generator[Effect, Any, bytes]:
        """Return a line with its end, or the next piece of one that is too long; b"" at the end of the file."""
        search_start = self.at
        while (end := self.buffer.find(b"\n", search_start)) < 0 and len(self.buffer) - self.at < _MAX_LINE_BYTES:
            scanned = len(self.buffer) - self.at
            if not (yield from self.fill()):
                break
            search_start = self.at + scanned
        end = min(end + 1 if end >= 0 else len(self.buffer), self.at + _MAX_LINE_BYTES)
        line = bytes(self.buffer[self.at : end])
        self.at = end
        return line

    def next_message(self) -> Generator[Effect, Any, bool]:
        """Skip the "From " line of the next message of an mbox (RFC 4155); return False at the end of the file."""
        if (yield from self.at_end()):
            return False
        if self.is_mbox and self.buffer.startswith(b"From ", self.at):
            while (line := (yield from self.read_line())) and not line.endswith(b"\n"):
                pass
        return True

    def read_header(self, default: str, delimiter_depths: dict[bytes, int]) -> Generator[Effect, Any, Header]:
        """Read the next header.  The line end before the body is not consumed: a delimiter may follow at once.

        A line that is not a field ends it too (RFC 5322 3.5), and so does a delimiter, which may look like one: there
        may be no body (RFC 2046 5.1.1, body-part).

        default: the media type of a header that names none.  delimiter_depths: as for `read_piece`.
        """
        self.at += self.is_line_end_due
        self.is_line_end_due = False
        raw, blank = bytearray(), b""
        is_line_start, broken = True, False
        while line := (yield from self.read_line()):
            is_blank = is_line_start and not line.strip(b"\r\n")
            is_field = _HEADER_LINE.match(line) and not (
                line.startswith(b"--") and _boundary_of(line.rstrip(b"\n"), delimiter_depths)
            )
            if is_blank or len(raw) > _MAX_HEADER_BYTES or (is_line_start and not is_field):
                blank = line if is_blank else b""
                broken = not is_blank and not line.startswith(b"--")
                self.at -= 0 if is_blank else len(line)
                self.is_line_end_due = self.at > 0 and self.buffer[self.at - 1] == 10
                self.at -= self.is_line_end_due
                break
            is_line_start = line.endswith(b"\n")
            raw += line
        return Header(bytes(raw), blank, broken, default)

    def read_piece(self, delimiter_depths: dict[bytes, int]) -> Generator[Effect, Any, tuple[bytes, Boundary | None]]:
        """Return the next piece of content, and the boundary after it; None if none is reached.

        delimiter_depths: depths by delimiter without "--".  The line end before one belongs to it (RFC 2046 5.1.1).
        """
        search_start = self.at
        candidates = _CANDIDATES.get((bool(delimiter_depths), self.is_mbox))
        while True:
            match = candidates.search(self.buffer, search_start) if candidates else None
            if match is None:
                if self.is_finished:
                    return self._take_rest(), END
                # The last bytes may be the beginning of a boundary, with the CR before it.
                content = self._consume(max(self.at, len(self.buffer) - 7))
                yield from self.fill()
                return content, None
            start = match.start()
            end = self.buffer.find(b"\n", start + 1, start + _MAX_BOUNDARY_BYTES)
            if end < 0 and not self.is_finished and len(self.buffer) - start < _MAX_BOUNDARY_BYTES:
                scanned = start - self.at
                yield from self.fill()
                search_start = self.at + scanned
                continue
            boundary = _boundary_of(
                bytes(self.buffer[start + 1 : end if end >= 0 else start + _MAX_BOUNDARY_BYTES]), delimiter_depths
            )
            if boundary is None:
                search_start = start + 1
                if start - self.at > _READ_BYTES:
                    return self._consume(start), None
                continue
            # The empty line before "From " belongs to the file, the line end before a delimiter to the delimiter.
            content = self._consume(start - (1 if start > self.at and self.buffer[start - 1] == 13 else 0))
            # The boundary's line end may begin another delimiter, which follows at once (RFC 2046 5.1.1).
            self.at = start + 1 if boundary is END else end if end >= 0 else len(self.buffer)
            self.is_line_end_due = boundary is not END and end >= 0
            return content, boundary

    def _consume(self, end: int) -> bytes:
        """Consume and return the bytes up to a buffer offset, without a line end of the header or delimiter before."""
        content = bytes(self.buffer[self.at : end])
        self.at = max(self.at, end)
        if content and self.is_line_end_due:
            self.is_line_end_due, content = False, content[1:]
        return content

    def _take_rest(self) -> bytes:
        """Return the rest of the buffer at the end of the file, without the empty line after the last message of an
        mbox."""
        content = self._consume(len(self.buffer))
        self.is_line_end_due = False
        if self.is_mbox and content.endswith((b"\n\n", b"\n\r\n")):
            content = content[:-1].removesuffix(b"\r")
        return content


def _boundary_of(line: bytes, delimiter_depths: dict[bytes, int]) -> Boundary | None:
    """Return the boundary of a line that begins with "--" or, in an mbox, with "From "; None for other text."""
    if line.startswith(b"From "):
        return END
    text = line.rstrip(b" \t\r")[2:]
    if text in delimiter_depths:
        return Boundary(delimiter_depths[text])
    if text.endswith(b"--") and text[:-2] in delimiter_depths:
        return Boundary(delimiter_depths[text[:-2]], is_closing=True)
    return None


class Decoder:
    """A content transfer encoding that leaves the bytes unchanged (RFC 2045 6.2).  No decoder raises."""

    fault = ""
    """The fault of base64 that was decoded, complete at its end; other decoders report none."""
    had_ignored_bytes = False
    """Whether the input had bytes that the decoder must ignore."""

    def feed(self, octets: bytes) -> bytes:
        return octets

    def end(self) -> bytes:
        """Return the bytes that remain at the end."""
        return b""


class _Base64(Decoder):
    """RFC 2045 6.8: bytes outside the alphabet are ignored, and "=" marks the end."""

    def __init__(self) -> None:
        self.buffer = b""
        self.is_finished = False

    def feed(self, octets: bytes) -> bytes:
        self.had_ignored_bytes = self.had_ignored_bytes or bool(octets.translate(None, _BASE64 + b" \t\r\n"))
        octets = octets.translate(None, _NOT_BASE64)
        data, padding, trailing = (b"", b"", octets) if self.is_finished else (self.buffer + octets).partition(b"=")
        if trailing.strip(b"="):
            self.fault = "more octets behind its end"
        if padding:
            self.is_finished, self.buffer = True, b""
            return self._decode_last(data)
        complete = len(data) // 4 * 4
        self.buffer = data[complete:]
        return binascii.a2b_base64(data[:complete])

    def end(self) -> bytes:
        return b"" if self.is_finished else self._decode_last(self.buffer)

    def _decode_last(self, data: bytes) -> bytes:
        """Decode the last characters; missing padding is accepted."""
        if len(data) % 4 == 1:
            self.fault = self.fault or "its last character is alone"
            data = data[:-1]
        return binascii.a2b_base64(data + b"=" * (-len(data) % 4))


_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
_NOT_BASE64 = bytes(sorted(set(range(256)) - set(_BASE64)))


_BLANKS_BEFORE_LINE_END = re.compile(rb"(?<![ \t])[ \t]++(?=\r?\n)")
_NO_LINE_END = re.compile(rb"=(?=\r(?!\n))")
"""At an equals sign before CR alone `binascii` leaves out all up to the next LF."""


def _decode_lines(lines: bytes) -> bytes:
    return binascii.a2b_qp(_NO_LINE_END.sub(b"=3D", _BLANKS_BEFORE_LINE_END.sub(b"", lines)))


class _QuotedPrintable(Decoder):
    """RFC 2045 6.7, line by line; blanks at the end of a line were added on the way and are removed (rule 3)."""

    def __init__(self) -> None:
        self.buffer = b""

    def feed(self, octets: bytes) -> bytes:
        self.buffer += octets
        end = self.buffer.rfind(b"\n") + 1
        if not end and len(self.buffer) > _MAX_LINE_BYTES:
            end = self.buffer.rfind(b"=", len(self.buffer) - 3)
            end = len(self.buffer) - 3 if end < 0 else end
        complete, self.buffer = self.buffer[:end], self.buffer[end:]
        return _decode_lines(complete)

    def end(self) -> bytes:
        return _decode_lines(self.buffer.rstrip(b" \t"))


_DECODERS: dict[str, type[Decoder]] = {"base64": _Base64, "quoted-printable": _QuotedPrintable}
ENCODED = frozenset(_DECODERS)
PLAIN = frozenset(("", "7bit", "8bit", "binary"))


def decoder(encoding: str) -> Decoder:
    """Return a decoder for a Content-Transfer-Encoding in lower case (RFC 2045 6).

    The decoder of an unknown one changes nothing (6.4).
    """
    return _DECODERS.get(encoding, Decoder)()
