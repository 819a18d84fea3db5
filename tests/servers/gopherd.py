"""gophernicus behind socat, pygopherd, and recorded answers of the servers of Minnesota."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from servers import DROP, free_port, give_to_nobody, need, running
from servers.replay import TRANSCRIPTS, Served, serve

UMN = ("umn-2.3.0", "umn-3.0.5")


class Gopherd(NamedTuple):
    """A running server."""

    name: str
    port: int
    log: Path

    def uri(self, path: str) -> str:
        return f"gopher://localhost:{self.port}/{path}"


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
    """gophernicus, one process per connection; socat logs the requests."""
    need("gophernicus", "socat")
    folder.mkdir()
    root, port, log = tree(folder), free_port(), folder / "log"
    give_to_nobody(folder)
    # -nm: its counter in shared memory would persist, and after 4,096 requests delay each one by a second.
    server = f"EXEC:/usr/sbin/gophernicus -nm -nf -nh -nv -h localhost -p {port} -r {root}"
    command = [*DROP, "socat", "-v", f"TCP-LISTEN:{port},bind=127.0.0.1,reuseaddr,fork", server]
    with running(command, port, log):
        yield Gopherd("gophernicus", port, log)


@contextmanager
def pygopherd(folder: Path) -> Iterator[Gopherd]:
    """pygopherd with Debian's configuration, but its own port and folder."""
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
    give_to_nobody(folder)
    with running([*DROP, "/usr/sbin/pygopherd", folder / "conf"], port, log):
        yield Gopherd("pygopherd", port, log)


def recorded_answers(name: str) -> dict[bytes, bytes]:
    """A server's recorded answers, by request."""
    rows = map(json.loads, (TRANSCRIPTS / f"gopher/{name}.jsonl").read_text().splitlines())
    return {row["send"].encode("latin-1"): row["recv"].encode("latin-1") for row in rows}


@contextmanager
def replayed(answers: Mapping[bytes, bytes], *, stays_open: bool = False) -> Iterator[Served]:
    """A server that gives the recorded answer to each request, byte by byte; an unknown request is a problem.

    stays_open: whether the connection stays open after the answer.
    """

    def handler(client: socket.socket, served: Served) -> None:
        buffer = b""
        while buffer not in answers:
            # Data that begins no recorded request gets no answer.
            data = client.recv(1 << 16) if any(line.startswith(buffer) for line in answers) else b""
            if not data:
                served.problems.append(f"nobody was asked {buffer!r}")
                return
            buffer += data
        served.requests.append(buffer)
        client.sendall(answers[buffer])
        if stays_open:
            client.recv(1)

    with serve(handler) as served:
        yield served
