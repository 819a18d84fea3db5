"""Atomic writes: a temporary file next to the target, renamed at the end; symlinks are not followed.

In a folder where others may write, any name may be a link that was planted: to a file of ours that would be written
over, or to one that others may read.  So nothing is opened for writing by a name without `O_NOFOLLOW`.

This is the only module that opens files for writing, renames or removes them, changes their modes or opens a
database (`tests/ground/test_atomic.py`).  A file that an earlier run has left is reopened if it is ours: SQLite files
by their application id, others by how they begin.  What is not ours is rejected, and not one octet of it changes.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, cast

if TYPE_CHECKING:
    import sqlite3
    import tempfile

__all__ = [
    "temporary_path", "create", "database", "create_part", "is_stream", "link", "open_own", "refuse_link", "remove",
    "remove_folder", "rename", "reopen", "save", "open_unnamed", "temporary_folder", "stream", "temporary",
    "copy", "create_empty", "write",
]  # fmt: skip

_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL
# Windows has its own ways: there these flags do not exist, and links need a privilege.
_PLAIN = (
    getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOINHERIT", 0)
)
_LINK = "it is a symlink, and overthere does not write through symlinks: name the file itself"


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


def temporary_path(path: Path) -> Path:
    """A name in the same folder that cannot be guessed."""
    import secrets

    return path.with_name(f"{path.name[:48]}.{secrets.token_hex(8)}.part")


def create(part: Path, path: Path) -> IO[bytes]:
    """A new file, with the permissions of the file that it is going to replace if that is ours.

    part: its name, see `temporary_path`.  path: the name that it gets when it is whole.

    Raises: OSError: a link, the name of a folder that is missing, a name that is taken.
    """
    return _open_handle(os.open(part, _NEW | _PLAIN, 0o666), path, "r+b", -1)


def _open_handle(handle: int, path: Path, mode: str, buffering: int) -> IO[bytes]:
    try:
        with contextlib.suppress(OSError):
            there = os.lstat(path)
            if stat.S_ISREG(there.st_mode) and _is_own_file(there) and os.chmod in os.supports_fd:
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
        raise PermissionError(errno.EPERM, "it is a symlink, which overthere never leaves behind", given)
    handle = os.open(path, flags | _PLAIN | getattr(os, "O_NONBLOCK", 0))
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise PermissionError(errno.EPERM, "it is not a regular file", given)
        if not _is_own_file(status):
            raise PermissionError(errno.EPERM, "it belongs to another user", given)
        if status.st_nlink > 1:
            raise PermissionError(errno.EPERM, "it has another name too", given)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _is_own_file(status: os.stat_result) -> bool:
    return os.name == "nt" or status.st_uid == os.geteuid()


def create_part(part: Path, path: Path, *, resume: bool) -> IO[bytes]:
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
    return _open_handle(handle, path, "ab", 0)


def save(path: str | os.PathLike[str], content: bytes) -> None:
    """A small file that was asked for by name: it holds the content, or what it held before.  Raises: OSError."""
    if is_stream(path):
        with stream(path) as file:
            file.write(content)
        return
    refuse_link(path)
    write(Path(path), content)


def write(path: Path, content: bytes, mode: int | None = None) -> None:
    """A small file of our own; whatever has its name is replaced, a link too.  Raises: OSError.

    mode: the permissions, by default those of the file that is replaced if it is ours.
    """
    part = temporary_path(path)
    with create(part, path) as file:
        try:
            if mode is not None and os.chmod in os.supports_fd:
                os.chmod(file.fileno(), stat.S_IMODE(mode))
            file.write(content)
            file.close()
            os.replace(part, path)
        except BaseException:
            with contextlib.suppress(OSError):
                part.unlink()
            raise


def stream(path: str | os.PathLike[str]) -> IO[bytes]:
    """A pipe or a device, opened for writing; see `is_stream`.  No file is made or emptied.

    Raises: PermissionError if a regular file has taken its place; OSError.
    """
    handle = os.open(path, os.O_WRONLY | (_PLAIN & ~getattr(os, "O_NOFOLLOW", 0)))
    try:
        if stat.S_ISREG(os.fstat(handle).st_mode):
            raise PermissionError(errno.EPERM, "it has become a regular file meanwhile", os.fspath(path))
        return open(handle, "wb")
    except BaseException:
        os.close(handle)
        raise


def rename(part: str | os.PathLike[str], path: str | os.PathLike[str]) -> None:
    """A file gets its final name; whatever has that name is replaced, a link itself.  Raises: OSError."""
    os.replace(part, path)


def link(part: str | os.PathLike[str], path: str | os.PathLike[str]) -> None:
    """A second name for a file.  Raises: FileExistsError if the name is taken; OSError."""
    os.link(part, path)


def remove(path: str | os.PathLike[str], like: os.stat_result | None = None) -> None:
    """Remove a file, a link itself; what is missing is removed already.

    like: only the file with this status; another that has its name stays.  Raises: OSError.
    """
    with contextlib.suppress(FileNotFoundError):
        if like is None or os.path.samestat(os.lstat(path), like):
            os.unlink(path)


def remove_folder(path: str | os.PathLike[str]) -> None:
    """Remove a folder with all that it holds; links in it are removed themselves.  Raises: OSError."""
    import shutil

    shutil.rmtree(path)


def create_empty(path: str | os.PathLike[str]) -> None:
    """An empty file; what has the name is replaced, a link itself.  Raises: OSError."""
    write(Path(path), b"")


_MOST_COPIED = 1 << 30
"""Octets: a sparse file has any number of them in few blocks."""


def copy(path: str | os.PathLike[str], into: str | os.PathLike[str]) -> None:
    """Copy a file or a folder, if it exists, into a temporary folder of ours, with its times; links stay links.

    Raises: OSError, also if it is a link out of its own folder or has more than a gibibyte.
    """
    import shutil

    folder = os.path.realpath(os.path.dirname(path))
    if os.path.islink(path) and not os.path.realpath(path).startswith(os.path.join(folder, "")):  # not ours to show
        raise OSError(errno.ELOOP, "a symlink", os.fspath(path))
    paths = [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names] or [os.fspath(path)]
    if sum(os.lstat(one).st_size for one in paths if os.path.lexists(one)) > _MOST_COPIED:
        raise OSError(errno.EFBIG, f"more than {_MOST_COPIED:,} octets", os.fspath(path))
    target = os.path.join(into, os.path.basename(path))
    if os.path.isdir(path):
        shutil.copytree(path, target, symlinks=True, dirs_exist_ok=True)
    elif os.path.isfile(path):
        shutil.copy2(path, target)


def open_unnamed() -> BinaryIO:
    """A temporary file without a name."""
    import tempfile

    return cast("BinaryIO", tempfile.TemporaryFile())


def temporary_folder(place: str | os.PathLike[str] | None = None) -> tempfile.TemporaryDirectory[str]:
    """A temporary folder, which goes with its object.  place: the folder in which it is."""
    import tempfile

    return tempfile.TemporaryDirectory(prefix="overthere-", dir=place)


def temporary() -> tuple[str, BinaryIO]:
    """Where a new temporary file is, and it, open for writing."""
    import tempfile

    handle, path = tempfile.mkstemp(prefix="overthere-")
    return path, open(handle, "wb")


def open_own(path: str | os.PathLike[str], begins: Callable[[bytes], bool]) -> tuple[IO[bytes], bool]:
    """A file of ours, unbuffered, for reading and writing; and whether it is new.

    A missing or empty file is new.  begins: whether the first 4,096 octets of another show that it is ours.

    Raises: PermissionError if it is not ours: a link, see `reopen`, or by its beginning.  It is as it was then.
    """
    try:
        handle = reopen(path, os.O_RDWR)
    except FileNotFoundError:
        return open(os.open(path, _NEW | _PLAIN, 0o666), "w+b", 0), True
    file = open(handle, "r+b", 0)  # noqa: SIM115 (it is the answer)
    try:
        head = file.read(_HEAD)
        file.seek(0)
        if head and not begins(head):
            raise PermissionError(errno.EPERM, "overthere did not write this file: name another", os.fspath(path))
    except BaseException:
        file.close()
        raise
    return file, not head


_HEAD = 4096
_BESIDE = ("-journal", "-wal", "-shm")


_SCHEMA = "select type, name, tbl_name, sql from sqlite_master order by name"


def database(path: str | os.PathLike[str], application: int, version: int, tables: str) -> sqlite3.Connection:
    """A SQLite file of ours, which is made if it is missing or empty; text that is not UTF-8 has U+FFFD.

    application, version: what its header says (`application_id`, `user_version`).  The header is read before SQLite
    sees the file.
    tables: the statements that make its tables, if they are missing.

    Raises: PermissionError if it, or a journal of its name, is not ours; ValueError if it is of another version;
    OSError; sqlite3.Error, also if it has other tables, views, triggers or indexes, which could do anything.
    """
    import sqlite3

    given = os.fspath(path)
    os.makedirs(os.path.dirname(given) or ".", exist_ok=True)
    try:
        handle = reopen(path)
    except FileNotFoundError:
        handle = os.open(path, _NEW | _PLAIN, 0o666)
    try:
        head, status = os.read(handle, 100), os.fstat(handle)
    finally:
        os.close(handle)
    if head:
        if len(head) < 100 or not head.startswith(b"SQLite format 3\0"):
            raise PermissionError(errno.EPERM, "it is not a cache of overthere: name another file", given)
        if int.from_bytes(head[68:72], "big") != application:
            told = (
                "it is a database of another program, or a cache of an older overthere: delete it, or name another file"
            )
            raise PermissionError(errno.EPERM, told, given)
        if int.from_bytes(head[60:64], "big") != version:
            raise ValueError(f"{given}: a cache of another version of overthere: delete it, or name another file")
    for name in (given + suffix for suffix in _BESIDE):
        try:
            os.close(reopen(name))
        except FileNotFoundError:
            continue
        if not head:
            raise PermissionError(errno.EPERM, "it belongs to a database that is missing: delete it", name)
    base = sqlite3.connect(f"{Path(os.path.abspath(given)).as_uri()}?mode=rw", uri=True)
    try:
        if not os.path.samestat(os.lstat(path), status):
            raise PermissionError(errno.EPERM, "another file has taken its place", given)
        if not head:
            # Together, and before there is a write-ahead log: the header tells from the first on whose it is.
            base.executescript(f"begin; pragma application_id = {application}; pragma user_version = {version}; commit")
        base.text_factory = lambda octets: octets.decode("utf-8", "replace")
        base.executescript(f"pragma trusted_schema = off; {tables}")
        with contextlib.closing(sqlite3.connect(":memory:")) as own:
            own.executescript(tables)
            if own.execute(_SCHEMA).fetchall() != base.execute(_SCHEMA).fetchall():
                raise sqlite3.DatabaseError("it has other tables, or what belongs to them")
    except BaseException:
        base.close()
        raise
    return base
