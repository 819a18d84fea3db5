"""Content codings, decoded while the content arrives (RFC 9110 8.4).

A request without Accept-Encoding accepts any coding (RFC 9110 12.5.3): encoded content is decoded or rejected, never
returned as if it were the content.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from overthere.access.errors import AccessError, AccessFailed, LimitExceeded, ProtocolError
from overthere.access.wire import Data, Dialogue, TimeCheck
from overthere.ground import charsets
from overthere.ground.codings import CONTENT, MOST_CODINGS, Decoder, Undecodable
from overthere.ground.extras import missing_message

if TYPE_CHECKING:
    from overthere.values.uri import URI

_MAX_PIECE_BYTES = 1 << 18
"""The most bytes of decoded content in one piece, however well it was compressed."""
MAX_BYTES_AT_ONCE = 1 << 30
"""The most bytes of all content, and of a line, that are read into memory; larger content is read in pieces."""
_LINE_END = re.compile(rb"\r\n?|\n")
_SOURCE = "RFC 9110 8.4"


def codings(field: str) -> tuple[str, ...]:
    """Return the codings of a Content-Encoding, in the order in which they were applied, without "identity".

    >>> codings("X-gzip, identity"), codings("")
    (('gzip',), ())
    """
    named = (name.strip().lower().removeprefix("x-") for name in field.split(","))
    return tuple(name for name in named if name not in ("", "identity"))


def decode_content(content: Dialogue, applied: tuple[str, ...], most: int | None) -> Dialogue:
    """Wrap a dialogue so that its content is decoded.

    most: the limit of decoded bytes, or None.

    Raises: ProtocolError for an unknown coding or too many, and for content that is invalid in its coding;
    AccessFailed if it is truncated, or if the library of a coding is missing; LimitExceeded.
    """
    unknown = [name for name in applied if name not in CONTENT]
    if unknown or len(applied) > MOST_CODINGS:
        label = f"in {len(applied)} codings" if len(applied) > MOST_CODINGS else f"in the coding {unknown[0][:40]!r}"
        raise ProtocolError(f"the content comes {label}, which was not requested and is not decoded", _SOURCE)
    decoders = [Decoder(name) for name in reversed(applied)]
    size, answer = 0, None
    while True:
        try:
            effect = content.send(answer)
        except StopIteration:
            break
        if not isinstance(effect, Data):
            answer = yield effect
            continue
        answer = None
        for piece in _decode_piece(decoders, effect.octets):
            size += len(piece)
            if most is not None and size > most:
                raise LimitExceeded(f"more than {most:,} octets after decoding")
            yield Data(piece) if piece else TimeCheck()
    for decoder in decoders:
        try:
            decoder.end()  # an empty body is not encoded: there is no content (RFC 9110 6.4)
        except EOFError:
            raise AccessFailed(f"the {decoder.name} content is truncated", _SOURCE) from None


def _decode_piece(decoders: list[Decoder], octets: bytes) -> Iterator[bytes]:
    """Yield the output of the last decoder, and an empty piece per step, because content may decode to nothing."""
    if not decoders:
        yield octets
        return
    first, *later = decoders
    try:
        for piece in first.feed(octets, _MAX_PIECE_BYTES):
            yield b""
            yield from _decode_piece(later, piece)
    except Undecodable as error:
        raise ProtocolError(f"the content is not valid {first.name}: {error}", _SOURCE) from error
    except ModuleNotFoundError as error:
        missing = missing_message(error.name or first.name, "access")
        raise AccessFailed(f"the content comes in the coding {first.name!r}, and {missing}", _SOURCE) from error


class LineSplitter:
    """Decodes pieces of bytes and splits them into lines of text."""

    def __init__(self, charset: str, errors: str, uri: URI) -> None:
        self.has_octet_ends: bool = not (charsets.codec(charset) or "").startswith("utf-16")
        decoder = charsets.decoder(charset, errors)
        self.decoder: io.IncrementalNewlineDecoder = io.IncrementalNewlineDecoder(decoder, translate=True)
        self.unfinished: io.StringIO = io.StringIO(newline="")
        """The line that is not complete yet; a list of its parts would take 60 bytes for each part."""
        self.uri: URI = uri
        self.piece: bytes = b""
        """The bytes that were fed last, and before them those not yet decoded, or a CR that may be a line end."""
        self.taken_count: int = 0
        """The number of lines of the piece that were taken."""

    def feed(self, octets: bytes, final: bool = False) -> list[str]:
        """Return the lines that these bytes complete, all if `final`, without their ends (CR LF, LF, CR).

        Raises: LimitExceeded for a line that is too long.
        """
        undecoded, flags = self.decoder.getstate()
        carried = self.piece[self.piece.rfind(b"\r") :] if flags & 1 else undecoded
        if len(carried) > _MAX_PIECE_BYTES:  # such as escapes of ISO-2022-JP
            raise LimitExceeded(f"more than {_MAX_PIECE_BYTES:,} octets without a character", uri=self.uri)
        self.piece = carried + octets
        *lines, unfinished = self.decoder.decode(octets, final).split("\n")
        if lines:
            lines[0] = self.unfinished.getvalue() + lines[0]
            self.unfinished = io.StringIO(newline="")
        self.unfinished.write(unfinished)
        if self.unfinished.tell() > MAX_BYTES_AT_ONCE:
            raise LimitExceeded(f"a line of more than {MAX_BYTES_AT_ONCE:,} characters", uri=self.uri)
        if final and self.unfinished.tell():
            lines.append(self.unfinished.getvalue())
        return lines

    def take_rest(self) -> bytes:
        """Return the bytes after the lines that were taken, and forget them.  Raises: AccessError in UTF-16."""
        if not self.has_octet_ends:
            raise AccessError("`iter_lines` reads ahead, in UTF-16: take all of its lines", uri=self.uri)
        end = next(islice(_LINE_END.finditer(self.piece), self.taken_count - 1, None), None)
        remainder, self.piece = self.piece[end.end() :] if end else b"", b""
        self.unfinished = io.StringIO(newline="")
        self.decoder.reset()
        return remainder
