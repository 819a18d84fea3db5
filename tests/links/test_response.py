"""HTTP responses in archives: line ends, chunks, codings, fields with references."""

from __future__ import annotations

import random
import zlib

import pytest

from overthere import URI
from overthere.base import Base
from overthere.links.containers.response import read_content
from overthere.links.documents.header import HTTP, header, read
from overthere.links.documents.kinds import kind
from overthere.links.model import Document, Found, Options
from support import linear, processor
from test_warc import PAGE, documents, gz, record, single

FIELDS = (b"HTTP/1.1 200 OK", b"Content-Type: text/html", b"X-Folded: a", b"\tb", b"Content-Location: c/")


@pytest.mark.parametrize("body", [PAGE, b"<pre>\r\n\r\n</pre>" + PAGE, b"\r\n\r\n" + PAGE])
@pytest.mark.parametrize(
    "ends",
    [(b"\r\n",), (b"\n",), (b"\n", b"\r\n"), (b"\r\n", b"\n"), (b"\n", b"\n", b"\r\n")],
    ids=["crlf", "lf", "mixed", "mixed too", "two and one"],
)
def test_line_ends(ends: tuple[bytes, ...], body: bytes) -> None:
    """RFC 9112 2.2: LF ends a line, and a CR before it is ignored; content up to its CR LF CR LF was once lost."""
    lines = (*FIELDS, b"")
    block = b"".join(line + ends[number % len(ends)] for number, line in enumerate(lines)) + body
    document = single(record(block))
    assert (document.content, document.media_type, document.notes) == (body, "text/html", ())


@pytest.mark.parametrize("field", [b"Transfer-Encoding", b"Content-Encoding"])
def test_too_many_codings_are_not_decoded(field: bytes) -> None:
    block = b"HTTP/1.1 200 OK\r\n" + field + b": " + b"chunked, gzip," * 2000 + b"\r\n\r\n" + b"1" * 100_000
    head = header(block)
    assert head is not None
    with processor(2):
        assert read_content(block, head, 1 << 20) == (b"1" * 100_000, ["wrong-type"])


def test_every_mixture_of_line_ends() -> None:
    draw = random.Random(5)
    for _ in range(200):
        block = b"".join(line + draw.choice((b"\r\n", b"\n")) for line in (*FIELDS, b"")) + PAGE
        head = header(block)
        assert head is not None
        assert (head.status, len(head.fields), block[head.end :]) == (200, 3, PAGE)
        assert (b"x-folded", b"a b") in head.fields


@pytest.mark.parametrize(
    ("block", "contents", "notes"),
    [
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n" + PAGE, PAGE, ()),
        (b"\r\nHTTP/1.0 200\n\n" + PAGE, PAGE, ()),
        (b"HTTP/2 200\n\n" + PAGE, PAGE, ()),
        (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n", b"", ("truncated",)),
        (b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 20_000 + b"\r\n" + PAGE, None, ("corrupt",)),
        (PAGE, PAGE, ("corrupt",)),
    ],
)
def test_headers(block: bytes, contents: bytes | None, notes: tuple[str, ...]) -> None:
    document = single(record(block))
    assert (document.content, document.notes) == (block if contents is None else contents, notes)


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("chunks", "is_", "notes"),
    [
        (b"3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n", b"abcdefg", []),
        (b'3;a=b;c="d e"\r\nabc\r\n4 ; x\r\ndefg\r\n0;last\r\n\r\n', b"abcdefg", []),
        (b"3\nabc\n4\ndefg\n0\n\n", b"abcdefg", []),
        (b"0003\r\nabc\r\n00\r\n\r\n", b"abc", []),
        (b"3\r\nabc\r\n0\r\nA-Trailer: x\r\nB: y\r\n\r\n", b"abc", []),
        (b"3\r\nabc\r\n0", b"abc", ["truncated"]),
        (b"3\r\nabc\r\n0\r\n", b"abc", []),
        (b"3\r\nabc\r\n0\r\n\r\nmore", b"abc", ["wrong-length"]),
        (b"3\r\nabc\r\n", b"abc", ["truncated"]),
        (b"3\r\nabc\r\n9\r\nd", b"abcd", ["truncated"]),
        (b"3\r\nabc\r\nwhat is this? no chunk", b"abc", ["corrupt"]),
        (b"3\r\nabc\r\n4\r\ndefgh\r\n0\r\n\r\n", b"abcdefg", ["corrupt"]),
        (b"no chunks", b"no chunks", ["wrong-type"]),
        (b"12\r\nno chunks, but a number in the first line", None, ["wrong-type"]),
        (b"f" * 17 + b"\r\nabc", None, ["wrong-type"]),
        (b"0\r\n\r\n", b"", []),
    ],
)
def test_chunks(chunks: bytes, is_: bytes | None, notes: list[str]) -> None:
    head = header(CHUNKED + chunks)
    assert head is not None
    assert read_content(CHUNKED + chunks, head, 1000) == (chunks if is_ is None else is_, notes)


