"""A request by the dialogue of the URI's scheme, and its reply; redirects are not followed here."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from overthere.access.errors import DOCUMENTED, AccessError, AccessFailed, AccessTimeout, LimitExceeded, ProtocolError
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

_AGENT = "overthere (checks links)"
_TRUSTED_HEAD = frozenset((410, 429))
"""Statuses of HEAD that are trusted; after others from 400 on, and after none at all, GET is sent."""
_MAX_DRAINED_BYTES = 1 << 16
"""Bytes of a response that are read so that its connection can be reused."""
_ACCEPT = b"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/*,*/*;q=0.8\r\n"
"""The field that browsers send for a page or an image: some servers reject `*/*` alone (406)."""
_MAX_HEAD_FAILURES = 2
"""Number of HEAD requests that failed while GET succeeded, after which a server gets only GET requests."""
_DIRECT_STEPS = 3
"""Number of steps of a plan that connects, sends one request and receives the response."""
DOCUMENTS = re.compile(
    r"(?i)(?:$|text/(?:html|css|markdown|xml|x-markdown)|application/(?:xml|xhtml)|[^;]{0,80}\+xml|image/svg)"
)
"""Media types of documents with references or anchors."""
_FIELD = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class _Origin(NamedTuple):
    """How URIs of an origin are requested by HTTP: the policy's decision for one URI holds for all."""

    uri: URI
    connect: Connect
    policy: Policy
    port: int | None
    """The default port of the scheme."""
    version: bytes
    """The part of a request after the target."""


