"""Quarto: `_quarto.yml`; `a/b.qmd` is `a/b.html`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from overthere.broken.generators.project import Mount, Project

FILES = ("_quarto.yml", "_quarto.yaml")


def read(folder: str, config: str, text: str) -> Project:
    output = re.search(r"^[ \t]++output-dir:[ \t]*+([^\s#]++)", text, re.MULTILINE)
    return Project(
        "quarto",
        config,
        (Mount(folder),),
        "pandoc",
        suffixes=(".qmd", ".md", ".ipynb", ".Rmd", ".rmd"),
        roots=(folder,),
        outputs=(output[1] if output else "_site", "_book", "_freeze"),
        parts=("_",),
        keys=("aliases",),
        addresses=_addresses,
        makes=re.compile(
            r"search\.json|listings\.json|sitemap\.xml|(?:.*/)?index\.xml|site_libs/.*|robots\.txt"
        ).fullmatch,
        inserts=re.compile(r"\{\{<\s*+(?:include\s++(?P<path>[^\s>]++)|embed)|^```\{", re.MULTILINE),
        more_pages="a step before the build may make it" if re.search(r"pre-render|quartodoc", text) else "",
    )


def _addresses(project: Project, stem: str, front: Mapping[str, list[str]]) -> list[str]:
    folder = stem.rpartition("/")[0]
    return [alias.strip("/") if alias[:1] == "/" else f"{folder}/{alias}" for alias in front.get("aliases", ())]
