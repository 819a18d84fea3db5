"""Splits a text into runs, each in one component and with the same findings, for colouring a page."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from overthere.ground.display import name_of, printable
from overthere.ground.errors import Finding
from overthere.ground.redact import MASK, mask, secret_spans

_MAX_RUNS = 2000
"""Maximum runs of a text; the text behind them is one more run."""


@dataclass(frozen=True)
class Place:
    """A named range of the text; the innermost of overlapping places names a run."""

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Run:
    """A range of a text as it is displayed."""

    start: int
    """Code-point offsets in the text."""
    end: int
    text: str
    """The displayed text: `***` for a password, a code point for an invisible character."""
    component: str | None
    """None for a delimiter."""
    findings: list[int]
    """The numbers, from 1, of the findings about this run."""
    hidden: bool
    """Whether `text` names invisible characters (controls, direction marks, surrogates)."""


def runs(text: str, places: Iterable[Place], findings: Sequence[Finding] = ()) -> list[Run]:
    """Split the text into runs; a finding at an empty place is a run without text.

    >>> [(run.text, run.component) for run in runs("a:b\u202e", [Place("scheme", 0, 1), Place("path", 2, 4)])]
    [('a', 'scheme'), (':', None), ('b', 'path'), ('U+202E', 'path')]
    """
    ordered = sorted(places, key=lambda place: (place.start, -place.end))
    secrets = secret_spans(text)
    finding_spans = [(max(0, finding.start), min(len(text), finding.end)) for finding in findings]
    bounds = {0, len(text), *(at for place in ordered for at in (place.start, place.end)), *_invisible_bounds(text)}
    bounds.update(at for span in (*secrets, *finding_spans) for at in span)
    ends = sorted(at for at in bounds if 0 <= at <= len(text))
    empty_starts = {start for start, end in finding_spans if start == end}
    last_start = len(text)
    if len(ends) > _MAX_RUNS:
        last_start = ends[_MAX_RUNS - 1]
        ends = [*ends[:_MAX_RUNS], len(text)]
    result: list[Run] = []
    for start, end in zip(ends, [*ends[1:], len(text)], strict=True):
        if start in empty_starts:
            result.append(Run(start, start, "", None, _findings_in(finding_spans, start, start), False))
        if start == end:
            continue
        if _is_covered(secrets, start):
            if result and result[-1].text == MASK and result[-1].end == start:
                continue  # one mask, even if it contains delimiters
            run_text, is_hidden = MASK, False
        else:
            run_text, is_hidden = mask(text[start:end], _clip_spans(secrets, start, end)), not text[start].isprintable()
            run_text = name_of(run_text) if is_hidden and end <= last_start else printable(run_text)
            is_hidden = is_hidden and end <= last_start
        component = next((p.name for p in reversed(ordered) if p.start <= start and end <= p.end), None)
        result.append(Run(start, end, run_text, component, _findings_in(finding_spans, start, end), is_hidden))
    return result


def _findings_in(findings: Sequence[tuple[int, int]], start: int, end: int) -> list[int]:
    """Return the numbers of the findings about a run."""
    if start == end:
        return [i for i, span in enumerate(findings, 1) if span == (start, start)]
    return [i for i, (low, high) in enumerate(findings, 1) if low <= start and end <= high and low < high]


def _clip_spans(spans: Sequence[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
    """Return the parts of the spans within a run, with offsets in the run."""
    within = ((max(low, start), min(high, end)) for low, high in spans)
    return [(low - start, high - start) for low, high in within if low < high]


def _is_covered(spans: Sequence[tuple[int, int]], at: int) -> bool:
    index = bisect_right(spans, (at, 1 << 62)) - 1
    return index >= 0 and spans[index][0] <= at < spans[index][1]


def _invisible_bounds(text: str) -> Iterable[int]:
    """Yield the offsets where runs of invisible characters begin and end."""
    if text.isprintable():
        return
    was_printable = True
    for at, char in enumerate(text):
        if char.isprintable() != was_printable:
            yield at
            was_printable = not was_printable
