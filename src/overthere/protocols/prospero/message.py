"""Prospero messages: commands as lines of tokens, in ARDP packets; no socket is touched.

"Prospero 5" is The Prospero Protocol, version 5, of June 1993, by its headings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from overthere.ground.errors import OverthereError

_UNQUOTED = re.compile(rb"[!-&(-~\x80-\xff]+")
_PIECE = re.compile(
    rb"(?P<gap>[ \t]+)|(?P<end>[\r\n]+)|(?P<plain>[^ \t\r\n']+)|'(?P<quoted>[^']*+(?:''[^']*+)*+)'|(?P<open>')"
)
_MAX_TOKENS = 1000
"""The limit of tokens in a line; lines of the protocol have fewer."""


class NotProspero(OverthereError, ValueError):
    """The data is not a packet, or not lines, of the protocol."""


# -- Lines


def token(octets: bytes) -> bytes:
    """Write a token, in quotes if it is empty or has a space or quote, which is doubled (Prospero 5, Spaces, quoting).

    Line feeds could be quoted as well, but not every server supports quotes: callers reject them, and NUL.

    >>> token(b"/pros/name"), token(b""), token(b"it's here")
    (b'/pros/name', b"''", b"'it''s here'")
    """
    return octets if _UNQUOTED.fullmatch(octets) else b"'" + octets.replace(b"'", b"''") + b"'"


def command(*words: bytes) -> bytes:
    """Write a line of words, which must be tokens."""
    return b" ".join(words) + b"\n"


def read_lines(octets: bytes) -> Iterator[tuple[bytes, ...]]:
    """Yield the tokens of each line; a line feed in quotes does not end a line.

    Raises: NotProspero if a quote is not closed, or for a line of more than 1,000 tokens.

    >>> list(read_lines(b"ATTRIBUTE SIZE 20' bytes'\\nNONE-FOUND\\n"))
    [(b'ATTRIBUTE', b'SIZE', b'20 bytes'), (b'NONE-FOUND',)]
    """
    line: list[bytes] = []
    token_parts: list[bytes] = []
    for piece in _PIECE.finditer(octets):
        kind, text = piece.lastgroup, piece[0]
        if kind == "open":
            raise NotProspero(f"a quote at octet {piece.start()} that is not closed")
        if kind in ("plain", "quoted"):
            token_parts.append(text if kind == "plain" else piece["quoted"].replace(b"''", b"'"))
            continue
        if token_parts:
            line.append(b"".join(token_parts))
            token_parts = []
            if len(line) > _MAX_TOKENS:
                raise NotProspero(f"a line of more than {_MAX_TOKENS:,} tokens")
        if kind == "end" and line:
            yield tuple(line)
            line = []
    if token_parts:
        line.append(b"".join(token_parts))
    if line:
        yield tuple(line)


# -- Packets


class Packet(NamedTuple):
    """A packet of the Asynchronous Reliable Delivery Protocol (Prospero 5, ARDP)."""

    connection: int
    number: int
    """From 1 on; 0 is a control packet, without data for the application."""
    total: int
    """The number of packets; 0 if it is not known yet."""
    received: int
    """The number up to which all packets have arrived at the sender of this one."""
    wait: int
    """Seconds until an answer is expected; 0 leaves that to the client."""
    flags: int
    option: int
    data: bytes
    extra: bytes = b""
    """The bytes that belong to the option."""


def packet(data: bytes, connection: int) -> bytes:
    """Write a request of one packet: version 0, a header of 9 bytes, packet 1 of 1, nothing received.

    >>> packet(b"STATUS\\n", 1008)
    b'\\t\\x03\\xf0\\x00\\x01\\x00\\x01\\x00\\x00STATUS\\n'
    """
    header = b"".join(number.to_bytes(2, "big") for number in (connection, 1, 1, 0))
    return bytes([len(header) + 1]) + header + data


def acknowledge_through(request: bytes, number: int) -> bytes:
    """Write a request of `packet` again, with the number up to which all packets of the answer have arrived."""
    return request[:7] + number.to_bytes(2, "big") + request[9:]


def acknowledgement(connection: int, number: int) -> bytes:
    """Write a control packet that states only the number up to which all packets of the answer have arrived.

    >>> acknowledgement(1008, 3)
    b'\\t\\x03\\xf0\\x00\\x00\\x00\\x00\\x00\\x03'
    """
    return b"\x09" + b"".join(value.to_bytes(2, "big") for value in (connection, 0, 0, number))


def read_packet(octets: bytes) -> Packet:
    """Parse a packet; fields beyond a short header have their default values.

    Raises: NotProspero if it is not a packet of version 0.
    """
    length = octets[0] & 0x3F if octets else 0
    if not octets or octets[0] >> 6 or not 1 <= length <= len(octets):
        raise NotProspero(f"no packet of ARDP version 0: it begins with {octets[:1]!r}")
    header = octets[:length]

    def field(start: int, size: int, default: int) -> int:
        return int.from_bytes(header[start : start + size], "big") if length >= start + size else default

    # "If the packet number was also not specified, then it defaults to 1", as does a total of 0.
    total = field(5, 2, 0) or (1 if length < 5 else 0)
    flags = field(11, 1, 0)
    # The additional address, the priority and the protocol precede the bytes of the option.
    extra_start = 13 + (2 + field(14, 1, 0) if flags & 1 else 0) + (2 if flags & 2 else 0) + (2 if flags & 4 else 0)
    return Packet(
        connection=field(1, 2, 0), number=field(3, 2, 1), total=total, received=field(7, 2, 0), wait=field(9, 2, 0),
        flags=flags, option=field(12, 1, 0), data=octets[length:], extra=header[extra_start:],
    )  # fmt: skip
