"""Reports each fault of a document with its place; documents of which nothing was kept are read again for that."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Set
from types import MappingProxyType
from typing import Any

from overthere.broken.anchors import names
from overthere.broken.collecting import State, with_text
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
from overthere.ground.redact import mask, secret_spans
from overthere.links.job.task_builder import Task
from overthere.links.model import NOTES, Options

__all__ = ["Reporter"]

_ABOUT = 200
"""Characters of what a finding is about."""


class Reporter:
    """Makes findings of documents, one after the other."""

    def __init__(
        self,
        site: Site,
        checker: Checker,
        options: Options,
        states: Mapping[int, State],
        has: Callable[[int], bool],
        outcomes: Mapping[str, Outcome],
        turning: Set[int],
        following: Mapping[int, int],
        anchors: Callable[[int], set[str] | None] = lambda number: None,
        unsettled: Mapping[str, Scan] = MappingProxyType({}),
    ) -> None:
        """turning: the pages that are on a circle.  following: where pages send their reader on.

        anchors: of a document by its number, where they are at hand.  unsettled: by their sources, documents whose
        references need not be read again.
        """
        self.site: Site = site
        self.checker: Checker = checker
        self.options: Options = options
        self.states: Mapping[int, State] = states
        self.has: Callable[[int], bool] = has
        self.outcomes: Mapping[str, Outcome] = outcomes
        self.turning: Set[int] = turning
        self.following: Mapping[int, int] = following
        self.unsettled: Mapping[str, Scan] = unsettled
        self.passed: Counter[str] = Counter()
        self.at_hand: Callable[[int], set[str] | None] = anchors
        self.nearest: Suggester = Suggester(site, self._anchors)
        self.folded: dict[int, set[str]] = {}
        """The anchors of some documents without regard to case, by number."""

    def task(self, task: Task, sources: Set[str]) -> Iterator[Broken]:
        """The findings of these documents of a task."""
        for found in self._scans(task, sources):
            yield from self.document(found)

    def _scans(self, task: Task, sources: Set[str] | None = None) -> Iterator[Scan]:
        """The documents of a task, or these of them, each read when it is asked for."""
        from overthere.links.job.task_documents import documents  # slow to load, and often the native kernel reads all

        for document, (kind, notes) in documents(task, self.options):
            project = project_of(self.checker, document.source)
            if sources is None or (document.source in sources and document.source not in self.unsettled):
                yield scan(document, kind, notes, self.options, project)
            elif document.source in sources:
                yield with_text(self.unsettled[document.source], document, project)

    def document(self, found: Scan) -> Iterator[Broken]:
        """The findings of one document, in the order of its references."""
        for note in found.notes:
            if note in TOLD:
                level = "unreadable" if note in _BAD else "not-read"
                yield finding(found.document.source, level, NOTES[note])
        places = Places(found)
        labels: _Labels | None = None
        looks: dict[tuple[str, str, int, str | None, str | None, bool], ReferenceState] = {}
        for one in found.references:
            # What stands often in a document is looked at once; `found` holds the bases.
            same = (one.where, one.reference, id(one.base), one.target, one.passed, one.is_nofollow)
            seen = looks.get(same) or looks.setdefault(same, check_reference(one, found, self.site, self.checker))
            told = [*seen.findings, *self._missing_kinds(one, seen, found), *self._external_kinds(seen)]
            if one is found.next and identity(found, self.site) in self.turning:
                told.append(("loop", seen.target or ""))
            if told:
                place = places.locate(one)
                if one.where == "definition":
                    labels = labels or _Labels(found.text)
                    if labels.is_unused(place.line, place.column):
                        told = [("unused-definition", one.reference)]
                for kind, about, *more in told:
                    status, instead = (*more, None, None)[:2]
                    if instead is None and self.checker.suggest:
                        instead = self.nearest.reference(kind, one, seen, found, document_identity(found, self.site))
                    yield finding(found.document.source, kind, about, one, seen, place, status, instead)

    def _anchors(self, number: int) -> set[str] | None:
        """The anchors of a document of the sources, read again."""
        if number >= len(self.site.paths):
            return None
        if (known_ones := self.at_hand(number)) is not None:
            return known_ones
        task = Task((self.site.paths[number],), self.site.roots[number], (self.checker.base or (None,))[0])
        return next((found.anchors for found in self._scans(task)), None)

    def _missing_kinds(self, one: Reference, seen: ReferenceState, found: Scan) -> Iterator[tuple[Any, ...]]:
        """What is said of a document or an anchor that is not there."""
        if seen.there and not any(map(self.has, seen.there)):
            yield seen.place.verdict if seen.place else "no-document", seen.place.name if seen.place is not None else ""
            return
        if not seen.pairs or any(map(self.has, seen.pairs)):
            return
        document = seen.document
        if seen.outside is not None and not self.has(document):
            return  # a document that is not in the archive
        mine = document == document_identity(found, self.site)
        state = (
            State(found.kind, found.is_whole, found.has_anchors, found.more_anchors)
            if mine
            else self.states.get(document, _UNKNOWN)
        )
        why = unjudged_reason(seen, state.kind)
        if why is not None:
            self.passed[why] += 1
        elif (there := self._page_with(seen.fragment or "", document)) is not None:
            name = self.site.name_of(there)
            yield "sent-on", name, None, self.nearest.other_document(one, name, "certain")
        elif not state.has_anchors or not state.is_whole:
            yield "not-sure", f"#{seen.fragment}"
        elif state.more_anchors:
            yield "unsure", f"#{seen.fragment} ({state.more_anchors})"
        elif mine and found.names_labels and found.project.aliases is not None:
            yield "unsure", f"#{seen.fragment} (an extension may know it)"
        else:
            elsewhere = f" in {seen.place.name}" if not mine and seen.place is not None and seen.place.name else ""
            if self._is_found_in_any_case(seen, found, mine):
                own = document_identity(found, self.site)
                near = self.nearest.reference("no-fragment", one, seen, found, own) if self.checker.suggest else None
                yield "unsure", f"#{seen.fragment}{elsewhere} (only GitHub finds it in another case)", None, near
            else:
                yield "no-fragment", f"#{seen.fragment}{elsewhere}"

    def _is_found_in_any_case(self, seen: ReferenceState, found: Scan, mine: bool) -> bool:
        """Whether GitHub shows the document, whose script finds an anchor that differs in case alone."""
        number, paths = seen.document, self.site.paths
        source = paths[number] if not mine and 0 <= number < len(paths) else found.document.source
        kind = found.kind if mine else self.states.get(number, _UNKNOWN).kind
        if kind != "markdown" or project_of(self.checker, source).anchors != "github":
            return False
        if number not in self.folded:
            if len(self.folded) >= _FOLDED:
                self.folded.clear()
            anchors = found.anchors if mine else self._anchors(number) or ()
            self.folded[number] = {name.casefold() for name in anchors}
        return any(name.casefold() in self.folded[number] for name in names(seen.fragment or ""))

    def _page_with(self, fragment: str, document: int) -> int | None:
        """The page that has an anchor, of those to which the reader of a document is sent on."""
        for page in pages_behind(document, self.following):
            if page < len(self.site.paths) and any(self.has(key(page, name)) for name in names(fragment)):
                return page
        return None

    def _external_kinds(self, seen: ReferenceState) -> Iterator[tuple[Any, ...]]:
        """What asking has shown."""
        outcome = None if seen.outside is None else self.outcomes.get(seen.outside)
        if outcome is None:
            return
        if outcome.kind is not None:
            copy = None if outcome.archived is None else Suggestion(outcome.archived, "archived")
            yield outcome.kind, outcome.why, outcome.status, copy
        elif outcome.permanent and outcome.final not in (None, seen.outside):
            final = outcome.final
            if seen.fragment is not None and "#" not in final:
                final = f"{final}#{seen.fragment}"  # RFC 9110 10.2.2: a redirect inherits the fragment
            yield "moved-permanently", final, outcome.status, Suggestion(final, "certain")
        if seen.fragment is not None and seen.fragment in outcome.missing:
            yield "no-fragment", f"#{seen.fragment}", outcome.status


_BRACKETS = re.compile(r"\[([^\[\]]*+)\]")


class _Labels:
    """The labels of a Markdown text, each with how often it stands in brackets (CommonMark 4.7)."""

    def __init__(self, text: str) -> None:
        self.lines: list[str] = text.split("\n")
        self.counts: Counter[str] = Counter(_normal_label(found[1]) for found in _BRACKETS.finditer(text))

    def is_unused(self, line: int | None, column: int | None) -> bool:
        """Whether no link has the label of the definition whose target stands there."""
        if line is None or column is None:
            return False
        before, _, label = self.lines[line - 1][: column - 1].rpartition("[")
        label, bracket, _ = label.partition("]:")
        return bool(bracket) and not before.strip(" >") and self.counts[_normal_label(label)] == 1


def _normal_label(label: str) -> str:
    return " ".join(label.split()).casefold()


_FOLDED = 64
"""Documents whose anchors are held in one case."""
_UNKNOWN = State("", True, False)
_BAD = frozenset(("unreadable", "reader-failed", "truncated", "corrupt"))


def finding(
    source: str,
    kind: str,
    about: str,
    one: Reference | None = None,
    seen: ReferenceState = ReferenceState(),  # noqa: B008 - a value
    place: tuple[int | None, int | None, int | None, int | None] = (None, None, None, None),
    status: int | None = None,
    suggestion: Suggestion | None = None,
) -> Broken:
    """A finding of a kind: about what, at which reference, at which place.

    A secret that the reference does not have is not suggested: a redirect may lead to a URI that is signed for one.
    """
    row = KINDS[kind]
    why = row.words.format(it=shorten(printable(mask(about)), _ABOUT))
    if suggestion is not None and secret_spans(suggestion.text) and (one is None or not secret_spans(one.reference)):
        suggestion = None
    paragraph = row.source if status is None or status < 300 else f"RFC 9110 15.{status // 100}"
    return Broken(
        source, *place, None if one is None else one.where, None if one is None else one.reference, seen.target,
        seen.fragment, kind, why, status, paragraph, None, suggestion and suggestion.text, row.level,
        suggestion and suggestion.certainty,
    )  # fmt: skip
