"""Floors: imports go down, lazy ones too; ARCHITECTURE.md, "Floors", has the order.

The graph is built from the source (`ast`). A room is a package of `overthere`, a module of its root, or several that
are one subject (joined with "+"). Modules in a room, and rooms on a floor, may import one another unless that makes a
cycle. Imports below `if TYPE_CHECKING` are ignored: they do not run. `import_module` with a literal is an import; a
table that names modules (the schemes' protocols, kinds of documents, verbs, public names) is not: modules found by name
are plugged in, like entry points.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from support import ROOT

SOURCE = ROOT / "src"
PACKAGE = SOURCE / "overthere"

# Importer and imported -> why this import may go up.
EXCEPTIONS: dict[tuple[str, str], str] = {
    ("ground.late_imports", "schemes.registry"): "what values ask of the registry, in the one place for it",
    ("ground.late_imports", "repairs"): "what join(errors='repair') asks, in the one place for it",
    ("ground.late_imports", "values.findings"): "what the kernel asks of the grammar, in the one place for it",
}


def module_of(path: Path) -> str:
    """The name of a module without "overthere."; "" for the package itself."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def _is_for_checkers(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in {
        n.id for n in ast.walk(node.test) if isinstance(n, ast.Name)
    }


def _nodes(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if _is_for_checkers(child):
            assert isinstance(child, ast.If)
            for other in child.orelse:
                yield other
                yield from _nodes(other)
        else:
            yield child
            yield from _nodes(child)


def _imported(node: ast.AST, package: list[str]) -> Iterator[str]:
    """Names that a statement imports, with "overthere."."""
    match node:
        case ast.Import():
            yield from (alias.name for alias in node.names)
        case ast.ImportFrom():
            home = [*package[: len(package) - node.level + 1]] if node.level else []
            base = ".".join([*home, *([node.module] if node.module else [])])
            for alias in node.names:
                full = f"{base}.{alias.name}"
                if full in ("overthere._native", "overthere.__version__"):  # Rust, and a constant
                    continue
                yield full if full.removeprefix("overthere").removeprefix(".") in MODULES else base
        case ast.Call(func=ast.Name(id="import_module"), args=[ast.Constant(value=str(name)), *_]):
            yield name
        case _:
            pass


@cache
def graph() -> dict[str, frozenset[str]]:
    """Module -> the modules of the package that it imports, immediately or later."""
    modules: dict[str, frozenset[str]] = {}
    for module, path in MODULES.items():
        package = ["overthere", *(module.split(".") if path.name == "__init__.py" else module.split(".")[:-1])]
        package = [*filter(None, package)]
        names = (name for node in _nodes(ast.parse(path.read_text())) for name in _imported(node, package))
        ours = {name.removeprefix("overthere").removeprefix(".") for name in names if name.split(".")[0] == "overthere"}
        modules[module] = frozenset(name for name in ours if name in MODULES) - {module}
    return modules


@cache
def floors() -> list[list[frozenset[str]]]:
    """The rooms of each floor in ARCHITECTURE.md, from the ground up."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    section = text.split("\n## Floors\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\d+\. \*\*.*?\*\*: (.*)$", section, re.MULTILINE)
    return [[frozenset(re.findall(r"`([\w.]+)`", room)) for room in row.split(", ")] for row in rows]


@cache
def room_of(module: str) -> frozenset[str]:
    """The room of a module, named as in ARCHITECTURE.md; "" if it has none."""
    top = module.split(".")[0]
    return next((room for floor in floors() for room in floor if top in room), frozenset())


def test_every_module_has_a_floor() -> None:
    homeless = [module for module in MODULES if module and not room_of(module)]
    assert homeless == []


def test_every_room_is_listed_once() -> None:
    named = sorted(name for floor in floors() for room in floor for name in room)
    assert named == sorted({module.split(".")[0] for module in MODULES if module})


def edges() -> list[tuple[str, str]]:
    return [(importer, two) for importer, imported in graph().items() for two in sorted(imported) if importer and two]


def test_an_import_goes_down() -> None:
    level = {room: number for number, floor in enumerate(floors()) for room in floor}
    up = [(lower, two) for lower, two in edges() if level[room_of(two)] > level[room_of(lower)]]
    assert [f"{lower} imports {two}" for lower, two in up if (lower, two) not in EXCEPTIONS] == []
    assert sorted(EXCEPTIONS) == sorted(up), "an exception that is none any more"


def test_only_integrations_import_the_package_itself() -> None:
    """Its names are found on demand, on any floor.

    Packages that re-export names import `lazy_names` from it, for the reason in its docstring.
    """
    integrations = frozenset(name for room in floors()[-1] for name in room)
    asking = [one for one, imported in graph().items() if "" in imported and one.split(".")[0] not in integrations]
    assert sorted(asking) == ["access", "files.tables", "links", "schemes", "schemes.locators"]


def test_the_ground_has_no_import_cycle() -> None:
    after = {module: {name for name in imported if name.startswith("ground.")} for module, imported in graph().items()}
    waiting = {module: imported for module, imported in after.items() if module.startswith("ground.")}
    while ready := {module for module, imported in waiting.items() if not imported & waiting.keys()}:
        waiting = {module: imported for module, imported in waiting.items() if module not in ready}
    assert waiting == {}


@pytest.mark.parametrize("floor", range(len(floors())))
def test_rooms_of_a_floor_have_no_import_cycle(floor: int) -> None:
    rooms = set(floors()[floor])
    after: dict[frozenset[str], set[frozenset[str]]] = {room: set() for room in rooms}
    for lower, two in edges():
        if room_of(lower) in rooms and room_of(two) in rooms and room_of(lower) != room_of(two):
            after[room_of(lower)].add(room_of(two))
    checked: set[frozenset[str]] = set()
    while ready := {room for room in after if room not in checked and after[room] <= checked}:
        checked |= ready
    assert [sorted(room) for room in after if room not in checked] == []
