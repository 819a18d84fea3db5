"""Checks references in the sources of a site: which source a reference names, and what only the build decides."""

from __future__ import annotations

import os
import re
from urllib.parse import unquote

from overthere.broken.generators.project import Mount, Project, Projects, folders_above
from overthere.broken.model import Checker
from overthere.broken.scan import Reference, Scan
from overthere.broken.site import Place, Site
from overthere.links.job.files import is_inside

_MARKUP = frozenset(("link", "image", "definition", "hyperlink"))
_NAMING_GENERATORS = frozenset(("sphinx", "jupyter-book"))
"""Generators in which MyST reads a reference without a file as the name of a target."""
_MYST = frozenset(("sphinx", "myst", "jupyter-book"))
_MAX_PROJECTS = 10
"""Maximum number of projects that are searched for a document next to them."""
_ALIAS = re.compile(r"[@~#$]")
_NAMES_FILE = re.compile(r"\.(?:[A-Za-z0-9]{1,8}|\*)\Z")


def find_by_project(place: Place, reference: Reference, scan: Scan, site: Site, path: str) -> Place:
    """The target of a reference on the site that a generator builds from the sources.

    place: the target by file name; path: the undecoded path of the reference.
    Returns: `place` unless the generator decides otherwise; verdicts in addition to those of `Site.find`: "listed" for
    the list of a folder's pages, "label" for a name of MyST, "unsure" with the reason in `name`.
    """
    project = scan.project
    if place.verdict == "no-document" and scan.kind == "css":
        if _is_of_bundler(reference, scan.document.source):
            return Place("unsure", name=f"{path}: a bundler may know this name")
        if _is_asset(scan.document.source, site.checker.projects) or (project.has_templates and not project.generator):
            return Place("unsure", name=f"{path}: the build writes this style sheet into another folder")
    if scan.is_template and place.verdict == "no-document":
        return Place("unsure", name=f"{path}: the pages of a template are in other folders")
    if not project.generator:
        return _shown_by_host(place, reference, scan, site, path)
    source = os.path.abspath(scan.document.source)
    is_markup = reference.where in _MARKUP
    name = unquote(path)
    is_myst = is_markup and scan.kind == "markdown" and project.generator in _NAMING_GENERATORS
    if is_myst and name.endswith(".html") and place.verdict != "document":
        return Place("label", name=name)
    if not name or (place.verdict == "document" and not _is_elsewhere(project, source, name, is_markup)):
        return place
    if not project.mounts:
        return _by_unknown_generator(place, project, source, site, name, is_markup)
    page = site.pages_of(project).find_source(source, name, is_markup)
    if page.path is not None:
        return Place("listed") if os.path.isdir(page.path) else site.place_of(page.path)
    if place.verdict == "document":
        return Place("unsure", name=f"{name}: the file is there, but the page of this source has another address")
    if project.generator in _MYST and is_markup and scan.kind != "rst" and not _NAMES_FILE.search(name):
        return Place("label", name=name)
    if project.aliases is not None and project.aliases(name):
        return Place("unsure", name=f"{name}: the generator may know this name")
    return _judge_missing(place, project, source, site, name, page.leaves)


def is_beside_labels(scan: Scan, checker: Checker) -> bool:
    """Whether a document next to a MyST project may be a part of its pages, and refer to their labels."""
    is_beside = not scan.project.generator and scan.kind == "markdown"
    return is_beside and any(project.generator in _MYST for project in checker.projects[:_MAX_PROJECTS])


def _is_of_bundler(ref: Reference, source: str) -> bool:
    """Whether a style sheet of a JavaScript package refers to another package, or to a folder by an alias."""
    may_be_package = "/" in ref.reference or not _NAMES_FILE.search(ref.reference)
    is_package = ref.where.startswith("@import") and may_be_package and ref.reference[:1] not in ("", ".", "/")
    if not is_package and not _ALIAS.match(ref.reference):
        return False
    around = folders_above(os.path.dirname(os.path.abspath(source)))
    return any(os.path.exists(os.path.join(folder, "package.json")) for folder in around)


def _is_asset(source: str, projects: Projects) -> bool:
    """Whether a file is one of Hugo's assets, which it writes elsewhere."""
    configs = (project.config for project in projects[:_MAX_PROJECTS] if project.generator == "hugo")
    hugo = [os.path.dirname(os.path.abspath(config)) for config in configs]
    return any(_is_below(os.path.abspath(source), os.path.join(folder, "assets")) for folder in hugo)


def _is_included(site: Site, name: str) -> bool:
    """Whether a document next to a project refers to a page of the project, which may then include the document."""
    if site.budget.is_spent:
        return True
    for project in site.checker.projects[:_MAX_PROJECTS]:
        if project.generator in _MYST and not _NAMES_FILE.search(name):
            return True
        for mount in project.mounts:
            if site.pages_of(project).find_source(os.path.join(mount.folder, "index.md"), name, is_markup=True).path:
                return True
    return site.budget.is_spent


