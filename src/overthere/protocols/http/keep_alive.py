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
from overthere.protocols.http.answer import AnswerReader, list_field, response_details, tunnel

_CHUNK_BYTES = 1 << 16
_REDIRECTS = frozenset((301, 302, 303, 307, 308))


class Request(NamedTuple):
    """A request."""

    octets: bytes
    method: str
    limit: int
    """The bytes of content to read; longer content ends the connection."""


class RequestState:
    """The next request, and whether the connection accepts another: both sides of a dialogue write it."""

    __slots__ = ("is_cut", "is_open", "request")

    def __init__(self) -> None:
        self.request: Request | None = None
        self.is_open: bool = True
        self.is_cut: bool = False
        """Whether the content of the last answer was longer than the limit of its request."""


def keep_alive(opening: Iterable[Step], policy: Policy, state: RequestState) -> Dialogue:
    """Yield a `Head` for each request, and unless it is HEAD the `Data` of its content, with an empty one at its end.

    opening: the steps of a plan before its request, which connect to the server, perhaps through a proxy.
    The caller puts the next request into `state.request` before it resumes the dialogue; None there, or a server that
    closes, ends it.  Any status is an answer.

    Raises: ProtocolError, LimitExceeded, AccessFailed like `AnswerReader`; AccessFailed like `tunnel`; AccessTimeout.
    """
    for step in opening:
        match step:
            case Connect():
                yield Dial(step.host, step.port, step.tls, step.transport)
            case Send():
                yield Write(step.data)
            case _:
                yield from tunnel(policy)
    is_reused = False
    while state.is_open and state.request is not None:
        if is_reused and (yield Read(patience=0.0)) is not None:
            # Data without a request, such as a 408, is not its answer (RFC 9112 9.2).
            raise AccessFailed("the server closed the idle connection", "RFC 9112 9.2", where="the response")
        is_reused = True
        request, state.request, state.is_cut = state.request, None, False
        state.is_open = False
        yield Write(request.octets)
        yield from _head_answer(policy, state) if request.method == "HEAD" else _answer(request, policy, state)
    yield Hangup()


def _answer(request: Request, policy: Policy, state: RequestState) -> Dialogue:
    reader = AnswerReader(policy, request.method)
    event = yield from reader.head()
    head = _head(event.status_code, *response_details(event))
    yield head
    content = _content(reader, request, state)
    applied = codings(list_field(head.details, "content-encoding"))
    yield from decode_content(content, applied, policy.max_bytes) if applied else content
    yield Data(b"")


def _content(reader: AnswerReader, request: Request, state: RequestState) -> Dialogue:
    """Yield the content up to the request's limit; at its end it is known whether the connection stays open."""
    size = 0
    while isinstance(event := (yield from reader.event(_CHUNK_BYTES)), reader.h11.Data):
        size += len(event.data)
        if size > request.limit:
            state.is_cut = True
            yield Data(bytes(event.data[: request.limit - size]))
            return
        yield Data(bytes(event.data))
    # Data after the answer would not belong to any request.
    state.is_open = reader.conn.their_state is reader.h11.DONE and not reader.held_octets


def _head(status: int, details: dict[str, Any], fields: dict[str, str]) -> Head:
    location = fields.get("location") if status in _REDIRECTS else None
    return Head(fields.get("content-type"), "server", None, location, status in (301, 308), details=details)


# The usual answer to HEAD: a head that arrives at once, with one field per line.  h11, which reads
# all other answers, takes ten times as long.
_PLAIN_HEAD = re.compile(
    rb"HTTP/1\.1 ([2-5][0-9]{2}) ([\t -~]*+)\r\n(?:[!#$%&'*+.^_`|~0-9A-Za-z-]++:[\t ]*+[\t -~\x80-\xff]*+\r\n)*+\r\n"
)
_HEAD_DIVISOR = 3
"""HEAD waits for `read_timeout` divided by this: a server that does not answer it may answer GET."""
_FIELDS = re.compile(rb"\n([^:\r\n]++):[\t ]*+([^\r\n]*+)")


def _parse_plain_head(data: bytes) -> tuple[Head, bool] | None:
    """Parse the answer to HEAD if it is complete and simple; return it and whether the connection stays open."""
    match = _PLAIN_HEAD.fullmatch(data)
    if match is None:
        return None
    raw = [(name.decode("ascii"), value.decode("latin-1").rstrip("\t ")) for name, value in _FIELDS.findall(data)]
    fields = {name.lower(): value for name, value in reversed(raw)}
    status = int(match[1])
    head = _head(status, {"status": status, "reason": match[2].decode("ascii"), "headers": raw}, fields)
    return head, "close" not in list_field(head.details, "connection").lower()


def _head_answer(policy: Policy, state: RequestState) -> Dialogue:
    """Yield the answer to HEAD, which has no content, whatever its fields say (RFC 9110 9.3.2)."""
    data: bytes | None = yield Read(patience=policy.read_timeout / _HEAD_DIVISOR)
    if data is None:
        raise AccessTimeout(f"no answer to HEAD for {policy.read_timeout / _HEAD_DIVISOR:g} s", where="the response")
    if not data:
        raise AccessFailed("the server closed the connection before the response", "RFC 9112 9.5", where="the response")
    if plain_head := _parse_plain_head(data):
        head, state.is_open = plain_head
        yield head
        return
    reader = AnswerReader(policy, "HEAD")
    reader.conn.receive_data(data)
    event = yield from reader.head()
    yield from _content(reader, Request(b"", "HEAD", 0), state)
    yield _head(event.status_code, *response_details(event))
