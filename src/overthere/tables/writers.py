"""Format writers: write batches to an open file, as lines of text or framed by pyarrow.

CSV: text stands in quotes, undefined is an empty field and empty is `""`; lines end in a line feed.
JSON lines: one object a line; undefined is null.  Both are UTF-8 and hold every character as it is.
"""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any

from overthere.tables.arrays import to_array
from overthere.tables.checkpoint import KEY, Checkpoint
from overthere.tables.formats import Layout
from overthere.tables.reading import pieces

__all__ = ["FormatWriter", "encoder", "open_format_writer", "write_all"]

ROWS = 1 << 16
BYTES = 16 << 20
"""A row group has at least so many rows, or about so many octets in memory."""
_ESCAPED = bytes([*range(32), *b'"\\'])
"""What JSON strings hold escaped (RFC 8259 7)."""

Encoder = Callable[[Any], Any]


def encoder(layout: Layout) -> tuple[bytes, Encoder]:
    """What a text begins with, and the function that makes the rows of a batch text, as something of octets."""
    if layout.form.startswith(".jsonl"):
        import pyarrow as pa

        kinds = pa.types
        for field in layout.columns:
            if not (kinds.is_string(field.type) or kinds.is_boolean(field.type) or kinds.is_integer(field.type)):
                raise pa.ArrowNotImplementedError(f"{field.type} as JSON")
        return b"", _json_lines
    from overthere.columns.cells import escape_cells

    if layout.bare:
        header = (",".join(layout.columns.names) + "\n").encode()
    else:
        none = layout.columns.empty_table()
        header = bytes(_csv(escape_cells(none) if layout.csv_safe else none, header=True))
    return header, (lambda batch: _csv(escape_cells(batch))) if layout.csv_safe else _csv


def _csv(batch: Any, header: bool = False) -> Any:
    import pyarrow as pa
    from pyarrow import csv

    sink = pa.BufferOutputStream()
    csv.write_csv(batch, sink, csv.WriteOptions(include_header=header))
    return sink.getvalue()


def _json_lines(batch: Any) -> Any:
    import pyarrow as pa

    from overthere.columns.rowwise import compute

    pc = compute()

    def scalar(text: str) -> Any:
        return to_array([text], pa.string())[0]

    parts: list[Any] = []
    between = "{"
    for place, field in enumerate(batch.schema):
        column = batch.column(place)
        text = pa.types.is_string(field.type)
        between += f"{', ' if place else ''}{json.dumps(field.name, ensure_ascii=False)}: "
        if column.null_count == len(column):
            between += "null"
            continue
        column = _escape_json(column) if text else column.cast(pa.string())
        if text and not column.null_count:
            parts += (scalar(between + '"'), column)
            between = '"'
            continue
        if text:
            column = pc.binary_join_element_wise(scalar('"'), column, scalar('"'), scalar(""))
        parts += (scalar(between), pc.fill_null(column, scalar("null")))
        between = ""
    if not parts:
        return (between + "}\n").encode() * batch.num_rows
    return _octets(pc.binary_join_element_wise(*parts, scalar(between + "}\n"), scalar("")))


def _octets(column: Any) -> memoryview:
    """All that a column of text holds, one after another."""
    _, offsets, data = column.buffers()
    if data is None:
        return memoryview(b"")
    at = memoryview(offsets).cast("i")
    return memoryview(data)[at[column.offset] : at[column.offset + len(column)]]


def _escape_json(column: Any) -> Any:
    """The column as the content of JSON strings; where nothing is to be escaped, itself."""
    import pyarrow as pa

    from overthere.columns.rowwise import compute

    pc = compute()
    octets = bytes(_octets(column))
    if len(octets.translate(None, _ESCAPED)) == len(octets):
        return column
    mask = pc.fill_null(pc.match_substring_regex(column, r'[\x00-\x1f"\\]'), to_array([False], pa.bool_())[0])
    escaped = [json.dumps(text, ensure_ascii=False)[1:-1] for text in column.filter(mask).to_pylist()]
    return pc.replace_with_mask(column, mask, to_array(escaped, pa.string()))


def write_all(file: IO[bytes], data: Any) -> int:
    """Write all of it; how many octets it was."""
    view = memoryview(data)
    size = view.nbytes
    while view.nbytes:
        view = view[file.write(view) :]
    return size


class FormatWriter:
    """Writes CSV or JSON lines to a file that others have opened, and close."""

    def __init__(self, file: Any, layout: Layout) -> None:
        self.file: Any
        self.zipped: bool
        self.file, self.zipped = file, layout.form.endswith(".gz")
        self.encode: Encoder
        header, self.encode = encoder(layout)
        self._put(header)

    def _put(self, data: Any) -> None:
        write_all(self.file, gzip.compress(data, 6, mtime=0) if self.zipped else data)

    def write(self, batch: Any) -> None:
        for piece in pieces(batch):
            self._put(self.encode(piece))

    def end(self, mark: Checkpoint | None = None) -> None:
        """What the format has at its end, with a mark in it (Parquet); then all is handed to the system."""
        self.file.flush()

    def drop(self) -> None:
        """The table is given up.  Raises nothing."""


class _ArrowWriter(FormatWriter):
    """Parquet and Arrow files, which end with an index of their row groups; Arrow streams, batch by batch."""

    def __init__(self, file: Any, layout: Layout) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        # pyarrow takes no notice of what was written short: of a raw file, the end would be lost on a full disk.
        self.file: IO[bytes] = io.BufferedWriter(file) if isinstance(file, io.RawIOBase) else file
        self.form, columns = layout.form, layout.columns
        self.held: list[Any] = []
        self.count = self.size = 0
        if self.form == ".parquet":
            shared: Any = [name for name in columns.names if name not in layout.varied] if layout.varied else True
            self.pen = pq.ParquetWriter(
                self.file, columns, compression="zstd", use_dictionary=shared, write_statistics=shared
            )
        else:
            self.pen = (pa.ipc.new_stream if self.form == ".arrows" else pa.ipc.new_file)(self.file, columns)

    def write(self, batch: Any) -> None:
        """Small row groups make a poor file: batches are held back until there is enough of them."""
        self.held.append(batch)
        self.count += batch.num_rows
        self.size += batch.nbytes
        if self.count >= ROWS or self.size >= BYTES or self.form == ".arrows":
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa

        if self.count:
            table = pa.Table.from_batches(self.held)
            # Parquet takes the batches as they are for one row group; Arrow would write each.
            self.pen.write_table(table if self.form == ".parquet" else table.combine_chunks(), table.num_rows)
        self.held, self.count, self.size = [], 0, 0

    def end(self, mark: Checkpoint | None = None) -> None:
        self._flush()
        if mark is not None:
            self.pen.add_key_value_metadata({KEY: mark.to_text()})
        self.pen.close()
        self.file.flush()

    def drop(self) -> None:
        with suppress(Exception):
            self.pen.close()
        with suppress(OSError):
            self.file.close()


def open_format_writer(file: Any, layout: Layout) -> FormatWriter:
    """What writes a format, from its beginning.  `file` takes octets: one of Python or of pyarrow."""
    return (FormatWriter if layout.form.startswith((".csv", ".jsonl")) else _ArrowWriter)(file, layout)
