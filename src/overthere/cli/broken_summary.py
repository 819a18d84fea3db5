"""The summary of `overthere broken`: documents read, findings, and what was not checked."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

from overthere.broken.model import KINDS, PASSED, Summary
from overthere.broken.report import describe_count
from overthere.ground.display import printable

__all__ = ["summary_lines"]


def summary_lines(summary: Summary, seconds: float) -> Iterator[str]:
    """The summary: documents read, findings, and what was not checked."""
    rate = f", {summary.documents / seconds:,.0f}/s" if seconds > 0.5 else ""
    documents, octets = describe_count(summary.documents, "document"), describe_count(summary.octets, "octet")
    yield f"{documents} ({octets}) in {seconds:.1f} s{rate}"
    yield f"{describe_count(summary.references, 'reference')}: {summary.within:,} checked within the sources"
    if summary.outside:
        known = f", {summary.recalled:,} known from the cache" if summary.recalled else ""
        asked = f"{summary.asked:,} asked{known}" if summary.asked or known else "not requested (use --online)"
        yield f"{summary.outside:,} point outside, to {describe_count(summary.distinct, 'URI')}: {asked}"
    for folder, rule, file in summary.dialects:
        yield (
            f"anchors of Markdown in {printable(os.path.relpath(folder))}: {rule.partition(':')[0]} "
            f"({printable(file)}; --anchors overrides it)"
        )
    if summary.passed:
        yield "not judged:"
        for reason, count in _rank(summary.passed):
            yield f"  {count:>9,}  {PASSED.get(reason, reason)}"
    if summary.files:
        yield f"no documents: {', '.join(f'{count:,} {kind}' for kind, count in _rank(summary.files))}"
    for level in ("error", "warning", "note"):
        kinds = {kind: count for kind, count in summary.kinds.items() if KINDS[kind].level == level}
        if kinds:
            summed = ", ".join(f"{count:,} {kind}" for kind, count in sorted(kinds.items()))
            yield f"{describe_count(sum(kinds.values()), level)}: {summed}"
    if summary.ignored:
        yield f"{summary.ignored:,} ignored by rule"
    if summary.known:
        yield f"{summary.known:,} known from the baseline"
    if summary.unsuggested:
        yield f"{summary.unsuggested:,} without a search for similar names: there were too many"
    if not summary.documents:
        yield "no documents were read"
    elif not summary.errors:
        yield "no broken links"


def _rank(counts: Counter[str]) -> list[tuple[str, int]]:
    """Names and counts, the most frequent first, then by name."""
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))
