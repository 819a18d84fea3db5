"""Sources: files, folders, URIs, nested containers, standard input; and how a job is split."""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from overthere.ground.redact import mask
from overthere.links.containers.temporary import create_file
from overthere.links.job.files import size_of
from overthere.links.job.folders import LEFT_OUT, list_files
from overthere.links.job.prefetch import JOBS, RetrievedFile, prefetch_sources
from overthere.links.job.ranged_sources import Index, is_ranged, ranged_tasks
from overthere.links.job.task_builder import Task, TaskBuilder
from overthere.links.model import Options
from overthere.values.uri import URI

if TYPE_CHECKING:
    from overthere.access.policy import Policy

__all__ = ["is_pipe", "parse_source", "tasks"]


def tasks(
    sources: Iterable[str | os.PathLike[str] | URI | Index], base: URI | None, options: Options, split: int = 2 << 20,
    policy: Policy | None = None, jobs: int = JOBS,
) -> Iterator[Task]:  # fmt: skip
    """A job in parts, in the order of the sources and, in a folder, of the names: its files, then its folders.

    split: octets of a WARC file that make a part.
    policy: under which sources that are URIs (`is_uri`) are opened; without one every source is the name of a file.
    jobs: how many of them are retrieved at once (`prefetch.prefetch_sources`).

    `FILE#OFFSET,LENGTH` is a WARC or ARC file of which only the records are read that begin in so many octets from
    there on, as an index names them; a file of that very name comes first.

    What comes through a pipe is laid into a temporary file first: another process could not read it, and archives are
    read from their end; so is what a URI names.  `temporary.drop` removes it.  Hidden files count;
    what `folders.list_files` leaves out is counted in the next task of its folder.

    Links: what is named itself is followed.  In a folder, a link to a file is followed if the file lies in that folder
    too, however deep.  A link that leads out of it, or to a folder (whose files are found where they lie, so that there
    are no loops), is not: its note is "not-followed".
    """
    text = None if base is None else str(base)
    gathered = TaskBuilder(text, split)
    for source in sources if policy is None else prefetch_sources(sources, policy, options.edition, jobs):
        if is_ranged(source):
            yield from gathered.all_tasks()
            yield from ranged_tasks(source, gathered, policy)
            continue
        if isinstance(source, RetrievedFile):
            yield from gathered.all_tasks()
            name = str(source.source)
            start, end, size = 0, None, source.size
            if part := _PLACED.fullmatch(name):
                start, size = int(part[2]), int(part[3])
                end = start + size
            yield Task((source.path,), None, None, start, end, size, mask(name), retrieved=source.retrieved)
            continue
        path = str(source) if isinstance(source, URI | Index) else os.fspath(source)
        if path == "-" or is_pipe(path):
            yield from gathered.all_tasks()
            yield _pipe_task(path, text)
        elif os.path.isdir(path):
            yield from gathered.all_tasks()
            for file, size in list_files(path, with_ignored=options.with_ignored):
                if size == LEFT_OUT:
                    gathered.ignored += 1
                else:
                    yield from gathered.add(file, size, path)
            gathered.root = path
            yield from gathered.all_tasks()
        elif (placed := parse_source(path)) is not None:
            yield from gathered.all_tasks()
            file, start, length = placed
            yield Task((file,), None, text, start, start + length, length)
        else:
            yield from gathered.add(path, size_of(path), None)
    yield from gathered.all_tasks()


_PLACED = re.compile(r"(.+)#([0-9]{1,18}),([1-9][0-9]{0,17})", re.DOTALL)


def parse_source(path: str) -> tuple[str, int, int] | None:
    """The file, the offset and the length that a source names."""
    match = _PLACED.fullmatch(path)
    if match is None or os.path.lexists(path) or not os.path.isfile(match[1]):
        return None
    return match[1], int(match[2]), int(match[3])


def is_pipe(path: str) -> bool:
    """Whether what a name leads to can be read once only."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)


def _pipe_task(path: str, base: str | None) -> Task:
    held, file = create_file()
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
    return Task((held,), None, base, size=size, name=path)
