"""Column functions of two columns: where they meet on the ladder (RFC 3986 6.2; RFC 3987 5.3)."""

from __future__ import annotations

import re
from typing import Any

from overthere.columns import normalize
from overthere.columns.plain import arrow, compute, taken
from overthere.iri import IRIReference
from overthere.iri_ladder import iri_comparison_form
from overthere.kernel.reference import scheme_of
from overthere.normalize import Rung, comparison_form

__all__ = ["equivalent", "lowest_rung"]

_SCHEME = re.compile("[a-z][a-z0-9+.-]*")


def _forms(column: Any, rung: Rung, iri: bool) -> Any:
    import pyarrow as pa

    # pyarrow compares plain text, not views.
    forms = taken(normalize(column, rung, iri=iri)).cast(pa.large_string())
    return forms if rung < Rung.SCHEME else _compared(forms, iri)


def _compared(forms: Any, iri: bool) -> Any:
    """The rows of schemes that do not compare all of a normal form (such as urn, RFC 8141 3.1) as far as they do."""
    import pyarrow as pa

    if isinstance(forms, pa.ChunkedArray):  # pyarrow takes no mask of more than one
        return pa.chunked_array([_compared(chunk, iri) for chunk in forms.chunks], type=forms.type)
    pc = compute()
    names = pc.replace_substring_regex(forms, "(?s)[:/?#].*", "")
    partly = [n for n in pc.unique(names).to_pylist() if n and _SCHEME.fullmatch(n) and scheme_of(n).compared]
    if not partly:
        return forms
    mask = pc.is_in(names, pa.array(partly, pa.large_string()))
    form = _of_iri if iri else _of_uri
    some = [form(text) for text in pc.filter(forms, mask).to_pylist()]
    return pc.replace_with_mask(forms, mask, pa.array(some, pa.large_string()))


def _of_uri(text: str) -> str:
    return comparison_form(text, Rung.SCHEME)


def _of_iri(text: str) -> str:
    return iri_comparison_form(IRIReference(text), Rung.SCHEME)


def equivalent(a: Any, b: Any, rung: Rung, iri: bool) -> Any:
    """Whether the rows have the same normal form."""
    return compute().equal(_forms(arrow(a), rung, iri), _forms(arrow(b), rung, iri))


def lowest_rung(a: Any, b: Any, iri: bool) -> Any:
    """The number of the first rung at which the rows are equal."""
    import pyarrow as pa

    pc = compute()
    one, two = arrow(a), arrow(b)
    lowest: Any = pa.scalar(None, pa.int8())
    for rung in (Rung.SCHEME, Rung.PATH, Rung.PERCENT, Rung.CASE, Rung.STRING):
        same = pc.equal(_forms(one, rung, iri), _forms(two, rung, iri))
        lowest = pc.if_else(pc.fill_null(same, False), pa.scalar(int(rung), pa.int8()), lowest)
    return lowest
