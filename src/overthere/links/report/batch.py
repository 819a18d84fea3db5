"""Batches of the link table: their rows are selected, counted and written, without pyarrow.

The native kernel has the same as `Batch`, with the same results: `overthere._native.LinkBatch`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from overthere import kernel
from overthere.files.tables.formats import Layout, OwnColumns, TableEncoder
from overthere.ground.caches import bounded_cache
from overthere.ground.errors import InvalidURI
from overthere.ground.extras import brought_by
from overthere.kernel.reference import split, split_authority
from overthere.links.documents.charset import replace_surrogates
from overthere.links.model import Link
from overthere.values.normalize import normal_form
from overthere.values.uri import URIReference

if TYPE_CHECKING:
    from overthere._native import LinkBatch

Pair: TypeAlias = tuple[str | None, str | None, str | None, int]
"""Source host, target host, target scheme, and number of links (`graph.schema`)."""
AnyBatch: TypeAlias = "Batch | LinkBatch"
_Counts: TypeAlias = list[tuple[str | None, int]]

_TESTS: dict[str, Callable[[Link], bool]] = {
    "valid": lambda link: link.target is not None,
    # With an edition that has a "current document", such a reference is valid and has no target.
    "invalid": lambda link: link.reference is not None and link.error is not None and link.target is None,
    "mapped": lambda link: link.target is not None and link.error is not None,
    "same-document": lambda link: bool(link.same_document),
    "external": lambda link: link.target is not None and not _is_internal(link),
    "internal": lambda link: link.target is not None and _is_internal(link),
    "parts": lambda link: link.part is not None,
    "notes": lambda link: link.reference is None,
    "audit": lambda link: link.audit is not None,
    "browser": lambda link: link.browser is not None,
}
"""Whether a row is selected, by name (`selection.CHOICES`)."""


@cache
def schema() -> Any:
    """Return the columns of the link table, a `pyarrow.Schema`: the fields of `Link`, all text except two.

    No dictionaries: Parquet, Arrow and Spark see the same types.

    >>> schema().field("error_at").type, schema().field("same_document").type, schema().field("target").type
    (DataType(int64), DataType(bool), DataType(string))

    Raises: ModuleNotFoundError without the extra `columns`.
    """
    with brought_by("columns"):
        import pyarrow as pa

    other_types = {"same_document": pa.bool_(), "error_at": pa.int64()}
    return pa.schema([(name, other_types.get(name, pa.string())) for name in Link._fields])


class Batch:
    """Rows of the link table."""

    def __init__(self, rows: Sequence[Link]) -> None:
        self.rows: Sequence[Link] = rows

    @property
    def num_rows(self) -> int:
        return len(self.rows)

    @property
    def nbytes(self) -> int:
        """About the bytes of their texts."""
        return sum(len(value) for row in self.rows for value in row if isinstance(value, str))

    def links(self) -> Sequence[Link]:
        return self.rows

    def column(self, name: str) -> list[Any]:
        """Return the values of a column.  Raises: ValueError for an unknown name."""
        if name not in Link._fields:
            raise ValueError(f"the link table has no column {name}")
        return [getattr(row, name) for row in self.rows]

    def with_texts(self, name: str, texts: Sequence[str | None]) -> Batch:
        """Return the batch with another column of texts."""
        fields: Any = [{name: text} for text in texts]
        return Batch([row._replace(**field) for row, field in zip(self.rows, fields, strict=True)])

    def slice(self, start: int) -> Batch:
        """Return the batch without its first rows."""
        return Batch(self.rows[start:])

    def select(self, names: Sequence[str]) -> Batch:
        """Return the rows that at least one of the names selects."""
        tests = [_TESTS[name] for name in names]
        return Batch([row for row in self.rows if any(test(row) for test in tests)])

    def pairs(self) -> list[Pair]:
        """Return the number of links of each pair, sorted, with None last."""
        counts: Counter[tuple[str | None, str | None, str | None]] = Counter()
        for row in self.rows:
            if row.target is not None:
                host = _normal_host(_host(row.target))
                scheme = split(row.target).scheme if host is None else None
                counts[_normal_host(_host(row.base)), host, scheme and scheme.lower()] += 1
        pairs = [(*hosts, links) for hosts, links in counts.items()]
        return sorted(pairs, key=lambda pair: [(text is None, text or "") for text in pair[:3]])

    def counts(self) -> tuple[tuple[int, int, int], _Counts, _Counts, list[tuple[str, str]]]:
        """Return the numbers of the summary.

        They are: (references, those to the same document, those mapped from IRIs), the layers of their bases, the
        kinds of errors of those without a target, and the kinds and sources of notes.
        """
        references = [row for row in self.rows if row.reference is not None]
        mapped = sum(row.target is not None and row.error is not None for row in self.rows)
        layers = Counter(row.base_from for row in references)
        invalid = Counter(row.error for row in references if row.target is None and row.error is not None)
        notes = [(row.error, row.source) for row in self.rows if row.reference is None and row.error is not None]
        same_document = sum(bool(row.same_document) for row in self.rows)
        return (len(references), same_document, mapped), [*layers.items()], [*invalid.items()], notes

    def json_lines(self) -> bytes:
        return "".join(json.dumps(row._asdict(), ensure_ascii=False) + "\n" for row in self.rows).encode()

    def csv_lines(self, is_safe: bool) -> bytes:
        """Return the rows as CSV, without a header.  is_safe: as `Layout.csv_safe`."""
        return "".join(",".join(_cell(value, is_safe) for value in row) + "\n" for row in self.rows).encode()

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """Raises: ModuleNotFoundError without pyarrow; ValueError for more than 2 GiB of text in a column."""
        import pyarrow as pa

        arrays = []
        columns = zip(*self.rows, strict=True) if self.rows else [()] * len(Link._fields)
        for values, field in zip(columns, schema(), strict=True):
            array = pa.array(values, field.type)
            if isinstance(array, pa.ChunkedArray):
                raise ValueError(f"a batch has more than 2 GiB in its column {field.name}")
            arrays.append(array)
        capsules: tuple[object, object] = pa.record_batch(arrays, schema=schema()).__arrow_c_array__(requested_schema)
        return capsules


def to_batch(rows: Iterable[Link]) -> AnyBatch:
    """Return rows as a batch of this kernel; lone surrogates become U+FFFD.

    >>> to_batch([Link("s", *[None] * 12)]).num_rows
    1
    """
    texts = [
        Link._make(replace_surrogates(value) if isinstance(value, str) else value for value in row) for row in rows
    ]
    if kernel.name == "native":
        from overthere._native import LinkBatch

        return LinkBatch.of(texts)
    return Batch(texts)


def links(batch: AnyBatch) -> Iterable[Link]:
    """Return the rows of a batch."""
    return map(Link._make, batch.links())


def _cell(value: str | int | None, is_safe: bool) -> str:
    if isinstance(value, str):
        from overthere.columns.cells import escape

        return '"' + (escape(value) if is_safe else value).replace('"', '""') + '"'
    return "" if value is None else str(value).lower()


def _is_internal(link: Link) -> bool:
    return (_host(link.target) or "").lower() == (_host(link.base) or "").lower()


def _host(uri: str | None) -> str | None:
    authority = None if uri is None else split(uri).authority
    return None if authority is None else split_authority(authority)[1]


@bounded_cache(1 << 10)
def _normal_host(host: str | None) -> str | None:
    """Return a host in its normal form (RFC 3986 6.2.2); one that is not valid stays as it is."""
    if host is None:
        return None
    try:
        return normal_form(str(URIReference(f"//{host}", zone=True))).removeprefix("//")
    except InvalidURI:
        return host


class _Columns(OwnColumns):
    names: Sequence[str] = Link._fields

    @property
    def schema(self) -> Any:
        return schema()

    def from_arrow(self, batch: Any) -> AnyBatch:
        return to_batch(map(Link._make, zip(*(column.to_pylist() for column in batch.columns), strict=True)))

    def encoder(self, layout: Layout) -> TableEncoder | None:
        if kernel.name != "native":
            return None
        from overthere._native import LinkArrow, LinkParquet

        if layout.form == ".parquet":
            return LinkParquet(list(layout.varied), layout.threads)
        return LinkArrow(layout.form == ".arrows")


COLUMNS = _Columns()
"""The columns of the link table, for the writers of tables."""
