"""Splits a text into runs, each in one component and with the same findings, for colouring a page."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from overthere.ground.display import name_of, printable
from overthere.ground.errors import Finding
from overthere.ground.redact import MASK, mask, secret_spans

__all__ = ["Place", "Run", "runs"]

_RUNS = 2000
"""Runs of one text; what follows them is one run more."""


@dataclass(frozen=True)
class Place:
    """A stretch of the text with a name; the innermost of those that overlap names a run."""

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Run:
    """A stretch of a text as it is shown."""

    start: int
    """Code-point offsets in the text."""
    end: int
    text: str
    """What is shown: `***` for a password, a code point for a character that cannot be seen."""
    component: str | None
    """None for a delimiter."""
    findings: list[int]
    """The numbers of those that concern it, from 1."""
    hidden: bool
    """Whether `text` names characters that cannot be seen (controls, marks of direction, surrogates)."""


def runs(text: str, places: Iterable[Place], findings: Sequence[Finding] = ()) -> list[Run]:
    """The text in runs; a finding at an empty place is a run without text.

    >>> [(run.text, run.component) for run in runs("a:b\u202e", [Place("scheme", 0, 1), Place("path", 2, 4)])]
    [('a', 'scheme'), (':', None), ('b', 'path'), ('U+202E', 'path')]
    """
    named = sorted(places, key=lambda place: (place.start, -place.end))
    secrets = secret_spans(text)
    within = [(max(0, one.start), min(len(text), one.end)) for one in findings]
    cuts = {0, len(text), *(at for place in named for at in (place.start, place.end)), *_invisible_bounds(text)}
    cuts.update(at for span in (*secrets, *within) for at in span)
    ends = sorted(at for at in cuts if 0 <= at <= len(text))
    empty = {start for start, end in within if start == end}
    cut = len(text)
    if len(ends) > _RUNS:
        cut = ends[_RUNS - 1]
        ends = [*ends[:_RUNS], len(text)]
    made: list[Run] = []
    for start, end in zip(ends, [*ends[1:], len(text)], strict=True):
        if start in empty:
            made.append(Run(start, start, "", None, _findings_in(within, start, start), False))
        if start == end:
            continue
        if _is_covered(secrets, start):
            if made and made[-1].text == MASK and made[-1].end == start:
                continue  # one mask, whatever delimiters are in it
            shown, hidden = MASK, False
        else:
            shown, hidden = mask(text[start:end], _clip_spans(secrets, start, end)), not text[start].isprintable()
            shown = name_of(shown) if hidden and end <= cut else printable(shown)
            hidden = hidden and end <= cut
        component = next((p.name for p in reversed(named) if p.start <= start and end <= p.end), None)
        made.append(Run(start, end, shown, component, _findings_in(within, start, end), hidden))
    return made


def _findings_in(findings: Sequence[tuple[int, int]], start: int, end: int) -> list[int]:
    """Which findings concern a run: by number."""
    if start == end:
        return [i for i, span in enumerate(findings, 1) if span == (start, start)]
    return [i for i, (low, high) in enumerate(findings, 1) if low <= start and end <= high and low < high]


def _clip_spans(spans: Sequence[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
    """The parts of the spans within a run, with offsets in the run."""
    within = ((max(low, start), min(high, end)) for low, high in spans)
    return [(low - start, high - start) for low, high in within if low < high]


def _is_covered(spans: Sequence[tuple[int, int]], at: int) -> bool:
    index = bisect_right(spans, (at, 1 << 62)) - 1
    return index >= 0 and spans[index][0] <= at < spans[index][1]


def _invisible_bounds(text: str) -> Iterable[int]:
    """Where runs of characters that cannot be seen begin and end."""
    if text.isprintable():
        return
    before = True
    for at, char in enumerate(text):
        if char.isprintable() != before:
            yield at
            before = not before