class Requester:
    """Requests URIs; any number of requests may run at once.

    agent: the User-Agent field; agents: returns the one for a host, or None for `agent`.
    headers: origin (`origin_of`), name and value of fields for requests to that origin.
    login: cookies to send to the hosts of their domains.
    limit: the maximum size of a document, in bytes; most: the maximum number of idle connections.

    Raises: ValueError for an invalid header field or origin.
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
        self.registry: Registry = Registry.default() if registry is None else registry
        self.login: tuple[Cookie, ...] = tuple(login)
        self._login: Cookies | None = Cookies(self.login) if self.login else None
        self.limit = limit
        self.rule = rule
        self.connections: Connections = Connections(most)
        self._origins: dict[str, _Origin] = {}
        """Origins by the part of a URI before the path."""
        self._common_replies: dict[tuple[int, str, str, bool], Reply] = {}
        """Replies without a redirect, which are often the same."""
        self.agent: str = _AGENT if agent is None else agent
        self.agents: Callable[[str], str | None] = agents
        self._failures: Counter[tuple[str, int]] = Counter()
        """The number of HEAD requests that failed while GET succeeded, by server."""
        _line("User-Agent", self.agent)
        self._sent_values: list[str] = [cookie.value for cookie in self.login if cookie.value]
        """Secret values that are sent."""
        self._headers: dict[str, bytes] = {}
        """Header fields by origin: a token is never sent to another port, nor by HTTP without TLS."""
        for text, name, value in headers:
            origin = origin_of(text)
            self._headers[origin] = self._headers.get(origin, b"") + _line(name, value)
            self._sent_values += value.split(None, 1)[-1:]  # without the name of the authentication scheme
        self._sent = Secrets(self._sent_values)

    def open_chain(self, uri: str) -> Opening:
        """The start of a redirect chain.  Raises: InvalidURI, AccessRefused, PlanRefused."""
        return Opening(uri, self.policy, None, self.registry, None)

    def secrets(self, uri: str) -> Secrets:
        """The secrets that a URI's server may repeat: those of the URI, the header fields, and the login's cookies."""
        return Secrets.from_texts(uri, others=self._sent_values) if secret_spans(uri) else self._sent

    def login_field(self, uri: str) -> str:
        """The Cookie field of a request outside a chain, with the login's cookies."""
        return "" if self._login is None else self._login.field(uri)

    def credentials(self, uri: str) -> str:
        """A digest of the credentials that are sent only to a URI's server; "" if there are none."""
        if not self._headers and self._login is None:
            return ""
        try:
            fields = self._headers.get(URI(uri).origin, b"") + self.login_field(uri).encode("utf-8", "replace")
        except OverthereError:
            return ""
        return sha256(fields).hexdigest() if fields else ""

    def ask(
        self, uri: str, chain: Opening | None = None, *, wants_content: bool = False,
        kinds: re.Pattern[str] = DOCUMENTS, cookie: str = "",
    ) -> Work[tuple[Reply, bytes | None, bool]]:  # fmt: skip
        """Send a request; return the reply, the content, and whether it is truncated.  Server errors become replies.

        uri: without a fragment; chain: the redirects that led to it.
        wants_content: whether to read the content if its media type matches `kinds`; unread content is None.
        cookie: the value of the Cookie field; "" for no field.
        """
        try:
            origin, target = self._origin(uri, chain)
            if origin is None:
                return (yield from self._open(chain or self.open_chain(uri))), None, False
            if cookie:
                line = f"Cookie: {cookie}\r\n\r\n".encode("latin-1", "replace")
                origin = origin._replace(version=origin.version[:-2] + line)
            return (yield from self._http(uri, origin, target, wants_content, kinds))
        except InvalidURI as error:
            # An invalid URI of a scheme that cannot be requested, such as tel, is not a fault here.
            rules = self.registry.scheme(uri.partition(":")[0])
            unasked = rules.locates_nothing or rules.unspoken
            return Reply("not-asked", None, short_reason(unasked)) if unasked else failure(error), None, False
        except DOCUMENTED as error:
            return failure(error), None, False

    def _origin(self, uri: str, chain: Opening | None) -> tuple[_Origin | None, bytes]:
        """The origin and request-target for requesting a URI by HTTP; None if it is requested in another way."""
        at = uri.find("/", uri.find("://") + 3)
        start = uri[:at]
        if chain is None and start in self._origins and TARGET.fullmatch(uri, at):
            return self._origins[start], uri[at:].encode("ascii")
        moved, chain = chain is not None, chain or self.open_chain(uri)
        scheme = chain.scheme()
        plan = chain.check_policy(scheme)
        first, locator = plan.steps[0], plan.locator
        if not (isinstance(locator, HTTPLocator) and isinstance(first, Connect) and len(plan.steps) == _DIRECT_STEPS):
            return None, b""  # this goes through a proxy, or uses another protocol
        _, target, version = request_head(locator).split(b" ", 2)
        agent = _line("User-Agent", self.agents(chain.uri.host or "") or self.agent)
        fields = _ACCEPT + agent + self._headers.get(chain.uri.origin, b"") + b"\r\n"
        origin = _Origin(chain.uri, first, chain.policy, scheme.port, b" " + version + fields)
        # On ports of other protocols, the policy checks each request (`Policy.judge_octets`).
        if (
            not moved
            and at > 0
            and "?" not in start
            and (self.policy.private or chain.uri.effective_port == scheme.port)
        ):
            self._origins[start] = origin
        return origin, target

    def _http(
        self, uri: str, origin: _Origin, target: bytes, wants_content: bool, kinds: re.Pattern[str]
    ) -> Work[tuple[Reply, bytes | None, bool]]:
        """Send GET if the content is wanted; otherwise HEAD, and GET if HEAD fails or usually fails on the server.

        If a server answers HEAD and GET differently, only the answer to GET counts.
        """
        server = origin.connect.host, origin.connect.port
        is_failed = False
        if not wants_content and self._failures[server] < _MAX_HEAD_FAILURES:
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
        reply = yield from self._get(origin, target, wants_content, kinds)
        if is_failed and reply[0].kind is None:
            self._failures[server] += 1
        return reply

    def _get(
        self, origin: _Origin, target: bytes, wants_content: bool, kinds: re.Pattern[str]
    ) -> Work[tuple[Reply, bytes | None, bool]]:
        limit = self.limit if wants_content else _MAX_DRAINED_BYTES
        connection, head = yield from self._request(origin, b"GET ", target, limit + 1)
        if wants_content and not kinds.match(head.media_type or ""):
            # The content is not a document, so it is not downloaded.
            connection.close()
            return self._read_reply(head, connection, wants_content), None, False
        content = None
        try:
            content = yield from connection.content(limit)
        except AccessError as error:
            # The status is known; unreadable content matters only if it is wanted.
            if wants_content and head.details["status"] < 300:
                if connection.state.is_cut:
                    message = f"the first {limit:,} octets alone cannot be decoded"
                    raise LimitExceeded(message, uri=origin.uri) from error
                return failure(error)._replace(unreached=isinstance(error, AccessTimeout)), None, False
        finally:
            is_truncated = connection.state.is_cut
            self.connections.give_back(connection)
        return self._read_reply(head, connection, wants_content), content if wants_content else None, is_truncated

    def _request(self, origin: _Origin, method: bytes, target: bytes, limit: int) -> Work[tuple[Connection, Head]]:
        request = Request(method + target + origin.version, method[:-1].decode("ascii"), limit)
        return (yield from self.connections.ask(origin.connect, origin.policy, origin.uri, origin.port, request))

    def _open(self, opening: Opening) -> Work[Reply]:
        """Open a URI by its scheme's dialogue, and close it before its content."""
        carrier = opening.transport(Carrier)
        try:
            head = yield from next_item(carrier)
        finally:
            carrier.release()
        if not isinstance(head, Head):
            raise ProtocolError("there was no answer", uri=opening.uri)
        if head.location is not None:
            return Reply(None, None, "", redirect=brief_redirect(head), peer=carrier.peer_address)
        return Reply(None, None, "")

    def _read_reply(self, head: Head, connection: Connection, is_read: bool = False) -> Reply:
        status: int = head.details["status"]
        key = status, head.details["reason"][:TOLD], (head.media_type or "")[:TOLD], is_read
        if head.location is None and key in self._common_replies:
            return self._common_replies[key]
        reply = Reply(
            kind_of_status(status), status, short_reason(f"{status} {key[1]}".strip()), key[2], is_read=is_read
        )
        if head.location is not None:
            return reply._replace(kind=None, redirect=brief_redirect(head), peer=connection.peer)
        if status in (429, 503):
            fields = {name.lower(): value for name, value in head.details["headers"]}
            return reply._replace(busy=True, wait=retry_after(fields.get("retry-after", ""), time.time()))
        if len(self._common_replies) < _MAX_COMMON_REPLIES:
            self._common_replies[key] = reply
        return reply

    def close(self) -> None:
        """Close the idle connections."""
        self.connections.close()


