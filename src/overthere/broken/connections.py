"""Connections that are kept between requests, by origin, for many threads (RFC 9112 9.3)."""

from __future__ import annotations

import contextlib
import threading
from collections import defaultdict
from time import monotonic
from typing import TYPE_CHECKING, Any

from overthere.access.errors import AccessError, AccessFailed
from overthere.access.transport import Transport
from overthere.access.wire import Data, Head
from overthere.protocols.http.kept import Asked, Turn, kept

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overthere.access.policy import Policy
    from overthere.access.steps import Connect
    from overthere.uri import URI

__all__ = ["Connection", "Connections"]

Origin = tuple[str, int, bool]


class Connection:
    """One connection, and what was answered over it."""

    def __init__(self, connect: Connect, policy: Policy, uri: URI, port: int | None) -> None:
        self.origin: Origin = (connect.host, connect.port, connect.tls)
        self.policy = policy
        self.turn: Turn = Turn()
        self.transport: Transport = Transport(kept(connect, policy, self.turn), policy, uri, port)
        self.answered: int = 0

    @property
    def is_open(self) -> bool:
        return self.turn.is_open and not self.transport.closed

    @property
    def peer(self) -> tuple[int, Any] | None:
        """The address that was judged and connected."""
        return self.transport.peer

    def ask(self, asked: Asked, uri: URI) -> Head:
        """The head of the answer.  Raises: AccessError."""
        transport, policy = self.transport, self.policy
        transport.uri, transport.received = uri, 0
        transport.until = None if policy.total_timeout is None else monotonic() + policy.total_timeout
        self.turn.asked = asked
        head = transport.advance()
        if not isinstance(head, Head):
            raise AccessFailed("the connection is closed", uri=uri)
        self.answered += 1
        return head

    def content(self) -> Iterator[bytes]:
        """The content of the answer, as far as it was asked for.  Raises: AccessError."""
        while isinstance(given := self.transport.advance(), Data) and given.octets:
            yield given.octets

    def close(self) -> None:
        self.transport.close()


class Connections:
    """Those that wait for the next request."""

    def __init__(self) -> None:
        self._idle: defaultdict[Origin, list[Connection]] = defaultdict(list)
        self._lock = threading.Lock()
        self._closed = False

    def ask(
        self, connect: Connect, policy: Policy, uri: URI, port: int | None, asked: Asked
    ) -> tuple[Connection, Head]:
        """The head of the answer, over a connection that waited or over a new one; it must be given back.

        A server may close a connection at any time: over one that waited, a request that got no answer is made again,
        once, over a new one (RFC 9112 9.3.1).

        Raises: AccessError.
        """
        old = self._waiting((connect.host, connect.port, connect.tls), policy)
        if old is not None:
            try:
                return old, old.ask(asked, uri)
            except AccessFailed:
                old.close()
            except AccessError:
                old.close()
                raise
        new = Connection(connect, policy, uri, port)
        try:
            return new, new.ask(asked, uri)
        except BaseException:
            new.close()
            raise

    def _waiting(self, origin: Origin, policy: Policy) -> Connection | None:
        """One that waits, and that the same policy has judged."""
        with self._lock:
            waiting = self._idle[origin]
            for at in range(len(waiting) - 1, -1, -1):
                if waiting[at].policy is policy:
                    return waiting.pop(at)
        return None

    def give_back(self, connection: Connection) -> None:
        """It waits for the next request, if it can take one."""
        with self._lock:
            if connection.is_open and not self._closed:
                self._idle[connection.origin].append(connection)
                return
        connection.close()

    def close(self) -> None:
        """All that wait are closed, and those that are given back later."""
        with self._lock:
            self._closed = True
            waiting, self._idle = self._idle, defaultdict(list)
        for connections in waiting.values():
            for connection in connections:
                with contextlib.suppress(AccessError):
                    connection.close()
