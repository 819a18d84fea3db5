"""Pass 1: collects the anchors and references of each document as keys in compact arrays."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from overthere.broken.generators.front_matter import unknown_generator, without_front_matter
from overthere.broken.generators.project import NO_PROJECT, Project
from overthere.broken.keys import LABELS, NUMBERLESS, document_key, key
from overthere.broken.model import TOLD, Checker, Summary
from overthere.broken.projects import project_of
from overthere.broken.reference_check import check_reference, document_identity, uri_key
from overthere.broken.refresh_cycles import refresh_target
from overthere.broken.scan import Reference, Scan, is_source_code, scan, text_of
from overthere.broken.site import Site
from overthere.links.containers.progress import Progress
from overthere.links.job.task_builder import Task
from overthere.links.model import Document, Options


class State(NamedTuple):
    """Facts about a document whose anchors were collected."""

    kind: str
    is_whole: bool
    has_anchors: bool
    more_anchors: str = ""
    """Why it may have further anchors."""


class PageKeys(NamedTuple):
    """The keys and facts of a document that pass 1 keeps."""

    document: int
    """Its number or `document_key`."""
    source: str
    state: State
    anchors: array[int]
    """Keys that exist: of its anchors, and of its URI."""
    pairs: array[int]
    """Keys of the documents and anchors to which it refers, in pairs: one key of each pair must exist."""
    findings: bool
    """Whether it has findings that do not depend on other documents."""
    outer: dict[int, str]
    """Documents outside the sources to whose fragments it refers, with their paths."""
    outside: set[str]
    """External URIs."""
    called: int
    """The key of its URI, for other documents of its container; -1 if it is not in one."""
    fragments: dict[str, set[str]]
    """The fragments to which it refers, by external URI."""
    next: int
    """The document to which it refreshes at once; -1 for none."""
    container_keys: array[int] = array("Q")
    """Keys of documents that its container may have, each with two keys as in `pairs`; other documents are external."""
    unsettled: Scan | None = None
    """The document with only the references that may be faults; None: it is read again if one of them is."""


def gather(task: Task, site: Site, checker: Checker, options: Options, summary: Summary) -> Iterator[PageKeys]:
    """Read each document of a task once, and yield its keys and facts."""
    from overthere.links.job.task_documents import documents  # slow to import, and often unused with the native kernel

    walk = _ContainerCollector()
    for document, (kind, notes) in documents(task, options, walk):
        if kind in ("http", "header") and not document.content:
            continue
        result = scan(document, kind, notes, options, project_of(checker, document.source))
        if "not-followed" in result.notes:
            summary.passed["not-followed"] += 1
        elif is_source_code(document, kind):
            summary.files["code"] += 1
        else:
            summary.documents += 1
            summary.octets += len(document.content)
        yield page_keys(result, site, checker, summary)
    summary.files.update(walk.passed)
    if walk.seen:
        # Members that are not documents exist too.
        state, no_keys = State("", True, False), array("Q")
        yield PageKeys(-1, "", state, array("Q", sorted(walk.seen)), no_keys, False, {}, set(), -1, {}, -1)


class _ContainerCollector(Progress):
    """Collects the keys of all members of a container."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[int] = set()

    def begin_unit(self, source: str) -> bool:
        self.seen.add(document_key(source))
        return super().begin_unit(source)


def page_keys(result: Scan, site: Site, checker: Checker, summary: Summary) -> PageKeys:
    """The keys and facts of a scanned document."""
    document = document_identity(result, site)
    state = State(result.kind, result.is_whole, result.has_anchors, result.more_anchors)
    names = [*result.anchors, *(f"\0{name}" for name in result.maps)]
    own_keys = {key(document, name) for name in names}
    own_keys.update(key(LABELS, name) for name in result.labels)
    called = -1
    if document >= NUMBERLESS:
        # Other documents may refer to it by its URI, or as a part of a message.
        called = uri_key(str(result.document.base.uri))
        own_keys.update((called, document), (key(called, name) for name in names))
    pairs: set[tuple[int, int]] = set()
    container_keys: set[tuple[int, int, int]] = set()
    existing: set[tuple[int, ...]] = set()
    outer: dict[int, str] = {}
    outside: set[str] = set()
    fragments: dict[str, set[str]] = {}
    findings = not result.notes.keys().isdisjoint(TOLD)
    unsettled: list[Reference] = []
    lacks_own = False
    summary.passed.update(result.passed)
    for reference in result.references:
        checked = check_reference(reference, result, site, checker)
        summary.references += 1
        if checked.passed is not None:
            summary.passed[checked.passed] += 1
        summary.within += checked.is_within
        findings = findings or bool(checked.findings)
        if checked.outside is not None and not checked.is_within:
            summary.outside += 1
            outside.add(checked.outside)
            if checked.fragment:
                fragments.setdefault(checked.outside, set()).add(checked.fragment)
        is_missing = bool(checked.there) and own_keys.isdisjoint(checked.there)
        lacks_anchor = bool(checked.pairs) and own_keys.isdisjoint(checked.pairs)
        if is_missing or lacks_anchor or checked.findings or (checker.online and checked.outside is not None):
            unsettled.append(reference)
        if is_missing:
            existing.add(checked.there)
        if not lacks_anchor:
            continue
        if checked.document == document:
            findings = lacks_own = True
            continue
        if checked.outside is not None:
            container_keys.add((checked.document, checked.pairs[0], checked.pairs[-1]))
            continue
        pairs.add((checked.pairs[0], checked.pairs[-1]))
        if checked.place is not None and checked.place.path:
            outer[checked.place.document] = checked.place.path
    # Rarely a reference from an archive has more than two possible keys: pass 2 considers them all.
    pairs.update((keys[0], keys[1]) for keys in existing)
    flat = array("Q", (key_number for pair in sorted(pairs) for key_number in pair))
    return PageKeys(
        document, result.document.source, state, array("Q", sorted(own_keys)), flat, findings, outer, outside, called,
        fragments, refresh_target(result, site, checker),
        array("Q", (key_number for triple in sorted(container_keys) for key_number in triple)),
        _small_scan(unsettled, result, lacks_own) if result.kind in _PLACED_BY_TEXT and document < NUMBERLESS else None,
    )  # fmt: skip


_PLACED_BY_TEXT = ("markdown", "rst", "notebook", "text", "uri-list")
"""Kinds whose references are located by their text."""


def _small_scan(unsettled: list[Reference], result: Scan, lacks_own: bool) -> Scan:
    """A small copy of a scan, without its text and project, and with only these references and those of equal text,
    because references are located in the order of the text.

    lacks_own: whether one of them refers to a missing anchor of the document itself.
    """
    texts = {reference.reference for reference in unsettled}
    references = [reference for reference in result.references if reference.reference in texts]
    project = NO_PROJECT._replace(generator=result.project.generator)
    content = result.document._replace(content=b"")
    anchors = result.anchors if lacks_own else set[str]()
    return Scan(
        content, result.kind, references=references, anchors=anchors, titles=result.titles,
        names_labels=result.names_labels, has_anchors=result.has_anchors, project=project,
        more_anchors=result.more_anchors, is_template=result.is_template, notes=result.notes,
    )  # fmt: skip


def with_text(unsettled: Scan, document: Document, project: Project) -> Scan:
    """The scan with its text and project restored."""
    if unsettled.project.generator != project.generator:
        project = unknown_generator(project)
    if unsettled.kind == "markdown":
        document = without_front_matter(document)
    return replace(unsettled, document=document, text=text_of(document), project=project)
