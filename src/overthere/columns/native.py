"""The column functions in Rust, with the rows that need a scheme's facts, or IDNA, finished in Python."""

from __future__ import annotations

import sys
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from overthere import _native
from overthere.columns import rowwise
from overthere.columns.rowwise import field, first_bad, to_pyarrow
from overthere.ground.late_imports import default_registry
from overthere.values.hosts.domains import SuffixList, suffix_list
from overthere.values.normalize import Rung, scheme_form

if TYPE_CHECKING:
    from overthere.grammar.automaton import Automaton
    from overthere.schemes.model import CommonRules
    from overthere.schemes.registry import Registry

__all__ = ["check", "domain", "field", "first_bad", "parts", "to_pyarrow", "text"]


def _repair_views(column: Any) -> Any:
    """The column; pyarrow before 25 can make views with a data buffer that is none, and a reader falls over it."""
    pa = sys.modules.get("pyarrow")
    if pa is None or not isinstance(column, pa.Array | pa.ChunkedArray):
        return column
    if pa.types.is_dictionary(column.type):
        hollow = pa.types.is_string_view(column.type.value_type)
    else:
        hollow = pa.types.is_string_view(column.type) and any(
            buffer is None for chunk in getattr(column, "chunks", [column]) for buffer in chunk.buffers()[2:]
        )
    if not hollow:
        return column
    if not pa.types.is_dictionary(column.type):
        return column.cast(pa.large_string())
    column.validate(full=True)  # pyarrow reads it: what lies outside of its data would end the process
    chunks = [
        chunk.dictionary.cast(pa.large_string()).take(chunk.indices) for chunk in getattr(column, "chunks", [column])
    ]
    return pa.chunked_array(chunks, pa.large_string())  # pyarrow casts no dictionary of views


def check(column: Any, rule: str | Automaton, *, zone: bool, threads: int) -> Any:
    """Whether each row follows the rule: URI or URI-reference, IRI or IRI-reference, or that of an automaton."""
    return _native.column_check(_repair_views(column), rule if isinstance(rule, str) else rule.runner, zone, threads)  # type: ignore[arg-type]


def parts(column: Any, names: list[str], rule: str | None, *, zone: bool, threads: int, views: bool) -> Any:
    """The named components, unchecked if `rule` is None."""
    return _native.column_parts(_repair_views(column), names, rule, zone, threads, views)


def text(column: Any, operation: str, **how: Any) -> Any:
    """One text column out of another."""
    if operation == "repair" and not how["details"]:
        return _repair(column, **how)
    if operation == "canonicalize" and (compiled := how["form"].compiled) is not None:
        write, key = how.pop("write"), how.pop("key")
        del how["form"]
        how |= {"rule": "URI", "canonical": (compiled, key, lambda rows: list(map(write, rows)))}
    elif operation in ("repair", "canonicalize"):
        return rowwise.text(column, operation, **how)
    if "parameters" in how:
        how["parameters"] = tuple(how["parameters"])[1:]  # as it is written
    if how.pop("iri", False):
        if operation == "normalize" and how["rung"] > Rung.SYNTAX:  # IDNA is Python's
            return rowwise.text(column, operation, iri=True, **how)
        how["rule"] = how.get("rule", "URI-reference").replace("U", "I", 1)
    registry = how.pop("registry", None)
    if operation == "normalize" and how["rung"] > Rung.SYNTAX:  # the generic rungs ask no registry
        registry = default_registry() if registry is None else registry
        how["schemes"] = _rules(registry), partial(_finish_forms, registry)
    return _native.column_text(_repair_views(column), operation, **{**how, "base": _repair_views(how.get("base"))})


def domain(column: Any, part: str, *, private: bool, threads: int, views: bool) -> Any:
    """A part of each row's host by the list of publicsuffix.org."""
    rules = suffix_list()

    def finish(hosts: list[str]) -> list[str | None]:
        return [None if (cut := rules.split(host, private=private)) is None else getattr(cut, part) for host in hosts]

    return _native.column_domain(_repair_views(column), part, _suffixes(rules), private, finish, threads, views)


@lru_cache(4)  # a list never changes
def _suffixes(rules: SuffixList) -> _native.Suffixes:
    return _native.Suffixes(list(rules.rules.items()))


@lru_cache(8)  # a registry never changes
def _rules(registry: Registry) -> dict[str, CommonRules | None]:
    """The rules of each known scheme; None where it has more than the common ones, or cannot be had, which is an error
    only where a row is of it.
    """
    known = {name: registry.get(name) for name in registry}
    return {name: None if scheme is None else scheme.common_rules for name, scheme in known.items()}


def _finish_forms(registry: Registry, forms: list[str]) -> list[str]:
    return [scheme_form(form, registry) for form in forms]


def _repair(column: Any, *, relative: bool, threads: int, **how: Any) -> Any:
    """Most rows are good, and stay: the others are repaired one by one."""
    import pyarrow as pa

    whole = _repair_views(rowwise.arrow(column))
    whole = whole.combine_chunks() if isinstance(whole, pa.ChunkedArray) else whole
    whole = whole if pa.types.is_string(whole.type) else whole.cast(pa.string())
    compute = rowwise.compute()
    good = to_pyarrow(check(whole, "URI-reference" if relative else "URI", zone=False, threads=threads))
    bad = compute.invert(compute.fill_null(good, True))
    mended = to_pyarrow(rowwise.text(whole.filter(bad), "repair", relative=relative, threads=threads, **how))
    return compute.replace_with_mask(whole, bad, mended.cast(whole.type))
