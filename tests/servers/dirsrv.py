"""dirsrv 5.3 of Prospero, which exists no more: what it answered, and what of a request must be the recorded one."""

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

__all__ = [
    "CONTENTS",
    "HELLO",
    "INFO",
    "LIST",
    "LIST_ONE",
    "LOCAL",
    "LOSSY",
    "NONSENSE",
    "PROBE",
    "QUICK",
    "SERVER",
    "adapt",
    "fails",
    "gave",
    "same",
]

PROBE = Credentials(user="probe")
LOCAL = Policy.local().with_(read_timeout=120)
"""Long enough that a machine under load asks nothing twice: a fifteenth is what is waited first."""
LOSSY = Policy.local().with_(read_timeout=15)
"""The same, where some is lost, and what is waited first is waited."""
QUICK = LOCAL.with_(read_timeout=0.3)
ROWS = [Exchange(row["send"], row["recv"]) for row in recorded("prospero/dirsrv-5.3b.jsonl")]
LIST, LIST_ONE, INFO, CONTENTS, _, INFO_NOPE, LIST_NOPE, _, NONSENSE = ROWS
HELLO = b"hello from prospero\n"


def asked(request: bytes) -> list[tuple[bytes, ...]]:
    return list(read_lines(read_packet(request).data))


def same(request: bytes, expected: bytes) -> str:
    """Octet by octet but for the connection id and through which packet has been received, which are the client's.

    The option and the component of a LIST may differ: a listing with access methods was recorded for one name alone.
    So may the name of who asks: credentials are not told to where a redirect leads.
    """
    ours, theirs = read_packet(request), read_packet(expected)
    if ours[1:3] != theirs[1:3] or ours[4:7] != theirs[4:7] or request[:1] != expected[:1]:
        return f"a packet {ours} where {theirs} was recorded"
    mine, yours = asked(request), asked(expected)
    if mine[-1][0] == yours[-1][0] == b"LIST" and mine[-1][2:3] == yours[-1][2:3] == (b"COMPONENTS",):
        mine, yours = mine[:-1], yours[:-1]
        return "" if mine == yours else f"asked {mine} where {yours} was recorded"
    data = ours.data.replace(b" anonymous\n", b" probe\n")
    return "" if data == theirs.data else f"asked {mine} where {yours} was recorded"


def adapt(request: bytes, answer: bytes) -> bytes:
    """The connection id is that of the request."""
    return answer[:1] + request[1:3] + answer[3:]


def other(row: Exchange, old: bytes, new: bytes) -> Exchange:
    """A recorded exchange for another name: the answer says nothing of it."""
    assert old in row.request
    return Exchange(row.request.replace(old, new), row.answers)


TREE = b"ASCII /info-tree/nope 0\n", b"ASCII /info-tree 0\n"
# Every request that the tests below make of the recorded server.
SERVER = [
    INFO,
    CONTENTS,
    INFO_NOPE,
    other(INFO_NOPE, b"'ACCESS-METHOD'", b"'CONTENTS'"),
    LIST_NOPE,
    other(INFO_NOPE, *TREE),
    other(other(INFO_NOPE, b"'ACCESS-METHOD'", b"'CONTENTS'"), *TREE),
    LIST,
]


def gave(uri: str, policy: Policy = LOCAL) -> tuple[list[Entry], bytes, Resource]:
    """What opening gives on blocking sockets and in an event loop, which must be the same."""
    with open_uri(uri, policy, credentials=PROBE) as found:
        entries = list(found.entries()) if found.is_listing else []
        content = found.read()

    async def again() -> tuple[list[Entry], bytes, Head]:
        async with await aopen(uri, policy, credentials=PROBE) as held:
            return [one async for one in held.entries()] if held.is_listing else [], await held.read(), held.head

    for backend in ("asyncio", "trio"):
        assert anyio.run(again, backend=backend) == (entries, content, found.head)
    return entries, content, found


def fails(uri: str, policy: Policy = LOCAL) -> AccessError:
    """The error that opening ends in, the same in both ways."""
    with pytest.raises(AccessError) as told:
        open_uri(uri, policy, credentials=PROBE)
    one = told.value

    async def again() -> None:
        await aopen(uri, policy, credentials=PROBE)

    with pytest.raises(AccessError) as told:
        anyio.run(again)
    assert (type(one), str(one)) == (type(told.value), str(told.value))
    return one
