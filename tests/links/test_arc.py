"""Documents in ARC files: valid, damaged and with wrong lengths."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

from overthere import URI
from overthere.base import Base
from overthere.links import extract
from overthere.links.documents.kinds import kind
from overthere.links.model import Document, Note, Options, PassedContent
from support import flat_members, linear, processor

OUTSIDE = Document("a", b"", Base(URI("file:///a"), "retrieval", "retrieval"))
ABOUT = b"1 0 InternetArchive\nURL IP-address Archive-date Content-type Archive-length\n"
ABOUT11 = ABOUT.replace(b"1 0", b"1 1") + b"<?xml version='1.0'?><arcmetadata><dc:title>x</dc:title></arcmetadata>\n"


def first(about: bytes = ABOUT) -> bytes:
    return b"filedesc://a.arc 0.0.0.0 20260101000000 text/plain %d\n" % len(about) + about + b"\n"


def record(
    body: bytes, url: bytes = b"http://h/d/a", head: bytes = b"HTTP/1.1 200 OK\nContent-Type: text/html\n\n"
) -> bytes:
    content = head + body
    return url + b" 192.0.2.1 20260101000000 text/html %d\n" % len(content) + content + b"\n"


PAGES = [record(b"<a href=x%d>" % number, b"http://h/d/%d" % number) for number in range(3)]
LENGTH = PAGES[0].partition(b"text/html")[2].partition(b"HTTP/")[0]
"""Such a line in each of them: a space, digits, LF."""


def found(data: bytes, options: Options = Options()) -> list[Document]:  # noqa: B008
    return [item for item in flat_members("arc", io.BytesIO(data), OUTSIDE, options) if isinstance(item, Document)]


@pytest.mark.parametrize("about", [ABOUT, ABOUT11], ids=["1", "1.1"])
@pytest.mark.parametrize("packed", [False, True])
def test_documents_of_records(about: bytes, packed: bool, tmp_path: Path) -> None:
    parts = [first(about), *PAGES]
    data = b"".join(map(gzip.compress, parts) if packed else parts)
    ends = [len(gzip.compress(part) if packed else part) for part in parts]
    for name in ("a.arc.gz", "x.gz", "x") if packed else ("a.arc", "x"):
        (tmp_path / name).write_bytes(data)
        rows = list(extract(tmp_path / name))
        assert [(row.base, row.reference, row.error) for row in rows] == [
            (f"http://h/d/{number}", f"x{number}", None) for number in range(3)
        ]
        assert [row.source.rpartition("!")[2] for row in rows] == [str(sum(ends[: 1 + number])) for number in range(3)]
    assert [
        one.kind for one in flat_members("arc", io.BytesIO(data), OUTSIDE, Options()) if isinstance(one, PassedContent)
    ] == ["filedesc"]


def test_many_records_in_one_member() -> None:
    assert [document.content for document in found(gzip.compress(first() + b"".join(PAGES)))] == [
        b"<a href=x%d>" % n for n in range(3)
    ]


def test_other_records() -> None:
    version2 = b"http://h/2 192.0.2.1 20260101000000 text/html 200 - - 0 a.arc 10\n<a href=y>\n"
    ftp = record(b"words", b"ftp://h/x.txt", b"")
    blanks = record(b"1", b"http://h/a b")
    dns = b"dns:h 192.0.2.1 20260101000000 text/dns 3\nabc\n"
    none = record(b"2", b"http://h h/")
    value = found(first() + version2 + ftp + dns + blanks + none)
    assert [(item.content, str(item.base.uri), item.notes) for item in value] == [
        (b"<a href=y>", "http://h/2", ()), (b"words", "ftp://h/x.txt", ()), (b"1", "http://h/a%20b", ()),
        (b"2", "file:///a", ("corrupt",)),
    ]  # fmt: skip


@pytest.mark.parametrize("packed", [False, True])
def test_blanks_in_a_media_type(packed: bool) -> None:
    text = "é".encode("latin-1")
    for address in (b"192.0.2.1", b"-", b"2001:db8::1"):
        line = b"ftp://h/a b %s 20260101000000 text/plain; charset=iso-8859-1 1\n" % address
        pieces = [first(), line + text + b"\n", PAGES[1]]
        item, two = found(b"".join(map(gzip.compress, pieces) if packed else pieces))
        assert (str(item.base.uri), item.media_type, item.charset) == ("ftp://h/a%20b", "text/plain", "iso-8859-1")
        assert (item.content, item.notes, two.content) == (text, (), b"<a href=x1>")


@pytest.mark.parametrize("length", [0, 20, 500, 10**15])
def test_wrong_lengths(length: int) -> None:
    lying = b"http://h/l 192.0.2.1 20260101000000 text/html %d\nHTTP/1.1 200 OK\n\n%s\n" % (length, b"<a href=y>" * 9)
    item, two, three = found(first() + PAGES[0] + lying + PAGES[1])
    assert (item.content, three.content) == (b"<a href=x0>", b"<a href=x1>")
    assert (two.content.strip(), two.notes) == (b"<a href=y>" * 9, ("wrong-length",))


def test_known_archives() -> None:
    assert kind("", "", first()) == ("arc", ())
    assert kind("a.gz", "", gzip.compress(first())) == ("arc", ())
    assert kind("a.arc.gz", "", gzip.compress(PAGES[0])) == ("arc", ())


@pytest.mark.parametrize(
    "data",
    [b"", b"\n" * 1_000_000, PAGES[0][:40] * 50_000, b"\na:" * 500_000,
     b"http://h/ 1.1.1.1 20260101000000 t 9\n" * 50_000,
     gzip.compress(b"a:")[:-8] * 50_000, gzip.compress(bytes(50_000_000))],
    ids=lambda data: str(len(data)),
)  # fmt: skip
def test_hostile_files_are_linear(data: bytes) -> None:
    with processor(60):
        for flat_member in flat_members("arc", io.BytesIO(data), OUTSIDE, Options(limit=1 << 20)):
            assert isinstance(flat_member, Document | Note | PassedContent)


def test_garbage_is_linear() -> None:
    linear(lambda count: found(b"\nhttp://h/" * count), 200_000)


def test_records_without_a_line_end_between_them() -> None:
    data = first() + b"".join(page.removesuffix(b"\n") for page in PAGES)
    assert [document.content for document in found(data)] == [b"<a href=x0>", b"<a href=x1>", b"<a href=x2>"]


def test_a_too_great_length_takes_nothing_of_the_next_line() -> None:
    for extra in range(1, 5):
        wrong = PAGES[0].replace(LENGTH, b" %d\n" % (int(LENGTH) + extra))
        assert wrong != PAGES[0]
        assert [str(doc.base.uri) for doc in found(first() + wrong + PAGES[1])] == ["http://h/d/0", "http://h/d/1"]


def test_a_record_without_an_address_is_found_after_a_wrong_length() -> None:
    wrong, second = PAGES[0].replace(LENGTH, b" 9\n"), PAGES[1].replace(b" 192.0.2.1 ", b" - ")
    data = first() + wrong + second
    assert [str(document.base.uri) for document in found(data)] == ["http://h/d/0", "http://h/d/1"]
