"""Pass 1: collects the anchors and references of each document as keys in compact arrays."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from overthere.broken.generators.front_matter import unknown_generator
from overthere.broken.generators.project import NO_PROJECT, Project
from overthere.broken.keys import LABELS, NUMBERLESS, document_key, key
from overthere.broken.model import TOLD, Checker, Summary
from overthere.broken.projects import project_of
from overthere.broken.reference_check import check_reference, document_identity, uri_key
from overthere.broken.refresh_cycles import refresh_target
from overthere.broken.scan import Reference, Scan, is_source_code, scan, text_of, without_front_matter
from overthere.broken.site import Site
from overthere.links.containers.progress import Progress
from overthere.links.job.task_builder import Task
from overthere.links.model import Document, Options

__all__ = ["PageKeys", "State", "gather", "page_keys", "with_text"]


class State(NamedTuple):
    """What is known of a document whose anchors were gathered."""

    kind: str
    is_whole: bool
    has_anchors: bool
    more_anchors: str = ""
    """Why it may have further anchors."""


class PageKeys(NamedTuple):
    """What pass 1 keeps of a document."""

    document: int
    """Its number or `document_key`."""
    source: str
    state: State
    anchors: array[int]
    """Keys that are there: of its anchors, and of its own URI."""
    pairs: array[int]
    """Keys of what it asks of others, two by two: one of the two must be there."""
    findings: bool
    """Whether it has findings whatever the others have."""
    outer: dict[int, str]
    """Documents beside the sources of which it asks for fragments, with their paths."""
    outside: set[str]
    """URIs outside."""
    called: int
    """How others in its container know it, by its URI; -1 if it is in none."""
    fragments: dict[str, set[str]]
    """Of them, the fragments that are asked for."""
    next: int
    """The document to which its reader is sent at once; -1 for none."""
    perhaps: array[int] = array("Q")
    """Keys of documents that a container may have, each with the two of `pairs`: what it has not is outside."""
    unsettled: Scan | None = None
    """The document with those references alone that may be faults; None: it is read again if one of them is."""


def gather(task: Task, site: Site, checker: Checker, options: Options, summary: Summary) -> Iterator[PageKeys]:
    """The documents of a task, each read once."""
    from overthere.links.job.task_documents import documents  # slow to load, and often the native kernel reads all

    walk = _ContainerCollector()
    for document, (kind, notes) in documents(task, options, walk):
        if kind in ("http", "header") and not document.content:
            continue
        found = scan(document, kind, notes, options, project_of(checker, document.source))
        if "not-followed" in found.notes:
            summary.passed["not-followed"] += 1
        elif is_source_code(document, kind):
            summary.files["code"] += 1
        else:
            summary.documents += 1
            summary.octets += len(document.content)
        yield page_keys(found, site, checker, summary)
    summary.files.update(walk.passed)
    if walk.seen:
        # Members that are no documents exist, too.
        state, nothing = State("", True, False), array("Q")
        yield PageKeys(-1, "", state, array("Q", sorted(walk.seen)), nothing, False, {}, set(), -1, {}, -1)


class _ContainerCollector(Progress):
    """Keeps what a container has, whatever it is."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[int] = set()

    def begins(self, source: str) -> bool:
        self.seen.add(document_key(source))
        return super().begins(source)


def page_keys(found: Scan, site: Site, checker: Checker, summary: Summary) -> PageKeys:
    """What is kept of a document that was read."""
    document = document_identity(found, site)
    state = State(found.kind, found.is_whole, found.has_anchors, found.more_anchors)
    names = [*found.anchors, *(f"\0{name}" for name in found.maps)]
    mine = {key(document, name) for name in names}
    mine.update(key(LABELS, name) for name in found.labels)
    called = -1
    if document >= NUMBERLESS:
        # Others may know it by its URI, or as a part of a message.
        called = uri_key(str(found.document.base.uri))
        mine.update((called, document), (key(called, name) for name in names))
    pairs: set[tuple[int, int]] = set()
    perhaps: set[tuple[int, int, int]] = set()
    existing: set[tuple[int, ...]] = set()
    outer: dict[int, str] = {}
    outside: set[str] = set()
    fragments: dict[str, set[str]] = {}
    findings = not found.notes.keys().isdisjoint(TOLD)
    unsettled: list[Reference] = []
    lacks_own = False
    summary.passed.update(found.passed)
    for one in found.references:
        seen = check_reference(one, found, site, checker)
        summary.references += 1
        if seen.passed is not None:
            summary.passed[seen.passed] += 1
        summary.within += seen.is_within
        findings = findings or bool(seen.findings)
        if seen.outside is not None and not seen.is_within:
            summary.outside += 1
            outside.add(seen.outside)
            if seen.fragment:
                fragments.setdefault(seen.outside, set()).add(seen.fragment)
        is_missing = bool(seen.there) and mine.isdisjoint(seen.there)
        lacks_anchor = bool(seen.pairs) and mine.isdisjoint(seen.pairs)
        if is_missing or lacks_anchor or seen.findings or (checker.online and seen.outside is not None):
            unsettled.append(one)
        if is_missing:
            existing.add(seen.there)
        if not lacks_anchor:
            continue
        if seen.document == document:
            findings = lacks_own = True
            continue
        if seen.outside is not None:
            perhaps.add((seen.document, seen.pairs[0], seen.pairs[-1]))
            continue
        pairs.add((seen.pairs[0], seen.pairs[-1]))
        if seen.place is not None and seen.place.path:
            outer[seen.place.document] = seen.place.path
    # Few documents are in archives that link to files which are there in more than one way: pass 2 is exact.
    pairs.update((one[0], one[1]) for one in existing)
    flat = array("Q", (one for pair in sorted(pairs) for one in pair))
    return PageKeys(
        document,
        found.document.source,
        state,
        array("Q", sorted(mine)),
        flat,
        findings,
        outer,
        outside,
        called,
        fragments,
        refresh_target(found, site, checker),
        array("Q", (one for three in sorted(perhaps) for one in three)),
        _unsettled_scan(unsettled, found, lacks_own)
        if found.kind in _PLACED_BY_TEXT and document < NUMBERLESS
        else None,
    )


_PLACED_BY_TEXT = ("markdown", "rst", "notebook", "text", "uri-list")
"""Kinds whose references are found again by their text."""


def _unsettled_scan(references: list[Reference], found: Scan, lacks_own: bool) -> Scan:
    """The document with these references alone, small: without its text and project.

    lacks_own: whether one of them asks for an anchor of the document itself.
    """
    project = NO_PROJECT._replace(generator=found.project.generator)
    content = found.document._replace(content=b"")
    anchors = found.anchors if lacks_own else set[str]()
    return Scan(
        content, found.kind, references=references, anchors=anchors, titles=found.titles,
        names_labels=found.names_labels, has_anchors=found.has_anchors, project=project,
        more_anchors=found.more_anchors, is_template=found.is_template, notes=found.notes,
    )  # fmt: skip


def with_text(unsettled: Scan, document: Document, project: Project) -> Scan:
    """The same with its text and project."""
    if unsettled.project.generator != project.generator:
        project = unknown_generator(project)
    if unsettled.kind == "markdown":
        document = without_front_matter(document)
    return replace(unsettled, document=document, text=text_of(document), project=project)
