"""Documents in WARC files: complete, in parts, damaged, and with wrong lengths."""

from __future__ import annotations

import errno
import gzip
import io
import random
import zlib
from collections.abc import Iterable
from itertools import pairwise
from typing import BinaryIO

import pytest

from overthere import URI
from overthere.base import Base
from overthere.links.containers.records import find_cuts
from overthere.links.documents.header import HTTP, read
from overthere.links.model import NOTES, Document, Found, Note, Options
from support import flat_members, linear, processor


def gz(data: bytes, level: int = 9) -> bytes:
    """The same bytes at any time: tests are named by them."""
    return gzip.compress(data, level, mtime=0)


OUTSIDE = Document("w", b"", Base(URI("file:///w"), "retrieval", "retrieval"))
PAGE = b"<a href=x>"


def record(
    block: bytes = b"", kind: bytes = b"response", target: bytes = b"http://h/a", *,
    media_type: bytes = b"application/http; msgtype=response", extra: bytes = b"", length: int | None = None,
) -> bytes:  # fmt: skip
    size = len(block) if length is None else length
    return (
        b"WARC/1.0\r\nWARC-Type: " + kind + b"\r\nWARC-Record-ID: <urn:uuid:0>\r\nWARC-Target-URI: " + target
        + b"\r\nContent-Type: " + media_type + b"\r\n" + extra
        + b"Content-Length: %d\r\n\r\n" % size + block + b"\r\n\r\n"
    )  # fmt: skip


def response(body: bytes = PAGE, fields: bytes = b"", status: bytes = b"200 OK") -> bytes:
    return b"HTTP/1.1 " + status + b"\r\nContent-Type: text/html; charset=koi8-r\r\n" + fields + b"\r\n" + body


def documents(data: bytes, options: Options = Options(), start: int = 0, end: int | None = None) -> list[Document]:  # noqa: B008
    return [
        doc for doc in flat_members("warc", io.BytesIO(data), OUTSIDE, options, start, end) if isinstance(doc, Document)
    ]


def single(data: bytes, options: Options = Options()) -> Document:  # noqa: B008
    (document,) = documents(data, options)
    assert documents(gz(data), options) == [document]
    return document


def packed(parts: Iterable[bytes]) -> bytes:
    return b"".join(gz(part) for part in parts)


def test_a_response() -> None:
    assert single(record(response())) == Document(
        "w!0", PAGE, Base(URI("http://h/a"), "retrieval", "retrieval"), "text/html", "koi8-r", (), 1
    )


def test_other_records() -> None:
    assert single(record(b"a{}", b"resource", media_type=b"text/css"))[1::2] == (b"a{}", "text/css", (), None)
    assert single(record(b"words", b"conversion", media_type=b"text/plain")).content == b"words"
    for kind in (b"request", b"metadata", b"warcinfo", b"revisit", b"continuation", b"new"):
        assert documents(record(b"GET / HTTP/1.1\r\n\r\n", kind)) == []
    assert documents(record(b"h. 1 A", b"response", b"dns:h", media_type=b"text/dns")) == []


@pytest.mark.parametrize(
    ("target", "uri", "notes"),
    [
        (b"<http://h/a>", "http://h/a", ()),
        (b"http://h/a#s", "http://h/a", ()),
        ("http://h/ü".encode(), "http://h/%C3%BC", ()),
        (b"no uri", "file:///w", ("corrupt",)),
        (b"a/b", "file:///w", ("corrupt",)),
        (b"http://h/\xff", "http://h/%FF", ()),
    ],
)
def test_targets(target: bytes, uri: str, notes: tuple[str, ...]) -> None:
    document = single(record(response(), target=target))
    assert (str(document.base.uri), document.notes) == (uri, notes)


CHUNKED = b"Transfer-Encoding: chunked\r\n"
RAW = zlib.compressobj(wbits=-15)
ZIPPED = gz(PAGE)
DEFLATED = RAW.compress(PAGE) + RAW.flush()


