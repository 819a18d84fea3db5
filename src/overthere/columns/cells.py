"""CSV injection: cells that a spreadsheet would run as formulas get an apostrophe.

A cell that begins with `=`, `+`, `-`, `@`, in full width too, or with TAB, CR or LF is computed when the file is opened
in a spreadsheet; an apostrophe in front makes it text (OWASP, CSV Injection).  That changes the data: it is done only
where it is asked for.
An apostrophe before such a character gets another in front, so that taking one away gives back every cell.
"""

from __future__ import annotations

import re
from typing import Any

from overthere.columns.rowwise import compute

__all__ = ["escape", "escape_cells", "unescape"]

_BEGIN = "'*[=+\\-@\\t\\r\\n\uff1d\uff0b\uff0d\uff20]"
_GUARDED = re.compile(f"'{_BEGIN}")
_RISKY = re.compile(_BEGIN)


def escape(text: str) -> str:
    """A cell with an apostrophe in front where a spreadsheet would compute it.

    >>> [escape(text) for text in ("=1+1", "http://h/", "-1", "'=x", "'x")]
    ["'=1+1", 'http://h/', "'-1", "''=x", "'x"]
    """
    return f"'{text}" if _RISKY.match(text) else text


def unescape(text: str) -> str:
    """The cell before `escape`.

    >>> [unescape(escape(text)) for text in ("=1+1", "http://h/", "'=x", "'x")]
    ['=1+1', 'http://h/', "'=x", "'x"]
    """
    return text[1:] if _GUARDED.match(text) else text


def escape_cells(batch: Any) -> Any:
    """A record batch or table whose text is escaped, and its column names; numbers and truth values stay."""
    import pyarrow as pa

    pc = compute()
    columns = []
    for column in batch.columns:
        kind = column.type
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
            column = column.cast(kind) if pa.types.is_string(kind) or pa.types.is_large_string(kind) else column
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            column = pc.replace_substring_regex(column, rf"\A({_BEGIN})", r"'\1")
        columns.append(column)
    return type(batch).from_arrays(columns, names=[escape(name) for name in batch.schema.names])
