"""HTTP: the request that a URI stands for (RFC 9110 4.3.2, 7.1 and 7.2; the message of RFC 7230)."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

from overthere.access.coding import codings, undone
from overthere.access.errors import (
    LARGER,
    AccessFailed,
    LimitExceeded,
    ProtocolError,
    ResourceMissing,
    ResourceUnavailable,
    needs,
)
from overthere.access.media import guessed
from overthere.access.proxy import basic
from overthere.access.steps import Connect, Credentials, Receive, Send, Step, connect, without_zone
from overthere.access.wire import Data, Dial, Dialogue, Effect, Hangup, Head, Read, Wire, Write
from overthere.errors import PlanRefused
from overthere.schemes.known.http import HTTPLocator

if TYPE_CHECKING:
    from overthere.access.planning import Plan
    from overthere.access.policy import Policy

__all__ = ["Reader", "basic", "dialogue", "opening", "said", "steps", "tunnel"]

# Runs are taken whole and never given back: a long target must not be remembered character by character.
_TARGET = re.compile(r"/(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/?]++|%[0-9A-Fa-f]{2})*+")
_HOST = re.compile(r"\[[A-Za-z0-9\-._~!$&'()*+,;=:]+\]|(?:[A-Za-z0-9\-._~!$&'()*+,;=]++|%[0-9A-Fa-f]{2})++")


def steps(locator: HTTPLocator, credentials: Credentials) -> Iterator[Step]:
    """One GET, after which the server closes.  The fragment is not sent (RFC 9110 7.1).

    Raises: PlanRefused for userinfo, which is to be treated as an error (RFC 9110 4.2.4), and for what can stand in
    no request.
    """
    if locator.user is not None or locator.password is not None:
        raise PlanRefused(
            f"there is userinfo before the host {locator.host!r}: it is to be treated as an error, "
            "and no HTTP request can say it (RFC 9110 4.2.4)"
        )
    origin = locator.origin
    tls = locator.scheme == "https"
    yield connect(locator.host, origin.port, "RFC 9110 4.3.3" if tls else "RFC 9110 4.3.2", tls=tls)
    # RFC 7230 5.4: identical to the authority without userinfo, so a port that is written is sent.
    port = "" if locator.port is None else f":{locator.port}"
    head, secret, lines = opening(locator, port) + b"Connection: close\r\nAccept: */*\r\n", None, 5
    if credentials.user is not None and credentials.password is not None:
        told = basic(credentials.user, credentials.password)
        secret = (len(head) + 15, len(head) + 15 + len(told))
        head += b"Authorization: " + told + b"\r\n"
        lines += 1
    yield Send(source="RFC 9110 7.1 and 7.2", data=head + b"\r\n", secret=secret, lines=lines)
    yield Receive(source="RFC 7230 3.3.3", what="the response", until="length")


def opening(locator: HTTPLocator, port: str) -> bytes:
    """The request line of a GET, and Host, which should come first after it (RFC 9110 7.2).

    port: what Host says after the host.

    >>> from overthere import URI
    >>> opening(URI("http://www.example.org/pub/WWW/").locator, "")
    b'GET /pub/WWW/ HTTP/1.1\\r\\nHost: www.example.org\\r\\n'
    """
    # Path and query are sent as the URI has them: nothing is decoded into the request (RFC 3986 7.3).
    if not _TARGET.fullmatch(locator.target):
        raise PlanRefused("the path or query is no request-target: it holds what a URI does not (RFC 7230 5.3.1)")
    host = without_zone(locator.host)
    if not _HOST.fullmatch(host):
        raise PlanRefused("the host is no host of a URI, and so of no Host field (RFC 9110 7.2)")
    return f"GET {locator.target} HTTP/1.1\r\nHost: {host}{port}\r\n".encode("ascii")


# -- carrying it out


def dialogue(plan: Plan, policy: Policy) -> Dialogue:
    """One request and its response; h11 reads the head and chunks, any other body is passed through as it comes."""
    asked = b""
    for step in plan.steps:
        match step:
            case Connect(host=host, port=port, tls=tls, transport=transport):
                yield Dial(host, port, tls, transport)
            case Send(data=data):
                asked = data
                yield Write(data)
            case Receive(until="reply"):
                yield from tunnel(asked, policy)
            case Receive():
                yield from _response(asked, plan, policy)
            case _:
                raise AssertionError(step)
    yield Hangup()


_BODY = 1 << 18
_INTERIM = 100


class Reader:
    """The answer to a request, read by h11, which is told what was asked: it must know whether there is a body."""

    def __init__(self, asked: bytes, policy: Policy) -> None:
        needs("h11")
        import h11

        method, target, _ = asked.split(b" ", 2)
        more = [("Upgrade", "websocket")] if b"\r\nUpgrade: " in asked else []
        self.h11 = h11
        self.conn = h11.Connection(h11.CLIENT, max_incomplete_event_size=4 * policy.max_line)
        self.conn.send(h11.Request(method=method, target=target, headers=[("Host", "h"), *more]))
        self.conn.send(h11.EndOfMessage())

    def event(self, size: int = 1 << 16) -> Generator[Effect, Any, Any]:
        """The next event.

        Raises: ProtocolError for what is no HTTP; LimitExceeded for a head or chunk line that does not end;
        AccessFailed if the end comes first.
        """
        where, ended = "the response", False
        while True:
            try:
                event = self.conn.next_event()
            except self.h11.RemoteProtocolError as error:
                if error.error_status_hint == 431:
                    raise LimitExceeded("a head, or the line before a chunk, that is too long", where=where) from None
                if ended:
                    told = "the server closed the connection before the end of the response"
                    raise AccessFailed(told, "RFC 7230 3.4", where=where) from None
                raise ProtocolError(f"the response is no HTTP: {error}", "RFC 7230 3", where=where) from None
            if event is not self.h11.NEED_DATA:
                return event
            data = yield Read(size)
            ended = not data
            self.conn.receive_data(data)

    def head(self) -> Generator[Effect, Any, Any]:
        """The response, or the interim one that switches protocols; other interim ones are passed over (15.2).

        Raises: ProtocolError for a hundred of them.
        """
        for _ in range(_INTERIM):
            event = yield from self.event()
            if not isinstance(event, self.h11.InformationalResponse) or event.status_code == 101:
                return event
        raise ProtocolError(f"{_INTERIM} interim responses and no other", "RFC 9110 15.2", where="the response")

    @property
    def held(self) -> bytes:
        """What has come and is not yet read."""
        return self.conn.trailing_data[0]


def tunnel(asked: bytes, policy: Policy) -> Dialogue:
    """What a proxy answers to CONNECT (9.3.6).  Raises: AccessFailed if it is no 2xx: there is no tunnel then."""
    reader = Reader(asked, policy)
    event = yield from reader.head()
    where = "the proxy's answer"
    if not 200 <= event.status_code < 300:
        raise AccessFailed(f"the proxy opens no tunnel: {_status(event)}", "RFC 9110 9.3.6", where=where)
    if reader.held:  # it would be read as if it had come through TLS
        raise ProtocolError("octets of the server before it was spoken to", "RFC 9110 9.3.6", where=where)


def _status(event: Any) -> str:
    return f"{event.status_code} {event.reason.decode('latin-1')}".strip()


def said(event: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """What a response says beside its content, for `Head.details`; and its fields by name, of equals the first."""
    fields = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in event.headers.raw_items()]
    details = {"status": event.status_code, "reason": event.reason.decode("latin-1"), "headers": fields}
    return details, {name.lower(): value for name, value in reversed(fields)}


_LATER = frozenset((408, 425, 429))
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z\-]+"
_MEDIA_TYPE = re.compile(rf"(?s){_TOKEN}/{_TOKEN}(?:[ \t]*;.*)?")


def _response(asked: bytes, plan: Plan, policy: Policy) -> Dialogue:
    """A redirect's place, or the content.

    Content-Location is no base: what it claims of another URI cannot be trusted (RFC 9110 6.4.2, 8.7), and since
    RFC 7231 (Appendix B) it names none.  It stands among the fields of `details`.  A content coding is undone; that of
    a file which is packed itself stays, and `details` has it as "coding".

    Raises: ResourceMissing, ResourceUnavailable with the status as their code for all that is neither (15.4 to 15.6).
    """
    reader = Reader(asked, policy)
    event = yield from reader.head()
    details, fields = said(event)
    status: int = event.status_code
    if status in _REDIRECTS and "location" in fields:
        yield Head(location=fields["location"], permanent=status in (301, 308), details=details)
        return
    if status >= 300:
        kind = ResourceUnavailable if status >= 500 or status in _LATER else ResourceMissing
        raise kind(_status(event), str(status), "RFC 9110 15", plan.uri)
    if status == 206:
        raise ProtocolError("a part of the content, which was not asked for", "RFC 9110 15.3.7", plan.uri)
    size = _length(status, fields)
    if size and policy.max_bytes is not None and size > policy.max_bytes:
        raise LimitExceeded(
            f"{size:,} octets are said to follow: more than {policy.max_bytes:,}; {LARGER}", uri=plan.uri
        )
    named = fields.get("content-type", "")
    known = _MEDIA_TYPE.fullmatch(named) is not None
    applied = codings(",".join(value for name, value in details["headers"] if name.lower() == "content-encoding"))
    if applied and _is_packed(plan, named, applied):
        details["coding"], applied = ", ".join(applied), ()
    content = _content(reader, size, "transfer-encoding" in fields and size is None)
    if applied:
        content, size = undone(content, applied, policy.max_bytes), None
    yield Head(named if known else None, "server" if known else "", size, details=details)
    yield from content


def _is_packed(plan: Plan, media_type: str, applied: tuple[str, ...]) -> bool:
    """Whether the coding belongs to the file itself: servers say "gzip" of an archive `a.tar.gz` too."""
    if media_type.partition(";")[0].strip().lower() in _PACKED:
        return True
    path = plan.uri.partition("#")[0].partition("?")[0]
    return len(applied) == 1 and guessed(path.rpartition("/")[2])[1] == applied[0]


_PACKED = frozenset(
    f"application/{name}" for name in ("gzip", "x-gzip", "zstd", "x-tgz", "x-compressed-tar", "x-brotli")
)


def _content(reader: Reader, size: int | None, chunked: bool) -> Dialogue:
    """The octets of the body (RFC 7230 3.3.3), its transfer coding undone."""
    if chunked:
        while isinstance(event := (yield from reader.event(_BODY)), reader.h11.Data):
            yield Data(bytes(event.data))
        return
    wire = Wire()
    wire.held += reader.held
    yield from wire.rest() if size is None else wire.stream(size, "the response")


def _length(status: int, fields: dict[str, str]) -> int | None:
    """RFC 7230 3.3.3: how long the body is; None if chunks or the end of the connection say it."""
    if status == 204:
        return 0
    if "transfer-encoding" in fields or "content-length" not in fields:
        return None
    return int(fields["content-length"])  # h11 has seen that it is one number
