"""Sphinx, in reStructuredText and MyST, and Jupyter Book: `conf.py`, `myst.yml`; `a/b.rst` is `a/b.html`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from overthere.broken.generators.configuration import yaml_value
from overthere.broken.generators.project import Mount, Project

FILES = ("conf.py",)
BOOK_FILES = ("myst.yml", "myst.yaml")
_SPHINX = re.compile(r"^(?:extensions|project|html_theme|source_suffix)\b[^\n=]*+=", re.MULTILINE)
_MYST_DEPTH = re.compile(r"^myst_heading_anchors\s*+=\s*+([0-7])\b", re.MULTILINE)
OBJECTS = re.compile(r"auto(?:doc|api|summary)|intersphinx|breathe|sphinxcontrib|apidoc|gallery|domain")
"""Extensions that define names outside of the files."""
_PAGES = re.compile(r"auto(?:api|doc2|summary)|apidoc|gallery|exhale|nbsphinx|ablog|sphinx_multiversion")
_is_generated = re.compile(
    r"genindex|(?:[\w-]+-)?modindex|search|(?:_static|_images|_downloads|_sources|_modules)/.*|objects\.inv"
    r"|.*\.\*"  # an image: the first file with any suffix
).fullmatch
_INSERTS = re.compile(
    r"^[ \t]*+[`:~]{3,}[ \t]*+\{(?:include\}[ \t]++(?P<path>[^\s{}]++)|auto|[\w-]++:|eval-rst|glossary|jinja"
    r"|click|argparse|program-output|sphinx_|exercise|prf:)",
    re.MULTILINE,
)


def read(folder: str, config: str, text: str) -> Project | None:
    if not _SPHINX.search(text):
        return None
    depth = _MYST_DEPTH.search(text)
    return Project(
        "sphinx",
        config,
        (Mount(folder),),
        f"myst:{depth[1]}" if depth else "sphinx",
        suffixes=(".rst", ".md", ".ipynb", ".txt"),
        roots=tuple(
            os.path.join(folder, name) for name in re.findall(r"html_extra_path\s*+=\s*+\[\s*+[\"']([^\"']++)", text)
        ),
        outputs=("_build", "build"),
        parts=("_templates/",),
        makes=_is_generated,
        more_pages="an extension may make it" if _PAGES.search(text) else "",
        inserts=_INSERTS,
        aliases=re.compile(r"[^#?]*+").fullmatch if OBJECTS.search(text) else None,
    )


def _last_name(project: Project, stem: str, front: Mapping[str, list[str]]) -> list[str]:
    return [stem.rpartition("/")[2]]


def book(folder: str, config: str, text: str) -> Project:
    """The project of `mystmd`: a page `a/b.md` is `/b`; references may have or omit the suffix."""
    return Project(
        "myst", config, (Mount(folder),), "myst", suffixes=(".md", ".ipynb"), ending="", outputs=("_build",),
        addresses=_last_name, inserts=_INSERTS,
        more_pages="a plug-in may make it" if yaml_value(text, "extends") else "",
    )  # fmt: skip
