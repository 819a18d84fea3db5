"""Table writers for every destination, and for pipes and standard output."""

from __future__ import annotations

import errno
import os
import sys
from abc import ABC, abstractmethod
from codecs import getincrementaldecoder
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, Any, Self

from overthere.files.tables.arrays import to_arrow
from overthere.files.tables.checkpoint import (
    Checkpoint,
    ResumeError,
    check_mark_path,
    delay_signals,
    lock,
    reject_foreign,
)
from overthere.files.tables.formats import Layout, OwnColumns
from overthere.files.tables.writers import FormatWriter, open_format_writer
from overthere.ground.atomic import create_part, stream, temporary_path
from overthere.ground.display import visible


class Writer(ABC):
    """Writes batches of one schema.  A context manager: its end closes the table; an error drops one without a job.

    Rows between two commits belong to one task of the job.  A closed table is complete and readable,
    and shows its last commit.  Ctrl-C takes effect between two calls, never during one, except for a pipe.
    """

    delays_signals = True
    """Whether a signal waits for the end of a call."""

    def __init__(self, path: Path, layout: Layout, job: str = "", resume: bool = False) -> None:
        self.path: Path = path
        self.layout: Layout = layout
        self.job: str = job
        self.resume: bool = resume
        self.rows: int = 0
        """The number of rows in the table, including those kept from an earlier run."""
        self.state: dict[str, Any] | None = None
        """The state of the last commit; in a resumed table it shows where the job continues."""
        self.notice: str | None = None
        """A sentence about resuming, if there is something to report."""
        self.mark: Checkpoint = Checkpoint(job, 0, 0, {})
        self.is_resumable: bool = bool(job) or resume
        self.closed: bool = False
        """Whether nothing more can be written: the table was closed or dropped, or an error was raised."""

    @property
    def name(self) -> str:
        return os.fsencode(self.path).decode("utf-8", "replace")

    @property
    def columns(self) -> Any:
        """The columns, a `pyarrow.Schema`."""
        return self.layout.schema

    @property
    def done(self) -> bool:
        """Whether the state has `"done": True`: the table is complete."""
        return bool(self.state and self.state.get("done"))

    def continue_from(self, mark: Checkpoint) -> None:
        """Continue from a checkpoint."""
        self.mark, self.rows, self.state = mark, mark.rows, mark.state or None
        if self.done:
            self.notice = f"{self.name} is complete, with {self.rows:,} rows: nothing to do"
            self.closed = True
        else:
            self.notice = f"{self.name}: continuing after {self.rows:,} rows"

    def write(self, batch: Any) -> None:
        """Append a batch.  Raises: ValueError for another schema; OSError if the table cannot be written."""
        own_columns = self.layout.columns if isinstance(self.layout.columns, OwnColumns) else None
        is_own = own_columns is not None and not hasattr(batch, "schema")
        if not (is_own or to_arrow(batch).schema.equals(self.columns)):
            raise ValueError(f"{self.name}: a batch has other columns than the table")
        if self.closed:
            raise ValueError(f"{self.name}: the table is closed")
        with self._name_errors():
            self._write(batch if is_own or own_columns is None else own_columns.from_arrow(batch))
            self.rows += batch.num_rows

    def commit(self, state: dict[str, Any]) -> None:
        """Commit the rows so far, which are whole tasks; `state` is JSON, with `"done": True` for a finished table."""
        if self.closed:
            raise ValueError(f"{self.name}: the table is closed")
        with self._name_errors():
            self.state = dict(state)
            self.mark = Checkpoint(self.job, self.rows, 0, self.state)
            self._commit()

    def close(self) -> None:
        """Give the table its final name.  Raises: OSError."""
        if not self.closed:
            self.closed = True
            with self._name_errors():
                self._close()

    def drop(self) -> None:
        """End without uncommitted rows; if the table cannot be resumed, the old file stays.  Raises nothing."""
        if not self.closed:
            self.closed = True
            self._fail()

    @contextmanager
    def _name_errors(self) -> Iterator[None]:
        """Add the table's name to an OSError; after any error the table is closed with the rows that it has."""
        with delay_signals() if self.delays_signals else nullcontext():
            try:
                yield
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt) and not self.delays_signals:
                    raise
                self.closed = True
                self._fail()
                if isinstance(error, OSError):
                    number = error.errno or errno.EIO
                    raise OSError(number, error.strerror or str(error), self.name) from error
                raise

    @abstractmethod
    def _write(self, batch: Any) -> None: ...

    def _commit(self) -> None:  # noqa: B027 - by default only the end writes a mark
        pass

    @abstractmethod
    def _close(self) -> None: ...

    @abstractmethod
    def _fail(self) -> None:
        """Keep what can be kept; raises nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *exception: object) -> None:
        (self.close if kind is None or self.is_resumable else self.drop)()


class Stream(Writer):
    """Standard output, a pipe or a device: rows are written at once, and nothing before the first."""

    delays_signals = False

    def __init__(self, name: str | None, layout: Layout) -> None:
        """name: None for standard output."""
        super().__init__(Path(name or "standard output"), layout)
        self.owns_file: bool = name is not None
        self.file: Any = _standard_output() if name is None else stream(name)
        self.format_writer: FormatWriter | None = None
        self.is_torn: bool = False
        """Whether a batch is written in part."""

    def _open_writer(self) -> FormatWriter:
        self.format_writer = self.format_writer or open_format_writer(self.file, self.layout)
        return self.format_writer

    def _write(self, batch: Any) -> None:
        self.is_torn = True
        self._open_writer().write(batch)
        self.file.flush()
        self.is_torn = False

    def _close(self) -> None:
        if self.is_torn:  # with an end it would be taken for a complete table
            self._fail()
            return
        self._open_writer().end()
        if self.owns_file:
            self.file.close()

    def _fail(self) -> None:
        if self.owns_file:  # otherwise the end of the process would report the error again
            if self.format_writer is not None:
                self.format_writer.drop()
            with suppress(OSError):
                self.file.close()


def _standard_output() -> Any:
    return _Terminal(sys.stdout.buffer) if sys.stdout.isatty() else sys.stdout.buffer


class _Terminal:
    """Writes rows as text to a terminal, without control characters (`display.visible`)."""

    def __init__(self, file: Any) -> None:
        self.file = file
        self.decoder = getincrementaldecoder("utf-8")("replace")

    def write(self, octets: Any) -> int:
        self.file.write(visible(self.decoder.decode(bytes(octets))).encode())
        return len(octets)

    def flush(self) -> None:
        self.file.flush()


class FileWriter(Writer):
    """A table in one file, which grows next to it; if it can be resumed, under a name that the next run knows."""

    def __init__(self, path: Path, layout: Layout, job: str, resume: bool) -> None:
        super().__init__(path, layout, job, resume)
        self.part: Path = path.with_name(f"{path.name}.part") if self.is_resumable else temporary_path(path)
        self.mark_path: Path = path.with_name(f"{path.name}.resume")
        check_mark_path(self.mark_path)

    def missing_checkpoint_error(self) -> ResumeError:
        """Return the error for an existing table without its mark."""
        return ResumeError(
            self.name,
            f"it is complete or belongs to another job: there is no {self.mark_path.name} to continue from; without "
            "--resume it is rewritten",
        )


def open_part(part: Path, path: Path, *, resume: bool = False) -> IO[bytes]:
    """Open and lock the file in which a table grows, with the content that an earlier run left if `resume`.

    Raises: FileNotFoundError, which names the missing folder; BlockingIOError if another process writes it; ResumeError
    if the file to resume was not left by a run of overthere.
    """
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(path.parent))
    try:
        with reject_foreign(part) if resume else nullcontext():
            file = create_part(part, path, resume=resume)
    except OSError as error:
        error.filename = str(path)
        raise
    try:
        lock(file.fileno(), str(path))
        # The opened file may have got its final name before it was locked.
        if not (os.path.lexists(part) and os.path.samestat(os.fstat(file.fileno()), os.lstat(part))):
            raise BlockingIOError(errno.EAGAIN, "another process has written it", str(path))
    except BaseException:
        file.close()
        raise
    return file
