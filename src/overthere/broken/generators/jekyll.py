"""Jekyll: `_config.yml`; `a/b.md` is `/a/b.html`; the addresses of posts and collections follow a pattern."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from itertools import product

from overthere.broken.generators.configuration import site_path, yaml_value
from overthere.broken.generators.project import Mount, Project

FILES = ("_config.yml", "_config.yaml", "_config.toml")
_POST = re.compile(r"(?:(.*)/)?_(?:posts|drafts)/(?:.*/)?(?:(\d{4})-(\d{1,2})-(\d{1,2})-)?([^/]++)")
_COLLECTION = re.compile(r"(?:.*/)?_([^/]++)/(.*)")
_DATE = re.compile(r"^(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)", re.MULTILINE | re.ASCII)
_PATTERN = re.compile(r"(?:^[ \t]++|[{,][ \t]*+)permalink[ \t]*+:[ \t]*+[\"']?([^\"'#\n},]++)", re.MULTILINE)
_INSERTS = re.compile(
    r"\{%-?\s*+(?:include(?:_relative|_cached)?\s++(?P<path>[\w./-]++)|for|render)|\{\{-?\s*+(?:content|page\.content)"
)
_MAX_PATTERNS, _MAX_LENGTH = 50, 1000
"""Maximum number of patterns, and maximum length of a pattern and of its addresses, in characters."""
_STYLES = {
    "date": "/:categories/:year/:month/:day/:title.html", "pretty": "/:categories/:year/:month/:day/:title/",
    "none": "/:categories/:title.html", "ordinal": "/:categories/:year/:y_day/:title.html",
}  # fmt: skip


def read(folder: str, config: str, text: str) -> Project:
    # Jupyter Book uses the same file name; its folder also has a table of contents.
    if os.path.exists(os.path.join(folder, "_toc.yml")):
        return Project(
            "jupyter-book", config, (Mount(folder),), "myst", suffixes=(".md", ".ipynb", ".rst"), outputs=("_build",),
            makes=re.compile(r"genindex|search|_static/.*").fullmatch, aliases=re.compile(r"[^#?]*+").fullmatch,
        )  # fmt: skip
    style = yaml_value(text, "permalink")
    patterns = [pattern.strip() for pattern in _PATTERN.findall(text)][:_MAX_PATTERNS]
    extra = re.search(r"archives|paginate|datapage|multiple-languages|polyglot|scholar", text)
    return Project(
        "jekyll",
        config,
        (Mount(os.path.join(folder, yaml_value(text, "source"))),),
        "kramdown" if re.search(r"^[ \t]++input:[ \t]*+kramdown", text, re.MULTILINE) else "jekyll",
        suffixes=(".md", ".markdown", ".html", ".htm", ".mkd", ".mkdn"),
        indexes=("index", "README", "readme"),
        ending="/" if style.endswith(("pretty", "/")) or any(pattern.endswith("/") for pattern in patterns) else "",
        roots=(os.path.join(folder, "assets"),),
        prefix=site_path(yaml_value(text, "baseurl")),
        keys=("permalink", "redirect_from", "title", "slug", "categories", "category", "date"),
        addresses=_Addresses([_STYLES.get(style, style), *patterns, *_STYLES.values()]),
        outputs=("_site", "vendor", "node_modules"),
        parts=("_layouts/", "_includes/", "_sass/", "_data/"),
        makes=re.compile(r"(?:.*/)?(?:feed|atom|rss|sitemap)\.xml|robots\.txt|.*\.css").fullmatch,
        more_pages="a plug-in may make it" if extra else "",
        inserts=_INSERTS,
        bases=(os.path.join(folder, "_includes"),),
    )


class _Addresses:
    """The addresses of pages by the patterns of a configuration."""

    def __init__(self, patterns: list[str]) -> None:
        self.patterns: list[str] = [name for name in dict.fromkeys(patterns) if ":" in name and len(name) < _MAX_LENGTH]

    def __call__(self, project: Project, stem: str, front: Mapping[str, list[str]]) -> list[str]:
        addresses = [name.strip("/") for name in (*front.get("permalink", ()), *front.get("redirect_from", ()))]
        all_names: list[dict[str, str]] = []
        if post := _POST.fullmatch(stem):
            dates = [(post[2] or "", post[3] or "", post[4] or ""), *_DATE.findall("\n".join(front.get("date", ())))]
            title = (front.get("slug") or [post[5]])[0]
            categories = front.get("categories", [])
            if len(categories) == 1:
                categories = categories[0].split()
            path = "/".join([post[1] or "", *categories, *front.get("category", ())]).strip("/")
            all_names = [
                {
                    "collection": "posts", "year": year, "month": month.zfill(2), "day": day.zfill(2), "title": title,
                    "slug": title, "name": title, "categories": path.lower(), "path": title,
                    "i_month": month.lstrip("0"), "i_day": day.lstrip("0"), "short_year": year[2:],
                    "output_ext": ".html",
                }
                for year, month, day in dates[:2]
            ]  # fmt: skip
        elif match := _COLLECTION.fullmatch(stem):
            last = match[2].rpartition("/")[2]
            all_names = [{
                "collection": match[1], "path": match[2], "name": last, "title": (front.get("slug") or [last])[0],
                "slug": last, "output_ext": ".html",
            }]  # fmt: skip
            addresses.append(f"{match[1]}/{match[2]}")
        for names, pattern in product(all_names, self.patterns):
            address = _fill(pattern, names)
            if ":" not in address and len(address) < _MAX_LENGTH:
                addresses.append(re.sub("//+", "/", address).strip("/"))
        return addresses


def _fill(pattern: str, names: Mapping[str, str]) -> str:
    return re.sub(r":(\w++)", lambda name: names.get(name[1], name[0]), pattern)
