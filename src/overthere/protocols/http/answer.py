"""The head of an answer from a server or proxy, parsed by h11 (RFC 7230 3; RFC 9110 9.3.6)."""

from __future__ import annotations

from collections.abc import Generator
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any

from overthere.access.errors import (
    AccessFailed,
    LimitExceeded,
    ProtocolError,
    ResourceMissing,
    ResourceUnavailable,
    needs,
)
from overthere.access.policy import Policy
from overthere.access.wire import Dialogue, Effect, Read
from overthere.ground.display import printable, shorten

_MAX_1XX = 100
_TEMPORARY_ERRORS = frozenset((408, 425, 429))
_VERSION_START = b"HTTP/"
_WIDTH = 80


class AnswerReader:
    """Reads the answer to a request by h11, which must know the request to decide whether there is a body.

    method: that of the request; upgrade: whether it requests WebSocket.
    """

    def __init__(self, policy: Policy, method: str = "GET", *, upgrade: bool = False) -> None:
        needs("h11")
        import h11

        extra_headers = [("Upgrade", "websocket")] if upgrade else []
        self.h11 = h11
        self.conn: Any = h11.Connection(h11.CLIENT, max_incomplete_event_size=4 * policy.max_line)
        self.conn.send(h11.Request(method=method, target="/", headers=[("Host", "h"), *extra_headers]))
        self.conn.send(h11.EndOfMessage())

    def event(self, size: int = 1 << 16) -> Generator[Effect, Any, Any]:
        """Return the next event.

        Raises: ProtocolError for invalid HTTP; LimitExceeded for an endless head or chunk line;
        AccessFailed if the connection ends first.
        """
        where, is_ended = "the response", False
        while True:
            try:
                event = self.conn.next_event()
            except self.h11.RemoteProtocolError as error:
                if error.error_status_hint == 431:
                    raise LimitExceeded("a header, or the line before a chunk, is too long", where=where) from None
                if is_ended:
                    message = "the server closed the connection before the end of the response"
                    raise AccessFailed(message, "RFC 7230 3.4", where=where) from None
                raise ProtocolError(f"the response is not HTTP: {error}", "RFC 7230 3", where=where) from None
            if event is not self.h11.NEED_DATA:
                return event
            data = yield Read(size)
            is_ended = not data
            self.conn.receive_data(data)
            if self.conn.their_state is self.h11.SEND_RESPONSE:
                head = self.held_octets.lstrip(b"\r\n")
                if not _VERSION_START.startswith(head[: len(_VERSION_START)]):
                    message = (
                        f"the response is not HTTP: it begins with {shorten(printable(head.decode('latin-1')), _WIDTH)}"
                    )
                    raise ProtocolError(message, "RFC 9112 2.1", where=where)

    def head(self) -> Generator[Effect, Any, Any]:
        """Return the response, or the interim one that switches protocols; skip other interim ones (15.2).

        Raises: ProtocolError for a hundred interim responses.
        """
        for _ in range(_MAX_1XX):
            event = yield from self.event()
            if not isinstance(event, self.h11.InformationalResponse) or event.status_code == 101:
                return event
        raise ProtocolError(f"{_MAX_1XX} interim responses without a final one", "RFC 9110 15.2", where="the response")

    @property
    def held_octets(self) -> bytes:
        """The bytes that were received and not yet consumed."""
        return self.conn.trailing_data[0]  # type: ignore[no-any-return]


def tunnel(policy: Policy) -> Dialogue:
    """Read a proxy's answer to CONNECT (9.3.6).  Raises: AccessFailed if it is not 2xx: then there is no tunnel."""
    reader = AnswerReader(policy, "CONNECT")
    event = yield from reader.head()
    where = "the proxy's answer"
    if not 200 <= event.status_code < 300:
        raise AccessFailed(f"the proxy does not open a tunnel: {status_line(event)}", "RFC 9110 9.3.6", where=where)
    if reader.held_octets:  # it would be treated as if it were protected by TLS
        raise ProtocolError("the server sent data before the request", "RFC 9110 9.3.6", where=where)


def status_line(event: Any) -> str:
    """Return the status code and the reason."""
    return f"{event.status_code} {event.reason.decode('latin-1')}".strip()


def response_details(event: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the data of a response for `Head.details`, and its fields by name; of equal names the first counts."""
    fields = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in event.headers.raw_items()]
    details = {"status": event.status_code, "reason": event.reason.decode("latin-1"), "headers": fields}
    return details, {name.lower(): value for name, value in reversed(fields)}


def list_field(details: dict[str, Any], name: str) -> str:
    """Return the value of a field that is a list: its lines, joined by commas (RFC 9110 5.3).  name: in lower case."""
    return ",".join(value for field, value in details["headers"] if field.lower() == name)


def error_kind(status: int) -> type[ResourceMissing | ResourceUnavailable]:
    """Return the class of error for a status that is not the resource (15.5, 15.6)."""
    return ResourceUnavailable if status >= 500 or status in _TEMPORARY_ERRORS else ResourceMissing


def retry_after(value: str, now: float) -> float | None:
    """Return the seconds to wait in Retry-After (RFC 9110 10.2.3), a number or a date; None for other values.

    A date without a zone, in the form of asctime, is in UTC (5.6.7).

    >>> retry_after("120", 0.0), retry_after("Thu, 01 Jan 1970 00:01:00 GMT", 0.0), retry_after("soon", 0.0)
    (120.0, 60.0, None)
    """
    value = value.strip()
    if value.isascii() and value.isdigit():
        return float(value[:12])
    try:
        date = parsedate_to_datetime(value)
        return max(0.0, (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now)
    except (ValueError, OverflowError, OSError):
        return None
