"""Crawlers' metadata of pages in WARC files: WAT, Heritrix, browsertrix."""

from __future__ import annotations

import json
from pathlib import Path

from overthere.links import extract
from overthere.links.containers.progress import Progress
from overthere.links.job.sources import tasks
from overthere.links.job.task_documents import documents
from overthere.links.model import Options
from test_warc import record

WAT = {
    "Container": {"Filename": "a.warc.gz", "Compressed": True},
    "Envelope": {
        "WARC-Header-Metadata": {"WARC-Type": "response", "WARC-Target-URI": "http://h/d/a"},
        "Payload-Metadata": {
            "HTTP-Response-Metadata": {
                "Headers": {"Location": "../moved", "Server": "http://no/"},
                "HTML-Metadata": {
                    "Head": {
                        "Base": "/base/",
                        "Link": [{"path": "LINK@/href", "url": "s.css", "rel": "stylesheet"}],
                        "Scripts": [{"path": "SCRIPT@/src", "url": "s.js"}],
                        "Metas": [{"http-equiv": "Refresh", "content": "3; url=next"}, {"name": "x", "content": "y"}],
                    },
                    "Links": [{"path": "A@/href", "url": "x?y", "text": "x"}, {"path": "IMG@/src", "url": "//o/i.png"}],
                },
            }
        },
    },
}


def rows(folder: Path, *records: bytes) -> list[tuple[str | None, ...]]:
    (folder / "a.warc").write_bytes(b"".join(records))
    return [(row.where, row.reference, row.target, row.error) for row in extract(folder / "a.warc")]


def metadata(block: bytes, media_type: bytes, target: bytes = b"http://h/d/a") -> bytes:
    return record(block, b"metadata", target, media_type=media_type)


def test_wat(tmp_path: Path) -> None:
    for text in (json.dumps(WAT), json.dumps(WAT, indent=1), json.dumps({"Envelope": WAT["Envelope"]})):
        assert rows(tmp_path, metadata(text.encode(), b"application/json")) == [
            ("Location", "../moved", "http://h/moved", None),
            ("BASE@/href", "/base/", "http://h/base/", None),
            ("LINK@/href", "s.css", "http://h/base/s.css", None),
            ("SCRIPT@/src", "s.js", "http://h/base/s.js", None),
            ("A@/href", "x?y", "http://h/base/x?y", None),
            ("IMG@/src", "//o/i.png", "http://o/i.png", None),
            ("META refresh", "next", "http://h/base/next", None),
        ]


def test_fields_of_http_in_wat(tmp_path: Path) -> None:
    """All fields of a response as in a WARC file, each as often as it occurs; Link was once lost."""
    fields = {
        "link": ['<a>; rel="next, last", </b>;rel=x', " <c> "],
        "LOCATION": ["m", "n"],
        "Content-Location": "d",
        "Refresh": "1; url=r",
        "Server": ["http://no/"],
        "\ud800": "x",
    }
    envelope = {"Envelope": {"Payload-Metadata": {"HTTP-Response-Metadata": {"Headers": fields}}}}
    found = rows(tmp_path, metadata(json.dumps(envelope).encode(), b"application/json"))
    assert [row[:3] for row in found] == [
        ("Link", "a", "http://h/d/a"),
        ("Link", "/b", "http://h/b"),
        ("Link", "c", "http://h/d/c"),
        ("Location", "m", "http://h/d/m"),
        ("Location", "n", "http://h/d/n"),
        ("Content-Location", "d", "http://h/d/d"),
        ("Refresh", "r", "http://h/d/r"),
    ]


def test_invalid_wat(tmp_path: Path) -> None:
    odds: tuple[object, ...] = (
        {},
        {"Payload-Metadata": []},
        {"Payload-Metadata": {"HTTP-Response-Metadata": {"HTML-Metadata": 1}}},
    )
    for odd in odds:
        assert rows(tmp_path, metadata(json.dumps({"Envelope": odd}).encode(), b"application/json")) == []
    truncated = json.dumps(WAT).encode()[:-9]
    assert rows(tmp_path, metadata(truncated, b"application/json")) == [(None, None, None, "corrupt")]
    deep = b'{"Envelope": ' + b"[" * 100_000
    assert [row[3] for row in rows(tmp_path, metadata(deep, b"application/json"))] == ["too-deep"]


