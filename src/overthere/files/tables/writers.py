"""Format writers: write batches to an open file, as lines of text or framed by pyarrow.

CSV: text is in quotes, undefined is an empty field and empty is `""`; lines end in a line feed.
JSON lines: one object per line; undefined is null.  Both are UTF-8 and write characters as they are.
"""

from __future__ import annotations

import gzip
import io
import json
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import IO, Any

from overthere.files.tables.arrays import to_array, to_arrow
from overthere.files.tables.checkpoint import KEY, Checkpoint
from overthere.files.tables.formats import Layout, OwnColumns, TableEncoder
from overthere.ground.extras import brought_by

ROWS = 1 << 16
BYTES = 16 << 20
"""A row group is written once it has this many rows, or about this many bytes in memory."""
_ESCAPED_BYTES = bytes([*range(32), *b'"\\'])
"""The bytes that JSON strings escape (RFC 8259 7)."""

Encoder = Callable[[Any], Iterator[Any]]
"""Turns the rows of a batch into bytes, in pieces of a limited size."""


def make_encoder(layout: Layout) -> tuple[bytes, Encoder]:
    """Return the first bytes of a text table, and the function that encodes its batches."""
    if isinstance(layout.columns, OwnColumns):
        if layout.form.startswith(".jsonl"):
            return b"", lambda batch: iter([batch.json_lines()])
        return (",".join(layout.columns.names) + "\n").encode(), lambda batch: iter([batch.csv_lines(layout.csv_safe)])
    if layout.form.startswith(".jsonl"):
        import pyarrow as pa

        types = pa.types
        for field in layout.columns:
            if not (types.is_string(field.type) or types.is_boolean(field.type) or types.is_integer(field.type)):
                raise pa.ArrowNotImplementedError(f"{field.type} as JSON")
        return b"", partial(_write_pieces, encode=_to_json_lines)
    from overthere.columns.cells import escape_cells

    if layout.bare:
        header = (",".join(layout.columns.names) + "\n").encode()
    else:
        empty_table = layout.columns.empty_table()
        header = bytes(_to_csv(escape_cells(empty_table) if layout.csv_safe else empty_table, header=True))
    return header, partial(
        _write_pieces, encode=(lambda batch: _to_csv(escape_cells(batch))) if layout.csv_safe else _to_csv
    )


def _write_pieces(batch: Any, encode: Callable[[Any], Any]) -> Iterator[Any]:
    from overthere.files.tables.reading import split_batch

    return map(encode, split_batch(to_arrow(batch)))


def _to_csv(batch: Any, header: bool = False) -> Any:
    import pyarrow as pa
    from pyarrow import csv

    sink = pa.BufferOutputStream()
    csv.write_csv(batch, sink, csv.WriteOptions(include_header=header))
    return sink.getvalue()


def _to_json_lines(batch: Any) -> Any:
    import pyarrow as pa

    from overthere.columns.rowwise import compute

    pc = compute()

    def scalar(text: str) -> Any:
        return to_array([text], pa.string())[0]

    parts: list[Any] = []
    separator = "{"
    for index, field in enumerate(batch.schema):
        column = batch.column(index)
        is_text = pa.types.is_string(field.type)
        separator += f"{', ' if index else ''}{json.dumps(field.name, ensure_ascii=False)}: "
        if column.null_count == len(column):
            separator += "null"
            continue
        column = _escape_json(column) if is_text else column.cast(pa.string())
        if is_text and not column.null_count:
            parts += (scalar(separator + '"'), column)
            separator = '"'
            continue
        if is_text:
            column = pc.binary_join_element_wise(scalar('"'), column, scalar('"'), scalar(""))
        parts += (scalar(separator), pc.fill_null(column, scalar("null")))
        separator = ""
    if not parts:
        return (separator + "}\n").encode() * batch.num_rows
    return _get_text_bytes(pc.binary_join_element_wise(*parts, scalar(separator + "}\n"), scalar("")))


def _get_text_bytes(column: Any) -> memoryview:
    """Return the bytes of all texts of a column, without separators."""
    _, offsets, data = column.buffers()
    if data is None:
        return memoryview(b"")
    positions = memoryview(offsets).cast("i")
    return memoryview(data)[positions[column.offset] : positions[column.offset + len(column)]]


def _escape_json(column: Any) -> Any:
    """Return the column as the content of JSON strings; unchanged if nothing needs an escape."""
    import pyarrow as pa

    from overthere.columns.rowwise import compute

    pc = compute()
    data = bytes(_get_text_bytes(column))
    if len(data.translate(None, _ESCAPED_BYTES)) == len(data):
        return column
    mask = pc.fill_null(pc.match_substring_regex(column, r'[\x00-\x1f"\\]'), to_array([False], pa.bool_())[0])
    escaped = [json.dumps(text, ensure_ascii=False)[1:-1] for text in column.filter(mask).to_pylist()]
    return pc.replace_with_mask(column, mask, to_array(escaped, pa.string()))


