"""The main job on Apache Spark 4.1 and later.

from overthere.links import spark
spark.run(session, ["/mnt/crawl/"], "/mnt/links/")            # a folder of Parquet files, as `overthere links` makes it
spark.extract(session.read.format("binaryFile").load("s3a://b/*.html"), content="content")   # rows, for a pipeline
spark.extract(spark.partitions(session, ["/mnt/crawl/"]), part="part")   # rows of large files, in even parts

The executors need the same version of overthere with its extra `links`, and must see the same paths as the session, in
a file system that all mount.  Other documents are passed as content.  URIs as sources are rejected: executors do not
coordinate, and would all contact a host at once.
"""

from __future__ import annotations

import json as jsons
import os
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Unpack

from overthere import __version__
from overthere.files.stores.model import is_object
from overthere.files.tables.arrays import to_arrow
from overthere.ground.atomic import rename
from overthere.ground.extras import brought_by
from overthere.links.job import contents, part_files
from overthere.links.job.extraction import Index, Sources
from overthere.links.job.options import check_options
from overthere.links.job.part_files import JobSettings, Part
from overthere.links.job.part_places import FilePlace, discard_folders, place_of
from overthere.links.job.running import run as execute
from overthere.links.job.sources import tasks
from overthere.links.job.task_rows import TaskEnd
from overthere.links.model import OptionFields, Options
from overthere.links.report import graph
from overthere.links.report.batch import AnyBatch, schema
from overthere.links.report.summary import Summary
from overthere.values.uri import URI

with brought_by("spark"):
    from pyspark import TaskContext
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql import functions as F  # noqa: N812 - as its users call it

if TYPE_CHECKING:
    import pyarrow as pa


_PART_COLUMNS = ("task", "sources", "octets", "part")
_DDL_TYPES = {"string": "string", "bool": "boolean", "int64": "bigint"}
_SUMMARIES_PER_MERGE = 256
"""Summaries that an executor adds up for the driver."""

_Batches = Iterator["pa.RecordBatch"]


