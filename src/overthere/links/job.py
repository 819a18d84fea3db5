"""The main job: documents in, rows of the link table out."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from hashlib import sha256
from itertools import chain, islice
from typing import TYPE_CHECKING

from overthere.base import Base
from overthere.errors import NotSpecified
from overthere.links.model import Document, Link, Options
from overthere.links.pool import Done, cores, run
from overthere.links.reading import fill
from overthere.links.rows import rows
from overthere.links.sources import Task, tasks
from overthere.normalize import Rung
from overthere.uri import URI

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Sources", "batches", "extract", "extract_html"]

Sources = Iterable[str | os.PathLike[str]] | str | os.PathLike[str]
"""Files, folders, archives, WARCs, mailboxes; "-" is standard input."""


def extract(
    sources: Sources,
    base: URI | str | None = None,
    *,
    rung: Rung = Rung.SYNTAX,
    edition: str = "rfc3986",
    json: bool = False,
    audit: bool = False,
    workers: int = 1,
) -> Iterator[Link]:
    """The links of documents, one row for each reference, in the order of the documents.

    sources: HTML, XML (Atom, RSS, sitemap, SVG), CSS, Markdown, text, JSON on request, messages and MHTML, mailboxes,
    WARC, ARC, ZIP and tar files, compressed ones, and folders of all these; or one of them.  `FILE#OFFSET,LENGTH` is
    what lies there in a WARC or ARC file.
    base: the URI under which the sources are published: of a folder's root, or of the folder of a named file;
    by default each file's own `file:` URI is its retrieval URI (RFC 3986 5.1.3).
    rung: the rung of the ladder for the column `normal`.
    edition: by whose rules references are judged, resolved and normalised.
    json: whether strings of JSON documents that are URIs are references.
    audit: whether the column `audit` is filled (`overthere.audit`).
    workers: processes that read; with more than one, the module that asks must be one that can be imported anew
    (`if __name__ == "__main__":`).

    What is the matter with a document is a row without a reference: "unreadable", "truncated" and so on (`NOTES`).

    Raises: InvalidURI if `base` is no URI; NotSpecified if there is no such edition; ModuleNotFoundError without the
    extra `links`.
    """
    options = Options(rung=rung, edition=edition, json=json, audit=audit)
    for batch in batches(sources, base, options, workers=workers):
        if not isinstance(batch, Done):
            yield from links(batch)


def batches(
    sources: Sources,
    base: URI | str | None = None,
    options: Options = Options(),  # noqa: B008 - a value
    *,
    workers: int | None = 1,
    skip: int = 0,
    mark: str = "",
) -> Iterator[pa.RecordBatch | Done]:
    """The same as Arrow batches of `table.schema()`, each task's followed by its end.

    workers: None is as many as there are cores, where there is work for them.
    skip, mark: so many tasks are left out, after which `Done.mark` was this; ValueError if it is another now.

    Raises: as `extract`, at once.
    """
    from overthere.editions import NAMES

    own = None if base is None else URI(base)
    _needed()
    if options.edition not in NAMES:
        raise NotSpecified(f"there is no edition {options.edition!r}; there is {', '.join(NAMES)}")
    if isinstance(sources, str | os.PathLike):
        sources = [sources]
    marks = _Marks(tasks(sources, own, options))
    if sum(1 for _ in islice(marks, skip)) < skip or (skip and marks.given.pop() != mark):
        raise ValueError("the sources are not what they were when the job began: it cannot go on")
    marks.given.clear()
    work: Iterator[Task] = marks
    if workers is None:
        first = list(islice(work, 8))
        little = len(first) < 8 and sum(task.size or 0 for task in first) < _LITTLE
        workers = 1 if little else cores()
        work = chain(first, work)
    return marks.on(run(work, options, workers))


class _Marks:
    """Tasks on their way out, and what tells them from others: sources, cuts, sizes, times of change."""

    def __init__(self, tasks: Iterator[Task]) -> None:
        self.tasks = tasks
        self.digest = sha256()
        self.given: deque[str] = deque()

    def __iter__(self) -> Iterator[Task]:
        return self

    def __next__(self) -> Task:
        task = next(self.tasks)
        self.digest.update(repr((task, [_changed(path) for path in task.paths])).encode("utf-8", "surrogateescape"))
        self.given.append(self.digest.hexdigest())
        return task

    def on(self, results: Generator[pa.RecordBatch | Done, None, None]) -> Iterator[pa.RecordBatch | Done]:
        """The results, each end with the mark of its task."""
        with closing(results):
            for result in results:
                yield result._replace(mark=self.given.popleft()) if isinstance(result, Done) else result


def _changed(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except (OSError, ValueError):
        return 0


def _needed() -> None:
    """Raises: ModuleNotFoundError for what the extra `links` brings: here, and not in a worker."""
    from importlib.util import find_spec

    for name in ("pyarrow", "fastwarc", "markdown_it", "webencodings"):
        if find_spec(name) is None:
            raise ModuleNotFoundError(f"{name} is missing: pip install 'overthere[links]'", name=name)


_LITTLE = 16 << 20
"""Octets that one process has read before another has started."""


def links(batch: pa.RecordBatch) -> Iterator[Link]:
    """The rows of a batch."""
    return map(Link._make, zip(*(column.to_pylist() for column in batch.columns), strict=True))


def extract_html(text: str, retrieval: URI, *, source: str = "", rung: Rung = Rung.SYNTAX) -> Iterator[Link]:
    """The links of one HTML document that was retrieved by the URI `retrieval`.

    >>> [(l.reference, l.target) for l in extract_html('<base href="d/"><a href="../x?#">', URI("http://h/a/b"))]
    [('d/', 'http://h/a/d/'), ('../x?#', 'http://h/a/x?#')]
    """
    options = Options(rung=rung)
    made = rows(options)
    base = Base(retrieval.replace(fragment=None), "retrieval", "retrieval")
    document = Document(source, text.encode("utf-8", "replace"), base, "text/html", "utf-8")
    for _ in fill(made, document, "html", (), options):
        yield from links(made.take())
    yield from links(made.take())
