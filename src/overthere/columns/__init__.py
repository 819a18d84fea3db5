"""Whole columns of URIs: Arrow in, Arrow out (RFC 3986, a million at a time).

One law: a column function gives for each row what the function of the same name gives for a value;
null gives null.  A column is anything with the Arrow PyCapsule interface (pyarrow, polars, pandas with Arrow
types, DuckDB, nanoarrow, ...): an array gives an array, chunks give chunks, and a stream of no known length
gives a stream, worked on as it is read.  Text is Utf8, LargeUtf8, Utf8View or a dictionary of them, of which
each distinct value is worked on once.

With the native kernel components are views into the input's buffers (`views=False` gives plain Utf8, copied),
unchanged rows are not copied, the GIL is released and `threads` cores work (all of them by default).  Without it
the same functions work row by row, need pyarrow, and hold a stream whole.

    >>> import pyarrow as pa
    >>> urls = pa.array(["HTTP://a/%7eb", "a b", None])
    >>> pa.array(normalize(urls)).to_pylist(), pa.array(check(urls)).to_pylist()
    (['http://a/~b', None, None], [True, False, None])
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Protocol

from overthere import kernel
from overthere.errors import OverthereError
from overthere.exact import exact
from overthere.extras import brought_by
from overthere.normalize import Rung

if TYPE_CHECKING:
    from overthere.iri import IRI
    from overthere.schemes.registry import Registry
    from overthere.uri import URI

__all__ = [
    "SIX",
    "ArrowColumn",
    "ColumnError",
    "Errors",
    "check",
    "decode",
    "encode",
    "engine",
    "equivalent",
    "host",
    "lowest_rung",
    "normalize",
    "parse",
    "public_suffix",
    "registrable_domain",
    "resolve",
    "split",
    "subdomain",
    "to_iri",
    "to_uri",
]

SIX = ("scheme", "host", "port", "path", "query", "fragment")
_COMPONENTS = ("scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment")

_RULES = ("URI", "URI-reference", "IRI", "IRI-reference")

Errors = Literal["null", "raise", "detail", "repair"]
"""What a bad row becomes: null; an exception; in a struct of `value`, `error` and `error_at`, its reason; or what
`overthere.repair` makes of it, null where it refuses to."""


class ArrowColumn(Protocol):
    """A result: an object with the Arrow PyCapsule interface, such as `pyarrow.array` or `polars.Series` take."""

    def __len__(self) -> int: ...


class ColumnError(OverthereError, ValueError):
    """A row that cannot be worked on, under `errors="raise"`: its number, and what is wrong where."""

    def __init__(self, row: int, kind: str, at: int) -> None:
        super().__init__(row, kind, at)
        self.row, self.kind, self.at = row, kind, at

    def __str__(self) -> str:
        return f"row {self.row}: {self.kind} at {self.at}"


def engine() -> Any:
    """The module that does the work: the native one, or row by row."""
    if kernel.name == "native":
        return import_module("overthere.columns.native")
    with brought_by("columns"):
        import_module("pyarrow")
    return import_module("overthere.columns.plain")


def _threads(threads: int | None) -> int:
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if isinstance(threads, bool) or not isinstance(threads, int):
        raise TypeError(f"threads is a number, not {type(threads).__name__}")
    if threads < 1:
        raise ValueError(f"{threads} threads do no work")
    return threads


def _names(components: Sequence[str]) -> list[str]:
    if isinstance(components, str | bytes) or not isinstance(components, Iterable):
        raise TypeError(f"components are names in a list, not {type(components).__name__}")
    components = [exact(component, "components") for component in components]
    foreign = [c for c in components if c not in _COMPONENTS]
    if foreign or len(set(components)) != len(components):
        raise ValueError(f"components are {', '.join(_COMPONENTS)}, each once; not {components!r}")
    return list(components)


def _rule(rule: str) -> str:
    if exact(rule, "rule") not in ("URI", "URI-reference"):
        raise ValueError(f"columns read URI and URI-reference, not {rule!r}")
    return rule


def _text(column: Any, operation: str, errors: Errors, threads: int | None, views: bool, **how: Any) -> ArrowColumn:
    if errors not in ("null", "raise", "detail", "repair"):
        raise ValueError(f'errors is "null", "raise", "detail" or "repair", not {errors!r}')
    works = engine()
    if errors == "repair":
        if operation not in ("normalize", "resolve", "to_iri") or how.get("iri"):
            raise ValueError("errors='repair' is for what takes URIs and references")
        column, errors = repair(column, relative=True, threads=threads, views=views), "null"
    answer = works.text(column, operation, details=errors != "null", threads=_threads(threads), views=views, **how)
    if errors == "raise":
        answer = works.taken(answer)
        if (bad := works.first_bad(answer)) is not None:
            raise ColumnError(*bad)
        answer = works.field(answer, "value")
    return answer  # type: ignore[no-any-return]


def check(
    column: Any,
    rule: str | None = None,
    *,
    edition: str = "rfc3986",
    zone: bool = False,
    threads: int | None = None,
) -> ArrowColumn:
    """Whether each row follows a rule of an edition, by the letter: a column of booleans.

    rule: any of the edition's; by default what the edition calls a URI ("URI-reference" allows relative ones, 4.1).
    For RFC 3986 also IRI and IRI-reference (RFC 3987 2.2).
    zone: whether an IPv6 address may carry a zone identifier (RFC 6874); of URI and URI-reference only.

    Raises: GrammarError or NotSpecified for a rule or an edition that is not there; TypeError for a column that
    holds no text.

    >>> import pyarrow as pa
    >>> urls = pa.array(["http://h?q", "../g"])
    >>> pa.array(check(urls)).to_pylist(), pa.array(check(urls, "relative-ref")).to_pylist()
    ([True, False], [False, True])
    """
    judge: Any = "URI" if rule is None else exact(rule, "rule")
    if edition != "rfc3986" or judge not in _RULES:
        from overthere import editions

        own = editions.edition(edition)
        judge = own.grammar.automaton(own.top if rule is None else judge)
    return engine().check(column, judge, zone=zone, threads=_threads(threads))  # type: ignore[no-any-return]


def split(
    column: Any, components: Sequence[str] = SIX, *, threads: int | None = None, views: bool = True
) -> ArrowColumn:
    """The components of each row as Appendix B cuts it, unchecked: a struct of text columns; undefined is null.

    components: which, of scheme, authority, userinfo, host, port, path, query and fragment.
    """
    return engine().parts(column, _names(components), None, zone=False, threads=_threads(threads), views=views)  # type: ignore[no-any-return]


def parse(
    column: Any,
    components: Sequence[str] = SIX,
    rule: str = "URI",
    *,
    zone: bool = False,
    errors: Literal["detail", "raise"] = "detail",
    threads: int | None = None,
    views: bool = True,
) -> ArrowColumn:
    """The components of each row, checked: a struct of text columns, `error` and `error_at` (code points).

    A row that `rule` does not derive has null components and the kind of its first finding.

    Raises: ColumnError under `errors="raise"`.
    """
    works = engine()
    answer = works.parts(column, _names(components), _rule(rule), zone=zone, threads=_threads(threads), views=views)
    if errors == "raise":
        answer = works.taken(answer)
        if (bad := works.first_bad(answer)) is not None:
            raise ColumnError(*bad)
    return answer  # type: ignore[no-any-return]


def host(column: Any, *, threads: int | None = None, views: bool = True) -> ArrowColumn:
    """The host of each row as `split` cuts it, brackets included; null without an authority."""
    return _text(column, "host", "null", threads, views)


def public_suffix(column: Any, *, private: bool = True, threads: int | None = None) -> ArrowColumn:
    """The public suffix of each row's host (publicsuffix.org), as `hosts.domains.SuffixList.cut` has it."""
    return _domain(column, "public_suffix", private, threads)


