"""Sources read in place by ranges: objects of stores, parts of files on the web, indexes of archives.

An index names records.  Nearby records of one file form a task, which requests their range once.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeGuard
from urllib.parse import unquote_to_bytes

from overthere.files.stores.model import Name, StoreError, is_folder, is_object, is_web
from overthere.files.stores.opening import head_object, list_objects, open_object, open_range, permit
from overthere.ground.caches import bounded_cache
from overthere.ground.display import printable
from overthere.ground.errors import InvalidURI, OverthereError
from overthere.ground.redact import mask
from overthere.ground.unicode_forms import normalize_unicode
from overthere.links.indexes import Entry, Where, read_index
from overthere.links.job.files import open_file
from overthere.links.job.task_builder import IndexedRecord, Task, TaskBuilder
from overthere.links.model import Note
from overthere.values.uri import URI, URIReference

if TYPE_CHECKING:
    from overthere.access.policy import Policy

_RANGE = re.compile(r"(?P<uri>[^#]+)#(?P<offset>[0-9]{1,18}),(?P<length>[1-9][0-9]{0,17})", re.DOTALL)
_PATHS_FILE = re.compile(r"\.paths(?:\.gz)?\Z", re.IGNORECASE)
_MAX_GAP, _MAX_SPAN = 1 << 20, 256 << 20
"""The most bytes between two records of a task, and in a task."""
_MAX_SEEN_FILES = 1 << 20
"""Files of a list that are remembered, so that each is read once."""
_MAX_BUFFERED_BYTES = 256 << 20
"""Bytes of buffered index entries; beyond it, nearby records of a file may be split into several tasks."""


@dataclass(frozen=True)
class Index:
    """A source: the records that an index of web archives names.

    index: CDXJ, CDX, the columnar index of Common Crawl, or a list of paths: a file or a folder of such files, or the
    URI of either in a store, or of a file by HTTP.
    where: conditions that must all hold, such as `domain=example.org` (`links.indexes.Where`).
    files: the folder of the archive files, or its URI; by default the folder of the index file, or for a URI the root
    of its server or bucket.
    """

    index: str | URI | os.PathLike[str]
    where: tuple[str, ...] = ()
    files: str | None = None


def is_ranged(source: object) -> TypeGuard[str | URI | os.PathLike[str] | Index]:
    """Whether a source is read in place by ranges, or is an index.

    >>> is_ranged("s3://b/a.html"), is_ranged("https://h/a.warc.gz#5,10"), is_ranged("https://h/a.html")
    (True, True, False)
    """
    if isinstance(source, Index) or is_object(source):
        return True
    text = str(source) if isinstance(source, (str, URI, os.PathLike)) else ""
    return (is_web(source) and _RANGE.fullmatch(text) is not None) or _PATHS_FILE.search(text) is not None


def ranged_tasks(
    source: str | URI | os.PathLike[str] | Index, builder: TaskBuilder, policy: Policy | None
) -> Iterator[Task]:
    """Yield the tasks of such a source.  policy: None permits objects, and nothing on the web."""
    if isinstance(source, Index) or _PATHS_FILE.search(str(source)):
        yield from _index_tasks(source if isinstance(source, Index) else Index(source), builder, policy)
        return
    yield from _range_tasks(str(source), builder, policy)


def _range_tasks(text: str, builder: TaskBuilder, policy: Policy | None) -> Iterator[Task]:
    """Yield the tasks of an object, a folder of objects, or a part of a file."""
    part = _RANGE.fullmatch(text)
    try:
        if is_web(text) and part is not None:
            start, length = int(part["offset"]), int(part["length"])
            yield _web_task(part["uri"], builder.base, policy, start, start + length)
        elif part is not None:
            _permit(text, policy)
            start, length = int(part["offset"]), int(part["length"])
            unknown = ((-1, ""),)
            yield Task((part["uri"],), None, builder.base, start, start + length, length, objects=unknown)
        else:
            _permit(text, policy)
            yield from _object_tasks(text, builder)
    except (OverthereError, StoreError) as error:
        yield from builder.flush()
        yield _failed_task(text, builder.base, error)


def _permit(uri: str, policy: Policy | None) -> None:
    if policy is not None:
        permit(uri, policy)


def _failed_task(source: str, base: str | None, error: Exception) -> Task:
    note = error.note if isinstance(error, StoreError) else "not-opened"
    import logging

    logging.getLogger("overthere.links").warning("%s: %s", printable(mask(source)), error)
    return _noted_task(source, base, note)


def _noted_task(source: str, base: str | None, note: str) -> Task:
    return Task((source,), None, base, name=mask(source), notes=(note,))


def _web_task(uri: str, base: str | None, policy: Policy | None, start: int = 0, end: int | None = None) -> Task:
    if policy is None:
        raise StoreError("refused", "only objects of stores can be read here, and no other URIs")
    URI(uri)  # an invalid one is a note on this source
    size = 0 if end is None else end - start
    return Task((uri,), None, base, start, end, size, objects=((-1, ""),), policy=policy)


def _object_tasks(uri: str, builder: TaskBuilder) -> Iterator[Task]:
    """Yield the tasks of an object, or of the objects in a folder."""
    uri = uri.partition("#")[0]
    head = head_object(uri)
    if head is not None:
        yield from builder.add(uri, head.size, None, head.version)
        yield from builder.flush()
        return
    root = uri if is_folder(uri) else f"{uri}/"
    is_empty = True
    for item in list_objects(root):
        is_empty = False
        yield from builder.add(item.uri, item.size, root, item.version)
    yield from builder.flush()
    if is_empty:
        raise StoreError("missing", "there is no such object, and no folder of that name")


# -- indexes


def _index_tasks(index: Index, builder: TaskBuilder, policy: Policy | None) -> Iterator[Task]:
    """Yield the tasks of an index.  Raises: ValueError for conditions that the index does not support."""
    name = os.fspath(index.index) if isinstance(index.index, os.PathLike) else str(index.index)
    where = Where.parse(index.where)
    notes: Counter[str] = Counter()
    try:
        archive_files = _ArchiveFiles(index, name, builder, policy)
        records_by_file: dict[str, tuple[str, list[IndexedRecord]]] = {}
        seen_files: set[int] = set()
        buffered, is_empty = 0, not index.where
        for entry in _entries(name, where, policy):
            if isinstance(entry, Note):
                notes[entry.kind] += 1
                continue
            is_empty = False
            location = archive_files.find(entry.file)
            if location is None:
                notes["refused"] += 1
            elif entry.offset is None:
                key, path = location
                if hash(key) in seen_files:
                    notes["repeated"] += 1
                    continue
                if len(seen_files) >= _MAX_SEEN_FILES:
                    seen_files.clear()
                seen_files.add(hash(key))
                yield from archive_files.file_tasks(path)
            else:
                key, path = location
                records_by_file.setdefault(key, (path, []))[1].append(_indexed_record(entry))
                buffered += 200 + sys.getsizeof(entry.url) + sys.getsizeof(entry.digest)
            if buffered >= _MAX_BUFFERED_BYTES:
                yield from archive_files.record_tasks(records_by_file)
                records_by_file, buffered = {}, 0
        yield from archive_files.record_tasks(records_by_file)
        yield from builder.flush()
        if is_empty and not notes:
            notes["empty"] += 1
    except (OverthereError, OSError) as error:
        yield from builder.flush()
        if not isinstance(error, (OverthereError, StoreError)):
            error = StoreError("unreadable", error.strerror or str(error))
        yield _failed_task(name, builder.base, error)
    for kind, count in notes.items():
        import logging

        logging.getLogger("overthere.links").warning("%s: %s: %s entries", printable(mask(name)), kind, f"{count:,}")
        yield _noted_task(name, builder.base, kind)


def _entries(name: str, where: Where, policy: Policy | None) -> Iterator[Entry | Note]:
    """Yield the entries of an index, or of all files in a folder of indexes, sorted by name."""
    files: Iterable[str] = [name]
    is_local_folder = False
    if is_object(name) and is_folder(name):
        _permit(name, policy)
        files = (item.uri for item in list_objects(name))
    elif is_local_folder := os.path.isdir(name):
        files = sorted(os.path.join(name, file_name) for file_name in os.listdir(name))
    for file_name in files:
        if not file_name.rpartition("/")[2].startswith((".", "_")):
            try:
                opened = open_file(file_name, name) if is_local_folder else _open_index(file_name, policy)
            except OSError:
                if not is_local_folder:
                    raise
                yield Note("unreadable")  # other files are still read
                continue
            with opened:
                yield from read_index(file_name, opened, where)


def _indexed_record(entry: Entry) -> IndexedRecord:
    assert entry.offset is not None
    return IndexedRecord(entry.offset, entry.length or 0, entry.url, entry.digest)


def _open_index(name: str, policy: Policy | None) -> BinaryIO:
    if is_object(name):
        _permit(name, policy)
        return open_object(name)
    if not is_web(name):
        return open_file(name)
    if policy is None:
        raise StoreError("refused", "only objects of stores can be read here, and no other URIs")
    return open_range(name, policy)


class _ArchiveFiles:
    """The archive files of an index; an untrusted index cannot name files outside of their folder."""

    def __init__(self, index: Index, name: str, builder: TaskBuilder, policy: Policy | None) -> None:
        self.builder, self.policy = builder, policy
        is_remote = is_object(name) or is_web(name)
        root: str | None = index.files
        if root is None:
            root = f"{URI(name).scheme}://{URI(name).authority}/" if is_remote else os.path.dirname(name) or os.curdir
        self.is_remote: bool = is_object(root) or is_web(root)
        if self.is_remote and not is_web(root):
            _permit(root, policy)
        self.root = f"{root.rstrip('/')}/" if self.is_remote else os.path.realpath(root)
        self.folder = root
        self.find: Callable[[str], tuple[str, str] | None] = bounded_cache(_CACHE_SIZE)(self._find)

    def _find(self, file: str) -> tuple[str, str] | None:
        """Return a key and the path of an archive file; None if it is outside of the folder, or its name is too long.

        file: its name in the index, printable.
        """
        if len(file) > _MAX_NAME_LENGTH:  # `realpath` takes quadratic time
            return None
        if not self.is_remote:
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
        builder = self.builder
        if is_object(path):
            yield from _range_tasks(path, builder, self.policy)  # not as a list of paths: a list could name itself
        elif self.is_remote:
            yield _web_task(path, builder.base, self.policy)
        else:
            size = Path(path).stat().st_size if os.path.isfile(path) else 0
            yield from builder.add(path, size, None)

    def record_tasks(self, records_by_file: dict[str, tuple[str, list[IndexedRecord]]]) -> Iterator[Task]:
        """Yield tasks for the records of each file, in the order of their offsets."""
        for path, records in records_by_file.values():
            objects = ((-1, ""),) if self.is_remote else None
            policy = self.policy if is_web(path) else None
            for group in _group_records(records):
                last = group[-1]
                start, end = group[0].offset, last.offset + max(last.length, 1)
                yield Task(
                    (path,), None, self.builder.base, start, end, end - start, objects=objects, records=group,
                    policy=policy,
                )  # fmt: skip


_MAX_NAME_LENGTH, _MAX_DECODINGS, _CACHE_SIZE = 1 << 13, 16, 1024
_DISGUISED_DOTS = re.compile(
    rb"[\x00-\x1f\x7f\xc0\xc1]|\xe0[\x80-\x9f]|[\xf0\xf8\xfc][\x80-\x8f]|%u[0-9a-f]{4}", re.IGNORECASE
)
"""Bytes that faulty decoders read as dots and slashes: overlong UTF-8, `%uXXXX`, and controls, which some drop."""


def _may_lead_out(name: str) -> bool:
    """Whether a server that decodes a name any number of times could read it as absolute, or a segment as dots.

    >>> [_may_lead_out(name) for name in ("a/b..c.gz", "%2e%2e/x", "a%255c.%252E/x", "..;v=1/x", "a?/../c", "%41.gz")]
    [False, True, True, True, True, False]
    """
    octets = name.encode("utf-8", "surrogatepass")
    for _ in range(_MAX_DECODINGS):
        decoded = unquote_to_bytes(octets)
        if decoded == octets:
            break
        octets = decoded
    else:
        return True
    if _DISGUISED_DOTS.search(octets):
        return True
    text = normalize_unicode("NFKC", octets.decode("utf-8", "replace"))
    segments = [segment.partition(";")[0].strip() for segment in re.split(r"[/\\?]", text)]
    return not segments[0] or any(segment and not segment.strip(". ") for segment in segments)


def _group_records(records: Iterable[IndexedRecord]) -> Iterator[tuple[IndexedRecord, ...]]:
    """Yield groups of nearby records, without duplicates.

    >>> [[r.offset for r in group] for group in _group_records([IndexedRecord(9 << 20, 5), *[IndexedRecord(7, 3)] * 2])]
    [[7], [9437184]]
    """
    group: list[IndexedRecord] = []
    for record in sorted(records):
        if group and record == group[-1]:
            continue
        if group:
            group_end = group[-1].offset + group[-1].length
            if record.offset - group_end > _MAX_GAP or record.offset + record.length - group[0].offset > _MAX_SPAN:
                yield tuple(group)
                group = []
        group.append(record)
    if group:
        yield tuple(group)


def open_ranges(task: Task, path: str, index: int) -> BinaryIO:
    """Open one of the URIs of a task.  Raises: StoreError; InvalidURI."""
    assert task.objects is not None
    size, version = task.objects[index]
    ends = () if task.end is None else (task.end,)
    # If the lengths of the records are known, nothing after them is read.
    limit = task.end if task.end is not None and task.records and all(record.length for record in task.records) else -1
    if is_web(path):
        assert task.policy is not None
        return open_range(path, task.policy, ends, limit)
    if size == 0:
        return io.BytesIO()  # many stores reject any range of it (RFC 9110 15.5.17)
    return open_object(path, size, version, ends, limit)
