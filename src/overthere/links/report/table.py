"""The link table as a file: one set of columns for every format of tables (`overthere.files.tables`)."""

from __future__ import annotations

import os
from typing import Any

from overthere.files import tables
from overthere.files.tables import FORMATS, Layout, Writer
from overthere.links.report.batch import COLUMNS

__all__ = ["FORMATS", "Writer", "layout", "open_writer"]

_VARIED = ("reference", "target", "fragment", "normal", "browser")


def layout(columns: Any = None) -> Layout:
    """Return the layout of the link table, or of another table of the job; by default for Parquet."""
    return Layout(columns or COLUMNS, varied=_VARIED, bare=True)


def open_writer(
    path: str | os.PathLike[str],
    columns: Any = None,
    *,
    job: str = "",
    resume: bool = False,
    form: str = ".jsonl",
    csv_safe: bool = False,
    threads: int = 1,
) -> Writer:
    """Return the writer of the link table for a name, see `overthere.files.tables.open_writer`.

    columns: those of another table.  form: ".jsonl" or ".csv", for standard output and for pipes without a suffix.
    csv_safe: cells of CSV that a spreadsheet would compute get an apostrophe in front (`overthere.columns.cells`).
    threads: as in `Layout`.

    Raises: ValueError; ResumeError; OSError.
    """
    table_layout = layout(columns)._replace(form=form, csv_safe=csv_safe, threads=threads)
    return tables.open_writer(path, table_layout, job=job, resume=resume)
