"""Further records of Common Crawl: robots.txt, redirects, error pages, revisits."""

from __future__ import annotations

from pathlib import Path

import pytest

from overthere.base import Base
from overthere.links import extract
from overthere.links.documents.plaintext import read
from overthere.links.model import Document, Found, Options
from overthere.values.uri import URI
from support import linear
from test_warc import gz, record

ROBOTS = b"""\
User-agent: *
Disallow: /private
Sitemap: https://h.example/sitemap.xml
SITEMAP:/other.xml # a comment
  sitemap : news/sitemap.xml.gz
Sitemap: /other.xml
Sitemap: //cdn.example/sitemap.xml
Sitemap: www.example.org/sitemap.xml
Sitemap:
# See https://h.example/about.
"""


def message(status: bytes, fields: bytes = b"", body: bytes = b"", media_type: bytes = b"text/html") -> bytes:
    return b"HTTP/1.1 " + status + b"\r\nContent-Type: " + media_type + b"\r\n" + fields + b"\r\n" + body


def rows(tmp_path: Path, *records: bytes) -> list[tuple[str | None, ...]]:
    """The rows, which must be the same with each record as a gzip member."""
    tables: list[list[tuple[str | None, ...]]] = []
    for name, data in (("a.warc", b"".join(records)), ("a.warc.gz", b"".join(map(gz, records)))):
        file = tmp_path / name
        file.write_bytes(data)
        tables.append([(link.base, link.where, link.reference, link.target, link.error) for link in extract(file)])
    assert tables[0] == tables[1]
    return tables[0]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_robots(tmp_path: Path, end: bytes) -> None:
    body = ROBOTS.replace(b"\n", end)
    base = "https://h.example/robots.txt"
    assert rows(tmp_path, record(message(b"200 OK", b"", body, b"text/plain"), target=base.encode())) == [
        (base, "text", "https://h.example/sitemap.xml", "https://h.example/sitemap.xml", None),
        (base, "text, abbreviated", "www.example.org/sitemap.xml", "http://www.example.org/sitemap.xml", None),
        (base, "text", "https://h.example/about", "https://h.example/about", None),
        (base, "Sitemap", "/other.xml", "https://h.example/other.xml", None),
        (base, "Sitemap", "news/sitemap.xml.gz", "https://h.example/news/sitemap.xml.gz", None),
        (base, "Sitemap", "//cdn.example/sitemap.xml", "https://cdn.example/sitemap.xml", None),
    ]


def test_only_robots_has_sitemaps() -> None:
    for uri in ("https://h/other.txt", "https://h/a/robots.txt"):
        document = Document("x", b"Sitemap: /a", Base(URI(uri), "retrieval", "retrieval"))
        assert list(read(document, Options())) == []


def test_sitemaps_are_linear() -> None:
    base = Base(URI("https://h/robots.txt"), "retrieval", "retrieval")
    for piece in (b"Sitemap:", b"Sitemap:\n", b"sitemap: /a\n", b" ", b"sitemap:a+", b"sitemap: /%d\n"):

        def use(count: int, piece: bytes = piece) -> None:
            for item in read(Document("x", piece * count, base), Options()):
                assert isinstance(item, Found)

        linear(use, 100_000)


def test_diagnostics(tmp_path: Path) -> None:
    """Redirects, error pages, and revisits, which contain no document."""
    profile = b"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/"
    row_list = rows(
        tmp_path,
        record(message(b"301 Moved Permanently", b"Location: ../b?c\r\n"), target=b"https://h.example/x/y/"),
        record(message(b"302 Found", b"Location: https://other.example/\r\n", b"<a href=z>"), target=b"https://h.example/r"),
        record(message(b"404 Not Found", b"", b"<a href=home>"), target=b"https://h.example/d/e"),
        record(message(b"404 Not Found"), target=b"https://h.example/empty"),
        record(
            message(b"304 Not Modified", b"Location: /z\r\n"), b"revisit", b"https://h.example/f",
            extra=profile + b"server-not-modified\r\n",
        ),
        record(message(b"200 OK"), b"revisit", b"https://h.example/g", extra=profile + b"identical-payload-digest\r\n"),
    )  # fmt: skip
    assert row_list == [
        ("https://h.example/x/y/", "Location", "../b?c", "https://h.example/x/b?c", None),
        ("https://h.example/r", "Location", "https://other.example/", "https://other.example/", None),
        ("https://h.example/r", "a href", "z", "https://h.example/z", None),
        ("https://h.example/d/e", "a href", "home", "https://h.example/d/home", None),
    ]
