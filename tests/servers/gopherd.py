"""gophernicus behind socat, pygopherd, and what the servers of Minnesota once answered."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from servers import DROP, free_port, give, need, running
from servers.replay import TRANSCRIPTS, Served, serve

__all__ = ["Gopherd", "UMN", "gophernicus", "pygopherd", "recorded", "replayed", "tree"]

UMN = ("umn-2.3.0", "umn-3.0.5")


class Gopherd(NamedTuple):
    """A server that runs."""

    name: str
    port: int
    log: Path

    def uri(self, rest: str) -> str:
        return f"gopher://localhost:{self.port}/{rest}"


FILES = {
    "doc.txt": b"a doc\n",
    "doc.txt.abstract": b"An abstract about doc\n",
    "doc.txt.ask": b"Note: Please fill in\nAsk: Name\tAnon\nChoose: Colour\tred\tblue\n",
    "troff.txt": b".de x\n..\n.\n..b\nend\n",
    "up.txt": b"see\n../README\nand more\n",
    "ended.txt": b"x\n.\n",
    "open.txt": b"no end",
    "p.gif": b"GIF89a..\n.\n",
    "x.bin": bytes(range(256)) * 40 + b"\r\n.\r\n",
    "h.html": b"<p>hi</p>\n",
    "a b?%.txt": b"a name\n",
    "menu/gophermap": (
        b"Welcome \xc3\xa9\n0A doc\t/doc.txt\n8Log in\tguest\tlocalhost\t2323\nhLink\tURL:http://h.example/\n"
        b"1Else\t/x\telse.example\t7071\n"
    ),
    "empty/.hidden": b"",
}
SEARCH = b'#!/bin/sh\nprintf "iquery=[%s]\\tx\\tx\\t0\\r\\n" "$SEARCHREQUEST"\n'


def tree(folder: Path) -> Path:
    """The files that the servers serve."""
    root = folder / "root"
    for name, content in FILES.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    script = root / "cgi-bin/search.cgi"
    script.parent.mkdir()
    script.write_bytes(SEARCH)
    script.chmod(0o755)
    return root


@contextmanager
def gophernicus(folder: Path) -> Iterator[Gopherd]:
    """gophernicus, a process for each connection; socat writes what it was asked to the log."""
    need("gophernicus", "socat")
    folder.mkdir()
    root, port, log = tree(folder), free_port(), folder / "log"
    give(folder)
    # -nm: what it counts in shared memory outlives it, and after 4,096 requests each one waits a second.
    server = f"EXEC:/usr/sbin/gophernicus -nm -nf -nh -nv -h localhost -p {port} -r {root}"
    command = [*DROP, "socat", "-v", f"TCP-LISTEN:{port},bind=127.0.0.1,reuseaddr,fork", server]
    with running(command, port, log):
        yield Gopherd("gophernicus", port, log)


@contextmanager
def pygopherd(folder: Path) -> Iterator[Gopherd]:
    """pygopherd by Debian's configuration, with a port and a folder of its own."""
    need("pygopherd")
    folder.mkdir()
    root, port, log = tree(folder), free_port(), folder / "log"
    text = Path("/etc/pygopherd/pygopherd.conf").read_text()
    for pattern, value in (
        ("port = 70", f"port = {port}"),
        ("# interface = .*", "interface = 127.0.0.1"),
        ("# servername = .*", "servername = localhost"),
        ("root = .*", f"root = {root}"),
        ("usechroot.*", "usechroot = no"),
        ("detach.*", "detach = no"),
        ("pidfile.*", f"pidfile = {folder}/pidfile"),
        ("logmethod.*", "logmethod = file"),
        ("(setuid|setgid)", r"#\1"),
    ):
        text = re.sub(f"(?m)^{pattern}", value, text)
    (folder / "conf").write_text(text)
    give(folder)
    with running([*DROP, "/usr/sbin/pygopherd", folder / "conf"], port, log):
        yield Gopherd("pygopherd", port, log)


def recorded(name: str) -> dict[bytes, bytes]:
    """What a server answered, by what it was asked."""
    rows = map(json.loads, (TRANSCRIPTS / f"gopher/{name}.jsonl").read_text().splitlines())
    return {row["send"].encode("latin-1"): row["recv"].encode("latin-1") for row in rows}


@contextmanager
def replayed(answers: Mapping[bytes, bytes], *, stays: bool = False) -> Iterator[Served]:
    """A server that gives each answer to its request, octet by octet; what it was not asked before is a problem.

    stays: whether it leaves the connection open behind the answer.
    """

    def handler(held: socket.socket, served: Served) -> None:
        buffer = b""
        while buffer not in answers:
            # What is the beginning of nothing that was asked gets no answer.
            data = held.recv(1 << 16) if any(one.startswith(buffer) for one in answers) else b""
            if not data:
                served.problems.append(f"nobody was asked {buffer!r}")
                return
            buffer += data
        served.requests.append(buffer)
        held.sendall(answers[buffer])
        if stays:
            held.recv(1)

    with serve(handler) as served:
        yield served
