"""The marks of tests/marks.toml: every entry is an existing test, and `make test-all` runs every test."""

from __future__ import annotations

import ast
import tomllib
from functools import cache
from typing import Any

import pytest

from support import ROOT, TESTS

MARKS: dict[str, Any] = tomllib.loads((TESTS / "marks.toml").read_text())
FILES = [*MARKS["kernel"]["answers"], *MARKS["kernel"]["passing"]]
NAMED = [*MARKS["exhaustive"]["whole"], *MARKS["exhaustive"]["sampled"]]


@cache
def names(file: str) -> frozenset[str]:
    """The tests of a file: methods as "class::name", without those of base classes."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef))


def test_every_entry_exists() -> None:
    assert all((ROOT / file).is_file() for file in FILES)
    assert all((ROOT / folder).is_dir() for folder in MARKS["exhaustive"]["folders"])
    for test in NAMED:
        file, _, name = test.partition("::")
        assert name.partition("::")[0] in names(file), test


def test_every_entry_is_unique() -> None:
    assert len(set(FILES)) == len(FILES)
    assert len(set(NAMED)) == len(NAMED)
    assert all(step > 1 for step in MARKS["exhaustive"]["sampled"].values())


def test_no_test_is_left_out() -> None:
    """The halves of `make test-all` are complements, natively and on the reference kernel."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "$(call run_tests,not exhaustive)" in text
    assert "$(call run_tests,exhaustive)" in text
    if (file := ROOT / ".ci" / "run").exists():  # not in the source distribution
        ci = file.read_text(encoding="utf-8")
        assert ci.index("make test ") < ci.index("make test-rest ")


@pytest.mark.parametrize("room", sorted(folder.name for folder in TESTS.iterdir() if any(folder.glob("test_*.py"))))
def test_a_folder_of_tests_is_importable(room: str) -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    assert f"tests/{room}" in settings["pytest"]["ini_options"]["pythonpath"]
    assert f"tests/{room}" in settings["mypy"]["mypy_path"]
