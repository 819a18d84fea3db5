"""The DuckDB face: `register(con)` makes the column functions scalar functions of SQL.

`uri_check(t)`, `uri_check_scheme(t)`, `uri_scheme(t)` ... `uri_fragment(t)`, `uri_normalize(t)`, `uri_resolve(t,
base)`, `uri_relate(t, base)`, `uri_encode(t)`, `uri_encode(t, component)`, `uri_encode(t, component, keep)`,
`uri_decode(t)`, `uri_public_suffix(t)`, `uri_registrable_domain(t)`, `uri_subdomain(t)`, `uri_parameter(t, name)`,
`uri_with_parameter(t, name, value)`, `uri_add_parameter(t, name, value)`, `uri_without_parameters(t, names...)`,
`uri_sort_parameters(t)`, `uri_canonical(t, form)`, `uri_repair(t)`, `uri_to_iri(t)`, `iri_to_uri(t)`: each means what
`overthere.columns` says of it; null gives null.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from overthere import columns
from overthere.columns.plain import SQL, changed, compute, taken, told
from overthere.ground.errors import InvalidURI
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
    for name, (work, count) in _functions().items():
        kind = BOOLEAN if name.startswith("uri_check") else VARCHAR
        make(name, work, count and [VARCHAR] * count, kind, type="arrow", null_handling="special")


def _functions() -> dict[str, tuple[Callable[..., Any], int | None]]:
    """Each function of SQL with how many columns it takes; None: any number."""
    functions: dict[str, tuple[Callable[..., Any], int | None]] = {
        "uri_check": (lambda column: taken(columns.check(column)), 1),
        "uri_check_scheme": (lambda column: taken(columns.check(column, scheme=True)), 1),
        "uri_normalize": (lambda column: _text(columns.normalize(column)), 1),
        "uri_encode": (_encode, None),
        "uri_decode": (lambda column: _text(columns.decode(column)), 1),
        "uri_resolve": (_against(columns.resolve), 2),
        "uri_relate": (_against(columns.relate), 2),
        "uri_canonical": (_canonicalize, 2),
        "uri_repair": (lambda column: _text(columns.repair(column)), 1),
        "uri_to_iri": (lambda column: _text(columns.to_iri(column)), 1),
        "iri_to_uri": (lambda column: _text(columns.to_uri(column)), 1),
    }
    for name, (operation, count) in SQL.items():
        functions[f"uri_{name}"] = (_of_parameters(operation, count), count)
    for name in ("scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment"):
        functions[f"uri_{name}"] = (_component(name), 1)
    for name in ("public_suffix", "registrable_domain", "subdomain"):
        functions[f"uri_{name}"] = (_domain(name), 1)
    return functions


def _text(column: Any) -> Any:
    import pyarrow as pa

    return taken(column).cast(pa.string())


def _component(name: str) -> Callable[[Any], Any]:
    return lambda column: _text(compute().struct_field(taken(columns.split(column, [name])), name))


def _domain(name: str) -> Callable[[Any], Any]:
    return lambda column: _text(getattr(columns, name)(column))


def _canonicalize(column: Any, names: Any) -> Any:
    """One form for all rows; the key where the form has one."""
    import pyarrow as pa

    from overthere.canonical import FORMS

    distinct = [name for name in compute().unique(names).to_pylist() if name is not None]
    if not distinct:
        return pa.nulls(len(column), pa.string())
    if len(distinct) != 1 or distinct[0] not in FORMS:
        raise ValueError(f"uri_canonical takes one form for all rows, of {', '.join(FORMS)}")
    form = FORMS[distinct[0]]
    return _text(columns.canonicalize(column, form, key=bool(form.written_as)))


def _against(function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """With a column of bases; one base for all rows is read once."""
    import pyarrow as pa

    def work(column: Any, bases: Any) -> Any:
        distinct = compute().unique(bases)
        one = distinct[0].as_py() if len(distinct) == 1 else None
        try:
            return _text(function(column, bases if one is None else one))
        except InvalidURI:
            return pa.nulls(len(column), pa.string())

    return work


def _encode(*given: Any) -> Any:
    how: dict[str, Any] = told(*given[1:])
    return _text(columns.encode(given[0], **how))


def _of_parameters(operation: str, count: int | None) -> Callable[..., Any]:
    """DuckDB counts the parameters of what it is given."""
    if count is None:
        return lambda *given: changed(operation, *given)
    if count == 3:
        return lambda column, name, value: changed(operation, column, name, value)
    if count == 2:
        return lambda column, name: changed(operation, column, name)
    return lambda column: changed(operation, column)
