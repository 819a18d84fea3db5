"""Redirect chains of many URIs: each URI in them is requested only once."""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Generator, Hashable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from overthere.access.errors import DOCUMENTED
from overthere.access.resolver import DAY, Question, ThreadPool
from overthere.access.transport import Ready
from overthere.broken.cookies import Cookies
from overthere.broken.filters import host_settings
from overthere.broken.hosts import Hosts
from overthere.broken.interstitials import interstitial
from overthere.broken.loop import Loop, Work
from overthere.broken.model import Checker, Outcome
from overthere.broken.replies import Reply, failure, wait_for
from overthere.broken.requests import DOCUMENTS, Requester
from overthere.ground.display import printable, shorten
from overthere.ground.redact import mask
from overthere.repairs import to_reference
from overthere.values.known_secrets import Secrets
from overthere.values.uri import URI

if TYPE_CHECKING:
    from overthere.access.opening import Opening
    from overthere.access.wire import Head
    from overthere.broken.fragments import Anchors

Key = str | tuple[str, ...]
_UNFOLLOWED = re.compile(r"[ \t]*+(?:file|javascript|data|about|blob|vbscript)[ \t]*+:", re.IGNORECASE)
_MAX_SHOWN_LENGTH = 300
"""Characters of a Location that are shown."""
_DEAD = Reply("connect", None, "not requested, because several connections to its host failed in a row", unreached=True)
_PUT_OFF = Reply("rate-limited", None, "not requested, because its host kept limiting the request rate")


class RedirectChain:
    """A URI to check, and the state of its redirects.

    uri: without a fragment; fragments: those to look up in the document, if it is one.
    is_page: whether its content is needed too, if its media type matches `kinds`.
    depth: the number of links from the start of a crawl.
    """

    __slots__ = (
        "cookies", "depth", "fragments", "is_page", "kinds", "opening", "own_fragment", "permanent",
        "repaired", "uri",
    )  # fmt: skip

    def __init__(
        self,
        uri: str,
        fragments: frozenset[str] = frozenset(),
        *,
        is_page: bool = False,
        kinds: re.Pattern[str] = DOCUMENTS,
        depth: int = 0,
    ) -> None:
        self.uri: str = uri
        self.fragments: frozenset[str] = fragments
        self.is_page: bool = is_page
        self.kinds: re.Pattern[str] = kinds
        self.depth: int = depth
        self.opening: Opening | None = None
        self.cookies: Cookies | None = None
        """The cookies that its servers set; None before the first."""
        self.permanent: bool = True
        """Whether every redirect was permanent."""
        self.own_fragment: str | None = None
        """The fragment of the last redirect with one: it replaces the fragments of the URI (RFC 9110 10.2.2)."""
        self.repaired: str = ""
        """The last Location that was not a valid URI-reference, unchanged."""

    @property
    def current_uri(self) -> str:
        """The URI that the redirects have reached."""
        return self.uri if self.opening is None else str(self.opening.uri.replace(fragment=None))

    @property
    def wanted_fragments(self) -> frozenset[str]:
        """The fragments to look up at the current URI."""
        return self.fragments if self.own_fragment is None else frozenset((self.own_fragment,))

    def lacks(self, reply: Reply) -> bool:
        """Whether it needs content that was not read for a reply; of a redirect, the reply to GET."""
        return (
            (self.is_page or bool(self.wanted_fragments))
            and not reply.is_read
            and reply.kind is None
            and (reply.redirect is None or self.is_page)
            and reply.status is not None
        )

    def follow(self, head: Head, peer: tuple[int, Any] | None, asking: Requester) -> None:
        """Follow a redirect.  Raises: AccessRefused, ProtocolError."""
        self.opening = self.opening or asking.open_chain(self.uri)
        self.permanent = self.permanent and head.permanent
        location = head.location or ""
        with suppress(UnicodeError):  # bytes beyond US-ASCII were decoded as Latin-1 (RFC 9110 5.5)
            location = location.encode("latin-1").decode()
        reference, problem = to_reference(location)
        if reference is not None and problem is not None:
            self.repaired = location
            head = replace(head, location=str(reference))
        fields = head.details.get("headers", ())
        if self.cookies is None and any(name.lower() == "set-cookie" for name, _ in fields):
            self.cookies = Cookies(asking.login)
            self.cookies.send(self.current_uri)
        is_changed = False
        if self.cookies is not None:
            self.cookies.take(self.current_uri, fields)
            is_changed = not self.cookies.is_repeated(str(self.opening.target(head).replace(fragment=None)))
        self.opening.follow(head, peer, is_changed=is_changed)
        if reference is not None and reference.fragment is not None:
            self.own_fragment = reference.fragment

    def outcome(self, reply: Reply, secrets: Secrets) -> Outcome:
        """The outcome of the chain; secrets: they are masked, even if a server repeats them."""
        kind, message = reply.kind, reply.why
        missing: tuple[str, ...] = ()
        if kind is None and self.wanted_fragments and reply.anchors is not None:
            missing, unsure = reply.anchors.find_missing(self.wanted_fragments)
            message = unsure or message
            if missing and self.own_fragment is not None:
                kind, message, missing = "no-fragment", f"#{self.own_fragment}, to which the server redirects", ()
        final = self.current_uri if self.opening is not None and self.opening.history else None
        final = None if final == self.uri else final  # the redirect only set a cookie
        if final is not None and self.own_fragment is not None:
            final = f"{final}#{self.own_fragment}"
        moved = self.permanent and final is not None
        if kind is None and self.repaired:
            kind, message = "bad-location", printable(shorten(mask(self.repaired), _MAX_SHOWN_LENGTH))
        if kind is None and moved and final is not None:
            kind, message = "moved-permanently", final
        message = secrets.mask(message)
        if final is not None and secrets.mask(shown_uri := mask(final)) != shown_uri:
            final = None  # it would be suggested
        return Outcome(self.uri, kind, reply.status, message, final, moved, missing, time.time(), False)


