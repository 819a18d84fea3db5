"""One request by the dialogue of the URI's scheme, and its reply; redirects are not followed here."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from overthere.access.errors import (
    DOCUMENTED,
    AccessError,
    AccessFailed,
    AccessTimeout,
    LimitExceeded,
    ProtocolError,
)
from overthere.access.opening import Opening
from overthere.access.steps import Connect
from overthere.access.transport import Carrier
from overthere.access.wire import Head
from overthere.broken.connections import MOST, Connection, Connections, next_item
from overthere.broken.cookies import Cookies
from overthere.broken.model import kind_of_status
from overthere.broken.replies import IN_ANSWER, TOLD, Reply, brief_redirect, failure, short_reason
from overthere.ground.errors import InvalidURI, OverthereError
from overthere.ground.redact import mask, secret_spans
from overthere.protocols.http.answer import retry_after
from overthere.protocols.http.keep_alive import Request
from overthere.protocols.http.steps import TARGET, request_head
from overthere.repairs import to_reference
from overthere.schemes.known.http import HTTPLocator
from overthere.schemes.registry import Registry
from overthere.values.known_secrets import Secrets
from overthere.values.uri import URI

if TYPE_CHECKING:
    from http.cookiejar import Cookie

    from overthere.access.policy import Policy
    from overthere.broken.loop import Work

__all__ = ["DOCUMENTS", "Requester", "origin_of"]

_AGENT = "overthere (checks links)"
_TRUSTED_HEAD = frozenset((410, 429))
"""Statuses of HEAD that are trusted; after others from 400 on, and after none at all, GET is sent."""
_DRAINED = 1 << 16
"""Octets of an answer that are read so that its connection can be used again."""
_ACCEPT = b"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/*,*/*;q=0.8\r\n"
"""As browsers send it for a page or an image: some servers refuse `*/*` alone (406)."""
_FAILURES = 2
"""Requests by HEAD that fail where GET does not, before a server is asked by GET at once."""
_DIRECT = 3
"""Steps of a plan that connects, sends one request and receives the response."""
DOCUMENTS = re.compile(
    r"(?i)(?:$|text/(?:html|css|markdown|xml|x-markdown)|application/(?:xml|xhtml)|[^;]{0,80}\+xml|image/svg)"
)
"""Media types of what refers to others, or has anchors."""
_FIELD = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class _Origin(NamedTuple):
    """How all URIs of an origin are asked for by HTTP: what was judged of one holds for all."""

    uri: URI
    connect: Connect
    policy: Policy
    port: int | None
    """The scheme's own."""
    version: bytes
    """What follows the target in a request."""


