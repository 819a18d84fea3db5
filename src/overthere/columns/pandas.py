"""pandas: importing this module adds the accessor `uri` to `Series`; results have Arrow types.

import overthere.columns.pandas
series.uri.host, series.uri.normalize()

Its methods are made from the table of operations; their types are in the stub, `pandas.pyi`, which `make docs` writes.
"""

from __future__ import annotations

from typing import Any

from overthere.columns.operations import COMPONENTS, OPERATIONS, Call, face_method, function_of
from overthere.columns.rowwise import compute, to_pyarrow
from overthere.ground.extras import brought_by

with brought_by("pandas"):
    import pandas as pd
    import pyarrow as pa


@pd.api.extensions.register_series_accessor("uri")
class Accessor:
    """`series.uri`: each member does the same as its function in `overthere.columns`; the index is kept."""

    def __init__(self, series: pd.Series) -> None:
        self._series = series

    def _column(self) -> Any:
        column = pa.array(self._series, pa.large_string(), from_pandas=True)
        if isinstance(column, pa.ChunkedArray):  # from missing values alone pyarrow makes chunks of two types
            return pa.chunked_array([chunk.cast(pa.large_string()) for chunk in column.chunks], pa.large_string())
        return column

    def _wrap(self, values: Any) -> pd.Series:
        column = to_pyarrow(values)
        if pa.types.is_string_view(column.type):
            column = column.cast(pa.large_string())
        return pd.Series(pd.arrays.ArrowExtensionArray(column), index=self._series.index, name=self._series.name)

    def _call(self, call: Call) -> pd.Series | pd.DataFrame:
        answer = call(self._column(), *(Accessor(other)._column() for other in call.others))
        if not call.fields:
            return self._wrap(answer)
        parts = to_pyarrow(answer)
        return pd.DataFrame({name: self._wrap(compute().struct_field(parts, name)) for name in call.fields})

    def _component(self, name: str) -> pd.Series:
        return self._wrap(compute().struct_field(to_pyarrow(function_of("split")(self._column(), [name])), name))


for _name in OPERATIONS:
    setattr(Accessor, _name, face_method(_name, Accessor._call))
for _name in COMPONENTS:
    setattr(Accessor, _name, property(lambda self, _name=_name: self._component(_name)))
