"""Laws of access for recorded answers of further protocols, damaged by `AccessSuite`."""

from __future__ import annotations

import json
from collections.abc import Callable
from email.errors import CharsetError
from typing import Any, ClassVar

import anyio
import pytest

import overthere
from overthere import Policy, Registry, Scheme
from overthere.access.errors import ProtocolError
from overthere.access.wire import Data, Dialogue, Entry, Head, Item
from overthere.schemes import Access
from overthere.testing import AccessSuite
from servers.replay import TRANSCRIPTS
from test_access_wais import CASES

LDAP = json.loads((TRANSCRIPTS / "ldap/slapd-2.5.13.jsonl").read_text().splitlines()[0])


class Spoiled(AccessSuite):
    runs: ClassVar[int] = 200


class TestArticle(Spoiled):
    uri = "nntp://joe:s3cr%40t@h/local.test/1"
    answer = (TRANSCRIPTS / "news/article").read_bytes()


class TestOverview(Spoiled):
    uri = "news://h/local.test"
    answer = (TRANSCRIPTS / "news/overview").read_bytes()


class TestEncodedWord(Spoiled):
    uri = "news://h/local.test"
    answer = (TRANSCRIPTS / "news/overview").read_bytes().replace(b"\t", b"\t=?\xe9?q?a?= =?utf-8?q?caf=C3=A9?=", 1)

    def test_what_it_is(self) -> None:
        """`email` raises a CharsetError for the first, which is neither our error nor a ValueError."""
        result = self.whole()
        assert result.error is None
        assert result.entries[0].name.startswith("=?\ufffd?q?a?= café")


class TestNewsgroups(Spoiled):
    uri = "news://h/*"
    answer = (TRANSCRIPTS / "news/newsgroups").read_bytes()


class TestNumbers(Spoiled):
    uri = "nntp://h/local.test/1-"
    answer = (TRANSCRIPTS / "news/numbers").read_bytes()


class TestLDAP(Spoiled):
    uri = f"ldap://h{LDAP['path']}"
    answer = bytes.fromhex(LDAP["answer"])


class TestWAISSearch(Spoiled):
    uri, answer = CASES["search"]


class TestWAISDocument(Spoiled):
    uri, answer = CASES["document"]


class TestGopherPlus(Spoiled):
    uri = "gopher://h.example/0a%09%09+"
    answer = b"+16\r\n0123456789abcdef"


class TestAttributes(Spoiled):
    uri = "gopher://h.example/0a%09%09!"
    answer = (
        b"+-1\r\n+INFO: 0a doc\t0/a\th.example\t70\t+\r\n+ADMIN:\r\n Admin: Joe <joe@h>\r\n"
        b" Mod-Date: x <19940101120000>\r\n"
        b"+VIEWS:\r\n text/plain: <1k>\r\n text/html En_US: <.5k>\r\n+ABSTRACT:\r\n one\r\n.\r\n"
    )


class TestForm(Spoiled):
    uri = "gopher://h.example/0a%09%09!"
    answer = b"+-2\r\n+INFO: 0a doc\t0/a\th.example\t70\t?\r\n+ASK:\r\n Ask: Who?\tjoe\r\n Choose: Size\t1\t20\r\n"


class TestFTPSize(Spoiled):
    uri = "ftp://h.example/a.bin"
    answer = (
        b"220 there\r\n331 password\r\n230 in\r\n200 I\r\n500 no EPSV\r\n227 Entering (127,0,0,1,195,80)\r\n"
        b"150 Opening BINARY mode (16 bytes)\r\n226 done\r\n221 bye\r\n"
    )
    data = b"0123456789abcdef"


class TestRedirect(Spoiled):
    uri = "http://h.example/a"
    answer = b"HTTP/1.1 302 Found\r\nLocation: http://h.example:8080/b\r\nContent-Length: 0\r\n\r\n"


class TestLater(Spoiled):
    uri = "http://h.example/a"
    answer = b"HTTP/1.1 503 Later\r\nRetry-After: 120\r\nContent-Length: 0\r\n\r\n"
    missing = True


class TestBothLengths(Spoiled):
    uri = "http://h.example/a"
    answer = (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 16, 16\r\nAge: 7\r\n"
        b"Content-Encoding: identity\r\nContent-Type: text/plain; charset=x\r\n\r\n0123456789abcdef"
    )


# -- errors of a dialogue that are not documented


def early() -> Dialogue:
    yield from fails()


def late() -> Dialogue:
    yield Head("text/plain")
    yield Data(b"one")
    yield from fails()


def listing() -> Dialogue:
    yield Head(listing=True)
    yield Item(Entry("one"))
    yield from fails()


def fails() -> Dialogue:
    raise ERRORS[-1]
    yield


ERRORS: list[Exception] = []


def registry(dialogue: Callable[[], Dialogue]) -> Registry:
    def steps(locator: object, credentials: object) -> Any:
        return iter(())

    scheme = Scheme(
        name="x-fails", title="x", documents={"rfc3986": "x"}, access=Access(steps, lambda plan, policy: dialogue())
    )
    return Registry.default().with_(scheme)


def read(dialogue: Callable[[], Dialogue]) -> list[Exception]:
    """The errors of opening and of reading, twice."""
    errors: list[Exception] = []
    try:
        resource = overthere.open("x-fails:a", Policy.local(), registry=registry(dialogue))
    except Exception as error:
        return [error]
    with resource:
        for _ in range(2):
            try:
                list(resource.entries()) if resource.is_listing else resource.read()
            except Exception as error:
                errors.append(error)
    return errors


async def aread(dialogue: Callable[[], Dialogue]) -> list[Exception]:
    errors: list[Exception] = []
    try:
        resource = await overthere.aopen("x-fails:a", Policy.local(), registry=registry(dialogue))
    except Exception as error:
        return [error]
    async with resource:
        for _ in range(2):
            try:
                [entry async for entry in resource.entries()] if resource.is_listing else await resource.read()
            except Exception as error:
                errors.append(error)
    return errors


@pytest.mark.parametrize("dialogue", [early, late, listing])
@pytest.mark.parametrize(
    "error",
    [CharsetError("x"), ValueError("Exceeds the limit"), KeyError(1), RecursionError(), MemoryError(), OSError(5, "x")],
)
@pytest.mark.parametrize("mode", ["sync", "async"])
def test_undocumented_errors_become_access_errors(
    dialogue: Callable[[], Dialogue], error: Exception, mode: str
) -> None:
    ERRORS.append(error)
    errors = read(dialogue) if mode == "sync" else anyio.run(aread, dialogue)
    assert len(errors) == (1 if dialogue is early else 2)
    for err in errors:
        assert type(err) is ProtocolError
        assert err.__cause__ is error
        assert type(error).__name__ in str(err)
        assert "x-fails:a" in str(err)


def test_documented_errors_are_unchanged() -> None:
    ERRORS.append(overthere.NotSpecified("there is none"))
    assert read(early) == ERRORS[-1:]
    assert read(late)[0] is ERRORS[-1]