@pytest.mark.parametrize(
    ("fields", "body", "notes"),
    [
        (CHUNKED, b"4\r\n<a h\r\n6\r\nref=x>\r\n0\r\n\r\n", ()),
        (CHUNKED, PAGE, ("wrong-type",)),
        (b"Content-Encoding: gzip\r\n", gz(PAGE), ()),
        (b"Content-Encoding: X-GZIP\r\n", gz(PAGE), ()),
        (b"Content-Encoding: gzip\r\n", gz(PAGE)[:-5], ("truncated",)),
        (b"Content-Encoding: gzip\r\n", PAGE, ("wrong-type",)),
        (b"Content-Encoding: deflate\r\n", zlib.compress(PAGE), ()),
        (b"Content-Encoding: deflate\r\n", DEFLATED, ()),
        (b"Content-Encoding: identity\r\n", PAGE, ()),
        (b"Content-Encoding: no-such\r\n", PAGE, ("wrong-type",)),
        (CHUNKED + b"Content-Encoding: gzip\r\n", b"%x\r\n" % len(ZIPPED) + ZIPPED + b"\r\n0\r\n\r\n", ()),
    ],
)  # fmt: skip
def test_codings(fields: bytes, body: bytes, notes: tuple[str, ...]) -> None:
    document = single(record(response(body, fields)))
    assert (document.content, document.notes) == (PAGE, notes)


def test_references_in_the_header() -> None:
    fields = b'Location: ../b\r\nLink: <c,d>; rel="a, <no>", <e>;x=y\r\nLink:\r\n <f>\r\n'
    header, page = documents(record(response(b"moved", fields, b"302 Found")))
    assert (header.media_type, header.source, page.source) == (HTTP, "w!0", "w!0")
    assert list(read(header, Options())) == [
        Found("Location", "../b"), Found("Link", "c,d"), Found("Link", "e"), Found("Link", "f"),
    ]  # fmt: skip
    assert [document.media_type for document in documents(record(response(b"", fields, b"302 Found")))] == [HTTP]


def test_reading_links_is_linear() -> None:
    for start, piece in ((b"", b"<"), (b"", b"<a>;"), (b"", b'<a>;"'), (b"", b","), (b"<a>", b'"\\')):

        def use(count: int, start: bytes = start, piece: bytes = piece) -> None:
            content = b"Link: " + start + piece * count
            for _ in read(OUTSIDE._replace(content=content), Options()):
                pass

        linear(use, 200_000)


def test_truncated_records_have_a_note() -> None:
    assert single(record(response(), extra=b"WARC-Truncated: length\r\n")).notes == ("truncated",)
    assert single(record(response(), extra=b"WARC-Segment-Number: 1\r\n")).notes == ("truncated",)


def test_records_without_http() -> None:
    document = single(record(b"no status line"))
    assert (document.content, document.notes) == (b"no status line", ("corrupt",))


def test_large_records() -> None:
    small = Options(limit=100)
    assert single(record(response(b"x" * 101)), small)[5] == ("too-large",)
    document = single(record(b"x" * 300_000, b"resource", media_type=b"text/plain"), small)
    assert (len(document.content), document.notes) == (100, ("too-large",))
    bomb = record(response(gz(bytes(1 << 24)), b"Content-Encoding: gzip\r\n"))
    assert len(single(bomb, Options(limit=1 << 16)).content) == 1 << 16


def test_wrong_lengths() -> None:
    first, last = record(response(b"1")), record(response(b"3"))
    for length in (0, 40, 500, 10**17):
        data = [first, record(response(PAGE * 9), length=length), last]
        for content in (b"".join(data), packed(data)):
            one, two, three = documents(content)
            assert (one.content, three.content) == (b"1", b"3")
            assert (two.content, two.notes) == (PAGE * 9, ("wrong-length",))


FIELDS = (
    b"WARC-Type: resource", b"WARC-Record-ID: <urn:uuid:0>", b"WARC-Date: 2026-11-27T00:00:00Z", b"Content-Length: 1",
)  # fmt: skip


