"""Ranges of what a URI of HTTP names, under a policy (RFC 9110 14)."""

from __future__ import annotations

import math
import re
import time
from threading import Lock
from typing import TYPE_CHECKING, Any

from overthere.access.blocking import Transport
from overthere.access.errors import (
    DOCUMENTED,
    AccessFailed,
    AccessRefused,
    AccessTimeout,
    ProtocolError,
)
from overthere.access.opening import Opening
from overthere.access.steps import Receive, Send
from overthere.access.wire import Data, Head
from overthere.protocols.http.answer import retry_after
from overthere.protocols.http.keep_alive import Request, RequestState, keep_alive
from overthere.protocols.http.steps import HTTPRole
from overthere.stores.model import Piece, StoreError

if TYPE_CHECKING:
    from overthere.access.policy import Policy
    from overthere.values.uri import URI

__all__ = ["HTTPRanges"]

_TRIES = 6
"""How often a range is asked for."""
_BACK_OFF, _MOST_WAIT = 0.2, 20.0
"""Seconds before the second try, doubled for each other; and the most, whatever the server says."""
_LATER = frozenset((408, 425, 429, 500, 502, 503, 504))
_CONTENT_RANGE = re.compile(r"bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18})")


class HTTPRanges:
    """A resource, whose ranges come over one connection as long as the server keeps it.

    Each answer must be 206, name the range that was asked for, and tell the same entity tag and size as the first.
    """

    def __init__(self, uri: str | URI, policy: Policy) -> None:
        self._way = Opening(uri, policy, None, None, None)
        self._transport: Transport | None = None
        self._received = 0
        self._turn = RequestState()
        self._lock = Lock()
        """Ranges are asked for one after another, also by a thread that looks ahead."""
        self._is_closed = False

    def close(self) -> None:
        """Close the connection, or let the thread do so that uses it."""
        self._is_closed = True
        if self._lock.acquire(blocking=False):
            try:
                self._close()
            finally:
                self._lock.release()

    def fetch(self, start: int, end: int, version: str) -> Piece:
        """A `range_file.Fetch`."""
        with self._lock:
            try:
                return self._fetch(start, end, version)
            except BaseException:
                self._close()
                raise
            finally:
                if self._is_closed:
                    self._close()

    def _fetch(self, start: int, end: int, version: str) -> Piece:
        tried = 0
        while True:
            tried += 1
            try:
                return self._ask(start, end, version)
            except _BusyError as error:
                self._close()
                if tried == _TRIES:
                    raise StoreError("truncated" if start else "not-opened", str(error)) from None
                self._wait(_BACK_OFF * 2 ** (tried - 1) if error.wait is None else error.wait)
            except DOCUMENTED as error:
                self._close()
                again = isinstance(error, (AccessFailed, AccessTimeout)) or (
                    isinstance(error, ProtocolError) and error.source != _RANGE
                )
                if not again or tried == _TRIES:
                    note = "refused" if isinstance(error, AccessRefused) else "truncated" if start else "not-opened"
                    raise StoreError(note, str(error)) from None
                self._wait(_BACK_OFF * 2 ** (tried - 1))

    def _wait(self, seconds: float) -> None:
        left = math.inf if self._way.deadline is None else self._way.deadline - time.monotonic()
        time.sleep(max(0.0, min(seconds, _MOST_WAIT, left)))

    def _ask(self, start: int, end: int, version: str) -> Piece:
        while True:
            head = self._request(start, end, version)
            if head.location is None:
                break
            transport = self._transport
            self._close()
            self._way.follow(head, None if transport is None else transport.peer)
        status: int = head.details["status"]
        fields: dict[str, str] = {name.lower(): value for name, value in head.details["headers"]}
        if status in _LATER:
            raise _BusyError(f"the server answered {status}", retry_after(fields.get("retry-after", ""), time.time()))
        if status == 412:
            raise StoreError("changed", "the resource was replaced while it was read")
        if status != 206:
            self._close()  # its content is of no use, and may be all of a large file
            if status == 200:
                raise StoreError("not-opened", f"the server does not send ranges (status 200; {_RANGE})")
            if status == 416:
                raise StoreError("truncated", f"the server has nothing from octet {start:,} on (status 416; {_RANGE})")
            raise StoreError("missing" if 400 <= status < 500 else "not-opened", f"the server answered {status}")
        named = _CONTENT_RANGE.fullmatch(fields.get("content-range", "").strip())
        if named is None:
            raise ProtocolError("a part of the content without a Content-Range of octets", _RANGE, self._way.uri)
        first, last, size = map(int, named.groups())
        if first != start or last + 1 != min(end, size):
            self._close()
            raise StoreError(
                "corrupt", f"the server sent octets {first:,} to {last:,} instead of those requested ({_RANGE})"
            )
        octets = self._content(last + 1 - first)
        return Piece(octets, size, f"{fields.get('etag', '')} {size}")

    def _request(self, start: int, end: int, version: str) -> Head:
        """The head of the answer."""
        way, etag = self._way, version.rpartition(" ")[0]
        scheme = way.scheme()
        plan = way.check_policy(scheme)
        match plan.steps:
            case (*opening, Send() as asked, Receive(role=HTTPRole.RESPONSE)):
                pass
            case _:
                raise StoreError("not-opened", f"only HTTP has ranges, and a redirect leads to {plan.scheme!r}")
        head = asked.data.removesuffix(b"\r\n").replace(b"\r\nConnection: close\r\n", b"\r\n", 1)
        head += f"Range: bytes={start}-{end - 1}\r\n".encode()
        if etag.startswith('"'):  # a weak one says nothing of octets (RFC 9110 13.1.1)
            head += f"If-Match: {etag}\r\n".encode("latin-1", "replace")
        fresh = self._transport is None
        while True:
            if self._transport is None:
                self._turn = RequestState()
                dialogue = way.mask_dialogue(keep_alive(opening, way.policy, self._turn))
                self._transport = Transport(dialogue, way.policy, way.uri, scheme.port, way.deadline, way.secrets())
            self._transport.received = self._received  # the policy bounds all ranges together
            self._turn.asked = Request(head + b"\r\n", "GET", end - start)
            try:
                given: Any = self._transport.advance()
            except AccessFailed:
                given = None
                if fresh:
                    raise
            if isinstance(given, Head):
                return given
            # A server may close a connection that waits at any time (RFC 9112 9.3.1).
            self._close()
            if fresh:
                raise AccessFailed("the connection is closed", uri=way.uri)
            fresh = True

    def _content(self, size: int) -> bytes:
        assert self._transport is not None
        pieces: list[bytes] = []
        while isinstance(one := self._transport.advance(), Data) and one.octets:
            pieces.append(one.octets)
        octets = b"".join(pieces)
        if len(octets) != size or self._turn.is_cut:
            more = " and more" if self._turn.is_cut else ""
            raise AccessFailed(f"{len(octets):,} octets{more} came of {size:,}", "RFC 9110 8.6", uri=self._way.uri)
        self._received = self._transport.received
        if not self._turn.is_open:
            self._close()
        return octets

    def _close(self) -> None:
        if self._transport is not None:
            self._received = self._transport.received
            self._transport.close()
            self._transport = None


_RANGE = "RFC 9110 15.3.7"


class _BusyError(Exception):
    """A server that may answer later.  wait: seconds, if it says so."""

    def __init__(self, message: str, wait: float | None) -> None:
        super().__init__(message)
        self.wait = wait
