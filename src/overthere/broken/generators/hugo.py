"""Hugo: `hugo.toml`, `config.toml` and their like; `content/a/b.md` is `/a/b/`, and each folder of pages has a list."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Mapping
from unicodedata import category

from overthere.broken.generators.configuration import site_path
from overthere.broken.generators.project import OTHER_ANCHORS, Mount, Project

FILES = tuple(
    f"{folder}{name}.{suffix}"
    for folder in ("", "config/_default/")
    for name in ("hugo", "config")
    for suffix in ("toml", "yaml", "yml", "json")
)
_BASE = re.compile(r"^[ \t\"']*+baseurl[\"']?[ \t]*+[:=][ \t]*+[\"']?([^\"'\n#]*+)", re.IGNORECASE | re.MULTILINE)
_CONTENT = re.compile(r"^[ \t\"']*+contentdir[\"']?[ \t]*+[:=][ \t]*+[\"']?([^\"'\n#]++)", re.IGNORECASE | re.MULTILINE)
_SETS_ADDRESSES = re.compile(
    r"^[ \t\"']*+(?:\[?permalinks\b|(?:disablePathToLower|removePathAccents)[\"']?[ \t]*+[:=][ \t]*+true)",
    re.IGNORECASE | re.MULTILINE,
)
_DEFAULT_LANGUAGE = re.compile(
    r"^defaultContentLanguage[ \t]*+[:=][ \t]*+[\"']?([\w-]++)", re.IGNORECASE | re.MULTILINE
)
_DATE = re.compile(r"(?:\A|(?<=/))\d{4}-\d{2}-\d{2}[-_](?=[^/]*+\Z)")
_LANGUAGE = re.compile(r"\.[a-z]{2,3}(?:-[A-Za-z]{2,8})?\Z")
_MOUNT = re.compile(
    r"^[ \t-]*+source[ \t]*+[:=][ \t]*+[\"']?([^\"'\n]++)[\"']?\n"
    r"[ \t]*+target[ \t]*+[:=][ \t]*+[\"']?content/?([^\"'\n]*+)",
    re.MULTILINE,
)
_is_generated = re.compile(r"(?:.*/)?(?:tags|categories)|(?:.*/)?(?:index|sitemap)\.xml|robots\.txt").fullmatch
_is_term_page = re.compile(
    r"(?:(?!(?:tags|categories|series|authors|page)(?:/|\Z))[^/]*+/)*+(?:tags|categories|series|authors|page)(?:/.*+)?",
    re.DOTALL,
).fullmatch
_EMBEDDED = re.compile(r"useEmbedded[ \t]*+[:=][ \t]*+[\"']?(?:always|fallback)|enableDefault[ \t]*+[:=][ \t]*+true")
_CHANGES_ANCHORS = re.compile(
    r"autoHeadingID(?:Type[\"']?[ \t]*+[:=](?![ \t\"']*+github\b(?!-))|[\"']?[ \t]*+[:=][ \t]*+false)", re.IGNORECASE
)
_INSERTS = re.compile(
    r"\{\{[<%]-?\s*+\w*(?:include|readfile|partial|snippet|embed|transclu|render|content|autodoc|generate|glossary|api)"
)
"""Shortcodes whose names indicate that they insert text."""


def read(folder: str, config: str, text: str) -> Project | None:
    base = _BASE.search(text)
    if base is None and "config." in os.path.basename(config):
        return None
    contents = dict.fromkeys(name.strip() for name in ("content", *_CONTENT.findall(text)))
    mounts = [Mount(os.path.join(folder, name)) for name in contents]
    for source, target in _MOUNT.findall(text):
        mounts.append(Mount(os.path.join(folder, source.strip()), f"{target.strip('/')}/".lstrip("/")))
    if re.search(r"^defaultContentLanguageInSubdir[ \t]*+[:=][ \t]*+true", text, re.IGNORECASE | re.MULTILINE):
        default = _DEFAULT_LANGUAGE.search(text)
        mounts = [mount._replace(route=f"{default[1] if default else 'en'}/{mount.route}") for mount in mounts]
    themes = _subfolders(os.path.join(folder, "themes"))
    hooks = _has_hook(folder, "link") or _has_hook(folder, "heading")
    is_elsewhere = not themes and re.search(r"^[ \t]*+\[?(?:module|theme)\b", text, re.MULTILINE) is not None
    rewrites = is_elsewhere or any(_has_hook(top, "link") for top in (folder, *themes)) or bool(_EMBEDDED.search(text))
    addresses = "the configuration sets addresses" if _SETS_ADDRESSES.search(text) else ""
    return Project(
        "hugo",
        config,
        tuple(mounts),
        "hugo",
        suffixes=(".md", ".markdown", ".mdown", ".html", ".adoc", ".org", ".rst"),
        indexes=("_index", "index"),
        ending=".html" if re.search(r"^uglyurls[ \t]*+[:=][ \t]*+true", text, re.IGNORECASE | re.MULTILINE) else "/",
        roots=tuple(os.path.join(root, name) for root in (folder, *themes) for name in ("static", "assets")),
        prefix=site_path(base[1].strip() if base else ""),
        keys=("url", "slug", "aliases"),
        addresses=_addresses,
        outputs=("public", "resources"),
        parts=("layouts/", "archetypes/", "themes/"),
        rewrites=rewrites,
        makes=_is_generated,
        makes_if_asked=_is_term_page,
        more_pages="a render hook decides where links lead" if hooks else addresses,
        more_anchors="a render hook may make it" if hooks else OTHER_ANCHORS * bool(_CHANGES_ANCHORS.search(text)),
        inserts=_INSERTS,
        aliases=re.compile(r"(?:ref|relref):.*+").fullmatch,
    )  # fmt: skip


def _has_hook(folder: str, name: str) -> bool:
    """Whether a site or a theme has a template that renders links or headings."""
    return any(
        os.path.isfile(os.path.join(folder, "layouts", below, f"render-{name}.html"))
        for below in ("_markup", "_default/_markup")
    )


def _subfolders(folder: str) -> list[str]:
    try:
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    except OSError:
        return []


def _addresses(project: Project, stem: str, front: Mapping[str, list[str]]) -> list[str]:
    folder, _, last = stem.rpartition("/")
    within = f"{folder}/" if folder else ""
    addresses = [address.strip("/") for address in (*front.get("url", ()), *front.get("aliases", ()))]
    relative = (*front.get("slug", ()), *front.get("aliases", ()))
    addresses += [posixpath.normpath(f"/{within}{name}").strip("/") for name in relative]
    if language := _LANGUAGE.search(last):
        plain = stem[: language.start() - len(last)] if language.start() < len(last) else stem
        addresses += [plain, f"{language[0][1:]}/{plain}"]
    addresses.append(_DATE.sub("", stem))  # if the configuration takes dates from names
    first, _, remaining_path = stem.partition("/")
    if re.fullmatch(r"[a-z]{2}(?:-[A-Za-z]{2,4})?", first):  # content/en/a.md is /a/ or /en/a/
        addresses.append(remaining_path)
    return [*addresses, *map(_sanitize, (stem, *addresses))]


def _sanitize(address: str) -> str:
    """An address without the characters that Hugo leaves out: "A & b/(c)" becomes "a-b/c"."""
    allowed = (c for c in address.lower() if c in "./_#+~-@% " or category(c)[0] in "LM" or category(c) == "Nd")
    return " ".join("".join(allowed).split()).replace("- ", "-").replace(" -", "-").replace(" ", "-")
