"""Redirect chains of many URIs: each URI on the way is requested only once."""

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

__all__ = ["Guide", "RedirectChain", "RedirectChains", "ChainStop"]

Key = str | tuple[str, ...]
_UNFOLLOWED = re.compile(r"[ \t]*+(?:file|javascript|data|about|blob|vbscript)[ \t]*+:", re.IGNORECASE)
_SHOWN = 300
"""Characters of a Location that are shown."""
_UNREACHED = frozenset(("connect", "timeout", "dns", "protocol"))
_DEAD = Reply("connect", None, "not requested, because several connections to its host failed in a row")
_PUT_OFF = Reply("rate-limited", None, "not requested, because its host kept limiting the request rate")


class RedirectChain:
    """A URI that is asked for, and where redirects have led.

    uri: without a fragment; fragments: those that are looked up in the document, if it is one.
    is_page: whether its content is wanted too, if its media type is one of `kinds`.
    depth: links from where a crawl began.
    """

    __slots__ = (
        "cookies", "depth", "fragments", "is_page", "kinds", "own_fragment", "permanent", "repaired", "uri", "way",
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
        self.way: Opening | None = None
        self.cookies: Cookies | None = None
        """Those that its servers set; None before the first."""
        self.permanent: bool = True
        """Whether every redirect was."""
        self.own_fragment: str | None = None
        """Of the last redirect that has one: it takes the place of those that were asked for (RFC 9110 10.2.2)."""
        self.repaired: str = ""
        """A Location that is no URI-reference, as it was written."""

    @property
    def current_uri(self) -> str:
        """Where it has come to."""
        return self.uri if self.way is None else str(self.way.uri.replace(fragment=None))

    @property
    def wanted_fragments(self) -> frozenset[str]:
        """Those that are looked up where it has come to."""
        return self.fragments if self.own_fragment is None else frozenset((self.own_fragment,))

    def lacks(self, said: Reply) -> bool:
        """Whether it wants content that was not read when that was said; of a redirect, what GET is told."""
        return (
            (self.is_page or bool(self.wanted_fragments))
            and not said.is_read
            and said.kind is None
            and (said.redirect is None or self.is_page)
            and said.status is not None
        )

    def follow(self, head: Head, peer: tuple[int, Any] | None, asking: Requester) -> None:
        """Go where a redirect leads.  Raises: AccessRefused, ProtocolError."""
        self.way = self.way or asking.open_chain(self.uri)
        self.permanent = self.permanent and head.permanent
        location = head.location or ""
        with suppress(UnicodeError):  # octets beyond US-ASCII were read one by one (RFC 9110 5.5)
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
            is_changed = not self.cookies.is_repeated(str(self.way.target(head).replace(fragment=None)))
        self.way.follow(head, peer, is_changed=is_changed)
        if reference is not None and reference.fragment is not None:
            self.own_fragment = reference.fragment

    def outcome(self, said: Reply, secrets: Secrets) -> Outcome:
        """What has come of it; secrets: what no server makes it tell."""
        kind, why = said.kind, said.why
        missing: tuple[str, ...] = ()
        if kind is None and self.wanted_fragments and said.anchors is not None:
            missing, unsure = said.anchors.find_missing(self.wanted_fragments)
            why = unsure or why
            if missing and self.own_fragment is not None:
                kind, why, missing = "no-fragment", f"#{self.own_fragment}, to which the server redirects", ()
        final = self.current_uri if self.way is not None and self.way.history else None
        final = None if final == self.uri else final  # it wanted its own cookie
        moved = self.permanent and final is not None
        if kind is None and self.repaired:
            kind, why = "bad-location", printable(shorten(mask(self.repaired), _SHOWN))
        if kind is None and moved and final is not None:
            kind, why = "moved-permanently", final
        why = secrets.mask(why)
        if final is not None and secrets.mask(shown := mask(final)) != shown:
            final = None  # which would be suggested
        return Outcome(self.uri, kind, said.status, why, final, moved, missing, time.time(), False)


class ChainStop:
    """A URI that is asked for, now or next.

    key: by what its answer is known; way: that has led to it by redirects; cookie: the value of the field.
    """

    __slots__ = ("cookie", "is_asked", "journeys", "key", "kinds", "tried", "uri", "wanted", "way")

    def __init__(self, uri: str, key: Key, way: Opening | None, cookie: str = "") -> None:
        self.cookie: str = cookie
        self.uri: str = uri
        self.key: Key = key
        self.way: Opening | None = way
        self.tried: int = 0
        self.is_asked: bool = False
        self.wanted: bool = False
        """Whether the content is."""
        self.kinds: re.Pattern[str] = DOCUMENTS
        self.journeys: list[RedirectChain] = []

    def join(self, journey: RedirectChain) -> None:
        """It waits for the same answer."""
        self.journeys.append(journey)
        if not self.is_asked and (journey.is_page or journey.wanted_fragments):
            self.wanted = True
            if journey.kinds is not DOCUMENTS:
                self.kinds = journey.kinds


class Guide(Protocol):
    """What a crawl has to say."""

    def refusal(self, uri: str) -> Reply | None:
        """Why a URI may not be asked for; None: it may."""

    def delay(self, uri: str) -> float:
        """Seconds between two requests to its server."""
        ...

    def remaining_seconds(self) -> float:
        """Seconds that are left for all of it."""
        ...

    def take(self, stop: ChainStop, said: Reply, content: bytes) -> None:
        """Content that came."""


def _limits(checker: Checker, host: Hashable) -> tuple[int, float | None]:
    """Requests at once, and a second, to a host of `RedirectChains`."""
    name = host[1] if isinstance(host, tuple) else ""
    own = host_settings(checker, name)
    return own.per_host or checker.per_host, own.rate


class RedirectChains:
    """Journeys under way, in one thread.

    wanted: URIs that are asked for, each with the fragments that are looked up in it; `add` adds others, at any time.
    guide: what a crawl has to say; without one, fragments are looked up.
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
        self._wanted: Mapping[str, frozenset[str]] = wanted or {}
        self._hosts: Hosts[str | ChainStop] = Hosts(limits=partial(_limits, checker))
        self._names: dict[str, Hashable] = {}
        """Hosts, by what stands before the path."""
        self._loop: Loop = Loop()
        self._stops: dict[Key, ChainStop] = {}
        """What has no answer yet."""
        self._said: dict[Key, Reply] = {}
        self._ended: deque[tuple[RedirectChain, Outcome]] = deque()
        for uri in self._wanted:
            self._hosts.add(self._host(uri), uri)

    def add(self, journey: RedirectChain) -> None:
        """Go on with a journey: to its next stop, or, where the answer is known, over it."""
        key, cookie = self._key(journey)
        said = self._said.get(key)
        if said is not None and not journey.lacks(said):
            self._arrive(journey, said)
            return
        stop = self._stops.get(key)
        is_new = stop is None
        if stop is None:
            stop = self._stops[key] = ChainStop(journey.current_uri, key, journey.way, cookie)
            stop.wanted = bool(self._wanted.get(stop.uri))
        # A journey that is under way comes to its end first: what is stopped has few of them.
        hurried = journey.way is not None and not stop.is_asked
        if is_new or hurried:
            self._hosts.add(self._host(stop.uri), stop, first=hurried)
        stop.join(journey)

    def record_outcome(self, outcome: Outcome, *, is_read: bool = False) -> None:
        """What was said before: what comes by does not ask again.  is_read: whether its content is known too."""
        if outcome.final is None:
            self._said[outcome.uri] = Reply(outcome.kind, outcome.status, outcome.why, is_read=is_read)

    @property
    def waiting_count(self) -> int:
        """Journeys that have no answer yet."""
        return sum(len(stop.journeys) for stop in self._stops.values())

    def outcomes(self) -> Generator[tuple[RedirectChain, Outcome], None, None]:
        """What has come of each, as it comes, until nothing is left of the time.

        Raises: what no answer of a server is.
        """
        try:
            while True:
                while self._ended:
                    yield self._ended.popleft()
                left = None if self.guide is None else self.guide.remaining_seconds()
                if left is not None and left <= 0:
                    return
                self._begin()
                if self._ended:
                    continue
                pause = self._hosts.pause()
                if pause is None and not len(self._loop):
                    return
                until = [one for one in (left, pause if len(self._loop) < self.jobs else None) if one is not None]
                self._loop.run_once(min(until, default=None))
        finally:
            self._loop.close()

    def _begin(self) -> None:
        """Ask for as much as may be asked for now."""
        while len(self._loop) < self.jobs and (taken := self._hosts.take()) is not None:
            host, stop = taken
            if isinstance(stop, str):
                uri, journey = stop, RedirectChain(stop, self._wanted[stop])
                said = self._said.get(uri)
                if (said is not None and not journey.lacks(said)) or uri in self._stops:
                    self._hosts.release(host)
                    self.add(journey)
                    continue
                stop = self._stops[uri] = ChainStop(uri, uri, None, self.asking.login_field(uri))
                stop.join(journey)
            elif stop.is_asked or self._stops.get(stop.key) is not stop:
                self._hosts.release(host)  # it was hurried
                continue
            stop.is_asked = True
            self._loop.add(self._ask(host, stop))

    def _ask(self, host: Hashable, stop: ChainStop) -> Work[None]:
        """Ask for a URI; those that wait for it go on."""
        content, cut = None, False
        said = None if self.guide is None else self.guide.refusal(stop.uri)
        unreached = False
        if said is None:
            if self._hosts.is_dead(host):
                said = _DEAD
            elif self._hosts.is_put_off(host):
                said = _PUT_OFF
            else:
                said, content, cut = yield from self.asking.ask(
                    stop.uri, stop.way, wanted=stop.wanted, kinds=stop.kinds, cookie=stop.cookie
                )
                stop.tried += 1
            unreached = said.status is None and said.kind in _UNREACHED
            if (wait := wait_for(said, stop.tried)) is not None:
                stop.is_asked = False
                self._hosts.release(host, wait=wait, again=stop)
                return
        wait = 0.0 if self.guide is None else self.guide.delay(stop.uri)
        self._hosts.release(host, failed=unreached, busy=said.busy or said is _PUT_OFF, wait=wait or 0.0)
        if content is not None and said.kind is None and said.redirect is None:
            if (who := interstitial(content)) is not None:
                why = f"{who} asks for a script to be run before the page is shown"
                said = said._replace(kind="programs-refused", why=why)
            elif self.guide is not None:
                self.guide.take(stop, said, content)
            else:
                from overthere.broken.fragments import anchors

                said = said._replace(anchors=anchors(content, said.media_type, stop.uri, cut, self.asking.rule))
        self._said[stop.key] = said
        del self._stops[stop.key]
        for journey in stop.journeys:
            self._arrive(journey, said)

    def _arrive(self, journey: RedirectChain, said: Reply) -> None:
        """A journey has an answer: it goes on, or is at its end."""
        if journey.lacks(said):
            self.add(journey)
        elif said.redirect is None:
            self._ended.append((journey, journey.outcome(said, self.asking.secrets(journey.uri))))
        else:
            location = said.redirect.location or ""
            if _UNFOLLOWED.match(location):
                end = Reply("bad-redirect", said.status, printable(shorten(mask(location), _SHOWN)))
                self._ended.append((journey, journey.outcome(end, self.asking.secrets(journey.uri))))
                return
            try:
                journey.follow(said.redirect, said.peer, self.asking)
            except DOCUMENTED as error:
                end = failure(error)
                if end.kind == "redirect-loop" and not said.is_read:
                    self.add(RedirectChain(journey.uri, journey.fragments, is_page=True, depth=journey.depth))
                    return  # only HEAD may be led around
                self._ended.append((journey, journey.outcome(end, self.asking.secrets(journey.uri))))
            else:
                self.add(journey)

    def _key(self, journey: RedirectChain) -> tuple[Key, str]:
        """By what an answer is known, and the cookies that are sent.

        What a redirect of a public server may reach is less (RFC 3986 7.4); who sends other cookies gets another
        answer.
        """
        uri = journey.current_uri
        is_free = journey.way is None or journey.way.policy is self.asking.policy
        key: Key = uri if is_free else (uri, "public")
        login = self.asking.login_field(uri)
        if journey.cookies is None:
            return key, login
        cookie = journey.cookies.send(uri)
        return key if cookie == login else (uri, "" if is_free else "public", cookie), cookie

    def _host(self, uri: str) -> Hashable:
        at = uri.find("/", uri.find("://") + 3)
        before = uri[:at]
        if at < 0 or before not in self._names:
            there = URI(uri)
            name = there.scheme.lower(), (there.host or "").lower(), there.effective_port
            if at < 0 or "?" in before:
                return name
            self._names[before] = name
        return self._names[before]
