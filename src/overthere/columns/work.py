"""The common part of column functions: the engine, the report of invalid rows, the number of threads."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any, Literal, Protocol

from overthere import kernel
from overthere.columns.operations import OPERATIONS
from overthere.ground.errors import OverthereError
from overthere.ground.extras import brought_by

__all__ = ["ArrowColumn", "ColumnError", "Errors", "count_of", "engine", "text"]

Errors = Literal["null", "raise", "detail", "repair"]
"""What a bad row becomes: null; an exception; in a struct of `value`, `error` and `error_at`, its reason; or what
`overthere.repair` makes of it, null where it refuses to."""


class ArrowColumn(Protocol):
    """A result: an object with the Arrow PyCapsule interface, such as `pyarrow.array` or `polars.Series` take."""

    def __len__(self) -> int: ...


class ColumnError(OverthereError, ValueError):
    """An invalid row, under `errors="raise"`: its number, problem and place."""

    def __init__(self, row: int, kind: str, at: int) -> None:
        super().__init__(row, kind, at)
        self.row: int = row
        self.kind: str = kind
        self.at: int = at

    def __str__(self) -> str:
        return f"row {self.row}: {self.kind} at {self.at}"


def engine() -> Any:
    """The engine: the native module, or the row-by-row one."""
    if kernel.name == "native":
        return import_module("overthere.columns.native")
    with brought_by("columns"):
        import_module("pyarrow")
    return import_module("overthere.columns.rowwise")


def count_of(threads: int | None) -> int:
    """The number of threads: all that the process may use, unless it is given."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if isinstance(threads, bool) or not isinstance(threads, int):
        raise TypeError(f"threads must be a number, not {type(threads).__name__}")
    if threads < 1:
        raise ValueError(f"{threads} threads cannot work")
    return threads


def text(column: Any, operation: str, errors: Errors, threads: int | None, views: bool, **how: Any) -> ArrowColumn:
    """One text column out of another, under `errors`."""
    if errors not in ("null", "raise", "detail", "repair"):
        raise ValueError(f'errors must be "null", "raise", "detail" or "repair", not {errors!r:.100}')
    works = engine()
    if errors == "repair":
        row = OPERATIONS.get(operation.removeprefix("raw_"))
        if row is None or not row.is_repairable or how.get("iri"):
            raise ValueError("errors='repair' needs an operation on URIs or references")
        column, errors = text(column, "repair", "null", threads, views, relative=True), "null"
    found = works.text(column, operation, details=errors != "null", threads=count_of(threads), views=views, **how)
    if errors == "raise":
        found = works.to_pyarrow(found)
        if (bad := works.first_bad(found)) is not None:
            raise ColumnError(*bad)
        found = works.field(found, "value")
    return found  # type: ignore[no-any-return]
