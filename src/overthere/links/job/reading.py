"""Reads one document into rows: selects its reader, notes problems, yields at most a batch at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import groupby, islice

from overthere.base import Base, from_content
from overthere.links.documents import embedded_data, html
from overthere.links.job.readers import READERS
from overthere.links.model import BEGUN, Document, Found, Note, Options, PassedContent
from overthere.links.report.record_pages import BATCH
from overthere.links.report.rows import OCTETS, Rows

__all__ = ["fill"]

_SWELLING = 64
"""A document may become so many times as much text as it is, and a batch: a long base stands in every row."""


def fill(rows: Rows, document: Document, kind: str, notes: tuple[str, ...], options: Options) -> Iterator[None]:
    """Put in the rows of a document; stops for the caller whenever there is a batch to take.

    kind, notes: what `kinds.kind_of` says of it.
    """
    if kind == BEGUN:
        rows.begin(document)
        if rows.begun is None:
            yield
        else:
            yield from _bound(rows, document, rows.begun, _make_rows(rows, document, options, set(document.notes)))
        return
    for note in document.notes:
        rows.note(document, note)
    if not document.content:
        # A container has none here; a document with a note has said why.
        if not document.notes:
            rows.note(document, "empty")
        return
    for note in notes:
        if note not in document.notes:
            rows.note(document, note)
    made = _html(rows, document, options) if kind == "html" else _read_other(kind, rows, document, options)
    yield from _bound(rows, document, len(document.content), made)


def _bound(rows: Rows, document: Document, size: int, made: Iterator[int]) -> Iterator[None]:
    """Stop for the caller each time a batch is full; end with a note when a document has become too much text.

    size: octets of the document.  made: octets of the rows so far, each time a batch is full.
    """
    most = OCTETS + _SWELLING * size
    for octets in made:
        most -= octets
        if most < 0:
            rows.note(document, "too-large")
            return
        yield


def _full(rows: Rows) -> bool:
    return len(rows) >= BATCH or rows.octets >= OCTETS


_STEP = 256


def _html(rows: Rows, document: Document, options: Options) -> Iterator[int]:
    said = set(document.notes)
    content, lossy = html.octets(document.content, document.charset)
    if lossy:
        _add_note(rows, document, "wrong-charset", said)
    for note in rows.html(document, content):
        _add_note(rows, document, note, said)
    if rows.step(_STEP):
        yield from _make_rows(rows, document, options, said)


def _make_rows(rows: Rows, document: Document, options: Options, said: set[str]) -> Iterator[int]:
    """The rest of a page, of which some was made."""
    more = True
    while more:
        if (one := rows.take_embedded()) is not None:
            yield from _add(
                rows, document, rows.base, embedded_data.read(one, rows.base, options, document.depth), said
            )
        if _full(rows):
            yield rows.octets
        more = rows.step(_STEP)


def _read_other(kind: str, rows: Rows, document: Document, options: Options) -> Iterator[int]:
    if kind not in READERS:
        return
    read: Callable[[Document, Options], Iterator[Found | Note | PassedContent]] = import_module(READERS[kind]).read
    yield from _add(rows, document, document.base, read(document, options), set(document.notes))


def _add_note(rows: Rows, document: Document, kind: str, said: set[str]) -> None:
    """A note of a document, once."""
    if kind not in said:
        said.add(kind)
        rows.note(document, kind)


def _add(
    rows: Rows, document: Document, outer: Base, references: Iterator[Found | Note | PassedContent], said: set[str]
) -> Iterator[int]:
    """Put in what a reader has found, which has the base `outer` where it has none of its own.

    said: the notes so far.
    """

    def base_of(one: Found | Note | PassedContent) -> Base | None:
        if not isinstance(one, Found):
            return None
        return one.base if one.codebase is None else from_content(one.codebase, one.base or outer)

    for base, group in groupby(references, base_of):
        # A long base stands in every row, in most targets and in their normal forms.
        step = min(_STEP, OCTETS // (3 * len(str((base or outer).uri))) + 1)
        while given := list(islice(group, step)):
            some = [one for one in given if isinstance(one, Found)]
            for one in given if len(some) < len(given) else ():
                if isinstance(one, PassedContent):
                    rows.others[one.kind] += 1
                elif isinstance(one, Note):
                    _add_note(rows, document, one.kind, said)
            if some:
                rows.add(document, base or outer, some)
            if _full(rows):
                yield rows.octets
