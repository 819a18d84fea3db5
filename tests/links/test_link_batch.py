"""Batches of the link table: the native kernel and Python give the same, and other programs read the files."""

from __future__ import annotations

import base64
import csv
import io
import json
import pickle
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overthere import kernel
from overthere.columns.cells import escape
from overthere.files.tables.arrays import to_arrow
from overthere.links.model import Link
from overthere.links.report.batch import COLUMNS, Batch, links, schema, to_batch
from overthere.links.report.selection import CHOICES
from overthere.links.report.summary import Summary
from overthere.links.report.table import layout

native = pytest.mark.skipif(kernel.name != "native", reason="the native kernel is absent or not asked for")

HOSTS = (
    "",
    "//",
    "//h",
    "//H",
    "//h.example:80",
    "//u@h",
    "//[::1]",
    "//[FE80::A]",
    "//%41b",
    "//%c3%a9",
    "//h%2f",
    "//[FE80::A%25Eth0]",
    "//[FE80::A%Eth0]",
)
URIS = st.builds(
    "{}{}{}".format, st.sampled_from(("http:", "HTTP:", "mailto:", "x:", "")), st.sampled_from(HOSTS), st.just("/p?q")
)
TEXTS = st.one_of(
    st.none(), st.text(max_size=6), st.sampled_from(("=1", "'@x", "＝a", '"', "a\nb", "\\\x00\x1f\x7f", "\U0010ffff"))
)
LINKS = st.builds(
    Link,
    source=st.text(max_size=3),
    base=st.one_of(st.none(), URIS),
    base_from=st.sampled_from((None, "content", "retrieval")),
    reference=TEXTS,
    where=TEXTS,
    target=st.one_of(st.none(), URIS),
    fragment=TEXTS,
    same_document=st.sampled_from((None, True, False)),
    normal=TEXTS,
    error=st.sampled_from((None, "unreadable", "non-ascii", "empty")),
    error_at=st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)),
    part=TEXTS,
    audit=st.sampled_from((None, "address-loopback", "a b")),
    browser=TEXTS,
)


def parquet_file(batches: Sequence[Any]) -> bytes:
    """A Parquet file with a row group for each batch."""
    return encoded([[batch] for batch in batches], ".parquet")


def encoded(groups: Sequence[list[Any]], form: str) -> bytes:
    """A table of groups of batches, by the native encoder of its format."""
    encoder = COLUMNS.encoder(layout()._replace(form=form))
    assert encoder is not None
    return b"".join([*map(encoder.write, groups), encoder.end([("k", "v")])])


@given(st.lists(LINKS, max_size=12), st.lists(st.sampled_from(sorted(CHOICES)), max_size=3), st.integers(0, 14))
@settings(deadline=None)
def test_native_batches_equal_python_batches(rows: list[Link], names: list[str], start: int) -> None:
    plain, native = Batch(rows), to_batch(rows)
    assert list(links(native)) == rows
    assert native.num_rows == len(rows)
    for one, other in (
        (plain, native),
        (plain.slice(start), native.slice(start)),
        (plain.select(names), native.select(names)),
    ):
        assert list(links(one)) == list(links(other))
        assert one.pairs() == other.pairs()
        assert one.counts() == other.counts()
        assert one.json_lines() == other.json_lines()
        assert one.csv_lines(False) == other.csv_lines(False)
        assert one.csv_lines(True) == other.csv_lines(True)
        assert to_arrow(one).equals(to_arrow(other))
        assert all(one.column(name) == other.column(name) for name in Link._fields)
    for batch in (plain, native):
        with pytest.raises(ValueError, match="no column nothing"):
            batch.column("nothing")
    texts: list[str | None] = [None, *map(str, rows)][: len(rows)]
    assert list(links(plain.with_texts("audit", texts))) == list(links(native.with_texts("audit", texts)))
    assert list(links(pickle.loads(pickle.dumps(native)))) == rows
    assert COLUMNS.from_arrow(to_arrow(native)).links() == native.links()


@given(st.lists(LINKS, max_size=12))
@settings(deadline=None)
def test_text_formats_are_read_back(rows: list[Link]) -> None:
    """By the json and csv modules of the standard library."""
    batch = to_batch(rows)
    assert [json.loads(line) for line in batch.json_lines().split(b"\n")[:-1]] == [row._asdict() for row in rows]
    for is_safe in (False, True):
        read = list(csv.reader(io.StringIO(batch.csv_lines(is_safe).decode(), newline="")))
        texts = [[_shown(value, is_safe) for value in row] for row in rows]
        assert read == texts


def _shown(value: object, is_safe: bool) -> str:
    if isinstance(value, str):
        return escape(value) if is_safe else value
    return "" if value is None else str(value).lower()


