"""Files of sources: opened only if they are regular, and links in a folder only if they stay in it."""

from __future__ import annotations

import os
import stat
from typing import BinaryIO

__all__ = ["NotFollowedError", "is_in_repository", "is_inside", "is_within", "open_file", "repository_of", "size_of"]


class NotFollowedError(OSError):
    """A link in a folder that is not followed."""


_BUFFER = 1 << 18
"""Records are short, and of each the octets behind its end are read too: from memory, not from the system anew."""


def open_file(path: str, root: str | None = None) -> BinaryIO:
    """A file that is read; by a link in a folder only if it leads to what is there.

    Raises: NotFollowedError; OSError, also if it is not a regular file: a pipe may wait, a device never ends.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        if root is not None:
            if os.path.islink(path):
                if not is_within(path, root):
                    raise NotFollowedError(path)
                path = os.path.realpath(path)
            flags |= getattr(os, "O_NOFOLLOW", 0)  # a link that has come up since is none that was looked at
        number = os.open(path, flags)
    except ValueError as error:  # NUL in a name
        raise OSError(str(error)) from error
    try:
        status = os.fstat(number)
        if not stat.S_ISREG(status.st_mode):
            raise IsADirectoryError(path) if stat.S_ISDIR(status.st_mode) else OSError("not a regular file")
        if not status.st_size:  # as files of /proc have: one that would be waited for is an OSError
            os.read(number, 1)
            os.lseek(number, 0, os.SEEK_SET)
    except OSError:
        os.close(number)
        raise
    return open(number, "rb", buffering=_BUFFER)


def is_within(link: str, root: str) -> bool:
    """Whether a link leads to what is in the folder, and is none itself."""
    return is_inside(link, root) and not os.path.isdir(link)


def is_inside(path: str, folder: str) -> bool:
    """Whether a path, its links followed, is a folder or lies in it."""
    path, folder = os.path.realpath(path), os.path.realpath(folder)
    return path == folder or path.startswith(os.path.join(folder, ""))


def repository_of(folder: str) -> str | None:
    """The real path of the nearest folder with `.git`, this one or one around it; None without a repository."""
    folder = os.path.realpath(folder)
    while not os.path.exists(os.path.join(folder, ".git")):
        folder, before = os.path.dirname(folder), folder
        if folder == before:
            return None
    return folder


def is_in_repository(path: str, folder: str) -> bool:
    """Whether a path, its links followed, is in the repository of a folder; without a repository, in the folder."""
    return is_inside(path, repository_of(folder) or folder)


def size_of(path: str) -> int:
    """Octets of a file; 0 if they cannot be told."""
    try:
        return os.stat(path).st_size
    except (OSError, ValueError):
        return 0
