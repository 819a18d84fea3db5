"""The DuckDB face: `register(con)` makes the column functions scalar functions of SQL.

`uri_check(t)`, `uri_check_scheme(t)`, `uri_scheme(t)` ... `uri_fragment(t)`, `uri_normalize(t)`, `uri_resolve(t,
base)`, `uri_encode(t)`, `uri_encode(t, component)`, `uri_encode(t, component, keep)`, `uri_decode(t)`,
`uri_public_suffix(t)`, `uri_registrable_domain(t)`, `uri_subdomain(t)`, `uri_parameter(t, name)`,
`uri_with_parameter(t, name, value)`, `uri_add_parameter(t, name, value)`, `uri_without_parameters(t, names...)`,
`uri_sort_parameters(t)`: each means what `overthere.columns` says of it; null gives null.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from overthere import columns
from overthere.columns.plain import SQL, changed, compute, taken, told
from overthere.errors import InvalidURI
from overthere.extras import brought_by

if TYPE_CHECKING:
    import duckdb

__all__ = ["register"]


def register(con: duckdb.DuckDBPyConnection) -> None:
    """Register the functions on a connection."""
    with brought_by("duckdb"):
        import numpy  # noqa: F401 - which functions in Python need, and DuckDB does not bring
        import pyarrow as pa
        from duckdb.sqltypes import BOOLEAN, VARCHAR

    def text(column: Any) -> Any:
        return taken(column).cast(pa.string())

    def component(name: str) -> Callable[[Any], Any]:
        return lambda column: text(compute().struct_field(taken(columns.split(column, [name])), name))

    def domain(name: str) -> Callable[[Any], Any]:
        return lambda column: text(getattr(columns, name)(column))

    def resolve(column: Any, bases: Any) -> Any:
        """One base for all rows is read once."""
        distinct = compute().unique(bases)
        one = distinct[0].as_py() if len(distinct) == 1 else None
        try:
            return text(columns.resolve(column, bases if one is None else one))
        except InvalidURI:
            return pa.nulls(len(column), pa.string())

    def encode(*given: Any) -> Any:
        how: dict[str, Any] = told(*given[1:])
        return text(columns.encode(given[0], **how))

    functions: dict[str, tuple[Callable[..., Any], int | None, Any]] = {
        "uri_check": (lambda column: taken(columns.check(column)), 1, BOOLEAN),
        "uri_check_scheme": (lambda column: taken(columns.check(column, scheme=True)), 1, BOOLEAN),
        "uri_normalize": (lambda column: text(columns.normalize(column)), 1, VARCHAR),
        "uri_encode": (encode, None, VARCHAR),
        "uri_decode": (lambda column: text(columns.decode(column)), 1, VARCHAR),
        "uri_resolve": (resolve, 2, VARCHAR),
        "uri_repair": (lambda column: text(columns.repair(column)), 1, VARCHAR),
        "uri_to_iri": (lambda column: text(columns.to_iri(column)), 1, VARCHAR),
        "iri_to_uri": (lambda column: text(columns.to_uri(column)), 1, VARCHAR),
    }

    def of_parameters(operation: str, count: int | None) -> Callable[..., Any]:
        """DuckDB counts the parameters of what it is given."""
        if count is None:
            return lambda *given: changed(operation, *given)
        if count == 3:
            return lambda column, name, value: changed(operation, column, name, value)
        return (
            (lambda column, name: changed(operation, column, name))
            if count == 2
            else lambda column: changed(operation, column)
        )

    for name, (operation, count) in SQL.items():
        functions[f"uri_{name}"] = (of_parameters(operation, count), count, VARCHAR)
    for name in ("scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment"):
        functions[f"uri_{name}"] = (component(name), 1, VARCHAR)
    for name in ("public_suffix", "registrable_domain", "subdomain"):
        functions[f"uri_{name}"] = (domain(name), 1, VARCHAR)
    make: Any = con.create_function  # its stub knows the enumerations but not their names, which it takes too
    for name, (work, count, kind) in functions.items():
        make(name, work, count and [VARCHAR] * count, kind, type="arrow", null_handling="special")
