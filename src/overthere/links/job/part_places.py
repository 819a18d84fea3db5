"""Where the parts of a job are written: a folder of files, or of objects in a store.

DIR/task=000012/links.parquet   the rows of a part; its metadata has the key of the part and a summary
DIR/_overthere.json             the identity of the job
DIR/_SUCCESS                    all parts are complete
"""

from __future__ import annotations

import errno
import os
import re
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any

from overthere.files.stores.model import is_object
from overthere.files.tables.atomic_table import PartFile, read_metadata
from overthere.files.tables.checkpoint import KEY, Checkpoint, ResumeError, load_mark, read_mark
from overthere.files.tables.folder import MARK
from overthere.files.tables.formats import Layout
from overthere.files.tables.store_folder import SUCCESS, Place, StorePart
from overthere.ground.atomic import create_empty, remove, remove_folder
from overthere.links.report.summary import Summary

_FOLDER = re.compile(r"task=([0-9]{6,})")
_OBJECT = re.compile(r"task=([0-9]{6,})/links\.parquet|part-[^/]*\.parquet")
_TEMPORARY = "_temporary"
_FOREIGN_FILES = "the folder has files that are not parts of a link table"


def place_of(folder: str) -> FilePlace | ObjectPlace:
    return ObjectPlace(folder) if is_object(folder) else FilePlace(folder)


def _read_summary(path: Path | str, job: str) -> Summary | None:
    """Return the summary of the same part from an earlier run; None without one."""
    try:
        file = read_metadata(path)
        mark = read_mark((file.metadata or {}).get(KEY.encode(), b""), str(path), job)
        return Summary.from_dict(mark.state["summary"]) if mark.rows == file.num_rows else None
    except (OSError, KeyError, ValueError):  # a ResumeError too
        return None


class FilePlace:
    """A folder in a file system that all machines share."""

    def __init__(self, folder: str) -> None:
        self.folder: Path = Path(folder)

    def claim(self) -> None:
        """Create the folder, or check that it has only parts.  Raises: FileExistsError if it has other files."""
        self.folder.mkdir(parents=True, exist_ok=True)
        names = [name for name in os.listdir(self.folder) if not name.startswith((".", "_"))]
        has_mark = (self.folder / MARK).exists()
        if names and not (has_mark and all(_FOLDER.fullmatch(name) or name.endswith(".parquet") for name in names)):
            raise FileExistsError(errno.EEXIST, _FOREIGN_FILES, str(self.folder))

    def begin(self, job: str, count: int) -> None:
        """Prepare the folder for `count` parts: remove the parts of other jobs, keep those of this job.

        Raises: FileExistsError if the folder has other files; OSError if it cannot be written.
        """
        self.claim()
        folder = self.folder
        try:
            is_same_job = load_mark(folder / MARK, str(folder), job) is not None
        except ResumeError:
            is_same_job = False
        remove(folder / SUCCESS)
        for name in os.listdir(folder):
            match = _FOLDER.fullmatch(name)
            if name == _TEMPORARY or (match and not (is_same_job and int(match[1]) < count)):
                remove_folder(folder / name)
            elif not name.startswith((".", "_")) and not match:
                remove(folder / name)
        Checkpoint(job, 0, 0, {}).save(folder / MARK)
        (folder / _TEMPORARY).mkdir(exist_ok=True)  # a part of an earlier job that ends late may have made it

    def finish(self) -> None:
        """Mark the job as complete."""
        discard_folders(self.folder / _TEMPORARY)
        create_empty(self.folder / SUCCESS)

    def existing_summary(self, number: int, job: str) -> Summary | None:
        return _read_summary(self._path(number), job)

    def _path(self, number: int) -> Path:
        return self.folder / f"task={number:06}" / "links.parquet"

    def open(self, number: int, layout: Layout) -> PartFile:
        path = self._path(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary_path = self.folder / _TEMPORARY / f"{number}-{uuid.uuid4().hex}.parquet"
        temporary_path.parent.mkdir(exist_ok=True)
        return PartFile(path, temporary_path, layout)

    def end(self, number: int, part: Any, mark: Checkpoint) -> None:
        part.end(mark)


class ObjectPlace:
    """A folder of a store: each part is one atomic upload."""

    def __init__(self, folder: str) -> None:
        self.folder: str = folder
        self.place: Place = Place(folder)

    def claim(self) -> None:
        """Check that the folder has only parts.  Raises: FileExistsError if it has other objects."""
        names = self.place.names()
        if names and not (MARK in names and all(_OBJECT.fullmatch(name) for name in set(names) - {MARK, SUCCESS})):
            raise FileExistsError(errno.EEXIST, _FOREIGN_FILES, self.folder)

    def begin(self, job: str, count: int) -> None:
        """As `FilePlace.begin`.  Raises: FileExistsError; StoreError."""
        self.claim()
        names = self.place.names()
        mark = names.pop(MARK, None)
        try:
            is_same_job = mark is not None and self.place.load_mark(mark, job) is not None
        except ResumeError:
            is_same_job = False
        self.place.remove(SUCCESS)
        for name in names:
            match = _OBJECT.fullmatch(name)
            if match and not (is_same_job and match[1] and int(match[1]) < count):
                self.place.remove(name)
        text = Checkpoint(job, 0, 0, {}).to_text()
        self.place.put(MARK, f"{text}\n".encode(), "" if mark is None else mark.version)

    def finish(self) -> None:
        """Mark the job as complete."""
        self.place.put(SUCCESS, b"", None)

    def existing_summary(self, number: int, job: str) -> Summary | None:
        return _read_summary(self.folder + self._name(number), job)

    def _name(self, number: int) -> str:
        return f"task={number:06}/links.parquet"

    def open(self, number: int, layout: Layout) -> StorePart:
        return StorePart(layout, self.place, self._name(number))

    def end(self, number: int, part: Any, mark: Checkpoint) -> None:
        """Upload the part, unless another attempt has; one of another job or with "unreadable" files is replaced."""
        try:
            part.end(mark)
        except FileExistsError:
            existing = self.existing_summary(number, mark.job)
            if existing is not None and not existing.notes["unreadable"]:
                return
            self.place.remove(part.name)
            part.upload()


def discard_folders(*folders: Path) -> None:
    """Remove folders if possible; readers skip names that begin with an underscore."""
    for folder in folders:
        with suppress(OSError):
            remove_folder(folder)
