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

__all__ = ["MOST", "Connection", "Connections", "next_item"]

MOST = 100
"""Connections that wait at once: each is a descriptor of this process."""
Origin = tuple[str, int, bool]


def next_item(carrier: Carrier) -> Work[Head | Data | Item | None]:
    """What a dialogue gives next; None at its end.  Raises: AccessError, after which all is closed."""
    try:
        return (yield from carrier.steps())
    except BaseException as error:
        carrier.fail(error)
        raise


class Connection:
    """One connection, and what was answered over it."""

    def __init__(self, connect: Connect, policy: Policy, uri: URI, port: int | None) -> None:
        self.origin: Origin = (connect.host, connect.port, connect.tls)
        self.policy = policy
        self.turn: RequestState = RequestState()
        self.carrier: Carrier = Carrier(keep_alive((connect,), policy, self.turn), policy, uri, port)

    @property
    def is_open(self) -> bool:
        return self.turn.is_open and not self.carrier.is_closed

    @property
    def peer(self) -> tuple[int, Any] | None:
        """The address that was judged and connected."""
        return self.carrier.peer

    def ask(self, asked: Request) -> Work[Head]:
        """The head of the answer.  Raises: AccessError."""
        carrier, total = self.carrier, self.policy.total_timeout
        carrier.received = 0
        carrier.deadline = None if total is None else monotonic() + total
        self.turn.asked = asked
        head = yield from next_item(carrier)
        if not isinstance(head, Head):
            raise AccessFailed("the connection is closed", uri=carrier.uri)
        return head

    def content(self, limit: int) -> Work[bytes]:
        """The content of the answer, also of what was packed: of more than so many octets one more.

        Raises: AccessError.
        """
        pieces: list[bytes] = []
        left = limit
        while isinstance(one := (yield from next_item(self.carrier)), Data) and one.octets:
            pieces.append(one.octets[: left + 1])
            left -= len(one.octets)
            if left < 0:
                self.turn.is_cut = True
                self.close()
                break
        return b"".join(pieces)

    def close(self) -> None:
        self.carrier.release()


class Connections:
    """Those that wait for the next request.

    most: how many wait at once; of more, the one that has waited longest is closed.
    """

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self._idle: defaultdict[Origin, list[Connection]] = defaultdict(list)
        self._order: dict[Connection, None] = {}
        """All of them, the one that has waited longest first."""

    def ask(
        self, connect: Connect, policy: Policy, uri: URI, port: int | None, asked: Request
    ) -> Work[tuple[Connection, Head]]:
        """The head of the answer, over a connection that waited or over a new one; it must be given back.

        A server may close a connection at any time: over one that waited, a request that got no answer is made again,
        once, over a new one (RFC 9112 9.3.1).

        uri: what errors name and the policy judges.

        Raises: AccessError.
        """
        old = self._idle_connection((connect.host, connect.port, connect.tls), policy)
        if old is not None:
            with contextlib.suppress(AccessFailed):
                return old, (yield from old.ask(asked))
        new = Connection(connect, policy, uri, port)
        return new, (yield from new.ask(asked))

    def _idle_connection(self, origin: Origin, policy: Policy) -> Connection | None:
        """One that waits, and that the same policy has judged."""
        waiting = self._idle[origin]
        for at in range(len(waiting) - 1, -1, -1):
            if waiting[at].policy is policy:
                del self._order[waiting[at]]
                return waiting.pop(at)
        return None

    def give_back(self, connection: Connection) -> None:
        """It waits for the next request, if it can take one."""
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
        """All that wait are closed."""
        self._idle.clear()
        while self._order:
            self._order.popitem()[0].close()
