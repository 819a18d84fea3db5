"""What servers have answered, for the target `dialogues`: the recordings of the tests, and answers written by hand.

As an input: an octet for the conversation, one for the size of the pieces (0: as they were recorded), and the answers
with `NEXT` between them; what comes over a data connection stands behind `DATA`.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import quote

from overthere import Credentials, Policy
from seeds import CASES

__all__ = ["ACCEPT", "DATA", "ECHO", "ID", "NEXT", "NUMBER", "PASSWORD", "Conversation", "conversations", "packed"]

NEXT, DATA = b"<next>", b"<data>"
ID, ACCEPT = b"<id>", b"<accept>"
"""Where an answer has what is the request's own: the connection of ARDP, the key of WebSocket."""
NUMBER, ECHO = b"<digits>", b"<password>"
"""Where an answer has a number of 5,000 digits, and the password that it was sent."""
PASSWORD = "s3cr3t-pw"

_TRANSCRIPTS = CASES.parent / "transcripts"


@dataclass(frozen=True)
class Conversation:
    """A URI that is opened, and what its server says."""

    uri: str
    answers: tuple[bytes, ...]
    data: bytes = b""
    login: bool = False
    policy: Policy = field(default_factory=Policy)

    @property
    def credentials(self) -> Credentials | None:
        return Credentials("joe", PASSWORD, "joe@h.example") if self.login else None


def packed(number: int, one: Conversation, piece: int = 0) -> bytes:
    """A conversation as an input."""
    return bytes((number, piece)) + NEXT.join(one.answers) + (DATA + one.data if one.data else b"")


@cache
def conversations() -> tuple[Conversation, ...]:
    """All of them; new ones go to the end, for inputs name them by their numbers."""
    return (*_http(), *_ftp(), *_gopher(), *_news(), *_ldap(), *_wais(), *_prospero())


def _rows(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (_TRANSCRIPTS / path).read_text().splitlines()]


_OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n"
_UPGRADE = (
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: <accept>"
    b"\r\n\r\n"
)


def _http() -> Iterator[Conversation]:
    uri = "http://h.example/a"
    counted = _OK + b"Content-Length: 5\r\nContent-Location: /b\r\n\r\nhello"
    yield Conversation(uri, (counted,), login=True)
    yield Conversation(uri, (_OK + b"\r\nto the end",), login=True)
    chunked = _OK + b"Transfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nA: b\r\n\r\n"
    yield Conversation(uri, (b"HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n", chunked))
    yield Conversation(uri, (b"HTTP/1.1 301 Moved\r\nLocation: /c?d\r\nContent-Length: 0\r\n\r\n", counted), login=True)
    yield Conversation(
        uri, (b"HTTP/1.1 302 Found\r\nLocation: ftp://g.example/x\r\n\r\n", *_answers_of_ftp("250", 1)), b"x"
    )
    yield Conversation(
        uri, (b"HTTP/1.1 302 Found\r\nLocation: gopher://g.example/1\r\n\r\n", b"0a\tb\tg.example\t70\r\n.\r\n")
    )
    yield Conversation(uri, (b'HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm="<password>"\r\n\r\n',), login=True)
    yield Conversation(uri, (b"HTTP/1.0 404 Not Found\r\n\r\n",))
    proxy = Policy(proxy={"http": "http://p.example:3128", "https": "http://p.example:3128"})
    yield Conversation(uri, (counted,), policy=proxy, login=True)
    yield Conversation("https://h.example/a", (b"HTTP/1.1 200 Connected\r\n\r\n", counted), policy=proxy, login=True)
    yield Conversation("https://h.example/a", (b"HTTP/1.1 407 No\r\nContent-Length: 3\r\n\r\nno\n",), policy=proxy)
    frames = b"\x81\x05hello", b"\x01\x03abc\x89\x02hi\x80\x01d", b"\x82\x03xyz\x88\x02\x03\xe8"
    yield Conversation("ws://h.example/a", (_UPGRADE, *frames))


