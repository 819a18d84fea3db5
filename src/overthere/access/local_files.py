"""Opens a path of this machine: the answer to the effect `OpenLocal`."""

from __future__ import annotations

import contextlib
import io
import os
import stat

from overthere.access.errors import ResourceMissing
from overthere.access.wire import LocalFile


def open_local(path: str, mounted: str = "") -> tuple[LocalFile, io.FileIO | None]:
    """Return what a path is, and the open file if it is a file; only regular files are opened.

    mounted: a directory on which a file system must be mounted, "" for none.  Raises: ResourceMissing.
    """
    if mounted and not os.path.ismount(mounted):
        name = mounted.strip("/").upper()
        raise ResourceMissing(
            f"{name} is not mounted on this machine: there is no file system at {mounted}", where=path
        )
    try:
        if stat.S_ISDIR(_checked_mode(path)):
            with os.scandir(path) as entries:
                names = sorted(entry.name + _suffix(entry) for entry in entries)
            return LocalFile(None, tuple(names)), None
        # If a pipe replaces the file meanwhile, opening it must not wait.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        file = io.FileIO(descriptor, "rb")
        try:
            status = os.fstat(descriptor)
            _checked_mode(path, status)
        except BaseException:
            file.close()
            raise
        return LocalFile(status.st_size, None), file
    except ResourceMissing:
        raise
    except FileNotFoundError:
        raise ResourceMissing("there is no such file", "ENOENT", where=path) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ResourceMissing(f"it cannot be read: {reason}", where=path) from error


def _checked_mode(path: str, status: os.stat_result | None = None) -> int:
    mode = (status or os.stat(path)).st_mode
    if not stat.S_ISREG(mode) and not (status is None and stat.S_ISDIR(mode)):
        raise ResourceMissing("it is not a file or directory", where=path)
    return mode


def _suffix(entry: os.DirEntry[str]) -> str:
    """Return "/" for a directory, "//" for neither directory nor file, otherwise "": no name contains a slash."""
    with contextlib.suppress(OSError):
        return "/" if entry.is_dir() else "" if entry.is_file() else "//"
    return "//"
