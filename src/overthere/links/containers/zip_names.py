"""Decodes member names of ZIP files; an invalid name affects only its member (APPNOTE 4.4.4, Appendix D).

`zipfile` rejects a whole archive for one name that is flagged as UTF-8 and is not.  Here the flag is removed from the
headers that it reads, so that it decodes each name as Code Page 437, which has a character for every byte; flagged
names are then decoded again.
"""

from __future__ import annotations

import zipfile

_UTF_8_FLAG, _WAS_UTF_8_FLAG = 1 << 11, 1 << 15
"""The UTF-8 flag, and a bit that APPNOTE reserves and no reader uses."""


def _move_flag(headers: bytearray, at: int) -> None:
    flags = int.from_bytes(headers[at : at + 2], "little") & ~_WAS_UTF_8_FLAG
    if flags & _UTF_8_FLAG:
        flags ^= _UTF_8_FLAG | _WAS_UTF_8_FLAG
    headers[at : at + 2] = flags.to_bytes(2, "little")


def prepare_directory(octets: bytes) -> bytes:
    """Return a central directory for `zipfile` to read (APPNOTE 4.3.12); anything else unchanged."""
    headers, at = bytearray(octets), 0
    while headers[at : at + 4] == b"PK\1\2" and len(headers) >= at + 46:
        _move_flag(headers, at + 8)
        at += 46 + sum(int.from_bytes(headers[length : length + 2], "little") for length in range(at + 28, at + 34, 2))
    return bytes(headers)


def prepare_header(octets: bytes) -> bytes:
    """Return a local file header for `zipfile` to read (APPNOTE 4.3.7); anything else unchanged."""
    if len(octets) != 30 or not octets.startswith(b"PK\3\4"):
        return octets
    headers = bytearray(octets)
    _move_flag(headers, 6)
    return bytes(headers)


def read_name(info: zipfile.ZipInfo) -> str:
    """Return the name according to its flag; bytes that are not valid UTF-8 become surrogates.

    info: from a directory that `prepare_directory` returned.
    """
    if not info.flag_bits & _WAS_UTF_8_FLAG:
        return info.filename
    octets = info.orig_filename.encode("cp437").partition(b"\0")[0]
    return octets.decode("utf-8", "surrogateescape")
