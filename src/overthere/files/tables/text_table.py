"""Text tables that can be resumed: the file is truncated at the last checkpoint of a killed job."""

from __future__ import annotations

import gzip
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from overthere.files.tables.checkpoint import Checkpoint, ResumeError, check_is_own, delay_signals, load_mark
from overthere.files.tables.formats import Layout
from overthere.files.tables.writer import FileWriter, open_part
from overthere.files.tables.writers import Encoder, make_encoder, write_all
from overthere.ground.atomic import remove, rename

BLOCK = 1 << 20
"""Bytes to write, and with gzip to compress, at once."""
SECONDS = 1.0
"""Approximate maximum age of the mark on disk, in seconds."""


class TextTable(FileWriter):
    """CSV or JSON lines in a file: NAME.part with its mark in NAME.resume, and NAME when it is closed."""

    def __init__(self, path: Path, layout: Layout, job: str, resume: bool) -> None:
        super().__init__(path, layout, job, resume)
        self.header: bytes
        self.encode: Encoder
        self.header, self.encode = make_encoder(layout)
        self.is_gzip: bool = layout.form.endswith(".gz")
        self.file: IO[bytes] | None = None
        self.octets: int = 0
        self.buffer: list[Any] = []
        self.buffer_size: int = 0
        self.commit_index: int | None = None
        """The number of buffered pieces before the last commit, if that is not on disk yet."""
        self.flushed_mark: Checkpoint = self.mark
        """The last commit whose rows are on disk."""
        self.saved_at: float = time.monotonic()
        with delay_signals():
            self._open()

    def _open(self) -> None:
        mark = load_mark(self.mark_path, self.name, self.job) if self.resume else None
        if self.resume and not self.part.exists() and self.path.exists():
            if mark is None:
                raise self.missing_checkpoint_error()
            if mark.is_done:  # it was killed before its mark was removed
                self.continue_from(mark)
                remove(self.mark_path)
                return
            check_is_own(self.path)
            self._check_size(self.path.stat().st_size, mark)
            rename(self.path, self.part)
        file = open_part(self.part, self.path, resume=self.resume)
        try:
            self._start(file, mark)
        except BaseException:
            file.close()
            raise

    def _start(self, file: IO[bytes], mark: Checkpoint | None) -> None:
        size = os.fstat(file.fileno()).st_size
        if mark is not None and (size or not mark.octets):
            self._check_size(size, mark)
            file.truncate(mark.octets)
            self.octets, self.flushed_mark = mark.octets, mark
            self.continue_from(mark)
            if mark.is_done:  # it was killed before it got its name
                rename(self.part, self.path)
                remove(self.mark_path)
                file.close()
                return
        else:
            if self.resume and size:
                self.notice: str | None = f"{self.part.name} was left before its first commit: the table starts again"
            remove(self.mark_path)
            file.truncate(0)
        self.file = file
        if not self.octets:
            self._buffer(self.header)

    def _check_size(self, size: int, mark: Checkpoint) -> None:
        if size < mark.octets:
            raise ResumeError(self.name, f"it has {size:,} octets, and had {mark.octets:,} when it was marked")

    def _buffer(self, data: Any) -> None:
        self.buffer.append(data)
        self.buffer_size += len(data)
        if self.buffer_size >= BLOCK:
            self._flush()

    def _write(self, batch: Any) -> None:
        for data in self.encode(batch):
            self._buffer(data)

    def _commit(self) -> None:
        self.commit_index = len(self.buffer)
        if self.done or time.monotonic() - self.saved_at >= SECONDS:
            self._flush()
            self._save()

    def _flush(self) -> None:
        """Write the buffer to disk; data before a commit separately, because gzip can be cut only between members."""
        if self.commit_index is not None:
            self._write_pieces(self.buffer[: self.commit_index])
            self.flushed_mark = self.mark._replace(octets=self.octets)
        self._write_pieces(self.buffer[self.commit_index or 0 :])
        self.buffer = []
        self.buffer_size = 0
        self.commit_index = None

    def _write_pieces(self, pieces: list[Any]) -> None:
        data = b"".join(pieces)
        if data:
            assert self.file is not None
            self.octets += write_all(self.file, gzip.compress(data, 6, mtime=0) if self.is_gzip else data)

    def _save(self) -> None:
        self.flushed_mark.save(self.mark_path)
        self.saved_at = time.monotonic()

    def _close(self) -> None:
        assert self.file is not None
        self._flush()
        if not self.done:
            self._save()
        rename(self.part, self.path)
        if self.done:
            remove(self.mark_path)
        self.file.close()

    def _fail(self) -> None:
        """Keep the complete rows and their mark (the disk may be full), or the old file without either."""
        if self.file is None:
            return
        with suppress(OSError):
            self.file.truncate(self.octets)
        with suppress(OSError):
            self._save()
        with suppress(OSError):
            if self.flushed_mark.octets and self.mark_path.exists():
                rename(self.part, self.path)
            else:
                remove(self.part)
                remove(self.mark_path)
        with suppress(OSError):
            self.file.close()
