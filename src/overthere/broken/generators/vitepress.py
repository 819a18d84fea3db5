"""VitePress and VuePress: `.vitepress/config.*`; a page `a/b.md` is `a/b.html`, or `a/b`."""

from __future__ import annotations

import os
import re
from itertools import product

from overthere.broken.generators.configuration import MAX_NAMED_BYTES, js_values, read_configuration, site_path
from overthere.broken.generators.project import OTHER_ANCHORS, Mount, Project, folders_above
from overthere.links.job.files import is_inside

FILES = tuple(
    f".{name}press/config{middle}.{suffix}"
    for name in ("vite", "vue")
    for middle in ("", "/index")
    for suffix in ("js", "ts", "mjs", "mts", "cjs", "cts")
)
_INSERTS = re.compile(
    r"<!--[ \t]*+@include:[ \t]*+(?P<path>(?:(?!-->)[^\s{}#<>])++)|^[ \t]*+import\s[^\n]*\.vue[\"']", re.MULTILINE
)
_IMPORT = re.compile(r"\bfrom\s*+[\"'](\./[\w./-]++)[\"']")
_MAX_IMPORTS, _MAX_FOLDERS = 10, 1000
_DYNAMIC = re.compile(r"[^\[\]]*+\[[^\[\]]++\].*")


def read(folder: str, config: str, text: str) -> Project:
    name = os.path.basename(os.path.dirname(config.replace("/index.", ".")))
    max_length = len(text) + MAX_NAMED_BYTES
    for imported, suffix in product(_IMPORT.findall(text)[:_MAX_IMPORTS], (".ts", ".mts", ".js", ".mjs")):
        path = os.path.join(os.path.dirname(config), imported + suffix)
        text += read_configuration(path, folder, max_length - len(text))
    values = js_values(text, "srcDir")
    sources = os.path.normpath(os.path.join(folder, values[0])) if values and ".." not in values[0] else folder
    config_folder = os.path.join(folder, name)
    dynamic = is_inside(sources, folders_above(folder)[-1]) and _has_parameters(sources)
    unsure = "the configuration rewrites addresses" if re.search(r"\brewrites\b", text) else ""
    return Project(
        "vitepress",
        config,
        (Mount(sources),),
        "vitepress",
        suffixes=(".md",),
        indexes=("index", "README"),
        roots=(os.path.join(sources, "public"), os.path.join(config_folder, "public")),
        prefix=site_path((js_values(text, "base") or ("",))[0]),
        outputs=(f"{name}/dist", f"{name}/cache", "node_modules"),
        parts=(f"{name}/",),
        makes=re.compile(r"llms(?:-full)?\.txt|feed\.(?:xml|rss|json|atom)|sitemap\.xml|rss\.xml|404").fullmatch,
        more_pages=unsure or ("a page with parameters may make it" if dynamic else ""),
        more_anchors=OTHER_ANCHORS * bool(re.search(r"leftDelimiter|\bslugify\b", text)),
        inserts=_INSERTS,
        aliases=re.compile(r"[@~].*+").fullmatch,
        named_length=len(text) + MAX_NAMED_BYTES - max_length,
    )


def _has_parameters(sources: str) -> bool:
    """Whether a page has parameters in its name, as in `[name].md`, or may have because there are many folders."""
    for number, (_, folders, files) in enumerate(os.walk(sources)):
        folders[:] = [name for name in folders if name != "node_modules" and not name.startswith(".")]
        if number == _MAX_FOLDERS or any(_DYNAMIC.fullmatch(file) for file in files if file.endswith(".md")):
            return True
    return False
