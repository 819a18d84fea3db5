"""The head of an answer from a server or proxy, parsed by h11 (RFC 7230 3; RFC 9110 9.3.6)."""

from __future__ import annotations

from collections.abc import Generator
from email.utils import parsedate_to_datetime
from typing import Any

from overthere.access.errors import AccessFailed, LimitExceeded, ProtocolError, needs
from overthere.access.policy import Policy
from overthere.access.wire import Dialogue, Effect, Read
from overthere.ground.display import printable, shorten

__all__ = ["AnswerReader", "response_details", "retry_after", "status_line", "tunnel"]

_INTERIM = 100
_VERSION = b"HTTP/"
_TOLD = 80


class AnswerReader:
    """The answer to a request, read by h11, which is told what was asked: it must know whether there is a body.

    method: of the request; upgrade: whether it asks for WebSocket.
    """

    def __init__(self, policy: Policy, method: str = "GET", *, upgrade: bool = False) -> None:
        needs("h11")
        import h11

        more = [("Upgrade", "websocket")] if upgrade else []
        self.h11 = h11
        self.conn: Any = h11.Connection(h11.CLIENT, max_incomplete_event_size=4 * policy.max_line)
        self.conn.send(h11.Request(method=method, target="/", headers=[("Host", "h"), *more]))
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
                    raise LimitExceeded("a header, or the line before a chunk, is too long", where=where) from None
                if ended:
                    told = "the server closed the connection before the end of the response"
                    raise AccessFailed(told, "RFC 7230 3.4", where=where) from None
                raise ProtocolError(f"the response is not HTTP: {error}", "RFC 7230 3", where=where) from None
            if event is not self.h11.NEED_DATA:
                return event
            data = yield Read(size)
            ended = not data
            self.conn.receive_data(data)
            if self.conn.their_state is self.h11.SEND_RESPONSE:
                begun = self.held_octets.lstrip(b"\r\n")
                if not _VERSION.startswith(begun[: len(_VERSION)]):
                    told = (
                        f"the response is not HTTP: it begins with {shorten(printable(begun.decode('latin-1')), _TOLD)}"
                    )
                    raise ProtocolError(told, "RFC 9112 2.1", where=where)

    def head(self) -> Generator[Effect, Any, Any]:
        """The response, or the interim one that switches protocols; other interim ones are passed over (15.2).

        Raises: ProtocolError for a hundred of them.
        """
        for _ in range(_INTERIM):
            event = yield from self.event()
            if not isinstance(event, self.h11.InformationalResponse) or event.status_code == 101:
                return event
        raise ProtocolError(f"{_INTERIM} interim responses without a final one", "RFC 9110 15.2", where="the response")

    @property
    def held_octets(self) -> bytes:
        """What has come and is not yet read."""
        return self.conn.trailing_data[0]  # type: ignore[no-any-return]


def tunnel(policy: Policy) -> Dialogue:
    """What a proxy answers to CONNECT (9.3.6).  Raises: AccessFailed if it is no 2xx: there is no tunnel then."""
    reader = AnswerReader(policy, "CONNECT")
    event = yield from reader.head()
    where = "the proxy's answer"
    if not 200 <= event.status_code < 300:
        raise AccessFailed(f"the proxy does not open a tunnel: {status_line(event)}", "RFC 9110 9.3.6", where=where)
    if reader.held_octets:  # it would be read as if it had come through TLS
        raise ProtocolError("the server sent data before the request", "RFC 9110 9.3.6", where=where)


def status_line(event: Any) -> str:
    """The status and its words."""
    return f"{event.status_code} {event.reason.decode('latin-1')}".strip()


def response_details(event: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """What a response says beside its content, for `Head.details`; and its fields by name, of equals the first."""
    fields = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in event.headers.raw_items()]
    details = {"status": event.status_code, "reason": event.reason.decode("latin-1"), "headers": fields}
    return details, {name.lower(): value for name, value in reversed(fields)}


def retry_after(value: str, now: float) -> float | None:
    """Seconds to wait, of the field Retry-After (RFC 9110 10.2.3): a number of them, or a date; None for neither.

    >>> retry_after("120", 0.0), retry_after("Thu, 01 Jan 1970 00:01:00 GMT", 0.0), retry_after("soon", 0.0)
    (120.0, 60.0, None)
    """
    value = value.strip()
    if value.isascii() and value.isdigit():
        return float(value[:12])
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, OverflowError, OSError):
        return None
