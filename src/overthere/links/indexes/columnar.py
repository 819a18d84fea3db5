"""The columnar index: a Parquet file with a row for each record, as Common Crawl publishes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from overthere.ground.extras import need
from overthere.links.indexes.conditions import Where
from overthere.links.indexes.entry import Entry, make_entry, to_text
from overthere.links.indexes.footer import Range, read_ranges
from overthere.links.model import Note

__all__ = ["read_columnar"]

_ROWS = 256
"""So many are held at once: few octets of a file may be long values in each row."""
_FIELDS = {
    "warc_filename": "filename", "warc_record_offset": "offset", "warc_record_length": "length", "url": "url",
    "content_digest": "digest", "content_mime_detected": "mime-detected", "content_mime_type": "mime",
    "fetch_status": "status",
}  # fmt: skip
"""The fields of CDXJ that are in its columns."""
_REQUIRED = ("warc_filename", "warc_record_offset")
_ASKED = {
    "domain": "url_host_name", "host": "url_host_name", "mime": "content_mime_detected", "status": "fetch_status",
    "url": "url", "language": "content_languages",
}  # fmt: skip
"""The column that each condition is about."""
_REPEATED = {"warc_filename", "url_host_name", "content_mime_detected", "content_mime_type", "content_languages"}
"""Columns of texts that many rows share."""
_LAST = b"\xff"
"""Greater than any octet of UTF-8."""


class _Source:
    """A file for pyarrow, which leaves it open; errors of reading it differ from those of its content."""

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
        """The note on the content.  Raises: OSError if the file itself failed."""
        if self.error is not None:
            raise self.error
        return Note("corrupt")


def read_columnar(file: BinaryIO, where: Where) -> Iterator[Entry | Note]:
    """The rows that fulfil the conditions; row groups that cannot have one, by their statistics, are not read.

    Raises: ValueError that names missing columns; ModuleNotFoundError if pyarrow is missing; OSError of the file.
    """
    need("links", "pyarrow")
    from pyarrow.parquet import ParquetFile

    source = _Source(file)
    try:
        # Without threads: another thread may not call the file while Python ends.
        described = ParquetFile(source).metadata
        paths = [described.schema.column(number).path for number in range(described.num_columns)]
        # A value of a dictionary stays one, however many rows have it; of URIs and digests each row has its own.
        texts = [path for path in paths if path in _REPEATED]
        table = ParquetFile(source, metadata=described, read_dictionary=texts, pre_buffer=False, buffer_size=1 << 20)
        names = table.schema_arrow.names
    except Exception:  # whatever the library makes of hostile octets
        note = source.note()
        file.seek(max(0, file.seek(0, 2) - 4))
        yield {b"PAR1": note, b"PARE": Note("unsupported")}.get(file.read(4), Note("truncated"))
        return
    asked = {
        _ASKED[name]: getattr(where, f"matches_{name.replace('domain', 'host')}")
        for name in _ASKED
        if getattr(where, name)
    }
    if missing := [name for name in dict.fromkeys((*_REQUIRED, *asked)) if name not in names]:
        if not asked:
            yield Note("unsupported")
            return
        raise ValueError(f"the columns {', '.join(missing)} are missing: it must be a columnar index, with them")
    columns = [name for name in dict.fromkeys((*_FIELDS, *asked)) if name in names]
    stored, allowed = read_ranges(file), _allowed_ranges(where)
    for number in range(table.num_row_groups):
        try:
            if number < len(stored) and _is_excluded(stored[number], allowed):
                continue
            for batch in table.iter_batches(_ROWS, row_groups=[number], columns=columns, use_threads=False):
                yield from _entries(batch, asked)
        except Exception:
            yield source.note()


def _allowed_ranges(where: Where) -> dict[bytes, list[Range]]:
    """Columns, and the ranges of the values that the conditions allow."""
    return {
        b"url_surtkey": [(surt.encode() + b")", surt.encode() + b":" + _LAST) for surt in where.surts()],
        b"url_host_name": [(host.encode(), host.encode()) for host in where.host],
        b"url": [(start.encode(), start.encode() + _LAST) for start in where.url],
        b"fetch_status": [(int(text.replace("x", "0")), int(text.replace("x", "9"))) for text in where.status],
    }


def _is_excluded(stored: dict[bytes, Range], allowed: dict[bytes, list[Range]]) -> bool:
    """Whether all values of a column of the row group are outside its ranges."""
    for column, ranges in allowed.items():
        least, most = stored.get(column, (None, None))
        if ranges and type(least) is type(ranges[0][0]) and all(most < first or least > last for first, last in ranges):
            return True
    return False


def _entries(batch: Any, asked: dict[str, Callable[[str], bool]]) -> Iterator[Entry | Note]:
    import pyarrow as pa

    for name, matches in asked.items():
        values = _values(batch, name)
        good = {value: value is not None and matches(to_text(value)) for value in set(values)}
        batch = batch.filter(pa.array([good[value] for value in values], pa.bool_()))
    names = [name for name in _FIELDS if name in batch.schema.names]
    fields = [_FIELDS[name] for name in names]
    for row in zip(*(_values(batch, name) for name in names), strict=True):
        yield make_entry(dict(zip(fields, row, strict=True)))


def _values(batch: Any, name: str) -> list[Any]:
    """A column; texts as octets, because Parquet does not promise that they are UTF-8."""
    import pyarrow as pa

    column = batch.column(name)
    if pa.types.is_integer(column.type):
        return column.to_pylist()  # type: ignore[no-any-return]
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    texts = column.dictionary.cast(pa.binary()).to_pylist()
    values = [None if index is None else texts[index] for index in column.indices.to_pylist()]
    if name == "content_mime_detected" and "content_mime_type" in batch.schema.names:
        values = [b if a is None else a for a, b in zip(values, _values(batch, "content_mime_type"), strict=True)]
    return values
