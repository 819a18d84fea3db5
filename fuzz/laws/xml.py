"""References in XML: both engines make the same rows, and nothing is expanded without bound."""

from __future__ import annotations

from collections.abc import Iterator

from readings import LABELS, documents, judge

WORDS = (
    b"<a>", b"</a>", b'<?xml version="1.0" encoding="', b"?>", b"<!DOCTYPE r [", b'<!ENTITY e "', b"]>", b"&e;",
    b"%p;", b"<![CDATA[", b"]]>", b"<!--", b"-->", b'xml:base="', b'xmlns="http://www.w3.org/1999/xhtml"',
    b'xmlns:x="', b'<link href="', b"<loc>", b"</loc>", b"<svg ",
    b'<content type="text/html" mode="base64">PGEgaHJlZj14Pg==</content>', b"<feed>",
    b'xlink:href="', b'xsi:schemaLocation="', b"<rss>",
    b'<?xml-stylesheet href="', b"&#x41;", b"&amp;", b'"', b"'", b"/>", b"\r\n", b"\x00", *LABELS,
)  # fmt: skip
LONGEST = 4096
AFTER = "a row to tests/cases/xml.toml"


def check(data: bytes) -> None:
    """data: a charset, or nothing, on the first line, and the document."""
    judge("xml", data)


def seeds() -> Iterator[bytes]:
    yield from documents("xml")
