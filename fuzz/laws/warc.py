"""WARC files, cut and changed: every record with a document is returned, or a note is."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate

import damage
from damage import SampleArchive, Span
from overthere.links.containers.records import find_cuts
from overthere.links.documents.kinds import kind_of
from overthere.links.model import Document, Note, Options, PassedContent
from overthere.links.report.rows import make_rows_builder
from readings import OUTER, flat_members, rows_of

WORDS = (
    b"WARC/1.0\n", b"\n\n", b"\n",
    b"WARC/1.0\r\n", b"WARC/1.1\r\n", b"WARC-Type: response\r\n", b"WARC-Type: resource\r\n", b"\r\n\r\n", b"\r\n",
    b"WARC-Target-URI: http://h/a\r\n", b"WARC-Target-URI: <http://h/a>\r\n", b"WARC-Truncated: length\r\n",
    b"WARC-Segment-Number: 1\r\n", b"Content-Length: 9\r\n", b"Content-Length: 99999999999999999999\r\n",
    b"Content-Type: application/http; msgtype=response\r\n", b"HTTP/1.1 200 OK\r\n", b"Location: /x\r\n",
    b"Link: <a>; rel=\"b\", <c>\r\n", b"Content-Encoding: gzip\r\n", b"Content-Encoding: br\r\n",
    b"Transfer-Encoding: chunked\r\n", b"Content-Location: b\r\n", b"\x1f\x8b\x08\0\0\0\0\0\0\3", b"\x28\xb5\x2f\xfd",
    b"\x04\x22\x4d\x18", b"\x50\x2a\x4d\x18", b"WARC-Record-ID: <urn:x:y>\r\n", b"a\r\n", b"0\r\n\r\n",
)  # fmt: skip
LONGEST = 4096
AFTER = "a test to tests/links/test_warc.py"
_OPTIONS = Options(limit=1 << 18)


def _record(number: int, content: bytes, fields: bytes = b"", kind: bytes = b"response") -> bytes:
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + fields + b"\r\n" + content
    media_type = b"application/http; msgtype=" + kind
    if kind != b"response":
        block, media_type = content, b"text/html" if kind == b"resource" else media_type
    return (
        b"WARC/1.0\r\nWARC-Type: " + kind + b"\r\nWARC-Record-ID: <urn:uuid:%d>\r\n" % number
        + b"WARC-Target-URI: http://h/%d\r\nContent-Type: " % number + media_type
        + b"\r\nContent-Length: %d\r\n\r\n" % len(block) + block + b"\r\n\r\n"
    )  # fmt: skip


_CONTENTS = (b"<a href=0>", b"<a href=1>" * 30, b"<a href=2>" + bytes(range(128, 256)))
_RECORDS = (
    _record(0, _CONTENTS[0]),
    _record(1, b"%x\r\n%b\r\n0\r\n\r\n" % (len(_CONTENTS[1]), _CONTENTS[1]), b"Transfer-Encoding: chunked\r\n"),
    _record(9, b"GET / HTTP/1.1\r\nHost: h\r\n\r\n", kind=b"request"),
    _record(2, _CONTENTS[2], kind=b"resource"),
)


@cache
def samples() -> tuple[SampleArchive, ...]:
    """Plain, and with each record in a gzip member."""
    plain = b"".join(_RECORDS)
    # Only a header has its fields; only the length of a content is known.
    contents = [Span(plain.index(content), plain.index(content) + len(content)) for content in _CONTENTS]
    free = (Span(0, contents[0].start), Span(contents[0].end, contents[2].start), Span(contents[2].end, len(plain)))
    packed = [gzip.compress(record, mtime=0) for record in _RECORDS]
    return (
        SampleArchive("plain", plain, _CONTENTS, False, free, _ends(_RECORDS), _reach(_RECORDS, _BEHIND)),
        SampleArchive("gzip", b"".join(packed), _CONTENTS, True, ends=_ends(packed), reach=_reach(packed, 0)),
    )


def _ends(records: Sequence[bytes]) -> dict[int, tuple[bytes, ...]]:
    """The third record, a request, has no document."""
    content = (_CONTENTS[:1], _CONTENTS[:2], _CONTENTS[:2], _CONTENTS)
    return dict(zip(accumulate(map(len, records)), content, strict=True))


_HALVES = ((0, 99), (99, None))
"""The ranges of a record in two gzip members."""
_BEHIND = len("WARC/")
"""Octets of the next record that show where a record without compression ends."""


def _reach(records: Sequence[bytes], behind: int) -> tuple[int, ...]:
    first, second, _, last = accumulate(map(len, records))
    return first + behind, second + behind, last


def _read(octets: bytes) -> Iterator[Document | Note | PassedContent]:
    return flat_members("warc", io.BytesIO(octets), Document("w", b"", OUTER), _OPTIONS)


def check(data: bytes) -> None:
    """data: as `damage` has it."""
    damage.check_damaged(data, samples(), _read)
    if data and data[0] & damage.RAW:
        _check_parts(data[1:])


def _check_parts(octets: bytes) -> None:
    """A file cut into tasks gives what it gives as a whole, and each document has rows."""
    complete = list(_read(octets))
    for item in complete:
        if isinstance(item, Document):
            rows_of(make_rows_builder(_OPTIONS), item, kind_of(item)[0], _OPTIONS)
    places = list(find_cuts(io.BytesIO(octets), 64))
    documents: list[Document | Note | PassedContent] = []
    for start, end in zip(places, [*places[1:], None], strict=True):
        documents += flat_members("warc", io.BytesIO(octets), Document("w", b"", OUTER), _OPTIONS, start, end)
    assert documents == complete, f"cut at {places}: {documents}, as a whole {complete}"


def seeds() -> Iterator[bytes]:
    for number, sample in enumerate(samples()):
        yield bytes((number,))
        yield bytes((number, 0, 0x80, 0, 0))
        yield bytes((number, 1, 0x40, 0, 3))
        yield bytes((damage.RAW,)) + sample.octets
    yield bytes((damage.RAW,)) + b"".join(_RECORDS).replace(b"\r\n", b"\n")
    yield bytes((damage.RAW,)) + b"".join(
        gzip.compress(record[at:end], mtime=0) for record in _RECORDS for at, end in _HALVES
    )
