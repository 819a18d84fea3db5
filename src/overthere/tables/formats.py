"""Table formats by file suffix, and how each stores the columns."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Any, NamedTuple

__all__ = ["FORMATS", "READ", "Layout", "fit_schema", "suffix"]

READ = (".parquet", ".csv", ".csv.gz", ".arrow", ".feather", ".arrows")
"""Suffixes of tables to read; in a CSV file every column is text."""
FORMATS = (*READ, ".jsonl", ".jsonl.gz")
"""Suffixes of tables to write."""


def suffix(path: str | os.PathLike[str], forms: Collection[str] = FORMATS) -> str:
    """Return the suffix that names a file's format.

    Raises: ValueError for any other suffix.

    >>> suffix("site/Links.CSV.gz")
    '.csv.gz'
    """
    name = os.fspath(path).lower()
    for form in forms:
        if name.endswith(form):
            return form
    raise ValueError(f"the name of a table must end in {', '.join(forms)}")


class Layout(NamedTuple):
    """The columns of a table, and how they are written."""

    columns: Any
    """A `pyarrow.Schema`."""
    form: str = ".parquet"
    csv_safe: bool = False
    """Whether CSV cells that a spreadsheet would compute get a leading apostrophe (`overthere.columns.cells`)."""
    varied: Collection[str] = ()
    """Columns whose texts differ from row to row: their Parquet dictionary would soon be too large, and their minimum
    and maximum do not help to skip a row group."""
    bare: bool = False
    """Whether names in the CSV header have no quotes."""


def fit_schema(columns: Any, form: str, shared: Collection[str] = ()) -> Any:
    """Return the columns as a format stores them, a `pyarrow.Schema`.

    An Arrow file has one dictionary per column, but a table that is not read to its end may have more: dictionaries are
    then written as their values, except in columns that have the same in every batch.

    shared: those columns.

    Raises: ValueError for a column that the format cannot store.
    """
    import pyarrow as pa

    from overthere.tables.writers import open_format_writer

    types = pa.types
    is_json = form.startswith(".jsonl")
    if is_json and len(set(columns.names)) < len(columns):
        raise ValueError(f"two columns have one name, which objects of a {form} file cannot have")
    for index, field in enumerate(columns):
        dtype = field.type
        if types.is_dictionary(dtype) and (is_json or (form in (".arrow", ".feather") and field.name not in shared)):
            dtype = dtype.value_type
        if is_json and types.is_large_string(dtype):
            dtype = pa.string()
        columns = columns.set(index, field.with_type(dtype))
        single_column = pa.schema([columns.field(index)])
        try:
            with pa.BufferOutputStream() as sink:
                open_format_writer(sink, Layout(single_column, form)).end()
        except pa.ArrowException:
            raise ValueError(f'column "{field.name}" holds {field.type}, which a {form} file cannot') from None
    return columns
