"""Percent-encoding by RFC 3986 2.1 to 2.4."""

from __future__ import annotations

import re

from overthere.ground.caches import bounded_cache

__all__ = ["percent_decode", "percent_encode"]

_ESCAPED = {chr(b): f"%{b:02X}" for b in range(256)}
_OCTET = {b"%%%02X" % b: bytes([b]) for b in range(256)}
_ESCAPE_OCTETS = re.compile(rb"%[0-9A-Fa-f][0-9A-Fa-f]")


@bounded_cache(256)
def _complement(safe: str) -> re.Pattern[str]:
    return re.compile(f"[^{re.escape(safe)}]") if safe else re.compile("(?s).")


def percent_encode(data: bytes, safe: str) -> str:
    """2.1: every octet that is not one of the US-ASCII characters `safe` becomes `%HH`."""
    return _complement(safe).sub(lambda m: _ESCAPED[m[0]], data.decode("latin-1"))


def percent_decode(data: bytes) -> bytes:
    """2.1: every `%HH` becomes its octet; a "%" without two hexadecimal digits stays (callers have refused it)."""
    return _ESCAPE_OCTETS.sub(lambda m: _OCTET[m[0].upper()], data)
