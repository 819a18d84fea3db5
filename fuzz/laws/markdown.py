"""References in Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from readings import LABELS, documents, judge

WORDS = (
    b"[a](", b"](<", b">)", b"![", b"[a]: ", b"<http://", b"http://", b"www.", b"a@b.c", b"`", b"```\n", b"~~~\n",
    b"    ", b"> ", b"- ", b"1. ", b"# ", b"\n\n", b'<a href="', b"<!--", b"-->", b"*", b"_", b"|", b"\\\\", b"&amp;",
    b"[^1]", b"\t", *LABELS,
)  # fmt: skip
LONGEST = 4096
AFTER = "a row to tests/cases/markdown.toml"


def check(data: bytes) -> None:
    """data: a charset, or nothing, on the first line, and the document."""
    judge("markdown", data)


def seeds() -> Iterator[bytes]:
    yield from documents("markdown")
