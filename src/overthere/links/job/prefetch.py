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

JOBS = 8
"""URIs retrieved at once, by default."""
PER_HOST = 2
"""URIs retrieved at once from one host (RFC 9112 9.4): the host of the source, wherever it redirects."""
_WINDOW_PER_JOB = 4
"""Sources per job that are prefetched."""
_MAX_WAITING = 1 << 30
"""Bytes of retrieved sources that may wait; above it, only the next source is retrieved."""


class RetrievedFile(NamedTuple):
    """A retrieved source in a temporary file (`temporary.remove_files` removes it)."""

    source: str | URI
    path: str
    size: int
    retrieved: Retrieval


def prefetch_sources(
    sources: Iterable[str | os.PathLike[str] | URI | Index], policy: Policy, edition: str, jobs: int = JOBS
) -> Iterator[str | os.PathLike[str] | URI | Index | RetrievedFile]:
    """Yield the sources in their order, with URIs retrieved into files.

    jobs: URIs retrieved at once, `PER_HOST` from one host; with 1, each is retrieved when its turn comes.

    Raises: OSError if a temporary file cannot be written.
    """
    prefetcher = _Prefetcher(policy, edition, jobs)
    try:
        for source in sources:
            if is_uri(source) and not is_ranged(source):
                prefetcher.add(_Retrieval(source))
            elif prefetcher.window:
                prefetcher.add(source)
            else:
                yield source
            while prefetcher.is_full():
                yield prefetcher.next_source()
        while prefetcher.window:
            yield prefetcher.next_source()
    finally:
        prefetcher.close()


class _Retrieval:
    def __init__(self, source: str | URI) -> None:
        self.source = source
        self.host = _host(source)
        self.is_started = False
        self.result: RetrievedFile | BaseException | None = None


def _host(source: str | URI) -> str:
    """Return the host of a source; "" without one."""
    try:
        return (URI(source).host or "").lower()
    except OverthereError:
        return ""


class _Prefetcher:
    def __init__(self, policy: Policy, edition: str, jobs: int) -> None:
        self.policy, self.edition, self.jobs = policy, edition, jobs
        self.window: deque[str | os.PathLike[str] | URI | Index | _Retrieval] = deque()
        self.state_changed = Condition()
        self.running: Counter[str] = Counter()
        """Running retrievals by host."""
        self.waiting_bytes = 0
        """Bytes retrieved and not yet yielded."""
        self.closed = False

    def is_full(self) -> bool:
        return len(self.window) >= (1 if self.jobs == 1 else _WINDOW_PER_JOB * self.jobs)

    def add(self, source: str | os.PathLike[str] | URI | Index | _Retrieval) -> None:
        with self.state_changed:
            self.window.append(source)
            self.start_retrievals()

    def start_retrievals(self) -> None:
        """Start the retrievals that the limits allow; the caller holds the lock."""
        is_first = True
        for retrieval in self.window:
            if not isinstance(retrieval, _Retrieval):
                continue
            if self.closed or self.running.total() >= self.jobs or (self.waiting_bytes > _MAX_WAITING and not is_first):
                return
            is_first = False
            if not retrieval.is_started and (not retrieval.host or self.running[retrieval.host] < PER_HOST):
                # A daemon, because a hanging retrieval must not keep the process alive, as it would in a standard pool.
                Thread(target=self.retrieve, args=(retrieval,), daemon=True).start()
                retrieval.is_started = True
                self.running[retrieval.host] += 1

    def retrieve(self, retrieval: _Retrieval) -> None:
        try:
            result: RetrievedFile | BaseException = _retrieve_file(retrieval.source, self.policy, self.edition)
        except BaseException as error:  # raised by `next_source`
            result = error
        with self.state_changed:
            self.running[retrieval.host] -= 1
            if isinstance(result, RetrievedFile):
                self.waiting_bytes += result.size
                if self.closed:
                    remove_files([result.path])
            retrieval.result = result
            self.state_changed.notify_all()
            with suppress(RuntimeError):  # no thread is available: `next_source` raises that
                self.start_retrievals()

    def next_source(self) -> str | os.PathLike[str] | URI | Index | RetrievedFile:
        """Return the first source of the window, once it is retrieved."""
        with self.state_changed:
            retrieval = self.window[0]
            if not isinstance(retrieval, _Retrieval):
                self.window.popleft()
                return retrieval
            while retrieval.result is None:
                self.start_retrievals()
                self.state_changed.wait()
            self.window.popleft()
            if isinstance(retrieval.result, BaseException):
                raise retrieval.result
            self.waiting_bytes -= retrieval.result.size
            self.start_retrievals()
            return retrieval.result

    def close(self) -> None:
        """Start nothing more and remove the waiting files; running retrievals remove their own files."""
        with self.state_changed:
            self.closed = True
            for retrieval in self.window:
                if isinstance(retrieval, _Retrieval) and isinstance(retrieval.result, RetrievedFile):
                    remove_files([retrieval.result.path])
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
