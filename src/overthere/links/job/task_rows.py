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
from overthere.links.report.rows import Rows, rows

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["TaskEnd", "carry_out", "carry_out_links", "read"]


class TaskEnd(NamedTuple):
    """A task is over."""

    kinds: dict[str, tuple[int, int]]
    """Its documents: by their kind how many there were, and of how many octets."""
    size: int
    """Octets of its sources."""
    passed: dict[str, int] = {}  # noqa: RUF012 - a default that is never changed
    """What held no document that can be read, or is read by choice only, by kind."""
    mark: str = ""
    """Of all tasks so far: the same only if their sources are."""

    @property
    def documents(self) -> int:
        return sum(count for count, _ in self.kinds.values())


_BESIDE = ("http", "header", BEGUN)
"""Kinds that are no documents of their own, the header of one; or that are counted where they are read."""


def carry_out(task: Task, options: Options, walk: Progress | None = None) -> Iterator[pa.RecordBatch | TaskEnd]:
    """The rows of a task in batches, and its end."""
    return _carry_out(task, options, Progress() if walk is None else walk, _take_batch)


def carry_out_links(task: Task, options: Options) -> Iterator[list[Link] | TaskEnd]:
    """The rows of a task without pyarrow, and its end; for options without `audit` and `whatwg`."""
    return _carry_out(task, options, Progress(), lambda made, options, browsing: made.take_links())


_Taken = TypeVar("_Taken")
_Take = Callable[[Rows, Options, Browsing | None], _Taken]
"""Takes the rows out of their maker."""


def _carry_out(task: Task, options: Options, walk: Progress, take: _Take[_Taken]) -> Iterator[_Taken | TaskEnd]:
    made = rows(options)
    # A task that is read again tells each record before it is read: records go one by one then, in Python.
    pages = made.pages if walk.tell is None else None
    if task.ignored:
        walk.passed["ignored"] += task.ignored
    return _read(documents(task, options, walk, pages), made, options, task.size, walk, take)


def read(documents: Iterable[KnownDocument], options: Options) -> Iterator[pa.RecordBatch | TaskEnd]:
    """The rows of documents in batches, each with what `kinds` says of it; and the end."""
    return _read(documents, rows(options), options, 0, Progress(), _take_batch)


def _read(
    documents: Iterable[KnownDocument], made: Rows, options: Options, size: int, walk: Progress, take: _Take[_Taken]
) -> Iterator[_Taken | TaskEnd]:
    """size: octets of the source.  walk: progress through the documents; if it is told, each has its own batches."""
    kinds: dict[str, tuple[int, int]] = {}
    browsing = Browsing() if options.whatwg else None
    for document, (kind, notes) in documents:
        if walk.is_stopped:
            return
        if browsing is not None:
            browsing.begin(document, kind, len(made))
        if kind not in _BESIDE:
            count, octets = kinds.get(kind or "other", (0, 0))
            kinds[kind or "other"] = (count + 1, octets + len(document.content))
        if not walk.behind:
            continue
        filling = fill(made, document, kind, notes, options)
        while _goes_on(filling, made, document):
            yield take(made, options, browsing)
        if walk.tell is not None and len(made):
            yield take(made, options, browsing)
    if len(made):
        yield take(made, options, browsing)
    for kind, (pages, octets) in made.page_counts.items():
        count, before = kinds.get(kind, (0, 0))
        kinds[kind] = (count + pages, before + octets)
    yield TaskEnd(kinds, size, dict(walk.passed + made.passed_counts))


def _goes_on(filling: Iterator[None], made: Rows, document: Document) -> bool:
    """Whether there is a batch to take; whatever goes wrong with a document is its own row, and no other's."""
    try:
        return next(filling, False) is None
    except Exception as error:
        made.note(document, note_kind(error))
        return False


def _take_batch(made: Rows, options: Options, browsing: Browsing | None) -> pa.RecordBatch:
    batch = made.take()
    if browsing is not None:
        batch = browsing.fill(batch, made.hrefs)
    if not options.audit:
        return batch
    from overthere.links.report.audit_column import fill_audit

    return fill_audit(batch, options.registry)
