"""docs/security.md: each promise names existing tests; and promises that only this file tests."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache

import pytest

from support import ROOT

PAGE = (ROOT / "docs" / "security.md").read_text("utf-8")
PROMISES = [
    line for table in re.findall(r"(?m)^\|.*\| tests \|\n\|[-|]+\n((?:\|.*\n)+)", PAGE) for line in table.splitlines()
]
"""The rows of the promises, and of what was searched by hand."""
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


@cache
def names(path: str) -> frozenset[str]:
    """The tests of a file: functions and classes that pytest collects."""
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return frozenset(n.name for n in tree.body if isinstance(n, kinds) and n.name.lower().startswith("test"))


def test_there_are_promises() -> None:
    assert len(PROMISES) > 100
    assert len(re.findall(r"(?m)^\| promise \|", PAGE)) == 6


@pytest.mark.parametrize("line", PROMISES, ids=lambda line: line.split("|")[1].strip()[:40])
def test_the_tests_of_a_promise_exist(line: str) -> None:
    _, promise, *_, tests, _ = line.split("|")
    entries = TEST.findall(tests)
    assert promise.strip()
    assert entries, "no test is named"
    assert TEST.sub("", tests).strip(" ,") == "", "something else than tests"
    for path, name in entries:
        assert name in names(path), f"{path} has no {name}"


def test_the_core_forbids_unsafe_code() -> None:
    text = (ROOT / "rust" / "core" / "src" / "lib.rs").read_text("utf-8")
    assert "#![forbid(unsafe_code)]" in text


LINTS = ("string_slice", "indexing_slicing", "unwrap_used", "expect_used", "panic", "allow_attributes_without_reason")


def test_panics_are_denied_in_all_crates() -> None:
    """`make check` runs clippy; each exception needs a reason next to it, which clippy requires too."""
    workspace = tomllib.loads((ROOT / "rust" / "Cargo.toml").read_text("utf-8"))["workspace"]
    assert {name: workspace["lints"]["clippy"][name] for name in LINTS} == dict.fromkeys(LINTS, "deny")
    for member in workspace["members"]:
        crate = tomllib.loads((ROOT / "rust" / member / "Cargo.toml").read_text("utf-8"))
        assert crate["lints"] == {"workspace": True}, member
