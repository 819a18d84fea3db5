"""Sources of which ranges are read where they lie: objects of stores, parts of files on the web, indexes of archives.

An index names records.  Those of one file that are near one another make a task, which asks for their range once.
"""

from __future__ import annotations

import io
import logging
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeGuard
from urllib.parse import unquote_to_bytes

from overthere.ground.display import printable
from overthere.ground.errors import InvalidURI, OverthereError
from overthere.ground.redact import mask
from overthere.ground.unicode_forms import normalize_unicode
from overthere.links.indexes import Entry, Where, read_index
from overthere.links.job.files import open_file
from overthere.links.job.task_builder import IndexedRecord, Task, TaskBuilder
from overthere.links.model import Note
from overthere.stores.model import Name, StoreError, is_folder, is_object, is_web
from overthere.stores.opening import head_object, list_objects, open_object, open_range, permit
from overthere.values.uri import URI, URIReference

if TYPE_CHECKING:
    from overthere.access.policy import Policy

__all__ = ["Index", "is_ranged", "ranged_tasks"]

_PART = re.compile(r"(?P<uri>[^#]+)#(?P<offset>[0-9]{1,18}),(?P<length>[1-9][0-9]{0,17})", re.DOTALL)
_PATHS = re.compile(r"\.paths(?:\.gz)?\Z", re.IGNORECASE)
_GAP, _SPAN = 1 << 20, 256 << 20
"""Octets between two records that are read with them, and those of a task."""
_WHOLE = 1 << 20
"""Whole files of a list that are remembered, so that each is read once."""
_HELD = 256 << 20
"""Octets of the entries of an index that are held: of more, those of one file may be read in several tasks."""


@dataclass(frozen=True)
class Index:
    """A source: the records that an index of web archives names.

    index: CDXJ, CDX, the columnar index of Common Crawl, or a list of paths: a file, a folder of such files, or the URI
    of one of them in a store, or of a file by HTTP.
    where: conditions, all of which hold, as `domain=example.org` (`links.indexes.Where`).
    files: the folder, or its URI, in which the archive files lie that it names; by default that of the index file, and
    of a URI the root of its server or bucket.
    """

    index: str | URI | os.PathLike[str]
    where: tuple[str, ...] = ()
    files: str | None = None


def is_ranged(source: object) -> TypeGuard[str | URI | os.PathLike[str] | Index]:
    """Whether a source is read by ranges where it lies, or is an index.

    >>> is_ranged("s3://b/a.html"), is_ranged("https://h/a.warc.gz#5,10"), is_ranged("https://h/a.html")
    (True, True, False)
    """
    if isinstance(source, Index) or is_object(source):
        return True
    text = str(source) if isinstance(source, (str, URI, os.PathLike)) else ""
    return (is_web(source) and _PART.fullmatch(text) is not None) or _PATHS.search(text) is not None


def ranged_tasks(
    source: str | URI | os.PathLike[str] | Index, gathered: TaskBuilder, policy: Policy | None
) -> Iterator[Task]:
    """The tasks of such a source.  policy: None permits objects, and nothing on the web."""
    if isinstance(source, Index) or _PATHS.search(str(source)):
        yield from _index_tasks(source if isinstance(source, Index) else Index(source), gathered, policy)
        return
    yield from _range_tasks(str(source), gathered, policy)


def _range_tasks(text: str, gathered: TaskBuilder, policy: Policy | None) -> Iterator[Task]:
    """The tasks of what is no index."""
    part = _PART.fullmatch(text)
    try:
        if is_web(text) and part is not None:
            start, length = int(part["offset"]), int(part["length"])
            yield _web_task(part["uri"], gathered.base, policy, start, start + length)
        elif part is not None:
            _permit(text, policy)
            start, length = int(part["offset"]), int(part["length"])
            unknown = ((-1, ""),)
            yield Task((part["uri"],), None, gathered.base, start, start + length, length, objects=unknown)
        else:
            _permit(text, policy)
            yield from _object_tasks(text, gathered)
    except (OverthereError, StoreError) as error:
        yield from gathered.all_tasks()
        yield _failed_task(text, gathered.base, error)


def _permit(uri: str, policy: Policy | None) -> None:
    if policy is not None:
        permit(uri, policy)


def _failed_task(source: str, base: str | None, error: Exception) -> Task:
    note = error.note if isinstance(error, StoreError) else "not-opened"
    logging.getLogger("overthere.links").warning("%s: %s", printable(mask(source)), error)
    return _noted_task(source, base, note)


def _noted_task(source: str, base: str | None, note: str) -> Task:
    return Task((source,), None, base, name=mask(source), notes=(note,))