def registrable_domain(column: Any, *, private: bool = True, threads: int | None = None) -> ArrowColumn:
    """The public suffix of each row's host with one label more; null for addresses and for bare public suffixes.

    >>> import pyarrow as pa
    >>> pa.array(registrable_domain(pa.array(["http://www.bbc.co.uk/", "http://[::1]/", "a"]))).to_pylist()
    ['bbc.co.uk', None, None]
    """
    return _domain(column, "registrable_domain", private, threads)


def subdomain(column: Any, *, private: bool = True, threads: int | None = None) -> ArrowColumn:
    """What stands before the registrable domain of each row's host."""
    return _domain(column, "subdomain", private, threads)


def _domain(column: Any, name: str, private: bool, threads: int | None) -> ArrowColumn:
    with brought_by("columns"):
        from overthere.columns.domains import part
    return part(column, name, private=private, threads=threads)


def normalize(
    column: Any,
    rung: Rung = Rung.SYNTAX,
    *,
    iri: bool = False,
    errors: Errors = "null",
    threads: int | None = None,
    views: bool = True,
    registry: Registry | None = None,
) -> ArrowColumn:
    """The normal form of each URI or reference at a rung of the ladder (6.2); a row that does not change is not copied.

    iri: whether the rows are IRIs, normalised as such (RFC 3987 5.3).
    registry: whose schemes the scheme rung goes by, the default one unless given.

    Raises: ColumnError under `errors="raise"`.
    """
    return _text(column, "normalize", errors, threads, views, rung=int(Rung(rung)), **_iri(iri), **_by(registry))


