"""mdBook: `book.toml`; a chapter `a/b.md` is `a/b.html`."""

from __future__ import annotations

import os
import re

from overthere.broken.generators.project import Mount, Project
from overthere.ground.option_files import read_toml

FILES = ("book.toml",)
_BUILT_IN_PREPROCESSORS = frozenset(("links", "index"))
"""The preprocessors that are part of mdBook."""


def read(folder: str, config: str, text: str) -> Project:
    try:
        data = read_toml(text)
    except ValueError:
        data = {}
    book, build, output, plugins = (_table(data, name) for name in ("book", "build", "output", "preprocessor"))
    source = book.get("src")
    redirects = _table(_table(output, "html"), "redirect")
    moved = [name.strip("/").removesuffix(".html") for name in redirects]
    target = build.get("build-dir")
    has_plugins = bool(plugins.keys() - _BUILT_IN_PREPROCESSORS)
    return Project(
        "mdbook",
        config,
        (Mount(os.path.join(folder, source if isinstance(source, str) else "src")),),
        "mdbook",
        suffixes=(".md",),
        indexes=("index", "README"),
        outputs=(target if isinstance(target, str) else "book",),
        makes=frozenset(("print", "toc", "404", *moved)).__contains__,
        more_anchors="a preprocessor may add to it" if has_plugins else "",
        inserts=re.compile(r"\{\{#(?:rustdoc_)?include[ \t]++(?P<path>[^:}\s]++)|\{\{#(?!playground|title)\w++"),
        aliases=re.compile(r"[^/#?]*+(?<!\.md)(?<!\.html)").fullmatch if has_plugins else None,
    )  # fmt: skip


def _table(settings: object, name: str) -> dict[str, object]:
    """The table with a name, or an empty one."""
    table = settings.get(name) if isinstance(settings, dict) else None
    return table if isinstance(table, dict) else {}
