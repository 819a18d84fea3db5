"""Tables in atomic files: a resumed table is written anew, starting with the rows that exist."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from overthere.ground.atomic import remove, rename
from overthere.stores.model import is_object
from overthere.stores.opening import open_object
from overthere.tables.checkpoint import KEY, Checkpoint, ResumeError, check_own, load_mark, read_mark
from overthere.tables.formats import Layout
from overthere.tables.reading import open_source
from overthere.tables.writer import FileWriter, open_part
from overthere.tables.writers import FormatWriter, open_format_writer

__all__ = ["PartFile", "Table", "read_metadata", "read"]


class PartFile:
    """A table that grows as PART, and is PATH at the end."""

    def __init__(self, path: Path, part: Path, layout: Layout) -> None:
        """Raises: as `open_part`."""
        self.path: Path = path
        self.part: Path = part
        self.rows: int = 0
        self.file: IO[bytes] = open_part(part, path)
        try:
            self.file.truncate(0)
            self.pen: FormatWriter = open_format_writer(self.file, layout)
        except BaseException:
            self.file.close()
            raise

    def write(self, batch: Any) -> None:
        self.pen.write(batch)
        self.rows += batch.num_rows

    @property
    def octets(self) -> int:
        return self.file.tell()

    def end(self, mark: Checkpoint | None = None) -> None:
        """The end of the format, with a mark in it (Parquet), and the name."""
        self.pen.end(mark)
        rename(self.part, self.path)
        self.file.close()

    def drop(self) -> None:
        """What was there before stays."""
        with suppress(OSError):
            remove(self.part)
        self.pen.drop()
        with suppress(OSError):
            self.file.close()


def read(path: Path | str, columns: Any, rows: int) -> Iterator[Any]:
    """The first rows of a file, in batches of a bounded size.  Raises: ResumeError if it does not have them."""
    import pyarrow as pa

    try:
        with open_source(os.fspath(path)) as source:
            if not source.schema.equals(columns):
                raise ResumeError(str(path), "it has other columns")
            for batch, _ in source.batches:
                if not rows:
                    return
                batch = batch.slice(0, rows)
                rows -= batch.num_rows
                yield batch
    except ResumeError:
        raise
    except (ValueError, pa.ArrowException) as error:
        raise ResumeError(str(path), f"it cannot be read: {error}") from None
    if rows:
        raise ResumeError(str(path), f"it has {rows:,} rows fewer than at its last commit")


def read_metadata(path: Path | str) -> Any:
    """The metadata of a Parquet file, or of an object that is one.  Raises: ResumeError if it is none; OSError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if is_object(path):
            with open_object(path) as file:
                return pq.read_metadata(file)
        return pq.read_metadata(path)
    except pa.ArrowException as error:
        raise ResumeError(str(path), f"it cannot be read: {error}") from None


class Table(FileWriter):
    """A file that is whole or not there.  What a killed job leaves of it cannot be read: it begins anew."""

    def __init__(self, path: Path, layout: Layout, job: str, resume: bool) -> None:
        super().__init__(path, layout, job, resume)
        self.indexed: bool = layout.form == ".parquet"
        self.growing: PartFile | None = None
        mark = self._existing_checkpoint() if resume else None
        if mark is not None and mark.is_done:
            self.take(mark)
            return
        left = self.part.exists()
        with self._naming_errors():
            self.growing = PartFile(path, self.part, layout)
            if mark is not None:
                for batch in read(path, self.columns, mark.rows):
                    self.growing.write(batch)
                self.take(mark)
        if resume and left and mark is None:
            self.notice: str | None = (
                f"{self.part.name} was left by a killed job and is unreadable without its end: the table starts again"
            )

    def _existing_checkpoint(self) -> Checkpoint | None:
        """The mark of the table that stands there."""
        if not self.path.exists():
            return None
        check_own(self.path)
        if not self.indexed:
            if (mark := load_mark(self.marked, self.name, self.job)) is None:
                raise self.missing_checkpoint_error()
            return mark
        text = (read_metadata(self.path).metadata or {}).get(KEY.encode())
        if text is None:
            raise ResumeError(self.name, "it has no mark to continue from")
        return read_mark(text, self.name, self.job)

    def _write(self, batch: Any) -> None:
        assert self.growing is not None
        self.growing.write(batch)

    def _close(self) -> None:
        assert self.growing is not None
        keeps = self.marks and not self.indexed and not self.done
        if not (keeps or self.indexed):
            remove(self.marked)
        self.growing.end(self.mark if self.marks and self.indexed else None)
        if keeps:
            self.mark.save(self.marked)

    def _fail(self) -> None:
        if self.growing is not None:
            self.growing.drop()
