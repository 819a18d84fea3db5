"""The files of a folder that is a source, without those of version control, what Git ignores and installed packages."""

from __future__ import annotations

import os
from collections.abc import Iterator

from overthere.links.job.files import is_within, repository_of, size_of
from overthere.links.job.gitignore import IgnoredFiles

__all__ = ["LEFT_OUT", "list_files"]

LEFT_OUT = -1
"""The size of what is not read, a file or a whole folder."""
_OF_TOOLS = frozenset((".git", ".hg", ".svn", ".jj"))
_PACKAGES = "node_modules"
_ENVIRONMENT = "pyvenv.cfg"
"""A file that each virtual environment of Python has."""
DEEPEST = 100
"""Folders in one another below a source that are read: to follow a link takes time for each of them."""


def list_files(root: str, *, with_ignored: bool = False) -> Iterator[tuple[str, int]]:
    """The files and links below a folder and their sizes; a folder that cannot be read, or lies too deep, is among
    them.

    Nothing below `.git` and its like is listed.  What Git ignores, `node_modules` and virtual environments have the
    size `LEFT_OUT`, unless the folder itself is one of these or lies within; `with_ignored` reads them.
    """
    ignored = None if with_ignored else _ignored_files(root)
    real = os.path.realpath(root)
    folders = [root]
    while folders:
        folder = folders.pop()
        if folder.count(os.sep, len(root)) > DEEPEST:
            yield folder, 0
            continue
        try:
            with os.scandir(folder) as entries:
                there = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            yield folder, 0
            continue
        if not with_ignored and folder != root and any(entry.name == _ENVIRONMENT for entry in there):
            yield folder, LEFT_OUT
            continue
        below: list[str] = []
        for entry in there:
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.name in _OF_TOOLS:
                continue
            if (is_folder and entry.name == _PACKAGES and not with_ignored) or (
                ignored is not None and f"{real}/{entry.path[len(root) :].lstrip(os.sep)}{'/' * is_folder}" in ignored
            ):
                yield entry.path, LEFT_OUT
            elif is_folder:
                below.append(entry.path)
            elif entry.is_symlink():
                yield entry.path, size_of(entry.path) if is_within(entry.path, root) else 0
            else:
                yield entry.path, size_of(entry.path)
        folders += reversed(below)


def _ignored_files(root: str) -> IgnoredFiles | None:
    """What Git ignores below a folder; None outside of repositories, and where Git ignores the folder itself."""
    if (top := repository_of(root)) is None:
        return None
    found = IgnoredFiles(top)
    return None if f"{os.path.realpath(root)}/" in found else found
