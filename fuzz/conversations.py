"""Server answers for the target `dialogues`: the recordings of the tests, and answers written by hand.

As an input: an octet for the conversation, one for the size of the pieces (0: as they were recorded; with its highest
bit they come through sockets, else through memory), and the answers with `NEXT` between them; the content of a data
connection follows `DATA`.
"""

from __future__ import annotations

import gzip
import json
import zlib
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import quote

import brotli

from overthere import Credentials, Policy
from seeds import CASES

NEXT, DATA = b"<next>", b"<data>"
ID, ACCEPT = b"<id>", b"<accept>"
"""Where an answer has what is the request's own: the connection of ARDP, the key of WebSocket."""
NUMBER, ECHO = b"<digits>", b"<password>"
"""Where an answer has a number of 5,000 digits, and the password that it was sent."""
PASSWORD = "s3cr3t-pw"
SOCKETS = 0x80
WITHOUT_SERVER = {
    "about": "nobody is asked", "data": "nobody is asked", "mailto": "a draft is given",
    "afs": "a file of this machine", "file": "a file of this machine", "mid": "files of this machine: the target mail",
    "cid": "files of this machine: the target mail", "telnet": "the session is described, and handed over",
    "rlogin": "the session is described, and handed over", "tn3270": "the session is described, and handed over",
}  # fmt: skip
"""Schemes whose dialogue asks no server, so that no conversation has them."""

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
    def secret(self) -> bool:
        """Whether the password is sent to the server."""
        return self.login or PASSWORD in self.uri

    @property
    def credentials(self) -> Credentials | None:
        return Credentials("joe", PASSWORD, "joe@h.example") if self.login else None


def pack(number: int, one: Conversation, piece: int = 0) -> bytes:
    """A conversation as an input."""
    return bytes((number, piece)) + NEXT.join(one.answers) + (DATA + one.data if one.data else b"")


@cache
def conversations() -> tuple[Conversation, ...]:
    """All of them; new ones go to the end, for inputs name them by their numbers."""
    return (*_http(), *_web_sockets(), *_ftp(), *_gopher(), *_news(), *_ldap(), *_wais(), *_prospero())


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
    for coding, packed_by in (("gzip", gzip.compress), ("deflate", zlib.compress)):
        head = b"HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\n\r\n" % coding.encode()
        yield Conversation(uri, (head, packed_by(b"hello " * 99)))
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip, br\r\n\r\n"
    yield Conversation(uri, (head, brotli.compress(gzip.compress(b"hello " * 99))))


def _web_sockets() -> Iterator[Conversation]:
    uri = "ws://h.example/a?b"
    yield Conversation(
        uri, (_UPGRADE, b"\x81\x05hello", b"\x01\x03abc\x89\x02hi\x80\x01d", b"\x82\x03xyz\x88\x02\x03\xe8")
    )
    long = b"\x82\x7e\x00\xc8" + b"x" * 200
    yield Conversation("wss://h.example/", (_UPGRADE + long, b"\x8a\x00\x01\x00\x00\x02\xc3\xa9\x80\x00"))
    yield Conversation(uri, (_UPGRADE, b"\x81\x01a\x88\x0a\x03\xf0too long"))
    yield Conversation(uri, (_UPGRADE, b"\x82\x7f" + (1 << 16).to_bytes(8, "big") + b"y" * 99))
    yield Conversation(uri, (b"HTTP/1.1 302 Found\r\nLocation: ws://g.example/\r\nContent-Length: 0\r\n\r\n", _UPGRADE))
    tunnel = b"HTTP/1.1 200 Connected\r\n\r\n"
    proxy = Policy(proxy={"ws": "http://joe:s3cr3t-pw@p.example:3128", "wss": "http://joe:s3cr3t-pw@p.example:3128"})
    yield Conversation(uri, (tunnel, _UPGRADE, b"\x81\x05hello"), policy=proxy, login=True)
    refused = b"HTTP/1.1 407 <password>\r\nContent-Length: 3\r\n\r\nno\n"
    yield Conversation("wss://h.example/", (refused,), policy=proxy, login=True)


def _answers_of_ftp(without: str = "", size: int = 286) -> list[bytes]:
    """The replies, without those to commands that are not sent, for a file of this many octets."""
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
    # A server without EPSV (RFC 2428) is sent PASV.
    old = (
        b"220 h\r\n", b"331 p\r\n", b"230 in\r\n", b"200 I\r\n", b"500 EPSV?\r\n",
        b"227 Entering Passive Mode (9,9,9,9,195,80)\r\n", b"150 here (1 bytes)\r\n", b"226 done\r\n", b"221 bye\r\n",
    )  # fmt: skip
    yield Conversation("ftp://h.example/x;type=i", old, b"x")
    refused = b"220-Hello\r\n220 there\r\n", b"331 password for joe\r\n", b"530 <password> is wrong\r\n"
    yield Conversation("ftp://h.example/pub/motd", refused, login=True)


