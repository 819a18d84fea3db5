"""A connection pool by origin (RFC 9112 9.3)."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from time import monotonic
from typing import TYPE_CHECKING, Any

from overthere.access.errors import AccessFailed
from overthere.access.transport import Carrier
from overthere.access.wire import Data, Head, Item
from overthere.protocols.http.keep_alive import Request, RequestState, keep_alive

if TYPE_CHECKING:
    from overthere.access.policy import Policy
    from overthere.access.steps import Connect
    from overthere.broken.loop import Work
    from overthere.values.uri import URI

MOST = 100
"""Maximum number of idle connections: each uses a file descriptor."""
Origin = tuple[str, int, bool]


def next_item(carrier: Carrier) -> Work[Head | Data | Item | None]:
    """The next item of a dialogue; None at its end.  Raises: AccessError, after closing the carrier."""
    try:
        return (yield from carrier.run_to_result())
    except BaseException as error:
        carrier.fail(error)
        raise


class Connection:
    """A connection, and the state of its current request."""

    def __init__(self, connect: Connect, policy: Policy, uri: URI, port: int | None) -> None:
        self.origin: Origin = (connect.host, connect.port, connect.tls)
        self.policy = policy
        self.state: RequestState = RequestState()
        self.carrier: Carrier = Carrier(keep_alive((connect,), policy, self.state), policy, uri, port)

    @property
    def is_open(self) -> bool:
        return self.state.is_open and not self.carrier.is_closed

    @property
    def peer(self) -> tuple[int, Any] | None:
        """The address that the policy approved and that is connected."""
        return self.carrier.peer_address

    def ask(self, request: Request) -> Work[Head]:
        """Send a request and return the head of the response.  Raises: AccessError."""
        carrier, total = self.carrier, self.policy.total_timeout
        carrier.received_bytes = 0
        carrier.deadline = None if total is None else monotonic() + total
        self.state.request = request
        head = yield from next_item(carrier)
        if not isinstance(head, Head):
            raise AccessFailed("the connection is closed", uri=carrier.uri)
        return head

    def content(self, limit: int) -> Work[bytes]:
        """The decoded content of the response; if it exceeds `limit` bytes, its first `limit + 1`.

        Raises: AccessError.
        """
        content = bytearray()  # a list of pieces would take 60 octets for each
        while isinstance(item := (yield from next_item(self.carrier)), Data) and item.octets:
            content += item.octets
            if len(content) > limit:
                self.state.is_cut = True
                self.close()
                break
        return bytes(content[: limit + 1])

    def close(self) -> None:
        self.carrier.release()


class Connections:
    """A pool of idle connections.

    most: the maximum number of idle connections; beyond it, the one that has been idle longest is closed.
    """

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self._idle: defaultdict[Origin, list[Connection]] = defaultdict(list)
        self._order: dict[Connection, None] = {}
        """All of them; the one that has been idle longest comes first."""

    def ask(
        self, connect: Connect, policy: Policy, uri: URI, port: int | None, request: Request
    ) -> Work[tuple[Connection, Head]]:
        """Send a request over an idle or new connection; return the connection, to be given back, and the head.

        A server may close an idle connection at any time, so a request without an answer over one is retried once, over
        a new connection (RFC 9112 9.3.1).

        uri: the URI that errors name and the policy checks.

        Raises: AccessError.
        """
        old = self._idle_connection((connect.host, connect.port, connect.tls), policy)
        if old is not None:
            with contextlib.suppress(AccessFailed):
                head = yield from old.ask(request)
                if head.details["status"] != 408:
                    return old, head
                old.close()  # it was idle for too long (RFC 9110 15.5.9)
        new = Connection(connect, policy, uri, port)
        return new, (yield from new.ask(request))

    def _idle_connection(self, origin: Origin, policy: Policy) -> Connection | None:
        """Remove and return an idle connection that the same policy approved, or None."""
        waiting = self._idle[origin]
        for at in range(len(waiting) - 1, -1, -1):
            if waiting[at].policy is policy:
                del self._order[waiting[at]]
                return waiting.pop(at)
        return None

    def give_back(self, connection: Connection) -> None:
        """Return a connection to the pool if it can be reused, otherwise close it."""
        if not connection.is_open:
            connection.close()
            return
        self._idle[connection.origin].append(connection)
        self._order[connection] = None
        if len(self._order) > self.most:
            oldest = next(iter(self._order))
            del self._order[oldest]
            self._idle[oldest.origin].remove(oldest)
            oldest.close()

    def close(self) -> None:
        """Close all idle connections."""
        self._idle.clear()
        while self._order:
            self._order.popitem()[0].close()
