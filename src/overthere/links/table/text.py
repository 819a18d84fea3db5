"""Tables as text, CSV and JSON lines, out of Arrow columns; to files that can be gone on with, and to pipes.

CSV: text stands in quotes, undefined is an empty field and empty is `""`; lines end in a line feed.
JSON lines: one object a line; undefined is null.  Both are UTF-8 and hold every character as it is.
"""

from __future__ import annotations

import errno
import gzip
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Self

from overthere.columns.cells import guarded
from overthere.columns.plain import compute
from overthere.links.table.mark import Mark, ResumeError, TableWriter, load_mark, lock, own, undisturbed
from overthere.wholefile import grow

__all__ = ["Stream", "Text", "encoder"]

_BLOCK = 1 << 20
"""Octets that are written at once; with gzip, what is compressed at once."""
_PIECE = 32 << 20
"""Octets of a batch that are made into text at once."""
_SECONDS = 1.0
"""The mark on disk is about so old at most."""
_ESCAPED = bytes([*range(32), *b'"\\'])
"""What JSON strings hold escaped (RFC 8259 7)."""

Encoder = Callable[[Any], Any]


def encoder(form: str, columns: Any, csv_safe: bool = False) -> tuple[bytes, Encoder]:
    """What a text begins with, and the function that makes the rows of a batch text, as something of octets."""
    if csv_safe:
        return (",".join(columns.names) + "\n").encode(), lambda batch: _csv(guarded(batch))
    if form.startswith(".csv"):
        return (",".join(columns.names) + "\n").encode(), _csv
    return b"", _json_lines


def _csv(batch: Any) -> Any:
    import pyarrow as pa
    from pyarrow import csv

    sink = pa.BufferOutputStream()
    csv.write_csv(batch, sink, csv.WriteOptions(include_header=False))
    return sink.getvalue()


def _json_lines(batch: Any) -> Any:
    import pyarrow as pa

    pc = compute()
    parts: list[Any] = []
    between = "{"
    for place, field in enumerate(batch.schema):
        column = batch.column(place)
        between += f"{', ' if place else ''}{json.dumps(field.name, ensure_ascii=False)}: "
        if column.null_count == len(column):
            between += "null"
            continue
        text = pa.types.is_string(field.type)
        column = _escaped(column) if text else column.cast(pa.string())
        if text and not column.null_count:
            parts += (between + '"', column)
            between = '"'
            continue
        if text:
            column = pc.binary_join_element_wise('"', column, '"', "")
        parts += (between, pc.fill_null(column, "null"))
        between = ""
    if not parts:
        return (between + "}\n").encode() * batch.num_rows
    return _octets(pc.binary_join_element_wise(*parts, between + "}\n", ""))


def _octets(column: Any) -> memoryview:
    """All that a column of text holds, one after another."""
    _, offsets, data = column.buffers()
    if data is None:
        return memoryview(b"")
    at = memoryview(offsets).cast("i")
    return memoryview(data)[at[column.offset] : at[column.offset + len(column)]]


def _escaped(column: Any) -> Any:
    """The column as the content of JSON strings; where nothing is to be escaped, itself."""
    import pyarrow as pa

    pc = compute()
    octets = bytes(_octets(column))
    if len(octets.translate(None, _ESCAPED)) == len(octets):
        return column
    mask = pc.fill_null(pc.match_substring_regex(column, r'[\x00-\x1f"\\]'), False)
    escaped = [json.dumps(text, ensure_ascii=False)[1:-1] for text in column.filter(mask).to_pylist()]
    return pc.replace_with_mask(column, mask, pa.array(escaped, pa.string()))


def _pieces(batch: Any) -> Iterator[Any]:
    """A batch in pieces whose text has a bounded size, but for rows that are larger themselves."""
    if batch.nbytes <= _PIECE or batch.num_rows <= 1:
        yield batch
        return
    half = batch.num_rows // 2
    yield from _pieces(batch.slice(0, half))
    yield from _pieces(batch.slice(half))


def _put(file: IO[bytes], data: Any) -> int:
    """Write all of it; how many octets it was."""
    view = memoryview(data)
    size = view.nbytes
    while view.nbytes:
        view = view[file.write(view) :]
    return size


