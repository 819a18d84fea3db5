"""Checkpoints: how far a table is written, so that another run can resume it."""

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

__all__ = [
    "KEY", "Checkpoint", "ResumeError", "claim_mark", "load_mark", "lock", "guard_own", "check_own", "read_mark",
    "undisturbed",
]  # fmt: skip

KEY = "overthere.links"
"""What a mark is called where it stands among other things."""


_BEGINS = f'{{"{KEY}": '.encode()


class ResumeError(OverthereError, ValueError):
    """A table that a job cannot go on with: it is another job's, or not what its mark says."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name, reason)
        self.name: str = name
        self.reason: str = reason

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


class Checkpoint(NamedTuple):
    """A table up to a commit."""

    job: str
    rows: int
    octets: int
    """Of the file, where the format lets them be counted; else 0."""
    state: dict[str, Any]

    @property
    def is_done(self) -> bool:
        return bool(self.state.get("done"))

    def to_text(self) -> str:
        return json.dumps({KEY: 1, **self._asdict()})

    def save(self, path: Path) -> None:
        """Put it in a file, which is never there by half."""
        write(path, f"{self.to_text()}\n".encode())


def read_mark(text: str | bytes, name: str, job: str) -> Checkpoint:
    """The mark in a text.  Raises: ResumeError if it is none, or of another job; it names what differs."""
    try:
        fields = json.loads(text)
        mark = Checkpoint(fields["job"], fields["rows"], fields["octets"], fields["state"])
        types = tuple(map(type, mark)) == (str, int, int, dict)
        if not types or fields[KEY] != 1 or min(mark.rows, mark.octets) < 0 or (mark.rows and not mark.state):
            raise ValueError
    except (ValueError, TypeError, KeyError, RecursionError):
        raise ResumeError(name, "its mark is unreadable, so the job cannot continue") from None
    if mark.job != job:
        raise ResumeError(name, f"it was started by another job{_difference(mark.job, job)}")
    return mark


def load_mark(path: Path, name: str, job: str) -> Checkpoint | None:
    """The mark in a file, None if there is no such file.  Raises: ResumeError; OSError."""
    try:
        with guard_own(path), open(reopen(path), "rb") as file:
            return read_mark(file.read(), name, job)
    except FileNotFoundError:
        return None


def claim_mark(path: Path) -> None:
    """Raises: ResumeError if a file stands at the place of a mark that is none: it would be replaced, or removed."""
    if not stat.S_ISREG(os.lstat(path).st_mode if os.path.lexists(path) else 0):
        return  # a link is replaced itself
    with guard_own(path), open(reopen(path), "rb") as file:
        head = file.read(len(_BEGINS))
    if head and head != _BEGINS:
        raise ResumeError(str(path), "it is not a mark of overthere: move it away, or name another table")


@contextmanager
def guard_own(path: Path) -> Iterator[None]:
    """Raises: ResumeError if what stands there, and is opened in the block, is not what a run of ours has left."""
    try:
        yield
    except PermissionError as error:
        raise ResumeError(str(path), error.strerror or str(error)) from None


def check_own(path: Path) -> None:
    """Raises: ResumeError if what stands there is not what a run of ours has left; OSError."""
    with guard_own(path):
        os.close(reopen(path))


def _difference(one: str, other: str) -> str:
    """What two jobs differ in, by name only: a value may hold a password."""
    try:
        a, b = json.loads(one), json.loads(other)
    except (ValueError, RecursionError):
        return ""
    if not (isinstance(a, dict) and isinstance(b, dict)):
        return ""
    missing = object()
    names = [name for name in {**a, **b} if a.get(name, missing) != b.get(name, missing)]
    return f", with another {', '.join(names)}" if names else ""


@contextmanager
def _delay_interrupt(number: signal.Signals) -> Iterator[None]:
    handler = signal.getsignal(number)
    if not callable(handler):
        yield
        return
    heard: list[Any] = []
    try:
        signal.signal(number, lambda _, frame: heard.append(frame))
        yield
    finally:
        signal.signal(number, handler)
        if heard:
            handler(number, heard[0])


@contextmanager
def undisturbed() -> Iterator[None]:
    """Ctrl-C and SIGTERM are heard at the end of the block, so that rows are counted as they are written."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread hears signals
        return
    with _delay_interrupt(signal.SIGINT), _delay_interrupt(signal.SIGTERM):
        yield


def lock(handle: int, name: str) -> None:
    """Keep other processes from writing the same table, where the file system can.

    Raises: BlockingIOError if one does.
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
