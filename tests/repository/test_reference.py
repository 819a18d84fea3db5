"""The reference shows every public name: those of the package, and those of its public modules (docs/reference)."""

from __future__ import annotations

import importlib
import inspect
import re
from types import ModuleType

import pytest

import overthere
from support import ROOT

SHOWN = re.compile(r"^\.\. auto\w+:: (\S+)$", re.MULTILINE)
PAGES = sorted((ROOT / "docs" / "reference").glob("*.md"))
MODULES = [name for name in overthere.__all__ if isinstance(getattr(overthere, name), ModuleType)]


def thing(path: str) -> object:
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def shown() -> dict[str, object]:
    names = [name for page in PAGES for name in SHOWN.findall(page.read_text())]
    assert len(names) == len(set(names)), "a name is shown twice"
    return {name: thing(name) for name in names}


def test_every_name_of_the_package_is_shown() -> None:
    missing = [name for name in overthere.__all__ if name not in MODULES and f"overthere.{name}" not in shown()]
    assert not missing


@pytest.mark.parametrize("module", [*MODULES, "testing"])
def test_every_name_of_a_public_module_is_shown(module: str) -> None:
    home = importlib.import_module(f"overthere.{module}")
    here = shown()
    things = [id(value) for value in here.values()]
    missing = [
        name
        for name in home.__all__
        if not inspect.ismodule(value := getattr(home, name))
        and f"overthere.{module}.{name}" not in here
        and id(value) not in things
    ]
    assert not missing
