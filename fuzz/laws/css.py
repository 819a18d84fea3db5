"""References in style sheets."""

from __future__ import annotations

from collections.abc import Iterator

from readings import LABELS, documents, judge

WORDS = (
    b"url(", b'url("', b'")', b"src(", b"@import ", b"@namespace ", b'@charset "', b"image-set(",
    b"-webkit-image-set(", b"/*", b"*/", b"\\\\", b"\\\\75 ", b"\\\\000075", b"'", b'"', b"\n", b"\r\n", b"\x0c", b";",
    b"{", b"}", b"(", b")", *LABELS,
)  # fmt: skip
LONGEST = 4096
AFTER = "a row to tests/cases/css.toml"


def check(data: bytes) -> None:
    """data: a charset, or nothing, on the first line, and the document."""
    judge("css", data)


def seeds() -> Iterator[bytes]:
    yield from documents("css")
