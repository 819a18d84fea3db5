"""Tables as files: one writer and one reader for Parquet, Arrow, CSV and JSON lines, by file suffix.

`open_writer` writes a file, a folder of Parquet parts, a pipe, a device or standard output.  `open_source` reads all
but folders and JSON lines.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from overthere import lazy_names
from overthere.files.tables.formats import FORMATS, READ, Layout, fit_schema, suffix

if TYPE_CHECKING:
    from overthere.files.tables.reading import Source, open_source
    from overthere.files.tables.writer import Writer

__all__ = ["FORMATS", "READ", "Layout", "Source", "Writer", "fit_schema", "open_source", "open_writer", "suffix"]


def open_writer(path: str | os.PathLike[str], layout: Layout, *, job: str = "", resume: bool = False) -> Writer:
    """Return the writer for a name, by its suffix; `DIR/` is a folder of Parquet parts, "-" is standard output.

    The URI of a folder in a store, `s3://bucket/links/`, is also a folder of parts: each is uploaded in one request
    when it is complete, an object _SUCCESS is written last, and nothing is renamed.

    A file gets its name, and replaces the old file, when it is closed; until then it has another name.  A folder gets a
    part when that is complete.  A pipe is written to directly.  A symlink to a file is rejected, and a planted
    NAME.part or NAME.resume is never followed or continued.

    layout: its format is that of standard output, and of pipes without a suffix.
    job: a text that identifies the job: it is the same if and only if the job may be resumed.  If it is a JSON object,
    an error names what differs.  With a job (or with `resume`) the table grows as NAME.part and records the state of
    each commit: Parquet in its metadata ("overthere.links"), folders in DIR/_overthere.json, others in NAME.resume,
    which is removed when the job is done.
    resume: continue the table of an earlier run.  Rows after its last commit are removed.  Without a
    commit, or if a killed job left an unreadable file, the table starts again, and `notice` reports it.

    Raises: ValueError for a suffix not in `FORMATS`, and for `csv_safe` without CSV; ResumeError if the existing table
    belongs to another job or another program; OSError if it cannot be written, is a link, or another process is writing
    it.
    """
    from pathlib import Path

    from overthere.files.stores.model import is_object
    from overthere.files.tables.atomic_table import Table
    from overthere.files.tables.folder import Folder
    from overthere.files.tables.text_table import TextTable
    from overthere.files.tables.writer import Stream
    from overthere.ground.atomic import is_stream, refuse_link

    name = os.fspath(path)
    form = next((form for form in FORMATS if name.lower().endswith(form)), "")
    layout = layout._replace(form=form or layout.form)
    if layout.csv_safe and not layout.form.startswith(".csv"):
        raise ValueError(f"{name}: csv_safe applies to CSV only")
    if name == "-":
        return Stream(None, layout)
    if is_object(name):
        if not name.endswith("/"):
            raise ValueError(f"{name}: a table in a store is a folder of Parquet parts: its URI must end in /")
        from overthere.files.tables.store_folder import StoreFolder

        return StoreFolder(name, layout._replace(form=".parquet"), job, resume)
    if name.endswith(("/", os.sep)) or os.path.isdir(name):
        parts = layout._replace(form=".parquet")
        return Folder(Path(os.path.realpath(name)), parts, job, resume)
    if is_stream(name):
        return Stream(name, layout)
    if not form:
        raise ValueError(f"{name}: the name of a table must end in {', '.join(FORMATS)}, or in / for a folder")
    refuse_link(name)
    is_text_job = bool(job or resume) and form.startswith((".csv", ".jsonl"))
    return (TextTable if is_text_job else Table)(Path(os.path.abspath(name)), layout, job, resume)


_find = lazy_names(__name__, {"Source": "reading", "Writer": "writer", "open_source": "reading"})[0]


def __getattr__(name: str) -> object:
    return _find(name)