class Requester:
    """Asks for URIs; any number of requests may be under way.

    agent: the field User-Agent; agents: the one for a host, if it has its own.
    headers: origin, name and value of fields for requests to that origin (`origin_of`).
    login: cookies that are sent to the hosts of their domains.
    limit: octets of a document that is read; most: connections that wait for their next request.

    Raises: ValueError for what no header field, and what no origin of HTTP can be.
    """

    def __init__(
        self,
        policy: Policy,
        *,
        agent: str | None = None,
        agents: Callable[[str], str | None] = lambda host: None,
        headers: Iterable[tuple[str, str, str]] = (),
        login: Iterable[Cookie] = (),
        limit: int = 1 << 25,
        rule: str = "github",
        registry: Registry | None = None,
        most: int = MOST,
    ) -> None:
        self.policy = policy
        self.registry: Registry = registry or Registry.default()
        self.login: tuple[Cookie, ...] = tuple(login)
        self._login: Cookies | None = Cookies(self.login) if self.login else None
        self.limit = limit
        self.rule = rule
        self.connections: Connections = Connections(most)
        self._origins: dict[str, _Origin] = {}
        """By what stands before the path."""
        self._plain: dict[tuple[int, str, str, bool], Reply] = {}
        """What is said again and again."""
        self.agent: str = _AGENT if agent is None else agent
        self.agents: Callable[[str], str | None] = agents
        self._failures: Counter[tuple[str, int]] = Counter()
        """By server: requests by HEAD that failed where GET did not."""
        _line("User-Agent", self.agent)
        self._given: list[str] = [cookie.value for cookie in self.login if cookie.value]
        """Values that are sent, and secret."""
        self._headers: dict[str, bytes] = {}
        """By origin: a token is told to nobody else, neither on another port nor by HTTP without TLS."""
        for text, name, value in headers:
            origin = origin_of(text)
            self._headers[origin] = self._headers.get(origin, b"") + _line(name, value)
            self._given += value.split(None, 1)[-1:]  # behind the name of a scheme of authentication
        self._sent = Secrets(self._given)

    def open_chain(self, uri: str) -> Opening:
        """Where a journey begins.  Raises: InvalidURI, AccessRefused, PlanRefused."""
        return Opening(uri, self.policy, None, self.registry, None)

    def secrets(self, uri: str) -> Secrets:
        """What the server of a URI may repeat: its own secrets, those of given header fields, cookies of the login."""
        return Secrets.from_texts(uri, others=self._given) if secret_spans(uri) else self._sent

    def login_field(self, uri: str) -> str:
        """The field Cookie of a request outside a chain: of the login."""
        return "" if self._login is None else self._login.field(uri)

    def credentials(self, uri: str) -> str:
        """What is sent to the server of a URI alone, as a digest; "" if that is nothing."""
        if not self._headers and self._login is None:
            return ""
        try:
            fields = self._headers.get(URI(uri).origin, b"") + self.login_field(uri).encode("utf-8", "replace")
        except OverthereError:
            return ""
        return sha256(fields).hexdigest() if fields else ""

    def ask(
        self,
        uri: str,
        way: Opening | None = None,
        *,
        wanted: bool = False,
        kinds: re.Pattern[str] = DOCUMENTS,
        cookie: str = "",
    ) -> Work[tuple[Reply, bytes | None, bool]]:
        """What was said, the content that came, and whether there is more.  Nothing that a server does is raised.

        uri: without a fragment; way: that led to it by redirects.
        wanted: whether the content is, if its media type is one of `kinds`; it is None where none was read.
        cookie: the value of the field, if it is not empty.
        """
        try:
            origin, target = self._origin(uri, way)
            if origin is None:
                return (yield from self._open(way or self.open_chain(uri))), None, False
            if cookie:
                line = f"Cookie: {cookie}\r\n\r\n".encode("latin-1", "replace")
                origin = origin._replace(version=origin.version[:-2] + line)
            return (yield from self._http(uri, origin, target, wanted, kinds))
        except InvalidURI as error:
            # A number that a telephone takes is no reason to call it a fault: nobody was going to ask for it.
            rules = self.registry.scheme(uri.partition(":")[0])
            unasked = rules.locates_nothing or rules.unspoken
            return Reply("not-asked", None, short_reason(unasked)) if unasked else failure(error), None, False
        except DOCUMENTED as error:
            return failure(error), None, False

    def _origin(self, uri: str, way: Opening | None) -> tuple[_Origin | None, bytes]:
        """How a URI is asked for by HTTP, and its request-target; None: in another way."""
        at = uri.find("/", uri.find("://") + 3)
        before = uri[:at]
        if way is None and before in self._origins and TARGET.fullmatch(uri, at):
            return self._origins[before], uri[at:].encode("ascii")
        led, way = way is not None, way or self.open_chain(uri)
        scheme = way.scheme()
        plan = way.check_policy(scheme)
        first, locator = plan.steps[0], plan.locator
        if not (isinstance(locator, HTTPLocator) and isinstance(first, Connect) and len(plan.steps) == _DIRECT):
            return None, b""  # through a proxy, or by another protocol
        _, target, version = request_head(locator).split(b" ", 2)
        agent = _line("User-Agent", self.agents(way.uri.host or "") or self.agent)
        fields = _ACCEPT + agent + self._headers.get(way.uri.origin, b"") + b"\r\n"
        origin = _Origin(way.uri, first, way.policy, scheme.port, b" " + version + fields)
        # Where other protocols may listen, what is sent is judged each time (`Policy.judge_octets`).
        if not led and at > 0 and "?" not in before and (self.policy.private or way.uri.effective_port == scheme.port):
            self._origins[before] = origin
        return origin, target

    def _http(
        self, uri: str, origin: _Origin, target: bytes, wanted: bool, kinds: re.Pattern[str]
    ) -> Work[tuple[Reply, bytes | None, bool]]:
        """A GET where the content is wanted; otherwise a HEAD, and a GET where that has failed or its server fails it.

        Of a server that does not answer HEAD as GET, only what it says to GET counts.
        """
        server = origin.connect.host, origin.connect.port
        is_failed = False
        if not wanted and self._failures[server] < _FAILURES:
            try:
                connection, head = yield from self._request(origin, b"HEAD ", target, 0)
                self.connections.give_back(connection)
                status = head.details["status"]
                if (status < 400 or status in _TRUSTED_HEAD) and not _leads_back(head, uri):
                    return self._read_reply(head, connection), None, False
            except (AccessFailed, AccessTimeout, ProtocolError) as error:
                if error.where not in IN_ANSWER:
                    raise
            is_failed = True
        reply = yield from self._get(origin, target, wanted, kinds)
        if is_failed and reply[0].kind is None:
            self._failures[server] += 1
        return reply

    def _get(
        self, origin: _Origin, target: bytes, wanted: bool, kinds: re.Pattern[str]
    ) -> Work[tuple[Reply, bytes | None, bool]]:
        limit = self.limit if wanted else _DRAINED
        connection, head = yield from self._request(origin, b"GET ", target, limit + 1)
        if wanted and not kinds.match(head.media_type or ""):
            # Nobody looks into an image or an archive: it is not waited for.
            connection.close()
            return self._read_reply(head, connection, wanted), None, False
        content = None
        try:
            content = yield from connection.content(limit)
        except AccessError as error:
            # The status is known; what could not be read of the rest matters where it is looked into.
            if wanted and head.details["status"] < 300:
                if connection.turn.is_cut:
                    said = f"the first {limit:,} octets alone cannot be decoded"
                    raise LimitExceeded(said, uri=origin.uri) from error
                raise
        finally:
            cut = connection.turn.is_cut
            self.connections.give_back(connection)
        return self._read_reply(head, connection, wanted), content if wanted else None, cut

    def _request(self, origin: _Origin, method: bytes, target: bytes, limit: int) -> Work[tuple[Connection, Head]]:
        asked = Request(method + target + origin.version, method[:-1].decode("ascii"), limit)
        return (yield from self.connections.ask(origin.connect, origin.policy, origin.uri, origin.port, asked))

    def _open(self, way: Opening) -> Work[Reply]:
        """Opened by its own dialogue, and closed before its content."""
        carrier = Carrier(*way.transport_arguments())
        try:
            head = yield from next_item(carrier)
        finally:
            carrier.release()
        if not isinstance(head, Head):
            raise ProtocolError("there was no answer", uri=way.uri)
        if head.location is not None:
            return Reply(None, None, "", redirect=brief_redirect(head), peer=carrier.peer)
        return Reply(None, None, "")

    def _read_reply(self, head: Head, connection: Connection, is_read: bool = False) -> Reply:
        status: int = head.details["status"]
        told = status, head.details["reason"][:TOLD], (head.media_type or "")[:TOLD], is_read
        if head.location is None and told in self._plain:
            return self._plain[told]
        said = Reply(
            kind_of_status(status), status, short_reason(f"{status} {told[1]}".strip()), told[2], is_read=is_read
        )
        if head.location is not None:
            return said._replace(kind=None, redirect=brief_redirect(head), peer=connection.peer)
        if status in (429, 503):
            fields = {name.lower(): value for name, value in head.details["headers"]}
            return said._replace(busy=True, wait=retry_after(fields.get("retry-after", ""), time.time()))
        if len(self._plain) < _KEPT:
            self._plain[told] = said
        return said

    def close(self) -> None:
        """Connections that wait are closed."""
        self.connections.close()


