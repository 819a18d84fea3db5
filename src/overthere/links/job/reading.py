"""Reads one document into rows: selects its reader, notes problems, yields at most a batch at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import groupby, islice

from overthere.base import Base, from_content
from overthere.links.documents import html
from overthere.links.job.readers import READERS
from overthere.links.model import BEGUN, Document, Found, Note, Options, PassedContent
from overthere.links.report.record_pages import BATCH
from overthere.links.report.rows import MAX_TEXT_BYTES, Rows

_MAX_EXPANSION = 64
"""Text of rows allowed per byte of a document, besides one batch: a long base is repeated in every row."""


def fill(rows: Rows, document: Document, kind: str, notes: tuple[str, ...], options: Options) -> Iterator[None]:
    """Add the rows of a document; yield whenever a batch is full, so that the caller takes it.

    kind, notes: the result of `kinds.kind_of`.
    """
    if kind == BEGUN:
        rows.continue_page(document)
        if rows.begun_page_bytes is None:
            yield
        else:
            yield from _limit(
                rows, document, rows.begun_page_bytes, _make_rows(rows, document, options, set(document.notes))
            )
        return
    for note in document.notes:
        rows.add_note(document, note)
    if not document.content:
        # Containers have no content here; a note explains why it is missing.
        if not document.notes:
            rows.add_note(document, "empty")
        return
    for note in notes:
        if note not in document.notes:
            rows.add_note(document, note)
    batch_sizes = _read_html(rows, document, options) if kind == "html" else _read_other(kind, rows, document, options)
    yield from _limit(rows, document, len(document.content), batch_sizes)


def _limit(rows: Rows, document: Document, size: int, batch_sizes: Iterator[int]) -> Iterator[None]:
    """Yield each time a batch is full; stop with a note when a document has expanded to too much text.

    size: bytes of the document.  batch_sizes: bytes of each full batch.
    """
    remaining = MAX_TEXT_BYTES + _MAX_EXPANSION * size
    for batch_size in batch_sizes:
        remaining -= batch_size
        if remaining < 0:
            rows.add_note(document, "too-large")
            return
        yield


def is_full(rows: Rows) -> bool:
    """Whether the rows are a batch, which the caller takes: also after a document that is only noted."""
    return len(rows) >= BATCH or rows.text_bytes >= MAX_TEXT_BYTES


_ROWS_PER_STEP = 256


def _read_html(rows: Rows, document: Document, options: Options) -> Iterator[int]:
    notes = set(document.notes)
    content, lossy = html.octets(document.content, document.charset)
    if lossy:
        _add_note(rows, document, "wrong-charset", notes)
    for note in rows.read_html(document, content):
        _add_note(rows, document, note, notes)
    if rows.make_rows(_ROWS_PER_STEP):
        yield from _make_rows(rows, document, options, notes)


def _make_rows(rows: Rows, document: Document, options: Options, notes: set[str]) -> Iterator[int]:
    """Make the remaining rows of a page; yield the bytes of each full batch."""
    has_more = True
    while has_more:
        if (embedded := rows.take_embedded()) is not None:
            from overthere.links.documents import embedded_data

            yield from _add_references(
                rows, document, rows.base, embedded_data.read(embedded, rows.base, options, document.depth), notes
            )
        if is_full(rows):
            yield rows.text_bytes
        has_more = rows.make_rows(_ROWS_PER_STEP)


def _read_other(kind: str, rows: Rows, document: Document, options: Options) -> Iterator[int]:
    if kind not in READERS:
        return
    read: Callable[[Document, Options], Iterator[Found | Note | PassedContent]] = import_module(READERS[kind]).read
    yield from _add_references(rows, document, document.base, read(document, options), set(document.notes))


def _add_note(rows: Rows, document: Document, kind: str, notes: set[str]) -> None:
    """Add a note on a document, once."""
    if kind not in notes:
        notes.add(kind)
        rows.add_note(document, kind)


def _add_references(
    rows: Rows, document: Document, outer: Base, references: Iterator[Found | Note | PassedContent], notes: set[str]
) -> Iterator[int]:
    """Add the results of a reader; yield the bytes of each full batch.

    outer: the base of references without their own.
    """

    def base_of(item: Found | Note | PassedContent) -> Base | None:
        if not isinstance(item, Found):
            return None
        return item.base if item.codebase is None else from_content(item.codebase, item.base or outer)

    for base, group in groupby(references, base_of):
        # A long base is repeated in every row, in most targets and in their normal forms.
        step = min(_ROWS_PER_STEP, MAX_TEXT_BYTES // (3 * len(str((base or outer).uri))) + 1)
        while items := list(islice(group, step)):
            found = [item for item in items if isinstance(item, Found)]
            for item in items if len(found) < len(items) else ():
                if isinstance(item, PassedContent):
                    rows.skipped_counts[item.kind] += 1
                elif isinstance(item, Note):
                    _add_note(rows, document, item.kind, notes)
            if found:
                rows.add(document, base or outer, found)
            if is_full(rows):
                yield rows.text_bytes
