"""Maps URIs to the files of the sources, as a server does (RFC 3986 5.1; RFC 9110 4.2)."""

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
from overthere.ground.display import file_name
from overthere.ground.errors import OverthereError
from overthere.links.job.files import is_within
from overthere.links.job.gitignore import IgnoredFiles
from overthere.links.job.task_builder import Task
from overthere.values.encoding import IN_SEGMENT, encode
from overthere.values.normalize import Rung, normal_form
from overthere.values.uri import URI


class Place(NamedTuple):
    """The document, folder or fault at a URI."""

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
_MAX_FOLDERS_AROUND = 30
"""Maximum number of folders around a page that may be the root of a site."""
_PLAIN = re.compile(rb"[A-Za-z0-9._~-]*")
_PLAIN_HOST = re.compile(r"https?://[A-Za-z0-9.-]++(?=[/?]|\Z)", re.IGNORECASE)
"""URIs in which normalization changes only the case of scheme and host before the path (RFC 3986 6.2.2.1)."""


_CACHE_SIZE, _MAX_CACHED_BYTES = 1 << 14, 1000
"""Maximum number of names whose place on the disk is cached, and their maximum length."""


class Site:
    """The files of the sources by the names under which they are served.

    Without a base they are served under their file: URIs, and other files, in the current folder or in the folder
    around all sources, are looked up on the disk.  With a base, a folder's root is served there.

    A symlink counts as its target, as on servers: a broken one does not exist; of a file or folder outside the sources,
    only the anchors are read.
    """

    def __init__(self, tasks: Iterable[Task], checker: Checker) -> None:
        _listing.cache_clear()  # it may be from an earlier check
        self.checker = checker
        self.paths: list[str] = []
        """The files, by number."""
        self.link_targets: dict[int, str] = {}
        """The targets of symlinks that are read, by number."""
        self.names: list[bytes] = []
        """The names under which they are served, by number."""
        self.roots: list[str | None] = []
        self._prefixes: dict[bytes, str] = {}
        self._within: dict[tuple[str, str], bytes] = {}
        """The path of each folder below its root, which begins the names of its files."""
        self.files: dict[bytes, int] = {}
        """The numbers of files by name: the decoded path below the base."""
        self.folders: set[bytes] = {b""}
        self.around: list[str] = []
        """Folders on the disk in which names are looked up if they are not in the table."""
        file_tasks = [task for task in tasks if task.name is None]
        self.by_file: bool = not checker.base
        if self.by_file:
            top = _common_folder(file_tasks, checker.root)
            prefix = f"{str(file_uri(top)).removesuffix('/')}/"
            self.prefixes: tuple[str, ...] = (prefix,)
            self.root: str | None = (
                None if checker.root is None else f"{str(file_uri(checker.root)).removesuffix('/')}/"
            )
            """The URI of the folder to which "/" leads, if the settings name one."""
            self.around = [top]
        else:
            self.prefixes = tuple(_normal(str(URI(base).join("."))) for base in checker.base)
            top, self.root = "", None
        self.top = top
        seen: set[str] = set()
        beyond: set[int] = set()
        for task in file_tasks:
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
        self.sources: list[str] = [file_name(path) for path in self.paths]
        """The names of the documents in reports."""
        self.numbers: dict[str, int] = {
            source: number for number, source in enumerate(self.sources) if number not in beyond
        }
        """The numbers of documents by source."""
        self._pages: dict[Project, Pages] = {}
        self._around: tuple[object, list[Pages]] = None, []
        self.budget: LookupBudget = LookupBudget()
        self._looked_up: dict[tuple[bytes, bool], Place | None] = {}
        self._lower: dict[str, bytes] | None = None
        """Names by their case-folded form; b"" if several names differ only in case."""

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
        """The name of a path's document in reports."""
        return file_name(path)

    def number_of(self, path: str) -> int | None:
        """The number of a path; None if it is not part of the site."""
        return self.numbers.get(file_name(path))

    def path_below(self, target: str) -> str | None:
        """The undecoded path of a URI below the base; None if it is not below it."""
        path = target.partition("#")[0].partition("?")[0]
        for prefix in self.prefixes:
            # Only the part below the prefix is checked for dots: the prefix is normalized.
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
        """The place of a URI on a server; the query is ignored."""
        below = self.path_below(target)
        if below is None:
            return OUTSIDE
        return self._find(below)

    def _find(self, below: str) -> Place:
        segments = below.split("/")
        name = unquote_to_bytes(below)
        if "%" in below and any(b"/" in unquote_to_bytes(part) or b"\0" in unquote_to_bytes(part) for part in segments):
            return Place("no-document", name=below)
        folder = name.endswith(b"/") or not name
        return self._folder(name.rstrip(b"/") if folder else name) if folder else self.find_file(name)

    def find_file(self, name: bytes) -> Place:
        """The place of a file name on a server."""
        number = self.files.get(name)
        if number is not None:
            return Place("document", number, name=_show_name(name))
        for extension in self.checker.extensions:  # before a folder of that name, as servers with this option do
            number = self.files.get(name + b"." + extension.encode())
            if number is not None:
                return Place("document", number, name=f"{_show_name(name)}.{extension}")
        for extension in {name: None for settings in self.checker.files for name in settings.extensions}:
            number = self.files.get(name + b"." + extension.encode())
            if number is not None:
                settings = file_settings(self.checker, self.sources[number])
                if settings is not None and extension in settings.extensions:
                    return Place("document", number, name=f"{_show_name(name)}.{extension}")
        if name in self.folders:
            place = self._folder(name)
            return place._replace(verdict="redirected") if place.verdict == "document" else place
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
        """The place of a name that is not in the table: next to the sources, or behind a symlink; looked up once."""
        if (name, folder) in self._looked_up:
            return self._looked_up[name, folder]
        place = self._find_on_disk(name, folder)
        if len(name) <= _MAX_CACHED_BYTES and len(self._looked_up) < _CACHE_SIZE:
            self._looked_up[name, folder] = place
        return place

    def _find_on_disk(self, name: bytes, folder: bool) -> Place | None:
        for root in self.around:
            path = os.path.join(os.fsencode(root), name.replace(b"/", os.fsencode(os.sep)))
            if not _exists_exactly(path):
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
            for known_name in (*self.files, *self.folders):
                folded = _fold_case(known_name)
                self._lower[folded] = b"" if folded in self._lower else known_name
        existing = self._lower.get(_fold_case(name))
        if existing and existing != name:
            return Place("wrong-case", name=_show_name(name), instead=_show_name(existing) + after)
        return Place("no-document", name=_show_name(name) + after)

    @cached_property
    def repository(self) -> str | None:
        """The root of the repository of the sources, as an absolute path."""
        start = os.path.abspath(os.path.dirname(self.paths[0]) if self.paths else self.top or os.curdir)
        top = folders_above(start)[-1]
        return top if os.path.exists(os.path.join(top, ".git")) else None

    @cached_property
    def ignored_files(self) -> IgnoredFiles:
        """The files that Git ignores in the repository, or around the sources."""
        return IgnoredFiles(self.repository or os.path.abspath(self.top or os.curdir))

    def pages_of(self, project: Project) -> Pages:
        """The pages of a project by their addresses."""
        if project not in self._pages:
            self._pages[project] = Pages(project, self.budget)
        return self._pages[project]

    def pages_around(self, project: Project, folder: str) -> list[Pages]:
        """The pages of a project without mounts, with each folder around a source as a possible root of the site."""
        if self._around[0] != (project, folder):
            around = folders_above(folder)[-_MAX_FOLDERS_AROUND:]
            public = tuple(os.path.join(parent, name) for parent in around for name in ("public", "static"))
            candidates = (
                project._replace(mounts=(Mount(top),), roots=public[2 * number :]) for number, top in enumerate(around)
            )
            self._around = (project, folder), [self.pages_of(candidate) for candidate in candidates]
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
        """The URI under which a file is served."""
        folder, slash, last = self.names[number].rpartition(b"/")
        if folder not in self._prefixes:
            self._prefixes[folder] = self.uri_of(_show_name(folder + slash))
        if _PLAIN.fullmatch(last):
            return self._prefixes[folder] + last.decode()
        return self._prefixes[folder] + encode(last, "segment", keep=IN_SEGMENT)

    def uri_of(self, name: str) -> str:
        """The URI under which a name is served."""
        return self.prefixes[0] + "/".join(
            encode(os.fsencode(part), "segment", keep=IN_SEGMENT) for part in name.split("/")
        )


