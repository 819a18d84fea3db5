"""URIs outside of the sources, each asked for once, however many links have it: many at once, few of one host."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from overthere.access.errors import needs
from overthere.access.policy import Policy
from overthere.broken.asking import Asking, wait_for
from overthere.broken.cache import Cache
from overthere.broken.hosts import Hosts
from overthere.broken.model import Checker, Outcome
from overthere.uri import URI

if TYPE_CHECKING:
    from overthere.schemes.registry import Registry

__all__ = ["Asker"]

_UNREACHED = frozenset(("connect", "timeout", "dns"))


@dataclass(slots=True)
class _Wanted:
    uri: str
    fragments: frozenset[str]
    tried: int = 0


class Asker:
    """Asks as the settings of a check say.

    policy: what asking may do; by default `Policy()`, which is for URIs of others.

    Raises: ValueError for settings that cannot be; OSError for a cache that cannot be written.
    """

    def __init__(self, checker: Checker, policy: Policy | None = None, registry: Registry | None = None) -> None:
        needs("h11")
        self.checker = checker
        self.asking: Asking = Asking(
            policy or Policy(), agent=checker.agent, headers=checker.headers, limit=checker.limit,
            rule=checker.anchors, registry=registry,
        )  # fmt: skip
        self.cache: Cache = Cache(checker.cache, dict(checker.max_age), resume=checker.resume)

    def ask(self, uris: Iterable[str], fragments: Mapping[str, Iterable[str]] | None = None) -> Iterator[Outcome]:
        """The outcome for each URI, as they come; what the cache knows comes first.

        uris: without fragments; fragments: those that are looked up in the document of a URI.
        """
        looked = fragments or {}
        wanted = {uri: frozenset(looked.get(uri, ())) for uri in uris}
        whole = False
        try:
            for outcome in self.cache.known(dict(wanted)):
                del wanted[outcome.uri]
                yield outcome
            for outcome in self._answers(wanted):
                self.cache.keep(outcome, wanted[outcome.uri])
                yield outcome
            whole = True
        finally:
            self.cache.close(whole=whole)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Connections and the cache are closed."""
        self.asking.close()
        self.cache.close()

    def _answers(self, wanted: Mapping[str, frozenset[str]]) -> Iterator[Outcome]:
        hosts: Hosts[_Wanted] = Hosts(self.checker.per_host, self.checker.rate)
        answers: queue.SimpleQueue[Outcome | BaseException] = queue.SimpleQueue()
        for uri, fragments in wanted.items():
            hosts.add(_host(uri), _Wanted(uri, fragments))
        hosts.close()
        count = min(self.checker.jobs, len(wanted))
        threads = [
            threading.Thread(target=self._work, args=(hosts, answers), name=f"asking-{number}", daemon=True)
            for number in range(count)
        ]
        for thread in threads:
            thread.start()
        try:
            committed = time.monotonic()
            for _ in wanted:
                outcome = answers.get()
                if isinstance(outcome, BaseException):
                    raise outcome
                yield outcome
                if time.monotonic() - committed > 1:
                    self.cache.commit()
                    committed = time.monotonic()
        finally:
            hosts.stop()

    def _work(self, hosts: Hosts[_Wanted], answers: queue.SimpleQueue[Outcome | BaseException]) -> None:
        """What one thread does."""
        try:
            while (taken := hosts.take()) is not None:
                host, wanted = taken
                if hosts.is_dead(host):
                    outcome = _unasked(wanted.uri)
                    hosts.done(host, failed=True)
                    answers.put(outcome)
                    continue
                answer = self.asking.ask(wanted.uri, wanted.fragments)
                wanted.tried += 1
                if (wait := wait_for(answer, wanted.tried)) is not None:
                    hosts.done(host, wait=wait, again=wanted)
                    continue
                hosts.done(host, failed=answer.outcome.kind in _UNREACHED)
                answers.put(answer.outcome)
        except BaseException as error:
            answers.put(error)


def _host(uri: str) -> tuple[str, str, int | None]:
    there = URI(uri)
    return there.scheme.lower(), (there.host or "").lower(), there.effective_port


def _unasked(uri: str) -> Outcome:
    why = "it was not asked: several connections to its host failed one after the other"
    return Outcome(uri, "connect", None, why, None, False, (), time.time(), False)
