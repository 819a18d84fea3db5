"""WARC, WAT and ARC files read record by record natively and in Python: the same rows, the same counts.

An input is one octet of flags, two for a place and one for what is changed there, and a file without compression.
"""

from __future__ import annotations

import gzip
import io
import re
from collections import Counter
from collections.abc import Iterator

from laws import warc
from overthere import kernel
from overthere.links.containers.model import Place
from overthere.links.containers.nested import NestedReader
from overthere.links.job.reading import fill
from overthere.links.model import Document, Link, Options
from overthere.links.report.batch import links
from overthere.links.report.record_pages import RecordPages
from overthere.links.report.rows import make_rows_builder
from readings import OUTER

WORDS = (
    *warc.WORDS, b"http://h/ 192.0.2.1 20080430204825 text/html 9\n", b"dns:h 0.0.0.0 20080430204825 a 3\n",
    b"null", b"7", b"[]", b"{}", b'""', b'"url":', b'"path":"x",', b'"url":"z",', b'"Base":"b",', b'"Link":[],',
    b"\\", b'"', b",", b"\\u2003", b"\\t", b"}", b"]", b"\x00", b"\xc2\xa0", b"\x7f", b"%",
)  # fmt: skip
LONGEST = 4096
AFTER = "a test to tests/links/test_record_pages.py"
PACKED, LATE, METADATA, SMALL, NARROW, ARC, PAIRS = 1, 2, 4, 8, 16, 32, 64
"""Flags: each record is a gzip member; changes are made after that; embedded content is read; documents of more than 64
octets are too large; the file is read in windows of a few octets; it is an ARC file; a gzip member has two records."""


def read_file(
    octets: bytes, options: Options, natively: bool, of: str = "warc"
) -> tuple[list[Link], Counter[str], int]:
    """The rows of a container, such as a WARC file; the counts of skipped records; the number of pages."""
    builder = make_rows_builder(options)
    reader = NestedReader(options, len(octets), pages=builder.make_page_reader if natively else None)
    rows: list[Link] = []
    pages = 0
    outside = Document("w", b"", OUTER)
    for document, (kind, notes) in reader.members((of, ()), io.BytesIO(octets), outside, Place(options)):
        pages += kind in ("html", "metadata")
        for _ in fill(builder, document, kind, notes, options):
            rows += links(builder.take())
    rows += links(builder.take())
    pages += sum(count for count, _ in builder.page_counts.values())
    return rows, reader.progress.passed + builder.passed_counts, pages


def check(data: bytes) -> None:
    if kernel.name != "native" or len(data) < 4:
        return
    flags, octets = data[0], data[4:]
    if flags & PACKED and flags & LATE:
        octets = _change(pack(octets, 1 + bool(flags & PAIRS)), data)
    elif flags & PACKED:
        octets = pack(_change(octets, data), 1 + bool(flags & PAIRS))
    else:
        octets = _change(octets, data)
    options = Options(metadata=bool(flags & METADATA), limit=64 if flags & SMALL else 1 << 18)
    of = "arc" if flags & ARC else "warc"
    before, RecordPages.window = RecordPages.window, 16 if flags & NARROW else RecordPages.window
    try:
        native = read_file(octets, options, natively=True, of=of)
    finally:
        RecordPages.window = before
    plain = read_file(octets, options, natively=False, of=of)
    assert native == plain, f"natively {native}, in Python {plain}"


def _change(octets: bytes, data: bytes) -> bytes:
    if not data[3] or not octets:
        return octets
    at = int.from_bytes(data[1:3], "big") * len(octets) >> 16
    if data[3] == 0xFF:
        return octets[:at]
    return octets[:at] + bytes((octets[at] ^ data[3],)) + octets[at + 1 :]


def pack(octets: bytes, together: int = 1) -> bytes:
    """The number of records in each gzip member."""
    begins = rb"(?=WARC/1\.)|(?<=\n)(?=[a-z<]+:\S* 192\.)"
    parts = [part for part in re.split(begins, octets) if part]
    return b"".join(
        gzip.compress(b"".join(parts[at : at + together]), mtime=0) for at in range(0, len(parts), together)
    )


def record(block: bytes, *fields: bytes, kind: bytes = b"response", uri: bytes = b"http://h/a/b") -> bytes:
    """A record with a block, which is a response of HTTP."""
    lines = [b"WARC/1.1", b"WARC-Type: " + kind, b"WARC-Record-ID: <urn:x:y>", b"WARC-Target-URI: " + uri]
    lines += [b"Content-Type: application/http; msgtype=response", b"Content-Length: %d" % len(block), *fields]
    return b"\r\n".join(lines) + b"\r\n\r\n" + block + b"\r\n\r\n"


