"""Tasks: the parts of a job, and how files and objects become some."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from overthere.links.containers import records
from overthere.links.documents.kinds import HEAD, kind
from overthere.links.faults import note_kind
from overthere.links.job.retrieval import Retrieval
from overthere.stores.opening import open_object

if TYPE_CHECKING:
    from overthere.access.policy import Policy

__all__ = ["IndexedRecord", "Task", "TaskBuilder"]


class IndexedRecord(NamedTuple):
    """A record as an index names it."""

    offset: int
    length: int
    """0 where the index does not say."""
    uri: str = ""
    digest: str = ""


class Task(NamedTuple):
    """A part of a job that can be read by itself, in any process on the same machine."""

    paths: tuple[str, ...]
    root: str | None
    """The folder that was named, in which they were found; None if each of them was named itself."""
    base: str | None
    """The URI under which the sources are published."""
    start: int = 0
    end: int | None = None
    """Of a WARC or ARC file the records that begin in [start, end)."""
    size: int = 0
    """Octets, as a measure of the work."""
    name: str | None = None
    """What to call a file that has the partial content through a pipe, or by a URI; "-" is standard input."""
    retrieved: Retrieval | None = None
    """What is known of a source that is a URI."""
    objects: tuple[tuple[int, str], ...] | None = None
    """Where the paths are URIs that are read by ranges: size and version of each as it was listed, -1 and "" where its
    first answer tells; None for files."""
    records: tuple[IndexedRecord, ...] = ()
    """Of the one path the records that are read, by their places; with none all of [start, end) are."""
    policy: Policy | None = None
    """The policy for ranges by HTTP."""
    notes: tuple[str, ...] = ()
    """What is the matter with the one path, of which nothing is read then."""
    ignored: int = 0
    """Files and folders before these that are not read, since tools made them (`folders.list_files`)."""

    def path_task(self, place: int) -> Task:
        """The task of one of the paths."""
        objects = None if self.objects is None else self.objects[place : place + 1]
        return self._replace(paths=self.paths[place : place + 1], objects=objects)


_TOGETHER, _MANY = 4 << 20, 200
"""Small files make a task together, up to so many octets and files."""
_FAR_SPLIT = 64 << 20
"""Octets of a WARC file in a store that make a part: each place to cut at is looked for there."""
_APART = (".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".zst", ".mbox", ".eml", ".mht", ".mhtml", ".warc", ".epub")


class TaskBuilder:
    """Files and objects on their way into tasks."""

    def __init__(self, base: str | None, split: int) -> None:
        self.base: str | None = base
        self.split: int = split
        self.root: str | None = None
        self.paths: list[str] = []
        self.versions: list[tuple[int, str]] = []
        self.size: int = 0
        self.ignored: int = 0

    def add(self, path: str, size: int, root: str | None, version: str | None = None) -> Iterator[Task]:
        """Add one; the tasks that are whole come out.

        root: the folder that was named, in which it was found.  version: of an object; None for a file.
        """
        objects = None if version is None else ((size, version),)
        split = self.split if version is None else max(self.split, _FAR_SPLIT)
        self.root = root
        if size >= _TOGETHER or size > split or path.lower().endswith(_APART):
            yield from self.all_tasks()
            start = 0
            for end in _cut_offsets(path, split, objects) if size > split else ():
                yield Task((path,), root, self.base, start, end, end - start, objects=objects)
                start = end
            yield Task((path,), root, self.base, start, None, size - start, objects=objects)
            return
        if len(self.paths) >= _MANY or self.size + size > _TOGETHER:
            yield from self.all_tasks()
        self.paths.append(path)
        if version is not None:
            self.versions.append((size, version))
        self.size += size

    def all_tasks(self) -> Iterator[Task]:
        if self.paths or self.ignored:
            objects = tuple(self.versions) or None
            ignored, self.ignored = self.ignored, 0
            yield Task(tuple(self.paths), self.root, self.base, size=self.size, objects=objects, ignored=ignored)
            self.paths.clear()
            self.versions.clear()
            self.size = 0


def _cut_offsets(path: str, split: int, objects: tuple[tuple[int, str], ...] | None) -> Iterator[int]:
    """Where to cut a file: found as they are asked for, so that the first part does not wait for the last."""
    try:
        with open(path, "rb") if objects is None else open_object(path, *objects[0]) as file:
            if kind(path, "", file.read(HEAD))[0] == "warc":
                yield from islice(records.cuts(file, split), 1, None)
    except Exception as error:  # its reader says what is the matter
        note_kind(error)