def _gopher() -> Iterator[Conversation]:
    for name in ("umn-2.3.0", "umn-3.0.5", "pygopherd-3.0.0"):
        for row in _rows(f"gopher/{name}.jsonl"):
            request, _, block = row["send"].partition("\r\n")
            selector, *fields = request.split("\t")
            if not block and len(fields) <= 1:
                kind = "1" if selector in ("", "1/views", "/views") else "0"
                string = f"%09%09{quote(fields[0])}" if fields else ""
                answer = row["recv"].encode("latin-1")
                yield Conversation(f"gopher://h.example/{kind}{quote(selector)}{string}", (answer,))
            elif block and fields[0] == "+":
                answer = row["recv"].encode("latin-1")
                yield Conversation(f"gopher://h.example/0{quote(selector)}%09%09+%091%0D%0A{quote(block)}", (answer,))
    menu = b"7find\tf\th.example\t70\r\nhpage\tURL:http://g.example/\th.example\t70\r\niinfo\t\terror.host\t1\r\n.\r\n"
    yield Conversation("gopher://h.example/7find%09two%20words", (menu,))
    yield Conversation(
        "gopher://h.example/1", (menu + b"8t\tjoe\tt.example\t23\r\nTt\tjoe\tt.example\t23\r\n2c\t\tc.example\t105",)
    )
    yield Conversation("gopher://h.example/9b", (bytes(range(256)),))
    yield Conversation("gopher://h.example/4b", (b"(This file must be converted)\r\n:",))


_NEWS = {
    "article": "nntp://joe:s3cr3t-pw@h.example/local.test/1", "overview": "news://h.example/local.test",
    "newsgroups": "news://h.example/*", "switching": "news://h.example/first@example.test",
    "numbers": "nntp://h.example/local.test/1-", "older": "nntp://h.example/local.test",
}  # fmt: skip


def _news() -> Iterator[Conversation]:
    for name, uri in _NEWS.items():
        yield Conversation(uri, ((_TRANSCRIPTS / "news" / name).read_bytes(),))
    asks = b"201 read\r\n", b"480 login\r\n", b"381 more\r\n", b"481 <password> is wrong\r\n"
    yield Conversation("news://h.example/a@b.example", asks, login=True)
    policy = Policy(news_server="n.example")
    yield Conversation(
        "news:a@b.example",
        (
            b"200 hi\r\n",
            b"101 \r\nVERSION 2\r\nREADER\r\n.\r\n",
            b"220 0 <a@b.example>\r\nSubject: x\r\n\r\n..y\r\n.\r\n",
        ),
        policy=policy,
    )


def _ldap() -> Iterator[Conversation]:
    for row in _rows("ldap/slapd-2.5.13.jsonl"):
        yield Conversation(f"ldap://h.example{row['path']}", (bytes.fromhex(row["answer"]),), login=True)
    bound = bytes.fromhex("300c02010161070a010004000400")
    referred = b"ldap://g.example/c=GB??sub"
    to = b"\x04" + bytes((len(referred),)) + referred
    reference = b"\x02\x01\x02\x73" + bytes((len(to),)) + to
    success = b"\x02\x01\x02\x65\x07\x0a\x01\x00\x04\x00\x04\x00"
    referral = b"\x0a\x01\x0a\x04\x00\x04\x00\xa3" + bytes((len(to),)) + to
    sent_on = b"\x02\x01\x02\x65" + bytes((len(referral),)) + referral
    listed = tuple(b"\x30" + bytes((len(value),)) + value for value in (reference, success, sent_on))
    yield Conversation("ldaps://h.example/c=GB??sub?(cn=*)", (bound, *listed[:2]))
    yield Conversation("ldap://h.example/c=GB?cn?one", (bound, listed[2]))
    login = PASSWORD.encode()
    wrong = b"\x0a\x01\x31\x04\x00\x04" + bytes((len(login),)) + login
    wrong = b"\x02\x01\x01\x61" + bytes((len(wrong),)) + wrong
    yield Conversation("ldap://h.example/c=GB", (b"\x30" + bytes((len(wrong),)) + wrong,), login=True)


