"""Functions of two columns: equality at a rung of the ladder (RFC 3986 6.2; RFC 3987 5.3)."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from overthere.columns import normalize
from overthere.columns.rowwise import arrow, compute, distinct_values, to_pyarrow
from overthere.ground.late_imports import default_registry
from overthere.iri import IRIReference
from overthere.values.iri_ladder import iri_comparison_form
from overthere.values.normalize import Rung, comparison_form

if TYPE_CHECKING:
    from overthere.schemes.registry import Registry

_SCHEME = re.compile("[a-z][a-z0-9+.-]*")


def _forms(column: Any, rung: Rung, iri: bool, registry: Registry | None) -> Any:
    import pyarrow as pa

    # pyarrow compares plain text, not views.
    forms = to_pyarrow(normalize(column, rung, iri=iri, registry=registry)).cast(pa.large_string())
    return (
        forms
        if rung < Rung.SCHEME
        else _comparison_forms(forms, iri, default_registry() if registry is None else registry)
    )


def _comparison_forms(forms: Any, iri: bool, registry: Registry) -> Any:
    """Shorten forms to the part that their scheme compares, if it does not compare all (such as urn, RFC 8141 3.1)."""
    import pyarrow as pa

    if isinstance(forms, pa.ChunkedArray):  # pyarrow cannot replace with a chunked mask
        return pa.chunked_array([_comparison_forms(chunk, iri, registry) for chunk in forms.chunks], type=forms.type)
    pc = compute()
    names = pc.replace_substring_regex(forms, "(?s)[:/?#].*", "")
    partial = [n for n in pc.unique(names).to_pylist() if n and _SCHEME.fullmatch(n) and registry.scheme(n).compared]
    if not partial:
        return forms
    mask = pc.is_in(names, pa.array(partial, pa.large_string()))
    changed_forms = [_comparison_form(text, iri, registry) for text in pc.filter(forms, mask).to_pylist()]
    return pc.replace_with_mask(forms, mask, pa.array(changed_forms, pa.large_string()))


def _comparison_form(text: str, iri: bool, registry: Registry) -> str:
    if iri:
        return iri_comparison_form(IRIReference(text), Rung.SCHEME, None, registry)
    return comparison_form(text, Rung.SCHEME, None, registry)


def _columns(a: Any, b: Any) -> tuple[Any, Any]:
    first, second = arrow(a), arrow(b)
    if len(first) != len(second):
        raise ValueError(f"{len(second)} rows to compare with {len(first)} rows")
    return first, second


def _equal(a: Any, b: Any, forms: Callable[[Any], Any]) -> Any:
    """Whether two columns have the same forms, row by row; the text of a dictionary is not copied for each row."""
    import pyarrow as pa

    pc = compute()
    values, keys = zip(*map(_values_and_keys, (a, b)), strict=True)
    first, second = map(forms, values)
    if keys == (None, None):
        return pc.equal(first, second)
    distinct = pc.unique(pa.chunked_array([*getattr(first, "chunks", [first]), *getattr(second, "chunks", [second])]))
    numbers = [pc.index_in(forms, distinct, skip_nulls=True) for forms in (first, second)]
    return pc.equal(*(n if key is None else n.take(key) for n, key in zip(numbers, keys, strict=True)))


def _values_and_keys(column: Any) -> tuple[Any, Any]:
    """Return the distinct values of a dictionary, and the number of each row's value; None for other columns."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return column, None
    numbers: dict[str | None, int] = {}
    keys: list[Any] = []
    for chunk in getattr(column, "chunks", [column]):
        values, rows = distinct_values(chunk)
        keys.append(pa.array([numbers.setdefault(v, len(numbers)) for v in values], pa.int64()).take(rows))
    is_chunked = isinstance(column, pa.ChunkedArray)
    return pa.array(list(numbers), pa.large_string()), pa.chunked_array(keys, pa.int64()) if is_chunked else keys[0]


def equivalent(a: Any, b: Any, rung: Rung, iri: bool, registry: Registry | None) -> Any:
    return _equal(*_columns(a, b), partial(_forms, rung=rung, iri=iri, registry=registry))


def lowest_rung(a: Any, b: Any, iri: bool, registry: Registry | None) -> Any:
    pc, pair = compute(), _columns(a, b)
    import pyarrow as pa

    lowest: Any = pa.scalar(None, pa.int8())
    for rung in (Rung.SCHEME, Rung.PATH, Rung.PERCENT, Rung.CASE, Rung.STRING):
        same = _equal(*pair, partial(_forms, rung=rung, iri=iri, registry=registry))
        lowest = pc.if_else(pc.fill_null(same, False), pa.scalar(int(rung), pa.int8()), lowest)
    return lowest
