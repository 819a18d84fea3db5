"""Turns an exception of a reader into a note on its document, so that the other documents are read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from overthere.files.stores.model import StoreError

T = TypeVar("T")


def note_kind(error: Exception) -> str:
    """Return the kind of the note for an exception, of `model.NOTES`.

    Except for errors of files and memory, the cause is a bug: with OVERTHERE_FAULTS=raise in the environment, it is
    raised, so that the job ends with a traceback.

    >>> note_kind(FileNotFoundError()), note_kind(MemoryError())
    ('unreadable', 'too-large')
    """
    if isinstance(error, StoreError):
        return error.note
    if isinstance(error, OSError):
        return "unreadable"
    if isinstance(error, MemoryError):
        return "too-large"
    if os.environ.get("OVERTHERE_FAULTS") == "raise":
        raise error
    return "too-deep" if isinstance(error, RecursionError) else "reader-failed"


_PROGRAMMING_ERRORS = (ArithmeticError, AssertionError, AttributeError, LookupError, NameError, TypeError)


def is_own_error(error: Exception) -> bool:
    """Whether a line of this package raised a programming error, rather than a library on hostile input.

    >>> is_own_error(ZeroDivisionError())
    False
    """
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    module = "" if frame is None else str(frame.tb_frame.f_globals.get("__name__", ""))
    return isinstance(error, _PROGRAMMING_ERRORS) and module.startswith("overthere.")


def guard(work: Iterable[T], on_error: Callable[[str], T]) -> Iterator[T]:
    """Yield the items of the work; if it raises, end with `on_error` of the kind of the note.

    >>> list(guard(map(open, ["/there/is/none"]), str.upper))
    ['UNREADABLE']
    """
    try:
        yield from work
    except Exception as error:
        yield on_error(note_kind(error))
