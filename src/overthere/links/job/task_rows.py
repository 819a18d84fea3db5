"""Runs one task: reads its documents into batches of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from overthere.links.containers.nested import KnownDocument
from overthere.links.containers.progress import Progress
from overthere.links.faults import note_kind
from overthere.links.job.reading import fill, is_full
from overthere.links.job.task_builder import Task
from overthere.links.job.task_documents import documents
from overthere.links.model import BEGUN, Document, Options
from overthere.links.report.batch import AnyBatch
from overthere.links.report.browser_column import Browsing
from overthere.links.report.rows import Rows, make_rows_builder


class TaskEnd(NamedTuple):
    """The end of a task, with its counts."""

    kinds: dict[str, tuple[int, int]]
    """Number and bytes of its documents, by kind."""
    size: int
    """Bytes of its sources."""
    passed: dict[str, int] = {}  # noqa: RUF012 - a default that is never changed
    """Counts of content without a readable document, or read only on request, by kind."""
    mark: str = ""
    """Fingerprint of all tasks so far, which differs if their sources do."""

    @property
    def documents(self) -> int:
        return sum(count for count, _ in self.kinds.values())


_UNCOUNTED_KINDS = ("http", "header", BEGUN)
"""Kinds that are not counted here: the header of a document; pages that their reader counts."""


def carry_out(task: Task, options: Options, progress: Progress | None = None) -> Iterator[AnyBatch | TaskEnd]:
    """Yield the rows of a task in batches, and its end."""
    progress = Progress() if progress is None else progress
    builder = make_rows_builder(options)
    # A retried task reports each record before it is read, so records are read one by one, in Python.
    pages = builder.make_page_reader if progress.on_unit is None else None
    if task.ignored:
        progress.passed["ignored"] += task.ignored
    return _read(documents(task, options, progress, pages), builder, options, task.size, progress)


def read(documents: Iterable[KnownDocument], options: Options) -> Iterator[AnyBatch | TaskEnd]:
    """Yield the rows of documents, each given with its kind, in batches; and the end."""
    return _read(documents, make_rows_builder(options), options, 0, Progress())


def _read(
    documents: Iterable[KnownDocument], builder: Rows, options: Options, size: int, progress: Progress
) -> Iterator[AnyBatch | TaskEnd]:
    """size: bytes of the source.  progress: if it has `on_unit`, each document has its own batches."""
    kinds: dict[str, tuple[int, int]] = {}
    browsing = Browsing() if options.whatwg else None
    for document, (kind, notes) in documents:
        if progress.is_stopped:
            return
        if browsing is not None:
            browsing.begin(document, kind, len(builder))
        if kind not in _UNCOUNTED_KINDS:
            count, octets = kinds.get(kind or "other", (0, 0))
            kinds[kind or "other"] = (count + 1, octets + len(document.content))
        if not progress.is_past_start:
            continue
        full_batches = fill(builder, document, kind, notes, options)
        while _has_batch(full_batches, builder, document):
            yield _take_batch(builder, options, browsing)
        if (progress.on_unit is not None and len(builder)) or is_full(builder):
            yield _take_batch(builder, options, browsing)
    if len(builder):
        yield _take_batch(builder, options, browsing)
    for kind, (pages, octets) in builder.page_counts.items():
        count, before = kinds.get(kind, (0, 0))
        kinds[kind] = (count + pages, before + octets)
    yield TaskEnd(kinds, size, dict(progress.passed + builder.passed_counts))


def _has_batch(full_batches: Iterator[None], builder: Rows, document: Document) -> bool:
    """Whether a full batch is ready; an exception becomes a note on the document."""
    try:
        return next(full_batches, False) is None
    except Exception as error:
        builder.add_note(document, note_kind(error))
        return False


def _take_batch(builder: Rows, options: Options, browsing: Browsing | None) -> AnyBatch:
    batch = builder.take()
    if browsing is not None:
        batch = browsing.fill(batch, builder.base_hrefs)
    if not options.audit:
        return batch
    from overthere.links.report.audit_column import fill_audit

    return fill_audit(batch, options.registry)
