"""A site crawled within its origin: each of its URIs asked for once, its documents laid into a file (WARC 1.1)."""

from __future__ import annotations

import re
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from datetime import UTC, datetime

from overthere.base import Base
from overthere.broken.asking import DOCUMENTS, Asking, Said
from overthere.broken.fragments import content_type
from overthere.broken.journeys import Journey, Journeys, Stop
from overthere.broken.model import Checker, Outcome
from overthere.broken.robots import ANY, Robots
from overthere.links.containers.held import hold
from overthere.links.documents.kinds import kind_of
from overthere.links.job import links
from overthere.links.job.reading import fill
from overthere.links.model import Document, Link, Options
from overthere.links.report.rows import rows
from overthere.uri import URI

__all__ = ["LONGEST", "REPEATED", "Crawl"]

LONGEST = 2000
"""Characters of a URI that is followed: longer ones are made by programs that add to them."""
REPEATED = 4
"""How often a segment may stand in a path that is followed: a trap adds the same one again and again."""
_DEEPEST = 100
"""Links from where the crawl began."""
_PAGES = re.compile(r"(?:a|area|iframe|frame|link|meta|feed|entry|sitemap|url|css|use|@import)\b", re.ASCII)
"""What may lead to a document; of all else the head is asked for."""
_NAMES = frozenset(("base href", "link preconnect", "link dns-prefetch"))
"""What names no document."""


class Crawl:
    """Where a crawl has come to.

    path: the file of the documents, which is there until `held.drop`.
    outcomes: what asking for each URI has shown; names: of each record, the URI of its document.
    passed: URIs that were not followed, by reason.
    """

    def __init__(self, starts: Iterable[str], checker: Checker, asking: Asking) -> None:
        self.starts: list[str] = [str(URI(start).replace(fragment=None)) for start in starts]
        self.origins: set[str] = {URI(start).origin for start in self.starts}
        self.checker: Checker = checker
        self.asking: Asking = asking
        self.outcomes: dict[str, Outcome] = {}
        self.names: dict[str, str] = {}
        self.passed: Counter[str] = Counter()
        self.path: str
        self.path, self._file = hold()
        self._robots = Robots()
        self._options = Options(limit=checker.limit)
        self._seen: set[str] = set()
        self._journeys = Journeys(asking, checker, guide=self)

    def run(self, step: Callable[[str, int, int], None]) -> None:
        """Crawl to the end; what a server says it may ask for comes first (RFC 9309 2.3).

        Raises: what no answer of a server is.
        """
        for origin in self.origins:
            self._journeys.add(Journey(f"{origin}/robots.txt", is_page=True, kinds=ANY))
        try:
            with closing(self._journeys.outcomes()) as outcomes:
                for journey, outcome in outcomes:
                    if journey.kinds is ANY:
                        self._robots.answered(URI(journey.uri).origin, outcome)
                        for start in self.starts:
                            if URI(start).origin == URI(journey.uri).origin:
                                self._want(start, 0, True)
                    else:
                        self.outcomes[journey.uri] = outcome
                        step("crawled", len(self.outcomes), len(self._seen))
        finally:
            self._file.close()

    def _want(self, uri: str, depth: int, is_page: bool) -> None:
        """Ask for a URI if it is of the site and new."""
        if uri in self._seen:
            return
        self._seen.add(uri)
        if (reason := self._reason(uri, depth)) is not None:
            self.passed[reason] += 1
            return
        self._journeys.add(Journey(uri, is_page=is_page, depth=depth))

    def _reason(self, uri: str, depth: int) -> str | None:
        """Why a URI is not followed."""
        if len(self._seen) > self.checker.pages:
            return "page-limit"
        if len(uri) > LONGEST:
            return "long"
        if depth > _DEEPEST:
            return "deep"
        segments = Counter(filter(None, URI(uri).segments))
        return "trap" if segments and max(segments.values()) > REPEATED else None

    def refusal(self, uri: str) -> Said | None:
        """Why a URI may not be asked for, by the rules of its server."""
        return self._robots.refusal(uri)

    def delay(self, uri: str) -> float:
        """Seconds between two requests to its server."""
        return self._robots.delay(uri) or 0.0

    def take(self, stop: Stop, said: Said, content: bytes) -> None:
        """Content that came: rules of a server, or a document of the site, and what that leads to is wanted too."""
        if stop.kinds is ANY:
            self._robots.learn(stop.uri, content)
        if not content or URI(stop.uri).origin not in self.origins or not DOCUMENTS.match(said.media_type):
            return
        depth = min(journey.depth for journey in stop.journeys)
        for target, is_page in self._targets(self._lay(stop.uri, said.media_type, content)):
            self._want(target, depth + 1, is_page)

    def _lay(self, uri: str, media_type: str, content: bytes) -> Document:
        """Write a document as a record of its own; what it is called there is its URI from now on."""
        self.names[f"{self.path}!{self._file.tell()}"] = uri
        head = (
            f"WARC/1.1\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:uuid:{uuid.uuid4()}>\r\n"
            f"WARC-Date: {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}\r\nWARC-Target-URI: {uri}\r\n"
            f"Content-Type: {_told(media_type)}\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        self._file.write(head.encode("utf-8") + content + b"\r\n\r\n")
        told, charset = content_type(media_type)
        return Document(uri, content, Base(URI(uri), "retrieval", "retrieval"), told, charset)

    def _targets(self, document: Document) -> Iterator[tuple[str, bool]]:
        """The URIs of the site that a document leads to, and whether each may be a document."""
        made = rows(self._options)
        kind, notes = kind_of(document)
        for _ in fill(made, document, kind, notes, self._options):
            yield from self._within(links(made.take()))
        yield from self._within(links(made.take()))

    def _within(self, found: Iterable[Link]) -> Iterator[tuple[str, bool]]:
        for link in found:
            if link.target is None or link.where in _NAMES:
                continue
            target = URI(link.target).replace(fragment=None)
            if target.scheme.lower() in ("http", "https") and target.origin in self.origins:
                yield str(target), _PAGES.match(link.where or "") is not None


def _told(media_type: str) -> str:
    """A Content-Type as a field of a record may say it."""
    return "".join(c for c in media_type if " " <= c < "\x7f") or "application/octet-stream"
