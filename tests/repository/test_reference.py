"""The reference pages document every public name: of the package, and of its public modules (docs/reference)."""

from __future__ import annotations

import importlib
import inspect
import re
from types import ModuleType

import pytest

import overthere
from support import ROOT

ENTRY = re.compile(r"^\.\. auto\w+:: (\S+)$", re.MULTILINE)
PAGES = sorted((ROOT / "docs" / "reference").glob("*.md"))
MODULES = [name for name in overthere.__all__ if isinstance(getattr(overthere, name), ModuleType)]


VALUES = (overthere.URI, overthere.URIReference, overthere.IRI, overthere.IRIReference)
NAMES = [value.__name__ for value in VALUES]


def resolve(path: str) -> object:
    """The object at a path: a name of a module, or a member of a class of values."""
    module, _, name = path.rpartition(".")
    home, _, last = module.rpartition(".")
    if value := next((value for value in VALUES if home == "overthere" and last == value.__name__), None):
        return inspect.getattr_static(value, name)
    return getattr(importlib.import_module(module), name)


def documented() -> dict[str, object]:
    names = [name for page in PAGES for name in ENTRY.findall(page.read_text())]
    assert len(names) == len(set(names)), "a name is shown twice"
    return {name: resolve(name) for name in names}


def test_every_name_of_the_package_is_documented() -> None:
    missing = [name for name in overthere.__all__ if name not in MODULES and f"overthere.{name}" not in documented()]
    assert not missing


@pytest.mark.parametrize("module", [*MODULES, "testing"])
def test_every_name_of_a_public_module_is_documented(module: str) -> None:
    home = importlib.import_module(f"overthere.{module}")
    names = documented()
    things = [id(value) for value in names.values()]
    missing = [
        name
        for name in home.__all__
        if not inspect.ismodule(value := getattr(home, name))
        and f"overthere.{module}.{name}" not in names
        and id(value) not in things
    ]
    assert not missing


def test_every_member_of_the_values_is_documented() -> None:
    """Once, on the page of its subject; except names of other libraries, which only explain the name here."""
    members = {
        name: inspect.getattr_static(value, name) for value in VALUES for name in dir(value) if not name.startswith("_")
    }
    public = {name for name, member in members.items() if type(member).__name__ != "_MovedAttribute"} - {"rule"}
    names = [path.rpartition(".")[2] for path in documented() if path.count(".") == 2 and path.split(".")[1] in NAMES]
    assert sorted(names) == sorted(public)


SEARCHED = {
    "windows path": "howto/schemes.md", "to_path": "howto/schemes.md", "mailto": "howto/schemes.md",
    "punycode": "howto/hosts.md", "internal": "howto/hosts.md", "utm": "howto/queries.md", "ssrf": "howto/safety.md",
}  # fmt: skip
"""Searches that readers type on the site, and the page with the section that answers them."""


@pytest.mark.parametrize("words", SEARCHED)
def test_titles_contain_the_searched_words(words: str) -> None:
    """The search of the site ranks titles first."""
    page = (ROOT / "docs" / SEARCHED[words]).read_text("utf-8")
    titles = [title.lower() for title in re.findall("^## (.+)$", page, re.MULTILINE)]
    assert [title for title in titles if all(word in title for word in words.split())]


def test_the_list_of_public_names_is_current() -> None:
    """Removing a name or a parameter breaks a promise (docs/stability.md); `make docs` adds new ones."""
    import generate_names

    listed = (ROOT / "docs" / "public_names.txt").read_text("utf-8")
    assert generate_names.page() == listed
    assert {f"overthere.{name}" for name in overthere.__all__ if name not in MODULES} <= {
        line.partition("(")[0] for line in listed.splitlines()
    }
