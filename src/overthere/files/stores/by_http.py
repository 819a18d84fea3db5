"""Reads ranges of an HTTP resource, under a policy (RFC 9110 14)."""

from __future__ import annotations

import math
import re
import time
from threading import Lock
from typing import TYPE_CHECKING, Any

from overthere.access.blocking import Transport
from overthere.access.errors import DOCUMENTED, AccessFailed, AccessRefused, AccessTimeout, ProtocolError
from overthere.access.opening import Opening
from overthere.access.steps import Receive, Send
from overthere.access.wire import Data, Head
from overthere.files.stores.model import Piece, StoreError
from overthere.protocols.http.answer import retry_after
from overthere.protocols.http.keep_alive import Request, RequestState, keep_alive
from overthere.protocols.http.steps import HTTPRole

if TYPE_CHECKING:
    from overthere.access.policy import Policy
    from overthere.values.uri import URI

_TRIES = 6
"""The number of times that a range is requested."""
_FIRST_WAIT, _MAX_WAIT = 0.2, 20.0
"""Seconds before the second try, doubled for each later one; and the longest wait, whatever the server says."""
_RETRY_STATUSES = frozenset((408, 425, 429, 500, 502, 503, 504))
_CONTENT_RANGE = re.compile(r"bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18})")


class HTTPRanges:
    """A resource whose ranges come over one connection while the server keeps it open.

    Each answer must be 206, have the requested range, and have the same entity tag (without one, the same date of
    change) and size as the first answer.
    """

    def __init__(self, uri: str | URI, policy: Policy) -> None:
        self._opening = Opening(uri, policy, None, None, None)
        self._transport: Transport | None = None
        self._received = 0
        self._state = RequestState()
        self._lock = Lock()
        """Ranges are requested one after another, also by a thread that prefetches."""
        self._is_closed = False

    def close(self) -> None:
        """Close the connection, or leave that to the thread that uses it."""
        self._is_closed = True
        if self._lock.acquire(blocking=False):
            try:
                self._close()
            finally:
                self._lock.release()

    def fetch(self, start: int, end: int, version: str) -> Piece:
        """Fetch a range, as a `range_file.Fetch`."""
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
                return self._fetch_once(start, end, version)
            except _BusyError as error:
                self._close()
                if tried == _TRIES:
                    raise StoreError("truncated" if start else "not-opened", str(error)) from None
                self._wait(_FIRST_WAIT * 2 ** (tried - 1) if error.wait is None else error.wait)
            except DOCUMENTED as error:
                self._close()
                may_retry = isinstance(error, (AccessFailed, AccessTimeout)) or (
                    isinstance(error, ProtocolError) and error.source != _RANGE
                )
                if not may_retry or tried == _TRIES:
                    note = "refused" if isinstance(error, AccessRefused) else "truncated" if start else "not-opened"
                    raise StoreError(note, str(error)) from None
                self._wait(_FIRST_WAIT * 2 ** (tried - 1))

    def _wait(self, seconds: float) -> None:
        remaining = math.inf if self._opening.deadline is None else self._opening.deadline - time.monotonic()
        time.sleep(max(0.0, min(seconds, _MAX_WAIT, remaining)))

    def _fetch_once(self, start: int, end: int, version: str) -> Piece:
        while True:
            head = self._request(start, end, version)
            if head.location is None:
                break
            transport = self._transport
            self._close()
            self._opening.follow(head, None if transport is None else transport.peer_address)
        status: int = head.details["status"]
        fields: dict[str, str] = {name.lower(): value for name, value in head.details["headers"]}
        if status in _RETRY_STATUSES:
            raise _BusyError(f"the server answered {status}", retry_after(fields.get("retry-after", ""), time.time()))
        if status == 412:
            raise StoreError("changed", "the resource was replaced while it was read")
        if status != 206:
            self._close()  # its content is useless, and may be all of a large file
            if status == 200:
                raise StoreError("not-opened", f"the server does not send ranges (status 200; {_RANGE})")
            if status == 416:
                raise StoreError("truncated", f"the server has nothing from octet {start:,} on (status 416; {_RANGE})")
            raise StoreError("missing" if 400 <= status < 500 else "not-opened", f"the server answered {status}")
        content_range = _CONTENT_RANGE.fullmatch(fields.get("content-range", "").strip())
        if content_range is None:
            raise ProtocolError("a part of the content without a Content-Range of octets", _RANGE, self._opening.uri)
        first, last, size = map(int, content_range.groups())
        if first != start or last + 1 != min(end, size):
            self._close()
            raise StoreError(
                "corrupt", f"the server sent octets {first:,} to {last:,} instead of those requested ({_RANGE})"
            )
        content = self._content(last + 1 - first)
        return Piece(content, size, f"{fields.get('etag') or fields.get('last-modified', '')} {size}")

    def _request(self, start: int, end: int, version: str) -> Head:
        """Send a request for the range, and return the head of the answer."""
        opening, etag = self._opening, version.rpartition(" ")[0]
        scheme = opening.scheme()
        plan = opening.check_policy(scheme)
        match plan.steps:
            case (*opening_steps, Send() as request_step, Receive(role=HTTPRole.RESPONSE)):
                pass
            case _:
                raise StoreError("not-opened", f"only HTTP has ranges, and a redirect leads to {plan.scheme!r}")
        head = request_step.data.removesuffix(b"\r\n").replace(b"\r\nConnection: close\r\n", b"\r\n", 1)
        head += f"Range: bytes={start}-{end - 1}\r\n".encode()
        if etag.startswith('"'):  # a weak tag does not guarantee the same bytes (RFC 9110 13.1.1)
            head += f"If-Match: {etag}\r\n".encode("latin-1", "replace")
        fresh = self._transport is None
        while True:
            if self._transport is None:
                self._state = RequestState()
                dialogue = opening.mask_dialogue(keep_alive(opening_steps, opening.policy, self._state))
                self._transport = Transport(
                    dialogue, opening.policy, opening.uri, scheme.port, opening.deadline, opening.secrets()
                )
            self._transport.received_bytes = self._received  # the policy limits all ranges together
            self._state.request = Request(head + b"\r\n", "GET", end - start)
            try:
                effect: Any = self._transport.advance()
            except AccessFailed:
                effect = None
                if fresh:
                    raise
            if isinstance(effect, Head):
                return effect
            # A server may close a connection that waits at any time (RFC 9112 9.3.1).
            self._close()
            if fresh:
                raise AccessFailed("the connection is closed", uri=opening.uri)
            fresh = True

    def _content(self, size: int) -> bytes:
        assert self._transport is not None
        content = bytearray()  # a list of pieces would take 60 octets for each
        while isinstance(effect := self._transport.advance(), Data) and effect.octets:
            content += effect.octets
        if len(content) != size or self._state.is_cut:
            excess = " and more" if self._state.is_cut else ""
            raise AccessFailed(
                f"{len(content):,} octets{excess} came of {size:,}", "RFC 9110 8.6", uri=self._opening.uri
            )
        self._received = self._transport.received_bytes
        if not self._state.is_open:
            self._close()
        return bytes(content)

    def _close(self) -> None:
        if self._transport is not None:
            self._received = self._transport.received_bytes
            self._transport.close()
            self._transport = None


_RANGE = "RFC 9110 15.3.7"


class _BusyError(Exception):
    """The server may answer later.  wait: seconds, if the server states them."""

    def __init__(self, message: str, wait: float | None) -> None:
        super().__init__(message)
        self.wait = wait
