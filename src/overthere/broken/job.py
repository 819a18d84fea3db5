"""A whole check: the sources in parts, both passes, and between them what lies outside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from overthere.broken.inside import Inside
from overthere.broken.model import Broken, Checker, Outcome, Summary
from overthere.links.containers.held import drop
from overthere.links.job import needed
from overthere.links.job.retrieved import is_uri
from overthere.links.job.sources import tasks
from overthere.links.model import Options
from overthere.uri import URI

if TYPE_CHECKING:
    from overthere.access.policy import Policy

__all__ = ["run"]

Step = Callable[[str, int, int], None]


def run(sources: list[str], checker: Checker, summary: Summary, step: Step, policy: Policy | None) -> Iterator[Broken]:
    """Raises: ValueError for sources that only asking would give; OSError if there is no such file."""
    options = Options(limit=checker.limit)
    needed(options)
    for source in sources:
        if is_uri(source):
            raise ValueError(f"{source}: a URI is crawled with --online, which this version does not have")
    if checker.online and find_spec("overthere.broken.outside") is None:
        raise ValueError("online: this version looks at what lies within the sources only")
    base = URI(checker.base[0]) if checker.base else None
    parts = list(tasks(sources, base, options))
    return _run(Inside(parts, checker, options, summary), summary, step, policy)


def _run(inside: Inside, summary: Summary, step: Step, policy: Policy | None) -> Iterator[Broken]:
    total, done = sum(task.size for task in inside.tasks), 0
    try:
        for octets in inside.gather():
            done += octets
            step("read", done, total)
        outcomes = _asked(inside, policy, step) if inside.checker.online else {}
        for found in inside.findings(outcomes):
            summary.kinds[found.kind] += 1
            yield found
    finally:
        for task in inside.tasks:
            drop(task.paths)


def _asked(inside: Inside, policy: Policy | None, step: Step) -> dict[str, Outcome]:
    """What asking for the URIs outside has shown, of those that are not simply well."""
    asker = import_module("overthere.broken.outside").Asker(inside.checker, policy)
    wanted = inside.outside
    outcomes: dict[str, Outcome] = {}
    for done, outcome in enumerate(asker.ask(wanted, wanted), 1):
        inside.summary.asked += not outcome.cached
        if outcome.kind is not None or outcome.missing or outcome.permanent:
            outcomes[outcome.uri] = outcome
        step("asked", done, len(wanted))
    return outcomes