def arc_record(block: bytes, *, uri: bytes = b"http://h/a/b", behind: bytes = b"\n") -> bytes:
    """A record of an ARC file."""
    return b"%b 192.0.2.1 20080430204825 text/html %d\n%b%b" % (uri, len(block), block, behind)


def response(content: bytes, *fields: bytes, status: bytes = b"200 OK", media: bytes = b"text/html") -> bytes:
    """A response of HTTP."""
    return b"\r\n".join((b"HTTP/1.1 " + status, b"Content-Type: " + media, *fields)) + b"\r\n\r\n" + content


_PAGE = b"<base href=d/><a href=x>1</a><img src='y z'><style>a{b:url(c)}</style><a href=\xc3\xa9>"
_COMPLETE = (
    record(response(_PAGE, b"Content-Length: %d" % len(_PAGE), media=b'text/html; charset="UTF-8"')),
    record(response(_PAGE, b"Content-Length: 7", b"Link: <a>; rel=\"b, c\", <d>", b"Refresh: 1; url=e")),
    record(response(b"", b"Location: ../z", status=b"301 Moved: yes", media=b"text/html")),
    record(response(b"moved", b"Location: \xff", status=b"302 x")),
    record(response(b"%x\r\n%b\r\n0\r\n\r\n" % (len(_PAGE), _PAGE), b"Transfer-Encoding: chunked")),
    record(response(gzip.compress(_PAGE, mtime=0), b"Content-Encoding: gzip")),
    record(response(_PAGE, b"Content-Location: /q", media=b"TEXT/HTML")),
    record(response(b"<meta charset=koi8-r><a href=\xc1>", media=b"text/html;charset=")),
    record(response(b"\xff\xfe<\0a\0 \0h\0r\0e\0f\0=\0x\0>\0", media=b"text/html; charset=utf-8")),
    record(response(b"\x89PNG\r\n\x1a\n<a href=x>")),
    record(response(b"a{b:url(c)}", media=b"text/css")),
    record(response(b"<p>unclosed <!-- ", media=b"text/html; charset=utf8"), b"WARC-Truncated: length"),
    record(response(b"<meta property=og:url content=x><a href=y><script type=importmap>{}</script>")),
    record(response(_PAGE), kind=b"request"),
    record(b"via: http://v/", kind=b"metadata").replace(b"application/http; msgtype=response", b"application/json"),
    record(response(_PAGE), kind=b"revisit", uri=b"dns:h"),
    record(response(_PAGE), uri=b"dns:h"),
    record(response(_PAGE), uri=b"<http://h/ x>"),
    record(response(_PAGE), uri=b"<http://h/x#y>"),
    record(_PAGE),
    record(b"HTTP/1.1 100 Continue\r\n\r\n" + response(_PAGE)),
    record(response(_PAGE).replace(b"\r\n\r\n", b"\n\n").replace(b"\r\n", b"\n")),
    record(response(_PAGE, b"A: b\r\n c")),
    record(response(b"", status=b"204 No")),
    record(response(b"")),
    record(response(_PAGE)).replace(b"WARC/1.1", b"WARC/1.0\r\nWARc/1.1"),
)  # fmt: skip


_ARC = (
    b"filedesc://x.arc 0.0.0.0 20080430204825 text/plain 8\n1 0 arc\n\n",
    arc_record(response(_PAGE, b"Link: <a>", media=b"text/html; charset=utf-8")),
    arc_record(response(_PAGE, b"Content-Length: 7"), behind=b"\n\r\n\n"),
    arc_record(b"192.0.2.9\n", uri=b"dns:h"),
    arc_record(response(b"", b"Location: ../z", status=b"301 Moved: yes")),
    arc_record(response(gzip.compress(_PAGE, mtime=0), b"Content-Encoding: gzip"), uri=b"http://h/x#y"),
    arc_record(_PAGE),
    arc_record(_PAGE, uri=b"ftp://h/"),
    arc_record(response(_PAGE), uri=b"http://h/a b"),
    arc_record(response(b"\x89PNG\r\n\x1a\n<a href=x>")),
    arc_record(response(_PAGE)).replace(b"text/html 2", b"text/html 200 - - 0 x.arc 2"),
    arc_record(response(_PAGE), behind=b""),
)  # fmt: skip


def envelope(payload: bytes, before: bytes = b"", behind: bytes = b"", uri: bytes = b"http://h/a/b") -> bytes:
    """A metadata record of WAT, with what the response has."""
    block = b'{%b"Envelope":{"Payload-Metadata":{"HTTP-Response-Metadata":{%b}}%b}}' % (before, payload, behind)
    return record(block, kind=b"metadata", uri=uri).replace(b"application/http; msgtype=response", b"application/json")


