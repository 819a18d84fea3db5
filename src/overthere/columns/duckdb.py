"""DuckDB: `register(con)` makes the column functions scalar functions of SQL.

`uri_normalize(t)`, `uri_resolve(t, base)`, `uri_encode(t, component, keep)`, `uri_host(t)`: the table of operations in
the reference of `overthere.columns` lists them all.  Each does the same as the column function; null stays null.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

from overthere.columns.sql import functions
from overthere.ground.extras import brought_by

if TYPE_CHECKING:
    import duckdb


def register(con: duckdb.DuckDBPyConnection) -> None:
    """Register the functions on a connection."""
    with brought_by("duckdb"):
        import numpy  # noqa: F401 - functions in Python need it, and DuckDB does not install it
        import pyarrow  # noqa: F401
        from duckdb.sqltypes import BOOLEAN, VARCHAR

    make: Any = con.create_function  # its stub has only the enumerations, but it accepts their names too
    for name, work, arity, is_boolean in functions():
        kind = BOOLEAN if is_boolean else VARCHAR
        function = _with_arity(work, arity)
        make(name, function, arity and [VARCHAR] * arity, kind, type="arrow", null_handling="special")


def _with_arity(work: Callable[..., Any], arity: int | None) -> Callable[..., Any]:
    """Return the function with a signature of `arity` parameters, which DuckDB counts."""

    def function(*columns: Any) -> Any:
        return work(*columns)

    if arity is not None:
        parameters = [Parameter(f"column{index}", Parameter.POSITIONAL_ONLY) for index in range(arity)]
        function.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return function