_KEPT = 1000


def _leads_back(head: Head, uri: str) -> bool:
    """Whether a redirect leads to where it came from, and sets no cookie for that."""
    if head.location is None or any(name.lower() == "set-cookie" for name, _ in head.details["headers"]):
        return False
    there = to_reference(head.location)[0]
    return there is not None and URI(uri).join(there).replace(fragment=None) == URI(uri)


def origin_of(text: str) -> str:
    """An origin of HTTP (RFC 6454 4, 6.2); of a host without a scheme it is the one of https.

    Raises: ValueError.

    >>> origin_of("API.example"), origin_of("api.example:8443"), origin_of("http://localhost:80")
    ('https://api.example', 'https://api.example:8443', 'http://localhost')
    """
    told = f"{mask(text)} is not an http origin; write a host, or an origin as in https://api.example:8443 (RFC 6454 4)"
    try:
        uri = URI(text if "://" in text else f"https://{text}")
    except InvalidURI:
        raise ValueError(told) from None
    if uri.scheme.lower() not in ("http", "https") or not uri.host or uri.userinfo is not None:
        raise ValueError(told)
    if uri.path not in ("", "/") or uri.query is not None or uri.fragment is not None:
        raise ValueError(told)
    return uri.origin


def _line(name: str, value: str) -> bytes:
    """A header field.  Raises: ValueError for what none can be (RFC 9110 5.1, 5.5)."""
    if not _FIELD.fullmatch(name):
        raise ValueError(f"{name!r} is not a valid header field name (RFC 9110 5.1)")
    octets = value.strip().encode("utf-8", "surrogateescape")
    if any((octet < 32 and octet != 9) or octet == 127 for octet in octets):
        raise ValueError(f"the value of the field {name!r} contains a control character (RFC 9110 5.5)")
    return name.encode("ascii") + b": " + octets + b"\r\n"
