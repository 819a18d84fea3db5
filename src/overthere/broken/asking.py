"""One URI asked for: by the dialogue of its scheme, with redirects judged one by one; what came of it."""

from __future__ import annotations

import re
import socket
import ssl
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, NamedTuple

from overthere.access.errors import (
    DOCUMENTED,
    AccessError,
    AccessFailed,
    AccessRefused,
    AccessTimeout,
    LimitExceeded,
    ProtocolError,
    ResourceMissing,
    ResourceUnavailable,
)
from overthere.access.opening import Way, opened
from overthere.access.steps import Connect
from overthere.broken.connections import Connections
from overthere.broken.hosts import BACK_OFF, MOST_WAIT, TRIES
from overthere.broken.model import Outcome
from overthere.errors import InvalidURI, NotSpecified, PlanRefused
from overthere.protocols.http.kept import Asked
from overthere.protocols.http.steps import opening
from overthere.schemes.known.http import HTTPLocator
from overthere.schemes.registry import Registry
from overthere.showing import bounded, printable
from overthere.uri import URI

if TYPE_CHECKING:
    from overthere.access.policy import Policy
    from overthere.access.wire import Head

__all__ = ["DOCUMENTS", "Answer", "Asking", "retry_after", "wait_for"]

_AGENT = "overthere (checks links)"
_UNREFUSED = frozenset((404, 410, 429))
"""Statuses that say of a GET what they say of a HEAD; with others a GET is asked for too."""
_DRAINED = 1 << 16
"""Octets of an answer that are read so that its connection can be used again."""
_TOLD = 300
_DIRECT = 3
"""Steps of a plan that connects, sends one request and receives the response."""
DOCUMENTS = re.compile(
    r"(?i)(?:$|text/(?:html|css|markdown|xml|x-markdown)|application/(?:xml|xhtml)|[^;]{0,80}\+xml|image/svg)"
)
"""Media types of what refers to others, or has anchors."""
_FIELD = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class Answer(NamedTuple):
    """What a server has said."""

    outcome: Outcome
    wait: float | None = None
    """Seconds after which it wants to be asked again (RFC 9110 10.2.3; RFC 6585 4); None if it does not say."""
    busy: bool = False
    """Whether it may answer at another time (429, 503)."""
    media_type: str = ""
    content: bytes | None = None
    """What came, where it was asked for."""


