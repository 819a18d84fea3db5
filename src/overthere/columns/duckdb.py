"""DuckDB: `register(con)` makes the column functions scalar functions of SQL.

`uri_normalize(t)`, `uri_resolve(t, base)`, `uri_encode(t, component, keep)`, `uri_host(t)`: the table of operations in
the reference of `overthere.columns` names them all.  Each means what the column function says; null gives null.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

from overthere.columns.sql import functions
from overthere.ground.extras import brought_by

if TYPE_CHECKING:
    import duckdb

__all__ = ["register"]


def register(con: duckdb.DuckDBPyConnection) -> None:
    """Register the functions on a connection."""
    with brought_by("duckdb"):
        import numpy  # noqa: F401 - which functions in Python need, and DuckDB does not bring
        import pyarrow  # noqa: F401
        from duckdb.sqltypes import BOOLEAN, VARCHAR

    make: Any = con.create_function  # its stub knows the enumerations but not their names, which it takes too
    for name, work, arity, is_boolean in functions():
        kind = BOOLEAN if is_boolean else VARCHAR
        function = _with_parameters(work, arity)
        make(name, function, arity and [VARCHAR] * arity, kind, type="arrow", null_handling="special")


def _with_parameters(work: Callable[..., Any], arity: int | None) -> Callable[..., Any]:
    """The function with a signature of as many parameters: DuckDB counts them."""

    def function(*columns: Any) -> Any:
        return work(*columns)

    if arity is not None:
        places = [Parameter(f"column{place}", Parameter.POSITIONAL_ONLY) for place in range(arity)]
        function.__signature__ = Signature(places)  # type: ignore[attr-defined]
    return function
