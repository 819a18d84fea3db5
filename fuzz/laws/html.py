"""References in HTML: both engines make the same rows."""

from __future__ import annotations

from collections.abc import Iterator

from readings import LABELS, documents, judge

WORDS = (
    b"<a href=", b"<base href=", b"<meta ", b"<style>", b"</style>", b"<svg>", b"</svg>", b"<math>", b"<title>",
    b"<noscript>", b"<template>", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<script>", b"</script>", b"<textarea>",
    b"<script type=application/ld+json>", b"<script type=importmap>", b'{"@context":{"@base":"', b'"@id":"',
    b'{"imports":{"/', b"<iframe srcdoc=", b"<meta property=og:image content=",
    b"<plaintext>", b"srcset=", b"style=", b' http-equiv=refresh content="0;url=', b"url(", b"&amp;", b"&#x41;",
    b"&lt", b"<img ", b'"', b"'", b">", b"/>", b"\r\n", b"\x00", b"charset=", *LABELS,
)  # fmt: skip
LONGEST = 4096
AFTER = "a row to tests/cases/html.toml or embedded.toml"


def check(data: bytes) -> None:
    """data: a charset, or nothing, on the first line, and the document."""
    judge("html", data)


def seeds() -> Iterator[bytes]:
    yield from documents("html", "html")
    yield from documents("embedded", "html")
