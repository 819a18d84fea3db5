"""Spark: the column functions as Arrow UDFs of Spark 4.1 and later, for frames and for SQL.

from overthere.columns import spark
frame.select(spark.host("url"), spark.normalize(F.col("url")), spark.parse("url").alias("parts"))
spark.register(session)  # uri_check(t), uri_host(t), uri_resolve(t, base) and so on, as in DuckDB

A column is a Column or its name.  The executors need overthere too; a task uses one thread.
The functions are made from the table of operations; their types are in the stub, `spark.pyi`, which `make docs` writes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from overthere.columns.operations import COMPONENTS, OPERATIONS, Call, face_method, function_of
from overthere.columns.rowwise import compute, to_pyarrow
from overthere.columns.sql import functions
from overthere.ground.extras import brought_by

with brought_by("spark"):
    import pyarrow as pa
    from pyspark.sql import Column, SparkSession

try:
    from pyspark.sql.functions import arrow_udf  # type: ignore[attr-defined]
except ImportError as _cause:
    raise ImportError("overthere.columns.spark needs Spark 4.1 or later: pip install 'overthere[spark]'") from _cause

__all__ = ["register", *COMPONENTS, *OPERATIONS]

_TYPES = {"text": "string", "boolean": "boolean", "number": "tinyint"}


def _udf(name: str, work: Callable[..., Any], kind: str) -> Callable[..., Column]:
    """Make a function of columns; Spark casts the result of `work` to `kind`."""

    def convert(*batch: pa.Array) -> pa.Array:
        return to_pyarrow(work(*batch))

    convert.__name__ = name
    make: Any = arrow_udf  # its stubs require the kind of UDF too, which the annotations of `convert` express
    return make(convert, kind)  # type: ignore[no-any-return]


def _apply(column: Column | str, call: Call) -> Column:
    call(*[pa.array([], pa.string())] * (1 + len(call.others)))  # a wrong argument is rejected here, not by an executor
    operation = call.operation
    kind = ", ".join(f"{name} {of}" for name, of in call.fields.items()) or _TYPES[operation.result]
    return _udf(operation.name, call, kind)(column, *call.others)


def _of_component(name: str, column: pa.Array) -> pa.Array:
    return compute().struct_field(to_pyarrow(function_of("split")(column, [name], threads=1)), name)


def _component(name: str) -> Callable[[Column | str], Column]:
    def component(column: Column | str) -> Column:
        return _udf(name, partial(_of_component, name), "string")(column)

    component.__name__ = name
    component.__doc__ = f"The {name} of each row as `split` cuts it."
    return component


globals().update({name: face_method(name, _apply, one_thread=True) for name in OPERATIONS})
globals().update({name: _component(name) for name in COMPONENTS})


def register(session: SparkSession) -> None:
    """Register the functions of SQL on a session."""
    for name, work, _, is_boolean in functions():
        session.udf.register(name, _udf(name, work, "boolean" if is_boolean else "string"))
