"""The source to which a reference leads: by file name, and by the addresses that the generator gives to pages."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from overthere.broken.generators.front_matter import front_matter_end
from overthere.broken.generators.project import Project, folders_above
from overthere.ground.caches import cached_property
from overthere.links.job.files import is_inside, open_file

_HEAD_BYTES = 1 << 13
_MAX_VALUES = 50
"""Maximum number of values of a front matter field."""
_MAX_BASES = 40
"""Maximum number of folders from which references of a page are resolved; with more, targets may leave the site."""
_MAX_LOOKUPS = 1_000_000
"""Maximum number of look-ups in a check."""
_LOOKUPS_PER_PAGE = 5
"""The number of look-ups that reading a page's front matter or the names in a folder counts for."""
_CHARACTERS_PER_LOOKUP = 100
"""Characters of an address that count for another look-up."""
_SKIPPED = frozenset((".git", "node_modules", "__pycache__", ".venv", "venv"))
_FIELD = re.compile(r"""^["']?([A-Za-z_]+)["']?[ \t]*+[:=][ \t]*+(.*+)$""", re.MULTILINE)
_VALUE = re.compile(r"""[^\s"'\[\],#]++(?:[ \t]++[^\s"'\[\],#]++)*+""")
_ITEM = re.compile(r"[ \t]*+-[ \t]++[\"']?([^\"'#\n]++)")
_ENDINGS = re.compile(r"(?:(?:/|\A)(?:index(?:\.html?)?|))?/?\Z|\.html?\Z", re.IGNORECASE)


class Answer(NamedTuple):
    """The result of looking up a reference."""

    path: str | None
    """The file, or the folder of a list of pages; None if nothing is known."""
    leaves: bool = False
    """Whether it leads out of the site."""


class LookupBudget:
    """The number of look-ups that a check may still make: an untrusted configuration may cause any number."""

    def __init__(self) -> None:
        self.remaining_lookups: int = _MAX_LOOKUPS

    @property
    def is_spent(self) -> bool:
        return self.remaining_lookups <= 0


