"""Content codings, decoded while the content arrives (RFC 9110 8.4).

A request without Accept-Encoding accepts any coding (RFC 9110 12.5.3): encoded content is decoded or rejected, never
returned as if it were the content.
"""

from __future__ import annotations

from collections.abc import Iterator

from overthere.access.errors import AccessFailed, LimitExceeded, ProtocolError
from overthere.access.wire import Data, Dialogue, TimeCheck
from overthere.ground.codings import CONTENT, MOST_CODINGS, Decoder, Undecodable
from overthere.ground.extras import missing_message

_MAX_PIECE_BYTES = 1 << 18
"""The most bytes of decoded content in one piece, however well it was compressed."""
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