@pytest.mark.parametrize("field", FIELDS)
def test_a_record_after_a_wrong_length_is_found_by_any_mandatory_field(field: bytes) -> None:
    for spelled in (field, field.lower(), field.replace(b": ", b" :\t")):
        wrong = record(response(PAGE), length=7)
        last = b"WARC/1.1\r\nWARC-Target-URI: http://other/\r\n" + spelled + b"\r\n\r\n" + PAGE + b"\r\n\r\n"
        first, *rest_documents = documents(wrong + last)
        assert (first.content, first.notes) == (PAGE, ("wrong-length",))
        assert [two.source for two in rest_documents] == [f"w!{len(wrong)}"]
        assert all(two.base.uri != first.base.uri for two in rest_documents)


@pytest.mark.parametrize("damage", [b"WARC/1.0\r\n", b"WARC/1.0\r\nWARC-Type: response\r\n", b"WA"])
def test_data_between_two_records_belongs_to_neither(damage: bytes) -> None:
    first, lost, last = record(response(b"1")), record(response(PAGE)), record(response(b"3"))
    found_documents = documents(first + lost.removeprefix(damage) + last)
    assert [(doc.content, doc.notes) for doc in found_documents] == [(b"1", ()), (b"", ("corrupt",)), (b"3", ())]
    assert [document.source for document in found_documents][1] == f"w!{len(first)}"


def test_a_response_needs_no_type() -> None:
    for block in (response(), response(b"x", b"Location: /b\r\n")):
        complete = record(block)
        typeless = complete.replace(b"Content-Type: application/http; msgtype=response\r\n", b"", 1)
        assert documents(typeless) == documents(complete)


def test_missing_last_line_ends() -> None:
    """WARC 1.1 4: two line ends after each record; without the last ones it is complete, but noted as truncated."""
    complete = record(response())
    assert [document.notes for document in documents(complete)] == [()]
    for less in range(1, 5):
        assert [(doc.content, doc.notes) for doc in documents(complete[:-less])] == [(PAGE, ("truncated",))]


def test_garbage_between() -> None:
    data = [record(response(b"1")), b"garbage\r\n\r\n" * 9, record(response(b"2"))]
    assert [document.content for document in documents(packed(data))] == [b"1", b"", b"2"]
    assert documents(b"".join(data))[-1].content == b"2"
    long = [data[0], b"WARC/1.0\r\nX: " + b"x" * 10_000_000 + b"\r\n\r\n", data[2]]
    assert [document.content for document in documents(b"".join(long))][-1] == b"2"
    assert [document.content for document in documents(packed(long))] == [b"1", b"", b"2"]


def test_many_records_in_one_member() -> None:
    complete = b"".join(record(response(b"%d" % number)) for number in range(3))
    size = len(complete) // 3
    assert [(document.source, document.content) for document in documents(gz(complete))] == [
        (f"w!0!{size * number}", b"%d" % number) for number in range(3)
    ]


@pytest.mark.parametrize(
    "damaged",
    {
        "garbage after the first": [record(response(b"1")), b"garbage\r\nmore\r\n", record(response(b"2"))],
        "garbage before the first": [b"garbage\r\nmore\r\n", record(response(b"1")), record(response(b"2"))],
        "a length too small": [record(response(b"1"), length=60), record(response(b"2")), record(response(b"3"))],
        "a length too large by 1": [record(response(b"1"), length=len(response(b"1")) + 1), record(response(b"2"))],
        "a length behind the end": [record(response(b"1"), length=9_000), record(response(b"2"))],
        "a header that is cut": [record(response(b"1")), record(response(b"2"))[:40]],
        "a length too small later": [record(response(b"1")), record(response(b"2"), length=60), record(response(b"3"))],
    }.items(),
    ids=lambda item: item[0],
)
def test_damage_in_one_member_hides_no_other_record(damaged: tuple[str, list[bytes]]) -> None:
    """A single member gives the same as an uncompressed file: reading goes on where the next record begins."""
    complete = b"".join(damaged[1])
    plain = [(document.content, document.notes) for document in documents(complete)]
    assert len(plain) >= 2
    assert [(document.content, document.notes) for document in documents(gz(complete))] == plain
    sound = record(response(b"sound"))
    around = documents(packed([sound, complete, sound]))
    assert [(document.content, document.notes) for document in around] == [(b"sound", ()), *plain, (b"sound", ())]


