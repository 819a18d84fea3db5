"""news and nntp with INN as the server, recorded answers, and invalid answers."""

from __future__ import annotations

import random
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import pytest

import growth
from overthere import (
    URI,
    Credentials,
    NotSpecified,
    PlanRefused,
    Policy,
    aopen,
    open,
    plan,
)
from overthere.access import Send
from overthere.access.errors import (
    AccessError,
    AccessFailed,
    AccessRefused,
    AccessTimeout,
    LimitExceeded,
    ProtocolError,
    ResourceMissing,
    ResourceUnavailable,
)
from overthere.access.planning import plan_under
from overthere.access.wire import Data, Dial, Entry, Hangup, Head, Item, Read, Write
from overthere.protocols.news.dialogue import dialogue, wildmat
from overthere.schemes.known.news import NewsLocator
from servers import free_port
from servers.innd import NewsServer, news_server
from support import TESTS

RECORDED = TESTS / "transcripts" / "news"
POLICY = Policy.local().with_(read_timeout=60)

BODY = b"\r\n".join(
    [b".dot at the front", b"..two", b"", b".", b"..", b". ", b"8 bits: caf\xe9 \xff", b"QUIT", b"the last line"]
)


def article(subject: bytes, body: bytes = BODY, groups: bytes = b"local.test") -> bytes:
    head = [b"From: T <t@example.test>", b"Newsgroups: " + groups, b"Subject: " + subject]
    return b"\r\n".join([*head, b"", body])


LONG = b"\r\n".join(b"." * (n % 70) + b"x" * (n % 5) for n in range(3000))
ARTICLES = {
    "first@example.test": article(b"hello"),
    "b/2#%25?{|}^`@example.test": article(b"=?utf-8?q?caf=C3=A9?= again"),
    "long@[10.0.0.1]": article(b"a long one", LONG),
    "members@example.test": article(b"for members", b"secret", b"members.only"),
}


@pytest.fixture(scope="module")
def server() -> Iterator[NewsServer]:
    with news_server(ARTICLES) as news:
        yield news


@contextmanager
def relay(port: int) -> Iterator[tuple[str, bytearray]]:
    """A loopback relay to a server that records the client's commands."""
    sent = bytearray()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def carry(source: socket.socket, target: socket.socket, log: bytearray | None) -> None:
            try:
                while data := source.recv(65536):
                    if log is not None:
                        log += data
                    target.sendall(data)
                target.shutdown(socket.SHUT_WR)
            except OSError:
                pass

        def serve() -> None:
            while True:
                try:
                    client, _ = listening.accept()
                except OSError:
                    return
                with client, socket.create_connection(("127.0.0.1", port)) as upstream:
                    back = threading.Thread(target=carry, args=(upstream, client, None))
                    back.start()
                    carry(client, upstream, sent)
                    back.join()

        work = threading.Thread(target=serve, daemon=True)
        work.start()
        yield f"127.0.0.1:{listening.getsockname()[1]}", sent
        listening.shutdown(socket.SHUT_RDWR)
    work.join(5)


def planned(uri: str, *left_out: bytes) -> bytes:
    """The commands of a plan, without conditional ones."""
    return b"".join(
        step.data for step in plan(uri) if isinstance(step, Send) and not step.data.startswith((b"MODE", *left_out))
    )


# -- INN


def test_an_article_by_its_number(server: NewsServer) -> None:
    """RFC 5538 3. The sent commands are those of the plan; the article is received byte by byte."""
    with relay(server.port) as (authority, sent):
        uri = f"nntp://{authority}/local.test/1"
        with open(uri, POLICY) as resource:
            assert (resource.media_type, resource.how, resource.length) == ("message/rfc822", "scheme", None)
            assert resource.details["number"] == 1
            assert resource.details["message_id"] == "first@example.test"
            assert not resource.is_listing
            head, _, body = resource.read().partition(b"\r\n\r\n")
    assert body == BODY + b"\r\n"
    assert b"\r\nMessage-ID: <first@example.test>\r\n" in head
    assert b"\n" not in head.replace(b"\r\n", b"")
    assert bytes(sent) == planned(uri)
    assert sent.count(b"\r\n") == sent.count(b"\n") == 4


