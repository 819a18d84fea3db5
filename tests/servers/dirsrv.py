"""dirsrv 5.3 of Prospero, which is no longer available: recorded answers, and how requests are compared."""

from __future__ import annotations

import anyio
import pytest

from overthere import Credentials, aopen
from overthere import open as open_uri
from overthere.access.errors import AccessError
from overthere.access.policy import Policy
from overthere.access.resource import Resource
from overthere.access.wire import Entry, Head
from overthere.protocols.prospero.message import read_lines, read_packet
from servers.replay import Exchange, recorded

PROBE = Credentials(user="probe")
LOCAL = Policy.local().with_(read_timeout=120)
"""Long enough that a busy machine sends nothing twice; the first wait is a fifteenth of it."""
LOSSY = Policy.local().with_(read_timeout=15)
"""The same if packets are lost: then the first wait is needed."""
QUICK = LOCAL.with_(read_timeout=0.3)
ROWS = [Exchange(row["send"], row["recv"]) for row in recorded("prospero/dirsrv-5.3b.jsonl")]
LIST, LIST_ONE, INFO, CONTENTS, _, INFO_NOPE, LIST_NOPE, _, NONSENSE = ROWS
HELLO = b"hello from prospero\n"


def packet_lines(request: bytes) -> list[tuple[bytes, ...]]:
    return list(read_lines(read_packet(request).data))


def same_request(request: bytes, expected: bytes) -> str:
    """Whether requests are equal except for the connection id and the packets received, which the client chooses.

    Option and component of a LIST may differ, since access methods were recorded for one name only; so may the user
    name, which is not sent to a redirect.
    """
    ours, theirs = read_packet(request), read_packet(expected)
    if ours[1:3] != theirs[1:3] or ours[4:7] != theirs[4:7] or request[:1] != expected[:1]:
        return f"a packet {ours} where {theirs} was recorded"
    actual, yours = packet_lines(request), packet_lines(expected)
    if actual[-1][0] == yours[-1][0] == b"LIST" and actual[-1][2:3] == yours[-1][2:3] == (b"COMPONENTS",):
        actual, yours = actual[:-1], yours[:-1]
        return "" if actual == yours else f"asked {actual} where {yours} was recorded"
    data = ours.data.replace(b" anonymous\n", b" probe\n")
    return "" if data == theirs.data else f"asked {actual} where {yours} was recorded"


def adapt(request: bytes, answer: bytes) -> bytes:
    """Replace the connection id by that of the request."""
    return answer[:1] + request[1:3] + answer[3:]


def for_name(row: Exchange, old: bytes, new: bytes) -> Exchange:
    """The recorded exchange for another name, which the answer does not contain."""
    assert old in row.request
    return Exchange(row.request.replace(old, new), row.answers)


TREE = b"ASCII /info-tree/nope 0\n", b"ASCII /info-tree 0\n"
# Every request to the recorded server in the tests below.
SERVER = [
    INFO,
    CONTENTS,
    INFO_NOPE,
    for_name(INFO_NOPE, b"'ACCESS-METHOD'", b"'CONTENTS'"),
    LIST_NOPE,
    for_name(INFO_NOPE, *TREE),
    for_name(for_name(INFO_NOPE, b"'ACCESS-METHOD'", b"'CONTENTS'"), *TREE),
    LIST,
]


def open_both(uri: str, policy: Policy = LOCAL) -> tuple[list[Entry], bytes, Resource]:
    """Open with blocking sockets and in an event loop; both must give the same result."""
    with open_uri(uri, policy, credentials=PROBE) as resource:
        entries = list(resource.entries()) if resource.is_listing else []
        content = resource.read()

    async def open_async() -> tuple[list[Entry], bytes, Head]:
        async with await aopen(uri, policy, credentials=PROBE) as held:
            return [entry async for entry in held.entries()] if held.is_listing else [], await held.read(), held.head

    for backend in ("asyncio", "trio"):
        assert anyio.run(open_async, backend=backend) == (entries, content, resource.head)
    return entries, content, resource


def fail_both(uri: str, policy: Policy = LOCAL) -> AccessError:
    """The error of opening, which must be the same both ways."""
    with pytest.raises(AccessError) as caught:
        open_uri(uri, policy, credentials=PROBE)
    error = caught.value

    async def open_async() -> None:
        await aopen(uri, policy, credentials=PROBE)

    with pytest.raises(AccessError) as caught:
        anyio.run(open_async)
    assert (type(error), str(error)) == (type(caught.value), str(caught.value))
    return error
