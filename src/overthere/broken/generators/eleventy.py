"""Eleventy: `eleventy.config.*`; `a/b.md` is `/a/b/`, unless its front matter or its data say another address."""

from __future__ import annotations

import os

from overthere.broken.generators.configuration import js_values, site_path
from overthere.broken.generators.front_matter import front_addresses
from overthere.broken.generators.project import BRACES, Mount, Project

FILES = (".eleventy.js", *(f"eleventy.config.{suffix}" for suffix in ("js", "mjs", "cjs", "ts")))


def read(folder: str, config: str, text: str) -> Project:
    inputs = js_values(text, "input")
    sources = os.path.normpath(os.path.join(folder, inputs[0])) if inputs and ".." not in inputs[0] else folder
    return Project(
        "eleventy",
        config,
        (Mount(sources),),
        "github",
        suffixes=(".md", ".njk", ".html", ".liquid", ".webc", ".11ty.js", ".mdx"),
        indexes=("index", "README"),
        ending="/",
        rewrites=True,
        roots=(folder, os.path.join(folder, "public"), os.path.join(sources, "static")),
        prefix=site_path((js_values(text, "pathPrefix") or ("",))[0]),
        keys=("permalink", "slug", "redirect_from", "aliases"),
        addresses=front_addresses,
        outputs=("_site", "dist", "node_modules"),
        parts=("_includes/", "_layouts/", "_data/"),
        more_pages="a program sets addresses (the configuration of Eleventy)",
        more_anchors="a program names headings (the configuration of Eleventy)",
        inserts=BRACES,
    )
