"""Tables as Parquet parts in an object store: each is put in one piece, where there is none; nothing is renamed."""

from __future__ import annotations

import errno
import re
import time
from pathlib import Path
from typing import Any, BinaryIO

from overthere.ground.atomic import open_unnamed
from overthere.stores.model import Name, ObjectInfo, Store, StoreError
from overthere.stores.opening import list_objects, open_object, store_of
from overthere.tables.atomic_table import read, read_metadata
from overthere.tables.checkpoint import Checkpoint, ResumeError, read_mark
from overthere.tables.folder import MARK, SECONDS
from overthere.tables.formats import Layout
from overthere.tables.writer import Writer
from overthere.tables.writers import FormatWriter, open_format_writer

__all__ = ["MAX_OBJECTS", "SUCCESS", "Place", "StoreFolder", "StorePart"]

SUCCESS = "_SUCCESS"
"""Put last: readers of other engines wait for it."""
BYTES = 64 << 20
"""Octets of a part: it is put in one request, for which it is held in memory."""
MAX_OBJECTS = 1_000_000
"""Objects in the folder of a table: their names are held in memory, and a listing of a server may never end."""
_PART = re.compile(r"part-[0-9]{5,}\.parquet")


class Place:
    """A folder of a store, in which a table is."""

    def __init__(self, uri: str) -> None:
        name = Name.parse(uri)
        self.uri: str = uri
        self.prefix: str = name.key
        self.store: Store = store_of(name.root)

    def names(self) -> dict[str, ObjectInfo]:
        """The objects there by what their names have after that of the folder.

        Raises: StoreError for a folder with more objects than a table has.
        """
        found: dict[str, ObjectInfo] = {}
        for number, one in enumerate(list_objects(self.uri)):
            if number == MAX_OBJECTS:
                raise StoreError("unsupported", f"the folder of a table has more than {MAX_OBJECTS:,} objects")
            found[one.uri.removeprefix(self.uri)] = one
        return found

    def put(self, name: str, content: BinaryIO | bytes, version: str | None = "") -> str:
        """Put an object; unless a version is given there must be none.  Returns: its version."""
        return self.store.put(self.prefix + name, content, version)

    def remove(self, name: str) -> None:
        self.store.remove(self.prefix + name)

    def load_mark(self, found: ObjectInfo, job: str) -> Checkpoint:
        """The mark in an object.  Raises: ResumeError."""
        with open_object(*found) as file:
            return read_mark(file.read(), found.uri, job)


class StorePart:
    """A part of a table on its way into a store."""

    def __init__(self, layout: Layout) -> None:
        self.rows: int = 0
        self.file: BinaryIO = open_unnamed()
        self.pen: FormatWriter = open_format_writer(self.file, layout)

    def write(self, batch: Any) -> None:
        self.pen.write(batch)
        self.rows += batch.num_rows

    @property
    def octets(self) -> int:
        return self.file.tell()

    def put(self, place: Place, name: str, mark: Checkpoint) -> None:
        """Raises: FileExistsError if another job has put one of that name."""
        self.pen.end(mark)
        self.put_again(place, name)

    def put_again(self, place: Place, name: str) -> None:
        """Put it, of which the end is written.  Raises: as `put`."""
        self.file.seek(0)
        place.put(name, self.file)
        self.file.close()

    def drop(self) -> None:
        self.pen.drop()
        self.file.close()


class StoreFolder(Writer):
    """URI/part-00000.parquet and so on, and the mark that says how many of the rows are committed.

    Two jobs cannot write one table: each replaces only the mark that it has put itself.
    """

    def __init__(self, uri: str, layout: Layout, job: str, resume: bool) -> None:
        super().__init__(Path(uri), layout, job, resume)
        self.place: Place = Place(uri)
        self.growing: StorePart | None = None
        self.number: int = 0
        self.since: float = 0.0
        there = self.place.names()
        found = there.pop(MARK, None)
        parts = sorted(name for name in there if _PART.fullmatch(name))
        if set(there) - {*parts, SUCCESS} or (there and found is None):
            raise FileExistsError(errno.EEXIST, "the folder has objects that are not parts of a link table", uri)
        self.version: str = "" if found is None else found.version
        if resume and found is not None:
            mark = self.place.load_mark(found, job)
            if not mark.is_done:
                self._keep(parts, mark)
            elif SUCCESS not in there:
                self.place.put(SUCCESS, b"", None)
            self.take(mark)
            return
        self.place.remove(SUCCESS)
        for name in parts:
            self.place.remove(name)
        self._save_mark()

    @property
    def name(self) -> str:
        return self.place.uri

    def _keep(self, parts: list[str], mark: Checkpoint) -> None:
        """The parts that hold what is committed; of the last of them, its rows up to there."""
        sizes = [read_metadata(self.place.uri + name).num_rows for name in parts]
        if sum(sizes) < mark.rows:
            raise ResumeError(self.name, f"it has {sum(sizes):,} rows, and had {mark.rows:,} when it was marked")
        start = 0
        for name, size in zip(parts, sizes, strict=True):
            if start >= mark.rows:
                self.place.remove(name)
                continue
            self.number = int(name[5:-8])
            if start + size > mark.rows:
                part = StorePart(self.layout)
                for batch in read(self.place.uri + name, self.columns, mark.rows - start):
                    part.write(batch)
                self.place.remove(name)
                part.put(self.place, name, mark)
            start += size
            self.number += 1

    def _save_mark(self) -> None:
        self.version = self.place.put(MARK, f"{self.mark.to_text()}\n".encode(), self.version)

    def _write(self, batch: Any) -> None:
        if self.growing is None:
            self.growing, self.since = StorePart(self.layout), time.monotonic()
        self.growing.write(batch)
        if self.growing.octets >= 2 * BYTES:
            self._end()

    def _commit(self) -> None:
        part = self.growing
        if part is None or part.octets >= BYTES or time.monotonic() - self.since >= SECONDS or self.done:
            self._end()

    def _end(self) -> None:
        """The part is whole: it is put, and then counts."""
        if self.growing is not None:
            part, self.growing = self.growing, None
            part.put(self.place, f"part-{self.number:05}.parquet", self.mark)
            self.number += 1
        self._save_mark()

    def _close(self) -> None:
        if self.growing is None and not self.number:
            self.growing = StorePart(self.layout)  # a table without rows has columns
        self._end()
        if self.done:
            self.place.put(SUCCESS, b"", None)

    def _fail(self) -> None:
        if self.growing is not None:
            self.growing.drop()
            self.growing = None
