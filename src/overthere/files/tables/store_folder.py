"""Tables as Parquet parts in an object store: each is a new object, uploaded in one request; nothing is renamed."""

from __future__ import annotations

import errno
import re
import time
from pathlib import Path
from typing import Any, BinaryIO

from overthere.files.stores.model import Name, ObjectInfo, Store, StoreError
from overthere.files.stores.opening import list_objects, open_object, store_of
from overthere.files.tables.atomic_table import read_metadata, read_rows
from overthere.files.tables.checkpoint import Checkpoint, ResumeError, read_mark
from overthere.files.tables.folder import MARK, SECONDS
from overthere.files.tables.formats import Layout
from overthere.files.tables.writer import Writer
from overthere.files.tables.writers import FormatWriter, open_format_writer
from overthere.ground.atomic import open_unnamed

SUCCESS = "_SUCCESS"
"""The object written last: readers of other engines wait for it."""
BYTES = 64 << 20
"""Bytes of a part: one request uploads it, for which it is in memory."""
MAX_OBJECTS = 1_000_000
"""Maximum objects in the folder of a table: their names are in memory, and a server may list without end."""
_PART = re.compile(r"part-[0-9]{5,}\.parquet")


class Place:
    """A folder of a store that contains a table."""

    def __init__(self, uri: str) -> None:
        name = Name.parse(uri)
        self.uri: str = uri
        self.prefix: str = name.key
        self.store: Store = store_of(name.root)

    def names(self) -> dict[str, ObjectInfo]:
        """Return the objects of the folder by name, without the name of the folder.

        Raises: StoreError for a folder with more objects than a table has.
        """
        objects: dict[str, ObjectInfo] = {}
        for number, info in enumerate(list_objects(self.uri)):
            if number == MAX_OBJECTS:
                raise StoreError("unsupported", f"the folder of a table has more than {MAX_OBJECTS:,} objects")
            objects[info.uri.removeprefix(self.uri)] = info
        return objects

    def put(self, name: str, content: BinaryIO | bytes, version: str | None = "") -> str:
        """Write an object, by default a new one.  version: as in `Store.put`.  Returns: the new version."""
        return self.store.put(self.prefix + name, content, version)

    def remove(self, name: str) -> None:
        self.store.remove(self.prefix + name)

    def load_mark(self, info: ObjectInfo, job: str) -> Checkpoint:
        """Return the mark in an object.  Raises: ResumeError."""
        with open_object(*info) as file:
            return read_mark(file.read(), info.uri, job)


class StorePart:
    """A part of a table, in a temporary file until it is uploaded."""

    def __init__(self, layout: Layout) -> None:
        self.rows: int = 0
        self.file: BinaryIO = open_unnamed()
        self.format_writer: FormatWriter = open_format_writer(self.file, layout)

    def write(self, batch: Any) -> None:
        self.format_writer.write(batch)
        self.rows += batch.num_rows

    @property
    def octets(self) -> int:
        return self.file.tell()

    def put(self, place: Place, name: str, mark: Checkpoint) -> None:
        """Write the end of the part and upload it.  Raises: FileExistsError if another job has uploaded this name."""
        self.format_writer.end(mark)
        self.put_finished(place, name)

    def put_finished(self, place: Place, name: str) -> None:
        """Upload the part, whose end is written.  Raises: as `put`."""
        self.file.seek(0)
        place.put(name, self.file)
        self.file.close()

    def drop(self) -> None:
        self.format_writer.drop()
        self.file.close()


class StoreFolder(Writer):
    """URI/part-00000.parquet and so on, and the mark with the number of committed rows.

    Two jobs cannot write one table: each replaces only the mark that it has written itself.
    """

    def __init__(self, uri: str, layout: Layout, job: str, resume: bool) -> None:
        super().__init__(Path(uri), layout, job, resume)
        self.place: Place = Place(uri)
        self.part: StorePart | None = None
        self.part_number: int = 0
        self.part_start: float = 0.0
        objects = self.place.names()
        mark_info = objects.pop(MARK, None)
        parts = sorted(name for name in objects if _PART.fullmatch(name))
        if set(objects) - {*parts, SUCCESS} or (objects and mark_info is None):
            raise FileExistsError(errno.EEXIST, "the folder has objects that are not parts of a link table", uri)
        self.version: str = "" if mark_info is None else mark_info.version
        if resume and mark_info is not None:
            mark = self.place.load_mark(mark_info, job)
            if not mark.is_done:
                self._keep_parts(parts, mark)
            elif SUCCESS not in objects:
                self.place.put(SUCCESS, b"", None)
            self.continue_from(mark)
            return
        self.place.remove(SUCCESS)
        for name in parts:
            self.place.remove(name)
        self._save_mark()

    @property
    def name(self) -> str:
        return self.place.uri

    def _keep_parts(self, parts: list[str], mark: Checkpoint) -> None:
        """Keep the committed rows: whole parts, and the first rows of the last one; remove the other parts."""
        sizes = [read_metadata(self.place.uri + name).num_rows for name in parts]
        if sum(sizes) < mark.rows:
            raise ResumeError(self.name, f"it has {sum(sizes):,} rows, and had {mark.rows:,} when it was marked")
        start = 0
        for name, size in zip(parts, sizes, strict=True):
            if start >= mark.rows:
                self.place.remove(name)
                continue
            self.part_number = int(name[5:-8])
            if start + size > mark.rows:
                part = StorePart(self.layout.for_arrow())
                for batch in read_rows(self.place.uri + name, self.columns, mark.rows - start):
                    part.write(batch)
                self.place.remove(name)
                part.put(self.place, name, mark)
            start += size
            self.part_number += 1

    def _save_mark(self) -> None:
        self.version = self.place.put(MARK, f"{self.mark.to_text()}\n".encode(), self.version)

    def _write(self, batch: Any) -> None:
        if self.part is None:
            self.part, self.part_start = StorePart(self.layout), time.monotonic()
        self.part.write(batch)
        if self.part.octets >= 2 * BYTES:
            self._finish_part()

    def _commit(self) -> None:
        part = self.part
        if part is None or part.octets >= BYTES or time.monotonic() - self.part_start >= SECONDS or self.done:
            self._finish_part()

    def _finish_part(self) -> None:
        """Upload the complete part, then save the mark, which makes it count."""
        if self.part is not None:
            part, self.part = self.part, None
            part.put(self.place, f"part-{self.part_number:05}.parquet", self.mark)
            self.part_number += 1
        self._save_mark()

    def _close(self) -> None:
        if self.part is None and not self.part_number:
            self.part = StorePart(self.layout)  # a table without rows has columns
        self._finish_part()
        if self.done:
            self.place.put(SUCCESS, b"", None)

    def _fail(self) -> None:
        if self.part is not None:
            self.part.drop()
            self.part = None
