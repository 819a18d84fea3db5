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
_WITHOUT_PARTS = re.compile(r"(?:\*(?=\.[^./]*+\Z))?[^*?\[\\]*+")
"""A pattern that a lookup decides: a name, a path, or "*" and the last ending of a name."""
Fits: TypeAlias = Callable[[str], object]


_DEEPEST = 100
"""Folders in one another that are looked at."""
_MOST = 5000
"""Patterns of a repository that are read: each path is compared with all that stand above it."""
_LONGEST_NAME = 255
"""Characters of a name: no file system has a longer one, and comparing it takes the square of its length."""
_STEPS = 10_000_000
"""Comparisons of names with patterns, for all paths of a repository: beyond them only the last patterns of a file
fit, and those that a lookup decides."""
_STEPS_PER_NAME = 200
"""Comparisons that each name of a path adds to them: the folders of honest repositories have fewer such patterns."""
_MOST_FOLDERS = 10_000


class IgnoredFiles:
    """The patterns of a repository, each file of them read once."""

    def __init__(self, top: str) -> None:
        """top: the absolute path of the root of the repository."""
        self.top = top
        self._remaining_patterns = _MOST
        self._remaining_steps = _STEPS
        self._patterns: dict[str, _PatternFile] = {}
        """The patterns of each folder that exists."""
        self._ignored: dict[str, bool] = {}
        """Whether each folder, or one above it, is ignored."""

    def __contains__(self, path: str) -> bool:
        """Whether Git ignores a file or folder, which need not exist; a folder has a slash at its end."""
        below = os.path.relpath(path, self.top).replace(os.sep, "/")
        pieces = below.split("/")
        if below == "." or pieces[0] == ".." or len(pieces) > _DEEPEST or max(map(len, pieces)) > _LONGEST_NAME:
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
        folder = self.top
        files: list[tuple[_PatternFile, list[str]]] = []
        for depth, piece in enumerate(pieces):
            file = self._patterns.get(folder)
            if file is None:
                if not os.path.isdir(folder):
                    break  # nothing is in it, and no patterns
                file = self._patterns[folder] = _read(folder, self._remaining_patterns)
                self._remaining_patterns -= len(file.exact) + len(file.others)
            if any(file):
                files.append((file, pieces[depth:]))
            folder = os.path.join(folder, piece)
        verdicts = (self._verdict(file, below, is_folder) for file, below in reversed(files))
        return next((verdict for verdict in verdicts if verdict is not None), False)

    def _verdict(self, file: _PatternFile, below: list[str], is_folder: bool) -> bool | None:
        """Whether the last pattern of a file that fits ignores a path; None if none fits."""
        name = below[-1]
        keys = [(key, False) for key in (name, f"*{name[name.rfind('.') :]}", f"/{'/'.join(below)}")]
        keys += [(key, True) for key, _ in keys if is_folder]
        last, verdict = max((file.exact[key] for key in keys if key in file.exact), default=(-1, None))
        if not file.others:
            return verdict
        cost = sum(1 + len(one) ** 2 // 1024 for one in below)
        self._remaining_steps += _STEPS_PER_NAME * cost
        for number, pattern in file.others:
            if number < last or self._remaining_steps < 0:
                break
            if is_folder or not pattern.is_for_folders:
                self._remaining_steps -= cost * (len(pattern.parts) if pattern.is_costly else 1)
                if _fits(below, pattern.parts):
                    return not pattern.is_negated
        return verdict


class _Pattern(NamedTuple):
    key: str | None
    """What a lookup finds it by: a name, "*" and an ending, or "/" and a path; None if it has parts."""
    parts: tuple[Fits | None, ...]
    """For each piece of a path below the folder of the file that has the pattern; None: any number of folders."""
    is_negated: bool
    is_for_folders: bool
    is_costly: bool
    """Whether the pattern has "**" before more than a name, so that a comparison takes long."""


class _PatternFile(NamedTuple):
    exact: dict[tuple[str, bool], tuple[int, bool]]
    """By key, and whether they are for folders: the number of the last such pattern, and whether it ignores."""
    others: list[tuple[int, _Pattern]]
    """Those with parts and their numbers, the last one first."""


def _read(folder: str, most: int) -> _PatternFile:
    try:
        with open_file(os.path.join(folder, ".gitignore")) as file:
            lines = file.read(_READ).decode("utf-8", "replace").splitlines()
    except OSError:
        lines = []
    read = _PatternFile({}, [])
    for number, line in enumerate(islice((one for one in lines if one.strip() and not one.startswith("#")), most)):
        pattern = _pattern(line)
        if pattern.key is None:
            read.others.append((number, pattern))
        else:
            read.exact[pattern.key, pattern.is_for_folders] = number, not pattern.is_negated
    read.others.reverse()
    return read


def _pattern(line: str) -> _Pattern:
    line = _TRAILING.sub("", line)
    is_negated = line.startswith("!")
    line = line[is_negated:]
    path = line.rstrip("/")
    parts = path.split("/")
    if _WITHOUT_PARTS.fullmatch(path):
        key = path if len(parts) == 1 else f"/{'/'.join(filter(None, parts))}"
        return _Pattern(key, (), is_negated, line.endswith("/"), False)
    if len(parts) == 1:  # in any folder
        parts.insert(0, _FOLDERS)
    elif parts[-1] == _FOLDERS:  # what is in the folder, and not the folder
        parts.append("*")
    try:
        made = tuple(None if one == _FOLDERS else _expression(one) for one in parts if one)
    except re.error:  # a range that ends before it begins
        made = ()
    return _Pattern(None, made, is_negated, line.endswith("/"), None in made and len(made) > 2)


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
