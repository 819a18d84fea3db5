"""Real servers for the tests of access: each started on a free loopback port, stopped by its pid."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

__all__ = ["DROP", "free_port", "give", "need", "running", "wait_for"]

ROOT = os.geteuid() == 0
DROP = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if ROOT else []
"""Before a command: run it as nobody."""


def need(*programs: str) -> None:
    """Skip the test if a program is not installed; the reason stands in expected_failures.toml."""
    for program in programs:
        if shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/lib/news/bin") is None:
            pytest.skip(f"{Path(program).name} is not installed")


def free_port() -> int:
    """A loopback port that nobody listens on."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
        return port


def give(folder: Path) -> None:
    """Let nobody have a folder, if we are root; the folders above let him pass."""
    if not ROOT:
        return
    subprocess.run(["chown", "-R", "nobody:nogroup", str(folder)], check=True)
    for above in folder.parents:
        if above.stat().st_uid == 0 and above != Path("/") and not above.stat().st_mode & 0o001:
            above.chmod(above.stat().st_mode | 0o011)


def wait_for(port: int, seconds: float = 15.0) -> None:
    """Wait until somebody listens.  Raises: TimeoutError."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), 0.2).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise TimeoutError(f"nothing listens on {port}")


@contextmanager
def running(
    command: Sequence[str | Path], port: int | None, log: Path, **environment: str
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
        if port is not None:
            wait_for(port)
        yield work
    finally:
        for signal in (15, 9):
            try:
                os.killpg(work.pid, signal)
            except ProcessLookupError:
                break
            try:
                work.wait(5)
                break
            except subprocess.TimeoutExpired:
                continue
