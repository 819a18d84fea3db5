"""Member names of ZIP files; a bad name affects only its member (APPNOTE 4.4.4, Appendix D).

`zipfile` refuses a whole archive for one name that is flagged as UTF-8 and is not.  Here the flag is taken from the
headers that it reads, so that it takes each name for Code Page 437, which has a character for every octet; and what
was flagged is read again.
"""

from __future__ import annotations

import zipfile

__all__ = ["directory", "header", "name"]

_UTF_8, _WAS_UTF_8 = 1 << 11, 1 << 15
"""The bit of the flag, and one that APPNOTE reserves and no reader asks for."""


def _shift_headers(headers: bytearray, at: int) -> None:
    flags = int.from_bytes(headers[at : at + 2], "little") & ~_WAS_UTF_8
    if flags & _UTF_8:
        flags ^= _UTF_8 | _WAS_UTF_8
    headers[at : at + 2] = flags.to_bytes(2, "little")


def directory(octets: bytes) -> bytes:
    """A central directory as `zipfile` is to read it (APPNOTE 4.3.12); anything else as it is."""
    headers, at = bytearray(octets), 0
    while headers[at : at + 4] == b"PK\1\2" and len(headers) >= at + 46:
        _shift_headers(headers, at + 8)
        at += 46 + sum(int.from_bytes(headers[length : length + 2], "little") for length in range(at + 28, at + 34, 2))
    return bytes(headers)


def header(octets: bytes) -> bytes:
    """A local file header as `zipfile` is to read it (APPNOTE 4.3.7); anything else as it is."""
    if len(octets) != 30 or not octets.startswith(b"PK\3\4"):
        return octets
    headers = bytearray(octets)
    _shift_headers(headers, 6)
    return bytes(headers)


def name(info: zipfile.ZipInfo) -> str:
    """The name by its flag; octets that are not valid UTF-8 are surrogates.

    info: from a directory that went through `directory`.
    """
    if not info.flag_bits & _WAS_UTF_8:
        return info.filename
    octets = info.orig_filename.encode("cp437").partition(b"\0")[0]
    return octets.decode("utf-8", "surrogateescape")
