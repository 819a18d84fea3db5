"""Every reason to skip a test stands in expected_failures.toml: read from the files, as few reasons are met here."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import support
from support import TESTS

ROWS: list[dict[str, str]] = tomllib.loads((TESTS / "expected_failures.toml").read_text(encoding="utf-8"))["skip"]
LISTED = {row["reason"] for row in ROWS}


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
    unlisted = [f"{file.relative_to(TESTS)}:{line}: {one}" for file, line, one in found if one not in LISTED]
    assert not unlisted, "\n".join(unlisted)


def test_each_stands_there_once_with_its_source() -> None:
    assert len(LISTED) == len(ROWS)
    assert all(row["source"] for row in ROWS)
