"""Opens files of sources: regular files only, and in a folder only links that stay in it."""

from __future__ import annotations

import os
import stat
from typing import BinaryIO


class NotFollowedError(OSError):
    """A link in a folder leads out of it, or to another folder."""


_BUFFER_BYTES = 1 << 18
"""Records are short, and each is read beyond its end: the buffer avoids another system call."""


def open_file(path: str, root: str | None = None) -> BinaryIO:
    """Open a file for reading; with `root`, a link only if it leads to a file in that folder.

    Raises: NotFollowedError; OSError, also if it is not a regular file: a pipe may block, a device never ends.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        if root is not None:
            if os.path.islink(path):
                if not is_within(path, root):
                    raise NotFollowedError(path)
                path = os.path.realpath(path)
            flags |= getattr(os, "O_NOFOLLOW", 0)  # rejects a link created after the check
        descriptor = os.open(path, flags)
    except ValueError as error:  # NUL in a name
        raise OSError(str(error)) from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise IsADirectoryError(path) if stat.S_ISDIR(status.st_mode) else OSError("not a regular file")
        if not status.st_size:  # like files of /proc: reading one that would block is an OSError
            os.read(descriptor, 1)
            os.lseek(descriptor, 0, os.SEEK_SET)
    except OSError:
        os.close(descriptor)
        raise
    return open(descriptor, "rb", buffering=_BUFFER_BYTES)


def is_within(link: str, root: str) -> bool:
    """Whether a link leads into the folder, and not to a folder."""
    return is_inside(link, root) and not os.path.isdir(link)


def is_inside(path: str, folder: str) -> bool:
    """Whether a path, with links followed, is the folder or inside it."""
    path, folder = os.path.realpath(path), os.path.realpath(folder)
    return path == folder or path.startswith(os.path.join(folder, ""))


def repository_of(folder: str) -> str | None:
    """Return the real path of the nearest folder with `.git`, this one or a parent; None without a repository."""
    folder = os.path.realpath(folder)
    while not os.path.exists(os.path.join(folder, ".git")):
        folder, child = os.path.dirname(folder), folder
        if folder == child:
            return None
    return folder


def is_in_repository(path: str, folder: str) -> bool:
    """Whether a path, with links followed, is in the repository of a folder, or without one in the folder."""
    return is_inside(path, repository_of(folder) or folder)


def size_of(path: str) -> int:
    """Return the size of a file in bytes; 0 if it is unknown."""
    try:
        return os.stat(path).st_size
    except (OSError, ValueError):
        return 0
