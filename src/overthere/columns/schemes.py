"""Checks whether each row of a column follows the rules of its own scheme, by their automata (RFC 3986 3.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from overthere import columns
from overthere.columns.rowwise import arrow, compute, distinct_values, field, to_pyarrow
from overthere.columns.work import engine
from overthere.editions import check as check_text
from overthere.ground.caches import bounded_cache
from overthere.ground.late_imports import default_registry

if TYPE_CHECKING:
    from overthere.grammar.automaton import Automaton
    from overthere.schemes.registry import Registry


def check(
    column: Any, judge: str | Automaton, rule: str | None, edition: str, registry: Registry | None, threads: int
) -> Any:
    """Whether each row follows the rule and those of its scheme.  judge: the rule in the form that an engine accepts.

    The rows of a scheme with an automaton are checked together; those of other schemes, and of the editions that
    define schemes themselves, one by one.
    """
    import pyarrow as pa

    registry = default_registry() if registry is None else registry
    check_text("", edition, rule=rule, scheme=True)  # raises if the rule is unknown, or excludes scheme checks

    def text_by_text(rows: Any) -> Any:
        @bounded_cache(10_000)
        def is_valid(text: str) -> bool:
            return not check_text(text, edition, rule=rule, scheme=True, registry=registry, limit=1)

        return pa.array(map(is_valid, rows.to_pylist()), pa.bool_())

    def of_scheme(rows: Any, name: str) -> Any:
        scheme = registry.get(name)
        if scheme is None:
            return None
        if edition in ("url-1994", "rfc1738") or "rfc3986" not in scheme.rules:
            return text_by_text(rows)
        return to_pyarrow(engine().check(rows, scheme.whole, zone=False, threads=threads))

    def work(rows: Any) -> Any:
        if pa.types.is_dictionary(rows.type):
            values, numbers = distinct_values(rows)
            return work(pa.array(values, pa.large_string())).take(numbers)
        rows = rows.cast(pa.large_string()) if pa.types.is_string_view(rows.type) else rows  # views cannot be filtered
        valid = to_pyarrow(engine().check(rows, judge, zone=False, threads=threads))
        if edition in ("url-1994", "rfc1738"):  # a URL may have text around it there, which hides its scheme
            return compute().replace_with_mask(valid, valid, text_by_text(rows.filter(valid)))
        schemes = compute().utf8_lower(field(columns.split(rows, ["scheme"], threads=threads, views=False), "scheme"))
        for name in compute().unique(schemes.filter(valid)).drop_null().to_pylist():
            mask = compute().and_(valid, compute().fill_null(compute().equal(schemes, name), False))
            if (valid_in_scheme := of_scheme(rows.filter(mask), name)) is not None:
                valid = compute().replace_with_mask(valid, mask, valid_in_scheme)
        return valid

    arrow_column = arrow(column)
    if isinstance(arrow_column, pa.ChunkedArray):
        return pa.chunked_array([work(chunk) for chunk in arrow_column.chunks], pa.bool_())
    return work(arrow_column)