_CONTAINER = b'"Container":{"Filename":"a","Gzip-Metadata":{"Length":7}},'
_HEAD = (
    b'"HTML-Metadata":{"Head":{"Title":"t","Link":[{"path":"LINK@/href","url":" s.css\\t","rel":"x"}],'
    b'"Scripts":[{"url":"\\u00a0s.js\\u001c"}],"Metas":[{"name":"x","content":"y"},{"http-equiv":"X","content":"z"}]},'
    b'"Links":[{"path":"A@/href","url":"x?y","text":"\\ud83d\\ude00"},{"path":"","url":"\xc3\xa9\xf0\x9f\x98\x80"},'
    b'{"path":"IMG@/src"},{"path":"IMG@/src","url":"//o/a b"}]}'
)
_WAT = (
    envelope(_HEAD, _CONTAINER),
    envelope(b'"Headers":{" location ":" ../m ","LINK":"<a>; rel=\\"b, c\\", <d>","Server":["x"]},' + _HEAD),
    envelope(b'"Headers":{"Location":["m","n"],"Content-Location":"/d/","Refresh":"1; url=e"}', behind=b',"a":1'),
    envelope(b'"HTML-Metadata":{"Links":[{"url":"x"}],"Head":{"Base":"/b/","Link":[{"url":"y"}]}}'),
    envelope(b'"HTML-Metadata":{"Links":[{"url":"x"}],"Head":{"Link":[{"url":"y"}],"Metas":[{"http-equiv":null}]}}'),
    envelope(b'"HTML-Metadata":{"Head":{"Metas":[{"http-equiv":" REFRESH","content":"3; url=n"}]}}'),
    envelope(b'"HTML-Metadata":{"Links":[{"url":"x"},{"url":null},{"url":"y","url":"z"},7,{"path":3,"url":"w"}]}'),
    envelope(b'"Headers":{"LIN\xe2\x84\xaa":"<a>","Location":"a","Location":"b","location":"c","Link":"<\xc3\xa9>"}'),
    envelope(b'"HTML-Metadata":{"Links":[{"url":"\\ud800"},{"url":"\\u0000"},{"url":"x\\u00e9"}]}'),
    envelope(_HEAD, b'"Container":{"n":[1e999,-0,12345678901234567890123,true,null,[{}]]},'),
    envelope(_HEAD, b'"Container":{"n":%b},' % (b"9" * 5000)),
    envelope(_HEAD, b'"Container":{"n":NaN},'),
    envelope(_HEAD, b'"Container":{"n":"\xff"},'),
    envelope(_HEAD, b'"Container":{"n":%b0%b},' % (b"[" * 150, b"]" * 150)),
    envelope(_HEAD, b'"Container":{"%b":"ustar"},' % (b"a" * 236)),
    envelope(b'"HTML-Metadata":[]'),
    envelope(b'"Headers":{%b}' % b",".join(b'"%blink":"<%d>"' % (b" " * number, number) for number in range(40))),
    envelope(b"", b'"Envelope":1,'),
    envelope(_HEAD, _CONTAINER).replace(b'"Envelope"', b'"envelope"'),
    envelope(_HEAD).replace(b"http://h/a/b", b"<http://h/a/b#c>"),
    envelope(_HEAD).replace(b"http://h/a/b", b"dns:h"),
    envelope(_HEAD).replace(b"http://h/a/b", b"http://h/ b"),
    envelope(_HEAD).replace(b"WARC/1.1\r\n", b"WARC/1.1\r\nWARC-Truncated: length\r\n"),
)


def seeds() -> Iterator[bytes]:
    for flags in (ARC, ARC | PACKED, ARC | PACKED | PAIRS, ARC | METADATA | NARROW, ARC | PACKED | SMALL | NARROW):
        yield bytes((flags, 0, 0, 0)) + b"".join(_ARC)
    for record_data in _ARC:
        for flags in (ARC, ARC | PACKED, ARC | PACKED | LATE):
            yield bytes((flags, 0x80, 0, 0x20)) + record_data + _ARC[1]
    for flags in (0, PACKED, PACKED | PAIRS, METADATA, PACKED | SMALL, NARROW, PACKED | NARROW | METADATA):
        yield bytes((flags, 0, 0, 0)) + b"".join(_COMPLETE)
    for record_data in _COMPLETE:
        for flags in (0, PACKED, PACKED | LATE):
            yield bytes((flags, 0x80, 0, 0x20)) + record_data + _COMPLETE[0]
    for flags in (METADATA, PACKED, PACKED | SMALL, NARROW, METADATA | PACKED | PAIRS):
        yield bytes((flags, 0, 0, 0)) + b"".join(_WAT)
    for record_data in _WAT:
        for flags in (0, PACKED, PACKED | LATE):
            yield bytes((flags, 0x80, 0, 0x20)) + record_data + _WAT[0]
