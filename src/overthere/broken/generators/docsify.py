"""docsify: a script in `index.html` shows `a/b.md` at `#/a/b`; its settings and plug-ins decide where links lead."""

from __future__ import annotations

import os

from overthere.broken.generators.configuration import MAX_NAMED_BYTES, read_configuration
from overthere.broken.generators.project import Mount, Project

FILES = ("_sidebar.md", "_navbar.md", "_coverpage.md")


def read(folder: str, config: str, text: str) -> Project | None:
    page = read_configuration(os.path.join(folder, "index.html"), folder, MAX_NAMED_BYTES)
    if "docsify" not in page:
        return None
    return Project(
        "docsify",
        config,
        (Mount(folder),),
        "github",
        indexes=("README",),
        ending="",
        more_pages="the script of docsify finds pages by its settings",
        more_anchors="the script of docsify names headings",
        named_length=len(page),
    )
