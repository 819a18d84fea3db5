"""Tables as text, CSV and JSON lines, out of Arrow columns.

CSV: text stands in quotes, undefined is an empty field and empty is `""`; lines end in a line feed.
JSON lines: one object a line; undefined is null.  Both are UTF-8 and hold every character as it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import IO, Any

from overthere.columns.cells import guarded
from overthere.columns.plain import compute
from overthere.tables.formats import Layout

__all__ = ["encoder", "pieces", "put"]

PIECE = 32 << 20
"""Octets of a batch that are made into text at once."""
_ESCAPED = bytes([*range(32), *b'"\\'])
"""What JSON strings hold escaped (RFC 8259 7)."""

Encoder = Callable[[Any], Any]


def encoder(layout: Layout) -> tuple[bytes, Encoder]:
    """What a text begins with, and the function that makes the rows of a batch text, as something of octets."""
    if layout.form.startswith(".jsonl"):
        return b"", _json_lines
    if layout.bare:
        header = (",".join(layout.columns.names) + "\n").encode()
    else:
        none = layout.columns.empty_table()
        header = bytes(_csv(guarded(none) if layout.csv_safe else none, header=True))
    return header, (lambda batch: _csv(guarded(batch))) if layout.csv_safe else _csv


def _csv(batch: Any, header: bool = False) -> Any:
    import pyarrow as pa
    from pyarrow import csv

    sink = pa.BufferOutputStream()
    csv.write_csv(batch, sink, csv.WriteOptions(include_header=header))
    return sink.getvalue()


def _json_lines(batch: Any) -> Any:
    import pyarrow as pa

    pc = compute()
    parts: list[Any] = []
    between = "{"
    for place, field in enumerate(batch.schema):
        column = batch.column(place)
        text = pa.types.is_string(field.type)
        if not (text or pa.types.is_boolean(field.type) or pa.types.is_integer(field.type)):
            raise pa.ArrowNotImplementedError(f"{field.type} as JSON")
        between += f"{', ' if place else ''}{json.dumps(field.name, ensure_ascii=False)}: "
        if column.null_count == len(column):
            between += "null"
            continue
        column = _escaped(column) if text else column.cast(pa.string())
        if text and not column.null_count:
            parts += (between + '"', column)
            between = '"'
            continue
        if text:
            column = pc.binary_join_element_wise('"', column, '"', "")
        parts += (between, pc.fill_null(column, "null"))
        between = ""
    if not parts:
        return (between + "}\n").encode() * batch.num_rows
    return _octets(pc.binary_join_element_wise(*parts, between + "}\n", ""))


def _octets(column: Any) -> memoryview:
    """All that a column of text holds, one after another."""
    _, offsets, data = column.buffers()
    if data is None:
        return memoryview(b"")
    at = memoryview(offsets).cast("i")
    return memoryview(data)[at[column.offset] : at[column.offset + len(column)]]


def _escaped(column: Any) -> Any:
    """The column as the content of JSON strings; where nothing is to be escaped, itself."""
    import pyarrow as pa

    pc = compute()
    octets = bytes(_octets(column))
    if len(octets.translate(None, _ESCAPED)) == len(octets):
        return column
    mask = pc.fill_null(pc.match_substring_regex(column, r'[\x00-\x1f"\\]'), False)
    escaped = [json.dumps(text, ensure_ascii=False)[1:-1] for text in column.filter(mask).to_pylist()]
    return pc.replace_with_mask(column, mask, pa.array(escaped, pa.string()))


def pieces(batch: Any) -> Iterator[Any]:
    """A batch in pieces whose text has a bounded size, but for rows that are larger themselves."""
    if batch.nbytes <= PIECE or batch.num_rows <= 1:
        yield batch
        return
    half = batch.num_rows // 2
    yield from pieces(batch.slice(0, half))
    yield from pieces(batch.slice(half))


def put(file: IO[bytes], data: Any) -> int:
    """Write all of it; how many octets it was."""
    view = memoryview(data)
    size = view.nbytes
    while view.nbytes:
        view = view[file.write(view) :]
    return size
