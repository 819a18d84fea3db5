"""What the writers of files and folders have in common."""

from __future__ import annotations

import errno
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Self

from overthere.tables.formats import Layout
from overthere.tables.mark import Mark, ResumeError, lock, undisturbed
from overthere.wholefile import beside, grow

__all__ = ["FileWriter", "TableWriter", "open_part"]


class TableWriter(ABC):
    """A writer that counts its rows, and may be marked."""

    def __init__(self, path: Path, layout: Layout, job: str, resume: bool) -> None:
        self.path, self.layout, self.job, self.resume = path, layout, job, resume
        self.columns = layout.columns
        self.rows = 0
        self.state: dict[str, Any] | None = None
        self.notice: str | None = None
        self.mark = Mark(job, 0, 0, {})
        self.marks = bool(job) or resume
        self.closed = False

    @property
    def name(self) -> str:
        return os.fsencode(self.path).decode("utf-8", "replace")

    @property
    def done(self) -> bool:
        return bool(self.state and self.state.get("done"))

    def take(self, mark: Mark) -> None:
        """Go on from a mark."""
        self.mark, self.rows, self.state = mark, mark.rows, mark.state or None
        if self.done:
            self.notice = f"{self.name} is finished, with {self.rows:,} rows: nothing is left to do"
            self.closed = True
        else:
            self.notice = f"{self.name}: going on after {self.rows:,} rows"

    def write(self, batch: Any) -> None:
        if not batch.schema.equals(self.columns):
            raise ValueError(f"{self.name}: a batch has other columns than the table")
        if self.closed:
            raise ValueError(f"{self.name}: the table is closed")
        with undisturbed(), self._blamed():
            self._write(batch)
            self.rows += batch.num_rows

    def commit(self, state: dict[str, Any]) -> None:
        if self.closed:
            raise ValueError(f"{self.name}: the table is closed")
        with undisturbed(), self._blamed():
            self.state = dict(state)
            self.mark = Mark(self.job, self.rows, 0, self.state)
            self._commit()

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            with undisturbed(), self._blamed():
                self._close()

    def drop(self) -> None:
        if not self.closed:
            self.closed = True
            self._fail()

    @contextmanager
    def _blamed(self) -> Iterator[None]:
        """An error says which table it is about; after one the table is closed with what it holds."""
        try:
            yield
        except OSError as error:
            self.closed = True
            self._fail()
            number = error.errno or errno.EIO
            raise OSError(number, error.strerror or str(error), self.name) from error
        except BaseException:
            self.closed = True
            self._fail()
            raise

    @abstractmethod
    def _write(self, batch: Any) -> None: ...

    @abstractmethod
    def _commit(self) -> None: ...

    @abstractmethod
    def _close(self) -> None: ...

    @abstractmethod
    def _fail(self) -> None:
        """Keep what can be kept; raises nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class FileWriter(TableWriter):
    """A table in one file, which grows beside it: under a name that the next run knows, if that may go on."""

    def __init__(self, path: Path, layout: Layout, job: str, resume: bool) -> None:
        super().__init__(path, layout, job, resume)
        self.part = path.with_name(f"{path.name}.part") if self.marks else beside(path)
        self.marked = path.with_name(f"{path.name}.resume")


def open_part(part: Path, path: Path, *, resume: bool = False) -> IO[bytes]:
    """The file in which a table grows, locked, as far as an earlier run has come.

    Raises: FileNotFoundError, which names the folder that is missing; BlockingIOError if another process writes it;
    ResumeError if the table is to go on in what is not ours.
    """
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(path.parent))
    try:
        file = grow(part, path, resume=resume)
    except PermissionError as error:
        if not resume:
            raise
        raise ResumeError(str(part), error.strerror or str(error)) from None
    except OSError as error:
        error.filename = str(path)
        raise
    try:
        lock(file.fileno(), str(path))
        # What was opened may have got its final name before it was locked.
        if not (os.path.lexists(part) and os.path.samestat(os.fstat(file.fileno()), os.lstat(part))):
            raise BlockingIOError(errno.EAGAIN, "another process has just written it", str(path))
    except BaseException:
        file.close()
        raise
    return file
