"""Column functions of two columns: where they meet on the ladder (RFC 3986 6.2)."""

from __future__ import annotations

from typing import Any

from overthere.columns import normalize
from overthere.columns.plain import arrow, compute, taken
from overthere.normalize import Rung

__all__ = ["equivalent", "lowest_rung"]


def _forms(column: Any, rung: Rung) -> Any:
    import pyarrow as pa

    # pyarrow compares plain text, not views.
    return taken(normalize(column, rung)).cast(pa.large_string())


def equivalent(a: Any, b: Any, rung: Rung) -> Any:
    """Whether the rows have the same normal form."""
    return compute().equal(_forms(arrow(a), rung), _forms(arrow(b), rung))


def lowest_rung(a: Any, b: Any) -> Any:
    """The number of the first rung at which the rows are equal."""
    import pyarrow as pa

    pc = compute()
    one, two = arrow(a), arrow(b)
    lowest: Any = pa.scalar(None, pa.int8())
    for rung in (Rung.SCHEME, Rung.PATH, Rung.PERCENT, Rung.CASE, Rung.STRING):
        same = pc.equal(_forms(one, rung), _forms(two, rung))
        lowest = pc.if_else(pc.fill_null(same, False), pa.scalar(int(rung), pa.int8()), lowest)
    return lowest
