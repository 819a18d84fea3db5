"""External URIs: each is requested once, many in parallel, with a limit per host."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Self

from overthere.access.errors import needs
from overthere.access.policy import Policy
from overthere.broken.cache import Cache
from overthere.broken.connections import MOST
from overthere.broken.cookies import load_cookies
from overthere.broken.default_policy import PATIENT
from overthere.broken.filters import host_settings
from overthere.broken.model import Checker, Outcome
from overthere.broken.projects import project_of
from overthere.broken.redirects import RedirectChains
from overthere.broken.requests import Requester
from overthere.broken.services import ask_archive, ask_github
from overthere.values.uri import URI

if TYPE_CHECKING:
    from overthere.schemes.registry import Registry

__all__ = ["Asker"]


class Asker:
    """Asks as the settings of a check say.

    policy: what asking may do; by default `PATIENT`, which is for URIs of others.

    Raises: ValueError for settings that cannot be; OSError for a cache that cannot be written.
    """

    def __init__(self, checker: Checker, policy: Policy | None = None, registry: Registry | None = None) -> None:
        needs("h11")
        self.checker = checker
        self.asking: Requester = Requester(
            policy or PATIENT, agent=checker.agent, headers=_headers(checker), limit=checker.limit,
            agents=lambda host: host_settings(checker, host).agent,
            login=() if checker.cookies is None else load_cookies(checker.cookies),
            rule=project_of(checker, "").anchors, registry=registry, most=max(checker.jobs, MOST),
        )  # fmt: skip
        self.cache: Cache = Cache(
            checker.cache, dict(checker.max_age), resume=checker.resume, credentials=self.asking.credentials
        )
        self.is_whole: bool = True
        self.is_cut: bool = False
        """Whether something was left for want of time, with which a run can be gone on."""

    def ask(self, uris: Iterable[str], fragments: Mapping[str, Iterable[str]] | None = None) -> Iterator[Outcome]:
        """The outcome for each URI, as they come; what the cache knows comes first.

        uris: without fragments; fragments: those that are looked up in the document of a URI.
        """
        looked = fragments or {}
        wanted = {uri: frozenset(looked.get(uri, ())) for uri in uris}
        with self.run():
            known = []
            for outcome in self.cache.valid_outcomes(dict(wanted)):
                del wanted[outcome.uri]
                known.append(outcome)
                yield outcome
            journeys = RedirectChains(self.asking, self.checker, wanted)
            for outcome in known:
                journeys.record_outcome(outcome)
            with closing(journeys.outcomes()) as outcomes:
                for _, outcome in outcomes:
                    self.cache.keep(outcome, wanted[outcome.uri])
                    yield outcome
            self.cache.commit()

    def ask_services(self, failed: Mapping[str, Outcome]) -> Iterator[Outcome]:
        """Other outcomes for URIs whose requests failed, from the services that the settings name."""
        left = dict(failed)
        if self.checker.github is not None:
            for outcome in ask_github(failed.values(), self.checker.github[1], self.asking):
                left[outcome.uri] = outcome
                yield outcome
        if self.checker.wayback is not None:
            yield from ask_archive(left.values(), self.checker.wayback, self.asking)

    @contextmanager
    def run(self) -> Iterator[None]:
        """A run, which has come to its end if nothing was raised or cut; one that has not can be resumed."""
        before, self.is_whole = self.is_whole, False
        yield
        self.is_whole = before and not self.is_cut

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Connections and the cache are closed."""
        self.asking.close()
        self.cache.close(whole=self.is_whole)


def _headers(checker: Checker) -> tuple[tuple[str, str, str], ...]:
    """Header fields, with the token for the API of GitHub."""
    if checker.github is None:
        return checker.headers
    token, api = checker.github
    return (*checker.headers, (URI(api).origin, "Authorization", f"Bearer {token}"))