def test_a_long_record_in_one_member_may_contain_records() -> None:
    """Its stated end is not in what was read of it, so that nothing shows a wrong length."""
    content = response(b"".join(record(response(b"%d" % number)) for number in range(400)))
    (document,) = documents(gz(record(content)), Options(limit=1000))
    assert (len(document.content), document.notes) == (1000, ("too-large",))


def test_other_compressions() -> None:
    import lz4.frame
    from backports import zstd

    parts = [record(response(b"1")), record(response(b"2"))]
    for pack in (lz4.frame.compress, zstd.compress):
        for data in (pack(b"".join(parts)), b"".join(map(pack, parts))):
            assert [document.content for document in documents(data)] == [b"1", b"2"]


@pytest.mark.parametrize("is_packed", [False, True])
def test_a_dictionary_of_zstd(is_packed: bool) -> None:
    """In the first frame of the file, compressed or not (IIPC, Zstandard Compression for WARC Files 1.0)."""
    from backports import zstd

    parts = [record(response(b"%d %d" % (number, number * number))) for number in range(999)]
    dictionary = zstd.train_dict(parts, 2000)
    frame = zstd.compress(dictionary.dict_content) if is_packed else dictionary.dict_content
    front = b"\x5d\x2a\x4d\x18" + len(frame).to_bytes(4, "little") + frame
    frames = b"".join(zstd.compress(part, zstd_dict=dictionary) for part in parts[:3])
    assert [document.content for document in documents(front + frames)] == [b"0 0", b"1 1", b"2 4"]
    assert [document.notes for document in documents(frames)] == [("corrupt",)]
    assert [document.notes for document in documents(front[:-1])] == [("truncated",)]
    assert [document.notes for document in documents(front[:4] + b"\xff\xff\xff\xff" + frame + bytes(1 << 27))] == [
        ("too-large",)
    ]
    assert documents(front + frames[:-2])[-1].notes == ("truncated",)
    for size in (1 << 21, 1 << 27):  # the smaller one is limited because an archive may have many
        bomb = zstd.compress(dictionary.dict_content + bytes(size))
        assert [doc.notes for doc in documents(front[:4] + len(bomb).to_bytes(4, "little") + bomb)] == [("too-large",)]


# -- parts of a file


def crawl(seed: int, count: int = 120) -> list[bytes]:
    """Records with all that resembles the beginning of a record: WARC headers, WARC files, gzip members."""
    draw = random.Random(seed)
    inner = [record(response(b"inner %d" % number)) for number in range(4)]
    bodies = [
        PAGE * 50,
        b"\r\n\r\nWARC/1.0\r\nWARC-Type: response\r\n\r\n",
        b"".join(inner),
        packed(inner),
        packed(inner) * 40,
        b"\r\n\r\n" + inner[0],
        gz(b"WARC/1.0\r\n"),
        b"\x1f\x8b\x08\0" * 30,
        draw.randbytes(70_000),
        b"",
    ]
    return [
        record(response(draw.choice(bodies)) if draw.random() < 0.8 else b"x", draw.choice((b"response", b"request")))
        for _ in range(count)
    ]


@pytest.mark.parametrize("compressed", [False, True, None])
@pytest.mark.parametrize("seed", range(4))
def test_parts_give_all_documents(compressed: bool | None, seed: int) -> None:
    parts = crawl(seed)
    # None: stored blocks, with the content unchanged.
    data = (
        b"".join(parts) if compressed is False
        else b"".join(gz(part, 6 if compressed else 0) for part in parts)
    )  # fmt: skip
    complete = documents(data)
    assert len(complete) == sum(b"WARC-Type: response" in part[:40] for part in parts)
    pieces = 0
    for split in (1, 7, 100, 999, 10_000, 65_536, 200_000, 1 << 20, len(data) + 1):
        if split < 999 and (compressed is not False or len(data) > 3_000_000):
            continue
        places: list[int | None] = [*find_cuts(io.BytesIO(data), split), None]
        found = [doc for start, end in pairwise(places) for doc in documents(data, Options(), start or 0, end)]
        assert found == complete, split
        pieces += len(places)
    assert pieces > 20


