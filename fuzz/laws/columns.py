"""Both engines of columns say the same, row by row."""

from __future__ import annotations

import differential
from laws.kernels import LONGEST, WORDS
from seeds import with_base as seeds

__all__ = ["AFTER", "LONGEST", "WORDS", "check", "seeds"]

AFTER = "a test in tests/columns/test_columns.py; no case file holds columns"


def check(data: bytes) -> None:
    """data: as for the kernels.  A str may hold what no UTF-8 text holds; a column cannot."""
    lines = data.decode("utf-8", "replace").split("\n")[:6]
    results = differential.of_columns(lines, lines[0])
    assert not results, "\n  ".join(["no agreement:", *results])
