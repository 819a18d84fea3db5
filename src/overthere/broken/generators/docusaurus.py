"""Docusaurus: `docusaurus.config.*`; `docs/1-a/b.mdx` is `/docs/a/b`, with or without a slash at its end."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from overthere.broken.generators.configuration import js_values, site_path
from overthere.broken.generators.project import IMPORTS, MOST_ROUTES, OTHER_ANCHORS, Mount, Project

FILES = tuple(f"docusaurus.config.{suffix}" for suffix in ("js", "ts", "mjs", "cjs", "mts"))
_NUMBER = re.compile(r"(?<![^/])\d++[ \t]*+[-_.]++[ \t]*+(?=[^/])")
_DATE = re.compile(r"(?<![^/])(\d{4})[-/](\d{1,2})[-/](\d{1,2})[-/]")
_VERSION = re.compile(r"\Aversion-([^/]++)/")
_is_generated = re.compile(
    r"(?:(?!(?:tags|category|archive|authors|page|search)(?:/|\Z))[^/]*+/)*+"
    r"(?:tags|category|archive|authors|page|search)(?:/.*+)?|(?:.*/)?(?:rss|atom|feed|sitemap)\.(?:xml|json)",
    re.DOTALL,
).fullmatch
_PAGE_MAKERS = re.compile(r"openapi|redoc|typedoc|client-redirects|createRedirects")
_INSERTS = re.compile(IMPORTS, re.MULTILINE)


def read(folder: str, config: str, text: str) -> Project:
    paths = [os.path.normpath(os.path.join(folder, path)) for path in ("docs", "blog", *js_values(text, "path"))]
    routes = [*dict.fromkeys(route.strip("/") for route in (*js_values(text, "routeBasePath"), "docs", "blog", ""))]
    routes = routes[:MOST_ROUTES]
    mounts = [
        Mount(path, f"{route}/" if route else "")
        for path in dict.fromkeys(paths)
        if os.path.isdir(path) and path != folder
        for route in dict.fromkeys((*routes, os.path.basename(path)))
    ]
    mounts += [
        Mount(os.path.join(folder, name), f"{route}/" if route else "")
        for name in _folders(folder, "versioned_docs")
        for route in routes
    ]
    mounts += [Mount(os.path.join(folder, "src", "pages")), Mount(folder)]
    writes_anchors = "maintainCase" in text or any("mdx-loader" in name for name in _folders(folder, "patches"))
    return Project(
        "docusaurus",
        config,
        tuple(mounts),
        "docusaurus",
        suffixes=(".md", ".mdx", ".tsx", ".jsx", ".js", ".ts"),
        indexes=("index", "README", "readme"),
        ending="",
        roots=tuple(os.path.join(folder, name) for name in ("static", *_texts(text, "staticDirectories"))),
        prefix=site_path((js_values(text, "baseUrl") or ("",))[0]),
        keys=("slug", "id", "permalink", "date", "title"),
        addresses=_addresses,
        outputs=("build", ".docusaurus", "node_modules"),
        parts=("src/components/", "src/theme/", "_"),
        makes=_is_generated,
        more_pages="a plug-in may make it" if _PAGE_MAKERS.search(text) else "",
        more_anchors=OTHER_ANCHORS * writes_anchors,
        inserts=_INSERTS,
        bases=(folder,),
        aliases=re.compile(r"@.*+|pathname:.*+|!.*+").fullmatch,
    )  # fmt: skip


def _folders(folder: str, name: str) -> list[str]:
    try:
        return [os.path.join(name, child) for child in sorted(os.listdir(os.path.join(folder, name)))]
    except OSError:
        return []


def _texts(text: str, key: str) -> list[str]:
    match = re.search(rf"\b{key}\s*+:\s*+\[([^\[\]]*+)\]", text)
    return re.findall(r"[\"']([^\"']++)[\"']", match[1]) if match else []


def _addresses(project: Project, stem: str, front: Mapping[str, list[str]]) -> list[str]:
    plain = _NUMBER.sub("", stem)
    folder, _, last = plain.rpartition("/")
    within = f"{folder}/" if folder else ""
    addresses = [plain, _DATE.sub(r"\1/\2/\3/", stem), _DATE.sub("", stem)]
    addresses += [f"{within}{identifier}" for identifier in front.get("id", ())]
    for slug in (*front.get("slug", ()), *front.get("permalink", ())):
        addresses += [slug.strip("/"), f"{within}{slug.strip('/')}"]
    if last == folder.rpartition("/")[2] and folder:
        addresses.append(folder)  # a page with the name of its folder is the folder's index
    return addresses
