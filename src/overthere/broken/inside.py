"""The check within the sources: pass 1 gathers keys of all documents, pass 2 reads those again that hold a fault."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from overthere.broken.gathering import Gathered, State, gather
from overthere.broken.model import Broken, Checker, Outcome, Summary
from overthere.broken.site import Site
from overthere.broken.telling import Teller
from overthere.links.job.sources import Task
from overthere.links.model import Options

_MASK = (1 << 64) - 1

__all__ = ["Inside"]


class _Kept(NamedTuple):
    """What is kept of a document between the passes."""

    source: str
    task: int
    findings: bool
    pairs: array[int]
    outside: array[int]


class Inside:
    """A check of documents against one another."""

    def __init__(self, tasks: list[Task], checker: Checker, options: Options, summary: Summary) -> None:
        self.tasks, self.checker, self.options, self.summary = tasks, checker, options, summary
        self.site = Site(tasks, checker)
        self.anchors: set[int] = set()
        self.states: dict[int, State] = {}
        self.outer: dict[int, str] = {}
        self.kept: list[_Kept] = []
        self.outside: dict[str, set[str]] = {}
        """URIs outside, with the fragments that are asked of them: where somebody is going to ask."""
        self.distinct: set[int] = set()

    def gather(self) -> Iterator[int]:
        """Pass 1.  Yields the octets of each task that is done."""
        for number, task in enumerate(self.tasks):
            for one in gather(task, self.site, self.checker, self.options, self.summary):
                self.keep(number, one)
            yield task.size
        self._read_outer()
        self.summary.distinct = len(self.distinct)

    def keep(self, task: int, one: Gathered) -> None:
        """Take what pass 1 has of a document."""
        self.anchors.update(one.anchors)
        if one.document >= 0:
            self.states[one.document] = one.state
        self.outer.update(one.outer)
        outside = array("Q", sorted(hash(uri) & _MASK for uri in one.outside))
        self.distinct.update(outside)
        if self.checker.online:
            for uri in one.outside:
                self.outside.setdefault(uri, set()).update(one.fragments.get(uri, ()))
        elif outside:
            outside = array("Q")
        if one.findings or one.pairs or outside:
            self.kept.append(_Kept(one.source, task, one.findings, one.pairs, outside))

    def _read_outer(self) -> None:
        """Gather the anchors of documents that lie beside the sources, and that were asked for."""
        counted = Summary()
        for document, path in self.outer.items():
            for one in gather(Task((path,), None, None), self.site, self.checker, self.options, counted):
                if one.document == document:
                    self.anchors.update(one.anchors)
                    self.states[document] = one.state

    def faults(self, outcomes: Iterable[Outcome] = ()) -> Iterator[tuple[Task, set[str]]]:
        """The tasks that hold documents to be read again, and the sources of these."""
        bad = {hash(one.uri) & _MASK for one in outcomes}
        again: dict[int, set[str]] = {}
        there = self.anchors
        for kept in self.kept:
            pairs = iter(kept.pairs)
            if (
                kept.findings
                or not bad.isdisjoint(kept.outside)
                or any(first not in there and second not in there for first, second in zip(pairs, pairs, strict=True))
            ):
                again.setdefault(kept.task, set()).add(kept.source)
        for number, sources in sorted(again.items()):
            yield self.tasks[number], sources

    def findings(self, outcomes: dict[str, Outcome]) -> Iterator[Broken]:
        """Pass 2: the findings, in the order of the documents and of their places."""
        teller = Teller(self.site, self.checker, self.options, self.states, self.anchors.__contains__, outcomes)
        for task, sources in self.faults(outcomes.values()):
            self.summary.read_again += len(sources)
            yield from teller.task(task, sources)
        self.summary.passed.update(teller.passed)
