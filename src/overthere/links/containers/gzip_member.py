"""A gzip member of a file, inflated: by igzip where it is installed, in two thirds of the time that zlib takes."""

from __future__ import annotations

import zlib
from importlib import import_module
from typing import Any, BinaryIO

from overthere.ground.codings import Zlib

__all__ = ["MOST", "PIECE", "inflate_member"]

PIECE, MOST = 1 << 14, 1 << 16
"""Octets that are read at once, and that come out at once."""


def _load_zlib() -> Any:
    try:
        return import_module("isal.isal_zlib")
    except ImportError:
        return zlib


_FAST = _load_zlib()
_UNUSUAL = 0b11100010
"""Flags that igzip does not see as zlib does: a checksum of the header, reserved ones (RFC 1952 2.3.1)."""


def inflate_member(file: BinaryIO, at: int, most: int, ratio: int) -> tuple[bytes, int, str]:
    """What the member at `at` holds, up to a piece more than `most`; its octets in the file; what is the matter.

    That is "", "long" if it holds more, "too-large" if it is a bomb (`ratio` times what it has in the file, beyond
    `most`), "truncated" or "corrupt".
    """
    file.seek(at)
    head = file.read(4)
    if len(head) == 4 and not head[3] & _UNUSUAL:
        pieces = _inflate(_FAST, file, at, most, ratio)
        if not pieces[2]:
            return pieces
    # What comes out before a fault is what zlib gives.
    return _inflate(zlib, file, at, most, ratio)


def _inflate(library: Any, file: BinaryIO, at: int, most: int, ratio: int) -> tuple[bytes, int, str]:
    """`inflate_member` by zlib, or by what has the same functions."""
    inflate = Zlib(31, library)
    parts: list[bytes] = []
    got = used = 0
    file.seek(at)
    while not inflate.eof:
        piece = file.read(PIECE) if inflate.needs_input else b""
        if not piece and inflate.needs_input:
            return b"".join(parts), used, "truncated"
        used += len(piece)
        try:
            out = inflate.decompress(piece, MOST)
        except library.error:
            return b"".join(parts), used, "corrupt"
        if got < most:
            parts.append(out)
        got += len(out)
        if got > most + ratio * used:
            return b"".join(parts), used, "too-large"
    return b"".join(parts), used - len(inflate.unused_data), "long" if got > most else ""
