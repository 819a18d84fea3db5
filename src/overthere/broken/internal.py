"""The check inside the sources: pass 1 collects keys, pass 2 reads documents with faults again."""

from __future__ import annotations

from array import array
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple, Protocol

from overthere import kernel
from overthere.broken import keys, pages
from overthere.broken.anchors import is_top, names, reason
from overthere.broken.collecting import PageKeys, State, gather
from overthere.broken.filters import fits
from overthere.broken.keys import document_key
from overthere.broken.model import Broken, Checker, Outcome, Summary
from overthere.broken.reference_check import by_scheme, uri_key
from overthere.broken.refresh_cycles import find_cycles
from overthere.broken.reporting import Reporter
from overthere.broken.scan import Again, anchors_of
from overthere.broken.site import Site
from overthere.links.job.task_builder import Task
from overthere.links.model import Options

if TYPE_CHECKING:
    from overthere._native import Pages

__all__ = ["InternalCheck"]

_TOGETHER = 200
"""Pages whose faults are held at a time."""
_NATIVE = State("html", True, True)
"""Of pages that Rust has read."""


class _Keys(Protocol):
    """Keys that are there."""

    def update(self, octets: bytes, /) -> None: ...
    def __contains__(self, key: int, /) -> bool: ...
    def __len__(self) -> int: ...
    def lacks(self, pairs: bytes, /) -> bool: ...


class _PlainKeys:
    """The same in plain Python."""

    def __init__(self) -> None:
        self.keys: set[int] = set()

    def update(self, octets: bytes) -> None:
        self.keys.update(memoryview(octets).cast("Q"))

    def __contains__(self, key: int) -> bool:
        return key in self.keys

    def __len__(self) -> int:
        return len(self.keys)

    def lacks(self, pairs: bytes) -> bool:
        found = iter(memoryview(pairs).cast("Q"))
        return any(one not in self.keys and two not in self.keys for one, two in zip(found, found, strict=True))


class _PageState(NamedTuple):
    """What is kept of a document between the passes."""

    findings: bool
    pairs: bytes
    outside: bytes
    page: int
    """By what other pages know it."""
    perhaps: bytes = b""


