"""mdBook: `book.toml`; a chapter `a/b.md` is `a/b.html`."""

from __future__ import annotations

import os
import re

from overthere.broken.generators.project import Mount, Project
from overthere.ground.option_files import read_toml

__all__ = ["FILES", "read"]

FILES = ("book.toml",)
_OWN = frozenset(("links", "index"))
"""The preprocessors of mdBook itself."""


def read(folder: str, config: str, text: str) -> Project:
    try:
        told = read_toml(text)
    except ValueError:
        told = {}
    book, build, output, others = (_table(told, name) for name in ("book", "build", "output", "preprocessor"))
    source = book.get("src")
    redirects = _table(_table(output, "html"), "redirect")
    moved = [name.strip("/").removesuffix(".html") for name in redirects]
    target = build.get("build-dir")
    plugged = bool(others.keys() - _OWN)
    return Project(
        "mdbook",
        config,
        (Mount(os.path.join(folder, source if isinstance(source, str) else "src")),),
        "mdbook",
        suffixes=(".md",),
        indexes=("index", "README"),
        outputs=(target if isinstance(target, str) else "book",),
        makes=frozenset(("print", "toc", "404", *moved)).__contains__,
        more_anchors="a preprocessor may add to it" if plugged else "",
        inserts=re.compile(r"\{\{#(?:rustdoc_)?include[ \t]++(?P<path>[^:}\s]++)|\{\{#(?!playground|title)\w++"),
        aliases=re.compile(r"[^/#?]*+(?<!\.md)(?<!\.html)").fullmatch if plugged else None,
    )  # fmt: skip


def _table(told: object, name: str) -> dict[str, object]:
    """The table of a name; empty if there is none."""
    found = told.get(name) if isinstance(told, dict) else None
    return found if isinstance(found, dict) else {}
