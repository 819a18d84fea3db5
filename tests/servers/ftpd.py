"""FTP servers: pyftpdlib, vsftpd, and a scripted one."""

from __future__ import annotations

import re
import select
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread

import pytest

from servers import DROP, NET, free_port, give_to_nobody, need, running


@dataclass
class Server:
    """A running server and its log."""

    port: int
    log: Path
    line: str
    """The format of a session and a command in the log."""
    host: str = "127.0.0.1"

    def url(self, path: str, login: str = "") -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"ftp://{login}{host}:{self.port}/{path}"

    def text(self) -> str:
        return self.log.read_bytes().decode("utf-8", "replace")

    def commands(self, since: int = 0) -> list[str]:
        """The commands of the last session without passwords; waits for its QUIT."""
        end = time.monotonic() + NET
        while True:
            sessions: dict[str, list[str]] = {}
            for session, command in re.findall(self.line, self.text()[since:], re.MULTILINE):
                if command.startswith("USER"):
                    sessions.pop(session, None)
                    sessions[session] = [command]
                elif session in sessions:
                    sessions[session].append(command)
            *_, found = sessions.values() or [[]]
            if "QUIT" in found or time.monotonic() > end:
                return found
            time.sleep(0.01)


@contextmanager
def _pyftpdlib(folder: Path, root: Path, *options: str, host: str = "127.0.0.1") -> Iterator[Server]:
    pytest.importorskip("pyftpdlib", reason="pyftpdlib is not installed")
    port, log = free_port(), folder / "pyftpdlib.log"
    program = "from pyftpdlib import __main__, handlers as h; h.FTPHandler.auth_failed_timeout = 0.1; __main__.main()"
    command = [sys.executable, "-W", "ignore", "-c", program, "-D", "-i", host, "-p", str(port), "-d", str(root)]
    with running([*command, *options], port, log, host):
        yield Server(port, log, r"(\S+)-\[[^\]]*\] <- (.*?)\r?$", host)


@contextmanager
def anonymous(folder: Path, root: Path, host: str = "127.0.0.1") -> Iterator[Server]:
    """pyftpdlib with a virtual root, for anonymous."""
    with _pyftpdlib(folder, root, host=host) as server:
        yield server


@contextmanager
def with_login(folder: Path, root: Path, user: str, password: str) -> Iterator[Server]:
    """pyftpdlib for one user."""
    with _pyftpdlib(folder, root, "-u", user, "-P", password) as server:
        yield server


@contextmanager
def unprivileged(folder: Path, root: Path) -> Iterator[Server]:
    """vsftpd, anonymous, not chrooted."""
    need("vsftpd")
    port, log, conf = free_port(), folder / "vsftpd.log", folder / "vsftpd.conf"
    settings = f"""listen=YES
listen_ipv6=NO
listen_address=127.0.0.1
listen_port={port}
background=NO
run_as_launching_user=YES
anonymous_enable=YES
local_enable=NO
anon_root={root}
ftp_username=nobody
write_enable=NO
ascii_download_enable=YES
pasv_enable=YES
pasv_address=127.0.0.1
pasv_min_port=30000
pasv_max_port=30999
xferlog_enable=YES
log_ftp_protocol=YES
vsftpd_log_file={log}
seccomp_sandbox=NO
connect_from_port_20=NO
"""
    conf.write_text(settings)
    log.touch()
    give_to_nobody(folder)
    with running([*DROP, "/usr/sbin/vsftpd", conf], port, folder / "vsftpd.out"):
        yield Server(port, log, r'\[pid (\d+)\].* FTP command: Client "[^"]*", "(.*)"$')


Answer = bytes | tuple[bytes, ...] | Callable[[], Iterable[bytes]]


@dataclass
class Scripted:
    """A server with scripted answers, for what the programs here do not do."""

    port: int
    data_port: int
    commands: list[bytes] = field(default_factory=list)
    data_peers: int = 0
    """The number of data connections."""
    most: int | None = None
    """The number of reply bytes after which it closes everything."""
    abrupt: bool = False
    """Whether it closes with a reset."""

    def url(self, path: str, login: str = "") -> str:
        return f"ftp://{login}127.0.0.1:{self.port}/{path}"


PLAIN: dict[str, Answer] = {
    "": b"220 ready\r\n",
    "USER": b"331 password\r\n",
    "PASS": b"230 in\r\n",
    "CWD": b"250 there\r\n",
    "TYPE": b"200 so be it\r\n",
    "EPSV": b"229 data (|||{port}|)\r\n",
    "RETR": (b"150 here it comes\r\n", b"226 done\r\n"),
    "NLST": (b"150 here it comes\r\n", b"226 done\r\n"),
    "QUIT": b"221 bye\r\n",
}


@contextmanager
def scripted(  # noqa: C901 - a server by its script: a branch a command
    answers: dict[str, Answer] | None = None, content: bytes = b"content", *, first: bool = False
) -> Iterator[Scripted]:
    """Handle connections one at a time.

    answers: by command ("" is the greeting), in addition to `PLAIN`; of two, the second follows the content. first: the
    content is sent before the first of the two.
    """
    replies = {**PLAIN, **(answers or {})}
    listening, passive = (socket.create_server(("127.0.0.1", 0)) for _ in "ab")
    port = passive.getsockname()[1]
    server, over = Scripted(listening.getsockname()[1], port), Event()
    numbers = {b"{port}": port, b"{p1}": port >> 8, b"{p2}": port & 255}

    def say(client: socket.socket, answer: Answer, budget: list[int]) -> None:
        assert not isinstance(answer, tuple)
        for piece in [answer] if isinstance(answer, bytes) else answer():
            for name, number in numbers.items():
                piece = piece.replace(name, b"%d" % number)
            client.sendall(piece[: budget[0]])
            budget[0] -= len(piece)
            if budget[0] <= 0 or over.is_set():
                raise OSError

    def send_content(client: socket.socket) -> None:
        # Who hangs up, or sends something else, does not return.
        if passive not in select.select([passive, client], [], [], NET)[0]:
            raise OSError
        peer, _ = passive.accept()
        server.data_peers += 1
        with peer:
            peer.sendall(content)
            if not first:  # the client, too, may hang up before it reads on
                peer.shutdown(socket.SHUT_WR)
                peer.settimeout(NET)
                peer.recv(1)

    def talk(client: socket.socket) -> None:
        budget = [1 << 60 if server.most is None else server.most]
        if not budget[0]:
            return
        say(client, replies[""], budget)
        with client.makefile("rb") as lines:
            for line in lines:
                server.commands.append(line)
                answer = replies.get(line.split()[0].decode("latin-1").upper(), b"502 no\r\n")
                if isinstance(answer, bytes) or callable(answer):
                    say(client, answer, budget)
                    continue
                if first:
                    send_content(client)
                say(client, answer[0], budget)
                if not first:
                    send_content(client)
                say(client, answer[1], budget)

    def serve() -> None:
        while not over.is_set():
            client, _ = listening.accept()
            client.settimeout(NET)
            with client, suppress(OSError):
                if server.abrupt:
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                talk(client)
            passive.settimeout(0)
            with suppress(OSError):
                while True:
                    passive.accept()[0].close()
            passive.settimeout(NET)

    passive.settimeout(NET)
    work = Thread(target=serve, daemon=True)
    work.start()
    try:
        yield server
    finally:
        over.set()
        socket.create_connection(("127.0.0.1", server.port)).close()
        work.join(5)
        listening.close()
        passive.close()
