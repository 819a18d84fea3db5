"""Breaks: small changes of the code of one function, of a kind that a test of what it does should notice."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import NamedTuple


class Break(NamedTuple):
    """A change at one place."""

    file: str
    line: int
    number: int
    """The position of the node in the order of `ast.walk` over its module."""
    change: str
    """The change, in words."""
    function: str
    """The function of the module, or of a class in it, in whose code the place is."""


_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


@cache
def breaks(file: str) -> tuple[Break, ...]:
    """Every break of the functions of a file."""
    tree = ast.parse(Path(file).read_text())
    numbers = {id(node): number for number, node in enumerate(ast.walk(tree))}
    return tuple(
        Break(file, getattr(node, "lineno", 0), numbers[id(node)], change, name)
        for name, function in _functions(tree)
        for node in _evaluated_nodes(function)
        if (change := _change(node)) is not None
    )


@cache
def loaded_functions() -> dict[tuple[str, str], list[FunctionType]]:
    """The functions of this process, by file and name."""
    functions: dict[tuple[str, str], list[FunctionType]] = {}
    for value in gc.get_objects():
        if type(value) is FunctionType:  # asking others for their class runs their code
            functions.setdefault((value.__code__.co_filename, value.__code__.co_qualname), []).append(value)
    return functions


def carried_out(change: Break) -> bool:
    """Carry out a break in this process.  Returns: False if no function of `loaded_functions` has that code."""
    tree = ast.parse(Path(change.file).read_text())
    node = next(node for number, node in enumerate(ast.walk(tree)) if number == change.number)
    _carry_out(tree, node)
    codes = {code.co_qualname: code for code in _codes(compile(tree, change.file, "exec", dont_inherit=True))}
    new, is_done = codes[change.function], False
    for function in loaded_functions().get((change.file, change.function), ()):
        if function.__code__.co_freevars == new.co_freevars:
            function.__code__, is_done = new, True
    return is_done


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """The functions of a module and of its classes, by their names; none within a function."""
    waiting: list[tuple[str, ast.stmt]] = [("", node) for node in tree.body]
    while waiting:
        prefix, node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            waiting += [(f"{prefix}{node.name}.", inner) for inner in node.body]


def _evaluated_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run in a call: no annotations, defaults, decorators or texts of messages."""
    waiting = list(_inner_nodes(function))
    while waiting:
        node = waiting.pop()
        yield node
        waiting += _inner_nodes(node)


def _inner_nodes(node: ast.AST) -> Iterable[ast.AST]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return node.body
        case ast.AnnAssign(value=value):
            return () if value is None else (value,)
        case ast.JoinedStr() | ast.Raise() | ast.Assert():
            return ()
    return ast.iter_child_nodes(node)


def _change(node: ast.AST) -> str | None:
    """The changes to a node that change the meaning of the code.

    A call of `super` stays: without it the code has another closure, and no function that lives can have it.
    """
    if isinstance(node, ast.Return | ast.Expr) and any(
        isinstance(inner, ast.Name) and inner.id == "super" for inner in ast.walk(node)
    ):
        return None
    match node:
        case ast.If() | ast.While() | ast.IfExp():
            return "the condition is turned round"
        case ast.Compare(ops=[_]):
            return "the comparison is turned round"
        case ast.BoolOp():
            return "and is or, or is and"
        case ast.Return(value=value) if value is not None and not _is_none(value):
            return "nothing is returned"
        case ast.Raise():
            return "nothing is raised"
        case ast.Expr(value=ast.Call()) | ast.AugAssign():
            return "nothing is done"
        case ast.Constant(value=bool() | int()):
            return "the number is another"
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            return "plus is minus, minus is plus"
    return None


def _carry_out(tree: ast.Module, node: ast.AST) -> None:
    match node:
        case ast.If() | ast.While() | ast.IfExp():
            node.test = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)
        case ast.Compare():
            node.ops[0] = _COMPARED[type(node.ops[0])]()
        case ast.BoolOp():
            node.op = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
        case ast.Return():
            node.value = None
        case ast.Raise() | ast.Expr() | ast.AugAssign():
            _replace_node(tree, node)
        case ast.Constant():
            node.value = not node.value if isinstance(node.value, bool) else int(str(node.value)) + 1
        case ast.BinOp():
            node.op = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
    ast.fix_missing_locations(tree)


def _replace_node(tree: ast.Module, node: ast.stmt) -> None:
    """A statement is one that does nothing."""
    for parent in ast.walk(tree):
        for body in ("body", "orelse", "finalbody"):
            children = getattr(parent, body, None)
            if isinstance(children, list) and node in children:
                children[children.index(node)] = ast.copy_location(ast.Pass(), node)


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _codes(inner)
