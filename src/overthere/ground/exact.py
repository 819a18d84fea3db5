"""Input: exact `str` and a valid limit, and a clear error for anything else.

A subclass of `str` may override methods (`__len__`, `encode`), keep other objects alive with the value, and
form a cycle with them that the collector cannot see.  A value stores a copy of its characters instead.
"""

from __future__ import annotations

from sys import maxsize


def exact(text: object, taker: str) -> str:
    """Return the text itself; for a subclass, an exact `str` with the same characters, without using its methods.

    taker: the name of the caller, for the error.  Raises: TypeError if it is not text.

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
    """Return the limit of items to list, at most `sys.maxsize`; None for all.  Raises: ValueError if it is negative."""
    if limit is not None and not (isinstance(limit, int) and limit >= 0):
        raise ValueError("limit must be None or an int of 0 or more")
    return None if limit is None else min(limit, maxsize)