class ChainStop:
    """A URI to request for the chains that need its reply.

    key: the key of its reply; way: the redirects that led to it; cookie: the value of the Cookie field.
    """

    __slots__ = ("cookie", "is_asked", "journeys", "key", "kinds", "opening", "tried", "uri", "wants_content")

    def __init__(self, uri: str, key: Key, opening: Opening | None, cookie: str = "") -> None:
        self.cookie: str = cookie
        self.uri: str = uri
        self.key: Key = key
        self.opening: Opening | None = opening
        self.tried: int = 0
        self.is_asked: bool = False
        self.wants_content: bool = False
        """Whether the content is needed."""
        self.kinds: re.Pattern[str] = DOCUMENTS
        self.journeys: list[RedirectChain] = []

    def join(self, journey: RedirectChain) -> None:
        """Add a chain that needs the same reply."""
        self.journeys.append(journey)
        if not self.is_asked and (journey.is_page or journey.wanted_fragments):
            self.wants_content = True
            if journey.kinds is not DOCUMENTS:
                self.kinds = journey.kinds


class Guide(Protocol):
    """The interface of a crawl that steers `RedirectChains`."""

    def refusal(self, uri: str) -> Reply | None:
        """Why a URI may not be requested; None if it may."""

    def delay(self, uri: str) -> float:
        """Seconds between two requests to a URI's server."""
        ...

    def remaining_seconds(self) -> float:
        """Seconds until the time limit."""
        ...

    def take(self, stop: ChainStop, reply: Reply, content: bytes) -> None:
        """Handle the content of a response."""


def _limits(checker: Checker, host: Hashable) -> tuple[int, float | None]:
    """Parallel requests, and requests per second, to a host of `RedirectChains`."""
    name = host[1] if isinstance(host, tuple) else ""
    settings = host_settings(checker, name)
    return settings.per_host or checker.per_host, settings.rate


