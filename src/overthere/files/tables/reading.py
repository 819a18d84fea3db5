"""Reads tables in batches: Parquet, CSV and Arrow, by file suffix.

CSV is text: every column is read as text, an empty field is null and `""` is the empty text.  Views are read as
large text.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import re
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from overthere.columns.rowwise import validate
from overthere.files.stores.model import is_object
from overthere.files.tables.formats import READ, suffix
from overthere.ground.extras import need

_MAX_BATCH_ROWS = 65_536
_BATCH_BYTES = 32 << 20
"""The maximum rows and the approximate bytes of a batch."""
_BLOCK_BYTES = 8 << 20
"""Bytes of the blocks in which pyarrow reads CSV; a row must fit into one."""
_STREAM_START = b"\xff\xff\xff\xff"
"""The bytes before each message of an Arrow stream."""
_LONG_ROW_MESSAGE = f"a row is longer than {_BLOCK_BYTES >> 20} MiB, or a quote is not closed"


class Source(NamedTuple):
    """A table to read: its columns, its batches (each with the bytes read so far), and its size in bytes."""

    schema: Any
    batches: Iterator[tuple[Any, int]]
    size: int | None


@contextmanager
def open_source(name: str, separator: str = ",") -> Iterator[Source]:
    """Open the table of a file, of the URI of an object, or of standard input (CSV or an Arrow stream) for `-`.

    separator: the separator of CSV fields, one of `SEPARATORS`.

    Raises: OSError, ValueError or an Arrow exception if it is not such a table; ModuleNotFoundError without the extra
    `columns`.
    """
    need("columns", "pyarrow")
    if name == "-":
        stdin: Any = sys.stdin.buffer
        file = io.BufferedReader(getattr(stdin, "raw", stdin), 1 << 20)
        try:
            yield _open_standard_input(file, separator)
        finally:
            file.detach()
    elif is_object(name):
        from overthere.files.stores.opening import open_object

        with open_object(name) as object_file:
            yield _open_object_table(name, object_file, separator)
    else:
        yield _open_file_table(name, separator)


def _open_object_table(name: str, file: Any, separator: str) -> Source:
    """Return a table in a store.  pyarrow gets text in pieces: its threads would call this file while Python ends."""
    import pyarrow as pa

    form, size = suffix(name, READ), file.seek(0, os.SEEK_END)
    file.seek(0)
    match form:
        case ".parquet":
            return _open_parquet(pa.PythonFile(file, "r"), size)
        case ".arrow" | ".feather":
            return _open_arrow(pa.PythonFile(file, "r"), size)
        case ".arrows":
            schema, batches = _open_stream(file)
        case _:
            text: Any = gzip.GzipFile(fileobj=file) if form == ".csv.gz" else file
            schema = _read_header(text, separator)
            batches = _read_blocks(text, schema, separator)
    return Source(schema, ((batch, file.tell()) for batch in batches), size)


def _open_file_table(name: str, separator: str = ",") -> Source:
    import pyarrow as pa

    form, size = suffix(name, READ), os.stat(name).st_size
    raw = pa.OSFile(name)
    match form:
        case ".parquet":
            return _open_parquet(raw, size)
        case ".arrow" | ".feather":
            return _open_arrow(raw, size)
        case ".arrows":
            if raw.read(4) != _STREAM_START:
                raise ValueError("not an Arrow stream")
            raw.seek(0)
            schema, batches = _open_stream(raw)
        case _:
            is_gzip = form == ".csv.gz"
            file = pa.CompressedInputStream(pa.BufferedInputStream(raw, 1 << 20), "gzip") if is_gzip else raw
            schema = _read_header(file, separator)
            reads_blocks = is_gzip or _has_lossy_block(name, raw.tell())
            batches = (_read_blocks if reads_blocks else _read_rows)(file, schema, separator)
    return Source(schema, ((batch, raw.tell()) for batch in batches), size)


def _open_standard_input(file: io.BufferedReader, separator: str) -> Source:
    start = file.peek(6)
    if start.startswith((b"PAR1", b"ARROW1")):
        raise ValueError("Parquet and Arrow files cannot be read from a pipe: name the file")
    if start.startswith(_STREAM_START[:1]):  # UTF-8 never does
        schema, batches = _open_stream(file)
    else:
        schema = _read_header(file, separator)
        batches = _read_blocks(file, schema, separator)
    return Source(schema, ((batch, 0) for batch in batches), None)


def _open_parquet(raw: Any, size: int) -> Source:
    import pyarrow.parquet as pq

    # With a buffer a column chunk is read in pieces: a row group of any size takes little memory.
    table = pq.ParquetFile(raw, pre_buffer=False, buffer_size=1 << 20)
    rows = table.metadata.num_rows
    total_bytes = sum(table.metadata.row_group(i).total_byte_size for i in range(table.num_row_groups))

    def batches() -> Iterator[tuple[Any, int]]:
        rows_read = 0
        if not table.num_row_groups:
            return  # pyarrow before 20 needs one
        for batch in table.iter_batches(max(1, min(_MAX_BATCH_ROWS, rows * _BATCH_BYTES // max(total_bytes, 1)))):
            rows_read += batch.num_rows
            for piece in split_batch(batch):
                yield piece, size * rows_read // max(rows, 1)

    return Source(_replace_views(table.schema_arrow), batches(), size)


def _open_arrow(raw: Any, size: int) -> Source:
    import pyarrow as pa

    table = pa.ipc.open_file(raw)
    dictionaries: dict[int, Any] = {}

    def batches() -> Iterator[tuple[Any, int]]:
        for i in range(table.num_record_batches):
            for piece in _check_batch(table.get_batch(i), dictionaries):
                yield piece, size * (i + 1) // table.num_record_batches

    return Source(_replace_views(table.schema), batches(), size)


def _open_stream(raw: Any) -> tuple[Any, Iterator[Any]]:
    import pyarrow as pa

    table = pa.ipc.open_stream(raw)
    dictionaries: dict[int, Any] = {}
    pieces = (piece for batch in table for piece in _check_batch(batch, dictionaries))
    return _replace_views(table.schema), pieces


def _check_batch(batch: Any, dictionaries: dict[int, Any]) -> Iterator[Any]:
    """Yield the pieces of a batch that is valid.

    Arrow's formats are a copy of memory: offsets that are not checked could point anywhere.
    dictionaries: the last dictionary of each column.
    """
    batch.validate()
    for number, column in enumerate(batch.columns):
        dictionaries[number] = validate(column, dictionaries.get(number))
    yield from split_batch(batch)


def split_batch(batch: Any) -> Iterator[Any]:
    """Yield a batch without views, in pieces of a limited size; shared text counts for each of its rows."""
    import pyarrow as pa

    schema = _replace_views(batch.schema)
    count = max(1, -(-batch.num_rows // _MAX_BATCH_ROWS), min(batch.num_rows, -(-batch.nbytes // _BATCH_BYTES)))
    step = -(-batch.num_rows // count)
    shared_texts = [ends for column in batch.columns if (ends := _shared_text_ends(column)) is not None]
    start = 0
    while start < batch.num_rows:
        stop = min(start + step, batch.num_rows)
        for ends in shared_texts:
            limit = (ends[start - 1] if start else 0) + _BATCH_BYTES
            stop = max(start + 1, bisect_right(ends, limit, start, stop))
        piece = batch.slice(start, stop - start)
        if not schema.equals(piece.schema):
            columns = [c.cast(field.type) for c, field in zip(piece.columns, schema, strict=True)]
            piece = pa.RecordBatch.from_arrays(columns, schema=schema)
        yield piece
        start = stop


def _shared_text_ends(column: Any) -> Sequence[int] | None:
    """Return where each row's text would end in plain text, for a dictionary or views; None for other columns."""
    import pyarrow as pa

    from overthere.columns.rowwise import compute

    pc, types, is_dictionary = compute(), pa.types, pa.types.is_dictionary(column.type)
    texts = column.dictionary if is_dictionary else column
    is_view = types.is_string_view(texts.type) or types.is_binary_view(texts.type)
    is_large = texts.type in (pa.large_string(), pa.large_binary())
    if not len(texts) or not (is_view or (is_dictionary and (is_large or texts.type in (pa.string(), pa.binary())))):
        return None
    keys = column.indices.cast(pa.int64()) if is_dictionary else pa.array(range(len(column)))
    starts = pc.add(keys, texts.offset)
    # Only the lengths of these rows are read, because many batches may share a large dictionary.
    kind, buffer = pa.int64() if is_large else pa.int32(), texts.buffers()[1]
    numbers = pa.Array.from_buffers(kind, buffer.size * 8 // kind.bit_width, [None, buffer])
    if is_view:  # the length is the first four of its 16 bytes
        lengths = numbers.take(pc.multiply(starts, 4))
    else:
        lengths = pc.subtract(numbers.take(pc.add(starts, 1)), numbers.take(starts))
    return memoryview(pc.cumulative_sum(pc.max_element_wise(lengths.cast(pa.int64()), 0)).buffers()[1]).cast("q")


def _replace_views(schema: Any) -> Any:
    """Return a schema without views: a slice of a view column contains, and would write, the text of all its rows."""
    import pyarrow as pa

    for index, field in enumerate(schema):
        if pa.types.is_string_view(field.type):
            schema = schema.set(index, field.with_type(pa.large_string()))
        elif pa.types.is_binary_view(field.type):
            schema = schema.set(index, field.with_type(pa.large_binary()))
    return schema


def _read_header(file: Any, separator: str = ",") -> Any:
    """Read the first row of a CSV file, and no byte after it; return the columns, all of them text."""
    import pyarrow as pa

    def lines() -> Iterator[str]:
        line = bytearray()
        # pyarrow's files have no readline, and the next reader needs every byte after the line.
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


def _has_lossy_block(name: str, start: int) -> bool:
    """Whether pyarrow would lose a character: a byte order mark before all rows, LF that begins a block after CR."""
    with open(name, "rb") as file:
        file.seek(start)
        if file.read(3) == codecs.BOM_UTF8:
            return True
        for end in range(start + _BLOCK_BYTES, os.stat(name).st_size, _BLOCK_BYTES):
            file.seek(end - 1)
            if file.read(2) == b"\r\n":
                return True
    return False


def _read_rows(
    file: Any, schema: Any, separator: str, previous_rows: int = 0, block_bytes: int | None = None
) -> Iterator[Any]:
    """Yield the rows after the header; `previous_rows` rows came before them."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    # With one thread, because with more pyarrow does not number its rows.
    read_options = arrow.ReadOptions(
        column_names=schema.names, block_size=block_bytes or _BLOCK_BYTES, use_threads=False
    )
    # With one column a blank line is a row; with more it is nothing.
    parse_options = arrow.ParseOptions(delimiter=separator, newlines_in_values=True, ignore_empty_lines=len(schema) > 1)
    convert_options = arrow.ConvertOptions(
        column_types=schema, null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False
    )
    try:
        for batch in arrow.open_csv(file, read_options, parse_options, convert_options):
            yield from split_batch(batch)
    except pa.ArrowInvalid as error:
        message = str(error)
        if row := re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", message):
            number, expected, actual = map(int, row.groups())
            message = f"row {previous_rows + number:,} has {actual:,} fields, the header {expected:,}"
        elif "straddl" in message:
            message = _LONG_ROW_MESSAGE
        elif cell := re.match(r"In CSV column #(\d+): Row #(\d+): .*invalid UTF8", message):
            message = f'row {previous_rows + int(cell[2]):,}, column "{schema.names[int(cell[1])]}": not UTF-8'
        elif message.startswith("Empty CSV file"):
            return  # only a header
        raise ValueError(message) from None


def _read_blocks(file: Any, schema: Any, separator: str) -> Iterator[Any]:
    """Yield the rows after the header, in blocks of complete rows.

    pyarrow reads ahead in its own threads; with a file or bytes of Python these would call Python while it ends.
    """
    import pyarrow as pa

    rows, buffer, is_end = 0, b"", False
    while not is_end:
        block = file.read(_BLOCK_BYTES)
        buffer, is_end = buffer + block, not block
        end = len(buffer) if is_end else _find_last_row_end(buffer, separator)
        if end == 0 and len(buffer) > _BLOCK_BYTES:
            raise ValueError(_LONG_ROW_MESSAGE)
        piece = pa.BufferOutputStream()
        piece.write(codecs.BOM_UTF8)  # pyarrow removes it before all rows
        piece.write(memoryview(buffer)[:end])
        block_bytes = piece.tell()
        for batch in _read_rows(pa.BufferReader(piece.getvalue()), schema, separator, rows, block_bytes):
            rows += batch.num_rows
            yield batch
        buffer = buffer[end:]


_ROWS = {
    mark: re.compile(
        rb'\A(?:(?:"[^"]*+(?:""[^"]*+)*+(?:"|\Z))?+[^%b\r\n]*+(?:[%b\r]|(\n)))*+' % (mark.encode(), mark.encode())
    )
    for mark in (",", ";", "|", "\t")
}
"""Complete fields of CSV, with the last line feed outside quotes as group."""
SEPARATORS = tuple(_ROWS)
"""The possible separators of CSV fields."""


def _find_last_row_end(block: bytes, separator: str = ",") -> int:
    """Return the end of the last complete row of a block, after a line feed outside quotes; 0 without one."""
    match = _ROWS[separator].match(block)
    return max(match.end(1), 0) if match else 0
