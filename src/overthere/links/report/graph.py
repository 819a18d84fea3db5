"""The link graph: counts of links by pair of hosts, for any number of links in bounded memory."""

from __future__ import annotations

import errno
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from overthere.files.tables.arrays import to_array
from overthere.ground.atomic import temporary_folder
from overthere.ground.extras import brought_by
from overthere.links.report.batch import Pair

if TYPE_CHECKING:
    import sqlite3

_KEYS = ("source_host", "target_host", "target_scheme")
_BUFFER_PAIRS, _BUFFER_BYTES = 1 << 17, 32 << 20
"""The most pairs, and about the most bytes of their names, that are buffered before they go to disk."""
_BATCH_ROWS = 1 << 13
_UNDEFINED = b""
"""None in the database, which sorts blobs after all text."""


@cache
def schema() -> Any:
    """Return the columns of the graph, a `pyarrow.Schema`.

    source_host: the host of the base URI, in its normal form (RFC 3986 6.2.2); null where it has no authority.
    target_host: that of the target.
    target_scheme: the scheme of targets that have no authority (mailto, urn); null where there is a host, so
    that a pair of hosts is one row.
    links: the number of references.
    """
    with brought_by("columns"):
        import pyarrow as pa

    return pa.schema([*((name, pa.string()) for name in _KEYS), ("links", pa.int64())])


@contextmanager
def _name_errors() -> Iterator[None]:
    """Raise an error of the database, such as a full disk, as an OSError."""
    import sqlite3

    try:
        yield
    except sqlite3.Error as error:
        raise OSError(errno.EIO, f"the database of the graph: {error}") from error


class Graph:
    """Adds up graphs.  Beyond `limit` pairs it uses a temporary database, which the end of a `with` block removes.

    >>> with Graph() as graph:
    ...     for host in ("b", "a", "b"):
    ...         graph.add([(None, host, None, 1)])
    ...     list(graph.pairs())
    [(None, 'a', None, 1), (None, 'b', None, 2)]
    """

    def __init__(self, limit: int = _BUFFER_PAIRS, folder: str | os.PathLike[str] | None = None) -> None:
        """folder: the parent folder of the database; by default that of temporary files, where SQLite sorts it."""
        self.limit = limit
        self.links: int = 0
        """References counted so far."""
        self._buffer: Counter[tuple[str | None, ...]] = Counter()
        self._buffer_bytes = 0
        self._parent_folder = folder
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._database: sqlite3.Connection | None = None

    def add(self, pairs: Iterable[Pair]) -> None:
        """Add the pairs of a batch.  Raises: OSError if the database cannot be written."""
        for *names, links in pairs:
            self.links += links
            if (key := tuple(names)) not in self._buffer:
                self._buffer_bytes += sum(len(name) for name in key if name)
            self._buffer[key] += links
        if len(self._buffer) > self.limit or self._buffer_bytes > _BUFFER_BYTES:
            self._spill()

    def _spill(self) -> sqlite3.Connection:
        """Move the buffer to the database; return it."""
        import sqlite3

        with _name_errors():
            if self._database is None:
                self._folder = temporary_folder(self._parent_folder)
                self._database = sqlite3.connect(Path(self._folder.name, "pairs"))
                self._database.executescript(
                    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -16384;"
                    f"CREATE TABLE pairs ({', '.join(_KEYS)}, links INTEGER)"
                )
            rows = ([*(_UNDEFINED if name is None else name for name in key), n] for key, n in self._buffer.items())
            self._database.executemany("INSERT INTO pairs VALUES (?, ?, ?, ?)", rows)
            self._database.commit()
        self._buffer.clear()
        self._buffer_bytes = 0
        return self._database

    def pairs(self) -> Iterator[Pair]:
        """Yield the graph, sorted by source, target and scheme, each pair once, with None last.

        Raises: OSError if the disk is full.
        """
        if self._database is None:
            pairs: list[Any] = [(*key, links) for key, links in self._buffer.items()]
            yield from sorted(pairs, key=lambda pair: [(name is None, name or "") for name in pair[:-1]])
            return
        keys = ", ".join(_KEYS)
        with _name_errors():
            rows = self._spill().execute(f"SELECT {keys}, SUM(links) FROM pairs GROUP BY {keys} ORDER BY {keys}")
            for *names, links in rows:
                source, target, scheme = (None if name == _UNDEFINED else name for name in names)
                yield source, target, scheme, links

    def batches(self) -> Iterator[Any]:
        """Yield the graph in batches of `schema()`.  Raises: ModuleNotFoundError without the extra `columns`."""
        columns, rows = schema(), self.pairs()
        import pyarrow as pa

        while part := list(islice(rows, _BATCH_ROWS)):
            values = zip(zip(*part, strict=True), columns, strict=True)
            yield pa.record_batch([to_array(column, field.type) for column, field in values], schema=columns)

    def close(self) -> None:
        self._buffer.clear()
        if self._database is not None:
            self._database.close()
            self._database = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