def _web_task(uri: str, base: str | None, policy: Policy | None, start: int = 0, end: int | None = None) -> Task:
    if policy is None:
        raise StoreError("refused", "only objects of stores can be read here, and no other URIs")
    size = 0 if end is None else end - start
    return Task((uri,), None, base, start, end, size, objects=((-1, ""),), policy=policy)


def _object_tasks(uri: str, gathered: TaskBuilder) -> Iterator[Task]:
    """An object, or those of a folder."""
    uri = uri.partition("#")[0]
    found = head_object(uri)
    if found is not None:
        yield from gathered.add(uri, found.size, None, found.version)
        yield from gathered.all_tasks()
        return
    root = uri if is_folder(uri) else f"{uri}/"
    is_empty = True
    for one in list_objects(root):
        is_empty = False
        yield from gathered.add(one.uri, one.size, root, one.version)
    yield from gathered.all_tasks()
    if is_empty:
        raise StoreError("missing", "there is no such object, and no folder of that name")


# -- indexes


def _index_tasks(index: Index, gathered: TaskBuilder, policy: Policy | None) -> Iterator[Task]:
    """Raises: ValueError for conditions that the index cannot answer."""
    name = os.fspath(index.index) if isinstance(index.index, os.PathLike) else str(index.index)
    where = Where.parse(index.where)
    notes: Counter[str] = Counter()
    try:
        place = _ArchiveFiles(index, name, gathered, policy)
        held: dict[str, tuple[str, list[IndexedRecord]]] = {}
        whole: set[int] = set()
        octets, is_empty = 0, not index.where
        for entry in _entries(name, where, policy):
            if isinstance(entry, Note):
                notes[entry.kind] += 1
                continue
            is_empty = False
            found = place.find(entry.file)
            if found is None:
                notes["refused"] += 1
            elif entry.offset is None:
                key, path = found
                if hash(key) in whole:
                    notes["repeated"] += 1
                    continue
                if len(whole) >= _WHOLE:
                    whole.clear()
                whole.add(hash(key))
                yield from place.file_tasks(path)
            else:
                key, path = found
                held.setdefault(key, (path, []))[1].append(_record(entry))
                octets += 200 + sys.getsizeof(entry.url) + sys.getsizeof(entry.digest)
            if octets >= _HELD:
                yield from place.record_tasks(held)
                held, octets = {}, 0
        yield from place.record_tasks(held)
        yield from gathered.all_tasks()
        if is_empty and not notes:
            notes["empty"] += 1
    except (OverthereError, OSError) as error:
        yield from gathered.all_tasks()
        if not isinstance(error, (OverthereError, StoreError)):
            error = StoreError("unreadable", error.strerror or str(error))
        yield _failed_task(name, gathered.base, error)
    for kind, number in notes.items():
        logging.getLogger("overthere.links").warning("%s: %s: %s entries", printable(mask(name)), kind, f"{number:,}")
        yield _noted_task(name, gathered.base, kind)


def _entries(name: str, where: Where, policy: Policy | None) -> Iterator[Entry | Note]:
    """The entries of an index, or of all files of a folder of them, by their names."""
    files: Iterable[str] = [name]
    is_folder_here = False
    if is_object(name) and is_folder(name):
        _permit(name, policy)
        files = (one.uri for one in list_objects(name))
    elif is_folder_here := os.path.isdir(name):
        files = sorted(os.path.join(name, file) for file in os.listdir(name))
    for file in files:
        if not file.rpartition("/")[2].startswith((".", "_")):
            try:
                opened = open_file(file, name) if is_folder_here else _open_index(file, policy)
            except OSError:
                if not is_folder_here:
                    raise
                yield Note("unreadable")  # the others are read
                continue
            with opened:
                yield from read_index(file, opened, where)


def _record(entry: Entry) -> IndexedRecord:
    assert entry.offset is not None
    return IndexedRecord(entry.offset, entry.length or 0, entry.url, entry.digest)


def _open_index(name: str, policy: Policy | None) -> BinaryIO:
    if is_object(name):
        _permit(name, policy)
        return open_object(name)
    if not is_web(name):
        return open(name, "rb")
    if policy is None:
        raise StoreError("refused", "only objects of stores can be read here, and no other URIs")
    return open_range(name, policy)


