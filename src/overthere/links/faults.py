"""Turns an exception of a reader into a note on its document, so that the other documents are read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from overthere.stores.model import StoreError

__all__ = ["guard", "note_kind", "is_own_error"]

T = TypeVar("T")


def note_kind(error: Exception) -> str:
    """The kind of the note for it, of `model.NOTES`.

    What is no matter of the machine (files, memory) is a mistake to be mended: OVERTHERE_FAULTS=raise in the
    environment raises it, so that it is seen with its traceback, and ends the job.

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


_MISTAKES = (ArithmeticError, AssertionError, AttributeError, LookupError, NameError, TypeError)


def is_own_error(error: Exception) -> bool:
    """Whether it is a mistake that a line of this package made, and not what a library makes of hostile octets.

    >>> is_own_error(ZeroDivisionError())
    False
    """
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    where = "" if at is None else str(at.tb_frame.f_globals.get("__name__", ""))
    return isinstance(error, _MISTAKES) and where.startswith("overthere.")


def guard(work: Iterable[T], told: Callable[[str], T]) -> Iterator[T]:
    """What comes of the work; if it raises, last what `told` makes of the kind of the note.

    >>> list(guard(map(open, ["/there/is/none"]), str.upper))
    ['UNREADABLE']
    """
    try:
        yield from work
    except Exception as error:
        yield told(note_kind(error))
