"""A job in parts, each an atomic Parquet file; a restarted job skips the parts that exist.

What an engine does that has many machines: the parts are laid out in one place (`part_places`), and made in any order
anywhere.
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
from typing import TYPE_CHECKING, Any, NamedTuple

from overthere import __version__
from overthere.ground.redact import mask
from overthere.links.job.part_places import GrowingPart, place_of
from overthere.links.job.pool import run as run_tasks
from overthere.links.job.ranged_sources import Index, is_ranged
from overthere.links.job.retrieval import is_uri
from overthere.links.job.sources import tasks
from overthere.links.job.task_builder import IndexedRecord, Task
from overthere.links.job.task_rows import TaskEnd
from overthere.links.model import Options
from overthere.links.report import graph
from overthere.links.report.selection import select
from overthere.links.report.summary import Summary, Top
from overthere.links.report.table import layout
from overthere.tables.checkpoint import Checkpoint
from overthere.values.uri import URI

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["JobSettings", "Part", "carry_out", "make", "parts", "run"]

LEAST, MOST = 8 << 20, 2 << 30
"""Octets of sources in a part: a file of a crawl, which has about one GB, is not cut."""
_SHARES = 256
_FILE = 1 << 12
"""What a file costs beside its octets, in octets."""
_HOSTS = 2000
"""Names in the summary of a part, which stands in its metadata."""


class Part(NamedTuple):
    """Tasks one after another, about as much work as any other part."""

    number: int
    tasks: tuple[Task, ...]
    key: str
    """Changes with what is to be read: paths, places in them, sizes, times of last change."""
    folder: str
    """From where relative paths are meant."""

    @property
    def size(self) -> int:
        """Octets of sources."""
        return sum(task.size for task in self.tasks)

    def to_json(self) -> str:
        return json.dumps({**self._asdict(), "tasks": [task._asdict() for task in self.tasks]})

    @classmethod
    def from_json(cls, text: object) -> Part:
        """What `to_json` has written.

        Raises: ValueError for anything else.

        >>> Part.from_json("[]")
        Traceback (most recent call last):
            ...
        ValueError: not a part of a job: it must be an object of number, tasks, key, folder
        """
        if not isinstance(text, str):
            raise ValueError(f"not a part of a job: it is not text, but {type(text).__name__}")
        try:
            told = _fields(json.loads(text), _PART)
        except RecursionError:
            raise ValueError("not a part of a job: JSON that is nested too deeply (RFC 8259 9)") from None
        except json.JSONDecodeError as error:
            raise ValueError(f"not a part of a job: {error}") from None
        tasks = []
        for one in told["tasks"]:
            task = _fields(one, _TASK)
            if not all(isinstance(text, str) for text in (*task["paths"], *task["notes"])):
                raise ValueError("not a part of a job: a path is not text")
            if task["base"] is not None:
                URI(task["base"])
            if task["objects"] is not None:
                task["objects"] = tuple(_texts_and_numbers(task["objects"], len(task["paths"]), int, str))
            indexed = _texts_and_numbers(task["records"], None, int, int, str, str)
            told_tasks = {"paths": tuple(task["paths"]), "notes": tuple(task["notes"])}
            tasks.append(Task(**{**task, **told_tasks, "records": tuple(map(IndexedRecord._make, indexed))}))
        return cls(**{**told, "tasks": tuple(tasks)})


_PART: dict[str, tuple[type, ...]] = {"number": (int,), "tasks": (list,), "key": (str,), "folder": (str,)}
_TASK: dict[str, tuple[type, ...]] = {
    "paths": (list,),
    "root": (str, NoneType),
    "base": (str, NoneType),
    "start": (int,),
    "end": (int, NoneType),
    "size": (int,),
    "name": (str, NoneType),
    "retrieved": (NoneType,),
    "objects": (list, NoneType),
    "records": (list,),
    "policy": (NoneType,),
    "notes": (list,),
    "ignored": (int,),
}


def _texts_and_numbers(rows: list[Any], count: int | None, *kinds: type) -> Iterator[tuple[Any, ...]]:
    """Rows of JSON, so many, each of values of these types."""
    if count is not None and len(rows) != count:
        raise ValueError(f"not a part of a job: {len(rows)} objects, and {count} paths")
    for row in rows:
        if not isinstance(row, list) or [type(value) for value in row] != list(kinds):
            raise ValueError(f"not a part of a job: {repr(row)[:80]} in a list of objects or records")
        yield tuple(row)


def _fields(fields: object, kinds: dict[str, tuple[type, ...]]) -> dict[str, Any]:
    """An object of JSON with these fields, each of one of its types; numbers count octets or parts."""
    if not isinstance(fields, dict) or fields.keys() != kinds.keys():
        raise ValueError(f"not a part of a job: it must be an object of {', '.join(kinds)}")
    for name, types in kinds.items():
        value: object = fields[name]
        if type(value) not in types or (isinstance(value, int) and not 0 <= value < 1 << 63):
            raise ValueError(f"not a part of a job: {name} is {repr(value)[:80]}")
    return fields


class JobSettings(NamedTuple):
    """What is the same for all parts of a job."""

    folder: str
    options: Options
    base: str | None = None
    """Where the sources are published; the tasks hold it too."""
    only: tuple[str, ...] = ()
    distinct: bool = False
    """Whether the rows are those of the link graph."""
    version: str = __version__

    @property
    def job(self) -> str:
        """A text that is the same if and only if the rows are."""
        form = self.options.form
        registry = self.options.registry
        options = {
            **self.options._asdict(),
            "canonical": None if form is None else form.to_toml(),
            "registry": None if registry is None else sorted(registry),  # by name: a scheme is code
        }
        told = {**self._asdict(), "options": options}
        del told["folder"]
        return json.dumps(told)


def parts(
    sources: Iterable[str | os.PathLike[str] | URI | Index],
    base: URI | None = None,
    octets: int | None = None,
    options: Options = Options(),  # noqa: B008 - a value
) -> Iterator[Part]:
    """A job in parts: the same for the same sources, however many machines there are.

    octets: of the sources in a part; by default a 256th of them, from 8 MiB to 2 GiB.
    options: which files of folders are read; the rest is asked of `carry_out`.

    Raises: ValueError for standard input or a pipe, which no other machine could read, and for a URI.
    """
    sources = list(sources)
    if octets is None:
        total = sum(task.size for task in _tasks(sources, base, options, sys.maxsize))
        octets = min(max(total // _SHARES, LEAST), MOST)
    held: list[Task] = []
    number = size = 0
    for task in _tasks(sources, base, options, octets):
        weight = task.size + _FILE * len(task.paths)
        if held and size + weight > octets:
            yield _part(number, held)
            held, size, number = [], 0, number + 1
        held.append(task)
        size += weight
    if held:
        yield _part(number, held)


def _tasks(
    sources: list[str | os.PathLike[str] | URI | Index], base: URI | None, options: Options, split: int
) -> Iterator[Task]:
    if "-" in sources:
        raise ValueError("only this process can read standard input")
    for source in sources:
        if not is_uri(source) or is_ranged(source):
            continue
        raise ValueError(f"{mask(str(source))}: a part of a job can have files only; open a URI with `links.batches`")
    for task in tasks(sources, base, options, split):
        if task.name is not None and not task.notes:
            raise ValueError(f"{task.name} is not a file, so only this process can read it")
        if task.policy is not None:
            raise ValueError(f"{mask(task.paths[0])}: a part of a job can have files and objects only")
        yield task


def _part(number: int, held: list[Task]) -> Part:
    folder = os.getcwd()
    told = hashlib.sha256()
    if not all(map(os.path.isabs, _paths(held))):
        told.update(os.fsencode(folder))
    for task in held:
        told.update(json.dumps(task).encode())
        for path in task.paths:
            try:
                status = os.stat(path)
                told.update(b"%d %d\n" % (status.st_size, status.st_mtime_ns))
            except (OSError, ValueError):
                told.update(b"-\n")
    return Part(number, tuple(held), told.hexdigest(), folder)


def _paths(held: Iterable[Task]) -> Iterator[str]:
    return (path for task in held for path in task.paths)


# -- one part, anywhere


def carry_out(part: Part, options: Options, *, guarded: bool = False) -> Iterator[pa.RecordBatch | TaskEnd]:
    """The rows of a part, each task's followed by its end.

    guarded: read in processes of their own, so that a document that kills one is a row ("unreadable").
    """
    with ExitStack() as stack:
        if not all(map(os.path.isabs, _paths(part.tasks))):
            with suppress(OSError):  # on a machine without this folder they cannot be read, and rows say so
                stack.enter_context(chdir(part.folder))
        yield from run_tasks(part.tasks, options, 2 if guarded else 1, apart=True)


def run(
    sources: Iterable[str | os.PathLike[str] | URI | Index],
    output: str,
    apply: Callable[[Callable[[Part], tuple[Summary, bool]], Iterable[Part]], Iterable[tuple[Summary, bool]]],
    base: URI | None = None,
    only: tuple[str, ...] = (),
    options: Options = Options(),  # noqa: B008 - a value
    octets: int | None = None,
) -> Summary:
    """Do a job with any engine that applies a function to items: `map`, that of a pool, of a client of Dask or Ray.

    output: a folder that all processes see, or the URI of a folder of a store.
    apply: takes a function, which can be pickled, and the parts; it may do them anywhere, in any order, and again.

    Raises: as `parts`, and what the engine raises; FileExistsError if the folder holds anything else.
    """
    how = JobSettings(output, options, None if base is None else str(base), only)
    made = list(parts(sources, base, octets, options))
    place = place_of(output)
    place.begin(how.job, len(made))
    summary = Summary()
    for one, _ in apply(partial(make, how=how), made):
        summary += one
    place.finish()
    return summary


def make(part: Part, how: JobSettings, *, guarded: bool = False) -> tuple[Summary, bool]:
    """The file of a part; what is in it, and whether it was there already.

    guarded: as for `carry_out`.

    A part in which a file was "unreadable" is made again: it may have been the machine that could not read it.
    Two processes may make the same part at the same time: the later file replaces the earlier, which is equal.

    Raises: OSError if the file cannot be written.
    """
    place = place_of(how.folder)
    job = json.dumps([how.job, part.key])
    kept = place.existing_summary(part.number, job)
    if kept is not None and not kept.notes["unreadable"]:
        return kept, True
    file = place.open(part.number, layout(graph.schema() if how.distinct else None))
    try:
        summary = _fill(file, part, how, guarded)
        place.end(part.number, file, Checkpoint(job, file.rows, 0, {"summary": summary.to_dict()}))
    except BaseException:
        file.drop()
        raise
    return summary, False


def _fill(file: GrowingPart, part: Part, how: JobSettings, guarded: bool) -> Summary:
    summary = Summary()
    summary.hosts = Top(_HOSTS)
    with graph.Graph() as added:
        for batch in carry_out(part, how.options, guarded=guarded):
            if isinstance(batch, TaskEnd):
                for kind, (count, octets) in batch.kinds.items():
                    summary.document(kind, octets, count)
                summary.passed.update(batch.passed)
                continue
            wanted = select(batch, how.only)
            pairs = graph.pairs(batch)
            summary.add(batch, pairs)
            if not how.distinct:
                file.write(wanted)
            else:
                added.add(pairs if wanted is batch else graph.pairs(wanted))
        for batch in added.batches():
            file.write(batch)
    return summary