class Asking:
    """Asks for URIs, from many threads.

    agent: the field User-Agent; headers: host, name and value of fields for requests to that host.
    limit: octets of a document in which fragments are looked up.

    Raises: ValueError for what no header field can be.
    """

    def __init__(
        self,
        policy: Policy,
        *,
        agent: str | None = None,
        headers: Iterable[tuple[str, str, str]] = (),
        limit: int = 1 << 25,
        rule: str = "github",
        registry: Registry | None = None,
    ) -> None:
        self.policy = policy
        self.registry = registry
        self._known = registry or Registry.default()
        self._origins: dict[tuple[str, str | None], _There] = {}
        self.limit = limit
        self.rule = rule
        self.connections: Connections = Connections()
        self._agent = _line("User-Agent", _AGENT if agent is None else agent)
        self._headers: dict[str, bytes] = {}
        for host, name, value in headers:
            self._headers[host.lower()] = self._headers.get(host.lower(), b"") + _line(name, value)

    def ask(
        self,
        uri: str,
        fragments: frozenset[str] = frozenset(),
        *,
        content: bool = False,
        kinds: re.Pattern[str] = DOCUMENTS,
    ) -> Answer:
        """What asking for a URI gives.  Nothing that a server does is raised.

        uri: without a fragment.
        fragments: those that are looked up in the document, if it is one.
        content: whether what comes is kept, if its media type is one of `kinds`.
        """
        journey = _Journey(uri)
        try:
            reply = self._reply(journey, self.limit if fragments or content else 0, kinds)
            if reply is None:
                return Answer(journey.outcome(None, None, ""))
            return self._answered(journey, reply, fragments, content)
        except DOCUMENTED as error:
            return Answer(_failed(journey, error))

    def _reply(self, journey: _Journey, wanted: int, kinds: re.Pattern[str]) -> _Reply | None:
        """The last answer, behind all redirects; None where another protocol than HTTP has opened it."""
        there = self._there(journey.uri)
        while there is not None:
            reply = self._http(there, wanted, kinds)
            if reply.head.location is None:
                return reply
            journey.permanent = journey.permanent and reply.head.permanent
            journey.way = journey.way or Way(journey.uri, self.policy, None, self.registry, None)
            journey.way.follow(reply.head, reply.peer)
            there = _http_of(journey.way)
        journey.way = journey.way or Way(journey.uri, self.policy, None, self.registry, None)
        # Closed before its content.
        with opened(journey.way):
            return None

    def _there(self, uri: str) -> _There | None:
        """How a URI is asked for by HTTP; None: in another way.  What was judged of an origin holds for all of it."""
        there = URI(uri)
        key = there.scheme, there.authority
        known = self._origins.get(key)
        if known is None:
            way = Way(there, self.policy, None, self.registry, None)
            known = _http_of(way)
            # Where other protocols may listen, what is sent is judged each time (`Policy.judge_octets`).
            if known is not None and (self.policy.private or there.effective_port == known.port):
                self._origins[key] = known
            return known
        locator = self._known.locator(there)
        assert isinstance(locator, HTTPLocator)
        return known._replace(uri=there, locator=locator)

    def _http(self, there: _There, wanted: int, kinds: re.Pattern[str]) -> _Reply:
        """A HEAD, or a GET where the content is wanted or HEAD is refused."""
        fields = b"Accept: */*\r\n" + self._agent + self._headers.get(there.locator.host.lower(), b"") + b"\r\n"
        if not wanted:
            asked = Asked(opening(there.locator, method="HEAD") + fields, "HEAD", 0)
            connection, head = self.connections.ask(there.connect, there.policy, there.uri, there.port, asked)
            peer = connection.peer
            self.connections.give_back(connection)
            if head.details["status"] < 400 or head.details["status"] in _UNREFUSED:
                return _Reply(there, head, b"", False, peer)
        asked = Asked(opening(there.locator) + fields, "GET", wanted or _DRAINED)
        connection, head = self.connections.ask(there.connect, there.policy, there.uri, there.port, asked)
        if wanted and not kinds.match(head.media_type or ""):
            # Nobody looks into an image or an archive: it is not waited for.
            peer = connection.peer
            connection.close()
            return _Reply(there, head, b"", False, peer)
        try:
            content = b"".join(connection.content())
        except AccessError:
            # The status is known; what could not be read of the rest matters where it is looked into.
            if wanted and head.details["status"] < 300 and not connection.turn.is_cut:
                raise
            content = b""
        finally:
            peer, cut = connection.peer, connection.turn.is_cut
            self.connections.give_back(connection)
        return _Reply(there, head, content, cut, peer)

    def _answered(self, journey: _Journey, reply: _Reply, fragments: frozenset[str], keep: bool) -> Answer:
        head = reply.head
        status: int = head.details["status"]
        kind, why = _kind(status), f"{status} {head.details['reason']}".strip()
        gone: tuple[str, ...] = ()
        if kind is None and fragments:
            from overthere.broken.fragments import missing

            gone, unsure = missing(
                fragments, reply.content, head.media_type or "", str(reply.there.uri), reply.cut, self.rule
            )
            why = unsure or why
        busy = status in (429, 503)
        fields = {name.lower(): value for name, value in head.details["headers"]} if busy else {}
        wait = retry_after(fields.get("retry-after", ""), time.time()) if busy else None
        outcome = journey.outcome(kind, status, why, gone)
        return Answer(outcome, wait, busy, head.media_type or "", reply.content if keep else None)

    def close(self) -> None:
        """Connections that wait are closed."""
        self.connections.close()


class _There(NamedTuple):
    """Where, and as what, a URI is asked for by HTTP."""

    uri: URI
    locator: HTTPLocator
    connect: Connect
    policy: Policy
    port: int | None
    """The scheme's own."""


