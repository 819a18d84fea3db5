"""Sources: files, folders, URIs, nested containers, standard input; splits a job into tasks."""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from overthere.ground.redact import mask
from overthere.links.containers.temporary import create_file
from overthere.links.documents.kinds import TYPES
from overthere.links.job.files import size_of
from overthere.links.job.folders import SKIPPED, list_files
from overthere.links.job.prefetch import JOBS, RetrievedFile, prefetch_sources
from overthere.links.job.ranged_sources import Index, is_ranged, ranged_tasks
from overthere.links.job.task_builder import Task, TaskBuilder
from overthere.links.model import Options
from overthere.values.uri import URI

if TYPE_CHECKING:
    from overthere.access.policy import Policy


def tasks(
    sources: Iterable[str | os.PathLike[str] | URI | Index], base: URI | None, options: Options, split: int = 1 << 19,
    policy: Policy | None = None, jobs: int = JOBS, cuts_archives: bool = True,
) -> Iterator[Task]:  # fmt: skip
    """Yield the tasks of a job, in the order of the sources and, in a folder, of the names: files, then folders.

    split: bytes of an archive per task.  cuts_archives: whether ZIP and tar files and mailboxes are cut too, into tasks
    that are no JSON.
    policy: the policy for sources that are URIs (`is_uri`); without one, every source is a file name.
    jobs: URIs retrieved at once (`prefetch.prefetch_sources`).

    `FILE#OFFSET,LENGTH`, as indexes have it, selects the records of a WARC or ARC file that begin in that range,
    unless a file has that very name.

    Data from a pipe or a URI goes into a temporary file first, because other processes cannot read it, and archives
    are read from their end.  `temporary.remove_files` removes it.  Hidden files are read; the next task of a folder
    counts the files that `folders.list_files` skips.

    Links: a link that is a source itself is followed.  In a folder, a link to a file is followed if the file is in that
    folder too, at any depth.  A link out of it, or to a folder (found anyway if it is inside), gets the note
    "not-followed"; so there are no loops.
    """
    text = None if base is None else str(base)
    media_type = TYPES[options.kind] if options.kind else ""
    builder = TaskBuilder(text, split, media_type, cuts_archives=cuts_archives)
    sources = map(_with_octets, sources)
    for source in sources if policy is None else prefetch_sources(sources, policy, options.edition, jobs):
        if is_ranged(source):
            yield from builder.flush()
            yield from ranged_tasks(source, builder, policy)
            continue
        if isinstance(source, RetrievedFile):
            yield from builder.flush()
            name = str(source.source)
            start, end, size = 0, None, source.size
            if part := _FILE_RANGE.fullmatch(name):
                start, size = int(part[2]), int(part[3])
                end = start + size
            yield Task((source.path,), None, None, start, end, size, mask(name), retrieved=source.retrieved)
            continue
        path = str(source) if isinstance(source, URI | Index) else os.fspath(source)
        if path == "-" or is_pipe(path):
            yield from builder.flush()
            yield _pipe_task(path, text)
        elif os.path.isdir(path):
            yield from builder.flush()
            for file, size in list_files(path, with_ignored=options.with_ignored):
                if size == SKIPPED:
                    builder.ignored += 1
                else:
                    yield from builder.add(file, size, path)
            builder.root = path
            yield from builder.flush()
        elif (file_range := parse_source(path)) is not None:
            yield from builder.flush()
            file, start, length = file_range
            yield Task((file,), None, text, start, start + length, length)
        else:
            yield from builder.add(path, size_of(path), None)
    yield from builder.flush()


def _with_octets(source: str | os.PathLike[str] | URI | Index) -> str | os.PathLike[str] | URI | Index:
    """Return a source; in a text that no name can be, half a character of UTF-16 becomes the octets of its number."""
    if not isinstance(source, str | PurePath):
        return source
    try:
        os.fsencode(source)
    except UnicodeEncodeError:
        octets = str(source).encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape")
        return octets if isinstance(source, str) else Path(octets)
    return source


_FILE_RANGE = re.compile(r"(.+)#([0-9]{1,18}),([1-9][0-9]{0,17})", re.DOTALL)


def parse_source(path: str) -> tuple[str, int, int] | None:
    """Return the file, the offset and the length of a source `FILE#OFFSET,LENGTH`; None for any other."""
    match = _FILE_RANGE.fullmatch(path)
    if match is None or os.path.lexists(path) or not os.path.isfile(match[1]):
        return None
    return match[1], int(match[2]), int(match[3])


def is_pipe(path: str) -> bool:
    """Whether a path is a pipe, a device or a socket, which can be read only once."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)


def _pipe_task(path: str, base: str | None) -> Task:
    temporary_path, file = create_file()
    with file:
        try:
            if path == "-":
                if sys.stdin is None:
                    raise OSError("standard input is closed")
                shutil.copyfileobj(sys.stdin.buffer, file)
            else:
                with open(path, "rb") as pipe:
                    shutil.copyfileobj(pipe, file)
        except OSError:
            return Task((path,), None, base)
        size = file.tell()
    return Task((temporary_path,), None, base, size=size, name=path)
