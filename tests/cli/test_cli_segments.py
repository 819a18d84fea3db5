"""Segments in `split`: a column gives what each text gives."""

from __future__ import annotations

import pyarrow as pa
import pytest

from overthere.cli.split import _segment, _segment_column
from overthere.values.uri import URIReference

PATHS = [
    "", "/", "//", "a", "/a", "a/", "/a/", "a/b/c", "/a//b/", "///", "a\nb/c\n", "a\tb", "/" + "a/" * 2000, ".",
    "é/\U0001f600",
]  # fmt: skip
NAMES = ["segments", *(f"segment:{number}" for number in (1, 2, 3, 999, -1, -2, -3, -999))]


@pytest.mark.parametrize("name", NAMES)
def test_a_column_has_the_segments_of_each_text(name: str) -> None:
    column = _segment_column(pa.array([*PATHS, None]), name)
    parts = [path.removeprefix("/").split("/") if path else [] for path in PATHS]
    assert column.to_pylist() == [*(_segment(segments, name) for segments in parts), None]


def test_segments_agree_with_the_value() -> None:
    for path in ("/", "/a", "/a//b/", "a/", ""):
        value = URIReference(path)
        segments = path.removeprefix("/").split("/") if path else []
        assert tuple(segments) == value.segments
        assert _segment(segments, "segment:-1") == (value.segments[-1] if value.segments else None)
