"""Tables as Parquet parts in an object store: each is a new object, uploaded in one request; nothing is renamed."""

from __future__ import annotations

import errno
import math
from pathlib import Path
from typing import Any, BinaryIO

from overthere.files.stores.model import Name, ObjectInfo, Store, StoreError
from overthere.files.stores.opening import list_objects, open_object, store_of
from overthere.files.tables.checkpoint import Checkpoint, read_mark
from overthere.files.tables.folder import MARK, Limits, PartsWriter, part_names
from overthere.files.tables.formats import Layout
from overthere.files.tables.writers import FormatWriter, open_format_writer
from overthere.ground.atomic import open_unnamed

SUCCESS = "_SUCCESS"
"""The object written last: readers of other engines wait for it."""
BYTES = 64 << 20
"""Bytes of a part: one request uploads it, for which it is in memory."""
MAX_OBJECTS = 1_000_000
"""Maximum objects in the folder of a table: their names are in memory, and a server may list without end."""


class Place:
    """A folder of a store that contains a table."""

    def __init__(self, uri: str) -> None:
        name = Name.parse(uri)
        self.uri: str = name.uri
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

    def __init__(self, layout: Layout, place: Place, name: str, version: str = "") -> None:
        """version: the version to replace, as in `Store.put`."""
        self.place: Place = place
        self.name: str = name
        self.version: str = version
        self.rows: int = 0
        self.file: BinaryIO = open_unnamed()
        self.format_writer: FormatWriter = open_format_writer(self.file, layout)

    def write(self, batch: Any) -> None:
        self.format_writer.write(batch)
        self.rows += batch.num_rows

    @property
    def octets(self) -> int:
        return self.file.tell()

    def end(self, mark: Checkpoint) -> None:
        """Write the end and upload the part.  Raises: FileExistsError if another job has uploaded this name."""
        self.format_writer.end(mark)
        self.upload()

    def upload(self) -> None:
        """Upload the part, whose end is written.  Raises: as `end`."""
        self.file.seek(0)
        self.place.put(self.name, self.file, self.version)
        self.file.close()

    def drop(self) -> None:
        self.format_writer.drop()
        self.file.close()


class StoreFolder(PartsWriter[StorePart]):
    """URI/part-00000.parquet and so on, and the mark; an object _SUCCESS is written last.

    Two jobs cannot write one table: each replaces only objects that it has seen at its start, or has written itself.
    """

    def __init__(self, uri: str, layout: Layout, job: str, resume: bool) -> None:
        super().__init__(Path(uri), layout, job, resume)
        self.place: Place = Place(uri)
        objects = self.place.names()
        self.versions: dict[str, str] = {name: info.version for name, info in objects.items()}
        mark_info = objects.pop(MARK, None)
        if objects.keys() - {*part_names(objects), SUCCESS} or (objects and mark_info is None):
            raise FileExistsError(errno.EEXIST, "the folder has objects that are not parts of a link table", uri)
        if resume and mark_info is not None:
            mark = self.place.load_mark(mark_info, job)
            if not mark.is_done:
                self.keep_parts(objects, mark)
                return
            if SUCCESS not in objects:
                self.place.put(SUCCESS, b"", None)
            self.continue_from(mark)
            return
        self.place.remove(SUCCESS)
        self._save_mark()  # before the parts are removed, as in a folder of files
        for name in part_names(objects):
            self._remove(name)

    @property
    def name(self) -> str:
        return self.place.uri

    @property
    def _limits(self) -> Limits:
        return Limits(math.inf, BYTES, 2)

    def _locate(self, name: str) -> str:
        return self.place.uri + name

    def _open_part(self, layout: Layout) -> StorePart:
        return StorePart(layout, self.place, self.part_name, self.versions.get(self.part_name, ""))

    def _remove(self, name: str) -> None:
        self.place.remove(name)
        del self.versions[name]

    def _save_mark(self) -> None:
        self.versions[MARK] = self.place.put(MARK, f"{self.mark.to_text()}\n".encode(), self.versions.get(MARK, ""))

    def _close(self) -> None:
        super()._close()
        if self.done:
            self.place.put(SUCCESS, b"", None)
