"""A project: the sources of a site, and what its generator makes of them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from overthere.ground.caches import cached_property

__all__ = [
    "BRACES", "IMPORTS", "MOST_ROUTES", "NO_PROJECT", "TEMPLATES", "TEMPLATE_FOLDERS", "Mount", "Project", "Projects",
    "folders_above",
]  # fmt: skip

BRACES = re.compile(r"\{\{|\{%")
"""Where a program stands in a page: Jinja, Liquid, Nunjucks, Handlebars, the shortcodes of Hugo and Quarto."""


IMPORTS = (
    r"^[ \t]*+import\s[\w*{}, ]{1,200}?\sfrom\s++[\"'](?:(?P<path>[^\"'\n]+?\.mdx?)(?=[\"'])"
    r"|(?:\.|~|/|@/|@site|@components)[^\"'\n]*+)[\"']"
)
"""Where a page takes a text, or a component of the site's own, which may have headings."""


MOST_ROUTES = 4
"""Addresses of one folder: each reference is looked up in all."""


class Mount(NamedTuple):
    """A folder of sources, and where its pages are published."""

    folder: str
    """An absolute path."""
    route: str = ""
    """What the addresses of its pages begin with, below the root of the site: "" or as in "docs/"."""


class Project(NamedTuple):
    """What a generator makes of its sources, as its configuration says.

    The address of a page is its path below the root of the site: "a/b.html", "a/b/" or "a/b".
    """

    generator: str
    """The name of the program; "" where none is configured."""
    config: str
    """The path of the configuration."""
    mounts: tuple[Mount, ...]
    """The folders of the sources."""
    anchors: str
    """How headings are named (`model.ANCHORS`)."""
    suffixes: tuple[str, ...] = (".md", ".markdown")
    """Of the files that become pages."""
    indexes: tuple[str, ...] = ("index",)
    """The names, without suffix, of pages that stand for their folder."""
    ending: str = ".html"
    """How addresses end: ".html", "/" (each page is a folder), or "" (with or without a slash)."""
    rewrites: bool = True
    """Whether links and images of markup that name a file of the sources are made to lead to its address."""
    roots: tuple[str, ...] = ()
    """Folders whose files are published as they are, below the root of the site."""
    prefix: str = "/"
    """The path of the site's root in its URI."""
    keys: tuple[str, ...] = ()
    """The fields of front matter that set addresses."""
    addresses: Callable[[Project, str, Mapping[str, list[str]]], list[str]] | None = None
    """Further addresses of a page: from its path below its mount, without suffix, and its front matter."""
    outputs: tuple[str, ...] = ()
    """Folders below the sources that the build writes."""
    parts: tuple[str, ...] = ()
    """Folders below the sources whose files become parts of pages, at addresses that nobody knows."""
    makes: Callable[[str], object] | None = None
    """Addresses that the build makes without a source."""
    makes_if_asked: Callable[[str], object] | None = None
    """Those that it makes if a page, a plug-in or the theme asks for them."""
    more_pages: str = ""
    """Why the build may make any further page; "" if it makes none."""
    more_anchors: str = ""
    """Why every page may have further anchors."""
    inserts: re.Pattern[str] | None = None
    """What in a page inserts text that may have anchors; its group "path", if it has one, names the file."""
    bases: tuple[str, ...] = ()
    """Folders from which an inserted file is named, beside that of the page."""
    aliases: Callable[[str], object] | None = None
    """References that a plug-in resolves by name."""
    has_templates: bool = True
    """Whether HTML files may be templates."""


NO_PROJECT = Project("", "", (), "github", has_templates=False)
"""Of documents without a generator, which code hosts show."""
TEMPLATES = NO_PROJECT._replace(has_templates=True)
"""Of the templates that a project has beside its sources."""
TEMPLATE_FOLDERS = frozenset(("_includes", "_layouts", "_templates", "layouts", "overrides", "partials", "templates"))
"""What the folders of templates are called."""


class Projects(tuple[Project, ...]):
    """The projects of a check."""

    @cached_property
    def by_folder(self) -> dict[str, Project]:
        """The projects by their folders of sources; of two with the same folder, the first."""
        return {os.path.normpath(mount.folder): project for project in reversed(self) for mount in project.mounts}

    @cached_property
    def config_folders(self) -> frozenset[str]:
        """The folders that have a configuration, and those around them."""
        folders: set[str] = set()
        for project in self:
            folder = os.path.dirname(os.path.abspath(project.config))
            while folder not in folders:
                folders.add(folder)
                folder = os.path.dirname(folder)
        return frozenset(folders)


def folders_above(folder: str) -> list[str]:
    """The folder and those around it in its repository; without a repository the next one only."""
    folders = [folder]
    while not os.path.exists(os.path.join(folders[-1], ".git")):
        above = os.path.dirname(folders[-1])
        if above == folders[-1]:
            return folders[:2]
        folders.append(above)
    return folders
