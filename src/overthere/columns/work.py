"""The common part of column functions: the engine, the report of invalid rows, the number of threads."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any, Literal, Protocol

from overthere import kernel
from overthere.columns.operations import OPERATIONS
from overthere.ground.errors import OverthereError
from overthere.ground.extras import brought_by

Errors = Literal["null", "raise", "detail", "repair"]
"""The result for an invalid row: null; an exception; a struct of `value`, `error` and `error_at`; or the row after
`overthere.repair`, null if it cannot be repaired."""


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
    """Return the engine: the native module, or the row-by-row one."""
    if kernel.name == "native":
        return import_module("overthere.columns.native")
    with brought_by("columns"):
        import_module("pyarrow")
    return import_module("overthere.columns.rowwise")


def count_of(threads: int | None) -> int:
    """Return the number of threads: by default as many as the cores that the process may use."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if isinstance(threads, bool) or not isinstance(threads, int):
        raise TypeError(f"threads must be a number, not {type(threads).__name__}")
    if threads < 1:
        raise ValueError(f"{threads} threads cannot work")
    return min(threads, 1 << 16)  # more than any machine has cores, and few enough for the native module


def text(column: Any, operation: str, errors: Errors, threads: int | None, views: bool, **options: Any) -> ArrowColumn:
    """Apply an operation to a text column; return a text column, with invalid rows handled by `errors`."""
    if errors not in ("null", "raise", "detail", "repair"):
        raise ValueError(f'errors must be "null", "raise", "detail" or "repair", not {errors!r:.100}')
    module = engine()
    if errors == "repair":
        operation_row = OPERATIONS.get(operation.removeprefix("raw_"))
        if operation_row is None or not operation_row.is_repairable or options.get("iri"):
            raise ValueError("errors='repair' needs an operation on URIs or references")
        column, errors = text(column, "repair", "null", threads, views, relative=True), "null"
    answer = module.text(column, operation, details=errors != "null", threads=count_of(threads), views=views, **options)
    if errors == "raise":
        answer = module.to_pyarrow(answer)
        if (first_bad := module.first_bad(answer)) is not None:
            raise ColumnError(*first_bad)
        answer = module.field(answer, "value")
    return answer  # type: ignore[no-any-return]
