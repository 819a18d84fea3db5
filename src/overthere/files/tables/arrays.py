"""Arrow arrays of a few Python values, without `pyarrow.array`, which imports pandas if it is installed.

That import takes half a second; for millions of values `pyarrow.array` is faster (40 ns a value, not 170).
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

from overthere.ground.extras import brought_by


def to_array(values: Sequence[str | int | None], type: Any) -> Any:
    """Return an array of text, integers or truth values.  A lone surrogate, which is not valid text, becomes "?".

    type: a pyarrow type: `string`, an integer of at most 64 bits, or `bool_`.

    >>> import pyarrow as pa
    >>> to_array(["a", None, "\\udc80"], pa.string()).to_pylist(), to_array([True, None], pa.bool_()).to_pylist()
    (['a', None, '?'], [True, None])
    """
    import pyarrow as pa

    if pa.types.is_string(type):
        try:
            return _build_strings(values)
        except UnicodeEncodeError:
            return _build_strings([value and str(value).encode("utf-8", "replace").decode() for value in values])
    bits = "".join("0" if value is None else "1" for value in reversed(values))
    validity = int(bits or "0", 2).to_bytes((len(values) + 7) // 8, "little")
    data = array("q", [int(value or 0) for value in values])
    return pa.Array.from_buffers(pa.int64(), len(values), [pa.py_buffer(validity), pa.py_buffer(data)]).cast(type)


def to_arrow(batch: Any) -> Any:
    """Return a batch as a `pyarrow.RecordBatch`.  Raises: ModuleNotFoundError without the extra `columns`."""
    with brought_by("columns"):
        import pyarrow as pa

    return batch if isinstance(batch, pa.RecordBatch) else pa.record_batch(batch)


def _build_strings(values: Sequence[Any]) -> Any:
    from pyarrow.lib import StringBuilder

    builder = StringBuilder()
    builder.append_values(values)
    return builder.finish()
