"""WAT and WET files made by the benchmark: their readers find the links of its pages."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import pytest

from support import ROOT

sys.path.append(str(ROOT / "bench"))

import crawl
import formats
import wat_links
import workers_plot
from overthere import links
from pages import Page

PAGE = (
    b'<html><head><title>T</title><base href="/b/"><link rel=next href="n.html"><script src=s.js></script>'
    b'<meta property="og:url" content="http://h.example/og"></head><body background=back.png>'
    b'<a href="x.html" title=t>An <b>anchor</b> </a><p>See http://text.example/ here<img src="//cdn.example/i.png">'
)


@pytest.fixture(scope="module")
def crawl_files(tmp_path_factory: pytest.TempPathFactory) -> list[formats.Format]:
    media = (("Content-Type", "text/html; charset=utf-8"),)
    packed = gzip.compress(PAGE, mtime=0)
    chunked = b"%x\r\n%b\r\n0\r\n\r\n" % (len(PAGE), PAGE)
    moved = (("Location", "/new"), *media)
    answers = (
        ("as it is", (), PAGE, PAGE),
        ("gzip", (("Content-Encoding", "gzip"),), packed, packed),
        ("chunked", (("Transfer-Encoding", "chunked"),), chunked, PAGE),
    )
    pages = [
        Page(f"http://www.h.example/{kind.replace(' ', '-')}", kind, "utf-8", "200 OK", (*media, *more), body, payload)
        for kind, more, body, payload in answers
    ]
    pages.append(Page("http://www.h.example/old", "redirection", "utf-8", "301 Moved Permanently", moved, b"", b""))
    folder = tmp_path_factory.mktemp("formats")
    about = crawl.write(folder / "c.warc.gz", pages, sys.maxsize)
    return formats.make(Path(about.path), folder / "c.warc.wat.gz", folder / "c.warc.wet.gz")


def test_wat_has_the_fields_of_common_crawl(crawl_files: list[formats.Format]) -> None:
    wat, _ = crawl_files
    records = list(formats.members(Path(wat.path)))
    assert len(records) == wat.records == 9  # a warcinfo record, and four requests with their responses
    assert sum(record.packed for record in records) == wat.file_octets == Path(wat.path).stat().st_size
    envelope = json.loads(records[2].block)
    assert envelope["Container"]["Compressed"] is True
    assert envelope["Envelope"]["WARC-Header-Metadata"]["WARC-Target-URI"] == "http://www.h.example/as-it-is"
    html = envelope["Envelope"]["Payload-Metadata"]["HTTP-Response-Metadata"]["HTML-Metadata"]
    assert (html["Head"]["Base"], html["Head"]["Title"]) == ("/b/", "T")
    anchor = {"path": "A@/href", "url": "x.html", "title": "t", "text": "An anchor"}
    background = {"path": "BODY@/background", "url": "back.png"}
    assert html["Links"] == [background, anchor, {"path": "IMG@/src", "url": "//cdn.example/i.png"}]


def test_overthere_and_the_peer_find_the_same_links(crawl_files: list[formats.Format]) -> None:
    pytest.importorskip("ujson", reason="the peers of the benchmark are absent")
    wat, _ = crawl_files
    contents = [record.block for record in formats.members(Path(wat.path)) if record.head["WARC-Type"] == "metadata"]
    peer = [(page, link) for name, page, link in wat_links.link_pairs(contents) if name != "Metas"]
    ours = [link for link in links.extract([wat.path]) if link.where not in ("BASE@/href", "Location")]
    assert sorted(str(link.target) for link in ours) == sorted(link for _, link in peer)
    assert len(peer) == wat.links == 15
    hosts = {(page, host) for _, page, host in wat_links.host_pairs(contents)}
    assert hosts == {("example.h", "example.cdn")}


@pytest.mark.parametrize(
    ("uri", "host"),
    [
        ("http://www.Example.com./a", "com.example"),
        ("https://user@www.com:8/", "com.www"),
        ("//b%C3%BCcher.example/", None),
        ("http://bücher.example/", "example.xn--bcher-kva"),
        ("http://www.192.0.2.1/", None),
        ("http://localhost/", None),
        ("http://[::1", None),
    ],
)
def test_hosts_in_keys_are_reversed(uri: str, host: str | None) -> None:
    assert wat_links.reversed_host(uri) == host


def test_wet_has_the_text_of_the_pages(crawl_files: list[formats.Format]) -> None:
    _, wet = crawl_files
    texts = [record.block.decode() for record in formats.members(Path(wet.path))]
    assert texts[1] == "T\nAn anchor\nSee http://text.example/ here"
    assert {str(link.target) for link in links.extract([wet.path])} == {"http://text.example/"}


def test_the_plot_shows_each_number_of_workers() -> None:
    about = {"section": "workers", "format": "WAT", "cores": 2, "load": 1.0, "octets": 20_000_000}
    rows = [about | {"workers": workers, "mb_s": workers * 2.4, "seconds": 2.0} for workers in (1, 2, 3)]
    picture = workers_plot.plot(rows)
    assert picture is not None
    assert "2 workers 5 MB/s, 3 workers 7 MB/s" in picture
    assert picture.count("<circle") == 3
    assert workers_plot.plot([]) is None
