"""WARC files of other software: lines that end with LF, and records across several gzip members."""

from __future__ import annotations

import io
import random
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from overthere import kernel
from overthere.links import extract
from overthere.links.containers import gzip_member
from overthere.links.containers.records import find_cuts
from overthere.links.model import Options
from test_cli import process
from test_warc import PAGE, documents, gz, packed, record, response

sys.path.append(str(Path(__file__).parents[2] / "fuzz"))

from laws import records as law

BOTH = pytest.mark.parametrize("compressed", [False, True])


def lf(complete: bytes, body: bytes = PAGE, *, is_false: bool = False) -> bytes:
    """A record with LF in its header, in its HTTP header and after its content. is_false: its length counts CR LF."""
    head, _, content = complete.partition(b"\r\n\r\n")
    block = content.removesuffix(b"\r\n\r\n")
    length = b"Content-Length: %d" % len(block)
    assert length in head
    new = block.replace(b"\r\n", b"\n")
    head = head.replace(length, b"Content-Length: %d" % len(block if is_false else new))
    return head.replace(b"\r\n", b"\n") + b"\n\n" + new + b"\n\n"


def join(parts: list[bytes], compressed: bool) -> bytes:
    return packed(parts) if compressed else b"".join(parts)


def check_parts(data: bytes) -> None:
    """Check that parts of a file and both readers give the same as the whole file."""
    complete = documents(data)
    for split in (1, 60, 500, 5000):
        places: list[int | None] = [*find_cuts(io.BytesIO(data), split), None]
        assert [document for a, b in pairwise(places) for document in documents(data, Options(), a or 0, b)] == complete
    native = law.read_file(data, Options(), natively=True)
    assert native == law.read_file(data, Options(), natively=False)


@BOTH
def test_lines_that_end_with_lf_have_a_note(compressed: bool) -> None:
    parts = [lf(record(response(b"<a href=%d>" % number))) for number in range(3)]
    data = join(parts, compressed)
    found = documents(data)
    assert [(item.content, item.notes) for item in found] == [(b"<a href=%d>" % n, ("corrupt",)) for n in range(3)]
    assert {row.media_type for row in found} == {"text/html"}
    check_parts(data)


@BOTH
def test_lf_and_cr_lf_in_one_file(compressed: bool) -> None:
    good, other = record(response(b"good")), lf(record(response(b"other")))
    for parts in ([good, other, good], [other, good, other], [good, good, other], [other, other, good]):
        data = join(parts, compressed)
        is_lf = [part is other for part in parts]
        assert [(document.content, document.notes) for document in documents(data)] == [
            (b"other", ("corrupt",)) if has_lf else (b"good", ()) for has_lf in is_lf
        ]
        check_parts(data)


@BOTH
@pytest.mark.parametrize("extra", [-9, -1, 3, 7, 500, 10**15])
def test_a_false_length_with_lf_affects_only_its_record(compressed: bool, extra: int) -> None:
    first, last = lf(record(response(b"1"))), lf(record(response(b"3")))
    second = lf(record(response(PAGE * 9)))
    length = second[second.index(b"Content-Length: ") :].partition(b"\n")[0]
    wrong = second.replace(length, b"Content-Length: %d" % (int(length.partition(b": ")[2]) + extra))
    item, two, three = documents(join([first, wrong, last], compressed))
    assert (item.content, three.content) == (b"1", b"3")
    assert (two.content, two.notes) == (PAGE * 9, ("corrupt", "wrong-length"))
    check_parts(join([first, wrong, last], compressed))


@BOTH
def test_a_warcinfo_whose_length_counts_cr_lf(compressed: bool) -> None:
    info = lf(
        record(b"software: x\r\nformat: WARC\r\n\r\n", b"warcinfo", media_type=b"application/warc-fields"),
        is_false=True,
    )
    data = join([info, lf(record(response(b"1"))), lf(record(response(b"2")), is_false=True)], compressed)
    results = documents(data)
    assert [row.content for row in results][1:] == [b"1", b"2"]
    assert all(row.notes for row in results)
    check_parts(data)


def test_missing_last_lines_with_lf() -> None:
    complete = lf(record(response()))
    assert [document.notes for document in documents(complete)] == [("corrupt",)]
    for less in (1, 2):
        assert [(doc.content, doc.notes) for doc in documents(complete[:-less])] == [(PAGE, ("corrupt", "truncated"))]
    for end in range(1, len(complete)):
        assert documents(complete[:end])[-1].notes, end


def split(complete: bytes, places: list[int]) -> list[bytes]:
    return [gz(complete[a:b]) for a, b in pairwise([0, *places, len(complete)])]


@pytest.mark.parametrize("places", [[20], [300], [20, 300], [120, 200, 305], list(range(10, 300, 7))])
def test_a_record_continues_in_the_next_members(places: list[int]) -> None:
    complete, good = record(response(PAGE * 20)), record(response(b"good"))
    data = b"".join([gz(good), *split(complete, places), gz(good), gz(good)])
    results = documents(data)
    assert [(row.content, row.notes) for row in results] == [
        (b"good", ()), (PAGE * 20, ("corrupt",)), (b"good", ()), (b"good", ()),
    ]  # fmt: skip
    assert results[1].source == f"w!{len(gz(good))}!0"
    check_parts(data)


