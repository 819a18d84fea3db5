"""Table formats by file suffix, and how each stores the columns."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Any, NamedTuple

__all__ = ["FORMATS", "READ", "Layout", "fit_schema", "suffix"]

READ = (".parquet", ".csv", ".csv.gz", ".arrow", ".feather", ".arrows")
"""What is read; a CSV file is text in every column."""
FORMATS = (*READ, ".jsonl", ".jsonl.gz")
"""What is written."""


def suffix(path: str | os.PathLike[str], forms: Collection[str] = FORMATS) -> str:
    """The suffix that names a file's format.

    Raises: ValueError for another.

    >>> suffix("site/Links.CSV.gz")
    '.csv.gz'
    """
    name = os.fspath(path).lower()
    for form in forms:
        if name.endswith(form):
            return form
    raise ValueError(f"the name of a table must end in {', '.join(forms)}")


class Layout(NamedTuple):
    """What is written: the columns, and how."""

    columns: Any
    """A `pyarrow.Schema`."""
    form: str = ".parquet"
    csv_safe: bool = False
    """Cells of CSV that a spreadsheet would compute get an apostrophe in front (`overthere.columns.cells`)."""
    varied: Collection[str] = ()
    """Columns whose texts differ from row to row: a Parquet dictionary of them is soon too large, and their least
    and greatest text tell nothing of a row group."""
    bare: bool = False
    """The names in the header of CSV stand without quotes."""


def fit_schema(columns: Any, form: str, steady: Collection[str] = ()) -> Any:
    """The columns as a format holds them, a `pyarrow.Schema`.

    An Arrow file holds one dictionary a column, and a table that is not read to its end may have
    more: there dictionaries are written as their values, but for columns in which every batch has the same.

    steady: those columns.

    Raises: ValueError for a column that the format does not hold.
    """
    import pyarrow as pa

    from overthere.tables.writers import open_format_writer

    kinds = pa.types
    lines = form.startswith(".jsonl")
    if lines and len(set(columns.names)) < len(columns):
        raise ValueError(f"two columns have one name, which objects of a {form} file cannot have")
    for place, field in enumerate(columns):
        kind = field.type
        if kinds.is_dictionary(kind) and (lines or (form in (".arrow", ".feather") and field.name not in steady)):
            kind = kind.value_type
        if lines and kinds.is_large_string(kind):
            kind = pa.string()
        columns = columns.set(place, field.with_type(kind))
        alone = pa.schema([columns.field(place)])
        try:
            with pa.BufferOutputStream() as sink:
                open_format_writer(sink, Layout(alone, form)).end()
        except pa.ArrowException:
            raise ValueError(f'column "{field.name}" holds {field.type}, which a {form} file cannot') from None
    return columns