@pytest.mark.parametrize("message_id", list(ARTICLES)[:3])
def test_an_article_by_its_message_id(server: NewsServer, message_id: str) -> None:
    """RFC 5538 4, with the necessary escapes."""
    with relay(server.port) as (authority, sent):
        host, _, port = authority.partition(":")
        uri = NewsLocator(host=host, port=int(port), message_id=message_id).uri()
        with open(uri, POLICY) as resource:
            assert resource.details["message_id"] == message_id
            body = resource.read().partition(b"\r\n\r\n")[2]
    assert body == ARTICLES[message_id].partition(b"\r\n\r\n")[2] + b"\r\n"
    assert b"ARTICLE <%s>\r\n" % message_id.encode() in sent
    assert bytes(sent) == planned(str(uri))


@pytest.mark.parametrize("scheme", ["news", "nntp"])
def test_an_overview(server: NewsServer, scheme: str) -> None:
    with relay(server.port) as (authority, sent):
        uri = f"{scheme}://{authority}/local.test"
        with open(uri, POLICY) as resource:
            assert resource.is_listing
            assert {name: resource.details[name] for name in ("number", "low", "high")} == {
                "number": 3,
                "low": 1,
                "high": 3,
            }
            entries = list(resource.entries())
    assert bytes(sent) == planned(uri, b"XOVER", b"LISTGROUP")
    assert [entry.name for entry in entries] == ["hello", "café again", "a long one"]
    assert [entry.details["number"] for entry in entries] == [1, 2, 3]
    assert {entry.kind for entry in entries} == {"article"}
    for entry, message_id in zip(entries, ARTICLES, strict=False):
        assert entry.details["message_id"] == message_id
        assert entry.details["from"] == "T <t@example.test>"
        assert entry.details["date"]
        assert entry.uri is not None
        assert entry.uri.startswith(f"news://{authority}/")
        with open(entry.uri.replace(authority, server.authority), POLICY) as article:
            content = article.read()
        # INN's byte count may be wrong by one; its file, stored as sent, is not.
        assert abs(len(content) - entry.details["bytes"]) <= 1
        stored = (server.folder / f"spool/articles/local/test/{entry.details['number']}").read_bytes()
        assert (b"\r\n" + content).replace(b"\r\n.", b"\r\n..")[2:] + b".\r\n" == stored
        assert content.partition(b"\r\n\r\n")[2].count(b"\r\n") == entry.details["lines"]


@pytest.mark.parametrize(
    ("numbers", "expected"), [("1-2", [1, 2]), ("2-", [2, 3]), ("3-3", [3]), ("2-1", []), ("70-99", []), ("70-", [])]
)
def test_a_range(server: NewsServer, numbers: str, expected: list[int]) -> None:
    with open(f"nntp://{server.authority}/local.test/{numbers}", POLICY) as resource:
        assert resource.is_listing
        assert [entry.details["number"] for entry in resource.entries()] == expected


def test_an_empty_newsgroup(server: NewsServer) -> None:
    """It lists nothing; the answer to OVER is 423 (RFC 3977 8.3.2)."""
    with open(f"news://{server.authority}/local.empty", POLICY) as resource:
        assert resource.is_listing
        assert resource.details["number"] == 0
        assert list(resource.entries()) == []


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*", {"local.test", "local.empty", "local.plus+plus", "junk", "control", "control.cancel"}),
        ("", {"local.test", "local.empty", "local.plus+plus", "junk", "control", "control.cancel"}),
        ("local.*", {"local.test", "local.empty", "local.plus+plus"}),
        ("local.te%3Ft", {"local.test"}),
        ("nothing.*", set()),
    ],
)
def test_newsgroups(server: NewsServer, pattern: str, expected: set[str]) -> None:
    with open(f"news://{server.authority}/{pattern}", POLICY) as resource:
        entries = {entry.name: entry for entry in resource.entries()}
    assert set(entries) == expected
    if "local.test" in entries:
        entry = entries["local.test"]
        assert (entry.kind, entry.details) == ("newsgroup", {"low": 1, "high": 3, "status": "y"})
        assert entry.uri == f"nntp://{server.authority}/local.test"
        with open(entry.uri, POLICY) as article:
            assert len(list(article.entries())) == 3
    if "local.plus+plus" in entries:
        assert entries["local.plus+plus"].uri == f"nntp://{server.authority}/local.plus+plus"


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("nntp://{}/local.test/9", "423"),
        ("nntp://{}/local.test/0", "423"),
        ("nntp://{}/no.such.group/1", "411"),
        ("nntp://{}/no.such.group", "411"),
        ("news://{}/no.such.group", "411"),
        ("news://{}/nobody@example.test", "430"),
        ("nntp://{}/members.only/1", "480"),
    ],
)
def test_missing_articles_and_newsgroups(server: NewsServer, path: str, code: str) -> None:
    with pytest.raises(ResourceMissing) as missing:
        open(path.format(server.authority), POLICY)
    assert missing.value.code == code
    assert missing.value.where
    assert "RFC 3977" in str(missing.value)


