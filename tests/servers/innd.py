"""INN in a private folder: innd, which passes readers to nnrpd (RFC 3977, RFC 4643)."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from servers import NET, ROOT, free_port, need, running

BIN = Path("/usr/lib/news/bin")
GROUPS = ("local.test", "local.empty", "local.plus+plus", "members.only")
_FOLDERS = """etc db run log tmp filter http spool/articles spool/incoming/bad spool/incoming/tmp spool/overview
spool/outgoing spool/archive"""
_EMPTY = """moderators distrib.pats distributions subscriptions innfeed.conf control.ctl control.ctl.local localgroups
nnrpd.track passwd.nntp"""


class NewsServer(NamedTuple):
    """A running server."""

    port: int
    folder: Path

    @property
    def authority(self) -> str:
        return f"127.0.0.1:{self.port}"


@contextmanager
def news_server(articles: Mapping[str, bytes], *, switching: bool = False) -> Iterator[NewsServer]:
    """A news server with the groups of `GROUPS`; "members.only" needs the login joe, s3cr@t.

    articles: by message-id, head and body before dot-stuffing, without the last line end. switching: whether MODE
    READER is needed because clients are first treated as peers (RFC 3977 3.4.2).
    """
    need("innd", "openssl", "setpriv" if ROOT else "unshare")
    # Not in tmp_path: every new pytest session closes the root of that to all but root.
    with TemporaryDirectory(prefix="inn-") as folder:
        Path(folder).chmod(0o755)
        with _running(Path(folder) / "inn", articles, switching) as server:
            yield server


@contextmanager
def _running(inn: Path, articles: Mapping[str, bytes], switching: bool) -> Iterator[NewsServer]:
    port = free_port()
    _write(inn, port, switching)
    env = {"INNCONF": f"{inn}/etc/inn.conf"}
    if ROOT:
        subprocess.run(["chown", "-R", "news:news", str(inn)], check=True)
        before = ["setpriv", "--reuid=news", "--regid=news", "--clear-groups"]
    else:  # innd requires its own user
        before = ["unshare", "--user", "--map-user=9", "--map-group=9"]
    script = f"{BIN}/makedbz -i -o -f {inn}/db/history; cd {inn}/db; for e in dir hash index; do "
    script += "[ -f history.n.$e ] && mv history.n.$e history.$e; done; :"
    with (inn / "out").open("ab") as out:
        subprocess.run([*before, "sh", "-c", script], env={**os.environ, **env}, check=True, stdout=out, stderr=out)
    with running([*before, BIN / "innd", "-d"], port, inn / "out", **env) as server:
        try:
            for message_id, article in articles.items():
                _post(port, message_id, article)
            yield NewsServer(port, inn)
        finally:
            server.terminate()  # it reacts at its next event
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port), 1).close()


def _write(inn: Path, port: int, switching: bool) -> None:
    for name in _FOLDERS.split():
        (inn / name).mkdir(parents=True)
    etc, db = inn / "etc", inn / "db"
    paths = {"news": "/usr/lib/news", "bin": BIN, "etc": etc, "db": db}
    paths |= {name: inn / name for name in ("run", "log", "spool", "tmp", "filter", "http")}
    paths |= {name: inn / f"spool/{name}" for name in ("articles", "incoming", "outgoing", "archive", "overview")}
    settings = {
        "organization": '"Example"',
        "pathhost": "news.example.test",
        "domain": "example.test",
        "fromhost": "example.test",
        "runasuser": "news",
        "runasgroup": "news",
        "port": port,
        "bindaddress": "127.0.0.1",
        "ovmethod": "tradindexed",
        "hismethod": "hisv6",
        "enableoverview": "true",
        "pgpverify": "false",
        "doinnwatch": "false",
        "mta": '"/bin/true %s"',
        "nnrpdloadlimit": 0,  # readers are served under any load
    }
    lines = [f"{name}: {value}\n" for name, value in settings.items()]
    lines += [f"path{name}: {value}\n" for name, value in paths.items()]
    (etc / "inn.conf").write_text("".join(lines))
    (etc / "storage.conf").write_text("method tradspool {\n newsgroups: *\n class: 0\n}\n")
    result = subprocess.run(["openssl", "passwd", "-5", "s3cr@t"], check=True, capture_output=True, text=True)
    (etc / "users").write_text(f"joe:{result.stdout.strip()}\n")
    (etc / "readers.conf").write_text(
        f"""auth "here" {{
 hosts: "127.0.0.1"
 default: "<here>"
 auth: "ckpasswd -f {etc}/users"
}}
access "here" {{
 users: "<here>"
 newsgroups: "*,!members.*"
 access: "RPA"
}}
access "members" {{
 users: "joe"
 newsgroups: "*"
 access: "RPA"
}}
"""
    )
    (etc / "newsfeeds").write_text("ME:*::\n")
    (etc / "expire.ctl").write_text("/remember/:10\n*:A:1:never:never\n")
    (etc / "incoming.conf").write_text('peer here {\n hostname: "127.0.0.1"\n}\n' if switching else "")
    for name in _EMPTY.split():
        (etc / name).touch()
    groups = (("control", "n"), ("control.cancel", "n"), ("junk", "n"), *((name, "y") for name in GROUPS))
    (db / "active").write_text("".join(f"{name} 0000000000 0000000001 {flag}\n" for name, flag in groups))
    (db / "newsgroups").write_text("local.test\tA local test group\n")
    (db / "active.times").touch()
    (db / "history").touch()


def _post(port: int, message_id: str, article: bytes) -> None:
    """RFC 3977 6.3.1, independent of the package; the article is available when the server confirms."""
    with socket.create_connection(("127.0.0.1", port), NET) as connection, connection.makefile("rwb") as talk:

        def ask(line: bytes, code: bytes) -> None:
            talk.write(line + b"\r\n")
            talk.flush()
            answer = talk.readline()
            assert answer.startswith(code), answer

        assert talk.readline().startswith(b"200")
        ask(b"MODE READER", b"200")
        if b"members.only" in article.split(b"\r\n\r\n")[0]:
            ask(b"AUTHINFO USER joe", b"381")
            ask(b"AUTHINFO PASS s3cr@t", b"281")
        ask(b"POST", b"340")
        message = b"Message-ID: <" + message_id.encode() + b">\r\n" + article
        ask((b"\r\n" + message).replace(b"\r\n.", b"\r\n..")[2:] + b"\r\n.", b"240")
        ask(b"QUIT", b"205")
