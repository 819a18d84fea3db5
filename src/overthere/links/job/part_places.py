"""Where the parts of a job lie: a folder of files, or of objects in a store.

DIR/task=000012/links.parquet   the rows of a part, and in its metadata what they are made of and a summary
DIR/_overthere.json             which job it is
DIR/_SUCCESS                    all parts are there
"""

from __future__ import annotations

import errno
import os
import re
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from overthere.ground.atomic import create_empty, remove, remove_folder
from overthere.links.report.summary import Summary
from overthere.stores.model import is_object
from overthere.tables.atomic_table import PartFile, read_metadata
from overthere.tables.checkpoint import KEY, Checkpoint, ResumeError, load_mark, read_mark
from overthere.tables.folder import MARK
from overthere.tables.formats import Layout
from overthere.tables.store_folder import SUCCESS, Place, StorePart

__all__ = ["FilePlace", "GrowingPart", "ObjectPlace", "drop", "place_of"]

_NAME = re.compile(r"task=([0-9]{6,})")
_PART = re.compile(r"task=([0-9]{6,})/links\.parquet|part-[^/]*\.parquet")
_ASIDE = "_temporary"
_OTHERS = "the folder has files that are not parts of a link table"


class GrowingPart(Protocol):
    """The table of a part that is being made."""

    rows: int

    def write(self, batch: Any) -> None: ...

    def drop(self) -> None: ...


def place_of(folder: str) -> FilePlace | ObjectPlace:
    return ObjectPlace(folder) if is_object(folder) else FilePlace(folder)


def _summary_of(path: Path | str, job: str) -> Summary | None:
    """The summary of what an earlier run made of the same part."""
    try:
        file = read_metadata(path)
        mark = read_mark((file.metadata or {}).get(KEY.encode(), b""), str(path), job)
        return Summary.from_dict(mark.state["summary"]) if mark.rows == file.num_rows else None
    except (OSError, KeyError, ValueError):  # a ResumeError too
        return None


class FilePlace:
    """A folder in a file system that all machines see."""

    def __init__(self, folder: str) -> None:
        self.folder: Path = Path(folder)

    def claim(self) -> None:
        """Make a folder for parts, or see that it is one.  Raises: FileExistsError if it holds anything else."""
        self.folder.mkdir(parents=True, exist_ok=True)
        there = [name for name in os.listdir(self.folder) if not name.startswith((".", "_"))]
        own = (self.folder / MARK).exists()
        if there and not (own and all(_NAME.fullmatch(name) or name.endswith(".parquet") for name in there)):
            raise FileExistsError(errno.EEXIST, _OTHERS, str(self.folder))

    def begin(self, job: str, count: int) -> None:
        """Lay out the folder for so many parts: of another job nothing is left, of this job what may be used again.

        Raises: FileExistsError if the folder holds anything else; OSError if it cannot be written.
        """
        self.claim()
        folder = self.folder
        try:
            same = load_mark(folder / MARK, str(folder), job) is not None
        except ResumeError:
            same = False
        remove(folder / SUCCESS)
        for name in os.listdir(folder):
            task = _NAME.fullmatch(name)
            if name == _ASIDE or (task and not (same and int(task[1]) < count)):
                remove_folder(folder / name)
            elif not name.startswith((".", "_")) and not task:
                remove(folder / name)
        Checkpoint(job, 0, 0, {}).save(folder / MARK)
        (folder / _ASIDE).mkdir()

    def finish(self) -> None:
        """All parts are there."""
        drop(self.folder / _ASIDE)
        create_empty(self.folder / SUCCESS)

    def existing_summary(self, number: int, job: str) -> Summary | None:
        return _summary_of(self._path(number), job)

    def _path(self, number: int) -> Path:
        return self.folder / f"task={number:06}" / "links.parquet"

    def open(self, number: int, layout: Layout) -> PartFile:
        path = self._path(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = self.folder / _ASIDE / f"{number}-{uuid.uuid4().hex}.parquet"
        aside.parent.mkdir(exist_ok=True)
        return PartFile(path, aside, layout)

    def end(self, number: int, part: Any, mark: Checkpoint) -> None:
        part.end(mark)


class ObjectPlace:
    """A folder of a store: each part is put there whole."""

    def __init__(self, folder: str) -> None:
        self.folder: str = folder
        self.place: Place = Place(folder)

    def claim(self) -> None:
        """Raises: FileExistsError if the folder holds anything but parts."""
        there = self.place.names()
        if there and not (MARK in there and all(_PART.fullmatch(name) for name in set(there) - {MARK, SUCCESS})):
            raise FileExistsError(errno.EEXIST, _OTHERS, self.folder)

    def begin(self, job: str, count: int) -> None:
        """As of files.  Raises: FileExistsError; StoreError."""
        self.claim()
        there = self.place.names()
        found = there.pop(MARK, None)
        try:
            same = found is not None and self.place.load_mark(found, job) is not None
        except ResumeError:
            same = False
        self.place.remove(SUCCESS)
        for name in there:
            part = _PART.fullmatch(name)
            if part and not (same and part[1] and int(part[1]) < count):
                self.place.remove(name)
        text = Checkpoint(job, 0, 0, {}).to_text()
        self.place.put(MARK, f"{text}\n".encode(), "" if found is None else found.version)

    def finish(self) -> None:
        """All parts are there."""
        self.place.put(SUCCESS, b"", None)

    def existing_summary(self, number: int, job: str) -> Summary | None:
        return _summary_of(self.folder + self._name(number), job)

    def _name(self, number: int) -> str:
        return f"task={number:06}/links.parquet"

    def open(self, number: int, layout: Layout) -> StorePart:
        return StorePart(layout)

    def end(self, number: int, part: Any, mark: Checkpoint) -> None:
        """Another attempt may have put the same part, which stays then; one of other content is replaced."""
        name = self._name(number)
        try:
            part.put(self.place, name, mark)
        except FileExistsError:
            kept = self.existing_summary(number, mark.job)
            if kept is not None and not kept.notes["unreadable"]:
                return
            self.place.remove(name)
            part.put_again(self.place, name)


def drop(*folders: Path) -> None:
    """Remove folders, if that is possible: readers pass over what begins with a line."""
    for folder in folders:
        with suppress(OSError):
            remove_folder(folder)