def test_a_login(server: NewsServer) -> None:
    """RFC 4643 2.3: with the URI's user or the caller's; a rejected password is not shown."""
    with open(f"nntp://joe:s3cr%40t@{server.authority}/members.only/1", POLICY) as resource:
        assert resource.read().endswith(b"\r\n\r\nsecret\r\n")
    with open(f"nntp://joe:s3cr%40t@{server.authority}/members.only", POLICY) as resource:
        (entry,) = resource.entries()
    assert entry.uri == f"news://joe@{server.authority}/members@example.test"
    with open(entry.uri, POLICY, credentials=Credentials("joe", "s3cr@t")) as resource:
        assert resource.read().endswith(b"\r\n\r\nsecret\r\n")
    with pytest.raises(ResourceMissing, match="the login was rejected") as refused:
        open(f"nntp://joe:wr0ng@{server.authority}/members.only/1", POLICY)
    assert "wr0ng" not in f"{refused.value} {refused.value!r}"
    with pytest.raises(ResourceMissing, match="requires a password") as refused:
        open(f"nntp://joe@{server.authority}/members.only/1", POLICY)
    assert refused.value.code == "381"


def test_a_server_that_switches_modes() -> None:
    """RFC 3977 3.4.2: to a peer innd is in transit mode; MODE READER precedes the login (5.3.2)."""
    with news_server({"m@x": ARTICLES["members@example.test"]}, switching=True) as server:
        with relay(server.port) as (authority, sent):
            resource = open(f"nntp://joe:s3cr%40t@{authority}/members.only/1", POLICY)
            assert resource.read().endswith(b"secret\r\n")
        assert bytes(sent).split(b"\r\n")[:-1] == [
            b"CAPABILITIES",
            b"MODE READER",
            b"AUTHINFO USER joe",
            b"AUTHINFO PASS s3cr@t",
            b"GROUP members.only",
            b"ARTICLE 1",
            b"QUIT",
        ]


def test_the_configured_server(server: NewsServer) -> None:
    """RFC 5538 4: "a configured default server for Netnews access is used"."""
    policy = POLICY.with_(news_server=server.authority)
    with open("news:first@example.test", policy) as resource:
        assert resource.read().endswith(BODY + b"\r\n")
        assert str(resource.uri) == resource.plan.uri == f"news://{server.authority}/first@example.test"
    with open("news:local.*", policy) as resource:
        assert len(list(resource.entries())) == 3
    with open("news:members.only", policy, credentials=Credentials("joe", "s3cr@t")) as resource:
        assert len(list(resource.entries())) == 1
    with open(f"news://{server.authority}/local.empty", policy.with_(news_server="unused.invalid")) as resource:
        assert list(resource.entries()) == []
    with pytest.raises(AccessRefused, match="loopback"):
        open("news:first@example.test", Policy(news_server=server.authority))
    with pytest.raises(AccessRefused, match="not an allowed host"):
        open("news:a@b", policy.with_(hosts=frozenset({"news.example"})))


@pytest.mark.parametrize("uri", ["news://h:0/a@b", "nntp://h:0/g/1", "news://:0/a@b"])
def test_the_port_0_is_no_default(uri: str) -> None:
    with pytest.raises(PlanRefused, match="not a valid port number"):
        plan_under(Policy(news_server="news.example:119"), uri)


@pytest.mark.parametrize("uri", ["news:a@b", "news:g", "news:*", "news:", "news:///g", "news://:8119/g"])
def test_no_server_is_configured(uri: str) -> None:
    with pytest.raises(NotSpecified, match="NNTPSERVER") as caught:
        open(uri, Policy.local())
    assert "news_server" in str(caught.value)
    with pytest.raises(PlanRefused, match="not a news server"):
        open(uri, Policy.local().with_(news_server="a b"))


