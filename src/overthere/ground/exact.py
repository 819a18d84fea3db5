"""Input: exact `str` and a limit that counts, and a clear error for anything else.

A subclass of `str` may answer as it likes (`__len__`, `encode`), hold other objects for as long as the value lives, and
be held by them in a cycle that no collector sees.  A value holds a copy of its characters instead.
"""

from __future__ import annotations

from sys import maxsize

__all__ = ["exact", "exact_limit"]


def exact(text: object, taker: str) -> str:
    """The text itself, of a subclass a copy by its content and none of its methods.

    taker: what takes text, for the error.  Raises: TypeError if it is not text.

    >>> exact("a", "f()")
    'a'
    >>> exact(b"a", "f()")
    Traceback (most recent call last):
    TypeError: f() takes text, not bytes
    """
    if type(text) is str:
        return text
    if isinstance(text, str) and issubclass(type(text), str):
        return "".join((text,))
    raise TypeError(f"{taker} takes text, not {type(text).__name__}")


def exact_limit(limit: int | None) -> int | None:
    """The most items to list, at most what Python counts; None for all.  Raises: ValueError for a negative one."""
    if limit is not None and not (isinstance(limit, int) and limit >= 0):
        raise ValueError("limit must be None or an int of 0 or more")
    return None if limit is None else min(limit, maxsize)
