"""The link graph: counts of links by pair of hosts, for any number of links in bounded memory."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Self

from overthere import columns
from overthere.columns.rowwise import compute
from overthere.ground.atomic import create, remove, temporary_folder
from overthere.tables.arrays import to_array

__all__ = ["Graph", "pairs", "schema"]

_KEYS = ("source_host", "target_host", "target_scheme")
_ROWS, _BYTES = 1 << 17, 32 << 20
"""So many pairs, or about so many octets of them, are held before they go to disk."""
_RUNS = 32
"""So many runs are merged at once."""
_BATCH, _BATCH_BYTES = 1 << 13, 1 << 20
"""A batch of a run."""


@cache
def schema() -> Any:
    """The columns of the graph, a `pyarrow.Schema`.

    source_host: the host of the base URI, in its normal form (RFC 3986 6.2.2); null where it has no authority.
    target_host: that of the target.
    target_scheme: the scheme of targets that have no authority (mailto, urn); null where there is a host, so
    that a pair of hosts is one row.
    links: how many references lead there.
    """
    import pyarrow as pa

    return pa.schema([*((name, pa.string()) for name in _KEYS), ("links", pa.int64())])


def pairs(batch: Any) -> Any:
    """The graph of the links in a batch, each pair once: a batch of `schema()`.  References without target are none.

    >>> from overthere.links.model import Link
    >>> from overthere.links.report.table import to_batch
    >>> rows = [("http://a/x", "http://B/"), ("http://A/y", "http://b:80/z"), ("http://a/x", "mailto:me@b")]
    >>> links = [Link("", base, *[None] * 3, target, *[None] * 7) for base, target in rows]
    >>> [tuple(row.values()) for row in pairs(to_batch(links)).to_pylist()]
    [('a', 'b', None, 2), ('a', None, 'mailto', 1)]
    """
    import pyarrow as pa

    pc = compute()
    base, target = batch.column("base"), batch.column("target")
    bases = base.dictionary_encode("encode")  # a document's links mostly have one base
    sources = _normal(_host(bases.dictionary)).dictionary_encode("encode")
    hosts = _host(target).dictionary_encode()
    ends = _normal(hosts.dictionary).dictionary_encode()
    goals = ends.indices.take(hosts.indices).cast(pa.int64())
    schemes = pa.nulls(0, pa.string())
    count = to_array([len(ends.dictionary)], pa.int64())[0]
    bare = pc.and_(goals.is_null(), target.is_valid())
    if bare.true_count:  # no authority: behind the hosts, the schemes
        named = pa.array(columns.split(target.filter(bare), ("scheme",), threads=1, views=False)).field("scheme")
        encoded = pc.ascii_lower(named.cast(pa.string())).dictionary_encode()
        schemes = encoded.dictionary
        goals = pc.replace_with_mask(goals, bare, pc.add(encoded.indices.cast(pa.int64()), count))
    # A pair as one number, which value_counts takes; a group_by would load acero, and with it pandas if it is there.
    whole = to_array([len(ends.dictionary) + len(schemes)], pa.int64())[0]
    counted = pc.value_counts(pc.add(pc.multiply(sources.indices.take(bases.indices).cast(pa.int64()), whole), goals))
    if target.null_count:
        counted = counted.filter(counted.field("values").is_valid())
    pair, links = counted.field("values"), counted.field("counts")
    place = pc.divide(pair, whole)
    goal = pc.subtract(pair, pc.multiply(place, whole))
    has_host, none = pc.less(goal, count), pa.nulls(len(goal), pa.int64())
    target_host = ends.dictionary.take(pc.if_else(has_host, goal, none))
    scheme = schemes.take(pc.if_else(has_host, none, pc.subtract(goal, count)))
    made = pa.record_batch([sources.dictionary.take(place), target_host, scheme, links], schema=schema())
    return made.take(pc.sort_indices(made, [(name, "ascending") for name in _KEYS]))


def _host(uris: Any) -> Any:
    import pyarrow as pa

    return pa.array(columns.host(uris, threads=1, views=False)).cast(pa.string())


def _normal(hosts: Any) -> Any:
    """Hosts in their normal form."""
    import pyarrow as pa

    pc = compute()
    start, nothing = to_array(["//", ""], pa.string())
    written = pc.binary_join_element_wise(start, hosts, nothing)
    # A host that is none by the rules, which bases and targets do not have, stays as it is.
    return pc.coalesce(_host(columns.normalize(written, threads=1)), hosts)


def _sum_pairs(table: Any) -> Any:
    """Each pair once, sorted, as one batch."""
    import pyarrow as pa

    pairs = pa.table(table).group_by(list(_KEYS), use_threads=False).aggregate([("links", "sum")])
    pairs = pairs.rename_columns({"links_sum": "links"}).select(schema().names).cast(schema())
    pairs = pairs.sort_by([(name, "ascending") for name in _KEYS]).combine_chunks()
    batches = pairs.to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema())


def _pieces(batch: Any) -> Iterator[Any]:
    """A sorted batch in pieces of a bounded size, but for pairs that are larger themselves."""
    if batch.num_rows > 1 and (batch.num_rows > _BATCH or batch.nbytes > _BATCH_BYTES):
        half = batch.num_rows // 2
        yield from _pieces(batch.slice(0, half))
        yield from _pieces(batch.slice(half))
    elif batch.num_rows:
        yield batch


class Graph:
    """Adds graphs up.  What is more than `limit` pairs lies in temporary files: a context manager removes them.

    >>> import pyarrow as pa
    >>> with Graph() as graph:
    ...     for host in ("b", "a", "b"):
    ...         graph.add(pa.RecordBatch.from_pylist([{"target_host": host, "links": 1}], schema()))
    ...     [(row["target_host"], row["links"]) for batch in graph.batches() for row in batch.to_pylist()]
    [('a', 1), ('b', 2)]
    """

    def __init__(self, limit: int = _ROWS, folder: str | os.PathLike[str] | None = None) -> None:
        """folder: where temporary files go; by default where the system has them."""
        self.limit = limit
        self.links: int = 0
        """References that were counted."""
        self._held: list[Any] = []
        self._rows = self._bytes = 0
        self._place = folder
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._levels: list[list[Path]] = []
        self._made = 0

    def add(self, pairs: Any) -> None:
        """Add what `pairs` gave.  Raises: OSError if the temporary files cannot be written."""
        import pyarrow as pa

        self.links += compute().sum(pairs.column("links")).as_py() or 0
        self._buffer(pairs)
        if self._rows <= 2 * self.limit and self._bytes <= 2 * _BYTES:
            return
        batch = _sum_pairs(pa.Table.from_batches(self._held))
        self._held, self._rows, self._bytes = [], 0, 0
        if batch.num_rows <= self.limit and batch.nbytes <= _BYTES:
            self._buffer(batch)
        else:
            self._spill(_pieces(batch), 0)

    def _buffer(self, batch: Any) -> None:
        self._held.append(batch)
        self._rows += batch.num_rows
        self._bytes += batch.nbytes

    def _spill(self, batches: Iterable[Any], level: int) -> None:
        """A sorted run to disk; when a level has its number of runs they become one of the next."""
        import pyarrow as pa

        if self._folder is None:
            self._folder = temporary_folder(self._place)
        self._made += 1
        path = Path(self._folder.name, f"{self._made}.arrow")
        with create(path, path) as file, pa.ipc.new_stream(file, schema()) as pen:
            for batch in batches:
                pen.write_batch(batch)
        if level == len(self._levels):
            self._levels.append([])
        runs = self._levels[level]
        runs.append(path)
        if len(runs) >= _RUNS:
            self._levels[level] = []
            self._spill(_merge_runs([_run(run) for run in runs]), level + 1)
            for run in runs:
                remove(run)

    def batches(self) -> Iterator[Any]:
        """The graph: batches of `schema()`, sorted by source, target and scheme, each pair once."""
        import pyarrow as pa

        held = [_sum_pairs(pa.Table.from_batches(self._held))] if self._held else []
        while sum(map(len, self._levels)) > _RUNS:
            # The short runs first, so that little is written again.
            level = next(i for i, runs in enumerate(self._levels) if runs)
            runs, self._levels[level] = self._levels[level], []
            self._spill(_merge_runs([_run(run) for run in runs]), level + 1)
        runs = [run for level in self._levels for run in level]
        if not runs:
            yield from (piece for batch in held for piece in _pieces(batch))
            return
        yield from _merge_runs([*(_run(run) for run in runs), *(_pieces(batch) for batch in held)])

    def close(self) -> None:
        self._held, self._levels = [], []
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _run(path: Path) -> Iterator[Any]:
    import pyarrow as pa

    with pa.OSFile(str(path)) as file, pa.ipc.open_stream(file) as batches:
        yield from batches


def _merge_runs(runs: Iterable[Iterator[Any]]) -> Iterator[Any]:
    """Sorted runs as one, a batch of each at a time.

    Up to the smallest of the last keys every row is at hand: those are added up and given.
    """
    import pyarrow as pa

    heads = [(batch, run) for run in runs if (batch := next(run, None)) is not None]
    while heads:
        end = min(_key(batch, batch.num_rows - 1) for batch, _ in heads)
        ready, rest = [], []
        for batch, run in heads:
            at = _count_after(batch, end)
            ready.append(batch.slice(0, at))
            left = batch.slice(at) if at < batch.num_rows else next(run, None)
            if left is not None:
                rest.append((left, run))
        heads = rest
        yield from _pieces(_sum_pairs(pa.Table.from_batches(ready)))


def _key(batch: Any, row: int) -> tuple[tuple[bool, str], ...]:
    """A row's place in the order, in which undefined comes last."""
    values = [batch.column(name)[row].as_py() for name in _KEYS]
    return tuple((value is None, value or "") for value in values)


def _count_after(batch: Any, end: tuple[tuple[bool, str], ...]) -> int:
    """How many rows of a sorted batch are not after a key."""
    low, high = 0, batch.num_rows
    while low < high:
        middle = (low + high) // 2
        if _key(batch, middle) <= end:
            low = middle + 1
        else:
            high = middle
    return low
