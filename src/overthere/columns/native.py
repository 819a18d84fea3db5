"""The column functions in Rust; Python finishes the rows that need a scheme's facts, or IDNA."""

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


def _readable(column: Any) -> Any:
    """Cast string views that pyarrow before 25 made with a null data buffer, which readers cannot read."""
    pa = sys.modules.get("pyarrow")
    if pa is None or not isinstance(column, pa.Array | pa.ChunkedArray):
        return column
    is_dictionary = pa.types.is_dictionary(column.type)
    chunks = getattr(column, "chunks", [column])
    if not any(
        pa.types.is_string_view(text.type) and any(buffer is None for buffer in text.buffers()[2:])
        for text in (chunk.dictionary if is_dictionary else chunk for chunk in chunks)
    ):
        return column
    if not is_dictionary:
        return column.cast(pa.large_string())
    column.validate(full=True)  # pyarrow reads it: a reference outside of its data would crash the process
    chunks = [pa.DictionaryArray.from_arrays(c.indices, c.dictionary.cast(pa.large_string())) for c in chunks]
    return pa.chunked_array(chunks) if isinstance(column, pa.ChunkedArray) else chunks[0]


def check(column: Any, rule: str | Automaton, *, zone: bool, threads: int) -> Any:
    """Whether each row follows the rule: URI, URI-reference, IRI, IRI-reference, or an automaton's."""
    return _native.column_check(_readable(column), rule if isinstance(rule, str) else rule.runner, zone, threads)  # type: ignore[arg-type]


def parts(column: Any, names: list[str], rule: str | None, *, zone: bool, threads: int, views: bool) -> Any:
    """The components of these names in each row; unchecked if `rule` is None."""
    return _native.column_parts(_readable(column), names, rule, zone, threads, views)


def text(column: Any, operation: str, **options: Any) -> Any:
    """Apply an operation to a text column; return a text column."""
    if operation == "repair" and not options["details"]:
        return _repair(column, **options)
    if operation == "canonicalize" and (compiled := options["form"].compiled) is not None:
        write, key = options.pop("write"), options.pop("key")
        del options["form"]
        options |= {"rule": "URI", "canonical": (compiled, key, lambda rows: list(map(write, rows)))}
    elif operation in ("repair", "canonicalize"):
        return rowwise.text(column, operation, **options)
    if "parameters" in options:
        options["parameters"] = tuple(options["parameters"])[1:]  # Rust takes them encoded
    if options.pop("iri", False):
        if operation == "normalize" and options["rung"] > Rung.SYNTAX:  # Rust has no IDNA
            return rowwise.text(column, operation, iri=True, **options)
        options["rule"] = options.get("rule", "URI-reference").replace("U", "I", 1)
    registry = options.pop("registry", None)
    if operation == "normalize" and options["rung"] > Rung.SYNTAX:  # the generic rungs need no registry
        registry = default_registry() if registry is None else registry
        options["schemes"] = _rules(registry), partial(_finish_forms, registry)
    return _native.column_text(_readable(column), operation, **{**options, "base": _readable(options.get("base"))})


def domain(column: Any, part: str, *, private: bool, threads: int, views: bool) -> Any:
    """A part of each row's host by the list of publicsuffix.org."""
    rules = suffix_list()

    def finish(hosts: list[str]) -> list[str | None]:
        return [None if (cut := rules.split(host, private=private)) is None else getattr(cut, part) for host in hosts]

    return _native.column_domain(_readable(column), part, _suffixes(rules), private, finish, threads, views)


@lru_cache(4)  # a list is immutable
def _suffixes(rules: SuffixList) -> _native.Suffixes:
    return _native.Suffixes(list(rules.rules.items()))


@lru_cache(8)  # a registry is immutable
def _rules(registry: Registry) -> dict[str, CommonRules | None]:
    """The rules of each registered scheme; None if it has uncommon rules, or cannot be loaded (an error if used)."""
    schemes = {name: registry.get(name) for name in registry}
    return {name: None if scheme is None else scheme.common_rules for name, scheme in schemes.items()}


def _finish_forms(registry: Registry, forms: list[str]) -> list[str]:
    return [scheme_form(form, registry) for form in forms]


def _repair(column: Any, *, relative: bool, threads: int, views: bool, **options: Any) -> Any:
    """Repair the invalid rows one by one; the valid rows, usually most, stay."""
    rows = rowwise.arrow(column)
    import pyarrow as pa

    kind = pa.string_view() if views else pa.string()
    if pa.types.is_dictionary(rows.type):
        return rowwise.text(rows, "repair", relative=relative, threads=threads, views=views, **options)
    if isinstance(rows, pa.ChunkedArray):
        repair = partial(_repair, relative=relative, threads=threads, views=views, **options)
        return pa.chunked_array(map(repair, rows.chunks), kind)
    rows = _readable(rows).cast(pa.large_string())
    compute = rowwise.compute()
    valid = to_pyarrow(check(rows, "URI-reference" if relative else "URI", zone=False, threads=threads))
    invalid = compute.invert(compute.fill_null(valid, True))
    repaired = rowwise.text(rows.filter(invalid), "repair", relative=relative, threads=threads, views=False, **options)
    return compute.replace_with_mask(rows, invalid, repaired.cast(rows.type)).cast(kind)