def test_in_an_event_loop(server: NewsServer) -> None:
    async def main() -> None:
        policy = POLICY.with_(news_server=server.authority)
        async with await aopen(f"nntp://{server.authority}/local.test/1", policy) as resource:
            assert (await resource.read()).endswith(b"\r\n\r\n" + BODY + b"\r\n")
        async with await aopen("news:local.test", policy) as resource:
            names = [entry.name async for entry in resource.entries()]
        assert names == ["hello", "café again", "a long one"]
        async with await aopen("news:*", policy) as resource:
            assert len([entry async for entry in resource.entries()]) == 6
        with pytest.raises(ResourceMissing) as missing:
            await aopen("news:nobody@example.test", policy)
        assert missing.value.code == "430"
        with pytest.raises(NotSpecified):
            await aopen("news:local.test", POLICY)

    anyio.run(main)


@pytest.mark.parametrize("escape", ["%0D", "%0A", "%0D%0AQUIT", "%00", "%09", "%20", "%FF", "%7F", "%C2%A0%0A"])
def test_no_byte_of_data_ends_a_command(server: NewsServer, escape: str) -> None:
    """RFC 3977 3.1: such data is rejected before the connection."""
    with relay(server.port) as (authority, sent):
        for uri in (
            f"news://{authority}/a{escape}b",
            f"news://{authority}/a{escape}b@c",
            f"news://{authority}/a{escape}*",
            f"nntp://{authority}/a{escape}b/1",
            f"nntp://{authority}/a{escape}b/1-2",
            f"nntp://a{escape}b:p@{authority}/g/1" if escape not in ("%FF", "%7F") else f"nntp://{authority}/%FF",
            f"nntp://a:b{escape}@{authority}/g/1" if escape not in ("%FF", "%7F") else f"nntp://{authority}/%7F",
        ):
            with pytest.raises(PlanRefused):
                open(uri, POLICY)
    assert not sent


def test_a_silent_server() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        uri = f"news://127.0.0.1:{listener.getsockname()[1]}/a@b"
        policy = POLICY.with_(read_timeout=0.2)
        with pytest.raises(AccessTimeout, match="no data"):
            open(uri, policy)

        async def main() -> None:
            with pytest.raises(AccessTimeout, match="no data"):
                await aopen(uri, policy)

        anyio.run(main)
    with pytest.raises(AccessFailed, match="no connection"):
        open(f"news://127.0.0.1:{free_port()}/a@b", policy)


# -- recorded answers, without a socket


class Run:
    """A dialogue with given bytes, in pieces of this size, then the end."""

    def __init__(self, uri: str, answers: bytes, size: int = 1 << 16, **policy: Any) -> None:
        self.said = b""
        self.head: Head | None = None
        self.octets = b""
        self.entries: list[Entry] = []
        self.dialled: list[Dial] = []
        self.taken = 0
        talk = dialogue(plan(uri), Policy(**policy))
        reply: Any = None
        while True:
            try:
                effect = talk.send(reply)
            except StopIteration:
                return
            reply = None
            match effect:
                case Dial():
                    self.dialled.append(effect)
                case Write(data):
                    self.said += data
                case Read(expected):
                    reply = answers[self.taken : self.taken + min(size, expected)]
                    self.taken += len(reply)
                case Head():
                    assert self.head is None
                    self.head = effect
                case Data(octets):
                    assert self.head is not None
                    self.octets += octets
                case Item(entry):
                    assert self.head is not None
                    assert self.head.listing
                    self.entries.append(entry)
                case Hangup():
                    pass
                case _:
                    raise AssertionError(effect)


URIS = {
    "article": "nntp://joe:s3cr%40t@h/local.test/1",
    "overview": "news://h/local.test",
    "newsgroups": "news://h/*",
    "switching": "news://h/first@example.test",
    "numbers": "nntp://h/local.test/1-",
    "older": "nntp://h/local.test",
}
"""The URIs for the recordings `tests/transcripts/news/NAME`: the first four of INN, the others in the style of INN
without an overview, and of servers before RFC 3977 (RFC 977, RFC 2980)."""


def recorded(name: str) -> bytes:
    return (RECORDED / name).read_bytes()


