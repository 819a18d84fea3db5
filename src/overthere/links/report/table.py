"""The link table: one schema for every format of tables (`overthere.tables`).

`schema()` is a function, so that importing this does not import pyarrow.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from typing import Any

from overthere import tables
from overthere.links.model import Link
from overthere.tables import FORMATS, Layout, Writer

__all__ = ["FORMATS", "Writer", "layout", "open_writer", "schema", "to_batch"]

_VARIED = ("reference", "target", "fragment", "normal", "browser")


@cache
def schema() -> Any:
    """Return the columns of the link table, a `pyarrow.Schema`: the fields of `Link`, all text except two.

    No dictionaries: Parquet, Arrow and Spark see the same types.

    >>> schema().field("error_at").type, schema().field("same_document").type, schema().field("target").type
    (DataType(int64), DataType(bool), DataType(string))
    """
    import pyarrow as pa

    other_types = {"same_document": pa.bool_(), "error_at": pa.int64()}
    return pa.schema([(name, other_types.get(name, pa.string())) for name in Link._fields])


def to_batch(links: Iterable[Link]) -> Any:
    """Return rows as a `pyarrow.RecordBatch` of `schema()`; lone surrogates become "?".

    Raises: ValueError for more than 2 GiB of text in a column.

    >>> to_batch([Link("s", *[None] * 12)]).num_rows
    1
    """
    import pyarrow as pa

    columns = list(zip(*links, strict=True)) or [()] * len(Link._fields)
    arrays = []
    for column, field in zip(columns, schema(), strict=True):
        try:
            array = pa.array(column, field.type)
        except UnicodeEncodeError:
            encoded = [None if text is None else text.encode("utf-8", "replace") for text in column]
            array = pa.array(encoded, pa.binary()).cast(field.type)
        if isinstance(array, pa.ChunkedArray):
            raise ValueError(f"a batch has more than 2 GiB in its column {field.name}")
        arrays.append(array)
    return pa.RecordBatch.from_arrays(arrays, schema=schema())


def layout(columns: Any = None) -> Layout:
    """Return the layout of the link table, or of another table of the job; by default for Parquet."""
    return Layout(columns or schema(), varied=_VARIED, bare=True)


def open_writer(
    path: str | os.PathLike[str],
    columns: Any = None,
    *,
    job: str = "",
    resume: bool = False,
    form: str = ".jsonl",
    csv_safe: bool = False,
) -> Writer:
    """Return the writer of the link table for a name, see `overthere.tables.open_writer`.

    columns: those of another table.  form: ".jsonl" or ".csv", for standard output and for pipes without a suffix.
    csv_safe: cells of CSV that a spreadsheet would compute get an apostrophe in front (`overthere.columns.cells`).

    Raises: ValueError; ResumeError; OSError.
    """
    table_layout = layout(columns)._replace(form=form, csv_safe=csv_safe)
    return tables.open_writer(path, table_layout, job=job, resume=resume)