def _by(registry: Registry | None) -> dict[str, Registry]:
    return {} if registry is None else {"registry": registry}


def _iri(iri: bool) -> dict[str, bool]:
    return {"iri": True} if iri else {}


def resolve(
    column: Any,
    base: URI | IRI | str | Any,
    *,
    strict: bool = True,
    iri: bool = False,
    errors: Errors = "null",
    threads: int | None = None,
    views: bool = True,
) -> ArrowColumn:
    """The target of each reference against a base (5.2), or against the base in the same row of another column.

    iri: whether references and bases are IRIs (RFC 3987 6.5).
    A row whose own base is no URI is the error "base", at a place in the base; where the base is null, so is the row.

    Raises: InvalidURI if the one `base` is no URI; ValueError if there are not as many bases as rows; ColumnError
    under `errors="raise"`.
    """
    from overthere.iri import IRI
    from overthere.uri import URI

    if isinstance(base, str | URI | IRI):
        base = str(IRI(base) if iri else URI(base))
    elif hasattr(base, "__len__") and hasattr(column, "__len__") and len(base) != len(column):
        raise ValueError(f"{len(base)} bases for {len(column)} rows")
    return _text(column, "resolve", errors, threads, views, base=base, strict=strict, **_iri(iri))


def repair(
    column: Any,
    *,
    relative: bool = False,
    errors: Errors = "null",
    threads: int | None = None,
    views: bool = True,
) -> ArrowColumn:
    """The URI that each row can only mean; see `overthere.repair`, which tells what it changes.

    relative: whether relative references are good as well.

    Raises: ColumnError under `errors="raise"`, for a row that is refused.

    >>> import pyarrow as pa
    >>> pa.array(repair(pa.array(["http://h/a b", "http://h/a", "http://h\\\\@g/", None]))).to_pylist()
    ['http://h/a%20b', 'http://h/a', None, None]
    """
    return _text(column, "repair", errors, threads, views, relative=relative)


def to_uri(column: Any, *, errors: Errors = "null", threads: int | None = None, views: bool = True) -> ArrowColumn:
    """The URI or reference to which each IRI-reference maps (RFC 3987 3.1).

    Raises: ColumnError under `errors="raise"`.
    """
    return _text(column, "to_uri", errors, threads, views)


def to_iri(column: Any, *, errors: Errors = "null", threads: int | None = None, views: bool = True) -> ArrowColumn:
    """The IRI-reference from which each URI or reference maps (RFC 3987 3.2).

    Raises: ColumnError under `errors="raise"`.
    """
    return _text(column, "to_iri", errors, threads, views)


def encode(
    column: Any, component: str = "segment", *, keep: str | None = None, threads: int | None = None, views: bool = True
) -> ArrowColumn:
    """Each row's UTF-8 octets percent-encoded for a component (2.1), reserved characters too unless `keep` names them
    (2.2); see `overthere.encode`.

    Raises: CodingError for a component that holds no data, and for what it cannot hold in `keep`.
    """
    from overthere.encoding import safe_characters

    safe = safe_characters(exact(component, "component"), None if keep is None else exact(keep, "keep"))
    return _text(column, "encode", "null", threads, views, safe=safe)


def decode(column: Any, *, errors: Errors = "null", threads: int | None = None, views: bool = True) -> ArrowColumn:
    """The UTF-8 text that each row's component text stands for (2.1, 2.5).

    A broken escape is the error "pct-encoded", octets that are not UTF-8 are "non-ascii".

    Raises: ColumnError under `errors="raise"`.
    """
    return _text(column, "decode", errors, threads, views)


def equivalent(
    a: Any, b: Any, rung: Rung = Rung.SYNTAX, *, iri: bool = False, registry: Registry | None = None
) -> ArrowColumn:
    """Whether two columns, row by row, have the same normal form at a rung (6.2); null where a row is null or invalid.

    iri: whether the rows are IRIs or URIs, compared as IRIs (RFC 3987 5.3).
    registry: whose schemes the scheme rung goes by, the default one unless given.

    Needs pyarrow.
    """
    return _pairs().equivalent(a, b, Rung(rung), iri, registry)  # type: ignore[no-any-return]


def lowest_rung(a: Any, b: Any, *, iri: bool = False, registry: Registry | None = None) -> ArrowColumn:
    """The lowest rung at which two columns meet, row by row, as its number (6.2); null where they never do.

    iri: whether the rows are IRIs or URIs, compared as IRIs (RFC 3987 5.3).
    registry: whose schemes the scheme rung goes by, the default one unless given.

    Needs pyarrow.
    """
    return _pairs().lowest_rung(a, b, iri, registry)  # type: ignore[no-any-return]


def _pairs() -> Any:
    return import_module("overthere.columns.pairs")
