"""CSV injection: cells that a spreadsheet would run as formulas get an apostrophe.

A spreadsheet runs a cell as a formula if it begins with `=`, `+`, `-`, `@`, also in full width, or with TAB, CR or LF;
an apostrophe before it makes it text (OWASP, CSV Injection).  This changes the data, so it happens only on request.
If a cell already has an apostrophe before such a character, it gets another one, so that removing one restores every
cell.
"""

from __future__ import annotations

import re
from typing import Any

from overthere.columns.rowwise import compute

_FORMULA_START = "'*(?:[=+\\-@\\t\\r\\n]|\uff1d|\uff0b|\uff0d|\uff20)"
_ESCAPED = re.compile(f"'{_FORMULA_START}")
_RISKY = re.compile(_FORMULA_START)


def escape(text: str) -> str:
    """Put an apostrophe before a cell that a spreadsheet would run as a formula.

    >>> [escape(text) for text in ("=1+1", "http://h/", "-1", "'=x", "'x")]
    ["'=1+1", 'http://h/', "'-1", "''=x", "'x"]
    """
    return f"'{text}" if _RISKY.match(text) else text


def unescape(text: str) -> str:
    """Undo `escape`.

    >>> [unescape(escape(text)) for text in ("=1+1", "http://h/", "'=x", "'x")]
    ['=1+1', 'http://h/', "'=x", "'x"]
    """
    return text[1:] if _ESCAPED.match(text) else text


def escape_cells(batch: Any) -> Any:
    """Escape the text, the octets and the column names of a record batch or table; numbers and booleans stay."""
    import pyarrow as pa

    types, pc = pa.types, compute()
    is_written_as_text = (
        types.is_string, types.is_large_string, types.is_string_view, types.is_binary, types.is_large_binary,
        types.is_binary_view, types.is_fixed_size_binary,
    )  # fmt: skip
    columns = []
    for column in batch.columns:
        kind = column.type.value_type if types.is_dictionary(column.type) else column.type
        if any(is_kind(kind) for is_kind in is_written_as_text):
            octets = column.cast(kind).cast(pa.large_binary())
            column = pc.replace_substring_regex(octets, rf"\A({_FORMULA_START})", r"'\1")
        columns.append(column)
    return type(batch).from_arrays(columns, names=[escape(name) for name in batch.schema.names])