@pytest.mark.parametrize("name", URIS)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1 << 16])
def test_pieces_of_any_size(name: str, size: int) -> None:
    complete, run = Run(URIS[name], recorded(name)), Run(URIS[name], recorded(name), size)
    assert (run.head, run.octets, run.entries, run.said) == (
        complete.head,
        complete.octets,
        complete.entries,
        complete.said,
    )
    assert run.octets or run.entries
    assert run.said.endswith(b"QUIT\r\n")


def test_a_recorded_article_by_its_message_id() -> None:
    """INN's answer, where no server is installed."""
    article = Run(URIS["switching"], recorded("switching"))
    assert b"ARTICLE <first@example.test>\r\n" in article.said
    assert article.head is not None
    assert article.head.details["message_id"] == "first@example.test"
    assert article.octets.endswith(b"\r\n\r\n" + BODY + b"\r\n")


@pytest.mark.parametrize("name", URIS)
def test_an_end_at_every_offset(name: str) -> None:
    """A part is never returned as the whole."""
    answers = recorded(name)
    end = answers.rindex(b"\r\n.\r\n") + 5
    for offset in range(end):
        with pytest.raises(AccessFailed) as failed:
            Run(URIS[name], answers[:offset])
        assert failed.value.where
    Run(URIS[name], answers[:end])


def test_a_server_without_overview() -> None:
    """RFC 3977 6.1.2: the numbers, each with a URI."""
    run = Run(URIS["numbers"], recorded("numbers"))
    assert run.said.endswith(b"OVER 1-\r\nLISTGROUP local.test 1-\r\nQUIT\r\n")
    assert [(entry.name, entry.uri, entry.kind) for entry in run.entries] == [
        ("1", "nntp://h/local.test/1", "article"),
        ("2", "nntp://h/local.test/2", "article"),
        ("3", "nntp://h/local.test/3", "article"),
    ]


def test_an_older_server() -> None:
    """Without CAPABILITIES, OVER and ranges of LISTGROUP (RFC 3977 3.4.2, 6.1.2.2)."""
    run = Run(URIS["older"], recorded("older"))
    assert run.said == (
        b"CAPABILITIES\r\nMODE READER\r\nGROUP local.test\r\nOVER 1-\r\nXOVER 1-\r\nLISTGROUP local.test\r\nQUIT\r\n"
    )
    assert [entry.name for entry in run.entries] == ["1", "3"]
    assert run.head is not None
    assert run.head.details["number"] == 2


FRONT = b"200 hi\r\n101 list\r\nREADER\r\n.\r\n"
GROUP = FRONT + b"211 1 1 1 g\r\n"
OVER = GROUP + b"224 overview\r\n"


