"""Finds the files that Git ignores, by the `.gitignore` files of a repository (gitignore(5)); Git itself is not run."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from itertools import islice
from typing import NamedTuple, TypeAlias

from overthere.links.job.files import open_file

__all__ = ["IgnoredFiles"]

_READ = 1 << 18
_PIECES = re.compile(r"\*++|\?|\[[!^]?\]?[^\]]{0,200}+\]|\\.|.", re.DOTALL)
_TRAILING = re.compile(r"(?<![\\ \t])[ \t]++\Z")
_IN_SETS = re.compile(r"[\\\[&~|]")
"""Characters that are special in a set of a regular expression in Python."""
_FOLDERS = "**"
"""The part of a pattern that fits any number of folders."""
_NO_MATCH = re.compile(r"(?!)").fullmatch
Fits: TypeAlias = Callable[[str], object]


_DEEPEST = 100
"""Folders in one another that are looked at."""
_MOST = 5000
"""Patterns of a repository that are read: each path is compared with all that stand above it."""
_STEPS = 30_000_000
"""Comparisons with "any folders" before a name, for all paths of a repository: beyond them such patterns fit nothing,
and more is read."""
_MOST_FOLDERS = 10_000


class IgnoredFiles:
    """The patterns of a repository, each file of them read once."""

    def __init__(self, top: str) -> None:
        """top: the absolute path of the root of the repository."""
        self.top = top
        self._remaining_patterns = _MOST
        self._remaining_steps = _STEPS
        self._patterns: dict[str, list[_Pattern]] = {}
        """The patterns of each folder that exists."""
        self._ignored: dict[str, bool] = {}
        """Whether each folder, or one above it, is ignored."""

    def __contains__(self, path: str) -> bool:
        """Whether Git ignores a file or folder, which need not exist; a folder has a slash at its end."""
        below = os.path.relpath(path, self.top).replace(os.sep, "/")
        pieces = below.split("/")
        if below == "." or pieces[0] == ".." or len(pieces) > _DEEPEST:
            return False
        # Git ignores everything below an ignored folder.
        if len(pieces) > 1 and self._is_ignored_folder(pieces[:-1]):
            return True
        return self._is_match(pieces, path.endswith("/"))

    def _is_ignored_folder(self, pieces: list[str]) -> bool:
        name = "/".join(pieces)
        is_ignored = self._ignored.get(name)
        if is_ignored is None:
            is_ignored = (len(pieces) > 1 and self._is_ignored_folder(pieces[:-1])) or self._is_match(pieces, True)
            if len(self._ignored) >= _MOST_FOLDERS:
                self._ignored.clear()
            self._ignored[name] = is_ignored
        return is_ignored

    def _is_match(self, pieces: list[str], is_folder: bool) -> bool:
        """The last pattern that fits counts; files in deeper folders come later."""
        ignored = False
        folder = self.top
        for depth, piece in enumerate(pieces):
            patterns = self._patterns.get(folder)
            if patterns is None:
                if not os.path.isdir(folder):
                    break  # nothing is in it, and no patterns
                patterns = self._patterns[folder] = _read(folder, self._remaining_patterns)
                self._remaining_patterns -= len(patterns)
            below = pieces[depth:]
            for one in patterns:
                if is_folder or not one.is_for_folders:
                    if one.is_costly:
                        self._remaining_steps -= len(below) * len(one.parts)
                        if self._remaining_steps < 0:
                            continue
                    if _fits(below, one.parts):
                        ignored = not one.is_negated
            folder = os.path.join(folder, piece)
        return ignored


class _Pattern(NamedTuple):
    parts: tuple[Fits | None, ...]
    """For each piece of a path below the folder of the file that has the pattern; None: any number of folders."""
    is_negated: bool
    is_for_folders: bool
    is_costly: bool
    """Whether the pattern has "**" before more than a name, so that a comparison takes long."""


def _read(folder: str, most: int) -> list[_Pattern]:
    try:
        with open_file(os.path.join(folder, ".gitignore")) as file:
            lines = file.read(_READ).decode("utf-8", "replace").splitlines()
    except OSError:
        return []
    patterns = (line for line in lines if line.strip() and not line.startswith("#"))
    return [_pattern(line) for line in islice(patterns, most)]


def _pattern(line: str) -> _Pattern:
    line = _TRAILING.sub("", line)
    is_negated = line.startswith("!")
    line = line[is_negated:]
    path = line.rstrip("/")
    parts = path.split("/")
    if len(parts) == 1:  # in any folder
        parts.insert(0, _FOLDERS)
    elif parts[-1] == _FOLDERS:  # what is in the folder, and not the folder
        parts.append("*")
    try:
        made = tuple(None if one == _FOLDERS else _expression(one) for one in parts if one)
    except re.error:  # a range that ends before it begins
        made = ()
    return _Pattern(made, is_negated, line.endswith("/"), None in made and len(made) > 2)


def _expression(part: str) -> Fits:
    """What a part without a slash fits.  Each "*" takes as little as it can, and only the last one more."""
    runs = [""]
    for piece in _PIECES.findall(part):
        if piece[0] == "*":
            runs.append("")
        elif piece == "?":
            runs[-1] += "."
        elif piece[0] == "[" and len(piece) > 1:
            inner = _IN_SETS.sub(r"\\\g<0>", piece[1:-1]).replace("--", "-\\-")
            runs[-1] += f"[^{inner[1:]}]" if inner[:1] in "!^" else f"[{inner}]"
        else:
            runs[-1] += re.escape(piece[-1])
    first, *middle = runs
    last = f".*{middle.pop()}" if middle else ""
    return re.compile(f"{first}{''.join(f'(?>.*?{run})' for run in middle)}{last}", re.DOTALL).fullmatch


def _fits(pieces: list[str], parts: tuple[Fits | None, ...]) -> bool:
    """Whether a path fits a pattern; of its "any folders" only the last can be longer than it was first taken."""
    if len(parts) == 2 and parts[0] is None and parts[1] is not None:
        return bool(parts[1](pieces[-1]))  # a name in any folder, as most are
    piece = part = 0
    again: tuple[int, int] | None = None
    while piece < len(pieces):
        expression = parts[part] if part < len(parts) else _NO_MATCH
        if expression is None:
            part += 1
            again = piece, part
        elif expression(pieces[piece]):
            piece, part = piece + 1, part + 1
        elif again is not None:
            piece, part = again[0] + 1, again[1]
            again = piece, part
        else:
            return False
    return bool(parts) and all(one is None for one in parts[part:])