def _by_unknown_generator(place: Place, project: Project, source: str, site: Site, name: str, is_markup: bool) -> Place:
    """The target of a reference in a page with front matter: each folder around it may be the root of the site."""
    for pages in () if site.budget.is_spent else site.pages_around(project, os.path.dirname(source)):
        page = pages.find_source(source, name, is_markup)
        if page.path is not None:
            return site.place_of(page.path)
    if project.aliases is not None and project.aliases(name):
        return Place("unsure", name=f"{name}: the generator may know this name")
    if name.startswith("/"):
        return place if place.verdict == "outside" else Place("outside")
    assumed = project._replace(mounts=(Mount(site.repository or os.path.dirname(source)),))
    return _judge_missing(place, assumed, source, site, name, leaves=site.budget.is_spent)


def _is_elsewhere(project: Project, source: str, name: str, is_markup: bool) -> bool:
    """Whether a relative reference may lead to something other than the file it names, on the site."""
    stem = os.path.splitext(os.path.basename(source))[0]
    return not (
        project.ending != "/"
        or name.startswith("/")
        or (project.rewrites and is_markup and not name.endswith("/"))  # the name of a folder is not rewritten
        or stem in project.indexes
        or project.is_part(source)
    )


def _judge_missing(place: Place, project: Project, source: str, site: Site, name: str, leaves: bool) -> Place:
    """The verdict for a missing file: "unsure", with the reason, if the site may have it; otherwise `place`."""
    if name.startswith("/"):
        if not name.startswith(project.prefix):
            return Place("unsure", name=f"{name}: it is not below {project.prefix}, where this site is")
        files = [os.path.join(mount.folder, name.lstrip("/")) for mount in project.mounts]
        files += [os.path.join(root, name.lstrip("/")) for root in project.roots]
        cause = ""
    else:
        files = [os.path.normpath(os.path.join(os.path.dirname(source), name)) + "/" * name.endswith("/")]
        cause = "its page becomes a part of others" if project.is_part(source) else ""
    below = name.removeprefix(project.prefix).lstrip("/") if name.startswith("/") else name.lstrip("./")
    if below.startswith("pagefind/"):
        return Place("listed")  # Pagefind makes it, whatever generator runs before it
    if project.makes is not None and project.makes(re.sub(r"(?:\.html|/)\Z", "", below)):
        return Place("listed")
    if project.makes_if_asked is not None and project.makes_if_asked(below.rstrip("/")):
        cause = "the build makes it if a page asks for it"
    if any(file in site.ignored_files or f"{file}/" in site.ignored_files for file in files):
        cause = "Git ignores it, so that the build may make it"
    if leaves or (not name.startswith("/") and not any(_is_below(files[0], mount.folder) for mount in project.mounts)):
        cause = cause or "it leads out of this site"
    cause = cause or project.more_pages
    if cause:
        return Place("unsure", name=f"{name}: {cause}")
    return (
        Place("no-document", name=place.name or name)
        if place.verdict in ("outside", "is-folder", "wrong-case")
        else place
    )


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(os.path.join(folder, "")) or path == folder


def _shown_by_host(place: Place, reference: Reference, scan: Scan, site: Site, path: str) -> Place:
    """The target of a reference in a document without a generator, on a code host: "/" is the repository's root."""
    if place.verdict == "document" or scan.kind not in ("markdown", "rst") or not path:
        return place
    name = unquote(path)
    if path.startswith("/") and place.verdict == "outside":
        file = os.path.normpath(f"{site.repository}/{name}") if site.by_file and site.repository is not None else ""
        if os.path.isdir(file):
            return Place("listed")
        is_ours = os.path.isfile(file) and is_inside(file, site.repository or "")
        return site.place_of(file) if is_ours else place
    if place.verdict == "no-document" and scan.kind == "rst" and name.endswith(".html"):
        # Sphinx writes an HTML page for each document.
        uri = (reference.target or str(reference.base.uri.join(reference.reference, errors="repair"))).partition("#")[0]
        pages = (site.find(uri.removesuffix("html") + suffix) for suffix in ("rst", "md", "ipynb"))
        place = next((page for page in pages if page.verdict == "document"), place)
    if place.verdict == "no-document" and name.endswith(".html") and site.checker.projects:
        return Place("unsure", name=f"{name}: the build of the site may make it")
    # A README is read where it is, even if another page includes it.
    is_own = scan.kind != "markdown" or path.startswith("/") or "readme" in scan.document.source.lower()
    if place.verdict == "no-document" and not is_own and _is_included(site, name):
        return Place("unsure", name=f"{name}: a page of the site may include this document")
    if place.verdict == "no-document":
        file = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(scan.document.source)), name))
        if file in site.ignored_files or f"{file}/" in site.ignored_files:
            return Place("unsure", name=f"{name}: Git ignores it, so that the build may make it")
    return place