def coded(data: bytes, *codings: bytes) -> tuple[bytes, list[str]]:
    block = b"HTTP/1.1 200 OK\r\n" + b"".join(b"Content-Encoding: %s\r\n" % item for item in codings) + b"\r\n" + data
    head = header(block)
    assert head is not None
    return read_content(block, head, 100_000)


def test_nested_and_concatenated_codings() -> None:
    text = PAGE * 1000
    assert coded(gz(zlib.compress(text)), b"deflate, gzip") == (text, [])
    assert coded(gz(zlib.compress(text)), b"deflate", b"gzip") == (text, [])
    assert coded(gz(text[:50]) + gz(text[50:]), b"gzip") == (text, [])
    assert coded(gz(text) + b"junk", b"gzip") == (text, ["wrong-length"])
    broken = bytearray(gz(b"".join(b"<a href=%d>" % number for number in range(7000))))
    broken[-2000] ^= 0xFF
    got, notes = coded(bytes(broken), b"gzip")
    assert notes == ["corrupt"]
    assert got.startswith(b"<a href=0><a href=1>")
    assert len(got) > 10_000


def test_brotli_and_zstd() -> None:
    import brotli

    from test_archives import zstd

    text = PAGE * 100
    for name, packed in ((b"br", brotli.compress(text)), (b"zstd", zstd(text))):
        assert coded(packed, name) == (text, [])
        assert coded(text, name) == (text, ["wrong-type"])
        assert coded(packed[:-9], name)[1] != []


def test_fields_with_references() -> None:
    block = b"HTTP/1.1 200 OK\nRefresh: 5; URL='d?e'\nLink: <c>; rel=next\nRefresh: 3\n\n" + PAGE
    head, page = documents(record(block))
    assert (head.media_type, page.content) == (HTTP, PAGE)
    assert list(read(head, Options())) == [Found("Refresh", "d?e"), Found("Link", "c")]


@pytest.mark.parametrize("value", ["text/html, text/html", "text/html charset=utf-8", "text", "html", "/", "text/"])
def test_invalid_media_types(value: str) -> None:
    """RFC 9110 8.3.1: the content decides, with a note."""
    assert kind("x", value, b"<p><a href=x>") == ("html", ("wrong-type",))
    assert kind("x", value, b'{"a": 1}') == ("json", ("wrong-type",))
    assert kind("x.css", value, b"a { color: red }") == ("css", ("wrong-type",))
    assert kind("x.html", value, b"%PDF-1.4") == ("", ("wrong-type",))
    document = single(record(b"HTTP/1.1 200 OK\r\nContent-Type: " + value.encode() + b"\r\n\r\n" + PAGE))
    assert kind(document.source, document.media_type, document.content) == ("html", ("wrong-type",))


def test_responses_are_linear() -> None:
    outside = Document("w", b"", Base(URI("http://h/"), "retrieval"))

    for start, piece in (
        (CHUNKED, b"1\r\na\r\n"), (CHUNKED, b"1;x\na\n"), (CHUNKED, b"0"), (CHUNKED + b"0\r\n", b"a:b\n"),
        (b"", b"HTTP/1.1 100 x\r\n\r\n"), (b"HTTP/1.1 200 OK", b"\r\n "), (b"", b"\r\n"),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", gz(b"")),
    ):  # fmt: skip

        def use(count: int, start: bytes = start, piece: bytes = piece) -> None:
            block = start + piece * count
            if (head := header(block)) is not None:
                read_content(block, head, 1 << 20)
            for _ in read(outside._replace(content=block), Options()):
                pass

        linear(use, 100_000)