def _outer_place(path: bytes, verdict: str, name: bytes) -> Place:
    file = os.fsdecode(path)
    return Place(verdict, document_key(file_name(file)), file, _show_name(name))


def _common_folder(tasks: list[Task], root: str | None) -> str:
    """The folder that contains all sources and the root; the current folder if it does."""
    folders = set() if root is None else {os.path.abspath(root)}
    folders |= {
        os.path.abspath(task.root) if task.root is not None else os.path.dirname(os.path.abspath(path))
        for task in tasks
        for path in (task.paths[:1] if task.root is not None else task.paths)
    }
    current = os.getcwd()
    try:
        top = os.path.commonpath(folders) if folders else current
        return current if os.path.commonpath((top, current)) == current else top
    except ValueError:  # several drives on Windows
        return current


@bounded_cache(1024)
def _listing(folder: bytes) -> frozenset[bytes]:
    try:
        return frozenset(os.listdir(folder or b"."))
    except OSError:
        return frozenset()


def _exists_exactly(path: bytes) -> bool:
    """Whether a path exists under exactly this name: some file systems ignore the case."""
    if not os.path.exists(path):
        return False
    folder, _, last = path.rstrip(b"/").rpartition(b"/")
    return last in _listing(folder or b"/") or not last


def _normal(uri: str) -> str:
    return normal_form(uri, Rung.SCHEME)


def _show_name(name: bytes) -> str:
    return os.fsdecode(name)


def _fold_case(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape").casefold()
