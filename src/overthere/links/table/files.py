"""Tables in row groups, Parquet and Arrow: what ends with its own index, and is written anew to be gone on with."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from overthere.links.table.mark import KEY, Mark, ResumeError, TableWriter, load_mark, own, read_mark, undisturbed
from overthere.links.table.text import open_part

__all__ = ["Pen", "Table", "count", "read"]

ROWS = 1 << 16
BYTES = 16 << 20
"""A row group has at least so many rows, or about so many octets in memory."""

_DIFFERENT = ("reference", "target", "fragment", "normal", "browser")
"""Columns whose texts differ from row to row: a dictionary of them is soon too large, and their least and greatest
text tell nothing of a row group."""


class Pen:
    """Writes row groups to PATH.part, which is PATH at the end."""

    def __init__(self, path: Path, part: Path, columns: Any, form: str) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self.path, self.part, self.columns, self.form = path, part, columns, form
        self.held: list[Any] = []
        self.count = self.size = self.rows = 0
        self.file = open_part(part, path)
        try:
            self.file.truncate(0)
            if form == ".parquet":
                shared: Any = [name for name in columns.names if name not in _DIFFERENT]
                self.pen = pq.ParquetWriter(
                    self.file, columns, compression="zstd", use_dictionary=shared, write_statistics=shared
                )
            else:
                self.pen = pa.ipc.new_file(self.file, columns)
        except BaseException:
            self.file.close()
            raise

    def write(self, batch: Any) -> None:
        """Small row groups make a poor file: batches are held back until there is enough of them."""
        self.held.append(batch)
        self.rows += batch.num_rows
        self.count += batch.num_rows
        self.size += batch.nbytes
        if self.count >= ROWS or self.size >= BYTES:
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa

        if self.count:
            table = pa.Table.from_batches(self.held)
            # Parquet takes the batches as they are for one row group; Arrow would write each.
            self.pen.write_table(table.combine_chunks() if self.form == ".arrow" else table, table.num_rows)
        self.held, self.count, self.size = [], 0, 0

    @property
    def octets(self) -> int:
        return self.file.tell()

    def end(self, mark: Mark | None = None) -> None:
        """The index, with a mark in it (Parquet), and the name."""
        self._flush()
        if mark is not None:
            self.pen.add_key_value_metadata({KEY: mark.to_text()})
        self.pen.close()
        os.replace(self.part, self.path)
        self.file.close()

    def drop(self) -> None:
        """Without its index it is no file that can be read."""
        with suppress(OSError):
            self.part.unlink(missing_ok=True)
        with suppress(Exception):
            self.pen.close()
        with suppress(OSError):
            self.file.close()


def read(path: Path, columns: Any, rows: int) -> Iterator[Any]:
    """The first rows of a file, in batches of a bounded size.  Raises: ResumeError if it does not have them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pa.OSFile(os.fspath(path)) as file:
            if path.suffix.lower() == ".parquet":
                table = pq.ParquetFile(file, pre_buffer=False, buffer_size=1 << 20)
                found, there = table.schema_arrow, table.metadata.num_rows
                weight = sum(table.metadata.row_group(i).total_byte_size for i in range(table.num_row_groups))
                step = max(1, min(ROWS, there * BYTES // max(weight, 1)))
                batches = table.iter_batches(step) if there else iter(())
            else:
                table = pa.ipc.open_file(file)
                found = table.schema
                batches = (table.get_batch(i) for i in range(table.num_record_batches))
            if not found.equals(columns):
                raise ResumeError(str(path), "it has other columns")
            for batch in batches:
                if not rows:
                    return
                batch = batch.slice(0, rows)
                rows -= batch.num_rows
                yield batch
    except pa.ArrowException as error:
        raise ResumeError(str(path), f"it cannot be read: {error}") from None
    if rows:
        raise ResumeError(str(path), f"it has {rows:,} rows less than when it was marked")


def count(path: Path) -> int:
    """How many rows a Parquet file has.  Raises: ResumeError if it is none."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return int(pq.read_metadata(path).num_rows)
    except pa.ArrowException as error:
        raise ResumeError(str(path), f"it cannot be read: {error}") from None


class Table(TableWriter):
    """A Parquet or an Arrow file.  What a killed job leaves of it cannot be read: it begins anew."""

    def __init__(self, path: Path, columns: Any, form: str, job: str, resume: bool) -> None:
        super().__init__(path, columns, job, resume)
        self.form = form
        self.part, self.marked = path.with_name(f"{path.name}.part"), path.with_name(f"{path.name}.resume")
        self.pen: Pen | None = None
        found = self._found() if resume else None
        if found is not None and found.done:
            self.take(found)
            return
        left = self.part.exists()
        with undisturbed(), self._blamed():
            self.pen = Pen(path, self.part, columns, form)
            if found is not None:
                for batch in read(path, columns, found.rows):
                    self.pen.write(batch)
                self.take(found)
        if resume and left and found is None:
            self.notice = (
                f"{self.part.name} was left by a job that was killed, and cannot be read without its end: "
                "the table begins anew"
            )

    def _found(self) -> Mark | None:
        """The mark of the table that stands there."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        if not self.path.exists():
            return None
        own(self.path)
        if self.form != ".parquet":
            if (mark := load_mark(self.marked, self.name, self.job)) is None:
                raise ResumeError(self.name, f"it is finished, or of another job: there is no {self.marked.name}")
            return mark
        try:
            text = (pq.read_metadata(self.path).metadata or {}).get(KEY.encode())
        except pa.ArrowException as error:
            raise ResumeError(self.name, f"it cannot be read: {error}") from None
        if text is None:
            raise ResumeError(self.name, "it has no mark that says where to go on")
        return read_mark(text, self.name, self.job)

    def _write(self, batch: Any) -> None:
        assert self.pen is not None
        self.pen.write(batch)

    def _commit(self) -> None:
        pass

    def _close(self) -> None:
        assert self.pen is not None
        if self.form == ".parquet":
            self.pen.end(self.mark if self.marks else None)
            return
        keeps = self.marks and (self.resume or not self.done)
        if not keeps:
            self.marked.unlink(missing_ok=True)
        self.pen.end()
        if keeps:
            self.mark.save(self.marked)

    def _fail(self) -> None:
        if self.pen is not None:
            self.pen.drop()
