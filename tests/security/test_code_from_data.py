"""No data of a document, table or server becomes code: functions that could run code are used only where listed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import overthere

PACKAGE = Path(overthere.__file__).parent
MODULES = frozenset(
    ("pickle", "_pickle", "cPickle", "cloudpickle", "dill", "joblib", "marshal", "shelve", "jsonpickle", "yaml")
)
CALLS = frozenset(("eval", "exec", "compile", "__import__", "execfile"))
ALLOWED = {
    ("links/job/pool.py", "pickle"): "tasks and their ends, in anonymous pipes to processes that it has started",
    ("testing/laws.py", "pickle"): "a law: a locator that was pickled here is the same",
}
"""Where, what, why."""


def risky_uses(tree: ast.Module) -> Iterator[str]:
    """Modules that create objects from bytes, and builtins that run text as code; not `re.compile`."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from MODULES & {name.name.partition(".")[0] for name in names}
            case ast.ImportFrom(module=str(module)):
                yield from MODULES & {module.partition(".")[0]}
            case ast.Call(func=ast.Name(id=name)) if name in CALLS:
                yield name
            case ast.Call(func=ast.Attribute(value=ast.Name(id="builtins"), attr=name)):
                yield name
            case ast.Call(func=ast.Name(id="import_module"), args=[ast.Constant(value=str(name)), *_]):
                yield from MODULES & {name.partition(".")[0]}
            case ast.Attribute(attr=("read_pickle" | "to_pickle" | "UnpicklingError" | "allow_pickle") as name):
                yield name
            case ast.keyword(arg=("allow_pickle" | "shell") as name):
                yield name
            case _:
                pass


def test_risky_functions_are_used_only_where_listed() -> None:
    uses = {
        (file.relative_to(PACKAGE).as_posix(), name)
        for file in PACKAGE.rglob("*.py")
        for name in risky_uses(ast.parse(file.read_bytes()))
    }
    assert uses == set(ALLOWED)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("import pickle", "pickle"), ("import a, marshal as m", "marshal"), ("from pickle import loads", "pickle"),
        ("def f():\n  import shelve", "shelve"), ("eval(x)", "eval"), ("builtins.exec(x)", "exec"),
        ("pd.read_pickle(x)", "read_pickle"), ("np.load(x, allow_pickle=True)", "allow_pickle"),
        ("run(x, shell=True)", "shell"), ("import_module('pickle')", "pickle"),
    ],
)  # fmt: skip
def test_each_risky_use_is_found(text: str, name: str) -> None:
    assert list(risky_uses(ast.parse(text))) == [name]
    assert not list(risky_uses(ast.parse("re.compile(x); import json")))
