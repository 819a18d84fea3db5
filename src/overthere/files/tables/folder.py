"""Tables as a folder of Parquet parts, each written atomically; a killed job keeps its parts."""

from __future__ import annotations

import errno
import os
import re
import time
from abc import abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from overthere.files.tables.atomic_table import PartFile, read_metadata, read_rows
from overthere.files.tables.checkpoint import Checkpoint, ResumeError, check_mark_path, delay_signals, load_mark, lock
from overthere.files.tables.formats import Layout
from overthere.files.tables.writer import Writer
from overthere.ground.atomic import remove

MARK = "_overthere.json"
"""A name that readers of folders ignore."""
ROWS, BYTES, SECONDS = 1 << 20, 512 << 20, 60.0
"""A part ends after a task if it has this many rows or bytes, or is this old."""
_PART = re.compile(r"part-[0-9]{5,}\.parquet")


class PartWriter(Protocol):
    """The part that is being written."""

    rows: int

    @property
    def octets(self) -> int: ...

    def write(self, batch: Any) -> None: ...

    def end(self, mark: Checkpoint) -> None:
        """Write the end, and replace what has its name at once: a kill leaves the old part or the new one."""

    def drop(self) -> None: ...


P = TypeVar("P", bound=PartWriter)


class Limits(NamedTuple):
    """The size of a part: it ends after a task with these rows or bytes, and within one at `factor` times as many."""

    rows: float
    octets: int
    factor: int


def part_names(names: Iterable[str]) -> list[str]:
    """Return the names of parts among others, in the order of their numbers.

    >>> part_names(["part-100000.parquet", "part-99999.parquet", "_SUCCESS"])
    ['part-99999.parquet', 'part-100000.parquet']
    """
    return sorted(filter(_PART.fullmatch, names), key=lambda name: (len(name), name))


class PartsWriter(Writer, Generic[P]):
    """Writes part-00000.parquet and so on, and after each the mark, whose number of rows makes it count."""

    part: P | None = None
    part_number: int = 0
    part_start: float = 0.0

    @property
    def part_name(self) -> str:
        return f"part-{self.part_number:05}.parquet"

    def keep_parts(self, names: Iterable[str], mark: Checkpoint) -> None:
        """Continue after the committed rows: keep whole parts and the first rows of the last, remove the others."""
        start, parts = 0, part_names(names)
        sizes = [read_metadata(self._locate(name)).num_rows for name in parts]
        if sum(sizes) < mark.rows:
            raise ResumeError(self.name, f"it has {sum(sizes):,} rows, and had {mark.rows:,} when it was marked")
        for name, size in zip(parts, sizes, strict=True):
            if start >= mark.rows:
                self._remove(name)
                continue
            if name != self.part_name:
                raise ResumeError(self.name, f"{self.part_name} is missing")
            if start + size > mark.rows:
                self.part = self._open_part(self.layout.for_arrow())
                try:
                    for batch in read_rows(self._locate(name), self.columns, mark.rows - start):
                        self.part.write(batch)
                    self.part.end(mark)
                except BaseException:
                    self._fail()
                    raise
                self.part = None
            start += size
            self.part_number += 1
        self.continue_from(mark)

    def _write(self, batch: Any) -> None:
        if self.part is None:
            self.part, self.part_start = self._open_part(self.layout), time.monotonic()
        self.part.write(batch)
        rows, octets, factor = self._limits
        if self.part.rows >= factor * rows or self.part.octets >= factor * octets:
            self._finish_part()

    def _commit(self) -> None:
        part, (rows, octets, _) = self.part, self._limits
        is_old = time.monotonic() - self.part_start >= SECONDS
        if part is None or part.rows >= rows or part.octets >= octets or is_old or self.done:
            self._finish_part()

    def _finish_part(self) -> None:
        """Give the complete part its name, then save the mark, which makes it count."""
        if self.part is not None:
            self.part.end(self.mark)
            self.part = None
            self.part_number += 1
        self._save_mark()

    def _close(self) -> None:
        if self.part is None and not self.part_number:
            self.part = self._open_part(self.layout)  # a table without rows has columns
        self._finish_part()

    def _fail(self) -> None:
        if self.part is not None:
            self.part.drop()
            self.part = None

    @property
    @abstractmethod
    def _limits(self) -> Limits: ...

    @abstractmethod
    def _locate(self, name: str) -> Path | str: ...

    @abstractmethod
    def _open_part(self, layout: Layout) -> P: ...

    @abstractmethod
    def _remove(self, name: str) -> None: ...

    @abstractmethod
    def _save_mark(self) -> None: ...


class Folder(PartsWriter[PartFile]):
    """DIR/part-00000.parquet and so on, and the mark."""

    def __init__(self, path: Path, layout: Layout, job: str, resume: bool) -> None:
        super().__init__(path, layout, job, resume)
        self.mark_path: Path = path / MARK
        with delay_signals():
            path.mkdir(exist_ok=True)
            # The folder itself is locked, because its parts change.
            self.handle: int | None = os.open(path, os.O_RDONLY) if os.name != "nt" else None
            try:
                if self.handle is not None:
                    lock(self.handle, self.name)
                self._start()
            except BaseException:
                self._unlock()
                raise

    def _start(self) -> None:
        check_mark_path(self.mark_path)
        names = {name for name in os.listdir(self.path) if not name.startswith((".", "_"))}
        if names and (names - {*part_names(names)} or not self.mark_path.exists()):
            raise FileExistsError(errno.EEXIST, "the folder has files that are not parts of a link table", self.name)
        for name in os.listdir(self.path):
            if name.startswith(".") and _PART.fullmatch(name[1:]):
                remove(self.path / name)  # left by a killed job
        if self.resume and (mark := load_mark(self.mark_path, self.name, self.job)) is not None:
            self.keep_parts(names, mark)
            if mark.is_done:
                self._unlock()
            return
        self._save_mark()  # first: with the old mark and without all parts, a killed job would be taken for complete
        for name in part_names(names):
            remove(self.path / name)

    @property
    def _limits(self) -> Limits:
        return Limits(ROWS, BYTES, 4)

    def _locate(self, name: str) -> Path:
        return self.path / name

    def _open_part(self, layout: Layout) -> PartFile:
        return PartFile(self.path / self.part_name, self.path / f".{self.part_name}", layout)

    def _remove(self, name: str) -> None:
        remove(self.path / name)

    def _save_mark(self) -> None:
        self.mark.save(self.mark_path)

    def _close(self) -> None:
        try:
            super()._close()
        finally:
            self._unlock()

    def _fail(self) -> None:
        super()._fail()
        self._unlock()

    def _unlock(self) -> None:
        if self.handle is not None:
            os.close(self.handle)
            self.handle = None
