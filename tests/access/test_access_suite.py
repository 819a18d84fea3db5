"""`AccessSuite` for some protocols, and for dialogues that break its laws."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from overthere import Registry, Scheme
from overthere.access import Connect, Receive, Send
from overthere.access.steps import guarded
from overthere.access.wire import Data, Dial, Dialogue, Head, Read, Wire, Write
from overthere.kernel.percent import percent_decode
from overthere.schemes import Access
from overthere.schemes.locator import GenericLocator
from overthere.testing import AccessSuite, Replay
from overthere.testing.replay import Outcome

BODY = b"0123456789abcdef"


class TestCounted(AccessSuite):
    uri = "http://h.example/a"
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 16\r\n\r\n" + BODY

    def test_what_it_is(self) -> None:
        result = self.whole()
        assert result.content == BODY
        assert result.head is not None
        assert result.head.media_type == "text/plain"


class TestChunked(AccessSuite):
    uri = "http://h.example/a"
    answer = (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8;x=y\r\n01234567\r\n8\r\n89abcdef\r\n0\r\nA: b\r\n\r\n"
    )


class TestMissing(AccessSuite):
    uri = "http://h.example/a"
    answer = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
    missing = True


class TestMenu(AccessSuite):
    uri = "gopher://h.example/1"
    answer = (
        b"iWelcome\tfake\t(NULL)\t0\r\n0About\t/about.txt\th.example\t70\r\n1Dir\t/dir\th.example\t7070\t+\r\n.\r\n"
    )


class TestFTP(AccessSuite):
    uri = "ftp://h.example/pub/a.txt"
    answer = (
        b"220-Hello\r\n220 there\r\n331 password\r\n230 in\r\n250 there\r\n200 A\r\n229 (|||50000|)\r\n"
        b"150 Opening (16 bytes).\r\n226 done\r\n221 bye\r\n"
    )
    data = BODY


class TestFTPNames(AccessSuite):
    uri = "ftp://h.example/pub/;type=d"
    answer = b"220 there\r\n331 password\r\n230 in\r\n250 there\r\n229 (|||50000|)\r\n150 Here\r\n226 done\r\n"
    data = b"motd\r\nREADME\r\nsub/x\r\n"

    def test_what_it_is(self) -> None:
        assert [entry.name for entry in self.whole().entries] == ["motd", "README", "x"]


class TestExchanges(AccessSuite):
    """Exchanges with the bytes that were sent."""

    uri = "ftp://h.example/a.bin"
    answer = (
        (b"", b"220 there\r\n"),
        (b"USER anonymous\r\n", b"331 password\r\n"),
        (b"PASS anonymous@\r\n", b"230 in\r\n"),
        (b"TYPE I\r\n", b"200 I\r\n"),
        (b"EPSV\r\n", b"229 (|||50000|)\r\n"),
        (b"RETR a.bin\r\n", b"150 Opening\r\n226 done\r\n"),
    )
    data = BODY

    def test_what_was_sent(self) -> None:
        assert self.whole().sent.startswith(b"".join(sent for sent, _ in self.answer if isinstance(sent, bytes)))


class TestOwn(AccessSuite):
    """A custom scheme whose plan is sent without a dialogue."""

    @staticmethod
    def steps(locator: object, credentials: object) -> Iterator[Any]:
        yield Connect(source="RFC 1288 2.1", host="h.example", port=79)
        yield Send(source="RFC 1288 2.3", data=b"joe\r\n")
        yield Receive(source="RFC 1288 2.2", what="who it is", until="close")

    scheme = Scheme(name="x-finger", title="Finger", documents={"rfc3986": "RFC 1288"}, access=Access(steps))
    uri = "x-finger://h.example/joe"
    answer = b"Login: joe\r\nName: Joe\r\n"


# -- dialogues that break a law, and the law that finds it


def broken(work: Any) -> type[AccessSuite]:
    """A suite for a dialogue of the test."""

    def steps(locator: object, credentials: object) -> Iterator[Any]:
        yield Connect(source="x", host="h.example", port=79)
        yield Send(source="x", data=b"joe\r\n")

    class Suite(AccessSuite):
        scheme = Scheme(
            name="x-broken",
            title="x",
            documents={"rfc3986": "x"},
            access=Access(steps, lambda plan, policy: work()),
        )
        uri = "x-broken:a"
        answer = b"one\r\ntwo\r\n.\r\n"
        runs = 200

    Suite.__name__ = "Suite"
    assert "x-broken" not in Registry.default()
    return Suite


def good() -> Dialogue:
    yield Dial("h.example", 79)
    yield Write(b"joe\r\n")
    yield Head()
    yield from Wire().read_to_period("the text")


def counts() -> Dialogue:
    """A dialogue that takes any data for the data it expects."""
    yield Dial("h.example", 79)
    yield Write(b"joe\r\n")
    data = yield Read()
    yield Head(length=data.index(b"."))


def by_the_piece() -> Dialogue:
    """A dialogue that takes pieces for lines."""
    yield Dial("h.example", 79)
    yield Write(b"joe\r\n")
    yield Head()
    while data := (yield Read()):
        yield Data(data.splitlines()[0])


def hoards() -> Dialogue:
    """A dialogue that reads everything before it gives anything."""
    yield Dial("h.example", 79)
    yield Write(b"joe\r\n")
    buffer = bytearray()
    while data := (yield Read()):
        buffer += data
    yield Head()
    yield Data(bytes(buffer))


def silent() -> Dialogue:
    """A dialogue that sends something else."""
    yield Dial("h.example", 79)
    yield Write(b"jim\r\n")
    yield Head()
    yield from Wire().read_to_period("the text")


def stubborn() -> Dialogue:
    """A dialogue that continues after its caller stopped."""
    yield Dial("h.example", 79)
    yield Write(b"joe\r\n")
    try:
        yield Head()
        yield from Wire().read_to_period("the text")
    finally:
        yield Write(b"bye\r\n")


def twice() -> Dialogue:
    yield from good()
    yield Head()


def test_a_plan_with_hidden_lines_is_found() -> None:
    """It declares as many lines as it happens to have, and includes data of the URI."""

    def steps(locator: GenericLocator, credentials: object) -> Iterator[Any]:
        name = percent_decode(locator.path.encode()) if guards is None else guards(locator.path)
        data = b"HELLO\r\nGET " + name + b"\r\n"
        yield Connect(source="x", host="h.example", port=6379)
        yield Send(source="x", data=data, lines=data.count(b"\n"))

    class Suite(AccessSuite):
        scheme = Scheme(name="x-lines", title="x", documents={"rfc3986": "x"}, access=Access(steps), port=79)
        uri = "x-lines://h.example/joe"
        answer = b""

    guards: Any = None
    with pytest.raises(AssertionError, match="begins a line of send HELLO"):
        Suite().test_data_make_no_lines()
    guards = lambda path: guarded(percent_decode(path.encode()), "path", "x")  # noqa: E731
    Suite().test_data_make_no_lines()


@pytest.mark.parametrize(
    ("work", "law"),
    [
        (counts, "test_an_end_at_every_offset"),
        (counts, "test_garbage"),
        (by_the_piece, "test_pieces_change_nothing"),
        (hoards, "test_an_answer_without_end"),
        (silent, "test_the_plan_is_what_is_sent"),
        (stubborn, "test_a_reader_who_stops"),
        (twice, "test_the_answer_is_read"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_a_broken_law_is_found(work: Any, law: str) -> None:
    with pytest.raises((AssertionError, ValueError, RuntimeError)):
        getattr(broken(work)(), law)()


def test_a_good_dialogue_passes() -> None:
    suite = broken(good)()
    for name in dir(suite):
        if name.startswith("test_"):
            getattr(suite, name)()


def test_a_replay_waits_for_the_request() -> None:
    with pytest.raises(AssertionError, match="has not sent b'jim"):
        Replay([(b"jim\r\n", b"x")]).run(good())
    result = Replay([(b"joe\r\n", b"a\r\n.\r\n")]).run(good())
    assert isinstance(result, Outcome)
    assert result.content == b"a\r\n"
