"""Temporary files for data from a pipe or a URI: archives and other processes need a file."""

from __future__ import annotations

import atexit
import contextlib
from collections.abc import Iterable
from typing import BinaryIO

from overthere.ground.atomic import remove, temporary

__all__ = ["remove_files", "create_file"]

_HELD: set[str] = set()


def create_file() -> tuple[str, BinaryIO]:
    """A temporary file: where it is, and it.  It is there until `remove_files`, or the end of this process."""
    held, file = temporary()
    _HELD.add(held)
    return held, file


def remove_files(paths: Iterable[str]) -> None:
    """Remove those of the files that are of `create_file`."""
    for path in _HELD.intersection(paths):
        _HELD.discard(path)
        with contextlib.suppress(OSError):
            remove(path)


atexit.register(lambda: remove_files(tuple(_HELD)))