def _answers_of_ftp(without: str = "", size: int = 286) -> list[bytes]:
    """The replies, less those to a command that is not sent, for a file of so many octets."""
    text = (_TRANSCRIPTS / "ftp/vsftpd-3.0.3.txt").read_text().replace("{port}", "50000").replace("286", str(size))
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return [line.encode() + b"\r\n" for line in lines if not (without and line.startswith(without))]


def _ftp() -> Iterator[Conversation]:
    motd, lines, names = b"the message of the day\n", b"lines\r\nof it\r\n", b"motd\r\nREADME\r\nsub/x\r\n"
    answers = tuple(_answers_of_ftp(size=len(motd)))
    yield Conversation("ftp://h.example/pub/motd", answers, motd, login=True)
    answers = tuple(_answers_of_ftp(size=len(lines)))
    yield Conversation("ftp://joe:s3cr3t-pw@h.example/pub/motd;type=a", answers, lines)
    yield Conversation("ftp://h.example/pub/;type=d", tuple(_answers_of_ftp("200", len(names))), names)
    refused = b"220-Hello\r\n220 there\r\n", b"331 password for joe\r\n", b"530 <password> is wrong\r\n"
    yield Conversation("ftp://h.example/pub/motd", refused, login=True)


def _gopher() -> Iterator[Conversation]:
    for name in ("umn-2.3.0", "umn-3.0.5", "pygopherd-3.0.0"):
        for row in _rows(f"gopher/{name}.jsonl"):
            request, _, block = row["send"].partition("\r\n")
            selector, *fields = request.split("\t")
            if block or len(fields) > 1:
                continue
            kind = "1" if selector in ("", "1/views", "/views") else "0"
            string = f"%09%09{quote(fields[0])}" if fields else ""
            answer = row["recv"].encode("latin-1")
            yield Conversation(f"gopher://h.example/{kind}{quote(selector)}{string}", (answer,))


_NEWS = {
    "article": "nntp://joe:s3cr3t-pw@h.example/local.test/1", "overview": "news://h.example/local.test",
    "newsgroups": "news://h.example/*", "switching": "news://h.example/first@example.test",
    "numbers": "nntp://h.example/local.test/1-", "older": "nntp://h.example/local.test",
}  # fmt: skip


def _news() -> Iterator[Conversation]:
    for name, uri in _NEWS.items():
        yield Conversation(uri, ((_TRANSCRIPTS / "news" / name).read_bytes(),))


def _ldap() -> Iterator[Conversation]:
    for row in _rows("ldap/slapd-2.5.13.jsonl"):
        yield Conversation(f"ldap://h.example{row['path']}", (bytes.fromhex(row["answer"]),), login=True)


def _wais() -> Iterator[Conversation]:
    rows = _rows("wais/freewais-sf-2.2.jsonl")
    answers = [(row["conn"], b64decode(row["b64"])) for row in rows if row["dir"] == "server"]
    uris = "docs?sheep", "docs?nomatchword", "nosuchdb?sheep", "docs?gopher"
    for number, uri in enumerate(uris, 1):
        first, second, *more = (octets for connection, octets in answers if connection == number)
        yield Conversation(f"wais://h.example/{uri}", (first, second))
        if more and number in (1, 4):
            yield Conversation("wais://h.example/docs/TEXT/x", (first, more[0]))
    yield Conversation("wais://h.example/docs", (answers[0][1],))


def _prospero() -> Iterator[Conversation]:
    rows = _rows("prospero/dirsrv-5.3b.jsonl")
    answers = [tuple(one[:1] + ID + one[3:] for one in map(b64decode, row["recv"])) for row in rows]
    listed, one, missing, contents = answers[:4]
    yield Conversation("prospero://h.example//info-tree/hello.txt", (*missing, *contents))
    yield Conversation("prospero://h.example//info-tree/hello.txt", (*one, *contents))
    yield Conversation("prospero://h.example//info-tree", (*missing, *missing, *listed))
    yield Conversation("prospero://h.example//info-tree", listed)
