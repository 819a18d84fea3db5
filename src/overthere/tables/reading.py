"""Reads tables in batches: Parquet, CSV and Arrow, by file suffix.

CSV is text: every column is read as text, an empty field is null and `""` is the empty text.  Views are read as
large text.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, NamedTuple

from overthere.stores.model import is_object
from overthere.tables.formats import READ, suffix

__all__ = ["Source", "open_source", "pieces"]

_ROWS = 65_536
_BYTES = 32 << 20
"""A batch has at most so many rows, and about so many bytes."""
_BLOCK = 8 << 20
"""pyarrow reads CSV in blocks of so many bytes; a row must fit into one."""
_STREAM = b"\xff\xff\xff\xff"
"""Before each message of an Arrow stream."""
_LONG = f"a row is longer than {_BLOCK >> 20} MiB, or a quote is not closed"


class Source(NamedTuple):
    """A table that is read: its columns, its batches (each with the bytes read by then), and its size in bytes."""

    schema: Any
    batches: Iterator[tuple[Any, int]]
    size: int | None


@contextmanager
def open_source(name: str, separator: str = ",") -> Iterator[Source]:
    """The table of a file or of the URI of an object; of standard input (CSV or an Arrow stream) for `-`.

    separator: what divides the fields of CSV, one of `SEPARATORS`.

    Raises: OSError, ValueError or an Arrow exception for what is no such table.
    """
    if name == "-":
        held: Any = sys.stdin.buffer
        file = io.BufferedReader(getattr(held, "raw", held), 1 << 20)
        try:
            yield _standard_input(file, separator)
        finally:
            file.detach()
    elif is_object(name):
        from overthere.stores.opening import open_object

        with open_object(name) as far:
            yield _parse_object(name, far, separator)
    else:
        yield _parse_source(name, separator)


def _parse_object(name: str, file: Any, separator: str) -> Source:
    """A table in a store.  Of text pyarrow gets pieces: its threads would call this file while Python ends."""
    import pyarrow as pa

    form, size = suffix(name, READ), file.seek(0, os.SEEK_END)
    file.seek(0)
    match form:
        case ".parquet":
            return _parquet(pa.PythonFile(file, "r"), size)
        case ".arrow" | ".feather":
            return _arrow(pa.PythonFile(file, "r"), size)
        case ".arrows":
            schema, batches = _stream(file)
        case _:
            text: Any = gzip.GzipFile(fileobj=file) if form == ".csv.gz" else file
            schema = _header(text, separator)
            batches = _piped_rows(text, schema, separator)
    return Source(schema, ((batch, file.tell()) for batch in batches), size)


def _parse_source(name: str, separator: str = ",") -> Source:
    import pyarrow as pa

    form, size = suffix(name, READ), os.stat(name).st_size
    raw = pa.OSFile(name)
    match form:
        case ".parquet":
            return _parquet(raw, size)
        case ".arrow" | ".feather":
            return _arrow(raw, size)
        case ".arrows":
            if raw.read(4) != _STREAM:
                raise ValueError("not an Arrow stream")
            raw.seek(0)
            schema, batches = _stream(raw)
        case _:
            file = pa.BufferedInputStream(raw, 1 << 20)
            if form == ".csv.gz":
                file = pa.CompressedInputStream(file, "gzip")
            schema = _header(file, separator)
            batches = _rows(file, schema, separator=separator)
    return Source(schema, ((batch, raw.tell()) for batch in batches), size)


def _standard_input(file: io.BufferedReader, separator: str) -> Source:
    start = file.peek(6)
    if start.startswith((b"PAR1", b"ARROW1")):
        raise ValueError("Parquet and Arrow files cannot be read from a pipe: name the file")
    if start.startswith(_STREAM[:1]):  # no UTF-8 does
        schema, batches = _stream(file)
    else:
        schema = _header(file, separator)
        batches = _piped_rows(file, schema, separator)
    return Source(schema, ((batch, 0) for batch in batches), None)


def _parquet(raw: Any, size: int) -> Source:
    import pyarrow.parquet as pq

    # With a buffer a column chunk is read piece by piece: a row group of any size takes little memory.
    table = pq.ParquetFile(raw, pre_buffer=False, buffer_size=1 << 20)
    rows = table.metadata.num_rows
    weight = sum(table.metadata.row_group(i).total_byte_size for i in range(table.num_row_groups))

    def batches() -> Iterator[tuple[Any, int]]:
        done = 0
        if not table.num_row_groups:
            return  # pyarrow before 20 looks for one
        for batch in table.iter_batches(max(1, min(_ROWS, rows * _BYTES // max(weight, 1)))):
            done += batch.num_rows
            for piece in pieces(batch):
                yield piece, size * done // max(rows, 1)

    return Source(_without_views(table.schema_arrow), batches(), size)


def _arrow(raw: Any, size: int) -> Source:
    import pyarrow as pa

    table = pa.ipc.open_file(raw)

    def batches() -> Iterator[tuple[Any, int]]:
        for i in range(table.num_record_batches):
            for piece in _check_batch(table.get_batch(i)):
                yield piece, size * (i + 1) // table.num_record_batches

    return Source(_without_views(table.schema), batches(), size)


def _stream(raw: Any) -> tuple[Any, Iterator[Any]]:
    import pyarrow as pa

    table = pa.ipc.open_stream(raw)
    return _without_views(table.schema), (piece for batch in table for piece in _check_batch(batch))


def _check_batch(batch: Any) -> Iterator[Any]:
    # Arrow's formats are memory as it lies: what does not check its offsets can be led anywhere by them.
    batch.validate(full=True)
    yield from pieces(batch)


def pieces(batch: Any) -> Iterator[Any]:
    """A batch without views, in pieces of a bounded size."""
    import pyarrow as pa

    schema = _without_views(batch.schema)
    if not schema.equals(batch.schema):
        columns = [c.cast(field.type) for c, field in zip(batch.columns, schema, strict=True)]
        batch = pa.RecordBatch.from_arrays(columns, schema=schema)
    count = max(1, -(-batch.num_rows // _ROWS), min(batch.num_rows, -(-batch.nbytes // _BYTES)))
    step = -(-batch.num_rows // count)
    for start in range(0, batch.num_rows, step or 1):
        yield batch.slice(start, step)


def _without_views(schema: Any) -> Any:
    """The schema without views: a slice of a column of views holds, and would write, the text of all its rows."""
    import pyarrow as pa

    for place, field in enumerate(schema):
        if pa.types.is_string_view(field.type):
            schema = schema.set(place, field.with_type(pa.large_string()))
        elif pa.types.is_binary_view(field.type):
            schema = schema.set(place, field.with_type(pa.large_binary()))
    return schema


def _header(file: Any, separator: str = ",") -> Any:
    """The first row of a CSV file, which is then read as far as that: columns of text."""
    import pyarrow as pa

    def lines() -> Iterator[str]:
        line = bytearray()
        # pyarrow's files have no readline, and none of their bytes may be lost to what reads on.
        while byte := file.read(1):
            line += byte
            if byte == b"\n":
                yield line.decode("utf-8-sig")
                line.clear()
            elif len(line) > 1 << 20:
                raise ValueError("the header is longer than 1 MiB")
        if line:
            yield line.decode("utf-8-sig")

    try:
        names = next(csv.reader(lines(), delimiter=separator, strict=True), None)
    except csv.Error as error:
        raise ValueError(f"the header is not CSV: {error}") from None
    except UnicodeDecodeError:
        raise ValueError("the header is not UTF-8") from None
    if names is None:
        raise ValueError("the file is empty, so the header is missing")
    return pa.schema([(name, pa.string()) for name in names])


def _rows(file: Any, schema: Any, before: int = 0, separator: str = ",") -> Iterator[Any]:
    """The rows after the header, and after `before` rows."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    ragged: list[Any] = []

    def refuse(row: Any) -> str:
        ragged.append(row)
        return "error"

    # One thread: with more pyarrow does not number its rows.
    read = arrow.ReadOptions(column_names=schema.names, block_size=_BLOCK, use_threads=False)
    # A blank line is a row where there is one column, and nothing where there are more.
    parse = arrow.ParseOptions(
        delimiter=separator, newlines_in_values=True, ignore_empty_lines=len(schema) > 1, invalid_row_handler=refuse
    )
    convert = arrow.ConvertOptions(
        column_types=schema, null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False
    )
    try:
        for batch in arrow.open_csv(file, read, parse, convert):
            yield from pieces(batch)
    except pa.ArrowInvalid as error:
        message = str(error)
        if ragged:
            row = ragged[0]
            number = f"row {before + row.number:,}"
            message = f"{number} has {row.actual_columns:,} fields, the header {row.expected_columns:,}"
        elif "straddl" in message:
            message = _LONG
        elif where := re.match(r"In CSV column #(\d+): Row #(\d+): .*invalid UTF8", message):
            message = f'row {before + int(where[2]):,}, column "{schema.names[int(where[1])]}": not UTF-8'
        elif message.startswith("Empty CSV file"):
            return  # a header alone
        raise ValueError(message) from None


