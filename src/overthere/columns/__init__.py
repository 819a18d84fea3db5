"""Whole columns of URIs: Arrow in, Arrow out (RFC 3986, a million at a time).

A column function returns for each row the result that the function of the same name returns for a value; null
stays null.  A column is any object with the Arrow PyCapsule interface (pyarrow, polars, pandas with Arrow
types, DuckDB, nanoarrow, ...): the result for an array is an array, for chunks it has chunks, and for a stream of
unknown length it is a stream, computed as the input is read.  Text is Utf8, LargeUtf8, Utf8View or a dictionary of
them; each distinct value of a dictionary is computed once.

With the native kernel, components are views into the input's buffers (`views=False` copies them as plain Utf8),
unchanged rows are not copied, the GIL is released, and `threads` cores are used (all by default).  Without it, the
same functions work row by row, need pyarrow, and read a whole stream into memory.

    >>> import pyarrow as pa
    >>> urls = pa.array(["HTTP://a/%7eb", "a b", None])
    >>> pa.array(normalize(urls)).to_pylist(), pa.array(check(urls)).to_pylist()
    (['http://a/~b', None, None], [True, False, None])
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from overthere.columns.hosts import check_host_name, public_suffix, registrable_domain, subdomain
from overthere.columns.operations import COMPONENTS
from overthere.columns.parameters import add_parameters, parameter, sort_parameters, with_parameters, without_parameters
from overthere.columns.work import ArrowColumn, ColumnError, Errors, count_of, engine, text
from overthere.ground.caches import bounded_cache
from overthere.ground.exact import exact
from overthere.ground.rung import Rung, rung_of
from overthere.kernel.reference import SIX

if TYPE_CHECKING:
    from overthere.canonical import Canonical
    from overthere.iri import IRI
    from overthere.schemes.registry import Registry
    from overthere.values.uri import URI

__all__ = [
    "SIX", "ArrowColumn", "ColumnError", "Errors", "add_parameters", "canonicalize", "check", "check_host_name",
    "decode", "encode", "engine", "equivalent", "host", "lowest_rung", "normalize", "parameter", "parse",
    "public_suffix", "registrable_domain", "relate", "repair", "resolve", "sort_parameters", "split", "subdomain",
    "to_iri", "to_uri", "with_parameters", "without_parameters",
]  # fmt: skip

_RULES = ("URI", "URI-reference", "IRI", "IRI-reference")


def _names(components: Sequence[str]) -> list[str]:
    if isinstance(components, str | bytes) or not isinstance(components, Iterable):
        raise TypeError(f"components must be a list of names, not {type(components).__name__}")
    components = [exact(component, "components") for component in components]
    unknown = [c for c in components if c not in COMPONENTS]
    if unknown or len(set(components)) != len(components):
        raise ValueError(f"components must be {', '.join(COMPONENTS)}, each once, not {components!r}")
    return list(components)


def _rule(rule: str) -> str:
    if exact(rule, "rule") not in ("URI", "URI-reference"):
        raise ValueError(f"the rule must be URI or URI-reference, not {rule!r:.100}")
    return rule


def check(
    column: Any, rule: str | None = None, *, edition: str = "rfc3986", zone: bool = False, scheme: bool = False,
    registry: Registry | None = None, threads: int | None = None,
) -> ArrowColumn:  # fmt: skip
    """Whether each row follows a rule of an edition exactly: a column of booleans.

    rule: a rule of the edition; by default its rule for a URI ("URI-reference" allows relative ones, 4.1).
    For RFC 3986 also IRI and IRI-reference (RFC 3987 2.2).
    zone: whether an IPv6 address may have a zone identifier (RFC 6874); for URI and URI-reference only, without
    `scheme`.
    scheme: whether the rules of each URI's scheme are checked too, as by `overthere.check`; needs pyarrow.
    registry: the registry for schemes (default: the default one).

    Raises: GrammarError or NotSpecified for an unknown rule or edition, and for `scheme` with a rule that is not for
    whole URIs or references; ValueError for `scheme` together with `zone`; TypeError for a column that is not text.

    >>> import pyarrow as pa
    >>> urls = pa.array(["http://h?q", "../g"])
    >>> pa.array(check(urls)).to_pylist(), pa.array(check(urls, "relative-ref")).to_pylist()
    ([True, False], [False, True])
    """
    engine_rule: Any = "URI" if rule is None else exact(rule, "rule")
    if edition != "rfc3986" or engine_rule not in _RULES:
        from overthere import editions

        edition_value = editions.edition(edition)
        engine_rule = edition_value.grammar.automaton(edition_value.top if rule is None else engine_rule)
    if scheme:
        by_scheme = import_module("overthere.columns.schemes")
        if zone:
            raise ValueError("no scheme's rules allow zone identifiers (RFC 6874)")
        return by_scheme.check(column, engine_rule, rule, edition, registry, count_of(threads))  # type: ignore[no-any-return]
    return engine().check(column, engine_rule, zone=zone, threads=count_of(threads))  # type: ignore[no-any-return]


def split(
    column: Any, components: Sequence[str] = SIX, *, threads: int | None = None, views: bool = True
) -> ArrowColumn:
    """Split each row into components by Appendix B, unchecked: a struct of text columns; undefined is null.

    components: names out of scheme, authority, userinfo, host, port, path, query and fragment, one at least.
    """
    if not (names := _names(components)):
        raise ValueError("components must have a name at least: a struct has fields")
    return engine().parts(column, names, None, zone=False, threads=count_of(threads), views=views)  # type: ignore[no-any-return]


def parse(
    column: Any, components: Sequence[str] = SIX, rule: str = "URI", *, zone: bool = False,
    errors: Literal["detail", "raise"] = "detail", threads: int | None = None, views: bool = True,
) -> ArrowColumn:  # fmt: skip
    """Check each row and split it into components: a struct of text columns, `error` and `error_at` (code points).

    A row that does not follow `rule` has null components, and the kind of its first finding as `error`.

    Raises: ColumnError under `errors="raise"`; ValueError for `errors` of another name.
    """
    if errors not in ("detail", "raise"):
        raise ValueError(f'errors must be "detail" or "raise", not {errors!r:.100}')
    module = engine()
    answer = module.parts(column, _names(components), _rule(rule), zone=zone, threads=count_of(threads), views=views)
    if errors == "raise":
        answer = module.to_pyarrow(answer)
        if (first_bad := module.first_bad(answer)) is not None:
            raise ColumnError(*first_bad)
    return answer  # type: ignore[no-any-return]


def host(column: Any, *, threads: int | None = None, views: bool = True) -> ArrowColumn:
    """The host of each row, unchecked as in `split`, with brackets; null without an authority."""
    return text(column, "host", "null", threads, views)


def normalize(
    column: Any, rung: Rung = Rung.SYNTAX, *, iri: bool = False, errors: Errors = "null", threads: int | None = None,
    views: bool = True, registry: Registry | None = None,
) -> ArrowColumn:  # fmt: skip
    """Normalize each URI or reference at a rung of the ladder (6.2); a row that does not change is not copied.

    iri: whether the rows are IRIs, normalized as IRIs (RFC 3987 5.3).
    registry: the schemes for the scheme rung (default: the default registry).

    Raises: ColumnError under `errors="raise"`.
    """
    options = {"rung": int(rung_of(rung)), **_iri(iri), **({} if registry is None else {"registry": registry})}
    return text(column, "normalize", errors, threads, views, **options)


def _iri(iri: bool) -> dict[str, bool]:
    return {"iri": True} if iri else {}


def resolve(
    column: Any, base: URI | IRI | str | Any, *, strict: bool = True, iri: bool = False, errors: Errors = "null",
    threads: int | None = None, views: bool = True,
) -> ArrowColumn:  # fmt: skip
    """Resolve each reference against a base (5.2), or against the base in the same row of another column.

    iri: whether references and bases are IRIs (RFC 3987 6.5).
    A row with an invalid base has the error "base", with the place in the base; a row with a null base is null.

    Raises: InvalidURI if a single `base` is not a valid URI; ValueError for too few or too many bases;
    ColumnError under `errors="raise"`.
    """
    base = _bases(column, base, iri)
    return text(column, "resolve", errors, threads, views, base=base, strict=strict, **_iri(iri))


def relate(
    column: Any, base: URI | IRI | str | Any, *, iri: bool = False, errors: Errors = "null", threads: int | None = None,
    views: bool = True,
) -> ArrowColumn:  # fmt: skip
    """Return the shortest reference from a base to each URI, or from the base in the same row of another column;
    `resolve` resolves it to the URI again (4.2, 5.2).

    iri: whether the rows and the bases are IRIs (RFC 3987 6.5).
    A row with dot-segments, to which no reference resolves, has the error "unreachable", at its path; one with an
    invalid base has the error "base", with the place in the base; a row with a null base is null.

    Raises: the same as `resolve`.

    >>> import pyarrow as pa
    >>> pa.array(relate(pa.array(["http://a/b/g?x", "http://b/", "http://a/../c"]), "http://a/b/c/d")).to_pylist()
    ['../g?x', '//b/', None]
    """
    return text(column, "relate", errors, threads, views, base=_bases(column, base, iri), rule="URI", **_iri(iri))


def _bases(column: Any, base: URI | IRI | str | Any, iri: bool) -> Any:
    """Return the text of a single base, or the column of bases, one per row."""
    from overthere.iri import IRI
    from overthere.values.uri import URI

    if isinstance(base, str | URI | IRI):
        return str(IRI(base) if iri else URI(base))
    if base is None:
        raise TypeError("a base must be a URI or a column, not None")
    if hasattr(base, "__len__") and hasattr(column, "__len__") and len(base) != len(column):
        raise ValueError(f"{len(base)} bases for {len(column)} rows")
    return base


def repair(
    column: Any, *, relative: bool = False, errors: Errors = "null", threads: int | None = None, views: bool = True
) -> ArrowColumn:
    """Return the only URI that each row can mean; see `overthere.repair`, which reports its changes.

    relative: whether relative references are accepted as well.

    Raises: ColumnError under `errors="raise"`, for a rejected row.

    >>> import pyarrow as pa
    >>> pa.array(repair(pa.array(["http://h/a b", "http://h/a", "http://h\\\\@g/", None]))).to_pylist()
    ['http://h/a%20b', 'http://h/a', None, None]
    """
    return text(column, "repair", errors, threads, views, relative=relative)


def canonicalize(
    column: Any, form: Canonical, *, key: bool = False, errors: Errors = "null", threads: int | None = None,
    views: bool = True,
) -> ArrowColumn:  # fmt: skip
    """Return the canonical URI of each row, or the key of the form.

    Python handles a few rows that the native kernel cannot (such as a host that needs IDNA), and caches the last
    65,536 distinct ones.

    Raises: ColumnError under `errors="raise"`, for an invalid row.
    """
    from overthere.canonical.model import Canonical

    if not isinstance(form, Canonical):
        raise TypeError(f"a form must be one of overthere.canonical, not {type(form).__name__}")

    @bounded_cache(1 << 16)
    def write(row: str) -> str:
        return form.key(row) if key else str(form(row))

    return text(column, "canonicalize", errors, threads, views, form=form, key=key, write=write)


def to_uri(column: Any, *, errors: Errors = "null", threads: int | None = None, views: bool = True) -> ArrowColumn:
    """Map each IRI-reference to a URI or reference (RFC 3987 3.1).

    Raises: ColumnError under `errors="raise"`.
    """
    return text(column, "to_uri", errors, threads, views)


def to_iri(column: Any, *, errors: Errors = "null", threads: int | None = None, views: bool = True) -> ArrowColumn:
    """Convert each URI or reference to the IRI-reference that maps to it (RFC 3987 3.2).

    Raises: ColumnError under `errors="raise"`.
    """
    return text(column, "to_iri", errors, threads, views)


def encode(
    column: Any, component: str = "segment", *, keep: str | None = None, threads: int | None = None, views: bool = True
) -> ArrowColumn:
    """Percent-encode each row's UTF-8 bytes for a component (2.1), reserved characters too unless `keep` has them
    (2.2); see `overthere.encode`.

    Raises: CodingError for a component that cannot contain data, and for characters in `keep` that it cannot contain.
    """
    from overthere.values.encoding import safe_characters

    safe = safe_characters(exact(component, "component"), None if keep is None else exact(keep, "keep"))
    return text(column, "encode", "null", threads, views, safe=safe)


def decode(column: Any, *, errors: Errors = "null", threads: int | None = None, views: bool = True) -> ArrowColumn:
    """Decode each row, the text of a component, to UTF-8 text (2.1, 2.5).

    A broken escape has the error "pct-encoded", bytes that are not UTF-8 have "non-ascii".

    Raises: ColumnError under `errors="raise"`.
    """
    return text(column, "decode", errors, threads, views)


def equivalent(
    a: Any, b: Any, rung: Rung = Rung.SYNTAX, *, iri: bool = False, registry: Registry | None = None
) -> ArrowColumn:
    """Whether two columns, row by row, have the same normal form at a rung (6.2); null where a row is null or invalid.

    iri: whether the rows are IRIs or URIs, compared as IRIs (RFC 3987 5.3).
    registry: the schemes for the scheme rung (default: the default registry).

    Needs pyarrow.
    """
    return import_module("overthere.columns.pairs").equivalent(a, b, rung_of(rung), iri, registry)  # type: ignore[no-any-return]


def lowest_rung(a: Any, b: Any, *, iri: bool = False, registry: Registry | None = None) -> ArrowColumn:
    """The number of the lowest rung at which two columns are equal, row by row (6.2); null where they never are.

    iri: whether the rows are IRIs or URIs, compared as IRIs (RFC 3987 5.3).
    registry: the schemes for the scheme rung (default: the default registry).

    Needs pyarrow.
    """
    return import_module("overthere.columns.pairs").lowest_rung(a, b, iri, registry)  # type: ignore[no-any-return]
