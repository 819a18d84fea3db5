"""Comprehensions in a function share no names: none uses an outer name that another one binds.

CPython 3.12.0 to 3.12.3 raises UnboundLocalError for such a global (issue 118513), and every version from 3.12 on for
such a name of an outer function (issue 156664): comprehensions are inlined since PEP 709.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import ROOT

INLINED = (ast.ListComp, ast.SetComp, ast.DictComp)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def within(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope without those of the scopes in it."""
    for node in ast.iter_child_nodes(scope):
        yield node
        if not isinstance(node, SCOPES):
            yield from within(node)


def names(nodes: Iterator[ast.AST], context: type[ast.expr_context]) -> set[str]:
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, context)}


def shared_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The line of a comprehension, and the name in it that another one in the same scope binds."""
    for scope in ast.walk(tree):
        if not isinstance(scope, (ast.Module, *SCOPES)):
            continue
        all_of_it = [node for node in within(scope) if isinstance(node, INLINED)]
        inner = {node for one in all_of_it for node in ast.walk(one) if node is not one}
        outer = [node for node in all_of_it if node not in inner]
        names_here = names((node for node in within(scope) if node not in inner), ast.Store)
        if arguments := getattr(scope, "args", None):
            names_here |= {node.arg for node in ast.walk(arguments) if isinstance(node, ast.arg)}
        for one in outer:
            other_names = {name for other in outer if other is not one for name in names(ast.walk(other), ast.Store)}
            free = names(ast.walk(one), ast.Load) - names(ast.walk(one), ast.Store)
            yield from ((one.lineno, name) for name in sorted((free & other_names) - names_here))


@pytest.mark.parametrize("place", ["src", "fuzz", "tools", "bench", "tests"])
def test_no_name_is_shared(place: str) -> None:
    files = sorted((ROOT / place).rglob("*.py"))
    assert files
    clashes = [f"{file.relative_to(ROOT)}:{line}: {name}" for file in files for line, name in shared_names(parse(file))]
    assert not clashes, "\n".join(clashes)


def parse(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def test_each_kind_of_shared_name_is_found() -> None:
    lines = ("def f(y):", "{s: 1 for s in y}", "[s(x) for x in y]", "[[z for z in x] for x in y]", "z = {z for _ in y}")
    assert list(shared_names(ast.parse("\n    ".join(lines)))) == [(3, "s")]
