"""Maps URIs to the files of the sources, as a server would (RFC 3986 5.1; RFC 9110 4.2)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from overthere.base import file_uri
from overthere.broken.filters import file_settings
from overthere.broken.generators.addresses import LookupBudget, Pages
from overthere.broken.generators.project import Mount, Project, folders_above
from overthere.broken.keys import document_key
from overthere.broken.model import Checker
from overthere.ground.caches import bounded_cache, cached_property
from overthere.ground.errors import OverthereError
from overthere.links.job.files import is_within
from overthere.links.job.gitignore import IgnoredFiles
from overthere.links.job.task_builder import Task
from overthere.values.encoding import IN_SEGMENT, encode
from overthere.values.normalize import Rung, normal_form
from overthere.values.uri import URI

__all__ = ["Place", "Site"]


class Place(NamedTuple):
    """The thing at a URI."""

    verdict: str
    """"document", "redirected" (a folder without its slash), "outside", or a kind of `KINDS`."""
    document: int = -1
    """Its number, or its `document_key`; -1 if there is none."""
    path: str = ""
    """The path of the file if it is not a document of the sources."""
    name: str = ""
    """The name under which it is served, below the base."""
    instead: str = ""
    """The name that exists instead."""


OUTSIDE = Place("outside")
_FOLDERS = 30
"""Folders around a page that may be the root of a site."""
_PLAIN = re.compile(rb"[A-Za-z0-9._~-]*")
_PLAIN_HOST = re.compile(r"https?://[A-Za-z0-9.-]++(?=[/?]|\Z)", re.IGNORECASE)
"""Of such a URI, normalization changes only the case of scheme and host before the path (RFC 3986 6.2.2.1)."""


_HELD, _LONGEST = 1 << 14, 1000
"""Names whose place on the disk is remembered, and their octets."""


class Site:
    """The files of the sources by the names under which they are served.

    Without a base they are served by their own file: URIs, and what lies beside them, in the current folder or in the
    folder around all sources, is looked up on the disk.  With one, a folder's root is served there.

    A symlink is what it leads to, as servers have it: one that leads nowhere is not there; of a file or folder outside
    the sources only the anchors are read.
    """

    def __init__(self, tasks: Iterable[Task], checker: Checker) -> None:
        _listing.cache_clear()  # of an earlier check
        self.checker = checker
        self.paths: list[str] = []
        """The files, by number."""
        self.link_targets: dict[int, str] = {}
        """Of symlinks that are read, by number: the files that they lead to."""
        self.names: list[bytes] = []
        """Under which they are served."""
        self.roots: list[str | None] = []
        self._prefixes: dict[bytes, str] = {}
        self._within: dict[tuple[str, str], bytes] = {}
        """Folders below their roots, as the names of their files begin."""
        self.files: dict[bytes, int] = {}
        """By name: octets below the base, without escapes."""
        self.folders: set[bytes] = {b""}
        self.around: list[str] = []
        """Folders on the disk in which names are looked up that are not in the table."""
        given = [task for task in tasks if task.name is None]
        self.by_file: bool = not checker.base
        if self.by_file:
            top = _common_folder(given, checker.root)
            prefix = f"{str(file_uri(top)).rstrip('/')}/"
            self.prefixes: tuple[str, ...] = (prefix,)
            self.root: str | None = None if checker.root is None else f"{str(file_uri(checker.root)).rstrip('/')}/"
            """The URI of the folder to which "/" leads."""
            self.around = [top]
        else:
            self.prefixes = tuple(_normal(str(URI(base).join("."))) for base in checker.base)
            top, self.root = "", None
        self.top = top
        seen: set[str] = set()
        beyond: set[int] = set()
        for task in given:
            for path in task.paths:
                name = self._name(path, task.root)
                root = os.path.dirname(path) if task.root is None else task.root
                if not self.by_file and root not in seen:
                    seen.add(root)
                    self.around.append(root)
                if not os.path.islink(path):
                    self.files.setdefault(name, len(self.paths))
                elif os.path.exists(path) and (task.root is None or is_within(path, task.root)):
                    self.files.setdefault(name, len(self.paths))
                    self.link_targets[len(self.paths)] = os.path.realpath(path)
                else:
                    beyond.add(len(self.paths))
                self.paths.append(path)
                self.names.append(name)
                self.roots.append(task.root)
                folder = name
                while (folder := folder.rpartition(b"/")[0]) not in self.folders:
                    self.folders.add(folder)
        self.sources: list[str] = [_show_path(path) for path in self.paths]
        """What the documents are called."""
        self.numbers: dict[str, int] = {
            source: number for number, source in enumerate(self.sources) if number not in beyond
        }
        """By the source that the documents have."""
        self._pages: dict[Project, Pages] = {}
        self._around: tuple[object, list[Pages]] = None, []
        self.budget: LookupBudget = LookupBudget()
        self._looked_up: dict[tuple[bytes, bool], Place | None] = {}
        self._lower: dict[str, bytes] | None = None
        """Names by their lower case; of two that differ in case alone, an empty one."""

    def _name(self, path: str, root: str | None) -> bytes:
        folder, last = os.path.split(path)
        if not self.by_file and root is None:
            return os.fsencode(last)
        top = self.top if self.by_file else root or ""
        if (folder, top) not in self._within:
            below = os.path.relpath(folder or os.curdir, top)
            within = os.fsencode(below).replace(os.fsencode(os.sep), b"/")
            self._within[folder, top] = b"" if within == b"." else within + b"/"
        return self._within[folder, top] + os.fsencode(last)

    def source_of(self, path: str) -> str:
        """What the document of a path is called."""
        return _show_path(path)

    def number_of(self, path: str) -> int | None:
        """The number of a path; None if it is none of the site."""
        return self.numbers.get(_show_path(path))

    def path_below(self, target: str) -> str | None:
        """The path of a URI below the base, escapes as they are; None if it is not below."""
        path = target.partition("#")[0].partition("?")[0]
        for prefix in self.prefixes:
            # Of what is below only: a prefix is normal, dots at the start of its folders' names or not.
            if path.startswith(prefix) and "/." not in path[len(prefix) - 1 :] and "%2" not in path[len(prefix) :]:
                return path[len(prefix) :]
        if plain := _PLAIN_HOST.match(path):
            origin = f"{plain[0].lower()}/"
            if not any(prefix.startswith(origin) for prefix in self.prefixes):
                return None
        try:
            path = _normal(path)
        except (OverthereError, ValueError):
            return None
        for prefix in self.prefixes:
            if path.startswith(prefix):
                return path[len(prefix) :]
            if path == prefix[:-1]:
                return ""
        return None

    def find(self, target: str) -> Place:
        """What a server has for a URI, whose query says nothing to files."""
        below = self.path_below(target)
        if below is None:
            return OUTSIDE
        return self._find(below)

    def _find(self, below: str) -> Place:
        segments = below.split("/")
        name = unquote_to_bytes(below)
        if "%" in below and any(b"/" in unquote_to_bytes(one) or b"\0" in unquote_to_bytes(one) for one in segments):
            return Place("no-document", name=below)
        folder = name.endswith(b"/") or not name
        return self._folder(name.rstrip(b"/") if folder else name) if folder else self.find_file(name)

    def find_file(self, name: bytes) -> Place:
        """What a server has under the name of a file."""
        number = self.files.get(name)
        if number is not None:
            return Place("document", number, name=_show_name(name))
        for extension in self.checker.extensions:  # before a folder of that name, as servers are set up that do this
            number = self.files.get(name + b"." + extension.encode())
            if number is not None:
                return Place("document", number, name=f"{_show_name(name)}.{extension}")
        for extension in {one: None for own in self.checker.files for one in own.extensions}:
            number = self.files.get(name + b"." + extension.encode())
            if number is not None:
                own = file_settings(self.checker, self.sources[number])
                if own is not None and extension in own.extensions:
                    return Place("document", number, name=f"{_show_name(name)}.{extension}")
        if name in self.folders:
            found = self._folder(name)
            return found._replace(verdict="redirected") if found.verdict == "document" else found
        return self._on_disk(name) or self._missing_place(name)

    def _folder(self, name: bytes) -> Place:
        if name in self.folders:
            within = name + b"/" if name else b""
            for index in self.checker.indexes:
                number = self.files.get(within + index.encode())
                if number is not None:
                    return Place("document", number, name=_show_name(within) + index)
        return self._on_disk(name, folder=True) or (
            Place("is-folder", name=_show_name(name)) if name in self.folders else self._missing_place(name, "/")
        )

    def _on_disk(self, name: bytes, folder: bool = False) -> Place | None:
        """What is not in the table: beside the sources, or behind a link that nobody follows; looked up once."""
        if (name, folder) in self._looked_up:
            return self._looked_up[name, folder]
        found = self._find_on_disk(name, folder)
        if len(name) <= _LONGEST and len(self._looked_up) < _HELD:
            self._looked_up[name, folder] = found
        return found

    def _find_on_disk(self, name: bytes, folder: bool) -> Place | None:
        for root in self.around:
            path = os.path.join(os.fsencode(root), name.replace(b"/", os.fsencode(os.sep)))
            if not _is_there(path):
                continue
            if os.path.isdir(path):
                for index in self.checker.indexes:
                    inner = os.path.join(path, index.encode())
                    if os.path.isfile(inner):
                        return _outer_place(inner, "document" if folder else "redirected", name)
                return None if name in self.folders else Place("is-folder", name=_show_name(name))
            if not folder:
                return _outer_place(path, "document", name)
        return None

    def _missing_place(self, name: bytes, after: str = "") -> Place:
        if self._lower is None:
            self._lower = {}
            for one in (*self.files, *self.folders):
                folded = _fold_case(one)
                self._lower[folded] = b"" if folded in self._lower else one
        there = self._lower.get(_fold_case(name))
        if there and there != name:
            return Place("wrong-case", name=_show_name(name), instead=_show_name(there) + after)
        return Place("no-document", name=_show_name(name) + after)

    @cached_property
    def repository(self) -> str | None:
        """The root of the repository of the sources, as an absolute path."""
        start = os.path.abspath(os.path.dirname(self.paths[0]) if self.paths else self.top or os.curdir)
        top = folders_above(start)[-1]
        return top if os.path.exists(os.path.join(top, ".git")) else None

    @cached_property
    def ignored_files(self) -> IgnoredFiles:
        """What Git ignores in the repository, or around the sources."""
        return IgnoredFiles(self.repository or os.path.abspath(self.top or os.curdir))

    def pages_of(self, project: Project) -> Pages:
        """The pages of a project by their addresses."""
        if project not in self._pages:
            self._pages[project] = Pages(project, self.budget)
        return self._pages[project]

    def pages_around(self, project: Project, folder: str) -> list[Pages]:
        """The pages of a project without mounts: each folder around that of a source may be the root of the site."""
        if self._around[0] != (project, folder):
            around = folders_above(folder)[-_FOLDERS:]
            public = tuple(os.path.join(one, name) for one in around for name in ("public", "static"))
            known = (
                project._replace(mounts=(Mount(one),), roots=public[2 * number :]) for number, one in enumerate(around)
            )
            self._around = (project, folder), [self.pages_of(one) for one in known]
        return self._around[1]

    def place_of(self, path: str) -> Place:
        """The document of an absolute path."""
        number = self._numbers.get(path)
        if number is None:
            return _outer_place(os.fsencode(os.path.relpath(path)), "document", os.fsencode(os.path.relpath(path)))
        return Place("document", number, name=self.name_of(number))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        """The numbers of the files by their absolute paths."""
        return {os.path.abspath(path): number for number, path in enumerate(self.paths)}

    def name_of(self, number: int) -> str:
        """The name under which a file is served."""
        return _show_name(self.names[number])

    def uri(self, number: int) -> str:
        """The URI of a file, by which it was retrieved."""
        folder, slash, last = self.names[number].rpartition(b"/")
        if folder not in self._prefixes:
            self._prefixes[folder] = self.uri_of(_show_name(folder + slash))
        if _PLAIN.fullmatch(last):
            return self._prefixes[folder] + last.decode()
        return self._prefixes[folder] + encode(last, "segment", keep=IN_SEGMENT)

    def uri_of(self, name: str) -> str:
        """The URI under which a name is served."""
        return self.prefixes[0] + "/".join(
            encode(os.fsencode(one), "segment", keep=IN_SEGMENT) for one in name.split("/")
        )


def _outer_place(path: bytes, verdict: str, name: bytes) -> Place:
    found = os.fsdecode(path)
    return Place(verdict, document_key(_show_path(found)), found, _show_name(name))


def _common_folder(tasks: list[Task], root: str | None) -> str:
    """The folder around all sources and the root; the current one if that is around them."""
    folders = set() if root is None else {os.path.abspath(root)}
    folders |= {
        os.path.abspath(task.root) if task.root is not None else os.path.dirname(os.path.abspath(path))
        for task in tasks
        for path in (task.paths[:1] if task.root is not None else task.paths)
    }
    here = os.getcwd()
    try:
        top = os.path.commonpath(folders) if folders else here
        return here if os.path.commonpath((top, here)) == here else top
    except ValueError:  # of Windows, on several drives
        return here


@bounded_cache(1024)
def _listing(folder: bytes) -> frozenset[bytes]:
    try:
        return frozenset(os.listdir(folder or b"."))
    except OSError:
        return frozenset()


def _is_there(path: bytes) -> bool:
    """Whether it exists under this very name: some file systems find it in another case too."""
    if not os.path.exists(path):
        return False
    folder, _, last = path.rstrip(b"/").rpartition(b"/")
    return last in _listing(folder or b"/") or not last


def _normal(uri: str) -> str:
    return normal_form(uri, Rung.SCHEME)


def _show_name(name: bytes) -> str:
    return os.fsdecode(name)


def _show_path(path: str) -> str:
    return path if path.isascii() else os.fsencode(path).decode("utf-8", "replace")


def _fold_case(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape").casefold()
