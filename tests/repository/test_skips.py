"""Every reason to skip a test stands in expected_failures.toml: read from the files, as few reasons are met here."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import skips
import support
from support import TESTS


def _text(node: ast.expr) -> str | None:
    """What an expression says, as far as it stands in the file or is a constant of tests/support.py."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    return getattr(support, node.id, None) if isinstance(node, ast.Name) else None


def reasons(file: Path) -> Iterator[tuple[int, str]]:
    """The reasons of a file: of `skip`, `skipif` and `importorskip`, and of `need`, whose words are programs."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name == "need":
            said = [f"{Path(text).name} is not installed" for one in node.args if (text := _text(one))]
        elif name == "skip":
            said = [text for one in node.args if (text := _text(one))]
        elif name in ("skipif", "importorskip"):
            said = [text for one in node.keywords if one.arg == "reason" and (text := _text(one.value))]
        else:
            continue
        yield from ((node.lineno, one) for one in said)


def test_every_reason_is_listed() -> None:
    found = [(file, line, reason) for file in sorted(TESTS.rglob("*.py")) for line, reason in reasons(file)]
    assert len(found) > 100
    unlisted = [f"{file.relative_to(TESTS)}:{line}: {one}" for file, line, one in found if one not in skips.REASONS]
    assert not unlisted, "\n".join(unlisted)


def test_each_stands_there_once_with_its_source() -> None:
    assert len(skips.REASONS) == len(skips.ROWS)
    assert all(row["source"] for row in skips.ROWS)


def test_make_servers_installs_the_package_of_each_missing_program() -> None:
    packages = (TESTS / "servers" / "packages.txt").read_text().split()
    assert {row["package"] for row in skips.ROWS if "package" in row} <= set(packages)


SKIPPED = {
    "a::first[1]": "curl is not installed",
    "a::first[2]": "chromium is not installed",
    "a::second": "curl is not installed",
    "b::third": "ada is absent",
}


def test_a_run_ends_with_the_programs_that_tests_lack() -> None:
    assert list(skips.summary(SKIPPED, ["94-X-1", "94-X-2"])) == [
        "3 tests were skipped because these programs are not installed: chromium, curl.",
        "2 statements of the documents are shown only by skipped tests: 94-X-1, 94-X-2.",
        "`make servers` installs these programs (with root and apt).",
    ]
    assert list(skips.summary({"b::third": "ada is absent"}, [])) == []


def test_programs_are_required_where_ci_has_installed_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skips, "REQUIRED", False)
    assert list(skips.forbidden(SKIPPED | {"c": "no reason"})) == ["c: no reason"]
    monkeypatch.setattr(skips, "REQUIRED", True)
    assert [line.partition(":")[0] for line in skips.forbidden(SKIPPED)] == ["a", "a", "a"]