def test_lone_surrogates_are_no_delimiters(tmp_path: Path) -> None:
    """Both kernels say the same of a reference with one; as "?" it once began a query in one of them."""
    links = [{"path": "A@/\ud800", "url": "x"}, {"path": "A@/href", "url": "\udc00x"}]
    envelope = {"Envelope": {"Payload-Metadata": {"HTTP-Response-Metadata": {"HTML-Metadata": {"Links": links}}}}}
    assert rows(tmp_path, metadata(json.dumps(envelope).encode(), b"application/json")) == [
        ("A@/\ufffd", "x", "http://h/d/x", None),
        ("A@/href", "\ufffdx", None, "iri-char"),
    ]


def test_the_depth_of_wat_is_limited(tmp_path: Path) -> None:
    """The limit is a number, because the room that Python's stack has left differs with the number of workers."""
    for depth, found in ((400, [("Location", None)]), (600, [(None, "too-deep")])):
        deep = b'"x": %b%b' % (b"[" * depth, b"]" * depth)
        fields = b'"Payload-Metadata": {"HTTP-Response-Metadata": {"Headers": {"Location": "x"}}}'
        record = metadata(b'{"Envelope": {%b, %b}}' % (deep, fields), b"application/json")
        assert [(row[0], row[3]) for row in rows(tmp_path, record)] == found


def test_the_number_of_objects_in_wat_is_limited(tmp_path: Path) -> None:
    """In both kernels: the native one read on, and gave rows without a note."""
    record = metadata(b'{"Envelope": {"x": [%b{}]}}' % (b"{}," * 1_500_000), b"application/json")
    assert rows(tmp_path, record) == [(None, None, None, "too-large")]


def test_heritrix(tmp_path: Path) -> None:
    block = (
        b"via: http://h/\r\nhopsFromSeed: L\r\nfetchTimeMs: 5\r\noutlink: http://o/x L a/@href\r\n"
        b"outlink: http://o/i.png E img/@src\r\noutlink: y\r\n"
    )
    assert rows(tmp_path, metadata(block, b"application/warc-fields")) == [
        ("via", "http://h/", "http://h/", None),
        ("outlink a/@href", "http://o/x", "http://o/x", None),
        ("outlink img/@src", "http://o/i.png", "http://o/i.png", None),
        ("outlink", "y", "http://h/d/y", None),
    ]


def test_browsertrix(tmp_path: Path) -> None:
    meta = {"pageid": "1", "url": "http://h/d/a", "urls": {"http://h/d/a": {"status": 200}, "http://o/s.js": {}}}
    page = record(json.dumps(meta).encode(), b"resource", b"urn:pageinfo:http://h/d/a", media_type=b"application/json")
    words = record(b"see http://h/t", b"resource", b"urn:text:http://h/d/a", media_type=b"text/plain")
    assert rows(tmp_path, page, words) == [
        ("pageinfo", "http://h/d/a", "http://h/d/a", None),
        ("pageinfo", "http://o/s.js", "http://o/s.js", None),
        ("text", "http://h/t", "http://h/t", None),
    ]


def test_pages_of_browsertrix_without_an_object_of_urls(tmp_path: Path) -> None:
    """Nothing is read: a text once gave a row for each of its characters, and a number ended the reader."""
    for urls in ("http://h/", 5, [["a"]], None):
        block = json.dumps({"urls": urls}).encode()
        page = record(block, b"resource", b"urn:pageinfo:http://h/d/a", media_type=b"application/json")
        assert rows(tmp_path, page) == []


def test_other_metadata_is_skipped(tmp_path: Path) -> None:
    blocks = [
        metadata(b"fetchTimeMs: 5\r\ncharsetForLinkExtraction: x\r\n", b"application/warc-fields"),
        metadata(b'{"a": "http://h/"}', b"application/json"),
        metadata(b"via: http://h/", b"text/anvl"),
    ]
    assert rows(tmp_path, *blocks) == []
    walk = Progress()
    for task in tasks([tmp_path / "a.warc"], None, Options()):
        assert list(documents(task, Options(), walk)) == []
    assert walk.passed == {"metadata": 3}
