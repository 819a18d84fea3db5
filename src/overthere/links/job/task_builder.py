"""Tasks: the units of work of a job, built from files and objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from overthere.links.containers import records
from overthere.links.containers.model import Part, find_container
from overthere.links.documents.kinds import HEAD, kind
from overthere.links.faults import note_kind
from overthere.links.job.retrieval import Retrieval

if TYPE_CHECKING:
    from overthere.access.policy import Policy


class IndexedRecord(NamedTuple):
    """A record as described by an index."""

    offset: int
    length: int
    """0 if the index has none."""
    uri: str = ""
    digest: str = ""


class Task(NamedTuple):
    """A part of a job that can be read independently, in any process on the same machine."""

    paths: tuple[str, ...]
    root: str | None
    """The folder that is the source; None if each path is a source itself."""
    base: str | None
    """The URI under which the sources are published."""
    start: int = 0
    end: int | None = None
    """Only the records of a WARC or ARC file that begin in [start, end) are read."""
    size: int = 0
    """Bytes, as a measure of the work."""
    name: str | None = None
    """The name to show for a temporary file: a pipe or a URI; "-" is standard input."""
    retrieved: Retrieval | None = None
    """Metadata of a source that is a URI."""
    objects: tuple[tuple[int, str], ...] | None = None
    """For paths that are URIs read by ranges: size and version of each as listed, or -1 and "", if its first response
    gives them; None for files."""
    part: Part | None = None
    """The part of a ZIP or tar file or of a mailbox to read; None for all of it."""
    records: tuple[IndexedRecord, ...] = ()
    """The records of the one path to read, by offset; if empty, all in [start, end)."""
    policy: Policy | None = None
    """The policy for ranges by HTTP."""
    notes: tuple[str, ...] = ()
    """Problems with the one path, which is not read then."""
    ignored: int = 0
    """Files and folders that `folders.list_files` skipped before these paths."""

    def select(self, start: int, end: int | None = None) -> Task:
        """Return the task of the paths in [start, end), without what was skipped before them."""
        objects = None if self.objects is None else self.objects[start:end]
        return self._replace(paths=self.paths[start:end], objects=objects, ignored=0)


_MAX_GROUP_BYTES, _MAX_GROUP_FILES = 4 << 20, 200
"""The most bytes and files of a task of small files."""
_MIN_STORE_SPLIT = 64 << 20
"""The least bytes per task of a WARC file in a store, where each offset to cut at takes requests."""
_UNGROUPED = (".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".zst", ".mbox", ".eml", ".mht", ".mhtml", ".warc", ".epub")


class TaskBuilder:
    """Groups files and objects into tasks."""

    def __init__(self, base: str | None, split: int, media_type: str = "", *, cuts_archives: bool = True) -> None:
        """media_type: the type of each source that is not a folder; "" if its name and content decide."""
        self.base: str | None = base
        self.media_type: str = media_type
        self.cuts_archives: bool = cuts_archives
        self.split: int = split
        self.root: str | None = None
        self.paths: list[str] = []
        self.versions: list[tuple[int, str]] = []
        self.size: int = 0
        self.ignored: int = 0

    def add(self, path: str, size: int, root: str | None, version: str | None = None) -> Iterator[Task]:
        """Add a file or object; yield the tasks that are complete.

        root: the folder that is the source.  version: the version of an object; None for a file.
        """
        objects = None if version is None else ((size, version),)
        split = self.split if version is None else max(self.split, _MIN_STORE_SPLIT)
        self.root = root
        if size >= _MAX_GROUP_BYTES or size > split or path.lower().endswith(_UNGROUPED):
            yield from self.flush()
            file_task = Task((path,), root, self.base, size=size, objects=objects)
            media_type = self.media_type if root is None else ""
            yield from (_split_task(file_task, split, media_type, self.cuts_archives) if size > split else (file_task,))
            return
        if len(self.paths) >= _MAX_GROUP_FILES or self.size + size > _MAX_GROUP_BYTES:
            yield from self.flush()
        self.paths.append(path)
        if version is not None:
            self.versions.append((size, version))
        self.size += size

    def flush(self) -> Iterator[Task]:
        if self.paths or self.ignored:
            objects = tuple(self.versions) or None
            ignored, self.ignored = self.ignored, 0
            yield Task(tuple(self.paths), self.root, self.base, size=self.size, objects=objects, ignored=ignored)
            self.paths.clear()
            self.versions.clear()
            self.size = 0


_SPLIT_ARCHIVES = ("zip", "tar", "mbox")


def _split_task(task: Task, size: int, media_type: str, cuts_archives: bool) -> Iterator[Task]:
    """Cut the task of a file into tasks of about `size` bytes, lazily, so that the first does not wait for the last."""
    from overthere.files.stores.opening import open_object

    last_end, has_parts = 0, False
    try:
        with (
            open(task.paths[0], "rb") if task.objects is None else open_object(task.paths[0], *task.objects[0]) as file
        ):
            file_kind = kind(task.paths[0], media_type, file.read(HEAD))[0]
            if file_kind == "warc":
                for end in islice(records.find_cuts(file, size), 1, None):
                    yield task._replace(start=last_end, end=end, size=end - last_end)
                    last_end = end
            elif cuts_archives and file_kind in _SPLIT_ARCHIVES and task.objects is None:
                find_parts: Callable[[BinaryIO, int], Iterator[Part]] = vars(find_container(file_kind))["find_parts"]
                for part in find_parts(file, size):
                    has_parts = True
                    yield task._replace(part=part._replace(kind=file_kind), size=part.size)
    except Exception as error:  # its reader reports the problem
        note_kind(error)
    if not has_parts:
        yield task._replace(start=last_end, size=task.size - last_end)
