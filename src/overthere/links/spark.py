"""The main job on Apache Spark 4.1 and later.

from overthere.links import spark
spark.run(session, ["/mnt/crawl/"], "/mnt/links/")            # a folder of Parquet files, as `overthere links` makes it
spark.extract(session.read.format("binaryFile").load("s3a://b/*.html"), content="content")   # rows, for a pipeline
spark.extract(spark.partitions(session, ["/mnt/crawl/"]), part="part")   # rows of large files, in even parts

The executors need the same version of overthere with its extra `links`, and must see paths under the names that they
have where the session is: in a file system that all mount.  What lies elsewhere comes as content.  No source is a URI
here: executors know nothing of one another, and would ask a host all at once.
"""

from __future__ import annotations

import json as jsons
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Unpack

from overthere import __version__
from overthere.ground.atomic import rename
from overthere.ground.extras import brought_by
from overthere.links.job import contents, part_files
from overthere.links.job.extraction import Index, Sources
from overthere.links.job.options import check_options
from overthere.links.job.part_files import JobSettings, Part
from overthere.links.job.part_places import FilePlace, discard_folders, place_of
from overthere.links.job.pool import run as carried
from overthere.links.job.sources import tasks
from overthere.links.job.task_rows import TaskEnd
from overthere.links.model import OptionFields, Options
from overthere.links.report import graph
from overthere.links.report.summary import Summary
from overthere.links.report.table import schema
from overthere.stores.model import is_object
from overthere.values.uri import URI

with brought_by("spark"):
    from pyspark import TaskContext
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql import functions as F  # noqa: N812 - as its users call it

if TYPE_CHECKING:
    import pyarrow as pa


__all__ = ["Outcome", "extract", "partitions", "run"]

_PARTS = ("task", "sources", "octets", "part")
_KINDS = {"string": "string", "bool": "boolean", "int64": "bigint"}
_MERGED = 256
"""Summaries that an executor adds up before they go to the driver."""

_Batches = Iterator["pa.RecordBatch"]


class Outcome(NamedTuple):
    """The result of a job."""

    summary: Summary
    """Of all parts, those of an earlier run too."""
    parts: int
    found: int
    """Parts that an earlier run had made."""


