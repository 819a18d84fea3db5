"""`links/` is built in one direction: modules import from lower floors only (ARCHITECTURE.md)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from support import ROOT

HOME = ROOT / "src" / "overthere"
FLOORS = ("model", "faults", "documents", "containers", "indexes", "report", "job", "spark")
"""From the ground up. None of them imports `overthere.links` itself, which re-exports from above."""
MODULES = {
    ".".join(("overthere.links", *path.relative_to(HOME / "links").with_suffix("").parts)).removesuffix(
        ".__init__"
    ): path
    for path in (HOME / "links").rglob("*.py")
}


def named(path: Path) -> Iterator[str]:
    """The modules of `links` that a file names: in imports, lazy ones too, and in texts that are imported later."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in MODULES else str(node.module)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif (
            isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("overthere.links.")
        ):
            yield node.value.rstrip(".")


def floor(module: str) -> int:
    names = module.split(".")
    return FLOORS.index(names[2]) if len(names) > 2 else len(FLOORS)


EDGES = {module: {other for other in named(path) if other in MODULES} - {module} for module, path in MODULES.items()}


@pytest.mark.parametrize("module", sorted(MODULES))
def test_an_import_goes_down(module: str) -> None:
    upwards = {other for other in EDGES[module] if floor(other) > floor(module)}
    assert not upwards, f"{module} imports what is built on it"


def test_there_is_no_import_cycle() -> None:
    """Also within a floor: `static_order` raises for a cycle.  Folders contain no code that imports their files."""
    list(TopologicalSorter(EDGES).static_order())


def test_lazy_imports_are_found() -> None:
    """In texts, too; otherwise the rules above would miss imports."""
    assert "overthere.links.documents.markdown" in EDGES["overthere.links.job.readers"]
    assert "overthere.links.report.audit_column" in EDGES["overthere.links.job.task_rows"]


def test_the_architecture_page_has_the_order() -> None:
    order = " < ".join(f"`{name}`" for name in FLOORS)
    assert order in (ROOT / "ARCHITECTURE.md").read_text()
