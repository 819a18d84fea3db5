"""A site crawled within its origin: each of its URIs asked for once, its documents laid into a file (WARC 1.1)."""

from __future__ import annotations

import re
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime

from overthere.base import Base
from overthere.broken.asking import Answer, Asking, wait_for
from overthere.broken.fragments import content_type
from overthere.broken.hosts import Hosts
from overthere.broken.model import Checker, Outcome
from overthere.broken.robots import Robots
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


class _Page:
    __slots__ = ("depth", "is_page", "tried", "uri")

    def __init__(self, uri: str, depth: int, is_page: bool) -> None:
        self.uri, self.depth, self.is_page, self.tried = uri, depth, is_page, 0


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
        self._robots = Robots(asking)
        self._options = Options(limit=checker.limit)
        self._lock = threading.Lock()
        self._seen: set[str] = set()
        self._hosts: Hosts[_Page] = Hosts(checker.per_host, checker.rate)
        self._error: BaseException | None = None

    def run(self, step: Callable[[str, int, int], None]) -> None:
        """Crawl to the end.  Raises: what no answer of a server is."""
        for start in self.starts:
            self._want(start, 0, True)
        self._hosts.close()
        threads = [
            threading.Thread(target=self._work, args=(step,), name=f"crawling-{number}", daemon=True)
            for number in range(self.checker.jobs)
        ]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                while thread.is_alive():
                    thread.join(0.2)  # so that Ctrl-C is heard
        finally:
            self._hosts.stop()
            self._file.close()
        if self._error is not None:
            raise self._error

    def _want(self, uri: str, depth: int, is_page: bool) -> None:
        """Ask for a URI if it is of the site and new."""
        with self._lock:
            if uri in self._seen:
                return
            self._seen.add(uri)
            if (reason := self._reason(uri, depth)) is not None:
                self.passed[reason] += 1
                return
        self._hosts.add(URI(uri).authority, _Page(uri, depth, is_page))

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

    def _work(self, step: Callable[[str, int, int], None]) -> None:
        """What one thread does."""
        try:
            while (taken := self._hosts.take()) is not None:
                host, page = taken
                answer = self._ask(page)
                page.tried += 1
                wait = wait_for(answer, page.tried)
                if wait is not None:
                    self._hosts.done(host, wait=wait, again=page)
                    continue
                self._take(page, answer)
                self._hosts.done(host, wait=self._robots.delay(page.uri) or 0.0)
                step("crawled", len(self.outcomes), len(self._seen))
        except BaseException as error:
            self._error = error
            self._hosts.stop()

    def _ask(self, page: _Page) -> Answer:
        refusal = self._robots.refusal(page.uri)
        return self.asking.ask(page.uri, content=page.is_page) if refusal is None else Answer(refusal)

    def _take(self, page: _Page, answer: Answer) -> None:
        """Keep what was answered; if it is a document of the site, what it leads to is wanted too."""
        outcome = answer.outcome
        final = outcome.final or page.uri
        document = None
        with self._lock:
            self.outcomes[page.uri] = outcome
            if final != page.uri:
                # One document by two URIs is one document.
                self.outcomes.setdefault(final, outcome._replace(uri=final, final=None, kind=None, permanent=False))
                is_new = final not in self._seen
                self._seen.add(final)
            else:
                is_new = True
            if answer.content and is_new and URI(final).origin in self.origins:
                document = self._lay(final, answer)
        if document is not None:
            for target, is_page in self._targets(document):
                self._want(target, page.depth + 1, is_page)

    def _lay(self, uri: str, answer: Answer) -> Document:
        """Write a document as a record of its own; what it is called there is its URI from now on."""
        content = answer.content or b""
        self.names[f"{self.path}!{self._file.tell()}"] = uri
        head = (
            f"WARC/1.1\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:uuid:{uuid.uuid4()}>\r\n"
            f"WARC-Date: {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}\r\nWARC-Target-URI: {uri}\r\n"
            f"Content-Type: {_told(answer.media_type)}\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        self._file.write(head.encode("utf-8") + content + b"\r\n\r\n")
        media_type, charset = content_type(answer.media_type)
        return Document(uri, content, Base(URI(uri), "retrieval", "retrieval"), media_type, charset)

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
