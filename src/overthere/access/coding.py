"""Content codings, decoded while the content arrives (RFC 9110 8.4).

A request without Accept-Encoding accepts any coding (RFC 9110 12.5.3): a coded content is decoded or rejected, never
given out as if it were the content.
"""

from __future__ import annotations

from collections.abc import Iterator

from overthere.access.errors import AccessFailed, LimitExceeded, ProtocolError
from overthere.access.wire import Data, Dialogue, TimeCheck
from overthere.ground.codings import CONTENT, MOST_CODINGS, Decoder, Undecodable
from overthere.ground.extras import missing_message

__all__ = ["codings", "decode_content"]

_PIECE = 1 << 18
"""Octets that come out at once, whatever a few octets unpack to."""
_SOURCE = "RFC 9110 8.4"


def codings(field: str) -> tuple[str, ...]:
    """The codings that a Content-Encoding names, in the order in which they were applied; "identity" is none.

    >>> codings("X-gzip, identity"), codings("")
    (('gzip',), ())
    """
    named = (name.strip().lower().removeprefix("x-") for name in field.split(","))
    return tuple(name for name in named if name not in ("", "identity"))


def decode_content(content: Dialogue, applied: tuple[str, ...], most: int | None) -> Dialogue:
    """The same dialogue, its content decoded.

    most: octets of content, if there is a bound.

    Raises: ProtocolError for a coding that was not asked for and is unknown, and for content that is not in it;
    AccessFailed if it is truncated, or if the library of a coding is missing; LimitExceeded.
    """
    foreign = [name for name in applied if name not in CONTENT]
    if foreign or len(applied) > MOST_CODINGS:
        which = f"in {len(applied)} codings" if len(applied) > MOST_CODINGS else f"in the coding {foreign[0][:40]!r}"
        raise ProtocolError(f"the content comes {which}, which was not requested and is not decoded", _SOURCE)
    decoders = [Decoder(name) for name in reversed(applied)]
    count, answer = 0, None
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
            count += len(piece)
            if most is not None and count > most:
                raise LimitExceeded(f"more than {most:,} octets after decoding")
            yield Data(piece) if piece else TimeCheck()
    for decoder in decoders:
        try:
            decoder.end()  # none at all is no content (RFC 9110 6.4)
        except EOFError:
            raise AccessFailed(f"the {decoder.name} content is truncated", _SOURCE) from None


def _decode_piece(decoders: list[Decoder], octets: bytes) -> Iterator[bytes]:
    """What comes out of all decoders; an empty piece for each of any of them, for content may decode to nothing."""
    if not decoders:
        yield octets
        return
    first, *others = decoders
    try:
        for piece in first.feed(octets, _PIECE):
            yield b""
            yield from _decode_piece(others, piece)
    except Undecodable as error:
        raise ProtocolError(f"the content is not valid {first.name}: {error}", _SOURCE) from error
    except ModuleNotFoundError as error:
        missing = missing_message(error.name or first.name, "access")
        raise AccessFailed(f"the content comes in the coding {first.name!r}, and {missing}", _SOURCE) from error
