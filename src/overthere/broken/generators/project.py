"""A project: the sources of a site, and what its generator builds from them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from overthere.ground.caches import cached_property

BRACES = re.compile(r"\{\{|\{%")
"""Code in a page: Jinja, Liquid, Nunjucks, Handlebars, the shortcodes of Hugo and Quarto."""


IMPORTS = (
    r"^[ \t]*+import\s[\w*{}, ]{1,200}?\sfrom\s++[\"'](?:(?P<path>[^\"'\n]+?\.mdx?)(?=[\"'])"
    r"|(?:\.|~|/|@/|@site|@components)[^\"'\n]*+)[\"']"
)
"""Imports of a text, or of a component of the site, which may have headings."""


OTHER_ANCHORS = "the configuration changes how anchors are written"
"""Why every page may have further anchors."""
MOST_ROUTES = 4
"""Maximum number of addresses of a folder: each reference is looked up in all of them."""


class Mount(NamedTuple):
    """A folder of sources, and the address of its pages."""

    folder: str
    """An absolute path."""
    route: str = ""
    """The beginning of its pages' addresses, below the root of the site: "" or as in "docs/"."""


class Project(NamedTuple):
    """The site that a generator builds from its sources, according to its configuration.

    The address of a page is its path below the root of the site: "a/b.html", "a/b/" or "a/b".
    """

    generator: str
    """The name of the program; "" if none is configured."""
    config: str
    """The path of the configuration."""
    mounts: tuple[Mount, ...]
    """The folders of the sources."""
    anchors: str
    """The rule for the anchors of headings (`model.ANCHORS`)."""
    suffixes: tuple[str, ...] = (".md", ".markdown")
    """The suffixes of the files that become pages."""
    indexes: tuple[str, ...] = ("index",)
    """The names, without suffix, of pages that are the index of their folder."""
    ending: str = ".html"
    """The end of addresses: ".html", "/" (each page is a folder), or "" (with or without a slash)."""
    rewrites: bool = True
    """Whether links and images of markup that name a source file are rewritten to its address."""
    roots: tuple[str, ...] = ()
    """Folders whose files are published unchanged, below the root of the site."""
    prefix: str = "/"
    """The path of the site's root in its URI."""
    keys: tuple[str, ...] = ()
    """The fields of front matter that set addresses."""
    addresses: Callable[[Project, str, Mapping[str, list[str]]], list[str]] | None = None
    """Further addresses of a page: from its path below its mount, without suffix, and its front matter."""
    outputs: tuple[str, ...] = ()
    """Folders below the sources that the build writes."""
    parts: tuple[str, ...] = ()
    """Beginnings of the names of folders and files that become parts of pages at unknown addresses."""
    makes: Callable[[str], object] | None = None
    """Matches addresses that the build generates without a source."""
    makes_if_asked: Callable[[str], object] | None = None
    """Matches addresses that the build generates if a page, a plug-in or the theme requests them."""
    more_pages: str = ""
    """Why the build may generate further pages; "" if it does not."""
    more_anchors: str = ""
    """Why every page may have further anchors."""
    inserts: re.Pattern[str] | None = None
    """Matches insertions of text that may have anchors; its group "path", if it has one, is the name of the file."""
    bases: tuple[str, ...] = ()
    """Folders to which the name of an inserted file may be relative, besides that of the page."""
    aliases: Callable[[str], object] | None = None
    """Matches references that a plug-in resolves by name."""
    has_templates: bool = True
    """Whether HTML files may be templates."""
    named_length: int = 0
    """The number of characters of other configurations that were read because this one names them."""

    def is_part(self, source: str) -> bool:
        """Whether a file becomes a part of pages at unknown addresses."""
        folder = os.path.dirname(self.config) or os.curdir
        return any(f"/{part}" in f"/{os.path.relpath(source, folder)}".replace(os.sep, "/") for part in self.parts)


NO_PROJECT = Project("", "", (), "github", has_templates=False)
"""The project of documents without a generator, which code hosts show."""
TEMPLATES = NO_PROJECT._replace(has_templates=True)
"""The project of templates that are next to a project's sources."""
TEMPLATE_FOLDERS = frozenset(("_includes", "_layouts", "_templates", "layouts", "overrides", "partials", "templates"))
"""The names of folders of templates."""


class Projects(tuple[Project, ...]):
    """The projects of a check."""

    @cached_property
    def by_folder(self) -> dict[str, Project]:
        """The projects by their source folders; the first of several with the same folder counts."""
        return {os.path.normpath(mount.folder): project for project in reversed(self) for mount in project.mounts}

    @cached_property
    def config_folders(self) -> frozenset[str]:
        """The folders that have a configuration, and all folders around them."""
        folders: set[str] = set()
        for project in self:
            folder = os.path.dirname(os.path.abspath(project.config))
            while folder not in folders:
                folders.add(folder)
                folder = os.path.dirname(folder)
        return frozenset(folders)


def folders_above(folder: str) -> list[str]:
    """The folder and those around it in its repository; without a repository only the parent."""
    folders = [folder]
    while not os.path.exists(os.path.join(folders[-1], ".git")):
        above = os.path.dirname(folders[-1])
        if above == folders[-1]:
            return folders[:2]
        folders.append(above)
    return folders
