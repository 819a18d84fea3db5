"""Reports each fault of a document with its place; documents whose references were not stored are read again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from overthere.broken.anchors import names
from overthere.broken.collecting import State, with_text
from overthere.broken.generators.project import NO_PROJECT
from overthere.broken.keys import key
from overthere.broken.model import KINDS, TOLD, Broken, Checker, Outcome
from overthere.broken.places import Places
from overthere.broken.projects import project_of
from overthere.broken.reference_check import ReferenceState, check_reference, document_identity, unjudged_reason
from overthere.broken.refresh_cycles import identity, pages_behind
from overthere.broken.scan import Reference, Scan, scan
from overthere.broken.site import Site
from overthere.broken.suggestions import Suggester, Suggestion
from overthere.ground.display import printable, shorten
from overthere.ground.redact import MASK, mask, secret_spans
from overthere.links.job.task_builder import Task
from overthere.links.model import NOTES, Options
from overthere.values.known_secrets import values

_MAX_SUBJECT_LENGTH = 200
"""Maximum length of the subject of a finding, in characters."""


@dataclass
class Reporter:
    """Reports the findings of documents, one after the other."""

    site: Site
    checker: Checker
    options: Options
    states: Mapping[int, State]
    has: Callable[[int], bool]
    outcomes: Mapping[str, Outcome]
    cyclic_pages: Set[int]
    """The pages in a cycle of refreshes."""
    following: Mapping[int, int]
    """The page to which each page refreshes."""
    known_anchors: Callable[[int], set[str] | None] = lambda number: None
    """Returns the known anchors of a document by its number."""
    unsettled: Mapping[str, Scan] = field(default_factory=dict)
    """The documents whose references were stored, by source."""
    passed: Counter[str] = field(default_factory=Counter)
    missing: dict[tuple[object, ...], ReferenceState] = field(default_factory=dict)
    """References of HTML pages to missing documents, for all pages of a folder."""
    folded: dict[int, set[str]] = field(default_factory=dict)
    """The case-folded anchors of some documents, by number."""

    def __post_init__(self) -> None:
        self.nearest: Suggester = Suggester(self.site, self._anchors)

    def task(self, task: Task, sources: Set[str]) -> Iterator[Broken]:
        """Yield the findings of these documents of a task."""
        for result in self._scans(task, sources):
            yield from self.document(result)

    def _scans(self, task: Task, sources: Set[str] | None = None) -> Iterator[Scan]:
        """Scan the documents of a task, lazily; sources: only these."""
        from overthere.links.job.task_documents import documents  # slow to import, and often unused

        for document, (kind, notes) in documents(task, self.options):
            project = project_of(self.checker, document.source)
            if sources is None or (document.source in sources and document.source not in self.unsettled):
                yield scan(document, kind, notes, self.options, project)
            elif document.source in sources:
                yield with_text(self.unsettled[document.source], document, project)

    def document(self, result: Scan) -> Iterator[Broken]:
        """Yield the findings of a document, in the order of its references."""
        for note in result.notes:
            if note in TOLD:
                level = "unreadable" if note in _UNREADABLE_NOTES else "not-read"
                yield finding(result.document.source, level, NOTES[note])
        places = Places(result)
        is_plain = result.kind == "html" and result.project is NO_PROJECT and len(self.missing) < _MAX_MISSING
        labels: _Labels | None = None
        states: dict[tuple[str, str, int, str | None, str | None, bool], ReferenceState] = {}
        checked: list[tuple[Reference, ReferenceState, list[tuple[Any, ...]]]] = []
        for reference in result.references:
            # Equal references are checked once; `result` keeps their bases alive, so that `id` is unique.
            where, text, base, target, passed, *_, is_nofollow = reference
            identity_key = where, text, id(base), target, passed, is_nofollow
            state = states.get(identity_key)
            if state is None:
                # A text with a path has the same target from every document of a folder.
                folder = str(base.uri) if text[:1] in "#?" else str(base.uri).rpartition("/")[0]
                state = self.missing.get((folder, *identity_key[:2], *identity_key[3:])) if is_plain else None
                state = states[identity_key] = state or check_reference(reference, result, self.site, self.checker)
                if (
                    is_plain
                    and len(text) <= _MAX_SUBJECT_LENGTH
                    and [kind for kind, _ in state.findings] == ["no-document"]
                    and not (state.pairs or state.there)
                ):
                    self.missing[folder, *identity_key[:2], *identity_key[3:]] = state
            kinds = [*state.findings, *self._missing_kinds(reference, state, result), *self._external_kinds(state)]
            if reference is result.next and identity(result, self.site) in self.cyclic_pages:
                kinds.append(("loop", state.target or ""))
            checked.append((reference, state, kinds))
        faulty = {reference.reference for reference, _, kinds in checked if kinds and reference.at < 0}
        for reference, state, kinds in checked:
            if not kinds:
                if reference.at < 0 and reference.reference in faulty:
                    places.locate(reference)  # so that a later reference with the same text is found after it
                continue
            place = places.locate(reference)
            if reference.where == "definition":
                labels = labels or _Labels(result.text)
                if labels.is_unused(place.line, place.column):
                    kinds = [("unused-definition", reference.reference)]
            for kind, about, *details in kinds:
                status, suggestion = (*details, None, None)[:2]
                if suggestion is None and self.checker.suggest:
                    number = document_identity(result, self.site)
                    suggestion = self.nearest.reference(kind, reference, state, result, number)
                yield finding(result.document.source, kind, about, reference, state, place, status, suggestion)

    def _anchors(self, number: int) -> set[str] | None:
        """The anchors of a document of the sources; None for others.  The document may be read again."""
        if number >= len(self.site.paths):
            return None
        if (anchors := self.known_anchors(number)) is not None:
            return anchors
        task = Task((self.site.paths[number],), self.site.roots[number], (self.checker.base or (None,))[0])
        return next((result.anchors for result in self._scans(task)), None)

    def _missing_kinds(self, reference: Reference, seen: ReferenceState, result: Scan) -> Iterator[tuple[Any, ...]]:
        """Yield the findings about a document or an anchor that does not exist."""
        if seen.there and not any(map(self.has, seen.there)):
            yield seen.place.verdict if seen.place else "no-document", seen.place.name if seen.place is not None else ""
            return
        if not seen.pairs or any(map(self.has, seen.pairs)):
            return
        document = seen.document
        if seen.outside is not None and not self.has(document):
            return  # the document is not in the archive
        is_own = document == document_identity(result, self.site)
        state = (
            State(result.kind, result.is_whole, result.has_anchors, result.more_anchors)
            if is_own
            else self.states.get(document, _UNKNOWN)
        )
        reason = unjudged_reason(seen, state.kind)
        if reason is not None:
            self.passed[reason] += 1
        elif (page := self._page_with(seen.fragment or "", document)) is not None:
            name = self.site.name_of(page)
            yield "sent-on", name, None, self.nearest.other_document(reference, name, "certain")
        elif not state.has_anchors or not state.is_whole:
            yield "not-sure", f"#{seen.fragment}"
        elif state.more_anchors:
            yield "unsure", f"#{seen.fragment} ({state.more_anchors})"
        elif is_own and result.names_labels and result.project.aliases is not None:
            yield "unsure", f"#{seen.fragment} (an extension may know it)"
        else:
            elsewhere = f" in {seen.place.name}" if not is_own and seen.place is not None and seen.place.name else ""
            if self._is_found_in_any_case(seen, result, is_own):
                own_number = document_identity(result, self.site)
                near = None
                if self.checker.suggest:
                    near = self.nearest.reference("no-fragment", reference, seen, result, own_number)
                yield "unsure", f"#{seen.fragment}{elsewhere} (only GitHub finds it in another case)", None, near
            else:
                yield "no-fragment", f"#{seen.fragment}{elsewhere}"

    def _is_found_in_any_case(self, seen: ReferenceState, result: Scan, is_own: bool) -> bool:
        """Whether GitHub shows the document, and its script finds an anchor that differs only in case."""
        number, paths = seen.document, self.site.paths
        source = paths[number] if not is_own and 0 <= number < len(paths) else result.document.source
        kind = result.kind if is_own else self.states.get(number, _UNKNOWN).kind
        if kind != "markdown" or project_of(self.checker, source).anchors != "github":
            return False
        if number not in self.folded:
            if len(self.folded) >= _MAX_FOLDED:
                self.folded.clear()
            anchors = result.anchors if is_own else self._anchors(number) or ()
            self.folded[number] = {name.casefold() for name in anchors}
        return any(name.casefold() in self.folded[number] for name in names(seen.fragment or ""))

    def _page_with(self, fragment: str, document: int) -> int | None:
        """The first page with an anchor among those to which a document refreshes, or None."""
        for page in pages_behind(document, self.following):
            if page < len(self.site.paths) and any(self.has(key(page, name)) for name in names(fragment)):
                return page
        return None

    def _external_kinds(self, seen: ReferenceState) -> Iterator[tuple[Any, ...]]:
        """Yield the findings from the outcomes of requests."""
        outcome = None if seen.outside is None else self.outcomes.get(seen.outside)
        if outcome is None:
            return
        final = outcome.final
        if outcome.kind in (None, "moved-permanently") and outcome.permanent and final not in (None, seen.outside):
            if seen.fragment is not None and "#" not in final:
                final = f"{final}#{seen.fragment}"  # RFC 9110 10.2.2: a redirect inherits the fragment
            suggestion = None if seen.is_remapped else Suggestion(final, "certain")
            yield "moved-permanently", final, outcome.status, suggestion
        elif outcome.kind is not None:
            copy = None if outcome.archived is None else Suggestion(outcome.archived, "archived")
            yield outcome.kind, outcome.why, outcome.status, copy
        if seen.fragment is not None and seen.fragment in outcome.missing:
            yield "no-fragment", f"#{seen.fragment}", outcome.status


_BRACKETS = re.compile(r"\[([^\[\]]*+)\]")


class _Labels:
    """The labels of a Markdown text, with the number of times each is in brackets (CommonMark 4.7)."""

    def __init__(self, text: str) -> None:
        self.lines: list[str] = text.split("\n")
        self.counts: Counter[str] = Counter(_normal_label(match[1]) for match in _BRACKETS.finditer(text))

    def is_unused(self, line: int | None, column: int | None) -> bool:
        """Whether no link uses the label of the definition whose target is at this place."""
        if line is None or column is None:
            return False
        before, _, label = self.lines[line - 1][: column - 1].rpartition("[")
        label, bracket, _ = label.partition("]:")
        return bool(bracket) and not before.strip(" >") and self.counts[_normal_label(label)] == 1


def _normal_label(label: str) -> str:
    return " ".join(label.split()).casefold()


_MAX_FOLDED = 64
"""Maximum number of documents whose case-folded anchors are stored."""
_MAX_MISSING = 1 << 14
"""Maximum number of references to missing documents that are remembered."""
_UNKNOWN = State("", True, False)
_UNREADABLE_NOTES = frozenset(("unreadable", "reader-failed", "truncated", "corrupt"))


def finding(
    source: str,
    kind: str,
    about: str,
    reference: Reference | None = None,
    seen: ReferenceState = ReferenceState(),  # noqa: B008 - a value
    place: tuple[int | None, int | None, int | None, int | None] = (None, None, None, None),
    status: int | None = None,
    suggestion: Suggestion | None = None,
) -> Broken:
    """A finding of a kind, with its subject, reference and place.

    A suggestion never adds a secret: a redirect may lead to a URI that is signed for one client.
    """
    row = KINDS[kind]
    # A decoded path has the delimiters that were escaped in a value, where `mask` would end it.
    delimited = [value for value in values((reference and reference[1]) or "") if not {"&", ";", "#"}.isdisjoint(value)]
    about = reduce(lambda text, value: text.replace(value, MASK), delimited, about) if len(delimited) < 60 else MASK
    reason = row.words.format(it=shorten(printable(mask(about)), _MAX_SUBJECT_LENGTH))
    where, text = (None, None) if reference is None else reference[:2]
    if suggestion is not None and secret_spans(suggestion.text) and not (text and secret_spans(text)):
        suggestion = None
    paragraph = row.source if status is None or status < 300 else f"RFC 9110 15.{status // 100}"
    return Broken(
        source, *place, where, text, seen.target,
        seen.fragment, kind, reason, status, paragraph, None, suggestion and suggestion.text, row.level,
        suggestion and suggestion.certainty,
    )  # fmt: skip