_MAX_COMMON_REPLIES = 1000


def _leads_back(head: Head, uri: str) -> bool:
    """Whether a redirect leads back to the same URI without setting a cookie."""
    if head.location is None or any(name.lower() == "set-cookie" for name, _ in head.details["headers"]):
        return False
    reference = to_reference(head.location)[0]
    return reference is not None and URI(uri).join(reference).replace(fragment=None) == URI(uri)


def origin_of(text: str) -> str:
    """An origin of HTTP (RFC 6454 4, 6.2); for a host without a scheme, its https origin.

    Raises: ValueError.

    >>> origin_of("API.example"), origin_of("api.example:8443"), origin_of("http://localhost:80")
    ('https://api.example', 'https://api.example:8443', 'http://localhost')
    """
    hint = f"{mask(text)} is not an http origin; write a host, or an origin as in https://api.example:8443 (RFC 6454 4)"
    try:
        uri = URI(text if "://" in text else f"https://{text}")
    except InvalidURI:
        raise ValueError(hint) from None
    if uri.scheme.lower() not in ("http", "https") or not uri.host or uri.userinfo is not None:
        raise ValueError(hint)
    if uri.path not in ("", "/") or uri.query is not None or uri.fragment is not None:
        raise ValueError(hint)
    return uri.origin


def _line(name: str, value: str) -> bytes:
    """A header field.  Raises: ValueError for an invalid one (RFC 9110 5.1, 5.5)."""
    if not _FIELD.fullmatch(name):
        raise ValueError(f"{name!r} is not a valid header field name (RFC 9110 5.1)")
    octets = value.strip().encode("utf-8", "surrogateescape")
    if any((octet < 32 and octet != 9) or octet == 127 for octet in octets):
        raise ValueError(f"the value of the field {name!r} contains a control character (RFC 9110 5.5)")
    return name.encode("ascii") + b": " + octets + b"\r\n"
