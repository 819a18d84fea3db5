"""WARC records read natively: the same rows as in Python, which reads unusual ones."""

from __future__ import annotations

import gzip
import io
import random
import sys
from pathlib import Path

import pytest

from overthere import kernel

sys.path.append(str(Path(__file__).parents[2] / "fuzz"))

from laws import records
from overthere.links.model import Document, Options
from overthere.links.report.record_pages import RecordPages
from overthere.links.report.rows import make_rows_builder
from readings import OUTER
from test_archives import tarred, zipped

if kernel.name != "native":
    pytest.skip("the native kernel is absent or not asked for", allow_module_level=True)


def test_both_kernels_give_the_same_rows() -> None:
    """For valid and unusual records, each changed in many places: before compression, and after."""
    chance = random.Random(28)
    for seed in records.seeds():
        records.check(seed)
        for _ in range(25):
            head = bytes(chance.choice((0, 1, 3, 4, 5, 16, 17)) if n == 0 else chance.randrange(256) for n in range(4))
            records.check(head + seed[4:])
        for _ in range(25):
            head = bytes((chance.choice((0, 1, 16)), chance.randrange(256), 0, 0xFF))
            octets = bytearray(seed[4:])
            for _ in range(chance.randrange(1, 4)):
                at = chance.randrange(len(octets))
                octets[at : at + chance.randrange(4)] = chance.choice(records.WORDS)
            records.check(head + octets)


@pytest.mark.parametrize(("of", "natively", "in_all"), [("warc", 8, 12), ("arc", 3, 7)])
def test_most_records_are_read_natively(monkeypatch: pytest.MonkeyPatch, of: str, natively: int, in_all: int) -> None:
    """Otherwise the comparison would compare nothing."""
    complete = next(seed[4:] for seed in records.seeds() if bool(seed[0] & records.ARC) == (of == "arc"))
    _, _, pages = records.read_file(complete, Options(), natively=True, of=of)
    calls = []

    def count(self: RecordPages, *args: object, **kwargs: object) -> object:
        calls.append(self)
        return before(self, *args, **kwargs)  # type: ignore[arg-type]

    before = RecordPages.read_records
    monkeypatch.setattr(RecordPages, "read_records", count)
    records.read_file(complete, Options(), natively=True, of=of)
    assert calls
    assert calls[0].native.counts()[0][0][1] >= natively
    assert pages >= in_all


def read_natively(complete: bytes) -> dict[str, tuple[int, int]]:
    """The kinds of pages in a WARC file that are read natively."""
    builder = make_rows_builder(Options())
    reader = RecordPages(builder, Document("w", b"", OUTER))  # type: ignore[arg-type]
    assert len(list(reader.read_records(io.BytesIO(complete), 0, len(complete), "", is_packed=False))) < 2
    return builder.page_counts


@pytest.mark.parametrize(
    ("links", "uri", "natively"),
    [(1, b"http://h/", True), (10_000, b"http://h/", True), (20_000, b"http://h/", False), (1, b"dns:h", False),
     (100, b"http://h/" + b"a" * 50_000, True), (200, b"http://h/" + b"a" * 50_000, False)],
)  # fmt: skip
def test_envelopes_are_read_natively(links: int, uri: bytes, natively: bool) -> None:
    """Except those that become more than a batch: Python makes several of them."""
    listed = b",".join(b'{"path":"A@/href","url":"x%d"}' % number for number in range(links))
    record = records.envelope(b'"HTML-Metadata":{"Links":[%b]}' % listed, uri=uri)
    size = len(record.partition(b"\r\n\r\n")[2]) - 4
    assert read_natively(record) == ({"metadata": (1, size)} if natively else {})
    assert records.read_file(record, Options(), natively=True) == records.read_file(record, Options(), natively=False)


def test_a_long_record_widens_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RecordPages, "window", 256)
    page = b"<a href=x>" * 2000
    complete = records.record(records.response(page, media=b"text/html; charset=utf-8")) * 3
    rows, _, pages = records.read_file(complete, Options(), natively=True)
    assert pages == 3
    assert len(rows) == 6000
    assert (rows, pages) == records.read_file(complete, Options(), natively=False)[::2]


def test_each_gzip_member_of_many_records_is_its_own_file() -> None:
    """No bytes that were read for another member are used."""
    page = [record(f"<a href=x{number}>".encode()) for number in range(8)]
    complete = b"".join(gzip.compress(page[at] + page[at + 1], mtime=0) for at in range(0, 8, 2))
    rows, _, pages = records.read_file(complete, Options(), natively=True)
    assert [link.reference for link in rows] == [f"x{number}" for number in range(8)]
    assert (rows, pages) == records.read_file(complete, Options(), natively=False)[::2]


def record(page: bytes) -> bytes:
    return records.record(records.response(page, media=b"text/html; charset=utf-8"))


def test_a_failing_record_is_its_own_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error in Python becomes a note on that record, and the others are read."""
    monkeypatch.setenv("OVERTHERE_FAULTS", "")
    from overthere.links.documents import html

    def fail(octets: bytes, message: str | None) -> tuple[bytes, bool]:
        raise ValueError("no charset today")

    monkeypatch.setattr(html, "octets", fail)
    good = records.record(records.response(b"<a href=x>", media=b"text/html; charset=utf-8"))
    odd = records.record(records.response(b"<a href=y>", media=b"text/html; charset=koi8-r"))
    rows, _, _ = records.read_file(good + odd + good, Options(), natively=True)
    assert [(link.reference, link.error) for link in rows] == [
        ("x", None),
        (None, "reader-failed"),
        ("x", None),
    ]
    assert rows[1].source == f"w!{len(good)}"
    assert rows[1].base == "http://h/a/b"


@pytest.mark.parametrize("flags", [0, records.PACKED])
def test_crawls_in_archives_are_read_natively(flags: int) -> None:
    """In ZIP, tar and nested: the rows are those of Python."""
    seeds = [seed[4:] for seed in records.seeds() if seed[:4] in (bytes(4), bytes((records.ARC, 0, 0, 0)))]
    assert len(seeds) == 2
    files = {name: records.pack(one) if flags else one for name, one in zip(("a.arc", "b.warc"), seeds, strict=True)}
    for of, complete in (("zip", zipped(files)), ("tar", tarred(files)), ("zip", zipped({"c.tar": tarred(files)}))):
        native = records.read_file(complete, Options(), natively=True, of=of)
        assert native == records.read_file(complete, Options(), natively=False, of=of)
        assert len(native[0]) > 100
