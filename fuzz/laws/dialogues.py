"""Answers of servers: opening and reading ends in bounded steps, the same on blocking sockets and in an event loop."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import NamedTuple

import overthere
from conversations import ACCEPT, DATA, ECHO, ID, NEXT, NUMBER, PASSWORD, SOCKETS, Conversation, conversations, pack
from loopback import Script, put_in, speaks
from overthere.access.errors import AccessError
from overthere.access.resource import AsyncResource, Resource
from overthere.access.wire import Entry
from overthere.testing.replay import DOCUMENTED

WORDS = (
    NEXT, DATA, ID, ACCEPT, NUMBER, ECHO, b"\r\n", b"\r\n\r\n", b"\n", b".\r\n", b"\t", b"\0", b"\xff", b"-1", b"+-1",
    b"+-2", b"--1", b"+INFO: ", b"+VIEWS:\r\n ", b"+ASK:\r\n ", b"error.host\t1", b"HTTP/1.1 ", b"Content-Length: ",
    b"Transfer-Encoding: chunked\r\n", b"Location: ", b"Content-Location: ", b"http://h.example/", b"ftp://g.example/",
    b"file:///etc/passwd", b"gopher://h.example/1", b"mid:a@b", b"cid:a", b"data:,x", b"//", b"Content-Type: ",
    b"229 (|||50000|)\r\n", b"227 (9,9,9,9,200,1)\r\n", b"150 (9 bytes)\r\n", b"226 \r\n", b"550 ", b"220-", b"421 ",
    b"101 Capability list:\r\n", b"211 3 1 3 g\r\n", b"224 \r\n", b"480 ", b"281 \r\n", b"=?utf-8?q?a?=",
    b"VERSION 2\r\n", b"\x30\x84\xff\xff\xff\xff", b"\x30\x80", b"\x02\x01\x02", b"\x73\x20",
    b"\x65\x07\x0a\x01\0\x04\0\x04\0", b"z2wais", b"\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xff", b"\x88\0", b"\x89\0",
    b"\x03", b"\x0d", b"ATTRIBUTE OBJECT INTRINSIC ", b"ACCESS-METHOD", b"CONTENTS", b"LINK  L FILE ", b"FAILURE ",
    b"UNRESOLVED ", b"FORWARDED ", b"SEQUENCE ", b"'",
)  # fmt: skip
LONGEST = 4096
AFTER = "a test to tests/protocols/test_access_SCHEME.py, with the answer as recorded"
_MAX_GIVEN = 10_000
"""Pieces and entries that are taken."""
_LONGEST_ERROR = 2000
"""The maximum number of characters: 1,000 for the event, then the place, the paragraph and the URI."""


class _Outcome(NamedTuple):
    head: str
    content: bytes
    entries: tuple[Entry, ...]
    error: str
    steps: int


def check(data: bytes) -> None:
    """data: as `conversations` has it."""
    if len(data) < 2:
        return
    conversation = conversations()[data[0] % len(conversations())]
    blocking = _blocking(conversation, _script(conversation, data))
    waiting = _loop().run_until_complete(_async(conversation, _script(conversation, data)))
    assert blocking == waiting, f"{conversation.uri}: blocking {blocking}, in an event loop {waiting}"


def _script(conversation: Conversation, data: bytes) -> Script:
    octets = data[2:].replace(NUMBER, b"9" * 5000, 2).replace(ECHO, PASSWORD.encode(), 9)
    control, _, other = octets.partition(DATA)
    pieces = {0: deque(control.split(NEXT)), 1: deque([other])}
    if (size := data[1] % SOCKETS) and not conversation.uri.startswith("prospero:"):
        pieces = {number: deque(_split_answers(complete, size)) for number, complete in pieces.items()}
    return Script(pieces, data[1] >= SOCKETS, most=4 * len(octets) + 2000)


def _split_answers(answers: deque[bytes], size: int) -> Iterator[bytes]:
    """Pieces of this many octets; a placeholder for a value of the request is not split."""
    for answer in answers:
        if ID in answer or ACCEPT in answer:
            yield answer
        else:
            yield from (answer[at : at + size] for at in range(0, len(answer), size))


def _blocking(conversation: Conversation, script: Script) -> _Outcome:
    speaks(script)
    content, entries = bytearray(), list[Entry]()
    resource: Resource | None = None
    error = ""
    try:
        with overthere.open(conversation.uri, conversation.policy, credentials=conversation.credentials) as resource:
            for entry in resource.entries():
                entries.append(entry)
                assert len(entries) <= _MAX_GIVEN, "entries without end"
            for piece in resource:
                content += piece
                assert len(content) <= _most_octets(script), f"{len(content)} octets"
    except DOCUMENTED as failed:
        error = _error_text(failed, conversation)
    return _Outcome(_head_text(resource, conversation), bytes(content), tuple(entries), error, script.steps)


async def _async(told: Conversation, script: Script) -> _Outcome:
    speaks(script)
    content, entries = bytearray(), list[Entry]()
    resource: AsyncResource | None = None
    error = ""
    try:
        async with await overthere.aopen(told.uri, told.policy, credentials=told.credentials) as resource:
            async for entry in resource.entries():
                entries.append(entry)
                assert len(entries) <= _MAX_GIVEN, "entries without end"
            async for piece in resource:
                content += piece
                assert len(content) <= _most_octets(script), f"{len(content)} octets"
    except DOCUMENTED as failed:
        error = _error_text(failed, told)
    return _Outcome(_head_text(resource, told), bytes(content), tuple(entries), error, script.steps)


def _most_octets(script: Script) -> int:
    """The content is the data received, with each missing line end added."""
    return 4 * script.most


def _head_text(resource: Resource | AsyncResource | None, conversation: Conversation) -> str:
    """The head as text, which holds no password that was told to the server.  Raises: AssertionError."""
    text = repr(resource and resource.head)
    assert PASSWORD not in f"{text}{resource!r}" or not conversation.secret, text
    return text


def _error_text(error: Exception, conversation: Conversation) -> str:
    """An error as text, which is short and holds no such password either.  Raises: AssertionError."""
    text = f"{type(error).__name__}: {error}"
    assert PASSWORD not in f"{text}{error!r}" or not conversation.secret, text
    # Whatever else is raised becomes an error that looks like the server's: a mistake would be hidden in it.
    if isinstance(error, AccessError):
        assert not error.message.startswith("the server's data could not be read"), repr(error.__cause__)
        assert str(error).isprintable(), text
        assert len(text) <= _LONGEST_ERROR, f"an error of {len(text)} characters"
    return text


@cache
def _loop() -> asyncio.AbstractEventLoop:
    return asyncio.new_event_loop()


def seeds() -> Iterator[bytes]:
    for number, conversation in enumerate(conversations()):
        complete = pack(number, conversation)
        yield complete
        yield pack(number, conversation, 1 + number % 7)
        # Each of the first numbers that the server says, as a very long one.
        for digits in islice(re.finditer(rb"[0-9]+", complete[2:]), 6):
            start, end = digits.span()
            yield complete[: 2 + start] + NUMBER + complete[2 + end :]


put_in()
