"""MkDocs, with Material and common plug-ins: `mkdocs.yml`; `a/b.md` is `a/b/`, or `a/b.html`.

Links and images of Markdown are resolved by file; those of HTML in a page by the page's address.
"""

from __future__ import annotations

import os
import re
from typing import Final

from overthere.broken.generators.configuration import (
    MAX_NAMED_BYTES,
    read_configuration,
    site_path,
    yaml_block,
    yaml_names,
    yaml_value,
)  # fmt: skip
from overthere.broken.generators.project import OTHER_ANCHORS, Mount, Project

FILES = ("mkdocs.yml", "mkdocs.yaml")
_PAGE_MAKERS: Final = frozenset(
    (
        *("gen-files", "gallery", "monorepo", "multirepo", "i18n", "mkdocs-jupyter", "api-autonav", "mkdoxy"),
        *("pymdown", "apidoc", "autoapi", "exec", "simple", "same-dir", "projects", "material/projects", "redirects"),
        *("rss", "mkdocs-simple-hooks", "mkdocs-simple-plugin", "techdocs-core", "awesome-pages-generator"),
        *("schema_reader", "table-reader", "markdown-exec", "mike", "blogging", "file-filter", "build_plantuml"),
        *("caption", "alias"),
    )
)
"""Plug-ins that generate pages or files without a source."""
_ANCHOR_MAKERS: Final = {"macros": r"|\{\{|\{%", "table-reader": r"|\{\{"}
_INSERTS: Final = (
    r"^[ \t]*+;?-++8<-++[ \t]++[\"'](?P<path>[^\"':\n]++)|(?<!-)-++8<-|^:::[ \t]++\S|\{%-?\s*+(?:include|read)"
    r"|^::[\w-]++:|^[ \t]*+```\{?[ \t]*+\w++[ \t]++exec"
)
"""Snippets, and the insertions of mkdocstrings, include-markdown, mkdocs-click and markdown-exec."""
_THEME_FILES: Final = (
    r"search/(?:main|worker|lunr)\.js|img/favicon\.ico|css/(?:base|theme|theme_extra)\.css"
    r"|js/(?:base|theme|theme_extra)\.js|assets/(?:images/favicon\.png|(?:javascripts|stylesheets)/.*+)"
)
"""Files of the themes mkdocs, readthedocs and material, which the build copies."""


def read(folder: str, config: str, text: str) -> Project:
    texts = _with_inherited(folder, text)
    plugins = {name for text in texts for name in yaml_names(yaml_block(text, "plugins"))}
    has_hooks = any(yaml_names(yaml_block(text, "hooks")) for text in texts)

    def value(key: str) -> str:
        return next(filter(None, (yaml_value(text, key) for text in texts)), "")

    sources = os.path.join(folder, value("docs_dir") or "docs")
    makers = sorted(plugins & _PAGE_MAKERS)
    generated = [r"sitemap\.xml(?:\.gz)?", r"search/search_index\.json", "404", "search"]
    if "blog" in plugins or "material/blog" in plugins:
        generated.append(
            r"(?:(?!(?:archive|category|author|page)(?:/|\Z))[^/]*+/)*+(?:archive|category|author|page)(?:/.*+)?"
        )
    inserts = _INSERTS + "".join(_ANCHOR_MAKERS.get(name, "") for name in sorted(plugins))
    all_text = "\n".join((*texts, ""))
    toc = "".join(match[2] for match in _TOC.finditer(all_text))
    is_changed = "separator" in toc or ("slugify" in toc and not _LOWER.search(toc))
    theme_folders = re.findall(r"\bcustom_dir[\"']?:[ \t]*+[\"']?([\w./-]++)", all_text)
    snippets = re.findall(r"base_path:[ \t]*+\n?[ \t]*+[\[\"'!-]*+[ \t]*+([\w./-]++)", all_text)
    return Project(
        "mkdocs",
        config,
        (Mount(sources),),
        "pymdownx" if "pymdownx.slugs" in toc else "mkdocs",
        suffixes=(".md", ".markdown", ".mdown", ".mkdn", ".mkd"),
        indexes=("index", "README"),
        roots=tuple(os.path.join(folder, name) for name in theme_folders),
        ending=".html" if value("use_directory_urls").lower() in ("false", "no", "off") else "/",
        prefix=site_path(value("site_url")),
        outputs=("site",),
        makes=re.compile("|".join(generated)).fullmatch,
        makes_if_asked=re.compile(_THEME_FILES + r"|tags(?:/.*+)?" * ("tags" in plugins)).fullmatch,
        more_pages=f"the plug-in {makers[0]} may make it" if makers else _HOOK.format("make it") * has_hooks,
        more_anchors=_HOOK.format("add to it") * has_hooks or OTHER_ANCHORS * is_changed,
        inserts=re.compile(inserts, re.MULTILINE),
        bases=(folder, *(os.path.join(folder, name) for name in snippets)),
        named_length=sum(map(len, texts[1:])),
    )


_TOC: Final = re.compile(
    r"^([ \t]*+)(?:-[ \t]++)?(?:markdown\.extensions\.)?toc[ \t]*+:([^\n]*+\n(?:\1[ \t]++[^\n]*+\n)*+)", re.MULTILINE
)
"""The settings of the extension that makes the anchors of headings."""
_LOWER: Final = re.compile(r"\buslugify\b|\bcase[\"']?[ \t]*+:[ \t]*+[\"']?lower\b(?!-)")
_HOOK: Final = "a hook of the configuration may {}"
_MAX_INHERITED: Final = 10


def _with_inherited(folder: str, text: str) -> list[str]:
    """The text of a configuration, then of those from which it inherits (MkDocs, "Configuration Inheritance")."""
    texts, path = [text], os.path.join(folder, "")
    while len(texts) < _MAX_INHERITED and (name := yaml_value(texts[-1], "INHERIT")):
        path = os.path.join(os.path.dirname(path), name)
        texts.append(read_configuration(path, folder, MAX_NAMED_BYTES - sum(map(len, texts[1:]))))
    return texts