class Stream:
    """Standard output, or a pipe: text that goes out as it comes and cannot be gone on with."""

    notice: str | None = None
    done = False

    def __init__(self, name: str | None, columns: Any, form: str, csv_safe: bool = False) -> None:
        """name: None for standard output."""
        if form not in (".csv", ".jsonl"):
            raise ValueError(f"a {form} table is not written to a pipe: name a file")
        self.own, self.columns = name is not None, columns
        self.file = sys.stdout.buffer if name is None else open(name, "wb")  # noqa: SIM115 - closed by close()
        self.rows = 0
        self.state: dict[str, Any] | None = None
        header, self.encode = encoder(form, columns, csv_safe)
        self.file.write(header)

    def write(self, batch: Any) -> None:
        if not batch.schema.equals(self.columns):
            raise ValueError("a batch has other columns than the table")
        for piece in _pieces(batch):
            self.file.write(self.encode(piece))
        self.file.flush()
        self.rows += batch.num_rows

    def commit(self, state: dict[str, Any]) -> None:
        self.state = state

    def close(self) -> None:
        self.file.flush()
        if self.own:
            self.file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class Text(TableWriter):
    """CSV or JSON lines in a file: NAME.part with its mark in NAME.resume, and NAME when it is closed."""

    def __init__(self, path: Path, columns: Any, form: str, job: str, resume: bool, csv_safe: bool = False) -> None:
        super().__init__(path, columns, job, resume)
        self.header, self.encode = encoder(form, columns, csv_safe)
        self.zipped = form.endswith(".gz")
        self.part, self.marked = path.with_name(f"{path.name}.part"), path.with_name(f"{path.name}.resume")
        self.file: IO[bytes] | None = None
        self.octets = 0
        self.held: list[Any] = []
        self.size = 0
        self.cut: int | None = None
        """How many of the held pieces stand before the last commit, if that is not on disk yet."""
        self.safe = self.mark
        """The last commit that is on disk."""
        self.saved = time.monotonic()
        with undisturbed():
            self._open()

    def _open(self) -> None:
        found = load_mark(self.marked, self.name, self.job) if self.resume else None
        if self.resume and not self.part.exists() and self.path.exists():
            if found is None:
                raise ResumeError(self.name, f"it is finished, or of another job: there is no {self.marked.name}")
            if found.done:
                self.take(found)
                return
            own(self.path)
            self._check(self.path.stat().st_size, found)
            os.replace(self.path, self.part)
        file = open_part(self.part, self.path, resume=self.resume)
        try:
            self._begin(file, found)
        except BaseException:
            file.close()
            raise

    def _begin(self, file: IO[bytes], found: Mark | None) -> None:
        size = os.fstat(file.fileno()).st_size
        if found is not None and (size or not found.octets):
            self._check(size, found)
            file.truncate(found.octets)
            self.octets, self.safe = found.octets, found
            self.take(found)
            if found.done:  # it was killed before it could be given its name
                os.replace(self.part, self.path)
                file.close()
                return
        else:
            if self.resume and size:
                self.notice = f"{self.part.name} was left before its first mark: the table begins anew"
            self.marked.unlink(missing_ok=True)
            file.truncate(0)
        self.file = file
        if not self.octets:
            self._hold(self.header)

    def _check(self, size: int, found: Mark) -> None:
        if size < found.octets:
            raise ResumeError(self.name, f"it has {size:,} octets, and had {found.octets:,} when it was marked")

    def _hold(self, data: Any) -> None:
        self.held.append(data)
        self.size += len(data)
        if self.size >= _BLOCK:
            self._flush()

    def _write(self, batch: Any) -> None:
        for piece in _pieces(batch):
            self._hold(self.encode(piece))

    def _commit(self) -> None:
        self.cut = len(self.held)
        if self.done or time.monotonic() - self.saved >= _SECONDS:
            self._flush()
            self._save()

    def _flush(self) -> None:
        """What is held goes to disk; what a commit ends apart from what follows it, for gzip is cut only there."""
        if self.cut is not None:
            self._put(self.held[: self.cut])
            self.safe = self.mark._replace(octets=self.octets)
        self._put(self.held[self.cut or 0 :])
        self.held, self.size, self.cut = [], 0, None

    def _put(self, pieces: list[Any]) -> None:
        data = b"".join(pieces)
        if data:
            assert self.file is not None
            self.octets += _put(self.file, gzip.compress(data, 6, mtime=0) if self.zipped else data)

    def _save(self) -> None:
        if self.marks:
            self.safe.save(self.marked)
            self.saved = time.monotonic()

    def _close(self) -> None:
        assert self.file is not None
        self._flush()
        keeps = self.resume or not self.done
        if keeps:
            self._save()
        os.replace(self.part, self.path)
        if not keeps:
            self.marked.unlink(missing_ok=True)
        self.file.close()

    def _fail(self) -> None:
        """The disk is full, it may be: whole rows are kept, and how far they go."""
        if self.file is None:
            return
        with suppress(OSError):
            self.file.truncate(self.octets)
        with suppress(OSError):
            self._save()
        with suppress(OSError):
            os.replace(self.part, self.path)
        with suppress(OSError):
            self.file.close()


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
