"""Several requests in sequence over one connection (RFC 9112 9.3)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from overthere.access.coding import codings, decode_content
from overthere.access.errors import AccessFailed, AccessTimeout
from overthere.access.policy import Policy
from overthere.access.steps import Connect, Send, Step
from overthere.access.wire import Data, Dial, Dialogue, Hangup, Head, Read, Write
from overthere.protocols.http.answer import AnswerReader, response_details, tunnel

__all__ = ["Request", "RequestState", "keep_alive"]

_BODY = 1 << 16
_REDIRECTS = frozenset((301, 302, 303, 307, 308))


class Request(NamedTuple):
    """A request."""

    octets: bytes
    method: str
    limit: int
    """Octets of the content that are wanted; what is longer ends the connection."""


class RequestState:
    """What is asked next, and whether the connection takes another request: written from both sides of a dialogue."""

    __slots__ = ("asked", "is_cut", "is_open")

    def __init__(self) -> None:
        self.asked: Request | None = None
        self.is_open: bool = True
        self.is_cut: bool = False
        """Whether the content of the last answer was longer than asked for."""


def keep_alive(opening: Iterable[Step], policy: Policy, turn: RequestState) -> Dialogue:
    """For each request a `Head`; for one with content then its `Data`, and an empty `Data` at its end.

    opening: the steps of a plan before its request, which connect to the server, or to it through a proxy.
    The next request is in `turn.asked` before the dialogue goes on; None there, or a server that closes, ends it.
    Any status is an answer.

    Raises: ProtocolError, LimitExceeded, AccessFailed as `AnswerReader` does; AccessFailed as `tunnel` does.
    """
    for step in opening:
        match step:
            case Connect():
                yield Dial(step.host, step.port, step.tls, step.transport)
            case Send():
                yield Write(step.data)
            case _:
                yield from tunnel(policy)
    while turn.is_open and turn.asked is not None:
        asked, turn.asked, turn.is_cut = turn.asked, None, False
        turn.is_open = False
        yield Write(asked.octets)
        yield from _head_alone(policy, turn) if asked.method == "HEAD" else _answer(asked, policy, turn)
    yield Hangup()


def _answer(asked: Request, policy: Policy, turn: RequestState) -> Dialogue:
    reader = AnswerReader(policy, asked.method)
    event = yield from reader.head()
    head = _head(event.status_code, *response_details(event))
    yield head
    content = _content(reader, asked, turn)
    applied = codings(",".join(value for name, value in head.details["headers"] if name.lower() == "content-encoding"))
    yield from decode_content(content, applied, policy.max_bytes) if applied else content
    yield Data(b"")


def _content(reader: AnswerReader, asked: Request, turn: RequestState) -> Dialogue:
    """The content, as far as it is wanted; what the server means to do with the connection is known at its end."""
    taken = 0
    while isinstance(event := (yield from reader.event(_BODY)), reader.h11.Data):
        taken += len(event.data)
        if taken > asked.limit:
            turn.is_cut = True
            yield Data(bytes(event.data[: asked.limit - taken]))
            return
        yield Data(bytes(event.data))
    turn.is_open = _goes_on(reader)


def _goes_on(reader: AnswerReader) -> bool:
    """Whether the connection takes another request: what has come behind the answer belongs to none."""
    return reader.conn.their_state is reader.h11.DONE and not reader.held_octets


def _head(status: int, details: dict[str, Any], fields: dict[str, str]) -> Head:
    location = fields.get("location") if status in _REDIRECTS else None
    return Head(fields.get("content-type"), "server", None, location, status in (301, 308), details=details)


# What nearly all servers answer to HEAD: one head that came at once, of fields on lines of their own.  h11, which reads
# everything else, takes ten times as long.
_PLAIN = re.compile(
    rb"HTTP/1\.1 ([2-5][0-9]{2}) ([\t -~]*+)\r\n(?:[!#$%&'*+.^_`|~0-9A-Za-z-]++:[\t ]*+[\t -~\x80-\xff]*+\r\n)*+\r\n"
)
_SHARE = 3
"""The part of the patience that HEAD has: a server that does not answer it may answer GET."""
_FIELDS = re.compile(rb"\n([^:\r\n]++):[\t ]*+([^\r\n]*+)")


def _parse_plain_head(data: bytes) -> tuple[Head, bool] | None:
    """The answer to HEAD if it has come whole and is simply written, and whether the connection goes on."""
    told = _PLAIN.fullmatch(data)
    if told is None:
        return None
    raw = [(name.decode("ascii"), value.decode("latin-1").rstrip("\t ")) for name, value in _FIELDS.findall(data)]
    fields = {name.lower(): value for name, value in reversed(raw)}
    status = int(told[1])
    head = _head(status, {"status": status, "reason": told[2].decode("ascii"), "headers": raw}, fields)
    return head, "close" not in fields.get("connection", "").lower()


def _head_alone(policy: Policy, turn: RequestState) -> Dialogue:
    """The answer to HEAD, which has no content whatever its fields say (RFC 9110 9.3.2)."""
    data: bytes | None = yield Read(patience=policy.read_timeout / _SHARE)
    if data is None:
        raise AccessTimeout(f"no answer to HEAD for {policy.read_timeout / _SHARE:g} s", where="the response")
    if not data:
        raise AccessFailed("the server closed the connection before the response", "RFC 9112 9.5", where="the response")
    if told := _parse_plain_head(data):
        head, turn.is_open = told
        yield head
        return
    reader = AnswerReader(policy, "HEAD")
    reader.conn.receive_data(data)
    event = yield from reader.head()
    yield from _content(reader, Request(b"", "HEAD", 0), turn)
    yield _head(event.status_code, *response_details(event))
