"""The columnar index: a Parquet file with a row for each record, as Common Crawl publishes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from overthere.ground.extras import need
from overthere.links.indexes.conditions import Where
from overthere.links.indexes.entry import Entry, make_entry, to_text
from overthere.links.indexes.footer import LargeFooter, Range, read_ranges
from overthere.links.model import Note

_BATCH_ROWS = 256
"""Rows in memory at once: a few bytes of a file can be long values in each row."""
_FIELDS = {
    "warc_filename": "filename", "warc_record_offset": "offset", "warc_record_length": "length", "url": "url",
    "content_digest": "digest", "content_mime_detected": "mime-detected", "content_mime_type": "mime",
    "fetch_status": "status",
}  # fmt: skip
"""The CDXJ field in each column."""
_REQUIRED = ("warc_filename", "warc_record_offset")
_CONDITION_COLUMNS = {
    "domain": "url_host_name", "host": "url_host_name", "mime": "content_mime_detected", "status": "fetch_status",
    "url": "url", "language": "content_languages",
}  # fmt: skip
"""The column that each condition applies to."""
_REPEATED = {"warc_filename", "url_host_name", "content_mime_detected", "content_mime_type", "content_languages"}
"""Columns of texts that repeat in many rows."""
_MAX_BYTE = b"\xff"
"""A byte greater than any in UTF-8."""


class _GuardedFile:
    """A file that pyarrow leaves open, with its read errors kept apart from errors of its content."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.error: OSError | None = None
        self.seek, self.tell = file.seek, file.tell

    def read(self, size: int = -1, /) -> bytes:
        try:
            return self.file.read(size)
        except OSError as error:
            self.error = error
            raise

    def note(self) -> Note:
        """Return the note on the content.  Raises: OSError if the file itself failed."""
        if self.error is not None:
            raise self.error
        return Note("corrupt")


def read_columnar(file: BinaryIO, where: Where) -> Iterator[Entry | Note]:
    """Yield the rows that meet the conditions, without reading row groups whose statistics exclude them.

    Raises: ValueError that names missing columns; ModuleNotFoundError if pyarrow is missing; OSError of the file.
    """
    need("columns", "pyarrow")
    from pyarrow.parquet import ParquetFile

    guarded: Any = _GuardedFile(file)
    try:
        stored = read_ranges(guarded)
        # Without threads: another thread must not call the file while Python ends.
        metadata = ParquetFile(guarded).metadata
        paths = [metadata.schema.column(number).path for number in range(metadata.num_columns)]
        # A dictionary stores a value once for all its rows; URIs and digests differ in each row.
        repeated = [path for path in paths if path in _REPEATED]
        table = ParquetFile(guarded, metadata=metadata, read_dictionary=repeated, pre_buffer=False, buffer_size=1 << 20)
        names = table.schema_arrow.names
    except LargeFooter:
        yield Note("too-large")
        return
    except Exception:  # on hostile bytes the library may raise anything
        note = guarded.note()
        file.seek(max(0, file.seek(0, 2) - 4))
        yield {b"PAR1": note, b"PARE": Note("unsupported")}.get(file.read(4), Note("truncated"))
        return
    matchers = {
        _CONDITION_COLUMNS[name]: getattr(where, f"matches_{name.replace('domain', 'host')}")
        for name in _CONDITION_COLUMNS
        if getattr(where, name)
    }
    if missing := [name for name in dict.fromkeys((*_REQUIRED, *matchers)) if name not in names]:
        if not matchers:
            yield Note("unsupported")
            return
        raise ValueError(f"the columns {', '.join(missing)} are missing: it must be a columnar index, with them")
    columns = [name for name in dict.fromkeys((*_FIELDS, *matchers)) if name in names]
    allowed = _allowed_ranges(where)
    for number in range(table.num_row_groups):
        try:
            if number < len(stored) and _is_excluded(stored[number], allowed):
                continue
            for batch in table.iter_batches(_BATCH_ROWS, row_groups=[number], columns=columns, use_threads=False):
                yield from _read_entries(batch, matchers)
        except Exception:
            yield guarded.note()


def _allowed_ranges(where: Where) -> dict[bytes, list[Range]]:
    """Return, by column, the ranges of values that the conditions allow."""
    return {
        b"url_surtkey": [(surt.encode() + b")", surt.encode() + b":" + _MAX_BYTE) for surt in where.surts()],
        # In capitals too, and with a full stop at its end.
        b"url_host_name": [(host.upper().encode(), host.encode() + b".") for host in where.host],
        b"url": [(start.encode(), start.encode() + _MAX_BYTE) for start in where.url],
        b"fetch_status": [(int(text.replace("x", "0")), int(text.replace("x", "9"))) for text in where.status],
    }


def _is_excluded(stored: dict[bytes, Range], allowed: dict[bytes, list[Range]]) -> bool:
    """Whether all values of a column in the row group are outside the allowed ranges."""
    for column, ranges in allowed.items():
        low, high = stored.get(column, (None, None))
        if ranges and type(low) is type(ranges[0][0]) and all(high < first or low > last for first, last in ranges):
            return True
    return False


def _read_entries(batch: Any, matchers: dict[str, Callable[[str], bool]]) -> Iterator[Entry | Note]:
    import pyarrow as pa

    for name, matches in matchers.items():
        values = _read_values(batch, name)
        is_match = {value: value is not None and matches(to_text(value)) for value in set(values)}
        batch = batch.filter(pa.array([is_match[value] for value in values], pa.bool_()))
    names = [name for name in _FIELDS if name in batch.schema.names]
    fields = [_FIELDS[name] for name in names]
    for row in zip(*(_read_values(batch, name) for name in names), strict=True):
        yield make_entry(dict(zip(fields, row, strict=True)))


def _read_values(batch: Any, name: str) -> list[Any]:
    """Return a column; texts as bytes, because Parquet does not guarantee that they are UTF-8."""
    import pyarrow as pa

    column = batch.column(name)
    if pa.types.is_integer(column.type):
        return column.to_pylist()  # type: ignore[no-any-return]
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    texts = column.dictionary.cast(pa.binary()).to_pylist()
    values = [None if index is None else texts[index] for index in column.indices.to_pylist()]
    if name == "content_mime_detected" and "content_mime_type" in batch.schema.names:
        values = [b if a is None else a for a, b in zip(values, _read_values(batch, "content_mime_type"), strict=True)]
    return values