def _wais() -> Iterator[Conversation]:
    rows = _rows("wais/freewais-sf-2.2.jsonl")
    answers = [(row["conn"], b64decode(row["b64"])) for row in rows if row["dir"] == "server"]
    uris = "docs?sheep", "docs?nomatchword", "nosuchdb?sheep", "docs?gopher"
    for number, uri in enumerate(uris, 1):
        first, second, *rest_octets = (octets for connection, octets in answers if connection == number)
        yield Conversation(f"wais://h.example/{uri}", (first, second))
        if rest_octets and number in (1, 4):
            yield Conversation("wais://h.example/docs/TEXT/x", (first, rest_octets[0]))
    yield Conversation("wais://h.example/docs", (answers[0][1],))


def _ardp(data: bytes, number: int = 1, total: int = 1, *, wait: int = 0, flags: int = 0, option: bytes = b"") -> bytes:
    """A packet of an answer, with a header of all fields."""
    fields = b"".join(value.to_bytes(2, "big") for value in (number, total, 1, wait)) + bytes((flags,)) + option
    return bytes((3 + len(fields),)) + ID + fields + data


def _prospero() -> Iterator[Conversation]:
    rows = _rows("prospero/dirsrv-5.3b.jsonl")
    answers = [tuple(piece[:1] + ID + piece[3:] for piece in map(b64decode, row["recv"])) for row in rows]
    listed, first_listed, missing, contents, _, _, none_there, status, nonsense = answers
    uri, folder = "prospero://h.example//info-tree/hello.txt", "prospero://h.example//info-tree"
    yield Conversation(uri, (*missing, *contents))
    yield Conversation(uri, (*first_listed, *contents))
    yield Conversation(folder, (*missing, *missing, *listed))
    yield Conversation(folder, listed)
    yield Conversation(f"{uri};OBJECT-VERSION=3", (*missing, *missing, *none_there), login=True)
    for answer in (status, nonsense):
        yield Conversation(uri, answer)
    # Packets late, doubled, reordered, after a delay, and with a requested acknowledgement.
    line = b"LINK L FILE a INTERNET-D h.example ASCII /a 0\n"
    parts = [_ardp(line, 2, 3), _ardp(line, 1, 0, flags=0x80), _ardp(line, 1, 3), _ardp(line, 3, 3, flags=0x80)]
    yield Conversation(folder, (*missing, *missing, _ardp(b"", 0, 0, wait=9), *parts))
    yield Conversation(folder, (*missing, *missing, *listed[:1], b"", *listed))
    moved = b"\x04\x09\x09\x09\x09\x05\xf5"
    yield Conversation(uri, (_ardp(b"", 0, 0, option=moved), *missing, *contents))
    yield Conversation(uri, (_ardp(b"", 0, 0, option=b"\x01"),))
    forwarded = b"FORWARDED INTERNET-D 'g.example(1600)' ASCII '/else where' 2\nWARNING MESSAGE 'down at noon'\n"
    yield Conversation(uri, (_ardp(forwarded), *missing, *contents))
    method = b"ATTRIBUTE OBJECT INTRINSIC ACCESS-METHOD SEQUENCE "
    aftp = method + b"AFTP INTERNET-D g.example ASCII '/x y' BINARY\n"
    links = (
        method + b"GOPHER INTERNET-D 'g.example(150)' ASCII '1/Fun Stuff'\n" + method + b"AFS '' '' ASCII /afs/c/x\n"
    )
    wais = method + b"WAIS INTERNET-D H ASCII 'WAIS-GW/h.example(210)/TEXT/docs/%01%2fid'\n"
    yield Conversation(uri, (_ardp(aftp + links + wais),))
    through = Policy(redirects=frozenset({"ftp"}))
    yield Conversation(uri, (_ardp(aftp), *_answers_of_ftp("250", 1)), b"x", policy=through)
    external = b"LINK U EXTERNAL out INTERNET-D g ASCII 0sel 0\n" + method + b"GOPHER '' '' '' '' 0\n"
    external += b"ATTRIBUTE CACHED INTRINSIC SIZE SEQUENCE '20 bytes'\nATTRIBUTE> LINK FIELD FILTER x\nUNRESOLVED a\n"
    yield Conversation(folder, (*missing, *missing, _ardp(external)))
    tagged = b"ATTRIBUTE OBJECT INTRINSIC CONTENTS SEQUENCE TAGGED Subject 'it''s here'\n"
    yield Conversation(uri, (*missing, _ardp(tagged)))
    yield Conversation(uri, (_ardp(b"FAILURE NOT-AUTHORIZED '<password>'\n"),), login=True)
