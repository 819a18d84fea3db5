"""Servers of sessions: inetutils-telnetd, in.rlogind, hercules; and a terminal for their clients."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from servers import DROP, NET, ROOT, free_port, give, need, running

__all__ = ["LOGIN", "Terminal", "hercules", "rlogind", "telnetd"]

LOGIN = """\
#!/bin/sh
echo "arguments=[$*] USER=[$USER]"
printf 'login: '; read user
printf 'Password: '; read password
echo "user=[$user] password=[$password]"
printf 'line: '; read line
echo "line=[$line]"
printf 'bye: '; read bye
"""
"""In place of login: it prints what it is given, and echoes a line."""


@contextmanager
def telnetd(log: Path) -> Iterator[int]:
    """A port on which telnetd asks for a name, a password and a line."""
    need("socat", "telnetd")
    # Not in a folder of pytest: another run closes those above it to nobody, who is to read this at each connection.
    with tempfile.TemporaryDirectory(prefix="overthere-") as name:
        login = Path(name, "login.sh")
        login.write_text(LOGIN)
        login.chmod(0o755)
        login.parent.chmod(0o755)
        port = free_port()
        listen = f"TCP-LISTEN:{port},bind=127.0.0.1,reuseaddr,fork"
        with running([*DROP, "socat", listen, f"EXEC:/usr/sbin/telnetd -h -E {login},nofork"], port, log):
            yield port


@contextmanager
def rlogind(folder: Path, user: str, password: str) -> Iterator[int]:
    """A port on which in.rlogind logs a user in that is made for this, and removed."""
    if not ROOT:
        pytest.skip("rlogind needs root")
    need("socat", "in.rlogind", "rlogin", "useradd", "userdel")
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    subprocess.run(["useradd", "-M", "-d", "/tmp", "-s", "/bin/sh", user], check=True, capture_output=True, timeout=NET)
    try:
        told = f"{user}:{password}".encode()
        subprocess.run(["chpasswd"], input=told, check=True, capture_output=True, timeout=NET)
        listen = f"TCP-LISTEN:{port},bind=127.0.0.1,reuseaddr,fork"
        with running(["socat", listen, "EXEC:/usr/sbin/in.rlogind,nofork"], port, folder / "log"):
            yield port
    finally:
        subprocess.run(["userdel", "-f", user], check=True, capture_output=True, timeout=NET)


@contextmanager
def hercules(folder: Path) -> Iterator[int]:
    """A port on which the console of a mainframe without a system shows its picture."""
    need("hercules")
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    machine = "CPUSERIAL 000611\nCPUMODEL 3090\nMAINSIZE 16\nNUMCPU 1\nLOADPARM ........\nARCHMODE S/370\n"
    machine += f"CNSLPORT 127.0.0.1:{port}\nPANRATE SLOW\n0010.8 3270\n"
    (folder / "hercules.cnf").write_text(machine)
    give(folder)
    with running([*DROP, "hercules", "-d", "-f", folder / "hercules.cnf"], port, folder.parent / "hercules.log"):
        yield port


class Terminal:
    """A program on a terminal of its own; what it shows is kept."""

    def __init__(self, command: Sequence[str], **environment: str) -> None:
        self.held, theirs = pty.openpty()
        self.shown = ""
        # A session of its own, of which this is the terminal: a client reads from /dev/tty too.
        begin = (
            "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execvp(sys.argv[1], sys.argv[1:])"
        )
        try:
            self.work = subprocess.Popen(
                [sys.executable, "-c", begin, *command],
                stdin=theirs,
                stdout=theirs,
                stderr=theirs,
                start_new_session=True,
                env={**os.environ, "TERM": "vt100", **environment},
            )
        finally:
            os.close(theirs)

    def type(self, text: str) -> None:
        """What the person types, and Return."""
        os.write(self.held, text.encode() + b"\r")

    def wait_for(self, text: str, seconds: float = NET) -> str:
        """What is shown up to a text.  Raises: TimeoutError."""
        until = time.monotonic() + seconds
        while text not in self.shown:
            left = until - time.monotonic()
            ready = left > 0 and select.select([self.held], [], [], left)[0]
            try:
                octets = os.read(self.held, 65_536) if ready else b""
            except OSError:  # nobody has the terminal open any more
                octets = b""
            if not octets:
                raise TimeoutError(f"{text!r} was not shown, but {self.shown!r}")
            self.shown += octets.decode("utf-8", "replace")
        return self.shown

    def end(self, seconds: float = NET) -> int:
        """What the program exits with."""
        try:
            until = time.monotonic() + seconds
            while self.work.poll() is None and time.monotonic() < until:
                if select.select([self.held], [], [], 0.05)[0]:
                    try:
                        self.shown += os.read(self.held, 65_536).decode("utf-8", "replace")
                    except OSError:
                        break
            return self.work.wait(max(0.1, until - time.monotonic()))
        finally:
            self.close()

    def close(self) -> None:
        """End the program by its pid, with what it has started, and give the terminal up."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.work.pid, 9)
        self.work.wait(NET)
        if self.held >= 0:
            os.close(self.held)
            self.held = -1

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
