"""Crawls a site within its origin; each URI is fetched once, documents go to a WARC file (WARC 1.1)."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from time import monotonic
from typing import TYPE_CHECKING

from overthere.base import Base
from overthere.broken.cache import Cache
from overthere.broken.fragments import content_type
from overthere.broken.model import Checker, Outcome
from overthere.broken.records import Records
from overthere.broken.redirects import ChainStop, RedirectChain, RedirectChains
from overthere.broken.replies import Reply
from overthere.broken.requests import DOCUMENTS
from overthere.broken.robots import ANY, Robots
from overthere.ground.caches import bounded_cache
from overthere.links.documents.kinds import kind_of
from overthere.links.job.reading import fill
from overthere.links.model import Document, Link, Options
from overthere.links.report.rows import rows
from overthere.values.uri import URI

if TYPE_CHECKING:
    from overthere.broken.external import Asker

__all__ = ["LONGEST", "REPEATED", "Crawl"]

LONGEST = 2000
"""Characters of a URI that is followed: longer ones are made by programs that add to them."""
REPEATED = 4
"""How often a segment may stand in a path that is followed: a trap adds the same one again and again."""
_DEEPEST = 100
"""Links from where the crawl began."""
_PAGES = re.compile(r"(?:a|area|iframe|frame|link|meta|feed|entry|sitemap|url|css|use|@import)\b", re.ASCII)
"""What may lead to a document; of all else the head is asked for."""
_DOCUMENT = ("",)
"""The fragment by which the cache knows that the content of a URI was requested, not only the head."""
_NAMES = frozenset(("base href", "link preconnect", "link dns-prefetch"))
"""What names no document."""


class Crawl:
    """Where a crawl has come to.

    outcomes: what asking for each URI has shown; recalled: how many of them the cache knew.
    records: the documents; passed: URIs that were not followed, by reason.

    Raises: ValueError, OSError for a cache that cannot be gone on with.
    """

    def __init__(self, starts: Iterable[str], asker: Asker) -> None:
        self.starts: list[str] = [str(URI(start).replace(fragment=None)) for start in starts]
        self.origins: set[str] = {URI(start).origin for start in self.starts}
        self.checker: Checker = asker.checker
        self.cache: Cache = asker.cache
        self.outcomes: dict[str, Outcome] = {}
        self.recalled: int = 0
        self.passed: Counter[str] = Counter()
        path = self.checker.cache
        self.records: Records = Records(None if path is None else f"{path}.warc", resumed=self.cache.is_resumed)
        self._robots = Robots()
        self._options = Options(limit=self.checker.limit)
        self._seen: set[str] = set()
        self._heads: set[str] = set()
        """URIs of which only the head is requested."""
        self._unread: set[str] = set(self.records.found)
        """Documents that a stopped crawl has recorded, and whose links are not followed yet."""
        self._again: deque[tuple[str, int]] = deque()
        """Documents of these that were reached, and their depth."""
        self._journeys = RedirectChains(asker.asking, self.checker, guide=self)
        self._recorded: frozenset[str] = frozenset(self._unread.difference(map(_robots_uri, self.origins)))
        """Documents that are not requested again, even if the stopped crawl kept no outcome of them."""
        for uri in self._recorded:
            self._journeys.record_outcome(Outcome(uri, None, 200, "", None, False, (), 0.0, True), is_read=True)
        self._ends: float | None = None
        """When its time is over, by the clock of `monotonic`."""

    def run(self, step: Callable[[str, int, int], None]) -> None:
        """Crawl to the end, or as long as it may; what a server says it may ask for comes first (RFC 9309 2.3).

        Raises: what no answer of a server is.
        """
        self._ends = monotonic() + self.checker.crawl_time
        for origin in sorted(self.origins):
            self._journeys.add(RedirectChain(_robots_uri(origin), is_page=True, kinds=ANY))
        try:
            with closing(self._journeys.outcomes()) as outcomes:
                for journey, outcome in outcomes:
                    if journey.kinds is ANY:
                        self._begin(URI(journey.uri).origin, outcome)
                    else:
                        self.recalled += journey.uri in self._recorded and journey.uri not in self.outcomes
                        self.outcomes[journey.uri] = outcome
                        self.cache.keep(outcome, _DOCUMENT if journey.is_page else ())
                        self._reach(outcome, journey.depth)
                    while self._again:
                        uri, depth = self._again.popleft()
                        self._follow(self._document(uri, *self.records.read(uri)), depth)
                    step("crawled", len(self.outcomes), len(self._seen))
            if self._journeys.waiting_count:
                self.passed["crawl-time"] += self._journeys.waiting_count
        finally:
            self.records.close()
            self.cache.commit()

    def remaining_seconds(self) -> float:
        """Seconds that are left for all of it."""
        return self.checker.crawl_time if self._ends is None else self._ends - monotonic()

    def has_passed(self, uri: str) -> bool:
        """Whether a URI of the site was met and not asked for."""
        return uri in self._seen and uri not in self.outcomes

    def _begin(self, origin: str, robots: Outcome) -> None:
        """Where the crawl of an origin begins, whose robots.txt was asked for."""
        self._robots.record_answer(origin, robots)
        for start in self.starts:
            if URI(start).origin == origin:
                self._want(start, 0, True)

    def _want(self, uri: str, depth: int, is_page: bool) -> None:
        """Ask for a URI if it is of the site and new."""
        if uri in self._seen:
            if is_page and uri in self._heads:
                self._request(uri, depth, True)
            return
        if len(self._seen) >= self.checker.pages:
            self.passed["page-limit"] += 1  # not remembered: there may be any number of them
            return
        self._seen.add(uri)
        if (reason := self._reason(uri, depth)) is not None:
            self.passed[reason] += 1
        else:
            self._request(uri, depth, is_page)

    def _request(self, uri: str, depth: int, is_page: bool) -> None:
        """Ask for a URI, unless the cache knows it; once more if its content is wanted only now."""
        if is_page:
            self._heads.discard(uri)
        else:
            self._heads.add(uri)
        if not self._is_cached(uri, depth, is_page):
            self._journeys.add(RedirectChain(uri, is_page=is_page, depth=depth))

    def _is_cached(self, uri: str, depth: int, is_page: bool) -> bool:
        """Whether the cache knows a URI; of a page, whether it has what asking would give: that of this crawl."""
        outcome = next(self.cache.valid_outcomes({uri: _DOCUMENT if is_page else ()}), None)
        if outcome is None or (is_page and (outcome.checked < self.cache.since or not self.records.is_resumed)):
            return False
        self.recalled += uri not in self.outcomes
        self.outcomes[uri] = outcome
        self._journeys.record_outcome(outcome, is_read=is_page)
        self._reach(outcome, depth)
        return True

    def _reach(self, outcome: Outcome, depth: int) -> None:
        """Follow the links of a document that a stopped crawl has recorded, once."""
        final = outcome.final or outcome.uri
        if final in self._unread:
            self._unread.remove(final)
            self._again.append((final, depth))

    def _reason(self, uri: str, depth: int) -> str | None:
        """Why a URI is not followed."""
        if len(uri) > LONGEST:
            return "long"
        if depth > _DEEPEST:
            return "deep"
        segments = Counter(filter(None, URI(uri).segments))
        return "trap" if segments and max(segments.values()) > REPEATED else None

    def refusal(self, uri: str) -> Reply | None:
        """Why a URI may not be asked for, by the rules of its server."""
        return self._robots.refusal(uri)

    def delay(self, uri: str) -> float:
        """Seconds between two requests to its server."""
        return self._robots.delay(uri) or 0.0

    def take(self, stop: ChainStop, said: Reply, content: bytes) -> None:
        """Content that came: rules of a server, or a document of the site, and what that leads to is wanted too."""
        if stop.kinds is ANY:
            self._robots.add_file(stop.uri, content)
        if content and URI(stop.uri).origin in self.origins and DOCUMENTS.match(said.media_type):
            if len(stop.uri) > LONGEST:  # a redirect has led there
                self.passed["long"] += 1
                return
            self.records.add(stop.uri, said.media_type, content)
            self._unread.discard(stop.uri)
            depth = min(journey.depth for journey in stop.journeys)
            self._follow(self._document(stop.uri, said.media_type, content), depth)

    def _document(self, uri: str, media_type: str, content: bytes) -> Document:
        told, charset = content_type(media_type)
        return Document(uri, content, Base(URI(uri), "retrieval", "retrieval"), told, charset)

    def _follow(self, document: Document, depth: int) -> None:
        """What a document of the site leads to is wanted too."""
        for target, is_page in self._targets(document):
            self._want(target, depth + 1, is_page)

    def _targets(self, document: Document) -> Iterator[tuple[str, bool]]:
        """The URIs of the site that a document leads to, and whether each may be a document."""
        made = rows(self._options)
        kind, notes = kind_of(document)
        for _ in fill(made, document, kind, notes, self._options):
            yield from self._site_links(made.take_links())
            if self.remaining_seconds() <= 0:
                self.passed["crawl-time"] += 1  # the rest of the document, whose URIs nobody has counted
                return
        yield from self._site_links(made.take_links())

    def _site_links(self, found: Iterable[Link]) -> Iterator[tuple[str, bool]]:
        for link in found:
            if link.target is None or link.where in _NAMES:
                continue
            target = link.target.partition("#")[0]
            if _origin(target) in self.origins:
                yield target, _PAGES.match(link.where or "") is not None


@bounded_cache(1 << 14)
def _origin(uri: str) -> str:
    return URI(uri).origin


def _robots_uri(origin: str) -> str:
    return f"{origin}/robots.txt"