class _ArchiveFiles:
    """The archive files of an index: nothing outside of their folder is read, whatever the index says."""

    def __init__(self, index: Index, name: str, gathered: TaskBuilder, policy: Policy | None) -> None:
        self.gathered, self.policy = gathered, policy
        far = is_object(name) or is_web(name)
        root: str | None = index.files
        if root is None:
            root = f"{URI(name).scheme}://{URI(name).authority}/" if far else os.path.dirname(name) or os.curdir
        self.far: bool = is_object(root) or is_web(root)
        if self.far and not is_web(root):
            _permit(root, policy)
        self.root = f"{root.rstrip('/')}/" if self.far else os.path.realpath(root)
        self.folder = root

    def find(self, file: str) -> tuple[str, str] | None:
        """What an archive file is known by, and where it lies; None if that is outside of the folder, or too long.

        file: its name, which is printable.
        """
        if len(file) > _LONGEST_NAME:  # the time of `realpath` is the square of it
            return None
        if not self.far:
            path = os.path.join(self.folder, file)
            real = os.path.realpath(path)
            return (real, path) if os.path.commonpath((self.root, real)) == self.root else None
        try:
            path = str(URI(self.root).join(URIReference(file)))
            if is_object(path):
                Name.parse(path)  # escaped dots could lead out of the folder
        except (InvalidURI, StoreError):
            return None
        is_below = path.startswith(self.root) and "#" not in path
        is_below = is_below and not _may_lead_out(path[len(self.root) :])
        return (str(URI(path).normalize()), path) if is_below else None

    def file_tasks(self, path: str) -> Iterator[Task]:
        gathered = self.gathered
        if is_object(path):
            yield from _range_tasks(
                path, gathered, self.policy
            )  # a list of paths in a list is none: it could be itself
        elif self.far:
            yield _web_task(path, gathered.base, self.policy)
        else:
            size = Path(path).stat().st_size if os.path.isfile(path) else 0
            yield from gathered.add(path, size, None)

    def record_tasks(self, held: dict[str, tuple[str, list[IndexedRecord]]]) -> Iterator[Task]:
        """Tasks of the records of each file, by their places."""
        for path, records in held.values():
            objects = ((-1, ""),) if self.far else None
            policy = self.policy if is_web(path) else None
            for group in _groups(records):
                last = group[-1]
                start, end = group[0].offset, last.offset + max(last.length, 1)
                yield Task(
                    (path,), None, self.gathered.base, start, end, end - start, objects=objects, records=group,
                    policy=policy,
                )  # fmt: skip


_LONGEST_NAME, _MOST_DECODINGS = 1 << 13, 16
_OTHER_DOTS = re.compile(
    rb"[\x00-\x1f\x7f\xc0\xc1]|\xe0[\x80-\x9f]|[\xf0\xf8\xfc][\x80-\x8f]|%u[0-9a-f]{4}", re.IGNORECASE
)
"""What decoders with faults take for dots and slashes: UTF-8 that is too long, `%uXXXX`; controls, which some drop."""


def _may_lead_out(name: str) -> bool:
    """Whether a server could take a name for an absolute one, or a segment for dots, however often it decodes it.

    >>> [_may_lead_out(name) for name in ("a/b..c.gz", "%2e%2e/x", "a%255c.%252E/x", "..;v=1/x", "a?/../c", "%41.gz")]
    [False, True, True, True, True, False]
    """
    octets = name.encode("utf-8", "surrogatepass")
    for _ in range(_MOST_DECODINGS):
        decoded = unquote_to_bytes(octets)
        if decoded == octets:
            break
        octets = decoded
    else:
        return True
    if _OTHER_DOTS.search(octets):
        return True
    text = normalize_unicode("NFKC", octets.decode("utf-8", "replace"))
    segments = [one.partition(";")[0].strip() for one in re.split(r"[/\\?]", text)]
    return not segments[0] or any(one and not one.strip(". ") for one in segments)


def _groups(records: Iterable[IndexedRecord]) -> Iterator[tuple[IndexedRecord, ...]]:
    """Records that are near one another, each once.

    >>> [[one.offset for one in group] for group in _groups([IndexedRecord(9 << 20, 5), *[IndexedRecord(7, 3)] * 2])]
    [[7], [9437184]]
    """
    group: list[IndexedRecord] = []
    for one in sorted(records):
        if group and one == group[-1]:
            continue
        if group:
            behind = group[-1].offset + group[-1].length
            if one.offset - behind > _GAP or one.offset + one.length - group[0].offset > _SPAN:
                yield tuple(group)
                group = []
        group.append(one)
    if group:
        yield tuple(group)


def open_ranges(task: Task, path: str, place: int) -> BinaryIO:
    """One of the paths of a task, which are URIs.  Raises: StoreError; InvalidURI."""
    assert task.objects is not None
    size, version = task.objects[place]
    ends = () if task.end is None else (task.end,)
    # Of records whose lengths are known nothing lies behind them.
    bound = task.end if task.end is not None and task.records and all(one.length for one in task.records) else -1
    if is_web(path):
        assert task.policy is not None
        return open_range(path, task.policy, ends, bound)
    if size == 0:
        return io.BytesIO()  # many stores have no range of it (RFC 9110 15.5.17)
    return open_object(path, size, version, ends, bound)
