"""Astro with Starlight: `astro.config.*`; `src/content/docs/a/b.md` and `src/pages/a/b.md` are `/a/b/`."""

from __future__ import annotations

import os
import re

from overthere.broken.generators.configuration import js_values, site_path
from overthere.broken.generators.front_matter import front_addresses
from overthere.broken.generators.project import IMPORTS, Mount, Project

FILES = tuple(f"astro.config.{suffix}" for suffix in ("mjs", "js", "ts", "mts", "cjs"))
_PROGRAMS = re.compile(r"redirects|openAPI|typeDoc|getStaticPaths|plugins")


def read(folder: str, config: str, text: str) -> Project:
    source = os.path.join(folder, "src")
    return Project(
        "astro",
        config,
        (Mount(os.path.join(source, "content", "docs")), Mount(os.path.join(source, "pages")), Mount(folder)),
        "docusaurus",
        suffixes=(".md", ".mdx", ".mdoc", ".astro", ".html"),
        ending="",
        roots=(os.path.join(folder, "public"),),
        prefix=site_path((js_values(text, "base") or ("",))[0]),
        keys=("slug", "permalink"),
        addresses=front_addresses,
        outputs=("dist", ".astro", "node_modules"),
        parts=("src/components/", "src/layouts/", "_"),
        makes=re.compile(r"404|(?:.*/)?rss\.xml|sitemap.*|llms.*\.txt|_astro/.*").fullmatch,
        more_pages="a program sets addresses" if _PROGRAMS.search(text) else "",
        inserts=re.compile(IMPORTS, re.MULTILINE),
        aliases=re.compile(r"[@~].*+").fullmatch,
    )  # fmt: skip
