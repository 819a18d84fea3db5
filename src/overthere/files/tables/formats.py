"""Table formats by file suffix, and how each stores the columns."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple, Protocol

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


class TableEncoder(Protocol):
    """Encodes batches as a file of Parquet or Arrow, piece by piece: each call returns the next bytes of the file."""

    def write(self, batches: list[Any], /) -> bytes:
        """Encode batches as one row group."""
        ...

    def end(self, metadata: list[tuple[str, str]], /) -> bytes:
        """Encode the end of the file, with names and texts in its metadata."""
        ...


class OwnColumns(ABC):
    """The columns of batches that encode themselves, by `csv_lines` and `json_lines`; pyarrow takes them by capsule."""

    names: Sequence[str]

    @property
    @abstractmethod
    def schema(self) -> Any:
        """The columns as a `pyarrow.Schema`."""

    @abstractmethod
    def from_arrow(self, batch: Any) -> Any:
        """Return a `pyarrow.RecordBatch` of these columns as a batch that encodes itself."""

    @abstractmethod
    def encoder(self, layout: Layout) -> TableEncoder | None:
        """Return the encoder of a file of Parquet or Arrow, if there is one without pyarrow."""


class Layout(NamedTuple):
    """The columns of a table, and how they are written."""

    columns: Any
    """A `pyarrow.Schema`, or `OwnColumns`."""
    form: str = ".parquet"
    csv_safe: bool = False
    """Whether CSV cells that a spreadsheet would compute get a leading apostrophe (`overthere.columns.cells`)."""
    varied: Collection[str] = ()
    """Columns whose texts differ from row to row: their Parquet dictionary would soon be too large, and their minimum
    and maximum do not help to skip a row group."""
    bare: bool = False
    """Whether names in the CSV header have no quotes."""
    threads: int = 1
    """Threads that encode a row group of Parquet, column by column."""

    @property
    def schema(self) -> Any:
        """The columns as a `pyarrow.Schema`."""
        return self.columns.schema if isinstance(self.columns, OwnColumns) else self.columns

    def for_arrow(self) -> Layout:
        """Return the layout for batches of pyarrow."""
        return self._replace(columns=self.schema)


def fit_schema(columns: Any, form: str, shared: Collection[str] = ()) -> Any:
    """Return the columns as a format stores them, a `pyarrow.Schema`.

    An Arrow file has one dictionary per column, but a table that is not read to its end may have more: dictionaries are
    then written as their values, except in columns that have the same in every batch.

    shared: those columns.

    Raises: ValueError for a column that the format cannot store.
    """
    import pyarrow as pa

    from overthere.files.tables.writers import open_format_writer

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
