"""The records that an index names: each is read only if it is the one that is meant."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from overthere.links.job.task_builder import IndexedRecord

__all__ = ["runs"]

_HEAD, _MOST = 1 << 12, 1 << 16
"""Octets of a record in which its header is looked for, packed and unpacked."""
_RUN = 1 << 22
"""Octets of a run: what was looked at is still at hand when it is read."""
_FIELD = r"\r\n{}:[ \t]*+<?([^\r\n>]*+)"
_URI = re.compile(_FIELD.format("WARC-Target-URI").encode(), re.IGNORECASE)
_DIGEST = re.compile(_FIELD.format("WARC-Payload-Digest").encode(), re.IGNORECASE)


def runs(file: BinaryIO, records: tuple[IndexedRecord, ...]) -> Iterator[tuple[int, int, str]]:
    """Where records lie that follow one another: start, end, and the note on one that is not read, or "".

    Raises: OSError of the file.
    """
    start = end = last = -1
    for one in records:
        if one.offset == last:
            continue  # it was found under another entry
        file.seek(one.offset)
        note = "" if _is_meant(file.read(_HEAD), one) else "other-record"
        last = last if note else one.offset
        if not note and one.offset == end and one.length and end - start < _RUN:
            end += one.length
            continue
        if start >= 0:
            yield start, end, ""
        start, end = one.offset, one.offset + max(one.length, 1)
        if note:
            yield start, end, note
            start = end = -1
    if start >= 0:
        yield start, end, ""


def _is_meant(head: bytes, record: IndexedRecord) -> bool:
    """Whether a record has the URI and the digest of the index, as far as it says them itself."""
    if head.startswith(b"\x1f\x8b"):
        try:
            head = zlib.decompressobj(31).decompress(head, _MOST)
        except zlib.error:
            return False
    if not head.startswith(b"WARC/"):  # of an ARC file the URI begins the record
        return record.uri != "" and head.startswith(record.uri.encode() + b" ")
    header = head.partition(b"\r\n\r\n")[0]
    uri, digest = _URI.search(header), _DIGEST.search(header)
    if uri is not None and record.uri and uri[1].strip() != record.uri.encode():
        return False
    said = b"" if digest is None else digest[1].strip().rpartition(b":")[2]
    return not (said and record.digest) or said.upper() == record.digest.encode().upper()
