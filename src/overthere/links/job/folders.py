"""Lists the files of a folder, except those of version control, those that Git ignores and installed packages."""

from __future__ import annotations

import os
from collections.abc import Iterator

from overthere.links.job.files import is_within, repository_of, size_of
from overthere.links.job.gitignore import IgnoredFiles

SKIPPED = -1
"""The size that marks a file or folder that is not read."""
_VERSION_CONTROL = frozenset((".git", ".hg", ".svn", ".jj"))
_PACKAGES_FOLDER = "node_modules"
_ENVIRONMENT_FILE = "pyvenv.cfg"
"""The file that marks a virtual environment of Python."""
MAX_DEPTH = 100
"""The deepest nesting of folders below a source: resolving a link takes time for each level."""


def list_files(root: str, *, with_ignored: bool = False) -> Iterator[tuple[str, int]]:
    """Yield the files and links below a folder with their sizes, and folders that are unreadable or nested too
    deep with the size 0.

    Nothing below `.git` and its like is listed.  Ignored files of Git, `node_modules` and virtual environments have
    the size `SKIPPED`, unless the folder itself is one of these or inside one; `with_ignored` lists their files too.
    """
    ignored = None if with_ignored else _ignored_files(root)
    real = os.path.realpath(root)
    folders = [root]
    while folders:
        folder = folders.pop()
        if folder.count(os.sep, len(root)) > MAX_DEPTH:
            yield folder, 0
            continue
        try:
            with os.scandir(folder) as entries:
                sorted_entries = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            yield folder, 0
            continue
        if not with_ignored and folder != root and any(entry.name == _ENVIRONMENT_FILE for entry in sorted_entries):
            yield folder, SKIPPED
            continue
        subfolders: list[str] = []
        for entry in sorted_entries:
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.name in _VERSION_CONTROL:
                continue
            if (is_folder and entry.name == _PACKAGES_FOLDER and not with_ignored) or (
                ignored is not None and f"{real}/{entry.path[len(root) :].lstrip(os.sep)}{'/' * is_folder}" in ignored
            ):
                yield entry.path, SKIPPED
            elif is_folder:
                subfolders.append(entry.path)
            elif entry.is_symlink():
                yield entry.path, size_of(entry.path) if is_within(entry.path, root) else 0
            else:
                yield entry.path, size_of(entry.path)
        folders += reversed(subfolders)


def _ignored_files(root: str) -> IgnoredFiles | None:
    """Return the ignored files below a folder; None outside of repositories, or if Git ignores the folder itself."""
    if (top := repository_of(root)) is None:
        return None
    ignored = IgnoredFiles(top)
    return None if f"{os.path.realpath(root)}/" in ignored else ignored
