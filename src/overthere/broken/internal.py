"""The check inside the sources: the keys of all documents, then the faults of each document."""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Generator, Iterator, Mapping, Sequence, Set
from contextlib import closing, suppress
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from overthere import kernel
from overthere.base import Base, from_content
from overthere.broken import keys, pages, workers
from overthere.broken.anchors import is_top, names, reason
from overthere.broken.collecting import PageKeys, State, gather
from overthere.broken.filters import fits
from overthere.broken.keys import document_key
from overthere.broken.model import Broken, Checker, Outcome, Summary
from overthere.broken.projects import project_of
from overthere.broken.reference_check import ReferenceState, check_reference, uri_key
from overthere.broken.refresh_cycles import find_cycles
from overthere.broken.report import describe_count
from overthere.broken.reporting import Reporter, finding
from overthere.broken.scan import Reference, Scan, scan_faults
from overthere.broken.site import Site
from overthere.ground.cores import cores
from overthere.links.job.files import is_inside, repository_of
from overthere.links.job.task_builder import Task
from overthere.links.model import Document, Options
from overthere.values.uri import URI

if TYPE_CHECKING:
    from overthere._native import Keys, Pages

_NATIVE_PAGE = State("html", True, True)
"""The state of every page that the native reader handled."""


class _PlainKeys:
    """A set of 64-bit keys in plain Python, for a check without the native `Keys`."""

    def __init__(self) -> None:
        self.keys: set[int] = set()

    def update(self, packed_keys: bytes) -> None:
        """Add keys, from the bytes of an array of them."""
        self.keys.update(memoryview(packed_keys).cast("Q"))

    def __contains__(self, key: int) -> bool:
        return key in self.keys

    def __len__(self) -> int:
        return len(self.keys)

    def lacks(self, pairs: bytes) -> bool:
        """Whether at least one pair has neither key in this set; pairs: bytes as for `update`, two keys for each."""
        values = iter(memoryview(pairs).cast("Q"))
        return any(first not in self.keys and last not in self.keys for first, last in zip(values, values, strict=True))


class _PageFacts(NamedTuple):
    """Facts about a document that the final check needs; keys are the bytes of arrays, as in `PageKeys`."""

    has_findings: bool
    anchor_pairs: bytes
    external_keys: bytes
    """Empty unless external URIs will be requested."""
    page_number: int
    """Its number as the origin or target of a refresh."""
    container_keys: bytes = b""
    unsettled: Scan | None = None
    """The references that only the final check can judge; None if the document must be read again for them."""


_PLAIN_FRAGMENT = re.compile(r"[A-Za-z0-9._-]*+")
_MAX_UNSETTLED = 50_000
"""Maximum number of stored references of all documents; later documents are read again for their findings."""


