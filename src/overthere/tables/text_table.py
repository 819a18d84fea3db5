"""Text tables that can be resumed: the file is truncated at the last checkpoint of a killed job."""

from __future__ import annotations

import gzip
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from overthere.ground.atomic import remove, rename
from overthere.tables.checkpoint import Checkpoint, ResumeError, check_own, load_mark, undisturbed
from overthere.tables.formats import Layout
from overthere.tables.reading import pieces
from overthere.tables.writer import FileWriter, open_part
from overthere.tables.writers import Encoder, encoder, write_all

__all__ = ["TextTable"]

BLOCK = 1 << 20
"""Octets that are written at once; with gzip, what is compressed at once."""
SECONDS = 1.0
"""The mark on disk is about so old at most."""


class TextTable(FileWriter):
    """CSV or JSON lines in a file: NAME.part with its mark in NAME.resume, and NAME when it is closed."""

    def __init__(self, path: Path, layout: Layout, job: str, resume: bool) -> None:
        super().__init__(path, layout, job, resume)
        self.header: bytes
        self.encode: Encoder
        self.header, self.encode = encoder(layout)
        self.zipped: bool = layout.form.endswith(".gz")
        self.file: IO[bytes] | None = None
        self.octets: int = 0
        self.held: list[Any] = []
        self.size: int = 0
        self.cut: int | None = None
        """How many of the held pieces stand before the last commit, if that is not on disk yet."""
        self.safe: Checkpoint = self.mark
        """The last commit that is on disk."""
        self.saved: float = time.monotonic()
        with undisturbed():
            self._open()

    def _open(self) -> None:
        mark = load_mark(self.marked, self.name, self.job) if self.resume else None
        if self.resume and not self.part.exists() and self.path.exists():
            if mark is None:
                raise self.missing_checkpoint_error()
            if mark.is_done:  # it was killed before its mark could go
                self.take(mark)
                remove(self.marked)
                return
            check_own(self.path)
            self._check(self.path.stat().st_size, mark)
            rename(self.path, self.part)
        file = open_part(self.part, self.path, resume=self.resume)
        try:
            self._begin(file, mark)
        except BaseException:
            file.close()
            raise

    def _begin(self, file: IO[bytes], mark: Checkpoint | None) -> None:
        size = os.fstat(file.fileno()).st_size
        if mark is not None and (size or not mark.octets):
            self._check(size, mark)
            file.truncate(mark.octets)
            self.octets, self.safe = mark.octets, mark
            self.take(mark)
            if mark.is_done:  # it was killed before it could be given its name
                rename(self.part, self.path)
                remove(self.marked)
                file.close()
                return
        else:
            if self.resume and size:
                self.notice: str | None = f"{self.part.name} was left before its first commit: the table starts again"
            remove(self.marked)
            file.truncate(0)
        self.file = file
        if not self.octets:
            self._buffer(self.header)

    def _check(self, size: int, mark: Checkpoint) -> None:
        if size < mark.octets:
            raise ResumeError(self.name, f"it has {size:,} octets, and had {mark.octets:,} when it was marked")

    def _buffer(self, data: Any) -> None:
        self.held.append(data)
        self.size += len(data)
        if self.size >= BLOCK:
            self._flush()

    def _write(self, batch: Any) -> None:
        for piece in pieces(batch):
            self._buffer(self.encode(piece))

    def _commit(self) -> None:
        self.cut = len(self.held)
        if self.done or time.monotonic() - self.saved >= SECONDS:
            self._flush()
            self._save()

    def _flush(self) -> None:
        """What is held goes to disk; what a commit ends apart from what follows it, for gzip is cut only there."""
        if self.cut is not None:
            self._write_pieces(self.held[: self.cut])
            self.safe = self.mark._replace(octets=self.octets)
        self._write_pieces(self.held[self.cut or 0 :])
        self.held = []
        self.size = 0
        self.cut = None

    def _write_pieces(self, pieces: list[Any]) -> None:
        data = b"".join(pieces)
        if data:
            assert self.file is not None
            self.octets += write_all(self.file, gzip.compress(data, 6, mtime=0) if self.zipped else data)

    def _save(self) -> None:
        self.safe.save(self.marked)
        self.saved = time.monotonic()

    def _close(self) -> None:
        assert self.file is not None
        self._flush()
        if not self.done:
            self._save()
        rename(self.part, self.path)
        if self.done:
            remove(self.marked)
        self.file.close()

    def _fail(self) -> None:
        """The disk is full, it may be: whole rows are kept with how far they go, or the old file without either."""
        if self.file is None:
            return
        with suppress(OSError):
            self.file.truncate(self.octets)
        with suppress(OSError):
            self._save()
        with suppress(OSError):
            if self.safe.octets and self.marked.exists():
                rename(self.part, self.path)
            else:
                remove(self.part)
                remove(self.marked)
        with suppress(OSError):
            self.file.close()