def run(
    session: SparkSession,
    sources: Sources,
    output: str | os.PathLike[str],
    *,
    base: URI | str | None = None,
    only: Iterable[str] = (),
    distinct: bool = False,
    octets: int | None = None,
    **options: Unpack[OptionFields],
) -> Outcome:
    """The link table of sources as a folder of Parquet files, OUTPUT/task=000000/links.parquet and so on.

    In the order of the tasks its rows are those of `links.batches`.  A task is a part of the job that one executor
    does at once; it writes its file itself, under another name until it is whole.  So the job can be run again after
    whatever ended it, and does only what is not there yet: each file says what it was made of, and a file that was
    changed, or asked for in another way, is made anew.  OUTPUT/_SUCCESS stands there when all are.

    sources, base, options: as for `links.extract`.
    only: names of `selection.CHOICES`: the rows that one of them chooses.
    distinct: the link graph instead (`graph.schema()`), whose files Spark writes at the end.
    octets: of the sources in a task; by default a 256th of them, from 8 MiB to 2 GiB.

    Raises: InvalidURI if `base` is no URI; NotSpecified if there is no such edition; ValueError for standard input or a
    URI;
    FileExistsError if the folder holds anything else; OSError if it cannot be written; Spark's errors.
    """
    began = time.monotonic()
    asked = _check_options(Options(**options))
    far = is_object(output)
    if far and distinct:
        raise ValueError(f"{output}: the link graph is written to a file system only")
    folder = Path(os.path.abspath(output))
    told = None if base is None else str(URI(base))
    named = str(output) if far else str(folder / _PAIRS if distinct else folder)
    how = JobSettings(named, asked, told, tuple(only), distinct)
    place = place_of(how.folder)
    if distinct:
        place_of(str(folder)).claim()
    made = list(part_files.parts(_list_sources(sources), None if told is None else URI(told), octets, asked))
    place.begin(how.job, len(made))
    summary, earlier = Summary(), 0
    if made:
        merged = _map_frame(_frame(session, made), partial(_make, how), "task int, found int, summary string")
        merged = merged.repartition(-(-len(made) // _MERGED), F.col("task"))
        for row in _map_frame(merged, _merge, "found int, summary string").collect():
            summary += Summary.from_dict(jsons.loads(row.summary))
            earlier += row.found
    place.finish()
    if distinct:
        _write_graph(session, how, folder)
    summary.seconds = time.monotonic() - began
    return Outcome(summary, len(made), earlier)


def partitions(
    session: SparkSession, sources: Sources, base: URI | str | None = None, octets: int | None = None
) -> DataFrame:
    """Sources for `extract`, in a row and a partition for each part of the job; no file makes one wait for it.

    Columns: task (a number; in their order the rows are those of `links.batches`), sources (for people), octets (of
    the sources), part (JSON, for `extract(..., part="part")`).

    sources, base, octets: as for `run`; the paths are looked at here.

    Raises: InvalidURI if `base` is no URI; ValueError for standard input or a URI.
    """
    return _frame(session, list(part_files.parts(_list_sources(sources), None if base is None else URI(base), octets)))


def extract(
    frame: DataFrame,
    *,
    path: str | None = "path",
    part: str | None = None,
    content: str | None = None,
    url: str | None = None,
    media_type: str | None = None,
    base: URI | str | None = None,
    **options: Unpack[OptionFields],
) -> DataFrame:
    """The links of the documents that a frame names or holds: a frame with the columns of the link table.

    The frame has a column of paths; with `part`, it is the frame of `partitions`; with `content`, it has a column of
    octets.  These arguments are names of columns; all but `part` can be combined with `content`:

    path: the path of each source; with `content`, its name, and its URI unless `url` or `base` gives one.
    part: parts of a job, as `partitions` writes them; they include where their sources are published.
    content: the octets of a document or an archive, as Spark's `binaryFile` reads them.
    url: the retrieval URI of a document (RFC 3986 5.1.3); without `path` also its name.
    media_type: the declared Content-Type.

    base: where the sources are published: the URI of the folder of each path.
    options: the fields of `links.Options`.

    Each partition is read once, batch by batch; `spark.sql.execution.arrow.maxBytesPerBatch` limits batches of
    contents.
    An unreadable document is a row; so is a file that kills its reader process, if Spark may try again (`local[*,4]`,
    `spark.task.maxFailures`).

    Raises: InvalidURI if `base` is not a valid URI; NotSpecified for an unknown edition; ValueError for a frame without
    paths and contents, for contents that are not octets, and for parts together with anything else; on execution,
    Spark's errors, which include the ValueError for an invalid part.
    """
    asked = _check_options(Options(**options))
    told = None if base is None else str(URI(base))
    version = __version__
    if part is not None:
        if any(given is not None for given in (content, url, media_type, base)):
            raise ValueError(
                "a part of a job has its own sources and base: content, url, media_type and base do not go with part"
            )
        return _map_frame(frame.select(part), partial(_read_parts, version, asked), _ddl(schema()))
    if content is None:
        if path is None:
            raise ValueError("a column of paths or of contents is missing")
        return _map_frame(frame.select(path), partial(_read_paths, version, asked, told), _ddl(schema()))
    said = frame.select(F.col(content)).schema[0].dataType.simpleString()
    if said != "binary":
        octets = f"documents must be in a binary column: F.encode({content!r}, 'utf-8')"
        raise ValueError(f"the column {content!r} is {said}, and {octets}")
    if path not in frame.columns and url is not None:
        path = None
    wanted = {"path": path, "content": content, "url": url, "media_type": media_type}
    named = [F.col(column).alias(name) for name, column in wanted.items() if column is not None]
    return _map_frame(frame.select(*named), partial(_read_contents, version, asked, told), _ddl(schema()))


# -- on the driver


def _check_options(options: Options) -> Options:
    check_options(options)
    return options


def _list_sources(sources: Sources) -> list[str | os.PathLike[str] | URI | Index]:
    return [sources] if isinstance(sources, str | os.PathLike | URI | Index) else list(sources)


def _ddl(columns: pa.Schema) -> str:
    return ", ".join(f"`{field.name}` {_KINDS[str(field.type)]}" for field in columns)


def _map_frame(frame: DataFrame, function: Callable[[_Batches], _Batches], columns: str) -> DataFrame:
    with _suppress_warnings():
        return frame.mapInArrow(function, columns)


@contextmanager
def _suppress_warnings() -> Iterator[None]:
    """Spark warns of a new pandas wherever it looks for pandas, also where it works with Arrow only."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        yield


def _frame(session: SparkSession, made: list[Part]) -> DataFrame:
    import pyarrow as pa

    rows = [(part.number, _names(part), part.size, part.to_json()) for part in made]
    columns = list(zip(*rows, strict=True)) or [()] * len(_PARTS)
    kinds = (pa.int32(), pa.string(), pa.int64(), pa.string())
    arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    with _suppress_warnings():
        frame = session.createDataFrame(pa.table(arrays, names=list(_PARTS)))
    return frame.repartitionById(max(len(made), 1), "task")


def _names(part: Part) -> str:
    paths = [path for task in part.tasks for path in task.paths]
    more = f" and {len(paths) - 1:,} more" if len(paths) > 1 else ""
    return os.fsencode(paths[0]).decode("utf-8", "replace") + more


_PAIRS, _GRAPH = "_pairs", "_graph"


def _write_graph(session: SparkSession, how: JobSettings, folder: Path) -> None:
    """Add up the pairs of all parts; Spark sorts and writes them, then they take the place of what was there."""
    keys = [name for name in graph.schema().names if name != "links"]
    # Hadoop has other names for files where its own file system is another.
    pairs = session.read.schema(_ddl(graph.schema())).parquet(f"file://{how.folder}")
    added = pairs.groupBy(*keys).agg(F.sum("links").alias("links"))
    added = added.orderBy(*(F.col(key).asc_nulls_last() for key in keys))
    added.write.mode("overwrite").parquet(f"file://{folder / _GRAPH}")
    place = FilePlace(str(folder))
    place.begin(how._replace(folder=str(folder)).job, 0)
    for made in sorted((folder / _GRAPH).glob("part-*.parquet")):
        rename(made, folder / made.name)
    discard_folders(folder / _GRAPH, Path(how.folder))
    place.finish()


# -- on the executors


def _check_version(version: str) -> None:
    if version != __version__:
        raise RuntimeError(f"overthere is {__version__} on this executor, and {version} on the driver")


def _is_retry() -> bool:
    """Whether this has been tried before: something may have killed the process."""
    context = TaskContext.get()
    return context is not None and context.attemptNumber() > 0


def _make(how: JobSettings, batches: _Batches) -> _Batches:
    """The files of parts, for each of them a row that says what is in it."""
    import pyarrow as pa

    _check_version(how.version)
    for batch in batches:
        for told in batch.column("part"):
            part = Part.from_json(told.as_py())
            summary, kept = part_files.write_part(part, how, guarded=_is_retry())
            seen = jsons.dumps(summary.to_dict())
            yield pa.record_batch(
                {
                    "task": pa.array([part.number], pa.int32()),
                    "found": pa.array([int(kept)], pa.int32()),
                    "summary": [seen],
                }
            )


def _merge(batches: _Batches) -> _Batches:
    import pyarrow as pa

    summary, earlier = Summary(), 0
    for batch in batches:
        for one, told in zip(batch.column("found"), batch.column("summary"), strict=True):
            summary += Summary.from_dict(jsons.loads(told.as_py()))
            earlier += one.as_py()
    yield pa.record_batch({"found": pa.array([earlier], pa.int32()), "summary": [jsons.dumps(summary.to_dict())]})


def _read_parts(version: str, options: Options, batches: _Batches) -> _Batches:
    _check_version(version)
    for batch in batches:
        for told in batch.column(0):
            yield from _rows(part_files.carry_out(Part.from_json(told.as_py()), options, guarded=_is_retry()))


def _read_paths(version: str, options: Options, base: str | None, batches: _Batches) -> _Batches:
    _check_version(version)
    own = None if base is None else URI(base)
    for batch in batches:
        paths = [_path(path) for path in batch.column(0).to_pylist()]
        yield from _rows(carried(tasks(paths, own, options, sys.maxsize), options, 2 if _is_retry() else 1, apart=True))


def _rows(batches: Iterator[pa.RecordBatch | TaskEnd]) -> _Batches:
    return (batch for batch in batches if not isinstance(batch, TaskEnd))


def _path(path: str | None) -> str:
    """A path as this machine has it: Hadoop's names of files begin with file:, and undefined is a path to nothing."""
    path = path or ""
    if path.startswith("file:/"):
        path = path.removeprefix("file:").removeprefix("//")
    return "./-" if path == "-" else path


def _read_contents(version: str, options: Options, base: str | None, batches: _Batches) -> _Batches:
    _check_version(version)
    own = None if base is None else URI(base)
    given = (
        dict(zip(batch.schema.names, (column[row].as_py() for column in batch.columns), strict=True))
        for batch in batches
        for row in range(batch.num_rows)
    )
    return contents.read(given, own, options)
