"""A complete check: sources in parts, both passes, and external URIs between the passes."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from overthere.base import Base, file_uri
from overthere.broken.filters import fits, host_settings, is_excluded
from overthere.broken.generators.project import Projects
from overthere.broken.internal import InternalCheck
from overthere.broken.model import KINDS, Broken, Checker, Outcome, Summary, kind_of_status
from overthere.broken.projects import find_projects
from overthere.broken.reporting import finding
from overthere.files.stores.model import is_object
from overthere.ground.atomic import temporary_folder
from overthere.ground.redact import mask
from overthere.links.containers.temporary import remove_files
from overthere.links.job.options import check_options
from overthere.links.job.retrieval import Retrieval, is_uri
from overthere.links.job.sources import tasks
from overthere.links.job.task_builder import Task
from overthere.links.model import Options
from overthere.values.uri import URI

if TYPE_CHECKING:
    from overthere.access.policy import Policy
    from overthere.broken.crawl import Crawl
    from overthere.broken.external import Asker

Step = Callable[[str, int, int], None]


def run(sources: list[str], checker: Checker, summary: Summary, step: Step, policy: Policy | None) -> Iterator[Broken]:
    """Run a check.  Raises: ValueError for invalid settings; OSError if a file does not exist."""
    options = Options(limit=checker.limit, rooted=True, with_ignored=checker.with_ignored)
    check_options(options)
    if checker.workers is not None and checker.workers < 1:
        raise ValueError(f"workers must be at least 1, not {checker.workers}")
    sources = [path for source in sources for path in _expand(source)]
    if any(map(is_object, sources)):
        return _run_stored(sources, checker, summary, step, policy)
    for source in sources:
        if source != "-" and not is_uri(source) and not os.path.lexists(source):
            raise FileNotFoundError(f"{source}: there is no such file or folder")
    starts = [str(source) for source in sources if is_uri(source)]
    for start in starts:
        if URI(start).scheme.lower() not in ("http", "https"):
            raise ValueError(f"{start}: only http and https URIs can be crawled")
    files = [source for source in sources if not is_uri(source)]
    if checker.root is not None and not os.path.isdir(checker.root):
        raise FileNotFoundError(f"{checker.root}: there is no such folder")
    changed = None
    if checker.since is not None and files:
        from overthere.broken.changes import changed_files

        folder = files[0] if os.path.isdir(files[0]) else os.path.dirname(files[0]) or os.curdir
        changed = changed_files(folder, checker.since)
    base = URI(checker.base[0]) if checker.base else None
    parts = [_as_list(task) if task.name == "-" else task for task in tasks(files, base, options)]
    if ignored := sum(task.ignored for task in parts):
        summary.files["ignored"] += ignored
        parts = [task for task in parts if task.paths]
    summary.projects = find_projects(parts, summary.files)
    if checker.anchors != "auto":
        summary.projects = Projects(project._replace(anchors=checker.anchors) for project in summary.projects)
    checker = checker._replace(projects=summary.projects)
    asker = None
    if starts or checker.online:
        from overthere.broken.external import Asker

        asker = Asker(checker, policy)
    return _run(parts, starts, checker, options, summary, step, asker, changed)


def _run_stored(
    sources: list[str], checker: Checker, summary: Summary, step: Step, policy: Policy | None
) -> Iterator[Broken]:
    """Check a site in a store: its objects are copied into a temporary folder, because each pass reads them all."""
    from overthere.broken.stored_sites import copy_folder

    if len(sources) > 1:
        raise ValueError(f"{mask(sources[0])}: a folder of a store is checked alone; name no other source")
    if checker.since is not None:
        raise ValueError("--since needs a repository of git, and no store")
    with temporary_folder() as folder:
        copied = copy_folder(sources[0], Path(folder))
        for failure in copied.failed:
            summary.kinds["unreadable"] += 1
            yield finding(mask(failure.uri), "unreadable", failure.why)
        local = checker if checker.base else checker._replace(base=(copied.root,))
        for broken in run([folder], local, summary, step, policy):
            yield broken._replace(source=copied.source(broken.source))


def _expand(source: str) -> list[str]:
    """The files that a pattern matches ("**" matches any folders); a source that is not a pattern stays itself."""
    if source == "-" or is_object(source) or os.path.lexists(source) or not any(char in source for char in "*?["):
        return [source]
    if is_uri(source):
        return [str(source)]
    pattern = Path(source)
    try:
        return sorted(map(str, Path(pattern.anchor).glob(str(pattern.relative_to(pattern.anchor))))) or [source]
    except ValueError:  # "a**b", before Python 3.13
        return [source]


def _as_list(task: Task) -> Task:
    """The task for standard input, which is a list of URIs (RFC 2483 5)."""
    base = Base(URI(f"{file_uri('.')}/") if task.base is None else URI(task.base), "default", "default")
    return task._replace(retrieved=Retrieval(base, media_type="text/uri-list"))


def _run(
    parts: list[Task], starts: list[str], checker: Checker, options: Options, summary: Summary, step: Step,
    asker: Asker | None, changed: frozenset[str] | None,
) -> Iterator[Broken]:  # fmt: skip
    crawl: Crawl | None = None
    with ExitStack() as stack:
        stack.callback(lambda: remove_files(path for task in parts for path in task.paths))
        if asker is not None:
            stack.callback(asker.close)
            if starts:
                from overthere.broken.crawl import Crawl

                crawl = Crawl(starts, asker)
                stack.callback(lambda: crawl.records.drop(is_complete=asker.is_complete))
            stack.enter_context(asker.run())
        if crawl is not None and asker is not None:
            try:
                crawl.run(step)
                asker.is_cut = bool(crawl.passed["crawl-time"])
            finally:
                summary.passed.update(crawl.passed)
                summary.asked += len(crawl.outcomes) - crawl.recalled
                summary.recalled += crawl.recalled
            for start in crawl.starts:
                outcome = crawl.outcomes.get(start)
                if outcome is not None and outcome.kind not in (None, "moved-permanently"):
                    kind, reason = outcome.kind, outcome.why
                    if KINDS[kind].level != "error" and kind != "bad-location":  # nothing of the site was read
                        kind, reason = "unreadable", f"was not read. {KINDS[kind].words.format(it=reason)}"
                    summary.kinds[kind] += 1
                    yield finding(mask(start), kind, reason, status=outcome.status)
            parts = [*parts, *tasks([crawl.records.path], None, options)]
        inside = InternalCheck(parts, checker, options, summary, keeps_outside=asker is not None)
        total, bytes_read = sum(task.size for task in inside.tasks), 0
        for octets in inside.read_sources():
            bytes_read += octets
            step("read", bytes_read, total)
        if crawl is not None and crawl.records.is_own:
            summary.files -= Counter(warcinfo=1)  # that of the crawl's file
        outcomes = {} if asker is None else _check_external(inside, asker, crawl, step)
        findings = inside.findings(outcomes)
        if changed is not None:
            from overthere.broken.changes import choose

            findings = choose(findings, inside.site, checker, changed)
        for broken in findings:
            if is_excluded(broken.target or broken.reference or "", checker):
                summary.passed["excluded"] += 1
                continue
            if checker.external_only and (broken.target or "").partition("#")[0] not in inside.external_fragments:
                summary.passed["within"] += 1
                continue
            summary.kinds[broken.kind] += 1
            if crawl is not None:
                broken = broken._replace(source=mask(crawl.records.names.get(broken.source, broken.source)))
            yield broken


def _check_external(inside: InternalCheck, asker: Asker, crawl: Crawl | None, step: Step) -> dict[str, Outcome]:
    """The outcomes of requesting the external URIs, except those that are fine."""
    fragments_by_uri = inside.external_fragments
    outcomes: dict[str, Outcome] = {}
    crawled = {} if crawl is None else crawl.outcomes
    for uri in crawled.keys() & fragments_by_uri.keys():
        outcome = _accept(inside.add_missing_fragments(crawled[uri], fragments_by_uri[uri]), inside.checker)
        if _is_reported(outcome):
            outcomes[uri] = outcome
    if not inside.checker.online:
        return outcomes
    excluded = {uri for uri in fragments_by_uri if is_excluded(uri, inside.checker)}
    if excluded:
        inside.summary.passed["excluded"] += len(excluded)
    remaining = {
        uri: {fragment for fragment in fragments if not is_excluded(f"{uri}#{fragment}", inside.checker)}
        for uri, fragments in fragments_by_uri.items()
        if uri not in crawled and (crawl is None or not crawl.has_passed(uri)) and uri not in excluded
    }
    for count, outcome in enumerate(asker.ask(remaining, remaining), 1):
        inside.summary.asked += not outcome.cached
        inside.summary.recalled += outcome.cached
        outcome = _accept(outcome, inside.checker)
        if _is_reported(outcome):
            outcomes[outcome.uri] = outcome
        step("asked", count, len(remaining))
    for outcome in asker.ask_services({uri: outcome for uri, outcome in outcomes.items() if outcome.kind is not None}):
        inside.summary.asked += 1
        outcomes[outcome.uri] = outcome
    return outcomes


def _accept(outcome: Outcome, checker: Checker) -> Outcome:
    """The outcome, with the kind None if the settings accept its status or its redirect."""
    allowed = checker.allowed_redirects if outcome.kind == "moved-permanently" else ()
    if any(fits(outcome.uri, start) and fits(outcome.page, end) for start, end in allowed):
        return outcome._replace(kind=None, permanent=False)
    status = outcome.status
    if status is None or outcome.kind != kind_of_status(status):
        return outcome
    host = URI(outcome.final or outcome.uri).host or ""
    accepted = any(low <= status <= high for low, high in host_settings(checker, host).accept)
    return outcome._replace(kind=None) if accepted else outcome


def _is_reported(outcome: Outcome) -> bool:
    return outcome.kind is not None or bool(outcome.missing) or outcome.permanent
