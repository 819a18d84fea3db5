"""columns.decode compared with its oracle: valid and invalid rows of every length, in every type and layout."""

from __future__ import annotations

import random
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from overthere.columns import engine, rowwise
from test_columns import layouts, to_rows

_PIECES = [
    *"aZ0-._~/:?#[]@!$&'()*+,;= é日\U0001f600\x00", "%41", "%7e", "%7E", "%2F", "%25", "%00", "%C3%A9", "%E3%82%A2",
    "%F0%9F%98%80", "abcdefgh", "a" * 31, "http%3A%2F%2F",
]  # fmt: skip
_BAD = ["%", "%4", "%4g", "%g4", "%%41", "%é", "%FF", "%C3", "%A9", "%ED%A0%80", "%C0%80", "%F4%90%80%80", "é%A9"]


def _rows(seed: int, count: int) -> Iterator[str | None]:
    chosen = random.Random(seed)
    for number in range(count):
        row = chosen.choices(_PIECES, k=chosen.randrange(30))
        if number % 3 == 0:
            row.insert(chosen.randrange(len(row) + 1), chosen.choice(_BAD))
        yield None if number % 50 == 49 else "".join(row)


def _oracle(rows: list[str | None], layout: str = "string") -> None:
    column = layouts(rows)[layout]
    for details in (True, False):
        results, expected = (
            works.text(column, "decode", details=details, threads=1, views=True) for works in (engine(), rowwise)
        )
        assert to_rows(results) == to_rows(rowwise.to_pyarrow(expected))


@pytest.mark.parametrize("layout", layouts(["a", "b"]))
def test_decode_gives_the_rows_of_the_oracle(layout: str) -> None:
    _oracle(list(_rows(len(layout), 4000)), layout)


@pytest.mark.parametrize("layout", ["string", "string_view"])
def test_escapes_at_every_offset_are_decoded(layout: str) -> None:
    """An escape may cross the blocks that the native kernel reads at once."""
    pieces = ["", "%41", "%c3%a9", "%zz", "%", "%4", "%FF", "é"]
    _oracle(["a" * before + piece + "f" * after for piece in pieces for before in range(70) for after in (0, 1, 2, 33)],
            layout)  # fmt: skip


def test_rows_that_consist_of_escapes() -> None:
    text = "".join(map(chr, range(0x20, 0x250)))
    _oracle([quote(text[:size].encode(), safe="")[count:] for size in range(80) for count in (0, 1, 2)])
    _oracle(["".join(f"%{octet:02x}" for octet in (high, 0x80, 0x80)) for high in range(256)])