@pytest.mark.parametrize(
    ("uri", "answers", "error", "reason"),
    [
        ("nntp://h/g/1", b"", AccessFailed, "closed"),
        ("nntp://h/g/1", b"hello\r\n", ProtocolError, "no code"),
        ("nntp://h/g/1", b"2000 hello\r\n", ProtocolError, "no code"),
        ("nntp://h/g/1", b"\xff\xfb\x01200\r\n", ProtocolError, "no code"),
        ("nntp://h/g/1", b"220 smtp\r\n", ProtocolError, "another command"),
        ("nntp://h/g/1", b"400 closing\r\n", ResourceUnavailable, "400 closing"),
        ("nntp://h/g/1", b"502 go away\x1b[2J\r\n", ResourceMissing, r"502 go away\\x1b"),
        ("nntp://h/g/1", b"200 hi\r\n101\r\nX\r\n.\r\n200 what\r\n", ProtocolError, "another command"),
        ("nntp://h/g/1", b"200 hi\r\n500\r\n502 no readers\r\n", ResourceMissing, "502 no readers"),
        ("nntp://h/g/1", b"200 hi\r\n400\r\n", ResourceUnavailable, "400"),
        ("nntp://h/g/1", FRONT + b"403 disk failure\r\n", ResourceUnavailable, "403 disk failure"),
        ("nntp://h/g/1", b"200 hi\r\n101 \r\n" + b"X\r\n" * 2000, LimitExceeded, "1,000 capabilities"),
        ("nntp://h/g/1", b"2" * 70_000, LimitExceeded, "a line of more"),
        ("nntp://h/g/1", GROUP + b"220 1 <a@b>\r\n" + b"x" * 70_000, LimitExceeded, "a line of more"),
        ("nntp://h/g/1", GROUP + b"220 1 <a@b>\r\n" + b"x\n.\n" * 20_000, LimitExceeded, "a line of more"),
        ("nntp://h/g/1", GROUP + b"223 1 <a@b>\r\n", ProtocolError, "another command"),
        ("nntp://h/g", GROUP + b"423 none\r\n", None, ""),
        ("nntp://h/g", OVER + b"x" * 70_000, LimitExceeded, "a line of more"),
        ("nntp://h/g", OVER + b"one\tsubject\r\n", ProtocolError, "an invalid line in the overview"),
        ("nntp://h/g", OVER + b"\r\n", ProtocolError, "an invalid line in the overview"),
        ("nntp://h/g", OVER + b"12345678901234567\ts\r\n", ProtocolError, "an invalid line in the overview"),
        ("nntp://h/g", GROUP + b"503 no\r\n211 1 1 1 g\r\n1x\r\n", ProtocolError, "an invalid line in the numbers"),
        ("nntp://h/g", GROUP + b"503 no\r\n411 no\r\n", ResourceMissing, "no such newsgroup"),
        ("news://h/*", FRONT + b"215 list\r\n g 1 1 y\r\n", ProtocolError, "an invalid line in the newsgroups"),
        ("news://h/*", FRONT + b"503 no list\r\n", ResourceMissing, "503 no list"),
        ("news://u:p@h/*", FRONT + b"483 TLS\r\n", ResourceMissing, "encrypted"),
        ("news://u:p@h/*", FRONT + b"381 more\r\n482 out of sequence\r\n", ResourceMissing, "482"),
    ],
)
def test_invalid_answers(uri: str, answers: bytes, error: type[AccessError] | None, reason: str) -> None:
    for size in (1, 1 << 16) if len(answers) < 1000 else (1 << 16,):
        if error is None:
            assert Run(uri, answers, size).entries == []
            continue
        with pytest.raises(error, match=reason) as caught:
            Run(uri, answers, size)
        assert type(caught.value) is error
        assert caught.value.where


def test_names_from_a_server_are_data() -> None:
    """Ambiguous names and identifiers; 8-bit text; missing fields."""
    lines = [
        b"1\t=?utf-8?q?a=0Db?=\tf\td\t<a@b>\t\t10\t2\tXref: x",
        b"2\t=?utf-8?q?\xff=\t\t\t<no at>\t\t-1\t",
        b"3",
        b"4\t..\tf\td\t<../../etc/passwd@x>\t\t\t",
        b"5\t=?nobody-7?q?x?=\tf\td\t<a@b\x0b>\t\t1\t1",
        b"6\t" + b"=?a?q?" * 9000 + b"\tf",
    ]
    run = Run(
        "nntp://joe:pass@h:8119/g%C3%A9", FRONT + b"281\r\n211 6 1 6 g\r\n224\r\n" + b"\r\n".join(lines) + b"\r\n.\r\n"
    )
    assert [entry.details["number"] for entry in run.entries] == [1, 2, 3, 4, 5, 6]
    assert run.entries[2] == Entry("", "nntp://joe@h:8119/g%C3%A9/3", "article", {"number": 3})
    assert run.entries[0].details == {
        "number": 1,
        "from": "f",
        "date": "d",
        "message_id": "a@b",
        "bytes": 10,
        "lines": 2,
    }
    assert run.entries[3].uri == "news://joe@h:8119/..%2F..%2Fetc%2Fpasswd@x"
    assert run.entries[4].name == "=?nobody-7?q?x?="
    for entry in run.entries:
        assert entry.uri is not None
        entry.name.encode()
        assert URI(entry.uri).authority == "joe@h:8119"
    names = [b"a*b", b".../x", b"\xff", b"a@b/c", b"..stuffed"]
    run = Run("news://h/*", FRONT + b"215\r\n" + b"".join(name + b" 9 1 y\r\n" for name in names) + b".\r\n")
    assert [entry.uri for entry in run.entries] == [
        "nntp://h/a%2Ab",
        "nntp://h/..%2Fx",
        "nntp://h/%FF",
        "nntp://h/a%40b%2Fc",
        "nntp://h/.stuffed",
    ]


