"""Real servers for the tests of access: each started on a free loopback port, stopped by its pid.

What is waited for is a state, never a time: `NET` is only how long a test waits before it says that nothing will come.
"""

from __future__ import annotations

import os
import random
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pytest

import skips

__all__ = ["DROP", "NET", "free_port", "give", "need", "running", "wait_for", "wait_until", "waits"]

NET = 120.0
"""Seconds: far more than anything takes on a machine that has much else to do."""

T = TypeVar("T")
ROOT = os.geteuid() == 0
DROP = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if ROOT else []
"""Before a command: run it as nobody."""


def need(*programs: str) -> None:
    """Skip the test if a program is not installed; the reason stands in expected_failures.toml."""
    path = os.pathsep.join([os.environ.get("PATH", ""), *skips.FOLDERS])
    for program in programs:
        if shutil.which(program, path=path) is None:
            pytest.skip(f"{program} is not installed")


_MINE: list[socket.socket] = []
"""What keeps the ports of this process its own: the same numbers of UDP, held as long as it lives."""


def _unasked() -> range:
    """Ports that the system gives to nobody who does not ask for them."""
    told = Path("/proc/sys/net/ipv4/ip_local_port_range")
    first = int(told.read_text().split()[0]) if told.exists() else 49_152
    return range(10_240, min(first, 30_000) if first > 12_000 else 30_000)  # vsftpd's passive ports are above


def free_port() -> int:
    """A loopback port that nobody listens on, and that no other process of the tests takes before its server does."""
    for port in random.SystemRandom().sample(_unasked(), 200):
        held = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            held.bind(("127.0.0.1", port))
            with socket.socket() as tried:
                tried.bind(("127.0.0.1", port))
        except OSError:
            held.close()
        else:
            _MINE.append(held)
            return port
    raise OSError("of 200 ports none is free")


def wait_until(there: Callable[[], T | None], what: str, seconds: float = NET) -> T:
    """What is there at last.  Raises: TimeoutError."""
    until = time.monotonic() + seconds
    while not (found := there()):
        if time.monotonic() > until:
            raise TimeoutError(what)
        time.sleep(0.02)
    return found


def waits(pid: int) -> bool:
    """Whether a process has done what it could, and waits: each of its threads sleeps, at three looks."""
    for _ in range(3):
        time.sleep(0.05)
        try:
            tasks = [task.read_text() for task in Path(f"/proc/{pid}/task").glob("*/stat")]
        except OSError:  # a thread that has just ended
            return False
        if not all(task.rpartition(") ")[2].startswith("S") for task in tasks):
            return False
    return True


def give(folder: Path) -> None:
    """Let nobody have a folder, if we are root; the folders above let him pass."""
    if not ROOT:
        return
    subprocess.run(["chown", "-R", "nobody:nogroup", str(folder)], check=True)
    for above in folder.parents:
        if above.stat().st_uid == 0 and above != Path("/") and not above.stat().st_mode & 0o001:
            above.chmod(above.stat().st_mode | 0o011)


def wait_for(port: int, work: subprocess.Popen[bytes] | None = None, host: str = "127.0.0.1") -> None:
    """Wait until somebody listens.  Raises: TimeoutError, ChildProcessError if the server has ended instead."""

    def there() -> bool:
        if work is not None and work.poll() is not None:
            raise ChildProcessError(f"the server on {port} ended with {work.returncode}")
        try:
            socket.create_connection((host, port), NET).close()
        except OSError:
            return False
        return True

    wait_until(there, f"nothing listens on {port}")


@contextmanager
def running(
    command: Sequence[str | Path], port: int, log: Path, host: str = "127.0.0.1", **environment: str
) -> Iterator[subprocess.Popen[bytes]]:
    """A server while the block runs; its output goes to `log`; it is ended by its pid, with what it has started."""
    with log.open("ab") as out:
        work = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
            env={**os.environ, **environment},
        )
    try:
        try:
            wait_for(port, work, host)
        except ChildProcessError as error:
            raise ChildProcessError(f"{error}: {log.read_text('utf-8', 'replace')[-2000:]}") from None
        yield work
    finally:
        for signal in (15, 9):
            try:
                os.killpg(work.pid, signal)
            except ProcessLookupError:
                break
            try:
                work.wait(30)
                break
            except subprocess.TimeoutExpired:
                continue
