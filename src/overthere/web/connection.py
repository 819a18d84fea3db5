"""A connection of the explainer with deadlines; the number of connections is limited."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import Any, ClassVar

from overthere.ground.extras import brought_by
from overthere.web.limits import Limits

with brought_by("web"):
    import h11
    from uvicorn.protocols.http.h11_impl import H11Protocol

_BAD_REQUEST = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
_TIMEOUT = _BAD_REQUEST.replace(b"400 Bad Request", b"408 Request Timeout")
_ORDER = count()


class _Connection(H11Protocol):
    """A connection of uvicorn with deadlines."""

    limits: ClassVar[Limits]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.number: int = next(_ORDER)
        """The start order of the current request: lower is older."""
        self.answering: bool | None = None
        """Whether the current request is read completely, so that the server has to answer."""
        self.timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]
        self._update()  # it is the newest now
        self._limit_connections()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._update()

    def on_response_complete(self) -> None:
        self.answering = None
        super().on_response_complete()
        self._update()

    def send_400_response(self, msg: str) -> None:
        """Answer invalid HTTP with 400, without content as for a HEAD, unless an answer has begun; send no other."""
        if self.cycle is not None:
            self.cycle.disconnected = True
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.write(_BAD_REQUEST)
        self.transport.close()

    def _update(self) -> None:
        """Set a new deadline when the state changes; slowly received bytes do not extend it."""
        answering = self.conn.their_state in (h11.DONE, h11.MUST_CLOSE) and self.conn.our_state is not h11.DONE
        if answering == self.answering:
            return
        self.answering = answering
        self.number = next(_ORDER)
        self._cancel()
        seconds = self.limits.answering if answering else self.limits.reading
        self.timer = self.loop.call_later(seconds, self._expire)

    def _cancel(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def _expire(self) -> None:
        """Close the connection at its deadline; answer 408 if a request has begun."""
        has_begun = self.conn.their_state is not h11.IDLE or bool(self.conn.trailing_data[0])
        unanswered = self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE)
        if self.answering or self.transport.is_closing() or not (has_begun and unanswered):
            self.transport.abort()
            return
        self.transport.write(_TIMEOUT)
        self.transport.close()
        self.timer = self.loop.call_later(self.limits.reading, self.transport.abort)

    def _limit_connections(self) -> None:
        """If there are too many connections, close the oldest one without a complete request, otherwise this one."""
        if len(self.connections) <= self.limits.connections:
            return
        waiting = (peer for peer in self.connections if isinstance(peer, _Connection) and not peer.answering)
        oldest = min(waiting, key=lambda peer: peer.number, default=self)
        self.connections.discard(oldest)
        oldest.transport.abort()


def connection_type(limits: Limits) -> type[H11Protocol]:
    """Return a class of connections with these limits, for uvicorn."""
    return type("Connection", (_Connection,), {"limits": limits})
