"""Tables in atomic files: a resumed table is rewritten, starting with the existing rows."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from overthere.files.stores.model import is_object
from overthere.files.stores.opening import open_object
from overthere.files.tables.checkpoint import KEY, Checkpoint, ResumeError, check_is_own, load_mark, read_mark
from overthere.files.tables.formats import Layout
from overthere.files.tables.reading import open_source
from overthere.files.tables.writer import FileWriter, open_part
from overthere.files.tables.writers import FormatWriter, open_format_writer
from overthere.ground.atomic import remove, rename
from overthere.ground.extras import brought_by


class PartFile:
    """A table that grows as PART, and is renamed to PATH at the end."""

    def __init__(self, path: Path, part: Path, layout: Layout) -> None:
        """Raises: as `open_part`."""
        self.path: Path = path
        self.part: Path = part
        self.rows: int = 0
        self.file: IO[bytes] = open_part(part, path)
        try:
            self.file.truncate(0)
            self.format_writer: FormatWriter = open_format_writer(self.file, layout)
        except BaseException:
            self.file.close()
            raise

    def write(self, batch: Any) -> None:
        self.format_writer.write(batch)
        self.rows += batch.num_rows

    @property
    def octets(self) -> int:
        return self.file.tell()

    def end(self, mark: Checkpoint | None = None, mark_path: Path | None = None) -> None:
        """Write the end of the format, with a mark in it (Parquet) or in a file of its own, and rename the file."""
        self.format_writer.end(None if mark_path else mark)
        if mark is not None and mark_path is not None:
            mark._replace(octets=self.octets).save(mark_path)
        rename(self.part, self.path)
        self.file.close()

    def drop(self) -> None:
        """Remove the part; the old file stays."""
        with suppress(OSError):
            remove(self.part)
        self.format_writer.drop()
        with suppress(OSError):
            self.file.close()


def read_rows(path: Path | str, columns: Any, rows: int) -> Iterator[Any]:
    """Yield the first rows of a file, in batches of a limited size.  Raises: ResumeError if it does not have them."""
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
    """Return the metadata of a Parquet file or object.  Raises: ResumeError if it is not Parquet; OSError."""
    with brought_by("columns"):
        import pyarrow as pa
        import pyarrow.parquet as pq

    try:
        if is_object(path):
            with open_object(path) as file:
                return pq.read_metadata(file)
        if stat.S_ISFIFO(os.stat(path).st_mode):  # a pipe is waited for without end
            raise ResumeError(str(path), "it is a pipe")
        return pq.read_metadata(path)
    except pa.ArrowException as error:
        raise ResumeError(str(path), f"it cannot be read: {error}") from None


class Table(FileWriter):
    """A file that is complete or absent.  The part of a killed job cannot be read, so the table starts again."""

    def __init__(self, path: Path, layout: Layout, job: str, resume: bool) -> None:
        super().__init__(path, layout, job, resume)
        self.is_parquet: bool = layout.form == ".parquet"
        self.part_file: PartFile | None = None
        mark = self._existing_checkpoint() if resume else None
        if mark is not None and mark.is_done:  # Arrow: it was killed before its mark was removed
            self.continue_from(mark)
            remove(self.mark_path)
            return
        had_part = self.part.exists()
        with self._name_errors():
            # Rows of the existing table are read by pyarrow.
            self.part_file = PartFile(path, self.part, layout if mark is None else layout.for_arrow())
            if mark is not None:
                for batch in read_rows(path, self.columns, mark.rows):
                    self.part_file.write(batch)
                self.continue_from(mark)
        if resume and had_part and mark is None:
            self.notice: str | None = (
                f"{self.part.name} was left by a killed job and is unreadable without its end: the table starts again"
            )

    def _existing_checkpoint(self) -> Checkpoint | None:
        """Return the mark of the existing table; None without a table."""
        mark = None if self.is_parquet else load_mark(self.mark_path, self.name, self.job)
        if mark is not None and self.part.exists():
            check_is_own(self.part)
            if self.part.stat().st_size == mark.octets:  # it was killed before it got its name
                rename(self.part, self.path)
        if not self.path.exists():
            return None
        check_is_own(self.path)
        if not self.is_parquet:
            if mark is None:
                raise self.missing_checkpoint_error()
            if (size := self.path.stat().st_size) != mark.octets:
                raise ResumeError(self.name, f"it has {size:,} octets, and had {mark.octets:,} when it was marked")
            return mark
        text = (read_metadata(self.path).metadata or {}).get(KEY.encode())
        if text is None:
            raise ResumeError(self.name, "it has no mark to continue from")
        return read_mark(text, self.name, self.job)

    def _write(self, batch: Any) -> None:
        assert self.part_file is not None
        self.part_file.write(batch)

    def _close(self) -> None:
        assert self.part_file is not None
        # The mark has the size of the file: it counts neither for the old file nor for a part without its end.
        self.part_file.end(self.mark if self.is_resumable else None, None if self.is_parquet else self.mark_path)
        if not self.is_parquet and (self.done or not self.is_resumable):
            remove(self.mark_path)

    def _fail(self) -> None:
        if self.part_file is not None:
            self.part_file.drop()
