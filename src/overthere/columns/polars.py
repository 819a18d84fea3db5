"""polars: importing this module adds the namespace `uri` to `Series` and `Expr`.

import overthere.columns.polars
frame.with_columns(pl.col("url").uri.normalize())

Its methods are made from the table of operations; their types are in the stub, `polars.pyi`, which `make docs` writes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from overthere.columns.operations import COMPONENTS, OPERATIONS, Call, face_method, function_of
from overthere.ground.extras import brought_by

with brought_by("polars"):
    import polars as pl

_TYPES: dict[str, pl.DataType] = {
    "string": pl.String(), "text": pl.String(), "boolean": pl.Boolean(), "int": pl.UInt32(), "number": pl.Int8(),
}  # fmt: skip


def _series(values: Any, name: str, kind: pl.DataType) -> pl.Series:
    series = pl.Series(values)
    # The name is set last, because an Arrow object has its own.
    return (series if series.dtype == kind else series.cast(kind)).alias(name)


class _Namespace(ABC):
    """The column functions; each does the same as its function in `overthere.columns`."""

    @abstractmethod
    def _apply(self, work: Callable[..., Any], kind: pl.DataType, *others: Any) -> Any: ...

    def _call(self, call: Call) -> Any:
        if fields := call.fields:
            kind: pl.DataType = pl.Struct({name: _TYPES[of] for name, of in fields.items()})
        else:
            kind = _TYPES[call.operation.result]
        return self._apply(call, kind, *call.others)

    def _component(self, name: str) -> Any:
        def work(column: Any) -> pl.Series:
            return pl.Series(function_of("split")(column, [name])).struct.field(name)

        return self._apply(work, pl.String())


for _name in OPERATIONS:
    setattr(_Namespace, _name, face_method(_name, _Namespace._call))
for _name in COMPONENTS:
    setattr(_Namespace, _name, lambda self, _name=_name: self._component(_name))


@pl.api.register_series_namespace("uri")
class SeriesNamespace(_Namespace):
    """`series.uri`."""

    def __init__(self, series: pl.Series) -> None:
        self._series = series

    def _apply(self, work: Callable[..., Any], kind: pl.DataType, *others: Any) -> pl.Series:
        return _series(work(self._series, *others), self._series.name, kind)


@pl.api.register_expr_namespace("uri")
class ExprNamespace(_Namespace):
    """`expr.uri`, for eager, lazy and streaming frames."""

    def __init__(self, expr: pl.Expr) -> None:
        self._expr = expr

    def _apply(self, work: Callable[..., Any], kind: pl.DataType, *others: Any) -> pl.Expr:
        def batch(columns: Sequence[pl.Series]) -> pl.Series:
            length = next((len(column) for column in columns if len(column) != 1), 1)  # a literal has one row
            rows = (column.new_from_index(0, length) if len(column) == 1 else column for column in columns)
            return _series(work(*rows), columns[0].name, kind)

        return pl.map_batches([self._expr, *others], batch, return_dtype=kind, is_elementwise=True)