def test_members_of_any_size() -> None:
    """Each record is read, unless one looks like the beginning of another."""
    chance = random.Random(5)
    parts = [record(response(b"%d" % number * 50)) for number in range(12)]
    complete = b"".join(parts)
    for _ in range(40):
        places = sorted(chance.sample(range(9, len(complete)), chance.randrange(1, 30)))
        data = b"".join(split(complete, places))
        results = documents(data)
        assert [doc.content for doc in results if doc.content] == [b"%d" % number * 50 for number in range(12)], places
        check_parts(data)


def test_a_broken_member_ends_the_record() -> None:
    complete, good = record(response(PAGE * 20)), record(response(b"good"))
    first, second, third = split(complete, [250, 350])
    for broken in (second[:12] + b"\0\0\0\0" + second[16:], second[:-3], b"garbage"):
        results = documents(first + broken + third + gz(good))
        assert results[-1].content == b"good"
        assert results[0].notes
    assert documents(first + second + third[:-4])[0].notes


@pytest.mark.parametrize("seed", range(3))
def test_both_readers_agree_on_damaged_variants(seed: int) -> None:
    chance = random.Random(seed)
    good, other = record(response(PAGE)), lf(record(response(PAGE * 3)))
    for _ in range(60):
        parts = [chance.choice([good, other]) for _ in range(5)]
        plain = b"".join(parts)
        places = sorted(chance.sample(range(9, len(plain)), 4))
        data = bytearray(chance.choice([plain, packed(parts), b"".join(split(plain, places))]))
        for _ in range(chance.randrange(4)):
            at = chance.randrange(len(data))
            data[at : at + chance.randrange(3)] = chance.choice([b"\n", b"\r\n", b"WARC/1.0\n", b"\n\n", b"\xff"])
        check_parts(bytes(data))


FORMS: dict[str, tuple[Callable[[bytes], bytes], tuple[str, ...]]] = {
    "version in small letters": (lambda item: item.replace(b"WARC/1.", b"warc/1."), ()),
    "a blank before the colon": (lambda item: item.replace(b"WARC-Type:", b"WARC-Type :"), ()),
    "length and a blank": (lambda item: item.replace(b"\r\nContent-Length:", b"\r\ncontent-length\t:", 1), ()),
    "no line end behind the content": (lambda item: item.removesuffix(b"\r\n\r\n"), ("corrupt",)),
    "one line end behind the content": (lambda item: item.removesuffix(b"\r\n"), ("corrupt",)),
    "one LF behind the content": (lambda item: item.removesuffix(b"\r\n\r\n") + b"\n", ("corrupt",)),
}


@pytest.mark.parametrize("form", FORMS)
def test_files_that_other_readers_accept_are_read(form: str) -> None:
    change, notes = FORMS[form]
    parts = [change(record(response(b"<a href=%d>" % number))) for number in range(3)]
    parts[-1] = record(response(b"<a href=2>"))
    data = join(parts, False)
    results = documents(data)
    assert [(row.content, row.notes) for row in results] == [
        (b"<a href=0>", notes), (b"<a href=1>", notes), (b"<a href=2>", ())
    ]  # fmt: skip
    check_parts(data)


@pytest.mark.parametrize("before", [b"\r\n\r\n", b"the end of another record\r\n\r\n", b"\n"])
def test_a_file_named_as_warc_may_begin_with_text(before: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(before + record(response(b"<a href=0>")))
    assert [link.reference for link in extract([path]) if link.reference is not None] == ["0"]
    path = path.rename(tmp_path / "a.dump")
    assert [link.reference for link in extract([path], kind="warc") if link.reference is not None] == ["0"]


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("status", [b"204 No Content", b"302 Found\r\nLocation: b", b"404 Not Found"])
def test_responses_without_content_are_counted(status: bytes, compressed: bool, tmp_path: Path) -> None:
    empty = record(b"HTTP/1.1 " + status + b"\r\nContent-Length: 0\r\n\r\n")
    path = tmp_path / "a.warc"
    path.write_bytes(join([empty, record(response(b"<a href=0>")), empty], compressed))
    result = process("links", str(path), "-o", str(tmp_path / "x.jsonl"))
    assert "empty 2" in " ".join(result.stderr.split())


@pytest.mark.skipif(kernel.name != "native", reason="the native kernel is absent or not asked for")
def test_the_native_check_of_members_leads_to_the_same_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in damaged files, with members of unusual headers, and with members that look like bombs."""
    monkeypatch.setattr(gzip_member, "_CONFIRMED_BYTES", 4096)
    draw = random.Random(7)
    undamaged = packed([record(response(draw.randbytes(draw.choice((50, 600))))) for _ in range(120)])
    bomb = gz(record(response(bytes(3_000_000))))
    cut_count = 0
    for _ in range(60):
        data = bytearray(undamaged)
        for _ in range(draw.randrange(12)):
            at = draw.randrange(len(data))
            new = draw.choice((b"", draw.randbytes(3), b"\x1f\x8b\x08" + draw.randbytes(20), bomb))
            data[at : at + draw.choice((0, 1, 300))] = new
        both = []
        for name in ("native", "reference"):
            monkeypatch.setattr(kernel, "name", name)
            both.append([*find_cuts(io.BytesIO(bytes(data)), 6000)])
        assert both[0] == both[1]
        cut_count += len(both[0])
    assert cut_count > 200
