"""The generator that builds a site from the sources, identified by its configuration file."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator

from overthere.broken.filters import file_settings
from overthere.broken.generators import (
    antora,
    astro,
    docsify,
    docusaurus,
    eleventy,
    hugo,
    jekyll,
    mdbook,
    mkdocs,
    quarto,
    sphinx,
    vitepress,
)  # fmt: skip
from overthere.broken.generators.configuration import read_configuration
from overthere.broken.generators.project import (
    MOST_ROUTES,
    NO_PROJECT,
    TEMPLATE_FOLDERS,
    TEMPLATES,
    Mount,
    Project,
    Projects,
    folders_above,
)
from overthere.broken.model import Checker
from overthere.links.job.files import is_inside
from overthere.links.job.task_builder import Task

_READERS: dict[str, Callable[[str, str, str], Project | None]] = {
    name: read
    for names, read in (
        (mkdocs.FILES, mkdocs.read), (sphinx.FILES, sphinx.read), (sphinx.BOOK_FILES, sphinx.book),
        *((module.FILES, module.read) for module in (mdbook, vitepress, docusaurus, jekyll, hugo, eleventy, astro)),
        (quarto.FILES, quarto.read), (antora.FILES, antora.read), (docsify.FILES, docsify.read),
    )
    for name in names
}  # fmt: skip
"""By the name of the configuration: a function of its folder, path and text that returns the project, or None if the
file belongs to another program."""
_BASE_NAMES = frozenset(os.path.basename(name) for name in _READERS)


def find_projects(tasks: Iterable[Task], unread: Counter[str]) -> Projects:
    """The projects of the sources.

    Configurations are searched among the sources, and in the folders above up to the root of the repository; those
    beyond the limit are counted in `unread`.
    """
    projects: dict[str, Project] = {}
    remaining = _MAX_TOTAL_BYTES
    for path in _configurations(tasks, projects):
        folder, name = _split(os.path.abspath(path))
        if folder in projects or not os.path.isfile(path):
            continue
        text = read_configuration(path, folder, remaining)
        remaining -= len(text)
        if remaining <= 0:
            unread["configurations beyond 16 MiB together"] += 1
        project = _READERS[name](folder, path, text)
        remaining -= 0 if project is None else project.named_length
        if project is not None and (project := _confine(project, folders_above(folder)[-1])).mounts:
            projects[folder] = project
    return Projects(projects.values())


_MAX_TOTAL_BYTES = 1 << 24
"""Maximum size of all configurations of a check, which may be symlinks to one file; others count as empty."""
_MAX_MOUNTS, _MAX_ROOTS = 200, 50
"""Maximum number of source folders, and of other folders: each reference is looked up in all of them."""


def _confine(project: Project, top: str) -> Project:
    """The project without folders outside of its repository, and with a limited number of folders: an untrusted
    configuration may name any.
    """
    routes: Counter[str] = Counter()
    mounts: list[Mount] = []
    for mount in project.mounts[: 2 * _MAX_MOUNTS]:
        mount = mount._replace(folder=os.path.normpath(mount.folder))
        routes[mount.folder] += 1
        if routes[mount.folder] <= MOST_ROUTES and len(mounts) < _MAX_MOUNTS and is_inside(mount.folder, top):
            mounts.append(mount)
    return project._replace(
        mounts=tuple(mounts),
        roots=tuple(root for root in dict.fromkeys(project.roots[:_MAX_ROOTS]) if is_inside(root, top)),
        bases=tuple(base for base in dict.fromkeys(project.bases[:_MAX_ROOTS]) if is_inside(base, top)),
    )


def project_of(checker: Checker, source: str) -> Project:
    """The project of a document by its path, with the anchor rule of the settings."""
    path = os.path.abspath(source)
    project = _innermost(checker, path) or (TEMPLATES if _is_beside(checker.projects, path) else NO_PROJECT)
    settings = file_settings(checker, source) if checker.files else None
    rule = settings.anchors if settings is not None and settings.anchors is not None else checker.anchors
    return project if rule in ("auto", project.anchors) else project._replace(anchors=rule)


def _innermost(checker: Checker, path: str) -> Project | None:
    if not checker.projects:
        return None
    by_folder = checker.projects.by_folder
    folder = os.path.dirname(path)
    while folder not in by_folder:
        folder, before = os.path.dirname(folder), folder
        if folder == before:
            return None
    project = by_folder[folder]
    below = path[len(folder) :].lstrip(os.sep).replace(os.sep, "/")
    return None if any(below.startswith(f"{output}/") for output in project.outputs) else project


def _is_beside(projects: Projects, path: str) -> bool:
    """Whether a file is in a folder of templates next to a project."""
    folder = os.path.dirname(path)
    while projects and folder not in projects.config_folders:
        folder, name = os.path.split(folder)
        if name in TEMPLATE_FOLDERS:
            return True
    return False


def _split(path: str) -> tuple[str, str]:
    """The folder and the name of a configuration; the name may include folders: `.vitepress/config.ts`."""
    pieces = path.split(os.sep)
    count = next(count for count in (3, 2, 1) if "/".join(pieces[-count:]) in _READERS)
    return os.sep.join(pieces[:-count]) or os.sep, "/".join(pieces[-count:])


def _is_configuration(path: str) -> bool:
    pieces = path.replace(os.sep, "/").split("/")
    return pieces[-1] in _BASE_NAMES and any("/".join(pieces[-count:]) in _READERS for count in (1, 2, 3))


def _configurations(tasks: Iterable[Task], found: Collection[str]) -> Iterator[str]:
    """Yield the paths of configurations; found: the folders of projects, above which no further one is searched."""
    starts: dict[str, None] = {}
    for task in tasks:
        if task.name is not None:
            continue
        yield from filter(_is_configuration, task.paths)
        starts |= dict.fromkeys([os.path.dirname(path) for path in task.paths] if task.root is None else [task.root])
    seen: set[str] = set()
    for start in starts:
        for folder in folders_above(os.path.abspath(start)):
            if folder in seen:
                break
            seen.add(folder)
            names = [name for name in _READERS if os.path.isfile(os.path.join(folder, name))]
            yield from (os.path.relpath(os.path.join(folder, name)) for name in names)
            if folder in found:
                break
