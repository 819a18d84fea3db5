"""How each format is written: batches in, octets into an open file out; row groups with an index, or lines of text."""

from __future__ import annotations

import gzip
import io
from contextlib import suppress
from typing import IO, Any, Protocol

from overthere.tables.formats import Layout
from overthere.tables.mark import KEY, Mark
from overthere.tables.text import encoder, pieces, put

__all__ = ["Pen", "pen"]

ROWS = 1 << 16
BYTES = 16 << 20
"""A row group has at least so many rows, or about so many octets in memory."""


class Pen(Protocol):
    """Writes a table to a file that others have opened, and close."""

    def write(self, batch: Any) -> None: ...

    def end(self, mark: Mark | None = None) -> None:
        """What the format has at its end, with a mark in it (Parquet); then all is handed to the system."""

    def drop(self) -> None:
        """The table is given up.  Raises nothing."""


def pen(file: Any, layout: Layout) -> Pen:
    """What writes a format, from its beginning.  `file` takes octets: one of Python or of pyarrow."""
    if layout.form.startswith((".csv", ".jsonl")):
        return _Lines(file, layout)
    return _Stream(file, layout) if layout.form == ".arrows" else _RowGroups(file, layout)


class _Lines:
    """CSV and JSON lines."""

    def __init__(self, file: Any, layout: Layout) -> None:
        self.file, self.zipped = file, layout.form.endswith(".gz")
        header, self.encode = encoder(layout)
        self._put(header)

    def _put(self, data: Any) -> None:
        put(self.file, gzip.compress(data, 6, mtime=0) if self.zipped else data)

    def write(self, batch: Any) -> None:
        for piece in pieces(batch):
            self._put(self.encode(piece))

    def end(self, mark: Mark | None = None) -> None:
        self.file.flush()

    def drop(self) -> None:
        pass


class _Framed:
    """What pyarrow writes itself."""

    pen: Any

    def __init__(self, file: Any, layout: Layout) -> None:
        # pyarrow takes no notice of what was written short: of a raw file, the end would be lost on a full disk.
        self.file: IO[bytes] = io.BufferedWriter(file) if isinstance(file, io.RawIOBase) else file
        self.layout = layout

    def end(self, mark: Mark | None = None) -> None:
        if mark is not None:
            self.pen.add_key_value_metadata({KEY: mark.to_text()})
        self.pen.close()
        self.file.flush()

    def drop(self) -> None:
        with suppress(Exception):
            self.pen.close()
        with suppress(OSError):
            self.file.close()


class _Stream(_Framed):
    """An Arrow stream: each batch goes out as it comes."""

    def __init__(self, file: Any, layout: Layout) -> None:
        import pyarrow as pa

        super().__init__(file, layout)
        self.pen = pa.ipc.new_stream(self.file, layout.columns)

    def write(self, batch: Any) -> None:
        self.pen.write_batch(batch)


class _RowGroups(_Framed):
    """Parquet and Arrow files, which end with an index of their row groups."""

    def __init__(self, file: Any, layout: Layout) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        super().__init__(file, layout)
        self.held: list[Any] = []
        self.count = self.size = 0
        columns = layout.columns
        if layout.form == ".parquet":
            shared: Any = [name for name in columns.names if name not in layout.varied] if layout.varied else True
            self.pen = pq.ParquetWriter(
                self.file, columns, compression="zstd", use_dictionary=shared, write_statistics=shared
            )
        else:
            self.pen = pa.ipc.new_file(self.file, columns)

    def write(self, batch: Any) -> None:
        """Small row groups make a poor file: batches are held back until there is enough of them."""
        self.held.append(batch)
        self.count += batch.num_rows
        self.size += batch.nbytes
        if self.count >= ROWS or self.size >= BYTES:
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa

        if self.count:
            table = pa.Table.from_batches(self.held)
            # Parquet takes the batches as they are for one row group; Arrow would write each.
            self.pen.write_table(table if self.layout.form == ".parquet" else table.combine_chunks(), table.num_rows)
            del table
            pa.default_memory_pool().release_unused()
        self.held, self.count, self.size = [], 0, 0

    def end(self, mark: Mark | None = None) -> None:
        self._flush()
        super().end(mark)
