"""References in JSON."""

from __future__ import annotations

from collections.abc import Iterator

from readings import LABELS, documents, judge

WORDS = (
    b'{"$id": "', b'{"$ref": "', b'"$schema": ', b"[", b"]", b"{", b"}", b":", b",", b'"', b"\\\\u0041", b"\\\\ud800",
    b"\\\\", b'"http://x"', b"1e999", b"-0.0", b"NaN", b"true", b"null", b"\xef\xbb\xbf", b"/", b"~0", *LABELS,
)  # fmt: skip
LONGEST = 4096
AFTER = "a row to tests/cases/json.toml"


def check(data: bytes) -> None:
    """data: a charset, or nothing, on the first line, and the document."""
    judge("json", data)


def seeds() -> Iterator[bytes]:
    yield from documents("json")
