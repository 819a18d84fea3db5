"""Arrow arrays of a few Python values, without `pyarrow.array`: that imports pandas where it is installed.

The import takes half a second; from some million values on, `pyarrow.array` is faster (40 ns a value, not 170).
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

__all__ = ["to_array"]


def to_array(values: Sequence[str | int | None], type: Any) -> Any:
    """An array of text, whole numbers or truth values.  A lone surrogate, which is no text, becomes "?".

    type: of pyarrow: `string`, a number of at most 64 bits, `bool_`.

    >>> import pyarrow as pa
    >>> to_array(["a", None, "\\udc80"], pa.string()).to_pylist(), to_array([True, None], pa.bool_()).to_pylist()
    (['a', None, '?'], [True, None])
    """
    import pyarrow as pa

    if pa.types.is_string(type):
        try:
            return _strings(values)
        except UnicodeEncodeError:
            return _strings([one and str(one).encode("utf-8", "replace").decode() for one in values])
    bits = "".join("0" if one is None else "1" for one in reversed(values))
    validity = int(bits or "0", 2).to_bytes((len(values) + 7) // 8, "little")
    data = array("q", [int(one or 0) for one in values])
    return pa.Array.from_buffers(pa.int64(), len(values), [pa.py_buffer(validity), pa.py_buffer(data)]).cast(type)


def _strings(values: Sequence[Any]) -> Any:
    from pyarrow.lib import StringBuilder

    builder = StringBuilder()
    builder.append_values(values)
    return builder.finish()