class Pages:
    """The pages of a project by address; when the budget is spent, all references count as leaving the site."""

    def __init__(self, project: Project, budget: LookupBudget) -> None:
        self.project = project
        self._budget = budget
        self._last: tuple[str, list[str]] = ("", [])
        self._last_top: tuple[str, str] = ("", "")

    def find_source(self, source: str, path: str, is_markup: bool) -> Answer:
        """The source to which a reference leads.

        source: the absolute path of the document; path: the decoded path of the reference.
        is_markup: whether it is a link or an image of Markdown or reStructuredText, which the generator may rewrite.
        """
        project = self.project
        self._budget.remaining_lookups -= 1
        if path.startswith("/"):
            return self._find((path[len(project.prefix) :],)) if path.startswith(project.prefix) else Answer(None)
        if is_markup and project.rewrites and not self._budget.is_spent:
            mounts = () if project.generator == "mkdocs" else project.mounts  # which looks only beside the page
            self._budget.remaining_lookups -= len(mounts)
            for folder in (os.path.dirname(source), *(mount.folder for mount in mounts)):
                file = os.path.normpath(os.path.join(folder, path))
                if os.path.isfile(file):
                    return Answer(file) if is_inside(file, self._top(source)) else Answer(None, leaves=True)
        if self._budget.is_spent:
            return Answer(None, leaves=True)
        if self._last[0] != source:
            self._budget.remaining_lookups -= len(project.mounts)
            self._last = source, list(islice(self._bases(source), _MAX_BASES))
        bases = self._last[1]
        answer = self._find([posixpath.join(base, path) for base in dict.fromkeys(bases)])
        return answer if answer.path or len(bases) < _MAX_BASES else Answer(None, leaves=True)

    def _find(self, addresses: list[str] | tuple[str, ...]) -> Answer:
        """The first existing file of several addresses below the root of the site."""
        leaves = bool(addresses)
        for candidate in addresses:
            address = _normal(candidate)
            if address is None:
                continue
            leaves = False
            if (page := self.by_address.get(_key(address))) is not None:
                return Answer(page)
            folders = (*self.project.roots, *(mount.folder for mount in self.project.mounts))
            self._budget.remaining_lookups -= len(folders)
            if self._budget.is_spent:
                return Answer(None, leaves=True)
            for folder in folders:
                file = os.path.join(folder, address)
                if os.path.isfile(file):
                    return Answer(file)
                index = os.path.join(file, "index.html")
                if os.path.isfile(index):
                    return Answer(index)
        return Answer(None, leaves)

    def _bases(self, source: str) -> Iterator[str]:
        """Yield the addresses of folders from which relative references of a page are resolved, with duplicates."""
        ending = self.project.ending
        is_index = self._is_index(source)
        for mount in self.project.mounts:
            if not source.startswith(os.path.join(mount.folder, "")):
                continue
            for address in self._addresses(mount.folder, mount.route, source):
                if is_index or ending != ".html":
                    yield f"{address}/" if address or not is_index else ""
                if not ending if is_index else ending != "/":
                    folder = posixpath.dirname(address)
                    yield f"{folder}/" if folder else ""

    def _top(self, source: str) -> str:
        """The outermost folder that may be read: that of the repository."""
        folder = os.path.dirname(os.path.abspath(self.project.config or source))
        if self._last_top[0] != folder:
            self._last_top = folder, folders_above(folder)[-1]
        return self._last_top[1]

    def _is_index(self, source: str) -> bool:
        return os.path.splitext(os.path.basename(source))[0] in self.project.indexes

    @cached_property
    def by_address(self) -> Mapping[str, str]:
        """The sources by the keys of their addresses; certain addresses take precedence over possible ones."""
        sources: dict[str, str] = {}
        lists: dict[str, str] = {}
        for mount in self.project.mounts:
            for file in self._files(mount.folder):
                if self._budget.is_spent:
                    break
                for address in self._addresses(mount.folder, mount.route, file):
                    sources.setdefault(_key(address), file)
                    self._budget.remaining_lookups -= 1 + len(address) // _CHARACTERS_PER_LOOKUP
                    if self.project.generator == "hugo":
                        for folder in (posixpath.dirname(address), address.partition("/")[0]):
                            lists.setdefault(_key(folder), os.path.dirname(file))
        return lists | sources

    def _files(self, top: str) -> Iterator[str]:
        for folder, folders, files in os.walk(top):
            below = os.path.relpath(folder, top).replace(os.sep, "/")
            folders[:] = sorted(
                name
                for name in folders
                if name not in _SKIPPED and (name if below == "." else f"{below}/{name}") not in self.project.outputs
            )
            names = sorted(files, key=lambda name: (name.startswith("README"), name))  # index.md takes precedence
            pages = [name for name in names if name.endswith(self.project.suffixes)]
            yield from (os.path.join(folder, name) for name in pages)
            self._budget.remaining_lookups -= _LOOKUPS_PER_PAGE * (1 + len(pages)) + len(files) // 10
            if self._budget.is_spent:
                return

    def _addresses(self, top: str, route: str, file: str) -> Iterator[str]:
        below = os.path.relpath(file, top).replace(os.sep, "/")
        suffix = next((ending for ending in self.project.suffixes if below.endswith(ending)), "")
        stem = below[: len(below) - len(suffix)]
        front = front_matter(file, self._top(file)) if self.project.keys else {}
        stems = [stem]
        if self.project.addresses is not None:
            fields = {key: front[key] for key in self.project.keys if key in front}
            stems += self.project.addresses(self.project, stem, fields)
        for address in stems:
            folder, _, last = address.rpartition("/")
            if last in self.project.indexes:
                address = folder
            yield f"{route}{address}".strip("/")
            if route and address != stem:
                yield address.strip("/")  # an address in front matter may be relative to the site's root


def front_matter(file: str, top: str) -> dict[str, list[str]]:
    """The fields of a page's front matter that are texts or lists of texts; none if it is a symlink out of `top`."""
    try:
        with open_file(file, top) as opened:
            content = opened.read(_HEAD_BYTES)
    except OSError:
        return {}
    fields: dict[str, list[str]] = {}
    key, is_open = "", False
    for line in content[: front_matter_end(content)].decode("utf-8", "replace").split("\n")[1:]:
        if (field := None if is_open else _FIELD.match(line)) is not None:
            key = field[1].lower()  # Hugo ignores the case
            fields[key] = []
        text = line if field is None else field[2]
        if is_open or field is not None:
            values = islice(_VALUE.finditer(text), _MAX_VALUES - len(fields[key]))
            fields[key] += [match[0].strip() for match in values]
            is_open = "]" not in text and (is_open or text.startswith("["))  # a list of several lines
        elif key and (item := _ITEM.match(line)):
            if len(fields[key]) < _MAX_VALUES:
                fields[key].append(item[1].strip())
        elif line[:1].strip():
            key = ""
    return fields


def _normal(address: str) -> str | None:
    """The address without dot-segments; None if it leaves the site."""
    normal = posixpath.normpath(address.lstrip("/")) if address.strip("/") else ""
    if normal == ".." or normal.startswith("../"):
        return None
    return "" if normal == "." else normal + ("/" if address.endswith("/") and normal else "")


def _key(address: str) -> str:
    """The common key for all forms of an address: `a/b`, `a/b/`, `a/b.html`, `a/b/index.html`."""
    return _ENDINGS.sub("", address).strip("/")
