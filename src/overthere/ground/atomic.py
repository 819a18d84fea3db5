"""Atomic writes: a temporary file next to the target, renamed at the end; symlinks are not followed.

In a folder where other users may write, any name may be a malicious link: to a file of this user that would be
overwritten, or to one that others may read.  So every file is opened for writing with `O_NOFOLLOW`.

This is the only module that opens files for writing, renames or removes them, changes their modes or opens a
database (`tests/ground/test_atomic.py`).  A file of an earlier run is reopened if overthere wrote it: SQLite files
have an application id, others a known beginning.  Any other file is rejected without changing a byte of it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, cast

if TYPE_CHECKING:
    import sqlite3
    import tempfile

_CREATE_FLAGS = os.O_RDWR | os.O_CREAT | os.O_EXCL
# Windows does not have all of these flags; links need a privilege there.
_SAFE_FLAGS = (
    getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOINHERIT", 0)
)
_LINK_MESSAGE = "it is a symlink, and overthere does not write through symlinks: name the file itself"


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a pipe, a device or similar, which is written to directly.

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
    """Raises: OSError if the path is a link.  Links among its parent folders are followed."""
    if os.path.islink(path):
        raise OSError(errno.ELOOP, _LINK_MESSAGE, os.fspath(path))


def temporary_path(path: Path) -> Path:
    """Return a path in the same folder that cannot be guessed."""
    import secrets

    return path.with_name(f"{path.name[:48]}.{secrets.token_hex(8)}.part")


def create(part: Path, path: Path) -> IO[bytes]:
    """Create a file, with the permissions of the file that it will replace if that belongs to this user.

    part: its name, see `temporary_path`.  path: its final name when it is complete.

    Raises: OSError if `part` is a link, its folder is missing, or the name exists.
    """
    return _open_handle(os.open(part, _CREATE_FLAGS | _SAFE_FLAGS, 0o666), path, "r+b", -1)


def _open_handle(handle: int, path: Path, mode: str, buffering: int) -> IO[bytes]:
    try:
        with contextlib.suppress(OSError):
            status = os.lstat(path)
            if stat.S_ISREG(status.st_mode) and _is_own_file(status) and os.chmod in os.supports_fd:
                os.chmod(handle, stat.S_IMODE(status.st_mode) & 0o777)
        return open(handle, mode, buffering)
    except BaseException:
        os.close(handle)
        raise


def reopen(path: str | os.PathLike[str], flags: int = os.O_RDONLY) -> int:
    """Return the descriptor of a file from an earlier run.

    Raises: FileNotFoundError; PermissionError if it is a link, not a regular file, another user's, or has a second
    name: then overthere did not create it.
    """
    name = os.fspath(path)
    if os.path.islink(path):
        raise PermissionError(errno.EPERM, "it is a symlink, which overthere never leaves behind", name)
    handle = os.open(path, flags | _SAFE_FLAGS | getattr(os, "O_NONBLOCK", 0))
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise PermissionError(errno.EPERM, "it is not a regular file", name)
        if not _is_own_file(status):
            raise PermissionError(errno.EPERM, "it belongs to another user", name)
        if status.st_nlink > 1:
            raise PermissionError(errno.EPERM, "it has another name too", name)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _is_own_file(status: os.stat_result) -> bool:
    return os.name == "nt" or status.st_uid == os.geteuid()


def create_part(part: Path, path: Path, *, resume: bool) -> IO[bytes]:
    """Open a file, unbuffered, for content that grows under a name that the next run knows.

    resume: whether to continue an existing file.  Otherwise a file of another origin is removed, as `rename` would:
    a link itself, not its target.

    Raises: PermissionError, see `reopen`; OSError.
    """
    flags = os.O_RDWR | os.O_APPEND
    try:
        handle = reopen(part, flags)
    except FileNotFoundError:
        handle = os.open(part, _CREATE_FLAGS | os.O_APPEND | _SAFE_FLAGS, 0o666)
    except PermissionError:
        if resume:
            raise
        os.unlink(part)
        handle = os.open(part, _CREATE_FLAGS | os.O_APPEND | _SAFE_FLAGS, 0o666)
    return _open_handle(handle, path, "ab", 0)


def save(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a small file that the user named; after an error its old content is unchanged.  Raises: OSError."""
    if is_stream(path):
        with stream(path) as file:
            file.write(content)
        return
    refuse_link(path)
    write(Path(path), content)


