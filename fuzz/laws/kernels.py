"""Both kernels, the grammar and the values say the same of a text."""

from __future__ import annotations

import differential
from seeds import with_base as seeds

__all__ = ["AFTER", "LONGEST", "WORDS", "check", "seeds"]

WORDS = tuple(
    piece.encode()
    for piece in (
        "%", "%4", "%41", "%2e", "/", "//", "..", "/.", "/../", ":", "@", "[", "]", "::", "?", "#", "v1.", "é", " ",
        "\0", "a", "1", "255.", "//[", "ffff:", "~", "|", "\U0001f600", "http:", "%25", "%C3", ".", "\n",
    )
)  # fmt: skip
LONGEST = 256
AFTER = "the operation's file in tests/cases"


def check(data: bytes) -> None:
    """data: a base, and texts after it, each on its line."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")[:6]
    results = differential.of_kernels(lines, lines[0])
    assert not results, "\n  ".join(["no agreement:", *results])
