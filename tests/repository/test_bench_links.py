"""The crawl that the benchmark of the main job makes from documents: it is as described, and readers read it."""

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
    """Documents of several hosts, a redirect, and one longer than a crawler reads."""
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
def crawled_pages(site: list[Root]) -> list[Page]:
    return [page for page, _ in zip(pages(site), range(COUNT), strict=False)]


@pytest.fixture(scope="module")
def crawl_file(crawled_pages: list[Page], tmp_path_factory: pytest.TempPathFactory) -> crawl.Crawl:
    return crawl.write(tmp_path_factory.mktemp("warc") / "crawl.warc.gz", crawled_pages, sys.maxsize)


def test_each_record_is_a_member_with_its_length(crawl_file: crawl.Crawl) -> None:
    data, records, octets, starts = Path(crawl_file.path).read_bytes(), 0, 0, []
    assert len(data) == crawl_file.file_octets
    while data:
        starts.append(crawl_file.file_octets - len(data))
        packed = zlib.decompressobj(31)
        record = packed.decompress(data)
        data = packed.unused_data
        head, _, block = record.partition(b"\r\n\r\n")
        assert head.startswith(b"WARC/1.1\r\nWARC-Type: ")
        length = int(next(line for line in head.split(b"\r\n") if line.startswith(b"Content-Length: "))[16:])
        assert block[length:] == b"\r\n\r\n"
        records, octets = records + 1, octets + len(record)
    assert (records, octets) == (crawl_file.records, crawl_file.octets)
    assert records == 1 + 2 * COUNT
    assert crawl_file.middle in starts


def test_every_kind_of_record_is_included(crawled_pages: list[Page], crawl_file: crawl.Crawl) -> None:
    assert crawl_file.kinds == Counter(page.kind for page in crawled_pages)
    kinds = {kind.partition(",")[0] for kind in crawl_file.kinds}
    assert kinds == {
        "as it is", "other charset", "charset is a lie", "base element", "redirection", "broken off", "spoiled",
        "content coding gzip", "chunked", "Content-Location", "not found",
    }  # fmt: skip
    assert crawl_file.responses == COUNT
    assert len(crawl_file.charsets) > 3
    assert crawl_file.hosts > 8  # the next round has its own hosts
    assert any(page.truncated for page in crawled_pages)


def test_the_same_documents_give_the_same_file(site: list[Root], crawled_pages: list[Page], tmp_path: Path) -> None:
    repeated = [page for page, _ in zip(pages(site), range(COUNT), strict=False)]
    assert repeated == crawled_pages
    first, second = (
        crawl.write(tmp_path / name / "c.gz", crawled_pages[:20], sys.maxsize).digest for name in _folders(tmp_path)
    )
    assert first == second


def _folders(folder: Path) -> list[str]:
    for name in ("a", "b"):
        (folder / name).mkdir()
    return ["a", "b"]


def test_the_crawl_has_the_requested_size(site: list[Root], tmp_path: Path) -> None:
    about = crawl.make(tmp_path / "c.warc.gz", 100_000, pages(site))
    assert 100_000 <= about.file_octets == (tmp_path / "c.warc.gz").stat().st_size < 200_000
    assert (tmp_path / "c.warc.json").exists()
    with pytest.raises(LookupError, match="no documents"):
        crawl.make(tmp_path / "d.warc.gz", 1, pages([Root(tmp_path, "none.example")]))


def test_plain_pages_are_unchanged_and_unique(site: list[Root]) -> None:
    pages = list(plain_pages(site, sys.maxsize))
    assert {page.kind for page in pages} == {"as it is"}
    assert len({page.uri for page in pages}) == len(pages) > len(list(plain_pages(site, 2000))) > 0
    with pytest.raises(LookupError, match="no documents"):
        next(plain_pages([], 1))


def test_fastwarc_reads_the_crawl(crawled_pages: list[Page], crawl_file: crawl.Crawl) -> None:
    pytest.importorskip("fastwarc", reason="the peers of the benchmark are absent")
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    with Path(crawl_file.path).open("rb") as file:
        records = [
            (record.headers.get("WARC-Target-URI"), record.http_headers.status_code, record.reader.read())
            for record in ArchiveIterator(file, record_types=WarcRecordType.response, auto_decode="all")
        ]
    assert len(records) == len(crawled_pages)
    for page, (uri, status, content) in zip(crawled_pages, records, strict=True):
        assert (uri, str(status)) == (page.uri, page.status[:3])
        assert content == (gzip.decompress(page.payload) if page.kind == "content coding gzip" else page.payload)
    with Path(crawl_file.path).open("rb") as file:
        assert all(record.verify_block_digest() for record in ArchiveIterator(file, parse_http=False))
    with Path(crawl_file.path).open("rb") as file:
        chunked = {page.uri for page in crawled_pages if page.kind == "chunked"}
        for record in ArchiveIterator(file, record_types=WarcRecordType.response, parse_http=True):
            if record.headers.get("WARC-Target-URI") not in chunked:
                assert record.verify_payload_digest()


def test_overthere_reads_the_crawl(crawled_pages: list[Page], crawl_file: crawl.Crawl) -> None:
    from overthere import links

    bases = {link.base for link in links.extract([crawl_file.path]) if link.base_from == "retrieval"}
    assert bases >= {page.uri for page in crawled_pages if page.kind == "as it is" and "long" not in page.uri}


def test_known_results() -> None:
    rows = known_links.known_pages()
    assert {row.group for row in rows} == set(known_links.GROUPS)
    assert min(known_links.right(rows, [row.targets for row in rows])[group][0] for group in known_links.GROUPS) > 5
    none = known_links.right(rows, [()] * len(rows))
    assert {group for group, (right, of) in none.items() if right} == {"refused"}


def test_the_shared_links_of_two_readers() -> None:
    links = {1: ["http://h/a", "http://h/b#f"], 2: ["http://h/c"]}
    other = {1: ["HTTP://h:80/a", "http://h/b", "http://h/d"]}
    assert known_links.count_shared(links, other) == {"shared": 2, "shared_of": 3, "only_peer": 1}
