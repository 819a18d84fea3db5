"""Extracts the links of documents: one by one, or as tables on all cores."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from hashlib import sha256
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeVar, Unpack

from overthere.base import Base
from overthere.ground.cores import cores
from overthere.links.containers.temporary import remove_files
from overthere.links.job.options import check_options
from overthere.links.job.prefetch import JOBS
from overthere.links.job.ranged_sources import Index
from overthere.links.job.reading import fill
from overthere.links.job.running import run
from overthere.links.job.sources import tasks
from overthere.links.job.task_builder import Task
from overthere.links.job.task_rows import TaskEnd
from overthere.links.model import Document, Link, OptionFields, Options
from overthere.links.report.batch import AnyBatch, links
from overthere.links.report.rows import make_rows_builder
from overthere.values.normalize import Rung
from overthere.values.uri import URI

if TYPE_CHECKING:
    from overthere.access.policy import Policy

__all__ = ["Index", "Sources", "batches", "extract", "extract_html"]

Sources = Iterable[str | os.PathLike[str] | URI | Index] | str | os.PathLike[str] | URI | Index
"""Files, folders, archives, WARCs, mailboxes, URIs, indexes of archives; "-" is standard input."""


def extract(
    sources: Sources,
    base: URI | str | None = None,
    *,
    workers: int = 1,
    policy: Policy | None = None,
    jobs: int = JOBS,
    **options: Unpack[OptionFields],
) -> Iterator[Link]:
    """Yield the links of documents, one row for each reference, in the order of the documents.

    sources: HTML, XML (Atom, RSS, sitemap, SVG), CSS, Markdown, text, JSON on request, messages and MHTML, mailboxes,
    WARC, ARC, ZIP and tar files, compressed ones, and folders of all these; or one of them.  `FILE#OFFSET,LENGTH` is
    that part of a WARC or ARC file.  Text with a scheme of two letters or more that is not a file name is a URI, opened
    as by `overthere.open`; each entry of a directory or menu that has a URI is a row.  Failures to open a URI are
    logged to "overthere.links".
    base: the URI under which the sources are published: that of a folder's root, or of the folder of a named file.  By
    default a file's retrieval URI is its own `file:` URI (RFC 3986 5.1.3).  For a source that is a URI, it is the last
    URI after redirects.
    workers: the number of readers.  They are threads if the native kernel reads (HTML, WARC files, archives), otherwise
    processes, for which the calling module must be importable (`if __name__ == "__main__":`).
    policy: the limits for sources that are URIs; by default `Policy()`, for untrusted URIs: no files, no addresses
    that are not public.
    jobs: the number of URIs retrieved at once, at most two from one host.  Rows come in the order of the sources; some
    URIs are fetched before their turn.  With 1, each is retrieved when those before it are done.
    options: the fields of `Options`.

    A problem with a document is a row without a reference: "unreadable", "truncated" and so on (`NOTES`).

    Raises: TypeError for an unknown option; InvalidURI if `base` is not a valid URI; NotSpecified for an unknown
    edition; ValueError for an unknown `kind`, a `limit` or `depth` out of range, or if `jobs` is less than 1;
    ModuleNotFoundError without the extra `links`, or without `whatwg` if an option needs it.
    """
    for batch in batches(sources, base, Options(**options), workers=workers, policy=policy, jobs=jobs):
        if not isinstance(batch, TaskEnd):
            yield from links(batch)


def batches(
    sources: Sources,
    base: URI | str | None = None,
    options: Options = Options(),  # noqa: B008 - a value
    *,
    workers: int | None = 1,
    skip: int = 0,
    mark: str = "",
    policy: Policy | None = None,
    jobs: int = JOBS,
) -> Generator[AnyBatch | TaskEnd, None, None]:
    """Yield the same in batches; a `TaskEnd` follows the batches of each task.

    A batch has `num_rows`, `links()` and `column(name)`, and the Arrow PyCapsule Interface: `pyarrow.record_batch`
    makes one of `schema()`.

    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> page = Path(mkdtemp(), "page.html")
    >>> size = page.write_text("<a href=x>")
    >>> batch, end = batches([page], "http://h/")
    >>> batch.column("target"), end.documents
    (['http://h/x'], 1)

    workers: None means one per core, if there is enough work.
    skip, mark: skip this many tasks; `mark` is the `TaskEnd.mark` of the last one.  ValueError if it differs now.
    Sources that are URIs are retrieved again, because the mark depends on their content.
    policy, jobs: as for `extract`.

    Raises: as `extract`, at once.
    """
    marked_tasks = _fingerprinted_tasks(sources, base, options, policy, jobs)
    if marked_tasks.skip(skip) != (mark if skip else ""):
        raise ValueError("the sources have changed since the job began, so it cannot continue")
    remaining_tasks: Iterator[Task] = marked_tasks
    if workers is None:
        first_tasks = list(islice(remaining_tasks, 8))
        is_small = len(first_tasks) < 8 and sum(task.size or 0 for task in first_tasks) < _MIN_PARALLEL_BYTES
        workers = 1 if is_small else cores()
        remaining_tasks = chain(first_tasks, remaining_tasks)
    return marked_tasks.mark_results(run(remaining_tasks, options, workers))


def _fingerprinted_tasks(
    sources: Sources, base: URI | str | None, options: Options, policy: Policy | None, jobs: int
) -> _TaskFingerprints:
    """Return the tasks of a job, fingerprinted.  Raises: as `extract`."""
    base_uri = None if base is None else URI(base)
    check_options(options)
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, not {jobs}")
    if isinstance(sources, str | os.PathLike | URI | Index):
        sources = [sources]
    if policy is None:
        from overthere.access.policy import Policy

        policy = Policy()
    return _TaskFingerprints(tasks(sources, base_uri, options, policy=policy, jobs=jobs))


_Result = TypeVar("_Result")


class _TaskFingerprints:
    """Yields tasks and fingerprints them (source, range, size, mtime), so that a resumed job can detect changes."""

    def __init__(self, tasks: Iterator[Task]) -> None:
        self.tasks = tasks
        self.digest = sha256()
        self.pending: deque[tuple[str, Task]] = deque()

    def __iter__(self) -> Iterator[Task]:
        return self

    def __next__(self) -> Task:
        task = next(self.tasks)
        part = None if task.part is None else task.part._replace(members=())
        fingerprint = task._replace(policy=None, part=part), [_modification_time(path) for path in task.paths]
        if task.retrieved is not None:
            fingerprint = task._replace(paths=()), []  # its temporary name differs on every run
        self.digest.update(repr(fingerprint).encode("utf-8", "surrogateescape"))
        self.pending.append((self.digest.hexdigest(), task))
        return task

    def skip(self, count: int) -> str:
        """Skip `count` tasks; return the mark of the last one, or "" if there are fewer or `count` is 0."""
        mark, skipped = "", 0
        for _ in islice(self, count):
            mark, task = self.pending.popleft()
            remove_files(task.paths)
            skipped += 1
        return mark if skipped == count else ""

    def mark_results(
        self, results: Generator[_Result | TaskEnd, None, None]
    ) -> Generator[_Result | TaskEnd, None, None]:
        """Yield the results, with its mark in the end of each task; remove temporary files."""
        try:
            with closing(results):
                for result in results:
                    if isinstance(result, TaskEnd):
                        mark, task = self.pending.popleft()
                        remove_files(task.paths)
                        result = result._replace(mark=mark)
                    yield result
        finally:
            for _, task in self.pending:
                remove_files(task.paths)


def _modification_time(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except (OSError, ValueError):
        return 0


_MIN_PARALLEL_BYTES = 16 << 20
"""Bytes of sources below which more workers do not pay off."""


def extract_html(text: str, retrieval: URI | str, *, source: str = "", rung: Rung = Rung.SYNTAX) -> Iterator[Link]:
    """Yield the links of one HTML document that was retrieved from the URI `retrieval`.

    Raises: InvalidURI if `retrieval` is text but not a valid URI.

    >>> [(l.reference, l.target) for l in extract_html('<base href="d/"><a href="../x?#">', "http://h/a/b")]
    [('d/', 'http://h/a/d/'), ('../x?#', 'http://h/a/x?#')]
    """
    options = Options(rung=rung)
    row_builder = make_rows_builder(options)
    base = Base(URI(retrieval).replace(fragment=None), "retrieval", "retrieval")
    document = Document(source, text.encode("utf-8", "replace"), base, "text/html", "utf-8")
    for _ in fill(row_builder, document, "html", (), options):
        yield from row_builder.take_links()
    yield from row_builder.take_links()