@pytest.mark.parametrize("compressed", [False, True])
def test_parts_of_a_damaged_file_give_all_documents(compressed: bool) -> None:
    draw = random.Random(3)
    parts = crawl(9, 200)
    for _ in range(12):
        data = bytearray(packed(parts) if compressed else b"".join(parts))
        for _ in range(5):
            at = draw.randrange(len(data))
            data[at : at + draw.choice((1, 1, 30))] = draw.randbytes(draw.choice((1, 2, 40)))
        complete = documents(bytes(data))
        places: list[int | None] = [*find_cuts(io.BytesIO(bytes(data)), 50_000), None]
        assert [doc for a, b in pairwise(places) for doc in documents(bytes(data), Options(), a or 0, b)] == complete
        assert len(complete) > 100


# -- damage


@pytest.mark.parametrize("compressed", [False, True])
def test_truncated_files(compressed: bool) -> None:
    parts = [
        record(response(PAGE * 9)),
        record(response(b"x" * 50, b"Content-Encoding: gzip\r\n" + CHUNKED)),
        record(b"r", b"resource"),
    ]
    data = packed(parts) if compressed else b"".join(parts)
    first = len(packed(parts[:1])) if compressed else len(parts[0])
    for end in range(len(data)):
        found_documents = documents(data[:end])
        assert all(note in NOTES for document in found_documents for note in document.notes)
        if end > first + 4:
            assert found_documents[0].content == PAGE * 9
            assert found_documents[0].notes == ()
        elif 0 < end < first - 8:
            assert found_documents[0].notes, end


@pytest.mark.parametrize("compressed", [False, True])
def test_changed_bytes(compressed: bool) -> None:
    draw = random.Random(1)
    parts = [record(response(b"%d" % number + PAGE, CHUNKED if number % 2 else b"")) for number in range(5)]
    data = packed(parts) if compressed else b"".join(parts)
    for _ in range(400):
        broken = bytearray(data)
        broken[draw.randrange(len(data))] = draw.randrange(256)
        found_documents = documents(bytes(broken))
        assert len(found_documents) >= 3
        assert all(note in NOTES for document in found_documents for note in document.notes)


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\0" * 5_000_000, b"\r\n" * 3_000_000, b"WARC/1.0\r\n" * 500_000, b"WARC/1.0\r\nA: b\r\n\r\n" * 200_000,
        b"\nWARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: x\r\nContent-Length: 9\r\n\r\n" * 30_000,
        b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: x\r\nContent-Length: 99999999999\r\n\r\n" * 3_000,
        b"\x1f\x8b\x08" * 1_000_000, gz(b"WARC/1.0\r\n")[:-8] * 50_000, gz(b"")[:-1] * 50_000,
        gz(bytes(100_000_000)), gz(record(response(bytes(100_000_000)))),
        gz(b"WARC/1.0\r\n", 0)[:-9] * 60_000,
    ],
    ids=lambda data: str(len(data)),
)  # fmt: skip
def test_hostile_files_are_linear(data: bytes) -> None:
    with processor(60):
        for member in flat_members("warc", io.BytesIO(data), OUTSIDE, Options(limit=1 << 20)):
            assert isinstance(member, Document | Note)
        list(find_cuts(io.BytesIO(data), 1 << 16))


def test_cuts_are_found_on_demand() -> None:
    """The first part of a file of any size does not wait for the last."""

    class Counting(io.BytesIO):
        octets = 0

        def read(self, size: int | None = -1, /) -> bytes:
            piece = super().read(size)
            self.octets += len(piece)
            return piece

    noise = random.Random(3986).randbytes(3000)
    for compress in (bytes, gz):
        file = Counting(b"".join(compress(record(response(noise))) for _ in range(1000)))
        places = find_cuts(file, 1 << 18)
        assert [next(places) == 0, next(places) >= 1 << 18] == [True, True]
        assert file.octets < 1 << 20
        assert len(list(places)) > 5


