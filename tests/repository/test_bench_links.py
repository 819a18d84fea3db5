"""The crawl that the benchmark of the main job makes of documents: it holds what it says, and readers read it back."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections import Counter
from pathlib import Path

import pytest

from support import ROOT

sys.path.append(str(ROOT / "bench"))

import crawl
import known_links
from pages import Page, Root, pages, plain_pages

COUNT = 400


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> list[Root]:
    """Documents of several hosts, a redirection, one that is longer than a crawler takes."""
    folder = tmp_path_factory.mktemp("site")
    for number in range(60):
        path = folder / f"Book {number % 7}" / "ch" / f"{number}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        body = "".join(f'<p>é{n} <a href="../x{n}?q={number}#s">next</a>' for n in range(40))
        path.write_text(f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>{number}</title></head>{body}</html>')
    (folder / "index.html").write_text('<meta http-equiv="refresh" content="0; url=Book 1/ch/1.html">')
    (folder / "long.html").write_bytes(b"<html><head></head>" + b"<p>long</p>" * 600_000)
    (folder / "empty.html").touch()
    (folder / "no.txt").write_text("not HTML")
    return [Root(folder, "site.example")]


@pytest.fixture(scope="module")
def some(site: list[Root]) -> list[Page]:
    return [page for page, _ in zip(pages(site), range(COUNT), strict=False)]


@pytest.fixture(scope="module")
def made(some: list[Page], tmp_path_factory: pytest.TempPathFactory) -> crawl.Crawl:
    return crawl.write(tmp_path_factory.mktemp("warc") / "crawl.warc.gz", some, sys.maxsize)


def test_each_record_is_a_member_and_says_its_length(made: crawl.Crawl) -> None:
    data, records, octets, starts = Path(made.path).read_bytes(), 0, 0, []
    assert len(data) == made.file_octets
    while data:
        starts.append(made.file_octets - len(data))
        packed = zlib.decompressobj(31)
        record = packed.decompress(data)
        data = packed.unused_data
        head, _, rest = record.partition(b"\r\n\r\n")
        assert head.startswith(b"WARC/1.1\r\nWARC-Type: ")
        told = int(next(line for line in head.split(b"\r\n") if line.startswith(b"Content-Length: "))[16:])
        assert rest[told:] == b"\r\n\r\n"
        records, octets = records + 1, octets + len(record)
    assert (records, octets) == (made.records, made.octets)
    assert records == 1 + 2 * COUNT
    assert made.middle in starts


def test_there_is_one_of_every_kind(some: list[Page], made: crawl.Crawl) -> None:
    assert made.kinds == Counter(page.kind for page in some)
    kinds = {kind.partition(",")[0] for kind in made.kinds}
    assert kinds == {
        "as it is", "other charset", "charset is a lie", "base element", "redirection", "broken off", "spoiled",
        "content coding gzip", "chunked", "Content-Location", "not found",
    }  # fmt: skip
    assert made.responses == COUNT
    assert len(made.charsets) > 3
    assert made.hosts > 8  # a second turn has hosts of its own
    assert any(page.truncated for page in some)


def test_the_same_documents_give_the_same_file(site: list[Root], some: list[Page], tmp_path: Path) -> None:
    again = [page for page, _ in zip(pages(site), range(COUNT), strict=False)]
    assert again == some
    first, second = (
        crawl.write(tmp_path / name / "c.gz", some[:20], sys.maxsize).digest for name in _folders(tmp_path)
    )
    assert first == second


def _folders(folder: Path) -> list[str]:
    for name in ("a", "b"):
        (folder / name).mkdir()
    return ["a", "b"]


def test_it_is_as_large_as_was_asked_for(site: list[Root], tmp_path: Path) -> None:
    about = crawl.make(tmp_path / "c.warc.gz", 100_000, pages(site))
    assert 100_000 <= about.file_octets == (tmp_path / "c.warc.gz").stat().st_size < 200_000
    assert (tmp_path / "c.warc.json").exists()
    with pytest.raises(LookupError, match="no documents"):
        crawl.make(tmp_path / "d.warc.gz", 1, pages([Root(tmp_path, "none.example")]))


def test_plain_pages_are_as_they_are_and_once(site: list[Root]) -> None:
    found = list(plain_pages(site, sys.maxsize))
    assert {page.kind for page in found} == {"as it is"}
    assert len({page.uri for page in found}) == len(found) > len(list(plain_pages(site, 2000))) > 0
    with pytest.raises(LookupError, match="no documents"):
        next(plain_pages([], 1))


def test_fastwarc_reads_it_back(some: list[Page], made: crawl.Crawl) -> None:
    pytest.importorskip("fastwarc", reason="the peers of the benchmark are absent")
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    with Path(made.path).open("rb") as file:
        found = [
            (record.headers.get("WARC-Target-URI"), record.http_headers.status_code, record.reader.read())
            for record in ArchiveIterator(file, record_types=WarcRecordType.response, auto_decode="all")
        ]
    assert len(found) == len(some)
    for page, (uri, status, content) in zip(some, found, strict=True):
        assert (uri, str(status)) == (page.uri, page.status[:3])
        assert content == (gzip.decompress(page.payload) if page.kind == "content coding gzip" else page.payload)
    with Path(made.path).open("rb") as file:
        assert all(record.verify_block_digest() for record in ArchiveIterator(file, parse_http=False))
    with Path(made.path).open("rb") as file:
        chunked = {page.uri for page in some if page.kind == "chunked"}
        for record in ArchiveIterator(file, record_types=WarcRecordType.response, parse_http=True):
            if record.headers.get("WARC-Target-URI") not in chunked:
                assert record.verify_payload_digest()


def test_overthere_reads_it_back(some: list[Page], made: crawl.Crawl) -> None:
    from overthere import links

    found = {link.base for link in links.extract([made.path]) if link.base_from == "retrieval"}
    assert found >= {page.uri for page in some if page.kind == "as it is" and "long" not in page.uri}


def test_known_answers() -> None:
    rows = known_links.known_pages()
    assert {row.group for row in rows} == set(known_links.GROUPS)
    assert min(known_links.right(rows, [row.targets for row in rows])[group][0] for group in known_links.GROUPS) > 5
    none = known_links.right(rows, [()] * len(rows))
    assert {group for group, (right, of) in none.items() if right} == {"refused"}


def test_what_two_share() -> None:
    own = {1: ["http://h/a", "http://h/b#f"], 2: ["http://h/c"]}
    other = {1: ["HTTP://h:80/a", "http://h/b", "http://h/d"]}
    assert known_links.count_shared(own, other) == {"shared": 2, "shared_of": 3, "only_peer": 1}
