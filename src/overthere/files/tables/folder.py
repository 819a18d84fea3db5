"""Tables as a folder of Parquet parts, each written atomically; a killed job keeps its parts."""

from __future__ import annotations

import errno
import os
import re
import time
from pathlib import Path
from typing import Any

from overthere.files.tables.atomic_table import PartFile, read_metadata, read_rows
from overthere.files.tables.checkpoint import Checkpoint, ResumeError, check_mark_path, delay_signals, load_mark, lock
from overthere.files.tables.formats import Layout
from overthere.files.tables.writer import Writer
from overthere.ground.atomic import remove

MARK = "_overthere.json"
"""A name that readers of folders ignore."""
ROWS, BYTES, SECONDS = 1 << 20, 512 << 20, 60.0
"""A part ends after a task if it has this many rows or bytes, or is this old."""
_MAX_FACTOR = 4
"""A part ends within a task at this many times the rows or bytes."""
_PART = re.compile(r"part-([0-9]{5,})\.parquet")


class Folder(Writer):
    """DIR/part-00000.parquet and so on, and the mark with the number of committed rows."""

    def __init__(self, path: Path, layout: Layout, job: str, resume: bool) -> None:
        super().__init__(path, layout, job, resume)
        self.mark_path: Path = path / MARK
        self.part: PartFile | None = None
        self.part_number: int = 0
        self.part_start: float = 0.0
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
        parts = sorted(name for name in names if _PART.fullmatch(name))
        if names and (names - set(parts) or not self.mark_path.exists()):
            raise FileExistsError(errno.EEXIST, "the folder has files that are not parts of a link table", self.name)
        for name in os.listdir(self.path):
            if name.startswith(".") and _PART.fullmatch(name[1:]):
                remove(self.path / name)  # left by a killed job
        if self.resume and (mark := load_mark(self.mark_path, self.name, self.job)) is not None:
            self._keep_parts(parts, mark)
            self.continue_from(mark)
            if mark.is_done:
                self._unlock()
            return
        for name in parts:
            remove(self.path / name)
        self.mark.save(self.mark_path)

    def _keep_parts(self, parts: list[str], mark: Checkpoint) -> None:
        """Keep the committed rows: whole parts, and the first rows of the last one; remove the other parts."""
        start, sizes = 0, [read_metadata(self.path / name).num_rows for name in parts]
        if sum(sizes) < mark.rows:
            raise ResumeError(self.name, f"it has {sum(sizes):,} rows, and had {mark.rows:,} when it was marked")
        for name, size in zip(parts, sizes, strict=True):
            if start >= mark.rows:
                remove(self.path / name)
                continue
            self.part_number = int(name[5:-8])
            if start + size > mark.rows:
                part = self._open_part(self.layout.for_arrow())
                for batch in read_rows(self.path / name, self.columns, mark.rows - start):
                    part.write(batch)
                part.end(mark)
            start += size
            self.part_number += 1

    def _open_part(self, layout: Layout | None = None) -> PartFile:
        name = f"part-{self.part_number:05}.parquet"
        return PartFile(self.path / name, self.path / f".{name}", layout or self.layout)

    def _write(self, batch: Any) -> None:
        if self.part is None:
            self.part, self.part_start = self._open_part(), time.monotonic()
        self.part.write(batch)
        if self.part.rows >= _MAX_FACTOR * ROWS or self.part.octets >= _MAX_FACTOR * BYTES:
            self._finish_part()

    def _commit(self) -> None:
        part = self.part
        if not part or part.rows >= ROWS or part.octets >= BYTES or time.monotonic() - self.part_start >= SECONDS:
            self._finish_part()

    def _finish_part(self) -> None:
        """Give the complete part its name, then save the mark, which makes it count."""
        if self.part is not None:
            self.part.end(self.mark)
            self.part = None
            self.part_number += 1
        self.mark.save(self.mark_path)

    def _close(self) -> None:
        try:
            if self.part is None and not self.part_number:
                self.part = self._open_part()  # a table without rows has columns
            self._finish_part()
        finally:
            self._unlock()

    def _fail(self) -> None:
        if self.part is not None:
            self.part.drop()
        self._unlock()

    def _unlock(self) -> None:
        if self.handle is not None:
            os.close(self.handle)
            self.handle = None
