"""Pages whose front matter sets their address, of a generator that may not be known."""

from __future__ import annotations

import re
from collections.abc import Mapping

from overthere.broken.generators.project import IMPORTS, Project

__all__ = ["front_addresses", "unknown_generator"]


def unknown_generator(project: Project) -> Project:
    """Of pages with front matter, or in MDX, where no configuration is known: any generator may read them."""
    return project._replace(
        generator="unknown", suffixes=(".md", ".mdx"), indexes=("index", "README", "_index", "page"), ending="",
        keys=("slug", "permalink", "url", "id"), addresses=front_addresses, aliases=re.compile(r"[@~].*+").fullmatch,
        inserts=re.compile(IMPORTS + r"|(?<!=)\{\{|\{%|^[ \t]*+<[A-Z]", re.MULTILINE),
    )  # fmt: skip


def front_addresses(project: Project, stem: str, front: Mapping[str, list[str]]) -> list[str]:
    """Addresses that a page may have by its front matter, and by its name without capitals and signs."""
    folder = stem.rpartition("/")[0]
    named = [one.strip("/") for values in front.values() for one in values]
    found = [*named, *(f"{folder}/{one}" for one in named if folder)]
    lower = "/".join(re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in stem.split("/"))
    return [*found, lower]
