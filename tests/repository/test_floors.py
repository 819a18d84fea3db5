"""Floors: an import goes down, a lazy one too; the order is read from ARCHITECTURE.md, "Floors".

The graph is that of the source (`ast`).  A room is a package of `overthere`, a module of its root, or several that are
one subject (joined with "+"): what is in one room may import one another, rooms of a floor too, unless a way leads
back.  What stands below `if TYPE_CHECKING` is left out: it binds no name when the program runs.  `import_module` with a
literal is an import; a table that names modules (the schemes' protocols, kinds of documents, verbs, public names) is
not, for what is found by its name is plugged in, as an entry point is.
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

# Importer and imported -> why that import may go up.
EXCEPTIONS: dict[tuple[str, str], str] = {
    ("ground.late_imports", "schemes.registry"): "what values ask of the registry, in the one place for it",
    ("ground.late_imports", "repairs"): "what join(errors='repair') asks, in the one place for it",
    ("ground.late_imports", "values.findings"): "what the kernel asks of the grammar, in the one place for it",
}


def module_of(path: Path) -> str:
    """The name of a module without "overthere."; "" is the package itself."""
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
    """Names of what a statement imports, with "overthere."."""
    match node:
        case ast.Import():
            yield from (alias.name for alias in node.names)
        case ast.ImportFrom():
            home = [*package[: len(package) - node.level + 1]] if node.level else []
            base = ".".join([*home, *([node.module] if node.module else [])])
            for alias in node.names:
                whole = f"{base}.{alias.name}"
                if whole in ("overthere._native", "overthere.__version__"):  # Rust, and a constant
                    continue
                yield whole if whole.removeprefix("overthere").removeprefix(".") in MODULES else base
        case ast.Call(func=ast.Name(id="import_module"), args=[ast.Constant(value=str(name)), *_]):
            yield name
        case _:
            pass


@cache
def graph() -> dict[str, frozenset[str]]:
    """Module -> the modules of the package that it imports, now or later."""
    found: dict[str, frozenset[str]] = {}
    for module, path in MODULES.items():
        package = ["overthere", *(module.split(".") if path.name == "__init__.py" else module.split(".")[:-1])]
        package = [*filter(None, package)]
        names = (name for node in _nodes(ast.parse(path.read_text())) for name in _imported(node, package))
        own = {name.removeprefix("overthere").removeprefix(".") for name in names if name.split(".")[0] == "overthere"}
        found[module] = frozenset(one for one in own if one in MODULES) - {module}
    return found


@cache
def floors() -> list[list[frozenset[str]]]:
    """From the ground: the rooms of each floor, as ARCHITECTURE.md has them."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    section = text.split("\n## Floors\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\d+\. \*\*.*?\*\*: (.*)$", section, re.MULTILINE)
    return [[frozenset(re.findall(r"`([\w.]+)`", room)) for room in row.split(", ")] for row in rows]


@cache
def room_of(module: str) -> frozenset[str]:
    """The names that ARCHITECTURE.md joins with "+" to one room; empty where the module is in none."""
    top = module.split(".")[0]
    return next((room for floor in floors() for room in floor if top in room), frozenset())


def test_every_module_has_a_floor() -> None:
    homeless = [module for module in MODULES if module and not room_of(module)]
    assert homeless == []


def test_every_room_is_there_once() -> None:
    named = sorted(name for floor in floors() for room in floor for name in room)
    assert named == sorted({module.split(".")[0] for module in MODULES if module})


def edges() -> list[tuple[str, str]]:
    return [(one, two) for one, others in graph().items() for two in sorted(others) if one and two]


def test_an_import_goes_down() -> None:
    level = {room: number for number, floor in enumerate(floors()) for room in floor}
    up = [(one, two) for one, two in edges() if level[room_of(two)] > level[room_of(one)]]
    assert [f"{one} imports {two}" for one, two in up if (one, two) not in EXCEPTIONS] == []
    assert sorted(EXCEPTIONS) == sorted(up), "an exception that is none any more"


def test_the_package_itself_is_the_top() -> None:
    """Its names are found when they are asked for, on any floor: below the integrations nothing asks it.

    Packages that pass names on take `lazy_names` from it, which stands there for a reason (its docstring).
    """
    integrations = frozenset(name for room in floors()[-1] for name in room)
    asking = [one for one, others in graph().items() if "" in others and one.split(".")[0] not in integrations]
    assert sorted(asking) == ["access", "links", "schemes", "schemes.locators", "tables"]


def test_no_way_leads_back_within_the_ground() -> None:
    after = {module: {one for one in others if one.startswith("ground.")} for module, others in graph().items()}
    waiting = {module: others for module, others in after.items() if module.startswith("ground.")}
    while ready := {module for module, others in waiting.items() if not others & waiting.keys()}:
        waiting = {module: others for module, others in waiting.items() if module not in ready}
    assert waiting == {}


@pytest.mark.parametrize("floor", range(len(floors())))
def test_no_way_leads_back_to_a_room_of_the_same_floor(floor: int) -> None:
    rooms = set(floors()[floor])
    after: dict[frozenset[str], set[frozenset[str]]] = {room: set() for room in rooms}
    for one, two in edges():
        if room_of(one) in rooms and room_of(two) in rooms and room_of(one) != room_of(two):
            after[room_of(one)].add(room_of(two))
    done: set[frozenset[str]] = set()
    while ready := {room for room in after if room not in done and after[room] <= done}:
        done |= ready
    assert [sorted(room) for room in after if room not in done] == []
