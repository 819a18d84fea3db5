"""The functions of SQL that DuckDB and Spark register: every argument is a column, null stays null."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from overthere.columns.operations import COMPONENTS, OPERATIONS, SQL, Operation, function_of
from overthere.columns.rowwise import compute, to_pyarrow
from overthere.ground.errors import InvalidURI


class Function(NamedTuple):
    """A function of SQL."""

    name: str
    work: Callable[..., Any]
    """Function from pyarrow arrays, the column of URIs first, to an array of text or of booleans."""
    arity: int | None
    """The number of columns it takes; None if it is variable."""
    is_boolean: bool


def functions() -> Iterator[Function]:
    """Yield every function, for one thread, because the database has its own threads."""
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
    """Call the column function once if its arguments are the same in all rows; otherwise once for each set of them.

    Raises: TypeError for too many or too few arguments.
    """
    import pyarrow as pa

    required = len(sql.arguments) if sql.least < 0 else sql.least
    if len(arguments) < required or (len(arguments) > len(sql.arguments) and not sql.repeats):
        raise TypeError(f"{sql.name} takes {', '.join(('a column', *sql.arguments))}")
    distinct = [compute().unique(argument) for argument in arguments]
    if all(len(values) == 1 and values.null_count == 0 for values in distinct):
        return _apply_once(operation, sql, column, [values[0].as_py() for values in distinct])
    if operation.columns == sql.arguments:
        return _cast_answer(operation, function_of(operation.name)(column, *arguments, threads=1, **sql.constants))
    rows_by_values: dict[tuple[str | None, ...], list[int]] = {}
    for row, values in enumerate(zip(*(argument.to_pylist() for argument in arguments), strict=True)):
        rows_by_values.setdefault(values, []).append(row)
    answer: list[Any] = [None] * len(column)
    for values, rows in rows_by_values.items():
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
    except InvalidURI:  # the single base is invalid
        return pa.nulls(len(column), _kind(operation))


def _cast_answer(operation: Operation, answer: Any) -> Any:
    return to_pyarrow(answer).cast(_kind(operation))


def _kind(operation: Operation) -> Any:
    import pyarrow as pa

    return pa.bool_() if operation.result == "boolean" else pa.string()
