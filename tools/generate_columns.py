"""The files generated from the table of column operations: the stubs of the engines and the reference page."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from textwrap import fill
from typing import NamedTuple

from overthere import columns
from overthere.columns.operations import COMPONENTS, OPERATIONS, SQL, Operation

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "src" / "overthere" / "columns"
_NOT_OF_FACES = ("threads", "views", "errors")


class _Function(NamedTuple):
    """A column function as an engine offers it."""

    arguments: str
    """Behind the column, as they are written in the source."""
    sentence: str


@cache
def _definitions() -> dict[str, ast.FunctionDef]:
    trees = [
        ast.parse(file.read_text()) for file in (FOLDER / "__init__.py", FOLDER / "hosts.py", FOLDER / "parameters.py")
    ]
    return {node.name: node for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef)}


def _function(name: str) -> _Function:
    node = _definitions()[name]
    arguments = node.args
    _, *positional = arguments.args
    defaults = dict(zip(reversed(arguments.args), reversed(arguments.defaults), strict=False))
    parts = [_argument(argument, defaults.get(argument)) for argument in positional]
    keywords = [
        _argument(argument, default)
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if argument.arg not in _NOT_OF_FACES
    ]
    if arguments.vararg is not None:
        parts.append(f"*{_argument(arguments.vararg, None)}")
    elif keywords:
        parts.append("*")
    paragraph = " ".join((ast.get_docstring(node) or "").split("\n\n")[0].split())
    sentence = re.split(r"\. |; |: ", paragraph)[0].removesuffix(".")
    return _Function("".join(f", {part}" for part in (*parts, *keywords)), f"{sentence}.")


def _argument(argument: ast.arg, default: ast.expr | None) -> str:
    text = f"{argument.arg}: {ast.unparse(argument.annotation)}" if argument.annotation else argument.arg
    return text if default is None else f"{text} = {ast.unparse(default)}"


_HEAD = '''"""Written by `make docs` from the table of column operations (`operations.py`)."""

from collections.abc import Iterable, Sequence
from typing import Any

{imports}
from overthere.canonical import Canonical
from overthere.columns import SIX
from overthere.schemes.registry import Registry
from overthere.forms import Pairs
from overthere.iri import IRI
from overthere.values.normalize import Rung
from overthere.values.uri import URI
'''


def _methods(result: Callable[[Operation], str], column: str = "self", indent: str = "    ") -> Iterator[str]:
    for name, operation in OPERATIONS.items():
        function = _function(name)
        yield f"{indent}def {name}({column}{function.arguments}) -> {result(operation)}:"
        yield indent + fill(f'    """{function.sentence}"""', 108, subsequent_indent=f"{indent}    ")


def polars() -> str:
    lines = [_HEAD.format(imports="import polars as pl")]
    for name, kind, attribute in (("SeriesNamespace", "Series", "series"), ("ExprNamespace", "Expr", "expr")):
        lines += [
            "",
            f"class {name}:",
            f'    """`{attribute}.uri`."""',
            "",
            f"    def __init__(self, {attribute}: pl.{kind}) -> None: ...",
        ]
        lines += _methods(lambda _, kind=kind: f"pl.{kind}")  # type: ignore[misc]
        lines += [f"    def {component}(self) -> pl.{kind}: ..." for component in COMPONENTS]
    return "\n".join(lines) + "\n"


def pandas() -> str:
    lines = [_HEAD.format(imports="import pandas as pd"), "", "class Accessor:", '    """`series.uri`."""', ""]
    lines += ["    def __init__(self, series: pd.Series) -> None: ..."]
    lines += _methods(lambda one: "pd.DataFrame" if one.fields(COMPONENTS[:1]) and _is_struct(one) else "pd.Series")
    for component in COMPONENTS:
        lines += ["    @property", f"    def {component}(self) -> pd.Series: ..."]
    return "\n".join(lines) + "\n"


def _is_struct(operation: Operation) -> bool:
    return operation.result in ("components", "checked components", "host name")


def spark() -> str:
    lines = [_HEAD.format(imports="from pyspark.sql import Column, SparkSession"), ""]
    lines += ["def register(session: SparkSession) -> None:", '    """Register the functions of SQL on a session."""']
    for line in _methods(lambda _: "Column", "column: Column | str", ""):
        lines.append(line)
    for one in COMPONENTS:
        lines += [f"def {one}(column: Column | str) -> Column:", f'    """The {one} of each row as `split` cuts it."""']
    return "\n".join(lines) + "\n"


def formatted(text: str) -> str:
    """As ruff formats a stub, without the imports that it does not use."""
    for command in (["check", "--select", "F401,I", "--fix", "--quiet"], ["format", "--quiet"]):
        text = subprocess.run(
            [sys.executable, "-P", "-m", "ruff", *command, "--stdin-filename", str(FOLDER / "engine.pyi"), "-"],
            input=text, capture_output=True, text=True, check=True, cwd=ROOT,
        ).stdout  # fmt: skip
    return text


def _sql(sql: SQL) -> str:
    least = len(sql.arguments) if sql.least < 0 else sql.least
    arguments = ["t", *sql.arguments[:least], *(f"[{argument}]" for argument in sql.arguments[least:])]
    return f"`{sql.name}({', '.join(arguments)}{', ...' if sql.repeats else ''})`"


def page() -> str:
    """docs/reference/columns.md."""
    lines = [
        "# Columns",
        "",
        "Whole Arrow columns: Arrow in, Arrow out. Each operation is a function of `overthere.columns`, a method of "
        "the namespace `uri` of polars and pandas, a function of `overthere.columns.spark`, and where the table says "
        "so one of SQL (DuckDB and Spark). A null row gives null. `make docs` writes this page.",
        "",
        "| operation | result row | invalid row | SQL |",
        "|---|---|---|---|",
    ]
    for name, operation in OPERATIONS.items():
        lines.append(f"| `{name}` | {operation.result} | {operation.bad} | {', '.join(map(_sql, operation.sql))} |")
    lines.append(
        f"| a component: {', '.join(f'`{one}`' for one in COMPONENTS)} | text | split without a check | `uri_NAME(t)` |"
    )
    lines.append("")
    kinds = {"SIX": "autodata", "Errors": "autodata", "ArrowColumn": "autoclass", "ColumnError": "autoexception"}
    options = {
        "autodata": ["   :no-value:"],
        "autoclass": ["   :members:", "   :inherited-members: object, tuple, str, int, Enum, IntEnum, StrEnum"],
        "autoexception": ["   :members:", "   :show-inheritance:"],
    }
    for name in columns.__all__:
        kind = kinds.get(name, "autofunction")
        lines += ["```{eval-rst}", f".. {kind}:: overthere.columns.{name}", *options.get(kind, []), "```", ""]
    return "\n".join(lines).rstrip() + "\n"


STUBS = {"polars": polars, "pandas": pandas, "spark": spark}