class Outcome(NamedTuple):
    """The result of a job."""

    summary: Summary
    """The summary of all parts, including those of an earlier run."""
    parts: int
    found: int
    """Parts from an earlier run."""


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
    """Write the link table of sources as a folder of Parquet files, OUTPUT/task=000000/links.parquet and so on.

    In the order of the tasks, its rows are those of `links.batches`.  A task is a part of the job; one executor reads
    it and writes its file, atomically.  So the job can be restarted after any failure, and makes only the missing
    files: each file records its sources and settings, and is made again if they have changed.  OUTPUT/_SUCCESS is
    written when all are complete.

    sources, base, options: as for `links.extract`.
    only: names of `selection.CHOICES`: write only the rows that at least one selects.
    distinct: write the link graph instead (`graph.schema()`); Spark writes its files at the end.
    octets: bytes of sources per task; by default a 256th of all, from 8 MiB to 2 GiB.

    Raises: InvalidURI if `base` is not a valid URI; NotSpecified for an unknown edition; ValueError for standard input
    or a URI; FileExistsError if the folder has other files; OSError if it cannot be written; Spark's errors.
    """
    start_time = time.monotonic()
    chosen = _check_options(Options(**options))
    is_store = is_object(output)
    if is_store and distinct:
        raise ValueError(f"{output}: the link graph is written to a file system only")
    folder = Path(os.path.abspath(output))
    base_str = None if base is None else str(URI(base))
    part_folder = str(output) if is_store else str(folder / _PAIRS if distinct else folder)
    settings = JobSettings(part_folder, chosen, base_str, tuple(only), distinct)
    place = place_of(settings.folder)
    if distinct:
        place_of(str(folder)).claim()
    parts = list(part_files.parts(_list_sources(sources), None if base_str is None else URI(base_str), octets, chosen))
    place.begin(settings.job, len(parts))
    summary, earlier = Summary(), 0
    if parts:
        summaries = _map_frame(_frame(session, parts), partial(_write, settings), "task int, found int, summary string")
        summaries = summaries.repartition(-(-len(parts) // _SUMMARIES_PER_MERGE), F.col("task"))
        for row in _map_frame(summaries, _merge_summaries, "found int, summary string").collect():
            summary += Summary.from_dict(jsons.loads(row.summary))
            earlier += row.found
    place.finish()
    if distinct:
        _write_graph(session, settings, folder)
    summary.seconds = time.monotonic() - start_time
    return Outcome(summary, len(parts), earlier)


def partitions(
    session: SparkSession, sources: Sources, base: URI | str | None = None, octets: int | None = None
) -> DataFrame:
    """Return sources for `extract`: a row and a partition for each part of the job, of about equal work.

    Columns: task (a number; in their order the rows are those of `links.batches`), sources (for people), octets (of
    the sources), part (JSON, for `extract(..., part="part")`).

    sources, base, octets: as for `run`; the paths are read in this process.

    Raises: InvalidURI if `base` is not a valid URI; ValueError for standard input or a URI.
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
    """Return the links of the documents that a frame names or contains, in the columns of the link table.

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
    chosen = _check_options(Options(**options))
    base_str = None if base is None else str(URI(base))
    version = __version__
    if part is not None:
        if any(argument is not None for argument in (content, url, media_type, base)):
            raise ValueError(
                "a part of a job has its own sources and base: content, url, media_type and base do not go with part"
            )
        return _map_frame(frame.select(part), partial(_read_parts, version, chosen), _ddl(schema()))
    if content is None:
        if path is None:
            raise ValueError("a column of paths or of contents is missing")
        return _map_frame(frame.select(path), partial(_read_paths, version, chosen, base_str), _ddl(schema()))
    data_type = frame.select(F.col(content)).schema[0].dataType.simpleString()
    if data_type != "binary":
        advice = f"documents must be in a binary column: F.encode({content!r}, 'utf-8')"
        raise ValueError(f"the column {content!r} is {data_type}, and {advice}")
    if path not in frame.columns and url is not None:
        path = None
    columns = {"path": path, "content": content, "url": url, "media_type": media_type}
    aliases = [F.col(column).alias(name) for name, column in columns.items() if column is not None]
    return _map_frame(frame.select(*aliases), partial(_read_contents, version, chosen, base_str), _ddl(schema()))


# -- on the driver


def _check_options(options: Options) -> Options:
    check_options(options)
    return options


def _list_sources(sources: Sources) -> list[str | os.PathLike[str] | URI | Index]:
    return [sources] if isinstance(sources, str | os.PathLike | URI | Index) else list(sources)


def _ddl(columns: pa.Schema) -> str:
    return ", ".join(f"`{field.name}` {_DDL_TYPES[str(field.type)]}" for field in columns)


def _map_frame(frame: DataFrame, function: Callable[[_Batches], _Batches], columns: str) -> DataFrame:
    with _suppress_warnings():
        return frame.mapInArrow(function, columns)


@contextmanager
def _suppress_warnings() -> Iterator[None]:
    """Suppress Spark's warning about a new pandas, which appears even where only Arrow is used."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        yield


def _frame(session: SparkSession, parts: list[Part]) -> DataFrame:
    import pyarrow as pa

    rows = [(part.number, _show_sources(part), part.size, part.to_json()) for part in parts]
    columns = list(zip(*rows, strict=True)) or [()] * len(_PART_COLUMNS)
    kinds = (pa.int32(), pa.string(), pa.int64(), pa.string())
    arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    with _suppress_warnings():
        frame = session.createDataFrame(pa.table(arrays, names=list(_PART_COLUMNS)))
    return frame.repartitionById(max(len(parts), 1), "task")


def _show_sources(part: Part) -> str:
    paths = [path for task in part.tasks for path in task.paths]
    others = f" and {len(paths) - 1:,} more" if len(paths) > 1 else ""
    return os.fsencode(paths[0]).decode("utf-8", "replace") + others


_PAIRS, _GRAPH = "_pairs", "_graph"


def _write_graph(session: SparkSession, settings: JobSettings, folder: Path) -> None:
    """Add up the pairs of all parts: Spark sorts and writes them, then its files replace the earlier output."""
    keys = [name for name in graph.schema().names if name != "links"]
    # Without file:, Hadoop would look in its default file system; unescaped, a name with brackets would be a pattern.
    pairs_folder = re.sub(r"[\\{}\[\]*?]", r"\\\g<0>", settings.folder)
    pairs = session.read.schema(_ddl(graph.schema())).parquet(f"file://{pairs_folder}")
    sums = pairs.groupBy(*keys).agg(F.sum("links").alias("links"))
    sums = sums.orderBy(*(F.col(key).asc_nulls_last() for key in keys))
    sums.write.mode("overwrite").parquet(f"file://{folder / _GRAPH}")
    place = FilePlace(str(folder))
    place.begin(settings._replace(folder=str(folder)).job, 0)
    for file in sorted((folder / _GRAPH).glob("part-*.parquet")):
        rename(file, folder / file.name)
    discard_folders(folder / _GRAPH, Path(settings.folder))
    place.finish()


# -- on the executors


def _check_version(version: str) -> None:
    if version != __version__:
        raise RuntimeError(f"overthere is {__version__} on this executor, and {version} on the driver")


def _is_retry() -> bool:
    """Whether this is a retry: a document may have killed the process."""
    context = TaskContext.get()
    return context is not None and context.attemptNumber() > 0


def _write(settings: JobSettings, batches: _Batches) -> _Batches:
    """Write the files of parts; yield a row with the summary of each."""
    import pyarrow as pa

    _check_version(settings.version)
    for batch in batches:
        for text in batch.column("part"):
            part = Part.from_json(text.as_py())
            summary, existed = part_files.write_part(part, settings, guarded=_is_retry())
            summary_json = jsons.dumps(summary.to_dict())
            yield pa.record_batch(
                {
                    "task": pa.array([part.number], pa.int32()),
                    "found": pa.array([int(existed)], pa.int32()),
                    "summary": [summary_json],
                }
            )


def _merge_summaries(batches: _Batches) -> _Batches:
    import pyarrow as pa

    summary, earlier = Summary(), 0
    for batch in batches:
        for found, text in zip(batch.column("found"), batch.column("summary"), strict=True):
            summary += Summary.from_dict(jsons.loads(text.as_py()))
            earlier += found.as_py()
    yield pa.record_batch({"found": pa.array([earlier], pa.int32()), "summary": [jsons.dumps(summary.to_dict())]})


def _read_parts(version: str, options: Options, batches: _Batches) -> _Batches:
    _check_version(version)
    for batch in batches:
        for text in batch.column(0):
            yield from _rows(part_files.carry_out(Part.from_json(text.as_py()), options, guarded=_is_retry()))


def _read_paths(version: str, options: Options, base: str | None, batches: _Batches) -> _Batches:
    _check_version(version)
    uri = None if base is None else URI(base)
    for batch in batches:
        paths = [_local_path(path) for path in batch.column(0).to_pylist()]
        yield from _rows(
            execute(tasks(paths, uri, options, sys.maxsize), options, 2 if _is_retry() else 1, needs_processes=True)
        )


def _rows(batches: Iterator[AnyBatch | TaskEnd]) -> _Batches:
    return (to_arrow(batch) for batch in batches if not isinstance(batch, TaskEnd))


def _local_path(path: str | None) -> str:
    """Return a path of this machine: without file:, which Hadoop puts before it; an undefined path becomes ""."""
    path = path or ""
    if path.startswith("file:/"):
        path = path.removeprefix("file:").removeprefix("//")
    return "./-" if path == "-" else path


def _read_contents(version: str, options: Options, base: str | None, batches: _Batches) -> _Batches:
    _check_version(version)
    base_uri = None if base is None else URI(base)
    rows = (
        dict(zip(batch.schema.names, (column[row].as_py() for column in batch.columns), strict=True))
        for batch in batches
        for row in range(batch.num_rows)
    )
    return _rows(contents.read(rows, base_uri, options))
