"""The link graph: counts of links by pair of hosts, for any number of links in bounded memory."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Self

from overthere.ground.atomic import create, remove, temporary_folder
from overthere.ground.extras import need
from overthere.links.report.batch import Pair

__all__ = ["Graph", "schema"]

_KEYS = ("source_host", "target_host", "target_scheme")
_BUFFER_ROWS, _BUFFER_BYTES = 1 << 17, 32 << 20
"""The most pairs, and about the most bytes of them, that are buffered before they go to disk."""
_MAX_RUNS = 32
"""Sorted files (runs) that are merged at once."""
_BATCH_ROWS, _BATCH_BYTES = 1 << 13, 1 << 20
"""The size of the batches of a run."""


@cache
def schema() -> Any:
    """Return the columns of the graph, a `pyarrow.Schema`.

    source_host: the host of the base URI, in its normal form (RFC 3986 6.2.2); null where it has no authority.
    target_host: that of the target.
    target_scheme: the scheme of targets that have no authority (mailto, urn); null where there is a host, so
    that a pair of hosts is one row.
    links: the number of references.
    """
    import pyarrow as pa

    return pa.schema([*((name, pa.string()) for name in _KEYS), ("links", pa.int64())])


def _sum_pairs(table: Any) -> Any:
    """Return each pair once, sorted, as one batch."""
    import pyarrow as pa

    pairs = pa.table(table).group_by(list(_KEYS), use_threads=False).aggregate([("links", "sum")])
    pairs = pairs.rename_columns({"links_sum": "links"}).select(schema().names).cast(schema())
    pairs = pairs.sort_by([(name, "ascending") for name in _KEYS]).combine_chunks()
    batches = pairs.to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema())


def _split(batch: Any) -> Iterator[Any]:
    """Split a batch into pieces of limited size, of one row at least."""
    if batch.num_rows > 1 and (batch.num_rows > _BATCH_ROWS or batch.nbytes > _BATCH_BYTES):
        half = batch.num_rows // 2
        yield from _split(batch.slice(0, half))
        yield from _split(batch.slice(half))
    elif batch.num_rows:
        yield batch


class Graph:
    """Adds up graphs.  Beyond `limit` pairs it uses temporary files: use it as a context manager, which removes them.

    >>> with Graph() as graph:
    ...     for host in ("b", "a", "b"):
    ...         graph.add([(None, host, None, 1)])
    ...     [(row["target_host"], row["links"]) for batch in graph.batches() for row in batch.to_pylist()]
    [('a', 1), ('b', 2)]
    """

    def __init__(self, limit: int = _BUFFER_ROWS, folder: str | os.PathLike[str] | None = None) -> None:
        """folder: the parent folder of temporary files; by default that of the system.

        Raises: ModuleNotFoundError without the extra `columns`.
        """
        need("columns", "pyarrow")
        self.limit = limit
        self.links: int = 0
        """References counted so far."""
        self._buffer_batches: list[Any] = []
        self._buffer_rows = self._buffer_bytes = 0
        self._parent_folder = folder
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._levels: list[list[Path]] = []
        self._run_count = 0

    def add(self, pairs: Sequence[Pair]) -> None:
        """Add the pairs of a batch.  Raises: OSError if the temporary files cannot be written."""
        import pyarrow as pa

        columns = zip(*pairs, strict=True) if pairs else [()] * len(schema())
        self.links += sum(pair[-1] for pair in pairs)
        self._add_to_buffer(pa.record_batch([*map(list, columns)], schema=schema()))
        if self._buffer_rows <= 2 * self.limit and self._buffer_bytes <= 2 * _BUFFER_BYTES:
            return
        batch = _sum_pairs(pa.Table.from_batches(self._buffer_batches))
        self._buffer_batches, self._buffer_rows, self._buffer_bytes = [], 0, 0
        if batch.num_rows <= self.limit and batch.nbytes <= _BUFFER_BYTES:
            self._add_to_buffer(batch)
        else:
            self._spill(_split(batch), 0)

    def _add_to_buffer(self, batch: Any) -> None:
        self._buffer_batches.append(batch)
        self._buffer_rows += batch.num_rows
        self._buffer_bytes += batch.nbytes

    def _spill(self, batches: Iterable[Any], level: int) -> None:
        """Write a sorted run to disk; merge a level with `_MAX_RUNS` runs into one run of the next level."""
        import pyarrow as pa

        if self._folder is None:
            self._folder = temporary_folder(self._parent_folder)
        self._run_count += 1
        path = Path(self._folder.name, f"{self._run_count}.arrow")
        with create(path, path) as file, pa.ipc.new_stream(file, schema()) as writer:
            for batch in batches:
                writer.write_batch(batch)
        if level == len(self._levels):
            self._levels.append([])
        runs = self._levels[level]
        runs.append(path)
        if len(runs) >= _MAX_RUNS:
            self._levels[level] = []
            self._spill(_merge_runs([_read_run(run) for run in runs]), level + 1)
            for run in runs:
                remove(run)

    def batches(self) -> Iterator[Any]:
        """Yield the graph: batches of `schema()`, sorted by source, target and scheme, each pair once."""
        import pyarrow as pa

        buffered = [_sum_pairs(pa.Table.from_batches(self._buffer_batches))] if self._buffer_batches else []
        while sum(map(len, self._levels)) > _MAX_RUNS:
            # Merge short runs first, to rewrite little.
            level = next(i for i, runs in enumerate(self._levels) if runs)
            runs, self._levels[level] = self._levels[level], []
            self._spill(_merge_runs([_read_run(run) for run in runs]), level + 1)
        runs = [run for level in self._levels for run in level]
        if not runs:
            yield from (piece for batch in buffered for piece in _split(batch))
            return
        yield from _merge_runs([*(_read_run(run) for run in runs), *(_split(batch) for batch in buffered)])

    def close(self) -> None:
        self._buffer_batches, self._levels = [], []
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _read_run(path: Path) -> Iterator[Any]:
    import pyarrow as pa

    with pa.OSFile(str(path)) as file, pa.ipc.open_stream(file) as batches:
        yield from batches


def _merge_runs(runs: Iterable[Iterator[Any]]) -> Iterator[Any]:
    """Merge sorted runs, reading a batch of each at a time.

    Up to the smallest last key of these batches all rows are known: they are added up and yielded.
    """
    import pyarrow as pa

    heads = [(batch, run) for run in runs if (batch := next(run, None)) is not None]
    while heads:
        end = min(_sort_key(batch, batch.num_rows - 1) for batch, _ in heads)
        ready, next_heads = [], []
        for batch, run in heads:
            row_count = _count_up_to(batch, end)
            ready.append(batch.slice(0, row_count))
            remainder = batch.slice(row_count) if row_count < batch.num_rows else next(run, None)
            if remainder is not None:
                next_heads.append((remainder, run))
        heads = next_heads
        yield from _split(_sum_pairs(pa.Table.from_batches(ready)))


def _sort_key(batch: Any, row: int) -> tuple[tuple[bool, str], ...]:
    """Return the sort key of a row; undefined values sort last."""
    values = [batch.column(name)[row].as_py() for name in _KEYS]
    return tuple((value is None, value or "") for value in values)


def _count_up_to(batch: Any, end: tuple[tuple[bool, str], ...]) -> int:
    """Return the number of rows of a sorted batch up to a key, inclusive."""
    low, high = 0, batch.num_rows
    while low < high:
        middle = (low + high) // 2
        if _sort_key(batch, middle) <= end:
            low = middle + 1
        else:
            high = middle
    return low