def test_dots_and_line_ends_are_preserved() -> None:
    """RFC 3977 3.1.1: a lone LF or CR does not end a line."""
    rng = random.Random(7)
    for size in (1, 2, 3, 5, 64, 1 << 16):
        for _ in range(60):
            text = "".join(
                rng.choice([".", "..", "\r\n", "\n", "\r", "x", "\n.\n", "\r.\r", "\r\n.\r\n"]) for _ in range(30)
            )
            body = text.encode()
            body += b"" if body.endswith(b"\r\n") else b"\r\n"
            stuffed = (b"\r\n" + body).replace(b"\r\n.", b"\r\n..")[2:]
            run = Run("news://h/a@b", FRONT + b"220 0 <a@b>\r\n" + stuffed + b".\r\n205\r\n", size)
            assert run.octets == body
    assert Run("news://h/a@b", FRONT + b"220 0 <a@b>\r\n.\r\n").octets == b""


def test_mutated_answers_end_as_documented() -> None:
    rng = random.Random(11)
    for name, uri in URIS.items():
        answers = recorded(name)
        for _ in range(300):
            broken = bytearray(answers)
            for _ in range(rng.randint(1, 4)):
                at = rng.randrange(len(broken))
                broken[at : at + rng.randint(0, 3)] = rng.choice(
                    [b"", b"\r\n", b".", b"\0", b"\xff", b"5", b"\r\n.\r\n"]
                )
            try:
                run = Run(uri, bytes(broken), rng.choice([1, 50, 1 << 16]))
            except AccessError:
                continue
            assert run.head is not None


def test_only_steps_of_the_plan_are_sent() -> None:
    """In order, whatever the server answers."""
    rng = random.Random(5)
    replies = [
        b"200\r\n",
        b"101\r\nMODE-READER\r\n.\r\n",
        b"500\r\n",
        b"281\r\n",
        b"381\r\n",
        b"211 1 1 1 g\r\n",
        b"503 x\r\n",
    ]
    for _ in range(400):
        uri = rng.choice(["nntp://u:p@h/g", "nntp://h/g/1-5", "news://u@h/*", "news://h/a@b"])
        sent: list[bytes] = []
        talk = dialogue(plan(uri), Policy())
        answer: Any = None
        try:
            while True:
                effect = talk.send(answer)
                answer = None
                if isinstance(effect, Read):
                    answer = rng.choice(replies)
                elif isinstance(effect, Write):
                    sent.append(effect.data)
        except (StopIteration, AccessError):
            pass
        steps = [step.data for step in plan(uri) if isinstance(step, Send)]
        assert b"".join(sent) == b"".join(data for data in steps if data in sent)


def test_a_large_article_is_streamed() -> None:
    """Memory does not grow with the article."""
    talk = dialogue(plan("news://h/a@b"), Policy())
    pieces = iter([FRONT + b"220 0 <a@b>\r\n", *[b"x" * 998 + b"\r\n"] * 5000, b".\r\n"])
    most = total = 0
    answer: Any = None
    try:
        while True:
            effect = talk.send(answer)
            answer = next(pieces) if isinstance(effect, Read) else None
            if isinstance(effect, Data):
                most, total = max(most, len(effect.octets)), total + len(effect.octets)
    except StopIteration:
        pass
    assert total == 5_000_000
    assert most <= 2000


OLDEST = b"200 ready\r\n500 ?\r\n500 ?\r\n"
"""The first answers of an RFC 977 server: it has neither CAPABILITIES nor MODE."""


def test_a_server_of_rfc_977_gives_first_and_last() -> None:
    """RFC 977 3.2.1: OVER, XOVER and LISTGROUP are unknown there."""
    answers = OLDEST + b"211 2 3 5 g group selected\r\n500 ?\r\n500 ?\r\n500 ?\r\n205\r\n"
    run = Run("news://h/g", answers)
    commands = b"GROUP g\r\nOVER 1-\r\nXOVER 1-\r\nLISTGROUP g\r\nQUIT\r\n"
    assert run.said == b"CAPABILITIES\r\nMODE READER\r\n" + commands
    assert [entry.uri for entry in run.entries] == [f"nntp://h/g/{number}" for number in (3, 4, 5)]
    assert run.head is not None
    assert "RFC 977" in run.head.details["numbers"]
    assert [entry.name for entry in Run("nntp://h/g/4-9", answers).entries] == ["4", "5"]
    empty = OLDEST + b"211 0 0 0 g\r\n500 ?\r\n500 ?\r\n500 ?\r\n205\r\n"
    assert Run("news://h/g", empty).entries == []
    with pytest.raises(LimitExceeded):
        Run("news://h/g", answers.replace(b"3 5 g", b"3 9999999999 g"))
    with pytest.raises(ProtocolError, match="no numbers"):
        Run("news://h/g", answers.replace(b"211 2 3 5 g group selected", b"211"))