class InternalCheck:
    """A check of documents against each other."""

    def __init__(
        self, tasks: list[Task], checker: Checker, options: Options, summary: Summary, *, keeps_outside: bool = False
    ) -> None:
        """keeps_outside: whether URIs outside the sources are stored, because they will be requested."""
        self.keeps_outside = keeps_outside
        self.tasks: list[Task] = tasks
        self.checker: Checker = checker
        self.options: Options = options
        self.summary: Summary = summary
        self.site: Site = Site(tasks, checker)
        if checker.exclude_path:
            self.tasks = [task._replace(paths=tuple(filter(self._keep_or_count, task.paths))) for task in tasks]
        self.keys: Keys | _PlainKeys = _make_keys()
        self.document_states: dict[int, State] = {}
        self.outer_paths: dict[int, str] = {}
        self.page_facts: dict[tuple[int, str], _PageFacts] = {}
        """Facts by the number of the task and the source."""
        self.external_fragments: dict[str, set[str]] = {}
        """External URIs with the referenced fragments, if they will be requested."""
        self.external_keys: set[int] = set()
        self.pages: Pages | None = None
        """The native kernel's reader."""
        self.open_references: dict[int, tuple[bytes, str | None]] = {}
        """The pages that the native kernel has read, by number: the references that may be faults, and the base."""
        self.judged: dict[int, ReferenceState] = {}
        """The states of targets that the native kernel leaves to Python, by their keys."""
        self.missing_documents: dict[tuple[bytes, str | None, str], ReferenceState] = {}
        """The first of these states for each missing document, by folder, base and reference without fragment."""
        self.settled_states: dict[ReferenceState, ReferenceState] = {}
        """The states of targets without faults; equal states are shared."""
        self.read_elsewhere: set[str] = set()
        """Paths that other processes read."""
        self.unsettled_count: int = 0
        """The number of references that Python has read and that may be faults."""
        self.refresh_targets: dict[int, int] = {}
        """The page to which each page refreshes at once."""

    def _has_templates(self, number: int) -> bool:
        """Whether the generator of a page's project has templates."""
        return bool(self.checker.projects) and project_of(self.checker, self.site.sources[number]).has_templates

    def _keep_or_count(self, path: str) -> bool:
        """Return whether a path is checked; count it in the summary if a pattern excludes it."""
        source = self.site.source_of(path)
        if any(fits(source, pattern) for pattern in self.checker.exclude_path):
            self.summary.passed["excluded"] += 1
            return False
        return True

    def read_sources(self) -> Generator[int, None, None]:
        """Read every document and store its keys.  Yields: the number of bytes read since the last item."""
        slow = workers.cut_work(self.tasks, self.checker)
        if slow:
            self.read_elsewhere = {path for _, task in slow for path in task.paths}
            count = min(self.checker.workers or cores(), len(slow))
            with closing(workers.Workers(self.site, self.checker, self.options, count)) as processes:
                for result in processes.read(slow):
                    for page in result.pages:
                        self.add_page(result.task, page)
                    self.summary.add(result.summary)
                    yield result.summary.octets
        if kernel.name == "native":
            yield from self._read_with_kernel()
        else:
            for task_number in range(len(self.tasks)):
                yield self._read(task_number, self.tasks[task_number].paths)
        self._read_outer_documents()
        self.summary.distinct = len(self.external_keys)
        self.summary.held = 8 * len(self.keys) + sum(
            len(facts.anchor_pairs) + len(facts.external_keys) + len(facts.container_keys)
            for facts in self.page_facts.values()
        )
        self.summary.held += sum(len(references) for references, _ in self.open_references.values())

    def add_page(self, task_number: int, page: PageKeys) -> None:
        """Store the keys and facts of a document that was read."""
        self.keys.update(page.anchors.tobytes())
        if page.document >= 0:
            self.document_states[page.document] = self.document_states[page.called] = page.state
        self.outer_paths.update(page.outer)
        outside = array("Q", sorted(map(document_key, page.outside)))
        self.external_keys.update(outside)
        if self.keeps_outside:
            for uri in page.outside:
                self.external_fragments.setdefault(uri, set()).update(page.fragments.get(uri, ()))
        outside_keys = outside.tobytes() if self.keeps_outside else b""
        number = page.document if page.called < 0 else page.called
        if page.next >= 0:
            self.refresh_targets[number] = page.next
        if page.findings or page.pairs or page.container_keys or outside_keys or page.next >= 0:
            unsettled = page.unsettled
            self.unsettled_count += 0 if unsettled is None else len(unsettled.references)
            if self.unsettled_count > _MAX_UNSETTLED:
                unsettled = None
            self.page_facts[task_number, page.source] = _PageFacts(
                page.findings, page.pairs.tobytes(), outside_keys, number, page.container_keys.tobytes(), unsettled
            )

    def _read(self, task_number: int, paths: Sequence[str]) -> int:
        """Read those of these files of a task that no worker has read; store their keys.  Returns: their bytes."""
        before = self.summary.octets
        paths = tuple(path for path in paths if path not in self.read_elsewhere)
        if paths:
            task = self.tasks[task_number]._replace(paths=paths)
            for page in gather(task, self.site, self.checker, self.options, self.summary):
                self.add_page(task_number, page)
        return self.summary.octets - before

    def _read_with_kernel(self) -> Iterator[int]:
        """Read HTML files in native threads, other files meanwhile, then HTML files that only Python can read.

        Yields: the number of bytes read since the last item.
        """
        from overthere._native import Keys

        site, tasks = self.site, list(enumerate(self.tasks))
        sources = {site.source_of(path) for task in self.tasks if task.name is None for path in task.paths}
        native_pages = [n for n in pages.numbers(site) if site.sources[n] in sources and not self._has_templates(n)]
        html = {site.sources[number] for number in native_pages}
        self.pages = pages.reader(site, self.checker, self.keeps_outside)
        suspects = Keys()  # targets that are faults, or depend on other documents or servers
        with closing(pages.PageBatches(self.pages, site, self.checker, native_pages)) as batches:
            for task_number, task in tasks:
                yield self._read(
                    task_number, [p for p in task.paths if task.name is not None or site.source_of(p) not in html]
                )
                while batches.is_ready:
                    yield self._store_batch(next(batches), suspects)
            for batch in batches:
                yield self._store_batch(batch, suspects)
        html = {source for source in html if site.numbers.get(source) not in self.open_references}
        for task_number, task in tasks:
            yield self._read(task_number, [p for p in task.paths if task.name is None and site.source_of(p) in html])

    def _store_batch(self, batch: pages.Batch, suspects: Keys) -> int:
        """Store a batch from the native reader.  Returns: its size in bytes.

        suspects: the keys of targets that may be faults; new ones are added.
        """
        self.external_keys.update(map(document_key, batch.outside))
        self.summary.outside += sum(batch.outside.values())
        for key, (count, example) in batch.targets.items():
            state = self.judged.get(key)
            if state is None:
                state = self.judged[key] = self._check_target(example)
                if state.findings or state.pairs or (state.outside and self.keeps_outside):
                    suspects.update(array("Q", [key]).tobytes())
            if state.passed is not None:
                self.summary.passed[state.passed] += count
            self.summary.within += count * state.is_within
            self.summary.outside += count * (state.outside is not None)
        for page in batch.pages:
            pages.count_page(page, self.summary)
            self.keys.update(page.anchors)
            self.document_states[page.number] = _NATIVE_PAGE
            self.open_references[page.number] = page.open and suspects.narrow(page.open), page.base
            if page.next is not None:
                self.refresh_targets[page.number] = page.next
        return sum(page.octets for page in batch.pages)

    def _check_target(self, example: pages.Example) -> ReferenceState:
        """Check a target that the native kernel leaves to Python; store its external URI or path, and return its state.

        A target that cannot be a fault keeps only what is counted: `passed`, `is_within`, and `outside` as "" or None.
        A missing document has one state for all fragments in `_PLAIN_FRAGMENT`, except with projects or `remap`.
        """
        number, base, text, is_map = example
        path, _, fragment = text.partition("#")
        place = self.site.names[number].rpartition(b"/")[0], base, path
        if (missing := self.missing_documents.get(place)) is not None and _PLAIN_FRAGMENT.fullmatch(fragment):
            return missing
        document = self._page_document(number)
        reference = Reference("img usemap" if is_map else "a href", text, from_content(base, document.base), None, None)
        state = check_reference(reference, Scan(document, "html"), self.site, self.checker)
        outside = None if state.is_within else state.outside
        if outside is not None:
            self.external_keys.add(document_key(outside))
            if self.keeps_outside:
                self.external_fragments.setdefault(outside, set()).update([state.fragment] if state.fragment else ())
        if state.pairs and state.place is not None and state.place.path:
            self.outer_paths[state.place.document] = state.place.path
        if state.findings or state.pairs or (outside is not None and self.keeps_outside):
            checked = state._replace(outside=outside)
            is_shareable = not self.checker.projects and not self.checker.remap and _PLAIN_FRAGMENT.fullmatch(fragment)
            if is_shareable and [kind for kind, _ in state.findings] == ["no-document"] and outside is None:
                self.missing_documents[place] = checked
            return checked
        settled = ReferenceState(passed=state.passed, is_within=state.is_within, outside=outside and "")
        return self.settled_states.setdefault(settled, settled)

    def _page_document(self, number: int, content: bytes = b"") -> Document:
        """Return a page of the sources, by its number, as a document with this content."""
        base = Base(URI(self.site.uri(number)), "retrieval", "retrieval")
        return Document(self.site.sources[number], content, base)

    def _reread_anchors(self, number: int) -> set[str] | None:
        """Return a page's anchors without image maps, read again by the native kernel.

        None if that kernel did not read the page before, or cannot read it now.
        """
        if self.pages is None or number not in self.open_references:
            return None
        names = self.pages.anchors(pages.file_of(self.site, number), self.checker.limit)
        return None if names is None else {name.decode("utf-8", "replace") for name in names if name[:1] != b"\0"}

    def _read_outer_documents(self) -> None:
        """Store anchors of referenced documents outside the sources, within the tasks' repositories if all have one."""
        ignored_summary = Summary()
        folders = {
            task.root or os.path.dirname(path) for task in self.tasks if task.name is None for path in task.paths
        }
        tops = set(map(repository_of, folders))
        for document, path in self.outer_paths.items():
            if None not in tops and not any(is_inside(path, top) for top in tops if top is not None):
                continue  # an untrusted symlink: its anchors would reveal what the file contains
            for page in gather(Task((path,), None, None), self.site, self.checker, self.options, ignored_summary):
                if page.document == document:
                    self.keys.update(page.anchors.tobytes())
                    self.document_states[document] = page.state

    def _has_missing_anchor(self, container_keys: bytes) -> bool:
        """Whether a document exists and has neither of its two anchors; the keys are triples of these."""
        values = iter(memoryview(container_keys).cast("Q"))
        return any(
            document in self.keys and first not in self.keys and last not in self.keys
            for document, first, last in zip(values, values, values, strict=True)
        )

    def add_missing_fragments(self, outcome: Outcome, fragments: set[str]) -> Outcome:
        """Return the outcome with the fragments that its final page lacks; unchanged if it failed or was not read.

        The fragment of a redirect replaces those of the references.
        """
        if outcome.final is None or outcome.kind not in (None, "moved-permanently"):
            return outcome
        final, mark, own_fragment = outcome.final.partition("#")
        document = uri_key(final)
        if document not in self.keys:
            return outcome
        missing = (
            fragment
            for fragment in ({own_fragment} if mark else fragments)
            if not is_top(fragment)
            and reason(fragment, "", "html") is None
            and all(keys.key(document, name) not in self.keys for name in names(fragment))
        )
        absent = tuple(sorted(missing))
        if absent and mark:
            return outcome._replace(kind="no-fragment", why=f"#{own_fragment}, to which the server redirects")
        return outcome._replace(missing=absent)

    def findings(self, outcomes: Mapping[str, Outcome]) -> Iterator[Broken]:
        """Yield the findings in the order of documents and places, after one for all references with an unknown root.

        Call it once, when `read_sources` has ended: it adds to the summary.
        outcomes: the results of the external URIs that are reported, without those that are fine.
        """
        if count := self.summary.passed["root"]:
            first = next(path for task in self.tasks for path in (task.root, *task.paths) if path is not None)
            yield finding(self.site.source_of(first), "base-missing", describe_count(count, "reference"))
        bad_keys = set(map(document_key, outcomes))
        faulty_sources: dict[int, set[str]] = {}
        unsettled: dict[str, Scan] = {}
        cyclic_pages = find_cycles(self.refresh_targets)
        for (number, source), facts in self.page_facts.items():
            has_bad_uri = facts.external_keys and not bad_keys.isdisjoint(memoryview(facts.external_keys).cast("Q"))
            is_faulty = facts.page_number in cyclic_pages or (
                bool(facts.container_keys) and self._has_missing_anchor(facts.container_keys)
            )
            if facts.has_findings or has_bad_uri or is_faulty or self.keys.lacks(facts.anchor_pairs):
                faulty_sources.setdefault(number, set()).add(source)
                if facts.unsettled is not None:
                    unsettled[source] = facts.unsettled
        reporter = Reporter(
            self.site, self.checker, self.options, self.document_states, self.keys.__contains__, outcomes, cyclic_pages,
            self.refresh_targets, self._reread_anchors, unsettled,
        )  # fmt: skip
        faulty = _make_keys()
        faulty_keys = (key for key, state in self.judged.items() if self._is_faulty(state, outcomes))
        faulty.update(array("Q", faulty_keys).tobytes())
        for number, task in enumerate(self.tasks):
            sources = faulty_sources.get(number, set())
            self.summary.read_again += len(sources.difference(unsettled))
            has_members = not sources.issubset(map(self.site.source_of, task.paths))
            for is_native, paths in groupby(task.paths, lambda path: self.site.number_of(path) in self.open_references):
                if is_native:
                    for path in paths:
                        yield from self._native_findings(reporter, task._replace(paths=(path,)), faulty, cyclic_pages)
                elif to_read := tuple(path for path in paths if has_members or self.site.source_of(path) in sources):
                    yield from reporter.task(task._replace(paths=to_read), sources)
        self.summary.passed.update(reporter.passed)

    def _is_faulty(self, state: ReferenceState, outcomes: Mapping[str, Outcome]) -> bool:
        """Whether a target has findings, none of its keys exists, or its external URI is reported."""
        is_missing = bool(state.pairs) and not any(map(self.keys.__contains__, state.pairs))
        return is_missing or bool(state.findings) or state.outside in outcomes

    def _native_findings(
        self, reporter: Reporter, task: Task, faulty: Keys | _PlainKeys, cyclic_pages: Set[int]
    ) -> Iterator[Broken]:
        """Yield the findings of a task's only path, a native page.  faulty: the keys of targets with faults."""
        number = self.site.numbers[self.site.source_of(task.paths[0])]
        open_references, base = self.open_references[number]
        faults = cast("Keys", self.keys).faults(open_references, cast("Keys", faulty), number in cyclic_pages)
        if not faults:
            return
        document_scan = None
        with suppress(OSError):
            content = Path(pages.file_of(self.site, number)).read_bytes()
            document_scan = scan_faults(self._page_document(number, content), base, faults)
        if document_scan is not None:
            yield from reporter.document(document_scan)
        else:
            self.summary.read_again += 1
            yield from reporter.task(task, {self.site.sources[number]})


def _make_keys() -> Keys | _PlainKeys:
    """Return an empty set of keys, a native one if the kernel is native."""
    if kernel.name != "native":
        return _PlainKeys()
    from overthere._native import Keys

    return Keys()
