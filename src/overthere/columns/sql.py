"""The functions of SQL, as DuckDB and Spark register them: every argument is a column, null gives null."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from overthere.columns.operations import COMPONENTS, OPERATIONS, SQL, Operation, function_of
from overthere.columns.rowwise import compute, to_pyarrow
from overthere.ground.errors import InvalidURI

__all__ = ["Function", "functions"]


class Function(NamedTuple):
    """A function of SQL."""

    name: str
    work: Callable[..., Any]
    """From pyarrow arrays, the column of URIs first, to one of text or of booleans."""
    arity: int | None
    """How many columns it takes; None where that differs from call to call."""
    is_boolean: bool


def functions() -> Iterator[Function]:
    """Every function, for one thread: the engine has threads of its own."""
    for component in COMPONENTS:
        yield Function(f"uri_{component}", partial(_component, component), 1, False)
    for operation in OPERATIONS.values():
        for sql in operation.sql:
            arity = None if sql.repeats or sql.least >= 0 else 1 + len(sql.arguments)
            yield Function(sql.name, partial(_call, operation, sql), arity, operation.result == "boolean")


def _component(name: str, column: Any) -> Any:
    import pyarrow as pa

    parts = to_pyarrow(function_of("split")(column, [name], threads=1))
    return compute().struct_field(parts, name).cast(pa.string())


def _call(operation: Operation, sql: SQL, column: Any, *arguments: Any) -> Any:
    """One call of the column function where its arguments are the same in all rows; else one for each set of them.

    Raises: TypeError for more arguments than there are, or fewer.
    """
    import pyarrow as pa

    least = len(sql.arguments) if sql.least < 0 else sql.least
    if len(arguments) < least or (len(arguments) > len(sql.arguments) and not sql.repeats):
        raise TypeError(f"{sql.name} takes {', '.join(('a column', *sql.arguments))}")
    distinct = [compute().unique(one) for one in arguments]
    if all(len(one) == 1 and one.null_count == 0 for one in distinct):
        return _apply_once(operation, sql, column, [one[0].as_py() for one in distinct])
    if operation.columns == sql.arguments:
        return _cast_answer(operation, function_of(operation.name)(column, *arguments, threads=1, **sql.constants))
    places: dict[tuple[str | None, ...], list[int]] = {}
    for row, values in enumerate(zip(*(one.to_pylist() for one in arguments), strict=True)):
        places.setdefault(values, []).append(row)
    answer: list[Any] = [None] * len(column)
    for values, rows in places.items():
        if None not in values:
            for row, value in zip(
                rows, _apply_once(operation, sql, column.take(rows), values).to_pylist(), strict=True
            ):
                answer[row] = value
    return pa.array(answer, _kind(operation))


def _apply_once(operation: Operation, sql: SQL, column: Any, values: Any) -> Any:
    import pyarrow as pa

    named = dict(sql.constants)
    if sql.values is not None:
        named |= sql.values(*values)
        values = ()
    elif not sql.repeats:
        named |= zip(sql.arguments, values, strict=False)
        values = ()
    try:
        return _cast_answer(operation, function_of(operation.name)(column, *values, threads=1, **named))
    except InvalidURI:  # of the one base
        return pa.nulls(len(column), _kind(operation))


def _cast_answer(operation: Operation, answer: Any) -> Any:
    return to_pyarrow(answer).cast(_kind(operation))


def _kind(operation: Operation) -> Any:
    import pyarrow as pa

    return pa.bool_() if operation.result == "boolean" else pa.string()
