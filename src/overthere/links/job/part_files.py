"""A job in parts, each an atomic Parquet file; a restarted job skips the parts that exist.

An engine with many machines runs such a job: it writes the parts to one place (`part_places`), anywhere and in any
order.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, chdir, suppress
from functools import partial
from types import NoneType
from typing import Any, NamedTuple

from overthere import __version__
from overthere.files.tables.checkpoint import Checkpoint
from overthere.files.tables.folder import PartWriter
from overthere.ground.redact import mask
from overthere.links.job.part_places import place_of
from overthere.links.job.ranged_sources import Index, is_ranged
from overthere.links.job.retrieval import is_uri
from overthere.links.job.running import run as run_tasks
from overthere.links.job.sources import tasks
from overthere.links.job.task_builder import IndexedRecord, Task
from overthere.links.job.task_rows import TaskEnd
from overthere.links.model import Options
from overthere.links.report import graph
from overthere.links.report.batch import AnyBatch
from overthere.links.report.selection import select
from overthere.links.report.summary import Summary, Top
from overthere.links.report.table import layout
from overthere.values.uri import URI

MIN_PART_BYTES, MAX_PART_BYTES = 8 << 20, 2 << 30
"""Bytes of sources in a part: a file of a crawl, about 1 GB, is not split."""
_TARGET_PARTS = 256
_FILE_COST = 1 << 12
"""Overhead per file, in bytes of work."""
_MAX_HOSTS = 2000
"""Hosts in the summary in the metadata of a part."""


class Part(NamedTuple):
    """Consecutive tasks; all parts are about the same amount of work."""

    number: int
    tasks: tuple[Task, ...]
    key: str
    """Changes with the sources: paths, ranges, sizes, modification times."""
    folder: str
    """The folder that relative paths start from."""

    @property
    def size(self) -> int:
        """Bytes of sources."""
        return sum(task.size for task in self.tasks)

    def to_json(self) -> str:
        return json.dumps({**self._asdict(), "tasks": [task._asdict() for task in self.tasks]})

    @classmethod
    def from_json(cls, text: object) -> Part:
        """Return the part that `to_json` wrote.

        Raises: ValueError for anything else.

        >>> Part.from_json("[]")
        Traceback (most recent call last):
            ...
        ValueError: not a part of a job: it must be an object of number, tasks, key, folder
        """
        if not isinstance(text, str):
            raise ValueError(f"not a part of a job: it is not text, but {type(text).__name__}")
        try:
            part_fields = _check_fields(json.loads(text), _PART_FIELDS)
        except RecursionError:
            raise ValueError("not a part of a job: JSON that is nested too deeply (RFC 8259 9)") from None
        except json.JSONDecodeError as error:
            raise ValueError(f"not a part of a job: {error}") from None
        tasks = []
        for item in part_fields["tasks"]:
            task = _check_fields(item, _TASK_FIELDS)
            if not all(isinstance(text, str) and _is_name(text) for text in (*task["paths"], *task["notes"])):
                raise ValueError("not a part of a job: a path is not the text of a name")
            if task["base"] is not None:
                URI(task["base"])
            if task["objects"] is not None:
                list(map(URI, task["paths"]))
                task["objects"] = tuple(_check_rows(task["objects"], len(task["paths"]), int, str))
            indexed = _check_rows(task["records"], None, int, int, str, str)
            text_tuples = {"paths": tuple(task["paths"]), "notes": tuple(task["notes"])}
            tasks.append(Task(**{**task, **text_tuples, "records": tuple(map(IndexedRecord._make, indexed))}))
        return cls(**{**part_fields, "tasks": tuple(tasks)})


_PART_FIELDS: dict[str, tuple[type, ...]] = {"number": (int,), "tasks": (list,), "key": (str,), "folder": (str,)}
_TASK_FIELDS: dict[str, tuple[type, ...]] = {
    "paths": (list,),
    "root": (str, NoneType),
    "base": (str, NoneType),
    "start": (int,),
    "end": (int, NoneType),
    "size": (int,),
    "name": (str, NoneType),
    "retrieved": (NoneType,),
    "objects": (list, NoneType),
    "part": (NoneType,),
    "records": (list,),
    "policy": (NoneType,),
    "notes": (list,),
    "ignored": (int,),
}


def _is_name(text: str) -> bool:
    """Whether a file could have this name: it has no half character of UTF-16."""
    try:
        return os.fsencode(text) is not None
    except UnicodeEncodeError:
        return False


def _check_rows(rows: list[Any], count: int | None, *kinds: type) -> Iterator[tuple[Any, ...]]:
    """Yield rows of JSON as tuples.  Raises: ValueError unless there are `count` (None: any), all of these types."""
    if count is not None and len(rows) != count:
        raise ValueError(f"not a part of a job: {len(rows)} objects, and {count} paths")
    for row in rows:
        if not isinstance(row, list) or [type(value) for value in row] != list(kinds):
            raise ValueError(f"not a part of a job: {repr(row)[:80]} in a list of objects or records")
        yield tuple(row)


def _check_fields(fields: object, kinds: dict[str, tuple[type, ...]]) -> dict[str, Any]:
    """Return a JSON object.  Raises: ValueError unless it has exactly these fields and types, numbers from 0 on."""
    if not isinstance(fields, dict) or fields.keys() != kinds.keys():
        raise ValueError(f"not a part of a job: it must be an object of {', '.join(kinds)}")
    for name, types in kinds.items():
        value: object = fields[name]
        fits = _is_name(value) if isinstance(value, str) else not isinstance(value, int) or 0 <= value < 1 << 63
        if type(value) not in types or not fits:
            raise ValueError(f"not a part of a job: {name} is {repr(value)[:80]}")
    return fields


class JobSettings(NamedTuple):
    """Settings that all parts of a job share."""

    folder: str
    options: Options
    base: str | None = None
    """The URI under which the sources are published; the tasks have it too."""
    only: tuple[str, ...] = ()
    distinct: bool = False
    """Whether to write the rows of the link graph."""
    version: str = __version__

    @property
    def job(self) -> str:
        """All settings but the folder, as a text that identifies the rows."""
        form = self.options.form
        registry = self.options.registry
        options = {
            **self.options._asdict(),
            "canonical": None if form is None else form.to_toml(),
            "registry": None if registry is None else sorted(registry),  # by name: a scheme is code
        }
        settings = {**self._asdict(), "options": options}
        del settings["folder"]
        return json.dumps(settings)


def parts(
    sources: Iterable[str | os.PathLike[str] | URI | Index],
    base: URI | None = None,
    octets: int | None = None,
    options: Options = Options(),  # noqa: B008 - a value
) -> Iterator[Part]:
    """Yield the parts of a job: the same for the same sources, regardless of the number of machines.

    octets: bytes of sources in a part; by default a 256th of all, from 8 MiB to 2 GiB.
    options: only those that choose the files of folders matter here; `carry_out` gets the others.

    Raises: ValueError for standard input or a pipe, which no other machine can read, and for a URI.
    """
    sources = list(sources)
    if octets is None:
        total = sum(task.size for task in _checked_tasks(sources, base, options, sys.maxsize))
        octets = min(max(total // _TARGET_PARTS, MIN_PART_BYTES), MAX_PART_BYTES)
    part_tasks: list[Task] = []
    number = size = 0
    for task in _checked_tasks(sources, base, options, octets):
        cost = task.size + _FILE_COST * len(task.paths)
        if part_tasks and size + cost > octets:
            yield _make_part(number, part_tasks)
            part_tasks, size, number = [], 0, number + 1
        part_tasks.append(task)
        size += cost
    if part_tasks:
        yield _make_part(number, part_tasks)


def _checked_tasks(
    sources: list[str | os.PathLike[str] | URI | Index], base: URI | None, options: Options, split: int
) -> Iterator[Task]:
    if "-" in sources:
        raise ValueError("only this process can read standard input")
    for source in sources:
        if not is_uri(source) or is_ranged(source):
            continue
        raise ValueError(f"{mask(str(source))}: a part of a job can have files only; open a URI with `links.batches`")
    for task in tasks(sources, base, options, split, cuts_archives=False):
        if task.name is not None and not task.notes:
            raise ValueError(f"{task.name} is not a file, so only this process can read it")
        if task.policy is not None:
            raise ValueError(f"{mask(task.paths[0])}: a part of a job can have files and objects only")
        yield task


def _make_part(number: int, part_tasks: list[Task]) -> Part:
    folder = os.getcwd()
    digest = hashlib.sha256()
    if not all(map(os.path.isabs, _all_paths(part_tasks))):
        digest.update(os.fsencode(folder))
    for task in part_tasks:
        digest.update(json.dumps(task).encode())
        for path in task.paths:
            try:
                status = os.stat(path)
                digest.update(b"%d %d\n" % (status.st_size, status.st_mtime_ns))
            except (OSError, ValueError):
                digest.update(b"-\n")
    return Part(number, tuple(part_tasks), digest.hexdigest(), folder)


def _all_paths(part_tasks: Iterable[Task]) -> Iterator[str]:
    return (path for task in part_tasks for path in task.paths)


# -- one part, anywhere


def carry_out(part: Part, options: Options, *, guarded: bool = False) -> Iterator[AnyBatch | TaskEnd]:
    """Yield the rows of a part, each task's followed by its end.

    guarded: use worker processes, so that a document that kills one becomes a row ("unreadable").
    """
    with ExitStack() as stack:
        if not all(map(os.path.isabs, _all_paths(part.tasks))):
            with suppress(OSError):  # without this folder the files are unreadable, and rows say so
                stack.enter_context(chdir(part.folder))
        yield from run_tasks(part.tasks, options, 2 if guarded else 1, needs_processes=True)


def run(
    sources: Iterable[str | os.PathLike[str] | URI | Index],
    output: str,
    apply: Callable[[Callable[[Part], tuple[Summary, bool]], Iterable[Part]], Iterable[tuple[Summary, bool]]],
    base: URI | None = None,
    only: tuple[str, ...] = (),
    options: Options = Options(),  # noqa: B008 - a value
    octets: int | None = None,
) -> Summary:
    """Run a job on any engine that can map a function over items: `map`, a pool, a client of Dask or Ray.

    output: a folder that all processes can access, or the URI of a folder in a store.
    apply: maps a picklable function over the parts, anywhere, in any order, repeatedly if necessary.

    Raises: as `parts`, and as the engine; FileExistsError if the folder contains other files.
    """
    settings = JobSettings(output, options, None if base is None else str(base), only)
    job_parts = list(parts(sources, base, octets, options))
    place = place_of(output)
    place.begin(settings.job, len(job_parts))
    summary = Summary()
    for part_summary, _ in apply(partial(write_part, settings=settings), job_parts):
        summary += part_summary
    place.finish()
    return summary


def write_part(part: Part, settings: JobSettings, *, guarded: bool = False) -> tuple[Summary, bool]:
    """Write the file of a part unless it exists; return its summary and whether it existed.

    guarded: as for `carry_out`.

    A part with an "unreadable" file is written again, since the cause may have been the machine.
    Two processes may write the same part at the same time: the later file replaces the earlier, which is equal.

    Raises: OSError if the file cannot be written.
    """
    place = place_of(settings.folder)
    job = json.dumps([settings.job, part.key])
    existing = place.existing_summary(part.number, job)
    if existing is not None and not existing.notes["unreadable"]:
        return existing, True
    file = place.open(part.number, layout(graph.schema() if settings.distinct else None))
    try:
        summary = _write_rows(file, part, settings, guarded)
        place.end(part.number, file, Checkpoint(job, file.rows, 0, {"summary": summary.to_dict()}))
    except BaseException:
        file.drop()
        raise
    return summary, False


def _write_rows(file: PartWriter, part: Part, settings: JobSettings, guarded: bool) -> Summary:
    summary = Summary()
    summary.hosts = Top(_MAX_HOSTS)
    with graph.Graph() as pair_graph:
        for batch in carry_out(part, settings.options, guarded=guarded):
            if isinstance(batch, TaskEnd):
                for kind, (count, octets) in batch.kinds.items():
                    summary.document(kind, octets, count)
                summary.passed.update(batch.passed)
                continue
            selected = select(batch, settings.only)
            pairs = batch.pairs()
            summary.add(batch, pairs)
            if not settings.distinct:
                file.write(selected)
            else:
                pair_graph.add(pairs if selected is batch else selected.pairs())
        for batch in pair_graph.batches():
            file.write(batch)
    return summary
