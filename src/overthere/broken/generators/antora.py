"""Antora: `antora.yml`; the pages of a component are in `modules/MODULE/pages`."""

from __future__ import annotations

import os

from overthere.broken.generators.configuration import yaml_value
from overthere.broken.generators.project import Mount, Project

FILES = ("antora.yml",)


def read(folder: str, config: str, text: str) -> Project:
    name = yaml_value(text, "name")
    modules = os.path.join(folder, "modules")
    try:
        names = sorted(os.listdir(modules))
    except OSError:
        names = []
    mounts = [Mount(os.path.join(modules, module, "pages"), f"{name}/{module}/") for module in names]
    return Project(
        "antora", config, tuple(mounts) or (Mount(modules),), "github", suffixes=(".adoc", ".asciidoc"),
        more_pages="another component may have it",
    )  # fmt: skip