def _piped_rows(file: IO[bytes], schema: Any, separator: str) -> Iterator[Any]:
    """The same from a pipe, which pyarrow itself cannot open.

    It reads ahead in threads of its own; were it given Python's file, these would call Python while it ends.
    """
    import pyarrow as pa

    rows, rest = 0, b""
    while block := file.read(_BLOCK):
        rest += block
        end = _last_row(rest, separator)
        if end == 0 and len(rest) > _BLOCK:
            raise ValueError(_LONG)
        for batch in _rows(pa.BufferReader(rest[:end]), schema, rows, separator):
            rows += batch.num_rows
            yield batch
        rest = rest[end:]
    yield from _rows(pa.BufferReader(rest), schema, rows, separator)


_QUOTED = {
    ",": re.compile(rb'(?:\A|(?<=[,\r\n]))"[^"]*(?:""[^"]*)*(?:"|\Z)'),
    ";": re.compile(rb'(?:\A|(?<=[;\r\n]))"[^"]*(?:""[^"]*)*(?:"|\Z)'),
    "|": re.compile(rb'(?:\A|(?<=[|\r\n]))"[^"]*(?:""[^"]*)*(?:"|\Z)'),
    "\t": re.compile(rb'(?:\A|(?<=[\t\r\n]))"[^"]*(?:""[^"]*)*(?:"|\Z)'),
}
SEPARATORS = tuple(_QUOTED)
"""What may divide the fields of CSV."""


def _last_row(block: bytes, separator: str = ",") -> int:
    """Where the last row of a block ends, 0 if none does: after a line feed that is not quoted."""
    end = start = 0
    for quoted in _QUOTED[separator].finditer(block):
        end = max(end, block.rfind(b"\n", start, quoted.start()) + 1)
        start = quoted.end()
    return max(end, block.rfind(b"\n", start) + 1)
