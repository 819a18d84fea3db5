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


class Asker:
    """Requests external URIs according to the settings of a check.

    policy: the limits of requests; by default `PATIENT`, which is safe for untrusted URIs.

    Raises: ValueError for invalid settings; OSError for a cache that cannot be written.
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
        self.is_complete: bool = True
        self.is_cut: bool = False
        """Whether the time limit left URIs unchecked; a later run can resume with them."""

    def ask(self, uris: Iterable[str], fragments: Mapping[str, Iterable[str]] | None = None) -> Iterator[Outcome]:
        """Yield the outcome of each URI as it arrives; those in the cache come first.

        uris: without fragments; fragments: the fragments to look up in the document of a URI.
        """
        fragments_by_uri = fragments or {}
        pending = {uri: frozenset(fragments_by_uri.get(uri, ())) for uri in uris}
        with self.run():
            cached = []
            for outcome in self.cache.valid_outcomes(dict(pending)):
                del pending[outcome.uri]
                cached.append(outcome)
                yield outcome
            chains = RedirectChains(self.asking, self.checker, pending)
            for outcome in cached:
                chains.record_outcome(outcome)
            with closing(chains.outcomes()) as outcomes:
                for _, outcome in outcomes:
                    self.cache.keep(outcome, pending[outcome.uri])
                    yield outcome
            self.cache.commit()

    def ask_services(self, failed: Mapping[str, Outcome]) -> Iterator[Outcome]:
        """Yield new outcomes for URIs whose requests failed, from the services in the settings."""
        remaining = dict(failed)
        if self.checker.github is not None:
            for outcome in ask_github(failed.values(), self.checker.github[1], self.asking):
                remaining[outcome.uri] = outcome
                yield outcome
        if self.checker.wayback is not None:
            yield from ask_archive(remaining.values(), self.checker.wayback, self.asking)

    @contextmanager
    def run(self) -> Iterator[None]:
        """A run, which is complete if nothing was raised or left unchecked; an incomplete run can be resumed."""
        before, self.is_complete = self.is_complete, False
        yield
        self.is_complete = before and not self.is_cut

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections and the cache."""
        self.asking.close()
        self.cache.close(is_complete=self.is_complete)


def _headers(checker: Checker) -> tuple[tuple[str, str, str], ...]:
    """The header fields, with the token for GitHub's API."""
    if checker.github is None:
        return checker.headers
    token, api = checker.github
    return (*checker.headers, (URI(api).origin, "Authorization", f"Bearer {token}"))