def test_a_server_that_has_xover() -> None:
    """RFC 2980 2.8: the overview under its old name."""
    line = b"3\ts\ta\td\t<m@x>\t\t1\t1\r\n"
    run = Run("news://h/g", OLDEST + b"211 1 3 3 g\r\n500 ?\r\n224\r\n" + line + b".\r\n205\r\n")
    assert [(entry.name, entry.uri) for entry in run.entries] == [("s", "news://h/m@x")]
    assert run.said.endswith(b"OVER 1-\r\nXOVER 1-\r\nQUIT\r\n")


def test_a_list_without_arguments_is_filtered() -> None:
    """RFC 977 3.6.1: the server lists all newsgroups."""
    listed = b"215\r\na.b 2 1 y\r\na.c 2 1 y\r\nb.b 2 1 y\r\n.\r\n205\r\n"
    run = Run("news://h/a.*", OLDEST + b"501 ?\r\n" + listed)
    assert [entry.name for entry in run.entries] == ["a.b", "a.c"]
    assert run.said.endswith(b"LIST ACTIVE a.*\r\nLIST\r\nQUIT\r\n")
    assert [entry.name for entry in Run("news://h/%3F.b", OLDEST + b"500 ?\r\n" + listed).entries] == ["a.b", "b.b"]
    assert len(Run("news://h/*", OLDEST + b"500 ?\r\n" + listed).entries) == 3


def test_a_list_is_filtered_by_characters() -> None:
    """RFC 3977 4.2: "?" is one character of any number of bytes; 3.1.1: a doubled first period is one."""
    listed = "215\r\na.é 2 1 y\r\na.éé 2 1 y\r\n..b 2 1 y\r\n.\r\n205\r\n".encode()
    for uri, names in {
        "news://h/a.%3F": ["a.é"],
        "news://h/a.%C3%A9*": ["a.é", "a.éé"],
        "news://h/.%3F": [".b"],
    }.items():
        run = Run(uri, OLDEST + b"500 ?\r\n" + listed)
        assert [entry.name for entry in run.entries] == names, uri
    assert run.head is not None
    assert "filtered" in run.head.details["names"]


def test_an_invalid_line_of_a_list_is_always_reported() -> None:
    with pytest.raises(ProtocolError, match="an invalid line in the newsgroups"):
        Run("news://h/a.*", OLDEST + b"500 ?\r\n215\r\na.b 2 1 y\r\n\r\n.\r\n205\r\n")


def test_patterns_match_as_specified() -> None:
    """RFC 3977 4.2, compared with a backtracking expression."""
    draw = random.Random(977)
    for _ in range(5000):
        pattern, name = ("".join(draw.choices(of, k=draw.randrange(9))) for of in ("aé*?", "aé\udcff"))
        expected = re.fullmatch("".join({"*": ".*", "?": "."}.get(c, c) for c in pattern), name)
        assert (wildmat(pattern)(name) is None) == (expected is None), (pattern, name)
    for pattern in ("", "*", "**", "?", "a*", "*a", "a*a", "a**a", "*?*"):
        matches = {name for name in ("", "a", "aa", "aba") if wildmat(pattern)(name)}
        assert matches == MATCHES[pattern], pattern


MATCHES = {
    "": {""},
    "*": {"", "a", "aa", "aba"},
    "**": {"", "a", "aa", "aba"},
    "?": {"a"},
    "a*": {"a", "aa", "aba"},
    "*a": {"a", "aa", "aba"},
    "a*a": {"aa", "aba"},
    "a**a": {"aa", "aba"},
    "*?*": {"a", "aa", "aba"},
}


def test_patterns_are_linear() -> None:
    """Without backtracking for each "*"."""
    assert growth.outgrows(wildmat("*a" * 40 + "*b"), lambda n: "a" * n, (4000, 40_000, 400_000), 0.02) is None
