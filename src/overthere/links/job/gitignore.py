"""Finds the files that Git ignores, from the `.gitignore` files of a repository (gitignore(5)), without running Git."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Callable
from itertools import islice, pairwise
from typing import NamedTuple, TypeAlias

from overthere.links.job.files import open_file

_MAX_FILE_BYTES = 1 << 18
_TRAILING_SPACES = re.compile(r"(?<![\\ ])((?:\\\\)*+(?:\\ )?+) ++\Z")
_CHARACTER = r"\\.|."
_SET_ITEM = rf"\[:(?P<name>[^\]]{{0,20}}):\]|(?P<first>{_CHARACTER})(?:-(?!\])(?P<last>{_CHARACTER}))?+"
_PLAIN_ITEM = re.sub(r"\?P<\w+>", "?:", _SET_ITEM)
_PIECE = rf"\*++|\?|\[[!^]?+(?>{_PLAIN_ITEM})?+(?:(?!\])(?>{_PLAIN_ITEM}))*+(?P<end>\])?+|{_CHARACTER}"
_PIECES, _ITEMS = re.compile(_PIECE, re.DOTALL), re.compile(_SET_ITEM, re.DOTALL)
_NAMED_SETS = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "blank": r" \t", "cntrl": r"\0-\x1f\x7f", "digit": "0-9", "graph": "!-~",
    "lower": "a-z", "print": " -~", "punct": r"!-/:-@\[-`{-~", "space": r" \t\n\r", "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}  # fmt: skip
_ANY_FOLDERS = "**"
"""The part of a pattern that matches any number of folders."""
_NO_MATCH = re.compile(r"(?!)").fullmatch
_LOOKUP_PATTERN = re.compile(r"(?:\*(?=\.[^./]*+\Z))?[^*?\[\\]*+")
"""Patterns found by a dictionary lookup: a name, a path, or "*" and the last suffix of a name."""
Matcher: TypeAlias = Callable[[str], object]


_MAX_DEPTH = 100
"""The deepest path that is checked, in names."""
_MAX_PATTERNS = 5000
"""Patterns of a repository that are read: each path is compared with all those of the folders above it."""
_MAX_NAME_LENGTH = 255
"""Characters of a name: no file system allows more, and comparing takes quadratic time."""
_MAX_STEPS = 10_000_000
"""Comparisons of names with patterns, for all paths of a repository; beyond them only the last patterns of a file
are tried, and those found by a lookup."""
_STEPS_PER_NAME = 200
"""Comparisons that each name of a path adds to that budget: honest repositories need fewer."""
_MAX_CACHED_FOLDERS = 10_000


class IgnoredFiles:
    """The set of files that Git ignores in a repository; each `.gitignore` is read once."""

    def __init__(self, top: str) -> None:
        """top: the absolute path of the root of the repository."""
        self.top = top
        self._remaining_patterns = _MAX_PATTERNS
        self._remaining_steps = _MAX_STEPS
        self._patterns: dict[str, _PatternFile] = {}
        """The patterns of each folder that exists."""
        self._ignored: dict[str, bool] = {}
        """Whether each folder, or one above it, is ignored."""

    def __contains__(self, path: str) -> bool:
        """Whether Git ignores a file or folder, which need not exist; a folder has a slash at its end.

        Git compares octets: here each is the character of its number.
        """
        relative = os.path.relpath(path, self.top).replace(os.sep, "/")
        pieces = relative.split("/")
        if relative == "." or pieces[0] == ".." or len(pieces) > _MAX_DEPTH or max(map(len, pieces)) > _MAX_NAME_LENGTH:
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
            if len(self._ignored) >= _MAX_CACHED_FOLDERS:
                self._ignored.clear()
            self._ignored[name] = is_ignored
        return is_ignored

    def _is_match(self, pieces: list[str], is_folder: bool) -> bool:
        """Whether the last matching pattern ignores the path; files in deeper folders come later."""
        folder = self.top
        files: list[tuple[_PatternFile, list[str]]] = []
        for depth, piece in enumerate(pieces):
            file = self._patterns.get(folder)
            if file is None:
                if not os.path.isdir(folder):
                    break  # it has no files, and so no patterns
                file = self._patterns[folder] = _read_patterns(folder, self._remaining_patterns)
                self._remaining_patterns -= len(file.exact) + len(file.with_parts)
            if any(file):
                files.append((file, [os.fsencode(name).decode("latin-1") for name in pieces[depth:]]))
            folder = os.path.join(folder, piece)
        verdicts = (self._find_verdict(file, relative_pieces, is_folder) for file, relative_pieces in reversed(files))
        return next((verdict for verdict in verdicts if verdict is not None), False)

    def _find_verdict(self, file: _PatternFile, pieces: list[str], is_folder: bool) -> bool | None:
        """Return whether the last matching pattern of a file ignores a path; None without a match."""
        name = pieces[-1]
        keys = [(key, False) for key in (name, f"*{name[name.rfind('.') :]}", f"/{'/'.join(pieces)}")]
        keys += [(key, True) for key, _ in keys if is_folder]
        last, verdict = max((file.exact[key] for key in keys if key in file.exact), default=(-1, None))
        if not file.with_parts:
            return verdict
        cost = sum(1 + len(piece) ** 2 // 1024 for piece in pieces)
        self._remaining_steps += _STEPS_PER_NAME * cost
        for number, pattern in file.with_parts:
            if number < last or self._remaining_steps < 0:
                break
            if is_folder or not pattern.is_for_folders:
                self._remaining_steps -= cost * (len(pattern.parts) if pattern.is_costly else 1)
                if _matches_parts(pieces, pattern.parts):
                    return not pattern.is_negated
        return verdict


class _Pattern(NamedTuple):
    key: str | None
    """The key for lookups: a name, "*" and a suffix, or "/" and a path; None if the pattern has parts."""
    parts: tuple[Matcher | None, ...]
    """A matcher for each name of a path below the folder of the `.gitignore`; None: any number of folders."""
    is_negated: bool
    is_for_folders: bool
    is_costly: bool
    """Whether the pattern has "**" and more than one other part, so that a comparison takes long."""


class _PatternFile(NamedTuple):
    exact: dict[tuple[str, bool], tuple[int, bool]]
    """(key, is_for_folders) -> the number of the last such pattern, and whether it ignores."""
    with_parts: list[tuple[int, _Pattern]]
    """The patterns with parts and their numbers, the last one first."""


def _read_patterns(folder: str, limit: int) -> _PatternFile:
    patterns = _PatternFile({}, [])
    path = os.path.join(folder, ".gitignore")
    try:
        if os.path.islink(path):  # Git follows none
            return patterns
        with open_file(path, folder) as file:
            text = file.read(_MAX_FILE_BYTES).removeprefix(codecs.BOM_UTF8).decode("latin-1")
    except OSError:
        return patterns
    lines = (line.removesuffix("\r") for line in text.split("\n"))
    for number, line in enumerate(islice((line for line in lines if line and not line.startswith("#")), limit)):
        pattern = _parse_pattern(line)
        if pattern.key is None:
            patterns.with_parts.append((number, pattern))
        else:
            patterns.exact[pattern.key, pattern.is_for_folders] = number, not pattern.is_negated
    patterns.with_parts.reverse()
    return patterns


def _parse_pattern(line: str) -> _Pattern:
    line = _TRAILING_SPACES.sub(r"\1", line)
    is_negated = line.startswith("!")
    line = line[is_negated:]
    path = line.removesuffix("/")
    parts = _split(path.removeprefix("/"))
    if _LOOKUP_PATTERN.fullmatch(path):
        key = f"/{'/'.join(parts)}" if "/" in path else path
        return _Pattern(key, (), is_negated, line.endswith("/"), False)
    if "/" not in path:
        parts.insert(0, _ANY_FOLDERS)
    elif parts[-1] == _ANY_FOLDERS:  # matches the contents of the folder, not the folder
        parts.append("*")
    matchers = tuple(None if part == _ANY_FOLDERS else _compile_part(part) for part in parts)
    return _Pattern(None, matchers, is_negated, line.endswith("/"), None in matchers and len(matchers) > 2)


def _split(path: str) -> list[str]:
    """Split a pattern at its slashes, which a backslash may escape; one in a set is a character that no name has."""
    slashes = [match.span() for match in _PIECES.finditer(path) if match[0] in ("/", "\\/")]
    parts = (path[end:start] for (_, end), (start, _) in pairwise([(0, 0), *slashes, (len(path), len(path))]))
    return [_ANY_FOLDERS if part.startswith(_ANY_FOLDERS) and not part.strip("*") else part for part in parts]


def _compile_part(part: str) -> Matcher:
    """Compile a part without a slash.  Each "*" takes as little as possible; only the last one can take more."""
    runs = [""]
    for match in _PIECES.finditer(part):
        piece = match[0]
        if piece == "\\" or (piece[0] == "[" and match["end"] is None):  # an escape or a set without its end
            return _NO_MATCH
        if piece[0] == "*":
            runs.append("")
        elif piece == "?":
            runs[-1] += "."
        elif piece[0] == "[":
            is_negated = piece[1] in "!^"
            items = [_compile_item(item) for item in _ITEMS.finditer(piece, 1 + is_negated, len(piece) - 1)]
            if None in items:
                return _NO_MATCH
            runs[-1] += f"[{'^' * is_negated}{''.join(filter(None, items))}]"
        else:
            runs[-1] += re.escape(piece[-1])
    first, *middle = runs
    last = f".*{middle.pop()}" if middle else ""
    return re.compile(f"{first}{''.join(f'(?>.*?{run})' for run in middle)}{last}", re.DOTALL).fullmatch


def _compile_item(item: re.Match[str]) -> str | None:
    """Compile an item of a set: a named set, a character or a range; None for an unknown name."""
    if item["first"] is None:
        return _NAMED_SETS.get(item["name"])
    first, last = item["first"][-1], (item["last"] or "")[-1:]
    return re.escape(first) + (f"-{re.escape(last)}" if last > first else "")


def _matches_parts(pieces: list[str], parts: tuple[Matcher | None, ...]) -> bool:
    """Whether a path matches a pattern; after a mismatch only the last "**" so far takes one more folder."""
    if len(parts) == 2 and parts[0] is None and parts[1] is not None:
        return bool(parts[1](pieces[-1]))  # a name in any folder, the most common form
    piece = part = 0
    retry: tuple[int, int] | None = None
    while piece < len(pieces):
        matcher = parts[part] if part < len(parts) else _NO_MATCH
        if matcher is None:
            part += 1
            retry = piece, part
        elif matcher(pieces[piece]):
            piece, part = piece + 1, part + 1
        elif retry is not None:
            piece, part = retry[0] + 1, retry[1]
            retry = piece, part
        else:
            return False
    return bool(parts) and all(matcher is None for matcher in parts[part:])
