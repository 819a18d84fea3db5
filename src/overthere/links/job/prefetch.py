"""URIs prefetched in order, with a limit per host."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from threading import Condition, Thread
from typing import TYPE_CHECKING, NamedTuple

from overthere.ground.errors import OverthereError
from overthere.links.containers.temporary import create_file, remove_files
from overthere.links.job.ranged_sources import Index, is_ranged
from overthere.links.job.retrieval import Retrieval, is_uri, retrieve
from overthere.values.uri import URI

if TYPE_CHECKING:
    import os

    from overthere.access.policy import Policy

__all__ = ["JOBS", "PER_HOST", "RetrievedFile", "prefetch_sources"]

JOBS = 8
"""URIs that are retrieved at once, by default."""
PER_HOST = 2
"""Of them those of one host (RFC 9112 9.4): of the host that a source names, wherever its redirects lead."""
_WINDOW = 4
"""Sources for each of `JOBS` that are looked at before their turn."""
_WAITING = 1 << 30
"""Octets that may wait for their turn before nothing more is begun but what is next."""


class RetrievedFile(NamedTuple):
    """What a source names, in a temporary file (`temporary.remove_files` removes it)."""

    source: str | URI
    path: str
    size: int
    retrieved: Retrieval


def prefetch_sources(
    sources: Iterable[str | os.PathLike[str] | URI | Index], policy: Policy, edition: str, jobs: int = JOBS
) -> Iterator[str | os.PathLike[str] | URI | Index | RetrievedFile]:
    """The sources in their order, each URI as what it names.

    jobs: URIs that are retrieved at once, `PER_HOST` of one host; with 1 each begins when it is asked for.

    Raises: OSError if a temporary file cannot be written.
    """
    there = _Prefetcher(policy, edition, jobs)
    try:
        for source in sources:
            if is_uri(source) and not is_ranged(source):
                there.add(_Retrieval(source))
            elif there.window:
                there.add(source)
            else:
                yield source
            while there.is_full():
                yield there.next_source()
        while there.window:
            yield there.next_source()
    finally:
        there.close()


class _Retrieval:
    def __init__(self, source: str | URI) -> None:
        self.source = source
        self.host = _host(source)
        self.begun = False
        self.result: RetrievedFile | BaseException | None = None


def _host(source: str | URI) -> str:
    """The host contacted; "" for what asks none."""
    try:
        return (URI(source).host or "").lower()
    except OverthereError:
        return ""


class _Prefetcher:
    def __init__(self, policy: Policy, edition: str, jobs: int) -> None:
        self.policy, self.edition, self.jobs = policy, edition, jobs
        self.window: deque[str | os.PathLike[str] | URI | Index | _Retrieval] = deque()
        self.changed = Condition()
        self.running: Counter[str] = Counter()
        """Retrievals by their host."""
        self.waiting = 0
        """Octets."""
        self.closed = False

    def is_full(self) -> bool:
        return len(self.window) >= (1 if self.jobs == 1 else _WINDOW * self.jobs)

    def add(self, source: str | os.PathLike[str] | URI | Index | _Retrieval) -> None:
        with self.changed:
            self.window.append(source)
            self.begin()

    def begin(self) -> None:
        """Begin what may be begun now; the caller holds the lock."""
        first = True
        for one in self.window:
            if not isinstance(one, _Retrieval):
                continue
            if self.closed or self.running.total() >= self.jobs or (self.waiting > _WAITING and not first):
                return
            first = False
            if not one.begun and (not one.host or self.running[one.host] < PER_HOST):
                # What hangs must not keep the process alive: a pool of the standard library would be waited for.
                Thread(target=self.retrieve, args=(one,), daemon=True).start()
                one.begun = True
                self.running[one.host] += 1

    def retrieve(self, one: _Retrieval) -> None:
        try:
            result: RetrievedFile | BaseException = _retrieve_file(one.source, self.policy, self.edition)
        except BaseException as error:  # raised where it is asked for
            result = error
        with self.changed:
            self.running[one.host] -= 1
            if isinstance(result, RetrievedFile):
                self.waiting += result.size
                if self.closed:
                    remove_files([result.path])
            one.result = result
            self.changed.notify_all()
            with suppress(RuntimeError):  # no thread to be had: the wait for it says so
                self.begin()

    def next_source(self) -> str | os.PathLike[str] | URI | Index | RetrievedFile:
        """The first of the window, as soon as it is there."""
        with self.changed:
            one = self.window[0]
            if not isinstance(one, _Retrieval):
                self.window.popleft()
                return one
            while one.result is None:
                self.begin()
                self.changed.wait()
            self.window.popleft()
            if isinstance(one.result, BaseException):
                raise one.result
            self.waiting -= one.result.size
            self.begin()
            return one.result

    def close(self) -> None:
        """Begin nothing more, and remove what was not asked for; retrievals under way remove theirs at their end."""
        with self.changed:
            self.closed = True
            for one in self.window:
                if isinstance(one, _Retrieval) and isinstance(one.result, RetrievedFile):
                    remove_files([one.result.path])
            self.window.clear()


def _retrieve_file(source: str | URI, policy: Policy, edition: str) -> RetrievedFile:
    path, file = create_file()
    try:
        with file:
            retrieved = retrieve(source, policy, file, edition)
            return RetrievedFile(source, path, file.tell(), retrieved)
    except BaseException:
        remove_files([path])
        raise