def write_all(file: IO[bytes], data: Any) -> int:
    """Write all data; return its number of bytes."""
    view = memoryview(data)
    size = view.nbytes
    while view.nbytes:
        view = view[file.write(view) :]
    return size


class FormatWriter:
    """Writes CSV or JSON lines to a file that the caller opens and closes."""

    def __init__(self, file: Any, layout: Layout) -> None:
        self.file: Any
        self.is_gzip: bool
        self.file, self.is_gzip = file, layout.form.endswith(".gz")
        self.encode: Encoder
        header, self.encode = make_encoder(layout)
        self._write_data(header)

    def _write_data(self, data: Any) -> None:
        write_all(self.file, gzip.compress(data, 6, mtime=0) if self.is_gzip else data)

    def write(self, batch: Any) -> None:
        for data in self.encode(batch):
            self._write_data(data)

    def end(self, mark: Checkpoint | None = None) -> None:
        """Write the end of the format, with a mark in it (Parquet), and flush the file."""
        self.file.flush()

    def drop(self) -> None:
        """Abandon the table.  Raises nothing."""


class _GroupWriter(FormatWriter):
    """Parquet and Arrow files, which end with an index of their row groups; Arrow streams, batch by batch.

    Batches are buffered until they fill a row group: small row groups make a poor file.
    """

    def __init__(self, file: Any, layout: Layout) -> None:
        # pyarrow ignores short writes: with a raw file on a full disk, the end would be lost.
        self.file: Any = io.BufferedWriter(file) if isinstance(file, io.RawIOBase) else file
        self.form: str = layout.form
        self.has_groups: bool = self.form != ".arrows"
        self.batches: list[Any] = []
        self.row_count = self.byte_count = 0

    def write(self, batch: Any) -> None:
        self.batches.append(batch)
        self.row_count += batch.num_rows
        self.byte_count += batch.nbytes
        if self.row_count >= ROWS or self.byte_count >= BYTES or not self.has_groups:
            self._flush()

    def _flush(self) -> None:
        batches, has_rows = self.batches, self.row_count > 0
        self.batches, self.row_count, self.byte_count = [], 0, 0
        if has_rows:
            self._write_group(batches)

    @abstractmethod
    def _write_group(self, batches: list[Any]) -> None: ...

    @abstractmethod
    def _write_end(self, metadata: dict[str, str]) -> None: ...

    def end(self, mark: Checkpoint | None = None) -> None:
        self._flush()
        self._write_end({} if mark is None else {KEY: mark.to_text()})
        self.file.flush()


class _NativeWriter(_GroupWriter):
    """Writes batches that encode themselves."""

    def __init__(self, file: Any, layout: Layout, encoder: TableEncoder) -> None:
        super().__init__(file, layout)
        self.encoder: TableEncoder = encoder

    def _write_group(self, batches: list[Any]) -> None:
        write_all(self.file, self.encoder.write(batches))

    def _write_end(self, metadata: dict[str, str]) -> None:
        write_all(self.file, self.encoder.end([*metadata.items()]))


class _ArrowWriter(_GroupWriter):
    """Writes batches by pyarrow."""

    def __init__(self, file: Any, layout: Layout) -> None:
        with brought_by("columns"):
            import pyarrow as pa
            import pyarrow.parquet as pq
        super().__init__(file, layout)
        columns = layout.schema
        if self.form == ".parquet":
            shared: Any = [name for name in columns.names if name not in layout.varied] if layout.varied else True
            self.arrow_writer = pq.ParquetWriter(
                self.file, columns, compression="zstd", use_dictionary=shared, write_statistics=shared
            )
        else:
            self.arrow_writer = (pa.ipc.new_stream if self.form == ".arrows" else pa.ipc.new_file)(self.file, columns)

    def write(self, batch: Any) -> None:
        super().write(to_arrow(batch))

    def _write_group(self, batches: list[Any]) -> None:
        import pyarrow as pa

        table = pa.Table.from_batches(batches)
        # Parquet writes the batches as one row group; Arrow would write each by itself.
        self.arrow_writer.write_table(table if self.form == ".parquet" else table.combine_chunks(), table.num_rows)

    def _write_end(self, metadata: dict[str, str]) -> None:
        if metadata:
            self.arrow_writer.add_key_value_metadata(metadata)
        self.arrow_writer.close()

    def drop(self) -> None:
        with suppress(OSError):
            self.file.close()
        with suppress(Exception):
            self.arrow_writer.close()  # now it cannot write an end


def open_format_writer(file: Any, layout: Layout) -> FormatWriter:
    """Return the writer of a format, at its start.  file: a binary file of Python or of pyarrow."""
    if layout.form.startswith((".csv", ".jsonl")):
        return FormatWriter(file, layout)
    if isinstance(layout.columns, OwnColumns) and (encoder := layout.columns.encoder(layout)) is not None:
        return _NativeWriter(file, layout, encoder)
    return _ArrowWriter(file, layout)
