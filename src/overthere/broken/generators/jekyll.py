"""Jekyll: `_config.yml`; `a/b.md` is `/a/b.html`; the addresses of posts and collections follow a pattern."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import date
from functools import partial
from itertools import product
from unicodedata import category

from overthere.broken.generators.configuration import site_path, yaml_value
from overthere.broken.generators.project import Mount, Project

FILES = ("_config.yml", "_config.yaml", "_config.toml")
_POST = re.compile(r"(?s)(?!.*/\Z)(?:(.*)/)?_(?:posts|drafts)/(?:.*/)?(?:(\d{4})-(\d{1,2})-(\d{1,2})-)?([^/]++)")
_COLLECTION = re.compile(r"(?:.*/)?_([^/]++)/(.*)")
_DATE = re.compile(r"^(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)", re.MULTILINE | re.ASCII)
_PATTERN = re.compile(r"(?:^[ \t]++|[{,][ \t]*+)permalink[ \t]*+:[ \t]*+[\"']?([^\"'#\n},]++)", re.MULTILINE)
_INSERTS = re.compile(
    r"\{%-?\s*+(?:include(?:_relative|_cached)?\s++(?P<path>[\w./-]++)|for|render)|\{\{-?\s*+(?:content|page\.content)"
)
_FORMS = {
    "year": "%Y", "month": "%m", "day": "%d", "short_year": "%y", "y_day": "%j", "week": "%V", "w_year": "%G",
    "w_day": "%u",
}  # fmt: skip
"""The parts of a date in a pattern (Jekyll, "Permalinks"), but for names, which `strftime` writes by the locale."""
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MAX_PATTERNS, _MAX_LENGTH = 50, 1000
"""Maximum number of patterns, and maximum length of a pattern and of its addresses, in characters."""
_STYLES = {
    "date": "/:categories/:year/:month/:day/:title.html", "pretty": "/:categories/:year/:month/:day/:title/",
    "none": "/:categories/:title.html", "ordinal": "/:categories/:year/:y_day/:title.html",
    "weekdate": "/:categories/:year/W:week/:short_day/:title.html",
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
        addresses=_Addresses(
            [_STYLES.get(style, style), *patterns, *_STYLES.values()], yaml_value(text, "collections_dir")
        ),
        outputs=("_site", "vendor", "node_modules"),
        parts=("_layouts/", "_includes/", "_sass/", "_data/"),
        makes=re.compile(r"(?:.*/)?(?:feed|atom|rss|sitemap)\.xml|robots\.txt|.*\.css").fullmatch,
        more_pages="a plug-in may make it" if extra else "",
        inserts=_INSERTS,
        bases=(os.path.join(folder, "_includes"),),
    )


class _Addresses:
    """The addresses of pages by the patterns of a configuration."""

    def __init__(self, patterns: list[str], folder: str) -> None:
        self.folder: str = folder
        """The folder of collections."""
        self.patterns: list[str] = [name for name in dict.fromkeys(patterns) if ":" in name and len(name) < _MAX_LENGTH]

    def __call__(self, project: Project, stem: str, front: Mapping[str, list[str]]) -> list[str]:
        links = (*front.get("permalink", ()), *front.get("redirect_from", ()))
        addresses = [name.strip("/") for name in links]
        all_names = [{"basename": stem.rpartition("/")[2], "path": stem.rpartition("/")[0], "output_ext": ".html"}]
        patterns = [name for name in links if ":" in name and len(name) < _MAX_LENGTH]
        if post := _POST.fullmatch(stem):
            dates = [post.group(2, 3, 4), *_DATE.findall("\n".join(front.get("date", ())))]
            categories = front.get("categories", [])
            if len(categories) == 1:
                categories = categories[0].split()
            folder = f"{post[1] or ''}/".removeprefix(f"{self.folder}/")
            path = "/".join([folder, *categories, *front.get("category", ())]).strip("/")
            names = {"collection": "posts", "categories": path.lower(), **_titles(front, post[5], stem)}
            all_names = [names | _date_names(*date) for date in dates[:2]]
        elif match := _COLLECTION.fullmatch(stem):
            last = match[2].rpartition("/")[2]
            all_names = [{"collection": match[1], **_titles(front, last, stem), "path": match[2]}]
            addresses.append(f"{match[1]}/{match[2]}")
        patterns += self.patterns if "collection" in all_names[0] else ()
        for names, pattern in product(all_names, patterns):
            address = re.sub(r":(\w++)", partial(_value, names), pattern)
            if ":" not in address and len(address) < _MAX_LENGTH:
                addresses.append(re.sub("//+", "/", address).strip("/"))
        return addresses


def _value(names: Mapping[str, str], name: re.Match[str]) -> str:
    return names.get(name[1], name[0])


def _titles(front: Mapping[str, list[str]], last: str, stem: str) -> dict[str, str]:
    title = (front.get("slug") or [last])[0]
    cased, slug = _slug(title, "._~!$&'()+,;=@"), _slug(title, "").lower()
    name = _slug(stem.rpartition("/")[2], "").lower()
    return {"title": cased, "slug": slug, "name": name, "path": last, "output_ext": ".html"}


def _slug(text: str, allowed: str) -> str:
    """The text with a hyphen for each sequence of characters that are not letters, marks or digits (Utils.slugify)."""
    plain = (c if c in allowed or category(c)[0] in "LM" or category(c) == "Nd" else " " for c in text)
    return "-".join("".join(plain).split())


def _date_names(year: str, month: str, day: str) -> dict[str, str]:
    """The parts of a date; none of an impossible one."""
    try:
        day_of_post = date(int(year), int(month), int(day))
    except (TypeError, ValueError):
        return {}
    names = {name: day_of_post.strftime(form) for name, form in _FORMS.items()}
    long_month, long_day = _MONTHS[day_of_post.month - 1], _DAYS[day_of_post.weekday()]
    return names | {
        "i_month": str(day_of_post.month), "i_day": str(day_of_post.day), "long_month": long_month,
        "short_month": long_month[:3], "long_day": long_day, "short_day": long_day[:3],
    }  # fmt: skip