@native
@given(st.lists(st.lists(LINKS, max_size=9), max_size=3))
@settings(deadline=None)
def test_parquet_is_read_back(groups: list[list[Link]]) -> None:
    batches = [to_batch(rows) for rows in groups]
    file = pq.ParquetFile(io.BytesIO(content := parquet_file(batches)))
    assert [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)] == [*map(len, groups)]
    assert file.metadata.metadata[b"k"] == b"v"
    table = pq.read_table(io.BytesIO(content))
    assert table.schema.equals(schema(), check_metadata=True)
    assert [tuple(row.values()) for row in table.to_pylist()] == [tuple(row) for rows in groups for row in rows]


@native
@given(st.lists(st.lists(st.lists(LINKS, max_size=5), max_size=3), max_size=3))
@settings(deadline=None)
def test_arrow_files_and_streams_are_read_back(groups: list[list[list[Link]]]) -> None:
    """Each group of batches is one record batch, as pyarrow writes them, also if the batches begin within an array."""
    batches = [
        [to_batch([*rows[:1], *rows]).slice(1) if rows else to_batch(rows) for rows in group] for group in groups
    ]
    file = pa.ipc.open_file(encoded(batches, ".arrow"))
    stream = pa.ipc.open_stream(encoded(batches, ".arrows"))
    assert file.metadata == {b"k": b"v"}
    sizes = [sum(map(len, group)) for group in groups]
    assert [file.get_batch(number).num_rows for number in range(file.num_record_batches)] == sizes
    for table in (file.read_all(), stream.read_all()):
        table.validate(full=True)
        assert table.schema.equals(schema(), check_metadata=True)
        rows = [row for group in groups for part in group for row in part]
        assert [tuple(row.values()) for row in table.to_pylist()] == [tuple(row) for row in rows]


@native
def test_long_and_many_texts_in_parquet() -> None:
    """A too large dictionary, pages of more than a mebibyte, a text of 20 million bytes."""
    long = [f"{number}{'x' * 65_536}" for number in range(60)]
    rows = [Link(text, text, None, text, *[None] * 9) for text in long]
    rows += [Link(str(number), "b", "c", f"r{number}", *[None] * 9) for number in range(70_000)]
    rows += [Link("é" * 10_000_000, *[None] * 12)]
    table = pq.read_table(io.BytesIO(parquet_file([to_batch(rows)])))
    assert table.column("source").to_pylist() == [row.source for row in rows]
    assert table.column("reference").to_pylist() == [row.reference for row in rows]
    group = pq.read_metadata(io.BytesIO(parquet_file([to_batch(rows[:50])]))).row_group(0)
    chunks = {group.column(number).path_in_schema: group.column(number) for number in range(group.num_columns)}
    assert {column.compression for column in chunks.values()} == {"ZSTD"}
    assert {name for name, column in chunks.items() if not column.is_stats_set} == {*layout().varied}
    assert {name for name, column in chunks.items() if not column.has_dictionary_page} >= {*layout().varied}


@native
def test_the_arrow_schema_agrees_with_the_columns() -> None:
    """If it differs, `rust/python/src/links/arrow_schema.base64` gets the text that pyarrow writes."""
    metadata = pq.read_metadata(io.BytesIO(parquet_file([]))).metadata[b"ARROW:schema"]
    assert pa.ipc.read_schema(pa.py_buffer(base64.b64decode(metadata))).equals(schema(), check_metadata=True)


@native
def test_sizes_agree_with_pyarrow() -> None:
    """Row groups are as large as those of pyarrow."""
    rows = [Link(str(number), None, "é" * (number % 5), None, *[None] * 9) for number in range(100)]
    for batch in (to_batch(rows), to_batch(rows).slice(33), to_batch([])):
        assert abs(batch.nbytes - to_arrow(batch).nbytes) <= 4 * len(Link._fields)


_EMPTY = Link("a", *[None] * 12)
LINKS_OF_A: list[dict[str, Any]] = [
    {"base_from": "retrieval", "reference": "x", "target": "http://h/x", "audit": "a b"},
    {"base_from": "retrieval", "reference": "é", "target": "http://i/%C3%A9", "error": "non-ascii", "error_at": 0},
    {"reference": ":", "error": "scheme", "error_at": 0},
]


def test_a_summary_of_batches() -> None:
    rows = [
        *(_EMPTY._replace(base="http://h/", **fields) for fields in LINKS_OF_A),
        _EMPTY._replace(error="unreadable"),
    ]
    summary = Summary()
    summary.add(to_batch(rows))
    counts = summary.to_dict()
    assert (counts["references"], counts["internal"], counts["external"], counts["mapped"], counts["unread"]) == (
        3, 1, 1, 1, 1,
    )  # fmt: skip
    assert counts["layers"] == {"retrieval": 2, "none": 1}
    assert counts["invalid"] == {"scheme": 1}
    assert counts["audit"] == {"a": 1, "b": 1}