def test_a_file_that_fails() -> None:
    class Failing(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if self.tell() > 100:
                raise OSError("the disk")
            return super().read(size)

    file: BinaryIO = Failing(record(response(b"x" * 20_000)) * 3)
    assert [member.kind for member in flat_members("warc", file, OUTSIDE, Options()) if isinstance(member, Note)] == [
        "unreadable"
    ]


@pytest.mark.parametrize("container", ["warc", "arc"])
def test_a_full_disk_is_no_fault_of_the_archive(container: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many records in one member are unpacked into a temporary file; a job may read this archive again later."""

    class Full(io.BytesIO):
        def write(self, octets: object, /) -> int:
            raise OSError(errno.ENOSPC, "no space")

    module = f"overthere.links.containers.{'records' if container == 'warc' else 'arc'}"
    monkeypatch.setattr(f"{module}.open_unnamed", Full)
    line = b"http://h/%d 192.0.2.1 20260101000000 text/html 3\nabc\n"
    parts = [record(response(b"1"))] * 3 if container == "warc" else [line % number for number in range(3)]
    members = flat_members(container, io.BytesIO(gz(b"".join(parts))), OUTSIDE, Options())
    assert [member.kind for member in members if isinstance(member, Note)] == ["unreadable"]


@pytest.mark.parametrize(
    ("fields", "body", "status", "notes"),
    [
        (b"Content-Length: 10\r\n", PAGE, b"200 OK", ()),
        (b"Content-Length: 11\r\n", PAGE, b"200 OK", ("wrong-length",)),
        (b"Content-Length: 9\r\n", PAGE, b"200 OK", ("wrong-length",)),
        (b"Content-Length: 9\r\nTransfer-Encoding: chunked\r\n", b"a\r\n" + PAGE + b"\r\n0\r\n\r\n", b"200 OK", ()),
        (b"Content-Length: 9, 9\r\n", PAGE, b"200 OK", ()),
        # The coding was decoded: the length is that of the decoded content.
        (b"Content-Length: 99\r\nContent-Encoding: gzip\r\n", PAGE, b"200 OK", ("wrong-type",)),
    ],
)
def test_the_length_of_a_body(fields: bytes, body: bytes, status: bytes, notes: tuple[str, ...]) -> None:
    """RFC 9112 6.3: Transfer-Encoding takes precedence; and nothing is noted twice."""
    document = single(record(response(body, fields, status)))
    assert (document.content, document.notes) == (PAGE, notes)


def test_a_response_without_a_body_may_have_a_length() -> None:
    assert documents(record(response(b"", b"Content-Length: 9\r\n", b"304 Not Modified"))) == []
    assert single(record(response(PAGE, b"Content-Length: 12\r\n"), extra=b"WARC-Truncated: length\r\n")).notes == (
        "truncated",
    )


def test_metadata_needs_no_target() -> None:
    """WARC 1.1 section 5.10: WARC-Target-URI is optional there."""
    message = record(b"outlink: http://h/x L a/@href\r\n", b"metadata", media_type=b"application/warc-fields")
    without = message.replace(b"WARC-Target-URI: http://h/a\r\n", b"")
    assert [document.notes for document in documents(without)] == [()]
    assert [document.notes for document in documents(message.replace(b"http://h/a", b"\x00"))] == [("corrupt",)]
    assert single(record(response()).replace(b"WARC-Target-URI: http://h/a\r\n", b"")).notes == ("corrupt",)


def test_folded_fields() -> None:
    """WARC 1.1 section 4: a line that begins with white space continues the one before."""
    plain = record(response())
    for wrong, folded in ((b"WARC-Type: ", b"WARC-Type:\r\n "), (b"Content-Length: ", b"Content-Length:\r\n\t")):
        assert [document.content for document in documents(plain.replace(wrong, folded, 1))] == [PAGE]
