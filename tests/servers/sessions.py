"""Servers of interactive sessions: inetutils-telnetd, in.rlogind, hercules; and a terminal for their clients."""

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

from servers import DROP, NET, ROOT, free_port, give_to_nobody, need, running

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
"""Replaces login: it prints its arguments, and echoes a line."""


@contextmanager
def telnetd(log: Path) -> Iterator[int]:
    """The port of a telnetd that asks for a name, a password and a line."""
    need("socat", "telnetd")
    # Not in a pytest folder: another session would close the folders above it to nobody, who reads this file.
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
    """The port of an in.rlogind that logs in a temporary user."""
    if not ROOT:
        pytest.skip("rlogind needs root")
    need("socat", "in.rlogind", "rlogin", "useradd", "userdel")
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    subprocess.run(["useradd", "-M", "-d", "/tmp", "-s", "/bin/sh", user], check=True, capture_output=True, timeout=NET)
    try:
        login = f"{user}:{password}".encode()
        subprocess.run(["chpasswd"], input=login, check=True, capture_output=True, timeout=NET)
        listen = f"TCP-LISTEN:{port},bind=127.0.0.1,reuseaddr,fork"
        with running(["socat", listen, "EXEC:/usr/sbin/in.rlogind,nofork"], port, folder / "log"):
            yield port
    finally:
        subprocess.run(["userdel", "-f", user], check=True, capture_output=True, timeout=NET)


@contextmanager
def hercules(folder: Path) -> Iterator[int]:
    """The port of a mainframe console without a system, which shows its start screen."""
    need("hercules")
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    machine = "CPUSERIAL 000611\nCPUMODEL 3090\nMAINSIZE 16\nNUMCPU 1\nLOADPARM ........\nARCHMODE S/370\n"
    machine += f"CNSLPORT 127.0.0.1:{port}\nPANRATE SLOW\n0010.8 3270\n"
    (folder / "hercules.cnf").write_text(machine)
    give_to_nobody(folder)
    with running([*DROP, "hercules", "-d", "-f", folder / "hercules.cnf"], port, folder.parent / "hercules.log"):
        yield port


class Terminal:
    """A program on a pseudo-terminal, with its output."""

    def __init__(self, command: Sequence[str], **environment: str) -> None:
        self.descriptor, theirs = pty.openpty()
        self.output = ""
        # Its own session with this terminal: clients also read from /dev/tty.
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
        """Type the text and Return."""
        os.write(self.descriptor, text.encode() + b"\r")

    def wait_for(self, text: str, seconds: float = NET) -> str:
        """Return the output up to a text. Raises: TimeoutError."""
        until = time.monotonic() + seconds
        while text not in self.output:
            remaining = until - time.monotonic()
            ready = remaining > 0 and select.select([self.descriptor], [], [], remaining)[0]
            try:
                octets = os.read(self.descriptor, 65_536) if ready else b""
            except OSError:  # the terminal is closed
                octets = b""
            if not octets:
                raise TimeoutError(f"{text!r} was not shown, but {self.output!r}")
            self.output += octets.decode("utf-8", "replace")
        return self.output

    def end(self, seconds: float = NET) -> int:
        """Return the exit status of the program."""
        try:
            until = time.monotonic() + seconds
            while self.work.poll() is None and time.monotonic() < until:
                if select.select([self.descriptor], [], [], 0.05)[0]:
                    try:
                        self.output += os.read(self.descriptor, 65_536).decode("utf-8", "replace")
                    except OSError:
                        break
            return self.work.wait(max(0.1, until - time.monotonic()))
        finally:
            self.close()

    def close(self) -> None:
        """End the program and its children by pid, and close the terminal."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.work.pid, 9)
        self.work.wait(NET)
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