class InternalCheck:
    """A check of documents against one another."""

    def __init__(
        self, tasks: list[Task], checker: Checker, options: Options, summary: Summary, *, keeps_outside: bool = False
    ) -> None:
        """keeps_outside: whether the URIs outside are going to be asked for."""
        self.keeps_outside = keeps_outside
        self.tasks: list[Task] = tasks
        self.checker: Checker = checker
        self.options: Options = options
        self.summary: Summary = summary
        self.site: Site = Site(tasks, checker)
        if checker.exclude_path:
            self.tasks = [task._replace(paths=tuple(filter(self._is_read, task.paths))) for task in tasks]
        self.keys: _Keys = _keys()
        self.states: dict[int, State] = {}
        self.outer: dict[int, str] = {}
        self.kept: dict[tuple[int, str], _PageState] = {}
        """By the number of the task and the source."""
        self.outside: dict[str, set[str]] = {}
        """URIs outside, with the fragments that are asked of them: where somebody is going to ask."""
        self.distinct: set[int] = set()
        self.pages: Pages | None = None
        """The native kernel's reader."""
        self.native: set[int] = set()
        """The numbers of pages that the native kernel has read."""
        self.targets: set[int] = set()
        """Keys of the targets that the native kernel asked about, and that are faults."""
        self.following: dict[int, int] = {}
        """Pages that send their reader on at once, and where to."""

    @property
    def _is_for_python(self) -> bool:
        """Whether the settings have what the native kernel does not know."""
        checker = self.checker
        return bool(checker.remap or checker.skip_nofollow or checker.root) or any(
            one.extensions for one in checker.files
        )

    def _is_read(self, path: str) -> bool:
        source = self.site.source_of(path)
        if any(fits(source, one) for one in self.checker.exclude_path):
            self.summary.passed["excluded"] += 1
            return False
        return True

    def gather(self) -> Generator[int, None, None]:
        """Pass 1.  Yields the octets that were read since the last time."""
        if kernel.name == "native" and not self.keeps_outside and not self._is_for_python:
            yield from self._read_in_rust()
        else:
            for at in range(len(self.tasks)):
                yield self._read(at, self.tasks[at].paths)
        self._read_outer()
        self.summary.distinct = len(self.distinct)
        self.summary.held = 8 * len(self.keys) + sum(
            len(one.pairs) + len(one.outside) + len(one.perhaps) for one in self.kept.values()
        )

    def keep(self, task: int, one: PageKeys) -> None:
        """Take what pass 1 has of a document."""
        self.keys.update(one.anchors.tobytes())
        if one.document >= 0:
            self.states[one.document] = self.states[one.called] = one.state
        self.outer.update(one.outer)
        outside = array("Q", sorted(map(document_key, one.outside)))
        self.distinct.update(outside)
        if self.keeps_outside:
            for uri in one.outside:
                self.outside.setdefault(uri, set()).update(one.fragments.get(uri, ()))
        kept = outside.tobytes() if self.keeps_outside else b""
        page = one.document if one.called < 0 else one.called
        if one.next >= 0:
            self.following[page] = one.next
        if one.findings or one.pairs or one.perhaps or kept or one.next >= 0:
            perhaps = one.perhaps.tobytes()
            self.kept[task, one.source] = _PageState(one.findings, one.pairs.tobytes(), kept, page, perhaps)

    def _read(self, at: int, paths: Sequence[str]) -> int:
        """Read files of a task.  Returns: their octets."""
        before = self.summary.octets
        if paths:
            task = self.tasks[at]._replace(paths=tuple(paths))
            for one in gather(task, self.site, self.checker, self.options, self.summary):
                self.keep(at, one)
        return self.summary.octets - before

    def _read_in_rust(self) -> Iterator[int]:
        """HTML files in Rust, by all cores; meanwhile all others, and at the end what was left to Python."""
        wanted = pages.numbers(self.site)
        html = {self.site.sources[number] for number in wanted}
        kinds: list[tuple[list[str], list[str]]] = []
        task_of: dict[str, int] = {}
        for at, task in enumerate(self.tasks):
            some, others = [], []
            for path in task.paths:
                source = self.site.source_of(path)
                if task.name is None and source in html:
                    task_of[source] = at
                    some.append(path)
                else:
                    others.append(path)
            kinds.append((some, others))
        self.pages = pages.reader(self.site, self.checker)
        verdicts: dict[int, str] = {}
        wanted = [number for number in wanted if self.site.sources[number] in task_of]
        with closing(pages.PageBatches(self.pages, self.site, self.checker, wanted)) as lots:
            for at, (_, others) in enumerate(kinds):
                yield self._read(at, others)
                while lots.is_ready:
                    yield self._take(next(lots), task_of, verdicts)
            for lot in lots:
                yield self._take(lot, task_of, verdicts)
        for at, (some, _) in enumerate(kinds):
            yield self._read(at, [path for path in some if self.site.number_of(path) not in self.native])

    def _take(self, lot: pages.Lot, task_of: Mapping[str, int], verdicts: dict[int, str]) -> int:
        """Take what Rust has read.  Returns: its octets.

        verdicts: of the targets that Python judges, by their keys.
        """
        told, others = lot
        for key, target in others.items():
            if key not in verdicts:
                verdicts[key] = self._verdict(target)
                if verdicts[key] == "outside":
                    self.distinct.add(document_key(target.rstrip("#")))
                elif verdicts[key] == "fault":
                    self.targets.add(key)
        octets = 0
        for one in told:
            number, size, anchors, pairs, asked, *_, is_fault, following = one
            found = [verdicts[key] for key in pages.keys(asked)] if asked else []
            if "left" in found:
                continue
            octets += size
            self.native.add(number)
            pages.count_page(one, self.summary)
            outside = found.count("outside")
            self.summary.outside += outside
            self.summary.within += len(found) - outside
            self.keys.update(anchors)
            self.states[number] = _NATIVE
            if following is not None:
                self.following[number] = following
            is_fault = is_fault or "fault" in found
            if is_fault or pairs or following is not None:
                source = self.site.sources[number]
                self.kept[task_of[source], source] = _PageState(is_fault, pairs, b"", number)
        return octets

    def _native_faults(self, paths: tuple[str, ...], turning: frozenset[int]) -> dict[str, Again]:
        """The faults of pages that the native kernel has read."""
        known = (self.site.number_of(path) for path in paths)
        numbers = [number for number in known if number is not None and number not in turning]
        return {self.site.sources[number]: one for number, one in self._read_again(numbers).items()}

    def _anchors(self, number: int) -> set[str] | None:
        told = self._read_again([number]).get(number)
        return None if told is None else anchors_of(told)

    def _read_again(self, numbers: list[int]) -> dict[int, Again]:
        """Of those of the pages that the native kernel has read."""
        some = [number for number in numbers if number in self.native]
        if not some or self.pages is None:
            return {}
        from overthere._native import Keys

        assert isinstance(self.keys, Keys)
        return pages.read_again(self.pages, self.site, self.checker, some, self.keys, self.targets)

    def _verdict(self, target: str) -> str:
        """What a target is of which only Python knows: "outside", "fine", "fault"; "left": ask of each document.

        target: with "#" at its end if an anchor of it is asked for.
        """
        whole, asked, _ = target.partition("#")
        if (told := by_scheme(whole)) is not None:
            return "fault" if told else "fine"
        place = self.site.find(whole)
        if place.verdict == "outside":
            return "outside"
        if asked and place.verdict in ("document", "redirected"):
            return "left"
        return "fine" if place.verdict == "document" else "fault"

    def _read_outer(self) -> None:
        """Gather the anchors of documents that lie beside the sources, and that were asked for."""
        counted = Summary()
        for document, path in self.outer.items():
            for one in gather(Task((path,), None, None), self.site, self.checker, self.options, counted):
                if one.document == document:
                    self.keys.update(one.anchors.tobytes())
                    self.states[document] = one.state

    def _lacks(self, perhaps: bytes) -> bool:
        """Whether a document that is there lacks an anchor."""
        found = iter(memoryview(perhaps).cast("Q"))
        return any(
            document in self.keys and first not in self.keys and last not in self.keys
            for document, first, last in zip(found, found, found, strict=True)
        )

    def follow_redirect(self, outcome: Outcome, fragments: set[str]) -> Outcome:
        """What is known of a URI and its fragments where a redirect has led to a document that was read."""
        if outcome.final is None or outcome.kind not in (None, "moved-permanently"):
            return outcome
        document = uri_key(outcome.final)
        if document not in self.keys:
            return outcome
        missing = (
            fragment
            for fragment in fragments
            if not is_top(fragment)
            and reason(fragment, "", "html") is None
            and all(keys.key(document, name) not in self.keys for name in names(fragment))
        )
        return outcome._replace(missing=tuple(sorted(missing)))

    def findings(self, outcomes: Mapping[str, Outcome]) -> Iterator[Broken]:
        """Pass 2: the findings, in the order of the documents and of their places."""
        bad = set(map(document_key, outcomes))
        again: dict[int, set[str]] = {}
        turning = find_cycles(self.following)
        for (task, source), kept in self.kept.items():
            asked = bool(kept.outside) and not bad.isdisjoint(memoryview(kept.outside).cast("Q"))
            asked = asked or kept.page in turning or (bool(kept.perhaps) and self._lacks(kept.perhaps))
            if kept.findings or asked or self.keys.lacks(kept.pairs):
                again.setdefault(task, set()).add(source)
        teller = Reporter(
            self.site, self.checker, self.options, self.states, self.keys.__contains__, outcomes, turning, self._anchors
        )
        for number, sources in sorted(again.items()):
            self.summary.read_again += len(sources)
            whole = self.tasks[number]
            paths = tuple(path for path in whole.paths if self.site.source_of(path) in sources)
            if len(paths) < len(sources):  # members of containers
                yield from teller.task(whole, sources)
                continue
            for begin in range(0, len(paths), _TOGETHER):
                some = paths[begin : begin + _TOGETHER]
                yield from teller.task(whole._replace(paths=some), sources, self._native_faults(some, turning))
        self.summary.passed.update(teller.passed)
        self.summary.unsuggested = teller.nearest.cut


def _keys() -> _Keys:
    if kernel.name != "native":
        return _PlainKeys()
    from overthere._native import Keys

    return Keys()
