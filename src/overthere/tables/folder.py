"""Tables as a folder of Parquet parts, each written atomically; a killed job keeps its parts."""

from __future__ import annotations

import errno
import os
import re
import time
from pathlib import Path
from typing import Any

from overthere.ground.atomic import remove
from overthere.tables.atomic_table import PartFile, read, read_metadata
from overthere.tables.checkpoint import Checkpoint, ResumeError, claim_mark, load_mark, lock, undisturbed
from overthere.tables.formats import Layout
from overthere.tables.writer import Writer

__all__ = ["Folder"]

MARK = "_overthere.json"
"""A name that readers of folders pass over."""
ROWS, BYTES, SECONDS = 1 << 20, 512 << 20, 60.0
"""A part ends with a task, when it has so many rows or octets, or so long was written on."""
_MOST = 4
"""Within a task it ends when it has so many times as many."""
_PART = re.compile(r"part-([0-9]{5,})\.parquet")


class Folder(Writer):
    """DIR/part-00000.parquet and so on, and the mark that says how many of the rows are committed."""

    def __init__(self, path: Path, layout: Layout, job: str, resume: bool) -> None:
        super().__init__(path, layout, job, resume)
        self.marked: Path = path / MARK
        self.growing: PartFile | None = None
        self.number: int = 0
        self.since: float = 0.0
        with undisturbed():
            path.mkdir(exist_ok=True)
            # The folder itself is locked: its parts come and go.
            self.handle: int | None = os.open(path, os.O_RDONLY) if os.name != "nt" else None
            try:
                if self.handle is not None:
                    lock(self.handle, self.name)
                self._begin()
            except BaseException:
                self._unlock()
                raise

    def _begin(self) -> None:
        claim_mark(self.marked)
        there = {name for name in os.listdir(self.path) if not name.startswith((".", "_"))}
        parts = sorted(name for name in there if _PART.fullmatch(name))
        if there and (there - set(parts) or not self.marked.exists()):
            raise FileExistsError(errno.EEXIST, "the folder has files that are not parts of a link table", self.name)
        for name in os.listdir(self.path):
            if name.startswith(".") and _PART.fullmatch(name[1:]):
                remove(self.path / name)  # of a job that was killed
        if self.resume and (mark := load_mark(self.marked, self.name, self.job)) is not None:
            self._keep(parts, mark)
            self.take(mark)
            if mark.is_done:
                self._unlock()
            return
        for name in parts:
            remove(self.path / name)
        self.mark.save(self.marked)

    def _keep(self, parts: list[str], mark: Checkpoint) -> None:
        """The parts that hold what is committed; of the last of them, its rows up to there."""
        start, sizes = 0, [read_metadata(self.path / name).num_rows for name in parts]
        if sum(sizes) < mark.rows:
            raise ResumeError(self.name, f"it has {sum(sizes):,} rows, and had {mark.rows:,} when it was marked")
        for name, size in zip(parts, sizes, strict=True):
            if start >= mark.rows:
                remove(self.path / name)
                continue
            self.number = int(name[5:-8])
            if start + size > mark.rows:
                part = self._part()
                for batch in read(self.path / name, self.columns, mark.rows - start):
                    part.write(batch)
                part.end(mark)
            start += size
            self.number += 1

    def _part(self) -> PartFile:
        name = f"part-{self.number:05}.parquet"
        return PartFile(self.path / name, self.path / f".{name}", self.layout)

    def _write(self, batch: Any) -> None:
        if self.growing is None:
            self.growing, self.since = self._part(), time.monotonic()
        self.growing.write(batch)
        if self.growing.rows >= _MOST * ROWS or self.growing.octets >= _MOST * BYTES:
            self._end()

    def _commit(self) -> None:
        part = self.growing
        if not part or part.rows >= ROWS or part.octets >= BYTES or time.monotonic() - self.since >= SECONDS:
            self._end()

    def _end(self) -> None:
        """The part is whole: it gets its name, and then counts."""
        if self.growing is not None:
            self.growing.end(self.mark)
            self.growing = None
            self.number += 1
        self.mark.save(self.marked)

    def _close(self) -> None:
        try:
            if self.growing is None and not self.number:
                self.growing = self._part()  # a table without rows has columns
            self._end()
        finally:
            self._unlock()

    def _fail(self) -> None:
        if self.growing is not None:
            self.growing.drop()
        self._unlock()

    def _unlock(self) -> None:
        if self.handle is not None:
            os.close(self.handle)
            self.handle = None
