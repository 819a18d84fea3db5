"""Finds the records that an index names; a record that differs from its entry is not read."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from overthere.links.job.task_builder import IndexedRecord

_MAX_PACKED_BYTES, _MAX_HEADER_BYTES = 1 << 12, 1 << 16
"""Bytes of a record that are searched for its header, packed and unpacked."""
_FIELD = r"\r\n{}:[ \t]*+<?([^\r\n>]*+)"
_URI = re.compile(_FIELD.format("WARC-Target-URI").encode(), re.IGNORECASE)
_DIGEST = re.compile(_FIELD.format("WARC-Payload-Digest").encode(), re.IGNORECASE)


def check_records(file: BinaryIO, records: tuple[IndexedRecord, ...]) -> Iterator[tuple[int, str]]:
    """Yield the offset of each record, and the note if it is not read, otherwise "".

    The length in the index does not decide what is read: it may name the rest of the file for every record.

    Raises: OSError of the file.
    """
    last_offset = -1
    for record in records:
        if record.offset == last_offset:
            continue  # another entry names the same record
        file.seek(record.offset)
        note = "" if _matches_index(file.read(_MAX_PACKED_BYTES), record) else "other-record"
        last_offset = last_offset if note else record.offset
        yield record.offset, note


def _matches_index(head: bytes, record: IndexedRecord) -> bool:
    """Whether a record has the URI and the digest of the index, as far as it states them."""
    if head.startswith(b"\x1f\x8b"):
        try:
            head = zlib.decompressobj(31).decompress(head, _MAX_HEADER_BYTES)
        except zlib.error:
            return False
    if not head.startswith(b"WARC/"):  # in an ARC file, the record begins with the URI
        return record.uri != "" and head.startswith(record.uri.encode() + b" ")
    header = head.partition(b"\r\n\r\n")[0]
    uri, digest = _URI.search(header), _DIGEST.search(header)
    if uri is not None and record.uri and uri[1].strip() != record.uri.encode():
        return False
    stated_digest = b"" if digest is None else digest[1].strip().rpartition(b":")[2]
    return not (stated_digest and record.digest) or stated_digest.upper() == record.digest.encode().upper()
