"""Runs one task: reads its documents into batches of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from overthere.links.containers.nested import KnownDocument
from overthere.links.containers.progress import Progress
from overthere.links.faults import note_kind
from overthere.links.job.reading import fill
from overthere.links.job.task_builder import Task
from overthere.links.job.task_documents import documents
from overthere.links.model import BEGUN, Document, Link, Options
from overthere.links.report.browser_column import Browsing
from overthere.links.report.rows import Rows, make_rows_builder

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["TaskEnd", "carry_out", "carry_out_links", "read"]


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


def carry_out(task: Task, options: Options, progress: Progress | None = None) -> Iterator[pa.RecordBatch | TaskEnd]:
    """Yield the rows of a task in batches, and its end."""
    return _carry_out(task, options, Progress() if progress is None else progress, _take_batch)


def carry_out_links(task: Task, options: Options) -> Iterator[list[Link] | TaskEnd]:
    """Yield the rows of a task without pyarrow, and its end; for options without `audit` and `whatwg`."""
    return _carry_out(task, options, Progress(), lambda builder, options, browsing: builder.take_links())


_T = TypeVar("_T")
_Take = Callable[[Rows, Options, Browsing | None], _T]
"""Takes the rows out of their builder."""


def _carry_out(task: Task, options: Options, progress: Progress, take: _Take[_T]) -> Iterator[_T | TaskEnd]:
    builder = make_rows_builder(options)
    # A retried task reports each record before it is read, so records are read one by one, in Python.
    pages = builder.make_page_reader if progress.on_unit is None else None
    if task.ignored:
        progress.passed["ignored"] += task.ignored
    return _read(documents(task, options, progress, pages), builder, options, task.size, progress, take)


def read(documents: Iterable[KnownDocument], options: Options) -> Iterator[pa.RecordBatch | TaskEnd]:
    """Yield the rows of documents, each given with its kind, in batches; and the end."""
    return _read(documents, make_rows_builder(options), options, 0, Progress(), _take_batch)


def _read(
    documents: Iterable[KnownDocument], builder: Rows, options: Options, size: int, progress: Progress, take: _Take[_T]
) -> Iterator[_T | TaskEnd]:
    """size: bytes of the source.  progress: if it has `tell`, each document has its own batches."""
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
            yield take(builder, options, browsing)
        if progress.on_unit is not None and len(builder):
            yield take(builder, options, browsing)
    if len(builder):
        yield take(builder, options, browsing)
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


def _take_batch(builder: Rows, options: Options, browsing: Browsing | None) -> pa.RecordBatch:
    batch = builder.take()
    if browsing is not None:
        batch = browsing.fill(batch, builder.base_hrefs)
    if not options.audit:
        return batch
    from overthere.links.report.audit_column import fill_audit

    return fill_audit(batch, options.registry)
