"""Changed files only: findings in files that changed since a Git revision, and findings about them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import groupby, pairwise
from pathlib import Path
from urllib.parse import unquote_to_bytes

from overthere.broken.fixing import container_file
from overthere.broken.git import open_repository
from overthere.broken.model import Broken, Checker
from overthere.broken.site import Site
from overthere.ground.display import file_path


def changed_files(folder: str, revision: str) -> frozenset[str]:
    """The files of a folder's repository that were changed, added, renamed or removed since a revision.

    Untracked new files count; ignored files do not.  All files of a submodule count if another commit of it is
    recorded; uncommitted changes within a submodule are not found.

    Returns: their real paths, both paths of a renamed file.  A path that ends with a separator is a submodule.

    Raises: ValueError if there is no repository, no such revision, or no Git.
    """
    if revision.startswith("-"):  # Git would parse it as an option
        raise ValueError(f"{revision} is not a revision")
    with open_repository(folder) as git:
        names = git.run(
            "diff", "--name-only", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "-z",
            f"{revision}^{{commit}}", "--",
        )  # fmt: skip
        names += git.run("ls-files", "--others", "--exclude-standard", "-z")
        recorded = git.run(
            "diff", "--cached", "--raw", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none",
            "--no-abbrev", "-z", f"{revision}^{{commit}}", "--",
        )  # fmt: skip
        within = [f"{name}/" for modes, name in pairwise(recorded.split("\0")) if _SUBMODULE in modes.split(" ")[:2]]
        return frozenset(os.path.join(git.top, name) for name in (*names.split("\0"), *within) if name)


_SUBMODULE = "160000"
"""The mode of an entry that is a submodule."""


def choose(findings: Iterable[Broken], site: Site, checker: Checker, changed: frozenset[str]) -> Iterator[Broken]:
    """Yield the findings in changed files, and those whose target is or was a changed file."""
    roots = [os.path.realpath(root) for root in site.around]
    names = {
        os.path.relpath(path, root).replace(os.sep, "/")
        for path in changed
        for root in roots
        if Path(path).is_relative_to(root)
    }
    container = ""
    for source, group in groupby(findings, lambda finding: finding.source):
        name = file_path(source)
        if not os.path.lexists(name) and (file := container_file(source, container)):
            name = container = file
        real = os.path.realpath(name)
        link = os.path.join(os.path.realpath(os.path.dirname(name)), os.path.basename(name))  # a changed symlink
        is_changed = not changed.isdisjoint((real, link)) or any(
            os.path.join(folder, "") in changed for folder in Path(real).parents
        )
        for finding in group:
            if is_changed or not names.isdisjoint(_served_names(finding, site, checker)):
                yield finding


def _served_names(finding: Broken, site: Site, checker: Checker) -> set[str]:
    """The names of the files that a server may send for the target of a finding."""
    path = None if finding.target is None else site.path_below(finding.target)
    if path is None:
        return set()
    name = os.fsdecode(unquote_to_bytes(path))
    folder = f"{name.rstrip('/')}/".lstrip("/")
    return {
        name, *(f"{folder}{index}" for index in checker.indexes), *(f"{name}.{suffix}" for suffix in checker.extensions)
    }  # fmt: skip
