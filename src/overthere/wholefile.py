"""Files that are there when they are whole: they grow under another name beside their own, and follow no link.

In a folder where others may write, any name may be a link that was planted: to a file of ours that would be written
over, or to one that others may read.  So nothing is opened for writing by a name without `O_NOFOLLOW`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path
from typing import IO

__all__ = ["beside", "create", "grow", "is_stream", "refuse_link", "reopen", "save", "write"]

_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL
# Windows has its own ways: there these flags do not exist, and links need a privilege.
_PLAIN = (
    getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOINHERIT", 0)
)
_LINK = "it is a link, and nothing is written through links: name the file itself"


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether a name leads to a pipe, a device or the like, which is written to as it is.

    Raises: OSError if it is a folder.
    """
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    return not stat.S_ISREG(mode)


def refuse_link(path: str | os.PathLike[str]) -> None:
    """Raises: OSError if the name is a link.  Links among the folders before it are followed."""
    if os.path.islink(path):
        raise OSError(errno.ELOOP, _LINK, os.fspath(path))


def beside(path: Path) -> Path:
    """A name in the same folder that cannot be guessed."""
    import secrets

    return path.with_name(f"{path.name[:48]}.{secrets.token_hex(8)}.part")


def create(part: Path, path: Path) -> IO[bytes]:
    """A new file, with the permissions of the file that it is going to replace if that is ours.

    part: its name, see `beside`.  path: the name that it gets when it is whole.

    Raises: OSError: a link, the name of a folder that is missing, a name that is taken.
    """
    return _adopted(os.open(part, _NEW | _PLAIN, 0o666), path, "r+b", -1)


def _adopted(handle: int, path: Path, mode: str, buffering: int) -> IO[bytes]:
    try:
        with contextlib.suppress(OSError):
            there = os.lstat(path)
            if stat.S_ISREG(there.st_mode) and _ours(there) and os.chmod in os.supports_fd:
                os.chmod(handle, stat.S_IMODE(there.st_mode) & 0o777)
        return open(handle, mode, buffering)
    except BaseException:
        os.close(handle)
        raise


def reopen(path: str | os.PathLike[str], flags: int = os.O_RDONLY) -> int:
    """The descriptor of a file that an earlier run has left.

    Raises: FileNotFoundError; PermissionError if it is a link, no regular file, another user's, or has a second name:
    then it is none that we have left.
    """
    given = os.fspath(path)
    if os.path.islink(path):
        raise PermissionError(errno.EPERM, "it is a link, which no run leaves", given)
    handle = os.open(path, flags | _PLAIN | getattr(os, "O_NONBLOCK", 0))
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise PermissionError(errno.EPERM, "it is no regular file", given)
        if not _ours(status):
            raise PermissionError(errno.EPERM, "it is another user's", given)
        if status.st_nlink > 1:
            raise PermissionError(errno.EPERM, "it has another name too", given)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _ours(status: os.stat_result) -> bool:
    return os.name == "nt" or status.st_uid == os.geteuid()


def grow(part: Path, path: Path, *, resume: bool) -> IO[bytes]:
    """The unbuffered file in which something grows under a name that the next run knows.

    resume: whether the next run goes on with what it finds.  Otherwise what is not ours is taken away, as by a
    renaming: a link itself, not what it leads to.

    Raises: PermissionError, see `reopen`; OSError.
    """
    flags = os.O_RDWR | os.O_APPEND
    try:
        handle = reopen(part, flags)
    except FileNotFoundError:
        handle = os.open(part, _NEW | os.O_APPEND | _PLAIN, 0o666)
    except PermissionError:
        if resume:
            raise
        os.unlink(part)
        handle = os.open(part, _NEW | os.O_APPEND | _PLAIN, 0o666)
    return _adopted(handle, path, "ab", 0)


def save(path: str | os.PathLike[str], content: bytes) -> None:
    """A small file that was asked for by name: it holds the content, or what it held before.  Raises: OSError."""
    if is_stream(path):
        Path(path).write_bytes(content)
        return
    refuse_link(path)
    write(Path(path), content)


def write(path: Path, content: bytes) -> None:
    """A small file of our own; whatever has its name is replaced, a link too.  Raises: OSError."""
    part = beside(path)
    with create(part, path) as file:
        try:
            file.write(content)
            file.close()
            os.replace(part, path)
        except BaseException:
            with contextlib.suppress(OSError):
                part.unlink()
            raise
