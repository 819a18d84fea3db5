"""Checkpoints: the position up to which a table is written, so that another run can resume it."""

from __future__ import annotations

import errno
import json
import os
import signal
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from overthere.ground.atomic import reopen, write
from overthere.ground.errors import OverthereError

KEY = "overthere.links"
"""The key of a mark inside other metadata, and its first key."""


_MARK_START = f'{{"{KEY}": '.encode()


class ResumeError(OverthereError, ValueError):
    """A table that a job cannot continue: it belongs to another job, or does not match its mark."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name, reason)
        self.name: str = name
        self.reason: str = reason

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


class Checkpoint(NamedTuple):
    """The state of a table at a commit."""

    job: str
    rows: int
    octets: int
    """Bytes of the file, if the format allows to count them; otherwise 0."""
    state: dict[str, Any]

    @property
    def is_done(self) -> bool:
        return bool(self.state.get("done"))

    def to_text(self) -> str:
        return json.dumps({KEY: 1, **self._asdict()})

    def save(self, path: Path) -> None:
        """Write it to a file atomically."""
        write(path, f"{self.to_text()}\n".encode())


def read_mark(text: str | bytes, name: str, job: str) -> Checkpoint:
    """Return the mark in a text.  Raises: ResumeError if it is invalid or of another job; it names the differences."""
    try:
        fields = json.loads(text)
        mark = Checkpoint(fields["job"], fields["rows"], fields["octets"], fields["state"])
        has_types = tuple(map(type, mark)) == (str, int, int, dict)
        if not has_types or fields[KEY] != 1 or min(mark.rows, mark.octets) < 0 or (mark.rows and not mark.state):
            raise ValueError
    except (ValueError, TypeError, KeyError, RecursionError):
        raise ResumeError(name, "its mark is unreadable, so the job cannot continue") from None
    if mark.job != job:
        raise ResumeError(name, f"it was started by another job{_describe_difference(mark.job, job)}")
    return mark


def load_mark(path: Path, name: str, job: str) -> Checkpoint | None:
    """Return the mark in a file, None if there is no such file.  Raises: ResumeError; OSError."""
    try:
        with reject_foreign(path), open(reopen(path), "rb") as file:
            return read_mark(file.read(), name, job)
    except FileNotFoundError:
        return None


def check_mark_path(path: Path) -> None:
    """Raise ResumeError if the file in the place of a mark is not a mark: it would be replaced, or removed."""
    if not stat.S_ISREG(os.lstat(path).st_mode if os.path.lexists(path) else 0):
        return  # a link is itself replaced
    with reject_foreign(path), open(reopen(path), "rb") as file:
        head = file.read(len(_MARK_START))
    if head and head != _MARK_START:
        raise ResumeError(str(path), "it is not a mark of overthere: move it away, or name another table")


@contextmanager
def reject_foreign(path: Path) -> Iterator[None]:
    """Raise ResumeError if the file that the block opens was not left by a run of overthere."""
    try:
        yield
    except PermissionError as error:
        raise ResumeError(str(path), error.strerror or str(error)) from None


def check_is_own(path: Path) -> None:
    """Raise ResumeError if the file was not left by a run of overthere.  Raises: OSError."""
    with reject_foreign(path):
        os.close(reopen(path))


def _describe_difference(first_job: str, second_job: str) -> str:
    """Return the names of the values in which two jobs differ, without the values: they may contain a password."""
    try:
        first, second = json.loads(first_job), json.loads(second_job)
    except (ValueError, RecursionError):
        return ""
    if not (isinstance(first, dict) and isinstance(second, dict)):
        return ""
    missing = object()
    names = [name for name in {**first, **second} if first.get(name, missing) != second.get(name, missing)]
    return f", with another {', '.join(names)}" if names else ""


@contextmanager
def _delay_interrupt(signal_number: signal.Signals) -> Iterator[None]:
    handler = signal.getsignal(signal_number)
    if not callable(handler):
        yield
        return
    frames: list[Any] = []
    try:
        signal.signal(signal_number, lambda _, frame: frames.append(frame))
        yield
    finally:
        signal.signal(signal_number, handler)
        if frames:
            handler(signal_number, frames[0])


@contextmanager
def delay_signals() -> Iterator[None]:
    """Delay Ctrl-C and SIGTERM until the end of the block, so that rows are counted as they are written."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread receives signals
        return
    with _delay_interrupt(signal.SIGINT), _delay_interrupt(signal.SIGTERM):
        yield


def lock(handle: int, name: str) -> None:
    """Keep other processes from writing the same table, if the file system can.

    Raises: BlockingIOError if another process is writing it.
    """
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BlockingIOError(errno.EAGAIN, "another process is writing it", name) from None
    except OSError:
        return