class RedirectChains:
    """Redirect chains that run in one thread.

    wanted: the URIs to check, each with the fragments to look up in it; `add` adds others, at any time.
    guide: the crawl that steers the chains; without one, fragments are looked up.
    """

    def __init__(
        self,
        asking: Requester,
        checker: Checker,
        wanted: Mapping[str, frozenset[str]] | None = None,
        guide: Guide | None = None,
    ) -> None:
        self.asking = asking
        self.jobs: int = checker.jobs
        self.guide = guide
        self._fragments_by_uri: Mapping[str, frozenset[str]] = wanted or {}
        self._hosts: Hosts[str | ChainStop] = Hosts(limits=partial(_limits, checker))
        self._names: dict[str, Hashable] = {}
        """Hosts by the part of a URI before the path."""
        self._loop: Loop = Loop()
        self._readers: ThreadPool = ThreadPool(1)
        self._stops: dict[Key, ChainStop] = {}
        """The stops without a reply."""
        self._replies: dict[Key, Reply] = {}
        self._ended: deque[tuple[RedirectChain, Outcome]] = deque()
        for uri in self._fragments_by_uri:
            self._hosts.add(self._host(uri), uri)

    def add(self, journey: RedirectChain) -> None:
        """Continue a chain: queue its next stop, or use the known reply."""
        key, cookie = self._key(journey)
        reply = self._replies.get(key)
        if reply is not None and not journey.lacks(reply):
            self._arrive(journey, reply)
            return
        stop = self._stops.get(key)
        is_new = stop is None
        if stop is None:
            stop = self._stops[key] = ChainStop(journey.current_uri, key, journey.opening, cookie)
            stop.wants_content = bool(self._fragments_by_uri.get(stop.uri))
        # Started chains finish first, so that few are unfinished when the run is stopped.
        hurried = journey.opening is not None and not stop.is_asked
        if is_new or hurried:
            self._hosts.add(self._host(stop.uri), stop, first=hurried)
        stop.join(journey)

    def record_outcome(self, outcome: Outcome, *, is_read: bool = False) -> None:
        """Use an earlier outcome instead of requesting its URI.  is_read: whether its content is known too."""
        if outcome.final is None:
            self._replies[outcome.uri] = Reply(outcome.kind, outcome.status, outcome.why, is_read=is_read)

    @property
    def waiting_count(self) -> int:
        """The number of chains without a reply."""
        return sum(len(stop.journeys) for stop in self._stops.values())

    def outcomes(self) -> Generator[tuple[RedirectChain, Outcome], None, None]:
        """Yield the outcome of each chain as it ends, until the time limit.

        Raises: errors that are not answers of a server.
        """
        try:
            while True:
                while self._ended:
                    yield self._ended.popleft()
                limit = None if self.guide is None else self.guide.remaining_seconds()
                if limit is not None and limit <= 0:
                    return
                self._start_requests()
                if self._ended:
                    continue
                pause = self._hosts.pause()
                if pause is None and not len(self._loop):
                    return
                until = [wait for wait in (limit, pause if len(self._loop) < self.jobs else None) if wait is not None]
                self._loop.run_once(min(until, default=None))
        finally:
            self._loop.close()

    def _start_requests(self) -> None:
        """Start all requests that may be sent now."""
        while len(self._loop) < self.jobs and (queued := self._hosts.take()) is not None:
            host, stop = queued
            if isinstance(stop, str):
                uri, journey = stop, RedirectChain(stop, self._fragments_by_uri[stop])
                reply = self._replies.get(uri)
                if (reply is not None and not journey.lacks(reply)) or uri in self._stops:
                    self._hosts.release(host)
                    self.add(journey)
                    continue
                stop = self._stops[uri] = ChainStop(uri, uri, None, self.asking.login_field(uri))
                stop.join(journey)
            elif stop.is_asked or self._stops.get(stop.key) is not stop:
                self._hosts.release(host)  # it was queued twice to be sent first
                continue
            stop.is_asked = True
            self._loop.add(self._ask(host, stop))

    def _ask(self, host: Hashable, stop: ChainStop) -> Work[None]:
        """Request a URI, and continue the chains that wait for it."""
        content, is_cut = None, False
        reply = None if self.guide is None else self.guide.refusal(stop.uri)
        pause = 0.0
        if reply is None:
            if self._hosts.is_dead(host):
                reply = _DEAD
            elif self._hosts.is_put_off(host):
                reply = _PUT_OFF
            else:
                reply, content, is_cut = yield from self.asking.ask(
                    stop.uri, stop.opening, wants_content=stop.wants_content, kinds=stop.kinds, cookie=stop.cookie
                )
                stop.tried += 1
                # Retry-After is for the server, not for one URI (RFC 9110 10.2.3).
                pause = max(reply.wait or 0.0, 0.0 if self.guide is None else self.guide.delay(stop.uri))
            if (wait := wait_for(reply, stop.tried)) is not None:
                stop.is_asked = False
                self._hosts.release(host, wait=max(wait, pause), again=stop)
                return
        if content is not None and reply.kind is None and reply.redirect is None:
            if (program := interstitial(content)) is not None:
                message = f"{program} asks for a script to be run before the page is shown"
                reply = reply._replace(kind="programs-refused", why=message)
            elif self.guide is not None:
                self.guide.take(stop, reply, content)
            else:
                reply = reply._replace(anchors=(yield from self._anchors(content, reply.media_type, stop.uri, is_cut)))
        self._hosts.release(host, failed=reply.unreached, busy=reply.busy or reply is _PUT_OFF, wait=pause)
        self._replies[stop.key] = reply
        del self._stops[stop.key]
        for journey in stop.journeys:
            self._arrive(journey, reply)

    def _anchors(self, content: bytes, media_type: str, uri: str, is_cut: bool) -> Work[Anchors]:
        """Read a document's anchors in a thread: a large one takes many seconds, in which others may time out."""
        from overthere.broken.fragments import anchors

        read = partial(anchors, content, media_type, uri, is_cut, self.asking.rule)
        try:
            question = Question(read, self._readers)
        except OSError:  # out of file descriptors or threads
            return read()
        try:
            yield Ready(question.ready, False, DAY)
            result: Anchors = question.answer()
        finally:
            question.close()
        return result

    def _arrive(self, journey: RedirectChain, reply: Reply) -> None:
        """Continue or end a chain after a reply."""
        if journey.lacks(reply):
            self.add(journey)
        elif reply.redirect is None:
            self._ended.append((journey, journey.outcome(reply, self.asking.secrets(journey.uri))))
        else:
            location = reply.redirect.location or ""
            if _UNFOLLOWED.match(location):
                end = Reply("bad-redirect", reply.status, printable(shorten(mask(location), _MAX_SHOWN_LENGTH)))
                self._ended.append((journey, journey.outcome(end, self.asking.secrets(journey.uri))))
                return
            try:
                journey.follow(reply.redirect, reply.peer, self.asking)
            except DOCUMENTED as error:
                end = failure(error)
                if end.kind == "redirect-loop" and not reply.is_read:
                    self.add(RedirectChain(journey.uri, journey.fragments, is_page=True, depth=journey.depth))
                    return  # perhaps only HEAD is redirected in a loop
                self._ended.append((journey, journey.outcome(end, self.asking.secrets(journey.uri))))
            else:
                self.add(journey)

    def _key(self, journey: RedirectChain) -> tuple[Key, str]:
        """The key of the reply that a chain needs next, and the cookies to send.

        After a redirect of a public server the policy is stricter (RFC 3986 7.4), and other cookies may give another
        reply.
        """
        uri = journey.current_uri
        is_free = journey.opening is None or journey.opening.policy is self.asking.policy
        key: Key = uri if is_free else (uri, "public")
        login = self.asking.login_field(uri)
        if journey.cookies is None:
            return key, login
        cookie = journey.cookies.send(uri)
        return key if cookie == login else (uri, "" if is_free else "public", cookie), cookie

    def _host(self, uri: str) -> Hashable:
        at = uri.find("/", uri.find("://") + 3)
        prefix = uri[:at]
        if at < 0 or prefix not in self._names:
            parsed = URI(uri)
            name = parsed.scheme.lower(), (parsed.host or "").lower(), parsed.effective_port
            if at < 0 or "?" in prefix:
                return name
            self._names[prefix] = name
        return self._names[prefix]
