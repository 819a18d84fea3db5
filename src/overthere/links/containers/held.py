"""Temporary files for what came through a pipe or by a URI: other processes read them, and archives from their end."""

from __future__ import annotations

import atexit
import contextlib
import os
import tempfile
from collections.abc import Iterable
from typing import BinaryIO

__all__ = ["drop", "hold"]

_HELD: set[str] = set()


def hold() -> tuple[str, BinaryIO]:
    """A temporary file: where it is, and it.  It is there until `drop`, or the end of this process."""
    descriptor, held = tempfile.mkstemp(prefix="overthere-")
    _HELD.add(held)
    return held, open(descriptor, "wb")


def drop(paths: Iterable[str]) -> None:
    """Remove those of the files that are of `hold`."""
    for path in _HELD.intersection(paths):
        _HELD.discard(path)
        with contextlib.suppress(OSError):
            os.unlink(path)


atexit.register(lambda: drop(tuple(_HELD)))
