"""The summary of `overthere broken`: documents read, findings, and what was not checked."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

from overthere.broken.model import KINDS, PASSED, Summary
from overthere.broken.report import describe_count
from overthere.ground.display import printable

_MAX_PROJECTS = 5
"""Maximum configurations with a line of their own in the summary."""


def summary_lines(summary: Summary, seconds: float, *, is_whole: bool = True) -> Iterator[str]:
    """The summary: documents read, findings, what to do about them, what was not checked; if it is whole, a verdict."""
    rate = f", {summary.documents / seconds:,.0f}/s" if seconds > 0.5 else ""
    documents, octets = describe_count(summary.documents, "document"), describe_count(summary.octets, "octet")
    yield f"{documents} ({octets}) in {seconds:.1f} s{rate}"
    yield f"{describe_count(summary.references, 'reference')}: {summary.within:,} checked within the sources"
    if summary.outside:
        cached = f", {summary.recalled:,} known from the cache" if summary.recalled else ""
        requests = f"{summary.asked:,} asked{cached}" if summary.asked or cached else "not requested (use --online)"
        yield f"{summary.outside:,} point outside, to {describe_count(summary.distinct, 'URI')}: {requests}"
    for project in summary.projects[:_MAX_PROJECTS]:
        folder, rule = os.path.relpath(project.mounts[0].folder), project.anchors.partition(":")[0]
        yield (
            f"{printable(folder)} is read as {project.generator} does ({printable(project.config)}), anchors as {rule} "
            "(--anchors overrides it)"
        )
    if others := Counter(project.generator for project in summary.projects[_MAX_PROJECTS:]):
        yield f"further folders are read as {', '.join(f'{name} does ({n:,})' for name, n in others.most_common())}"
    if summary.passed:
        yield "not judged:"
        for reason, count in _rank(summary.passed):
            yield f"  {count:>9,}  {PASSED.get(reason, reason)}"
    if files := [f"{count:,} {kind}" for kind, count in _rank(summary.files) if kind != "ignored"]:
        yield f"no documents: {', '.join(files)}"
    if ignored := summary.files["ignored"]:
        paths = describe_count(ignored, "path")
        yield f"not read: {paths} of installed packages, or that Git ignores (--no-ignore reads them)"
    yield from _findings(summary)
    if is_whole:
        yield from _verdict(summary)


def _findings(summary: Summary) -> Iterator[str]:
    for level in ("error", "warning", "note"):
        kinds = {kind: count for kind, count in summary.kinds.items() if KINDS[kind].level == level}
        if kinds:
            summed = ", ".join(f"{count:,} {kind}" for kind, count in sorted(kinds.items()))
            yield f"{describe_count(sum(kinds.values()), level)}: {summed}"
        for kind in sorted(kinds):
            if KINDS[kind].remedy:
                yield f"  {kind}: {KINDS[kind].remedy}"
    if summary.ignored:
        yield f"{summary.ignored:,} ignored by rule"
    if summary.known:
        yield f"{summary.known:,} known from the baseline"


def _verdict(summary: Summary) -> Iterator[str]:
    if not summary.documents:
        yield "no documents were read"
    elif not summary.errors:
        unjudged = sum(summary.kinds[kind] for kind in ("unsure", "not-sure"))
        unjudged += sum(summary.passed[reason] for reason in ("template", "sphinx-role", "root"))
        judged = f"none broken of {summary.within:,} checked; {unjudged:,} could not be judged"
        yield judged if unjudged else "no broken links"


def _rank(counts: Counter[str]) -> list[tuple[str, int]]:
    """Names and counts, the most frequent first, then by name."""
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))
