"""The link table: one schema everywhere; as Parquet, Arrow, CSV, JSON lines, or a folder of Parquet parts.

`schema()` is a function, so that importing this does not import pyarrow.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Protocol, Self, cast

from overthere.links.model import Link
from overthere.wholefile import is_stream, refuse_link

__all__ = ["FORMATS", "Writer", "open_writer", "schema", "to_batch"]

FORMATS = (".parquet", ".arrow", ".csv", ".csv.gz", ".jsonl", ".jsonl.gz")
"""The suffixes of files; `DIR/` is a folder of Parquet parts."""


@cache
def schema() -> Any:
    """The columns of the link table, a `pyarrow.Schema`: the fields of `Link`, as text but two.

    No dictionaries: Parquet, Arrow and Spark see the same types.

    >>> schema().field("error_at").type, schema().field("same_document").type, schema().field("target").type
    (DataType(int64), DataType(bool), DataType(string))
    """
    import pyarrow as pa

    others = {"same_document": pa.bool_(), "error_at": pa.int64()}
    return pa.schema([(name, others.get(name, pa.string())) for name in Link._fields])


def to_batch(links: Iterable[Link]) -> Any:
    """Rows as a `pyarrow.RecordBatch` of `schema()`.  A lone surrogate, which is no text, becomes "?".

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
            sound = [None if text is None else text.encode("utf-8", "replace") for text in column]
            array = pa.array(sound, pa.binary()).cast(field.type)
        if isinstance(array, pa.ChunkedArray):
            raise ValueError(f"a batch holds more than 2 GiB in its column {field.name}")
        arrays.append(array)
    return pa.RecordBatch.from_arrays(arrays, schema=schema())


class Writer(Protocol):
    """Takes batches of one schema.  A context manager: at its end, whatever the reason, the table is closed.

    What is written between two commits belongs to one task of the job.  A closed table is whole and readable,
    and tells what the last commit was.  Ctrl-C is heard between two calls, never within one.
    """

    rows: int
    """Rows in the table, with those of an earlier run that were kept."""
    state: dict[str, Any] | None
    """Of the last commit; after taking up, where the job goes on."""
    notice: str | None
    """What there is to say about taking up, in a sentence."""

    @property
    def done(self) -> bool:
        """Whether the state says `"done": True`: nothing is left to write."""
        ...

    def write(self, batch: Any) -> None:
        """Raises: ValueError for another schema; OSError if the table cannot be written."""

    def commit(self, state: dict[str, Any]) -> None:
        """What was written so far are whole tasks.  `state` is JSON; with `"done": True` the table is finished."""

    def close(self) -> None:
        """Make the table stand under its name.  Raises: OSError."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...


def open_writer(
    path: str | os.PathLike[str],
    columns: Any = None,
    *,
    job: str = "",
    resume: bool = False,
    form: str = ".jsonl",
    csv_safe: bool = False,
) -> Writer:
    """The writer for a name: by its suffix, a folder of Parquet parts for `DIR/`, standard output for "-".

    A file stands under its name when it is closed, until then as NAME.part; what stood there before is replaced
    then.  A folder takes a part when that is whole.  A name that is no regular file (a pipe) is written to as it is.
    A name that is a link to a file is refused, and no planted NAME.part or NAME.resume is followed or gone on with.

    columns: the `pyarrow.Schema`; by default that of the link table.
    job: what the job is, in a text that is the same if and only if it may be taken up; a JSON object lets a
    refusal name what differs.  With one (or with `resume`) the table is marked with the state of each commit:
    Parquet in its metadata ("overthere.links"), folders in DIR/_overthere.json, others in NAME.resume; the last
    goes when the job is done, unless `resume` is asked for.
    resume: take up what an earlier run has left.  Rows after its last commit are cut off; with nothing there, or
    nothing that can be read, the table begins anew, and `notice` says so.
    form: ".jsonl" or ".csv", for standard output and for pipes without a suffix.
    csv_safe: cells of CSV that a spreadsheet would compute get an apostrophe in front (`overthere.columns.cells`).

    Raises: ValueError for a suffix that is none of `FORMATS`, and for `csv_safe` without CSV; ResumeError if what is
    there is not of this job, or not ours; OSError if it cannot be written, is a link, or another process is writing it.
    """
    from overthere.links.table.files import Table
    from overthere.links.table.folder import Folder
    from overthere.links.table.text import Stream, Text

    columns = columns or schema()
    name = os.fspath(path)
    found = next((s for s in FORMATS if name.lower().endswith(s)), "")
    if csv_safe and not (found or form).startswith(".csv"):
        raise ValueError(f"{name}: only CSV is guarded against spreadsheets")
    if name == "-":
        return Stream(None, columns, form, csv_safe)
    if name.endswith(("/", os.sep)) or os.path.isdir(name):
        return Folder(Path(os.path.realpath(name)), columns, job, resume)
    if is_stream(name):
        return Stream(name, columns, found or form, csv_safe)
    if not found:
        raise ValueError(f"{name}: the name of a table ends in {', '.join(FORMATS)}, or in / for a folder")
    refuse_link(name)
    place = Path(os.path.abspath(name))
    if found in (".parquet", ".arrow"):
        return cast(Writer, Table(place, columns, found, job, resume))
    return cast(Writer, Text(place, columns, found, job, resume, csv_safe))
