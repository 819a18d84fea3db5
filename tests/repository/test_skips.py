"""Every reason to skip a test is in expected_failures.toml; checked in the source, since one run has few skips."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import skips
import support
from support import TESTS


def _text(node: ast.expr) -> str | None:
    """The text of an expression, if it is a literal or a constant of tests/support.py."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    return getattr(support, node.id, None) if isinstance(node, ast.Name) else None


def reasons(file: Path) -> Iterator[tuple[int, str]]:
    """The reasons in a file: of `skip`, `skipif`, `importorskip`, and `need`, whose arguments are programs."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name == "need":
            reasons = [f"{Path(text).name} is not installed" for argument in node.args if (text := _text(argument))]
        elif name == "skip":
            reasons = [text for argument in node.args if (text := _text(argument))]
        elif name in ("skipif", "importorskip"):
            reasons = [text for keyword in node.keywords if keyword.arg == "reason" and (text := _text(keyword.value))]
        else:
            continue
        yield from ((node.lineno, reason) for reason in reasons)


def test_every_reason_is_listed() -> None:
    uses = [(file, line, reason) for file in sorted(TESTS.rglob("*.py")) for line, reason in reasons(file)]
    assert len(uses) > 100
    unlisted = [f"{file.relative_to(TESTS)}:{line}: {one}" for file, line, one in uses if one not in skips.REASONS]
    assert not unlisted, "\n".join(unlisted)


def test_each_reason_is_listed_once_with_its_source() -> None:
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


def test_a_run_ends_with_the_missing_programs() -> None:
    assert list(skips.summary(SKIPPED, ["94-X-1", "94-X-2"])) == [
        "3 tests were skipped because these programs are not installed: chromium, curl.",
        "2 statements of the documents are shown only by skipped tests: 94-X-1, 94-X-2.",
        "`make servers` installs these programs (with root and apt).",
    ]
    assert list(skips.summary({"b::third": "ada is absent"}, [])) == []


def test_programs_are_required_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skips, "REQUIRED", False)
    assert list(skips.forbidden(SKIPPED | {"c": "no reason"})) == ["c: no reason"]
    monkeypatch.setattr(skips, "REQUIRED", True)
    assert [line.partition(":")[0] for line in skips.forbidden(SKIPPED)] == ["a", "a", "a"]
