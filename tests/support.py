"""What the tests share: the case files, and the outside rows where they are present."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
SHARED = ROOT.parent / "shared" / "cases"


def cases(name: str) -> list[dict[str, Any]]:
    """The rows of tests/cases/NAME.toml."""
    rows: list[dict[str, Any]] = tomllib.loads((TESTS / "cases" / f"{name}.toml").read_text())["case"]
    return rows


def ids(rows: list[dict[str, Any]]) -> list[str]:
    return [row["id"] for row in rows]


def outside(name: str) -> list[dict[str, Any]]:
    """The rows of a file that lies beside the project, in ../shared/cases; none where it is absent."""
    file = SHARED / f"{name}.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