class _Reply(NamedTuple):
    there: _There
    head: Head
    content: bytes
    cut: bool
    """Whether there is more of the content than was wanted."""
    peer: tuple[int, object] | None


@dataclass(slots=True)
class _Journey:
    """What is asked for, and where redirects have led."""

    uri: str
    way: Way | None = None
    permanent: bool = True
    """Whether every redirect was."""

    @property
    def final(self) -> str | None:
        """The URI behind redirects; None if there were none."""
        return str(self.way.uri.replace(fragment=None)) if self.way is not None and self.way.history else None

    def outcome(self, kind: str | None, status: int | None, why: str, missing: tuple[str, ...] = ()) -> Outcome:
        final = self.final
        moved = self.permanent and final is not None
        if kind is None and moved and final is not None:
            kind, why = "moved-permanently", final
        return Outcome(self.uri, kind, status, _short(why), final, moved, missing, time.time(), False)


def _http_of(way: Way) -> _There | None:
    """How a way goes on by HTTP, judged; None where it goes on otherwise, or through a proxy."""
    scheme = way.scheme()
    plan = way.judged(scheme)
    first = plan.steps[0]
    if isinstance(plan.locator, HTTPLocator) and isinstance(first, Connect) and len(plan.steps) == _DIRECT:
        return _There(way.uri, plan.locator, first, way.policy, scheme.port)
    return None


def _line(name: str, value: str) -> bytes:
    """A header field.  Raises: ValueError for what none can be (RFC 9110 5.1, 5.5)."""
    if not _FIELD.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a header field (RFC 9110 5.1)")
    octets = value.strip().encode("utf-8", "surrogateescape")
    if any((octet < 32 and octet != 9) or octet == 127 for octet in octets):
        raise ValueError(f"the value of the field {name} has a control character in it (RFC 9110 5.5)")
    return name.encode("ascii") + b": " + octets + b"\r\n"


def _kind(status: int) -> str | None:
    """What a status without a redirect says of a link (RFC 9110 15)."""
    match status:
        case 404:
            return "not-found"
        case 410:
            return "gone"
        case 429:
            return "rate-limited"
        case _ if 200 <= status < 300:
            return None
        case _ if 400 <= status < 500:
            return "client-error"
        case _ if 500 <= status < 600:
            return "server-error"
    return "protocol"


_KINDS: Mapping[type[BaseException], str] = {
    AccessTimeout: "timeout",
    LimitExceeded: "too-large",
    ResourceMissing: "not-found",
    ResourceUnavailable: "server-error",
    ProtocolError: "protocol",
    InvalidURI: "invalid",
    PlanRefused: "refused-by-policy",
    NotSpecified: "not-asked",
}


def _failed(journey: _Journey, error: BaseException) -> Outcome:
    """The outcome of what could not be asked for."""
    if isinstance(error, AccessRefused):
        kind = "redirect-loop" if error.source == "RFC 9110 15.4" and error.rule == "redirect" else "refused-by-policy"
    elif isinstance(error, AccessFailed):
        kind = _connecting(error.__cause__)
    else:
        kind = _KINDS[type(error)]
    return journey.outcome(kind, None, error.message if isinstance(error, AccessError) else str(error))


def _connecting(cause: BaseException | None) -> str:
    if isinstance(cause, ssl.SSLError | ssl.CertificateError):
        return "tls"
    return "dns" if isinstance(cause, socket.gaierror | UnicodeError) else "connect"


def _short(told: str) -> str:
    return printable(bounded(told, _TOLD))


def wait_for(answer: Answer, tried: int) -> float | None:
    """Seconds after which it is asked for once more; None if it is not.

    tried: how often it was asked for.
    """
    if not answer.busy or tried >= TRIES:
        return None
    wait = answer.wait
    if wait is None and answer.outcome.kind == "rate-limited":
        wait = BACK_OFF * 2 ** (tried - 1)
    return wait if wait is not None and wait <= MOST_WAIT else None


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
