"""Real servers for the tests of access: each on a free loopback port, ended by its pid.

Tests wait for a state, not for a time; `NET` only limits the wait.
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
"""Seconds: far more than anything takes on a busy machine."""

T = TypeVar("T")
ROOT = os.geteuid() == 0
DROP = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if ROOT else []
"""Prefix of a command that runs it as nobody."""


def need(*programs: str) -> None:
    """Skip the test if a program is not installed; expected_failures.toml has the reason."""
    path = os.pathsep.join([os.environ.get("PATH", ""), *skips.FOLDERS])
    for program in programs:
        if shutil.which(program, path=path) is None:
            pytest.skip(f"{program} is not installed")


_UDP_PORTS: list[socket.socket] = []
"""UDP sockets that reserve the ports of this process as long as it runs."""


def _unassigned_ports() -> range:
    """Ports that the system does not assign by itself."""
    path = Path("/proc/sys/net/ipv4/ip_local_port_range")
    first = int(path.read_text().split()[0]) if path.exists() else 49_152
    return range(10_240, min(first, 30_000) if first > 12_000 else 30_000)  # vsftpd's passive ports are higher


def free_port() -> int:
    """A loopback port that is not in use and not given to another process of the tests."""
    for port in random.SystemRandom().sample(_unassigned_ports(), 200):
        lock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            lock.bind(("127.0.0.1", port))
            with socket.socket() as tried:
                tried.bind(("127.0.0.1", port))
        except OSError:
            lock.close()
        else:
            _UDP_PORTS.append(lock)
            return port
    raise OSError("of 200 ports none is free")


def wait_until(get: Callable[[], T | None], description: str, seconds: float = NET) -> T:
    """Wait until a function returns a result; return it. Raises: TimeoutError."""
    until = time.monotonic() + seconds
    while not (value := get()):
        if time.monotonic() > until:
            raise TimeoutError(description)
        time.sleep(0.02)
    return value


def is_idle(pid: int) -> bool:
    """Whether a process is idle: all its threads sleep, at three checks."""
    for _ in range(3):
        time.sleep(0.05)
        try:
            tasks = [task.read_text() for task in Path(f"/proc/{pid}/task").glob("*/stat")]
        except OSError:  # the thread has just ended
            return False
        if not all(task.rpartition(") ")[2].startswith("S") for task in tasks):
            return False
    return True


def give_to_nobody(folder: Path) -> None:
    """Give a folder to the user nobody if we are root, and let it pass the folders above."""
    if not ROOT:
        return
    subprocess.run(["chown", "-R", "nobody:nogroup", str(folder)], check=True)
    for above in folder.parents:
        if above.stat().st_uid == 0 and above != Path("/") and not above.stat().st_mode & 0o001:
            above.chmod(above.stat().st_mode | 0o011)


def wait_for(port: int, work: subprocess.Popen[bytes] | None = None, host: str = "127.0.0.1") -> None:
    """Wait until the port accepts connections. Raises: TimeoutError, ChildProcessError if the server has ended."""

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
    """Run a server during the block, with its output in `log`; end it and its children by pid."""
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
