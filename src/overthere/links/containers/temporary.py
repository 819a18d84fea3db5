"""Temporary files for data from a pipe or a URI: archives and other processes need a file."""

from __future__ import annotations

import atexit
import contextlib
from collections.abc import Iterable
from typing import BinaryIO

from overthere.ground.atomic import remove, temporary

_PATHS: set[str] = set()


def create_file() -> tuple[str, BinaryIO]:
    """Create a temporary file, which exists until `remove_files` or the end of this process; return its path too."""
    path, file = temporary()
    _PATHS.add(path)
    return path, file


def remove_files(paths: Iterable[str]) -> None:
    """Remove the files that `create_file` made; ignore other paths."""
    for path in _PATHS.intersection(paths):
        _PATHS.discard(path)
        with contextlib.suppress(OSError):
            remove(path)


atexit.register(lambda: remove_files(tuple(_PATHS)))