def write(path: Path, content: bytes, mode: int | None = None) -> None:
    """Write a small file of overthere; an existing file or link is replaced.  Raises: OSError.

    mode: the permissions, by default those of the replaced file if it belongs to this user.
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
    """Open a pipe or a device for writing; see `is_stream`.  No file is created or truncated.

    Raises: PermissionError if it has become a regular file; OSError.
    """
    handle = os.open(path, os.O_WRONLY | (_SAFE_FLAGS & ~getattr(os, "O_NOFOLLOW", 0)))
    try:
        if stat.S_ISREG(os.fstat(handle).st_mode):
            raise PermissionError(errno.EPERM, "it has become a regular file meanwhile", os.fspath(path))
        return open(handle, "wb")
    except BaseException:
        os.close(handle)
        raise


def rename(part: str | os.PathLike[str], path: str | os.PathLike[str]) -> None:
    """Give a file its final name; an existing file or link is replaced.  Raises: OSError."""
    os.replace(part, path)


def link(part: str | os.PathLike[str], path: str | os.PathLike[str]) -> None:
    """Give a file a second name.  Raises: FileExistsError if the name exists; OSError."""
    os.link(part, path)


def remove(path: str | os.PathLike[str], like: os.stat_result | None = None) -> None:
    """Remove a file, or a link itself; a missing file is not an error.

    like: remove only the file with this status; another file of this name stays.  Raises: OSError.
    """
    with contextlib.suppress(FileNotFoundError):
        if like is None or os.path.samestat(os.lstat(path), like):
            os.unlink(path)


def remove_folder(path: str | os.PathLike[str]) -> None:
    """Remove a folder and its content; links in it are removed, not their targets.  Raises: OSError."""
    import shutil

    shutil.rmtree(path)


def create_empty(path: str | os.PathLike[str]) -> None:
    """Create an empty file; an existing file or link is replaced.  Raises: OSError."""
    write(Path(path), b"")


_MAX_COPIED_BYTES = 1 << 30
"""The limit for copies, because a sparse file may have any size in few blocks."""


def copy(path: str | os.PathLike[str], into: str | os.PathLike[str]) -> None:
    """Copy a file or a folder, if it exists, into a temporary folder, with its times; links stay links.

    Raises: OSError, also if it is a link out of its own folder or larger than a gibibyte.
    """
    import shutil

    within = os.path.join(os.path.realpath(os.path.dirname(path)), "")
    paths = [os.fspath(path), *(os.path.join(at, name) for at, *names in os.walk(path) for name in chain(*names))]
    for name in paths:
        if os.path.islink(name) and not os.path.realpath(name).startswith(within):  # may be private
            raise OSError(errno.ELOOP, "a symlink", name)
    if sum(os.lstat(name).st_size for name in paths if os.path.lexists(name)) > _MAX_COPIED_BYTES:
        raise OSError(errno.EFBIG, f"more than {_MAX_COPIED_BYTES:,} octets", os.fspath(path))
    target = os.path.join(into, os.path.basename(path))
    if os.path.isdir(path):
        shutil.copytree(path, target, symlinks=True, dirs_exist_ok=True)
    elif os.path.isfile(path):
        shutil.copy2(path, target)


def open_unnamed() -> BinaryIO:
    """Open a temporary file without a name."""
    import tempfile

    return cast("BinaryIO", tempfile.TemporaryFile())


def temporary_folder(place: str | os.PathLike[str] | None = None) -> tempfile.TemporaryDirectory[str]:
    """Create a temporary folder, which is removed with its object.  place: its parent folder."""
    import tempfile

    return tempfile.TemporaryDirectory(prefix="overthere-", dir=place)


def temporary() -> tuple[str, BinaryIO]:
    """Create a temporary file; return its path, and the file open for writing."""
    import tempfile

    handle, path = tempfile.mkstemp(prefix="overthere-")
    return path, open(handle, "wb")


def open_own(path: str | os.PathLike[str], begins: Callable[[bytes], bool]) -> tuple[IO[bytes], bool]:
    """Open a file of overthere, unbuffered, for reading and writing; also return whether it is new.

    A missing or empty file is new.  begins: whether the first 4,096 bytes are those of a file of overthere.

    Raises: PermissionError for another file, by its beginning or because of `reopen`; it is not changed.
    """
    try:
        handle = reopen(path, os.O_RDWR)
    except FileNotFoundError:
        return open(os.open(path, _CREATE_FLAGS | _SAFE_FLAGS, 0o666), "w+b", 0), True
    file = open(handle, "r+b", 0)  # noqa: SIM115 (it is returned)
    try:
        head = file.read(_HEAD_BYTES)
        file.seek(0)
        if head and not begins(head):
            raise PermissionError(errno.EPERM, "overthere did not write this file: name another", os.fspath(path))
    except BaseException:
        file.close()
        raise
    return file, not head


_HEAD_BYTES = 4096
_JOURNAL_SUFFIXES = ("-journal", "-wal", "-shm")
_MAX_CHECKS = 20  # as another process may be creating the database
_SCHEMA = "select type, name, tbl_name, sql from sqlite_master order by name"


def _read_head(path: str | os.PathLike[str]) -> tuple[bytes, os.stat_result]:
    """The first 100 bytes of a file, which is created if missing, and its status."""
    try:
        handle = reopen(path)
    except FileNotFoundError:
        with contextlib.suppress(FileExistsError):  # another process has just created it
            os.close(os.open(path, _CREATE_FLAGS | _SAFE_FLAGS, 0o666))
        handle = reopen(path)
    try:
        return os.read(handle, 100), os.fstat(handle)
    finally:
        os.close(handle)


def database(path: str | os.PathLike[str], application: int, version: int, tables: str) -> sqlite3.Connection:
    """Open a SQLite file of overthere, created if missing or empty; text that is not UTF-8 is read with U+FFFD.

    application, version: the values in its header (`application_id`, `user_version`).  The header is read before
    SQLite opens the file.
    tables: the statements that create its tables, if they are missing.

    Raises: PermissionError if it, or a journal of its name, is of another origin; ValueError for another version;
    OSError; sqlite3.Error, also if it has other tables, views, triggers or indexes, which could be malicious.
    """
    import sqlite3

    given = os.fspath(path)
    os.makedirs(os.path.dirname(given) or ".", exist_ok=True)
    head, status = _read_head(path)
    for name in (given + suffix for suffix in _JOURNAL_SUFFIXES):
        for remaining in reversed(range(_MAX_CHECKS)):
            try:
                os.close(reopen(name))
            except FileNotFoundError:
                break
            if head:
                break
            if not remaining:
                raise PermissionError(errno.EPERM, "it belongs to a database that is missing: delete it", name)
            time.sleep(0.05)
            head, status = _read_head(path)
    if head:
        if len(head) < 100 or not head.startswith(b"SQLite format 3\0"):
            raise PermissionError(errno.EPERM, "it is not a cache of overthere: name another file", given)
        if int.from_bytes(head[68:72], "big") != application:
            message = (
                "it is a database of another program, or a cache of an older overthere: delete it, or name another file"
            )
            raise PermissionError(errno.EPERM, message, given)
        if int.from_bytes(head[60:64], "big") != version:
            raise ValueError(f"{given}: a cache of another version of overthere: delete it, or name another file")
    db = sqlite3.connect(f"{Path(os.path.abspath(given)).as_uri()}?mode=rw", uri=True)
    try:
        if not os.path.samestat(os.lstat(path), status):
            raise PermissionError(errno.EPERM, "another file has taken its place", given)
        if not head:
            # In one transaction, and before a write-ahead log exists: the header identifies the file from the start.
            db.executescript(f"begin; pragma application_id = {application}; pragma user_version = {version}; commit")
        db.text_factory = lambda octets: octets.decode("utf-8", "replace")
        db.executescript(f"pragma trusted_schema = off; {tables}")
        with contextlib.closing(sqlite3.connect(":memory:")) as expected:
            expected.executescript(tables)
            if expected.execute(_SCHEMA).fetchall() != db.execute(_SCHEMA).fetchall():
                raise sqlite3.DatabaseError("it has other tables, or what belongs to them")
    except BaseException:
        db.close()
        raise
    return db
