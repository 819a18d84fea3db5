"""The polars face: importing this module gives `Series` and `Expr` the namespace `uri`.

import overthere.columns.polars
frame.with_columns(pl.col("url").uri.normalize())
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from overthere import columns
from overthere.canonical import Canonical
from overthere.ground.extras import brought_by
from overthere.values.forms import Pairs
from overthere.values.normalize import Rung

with brought_by("polars"):
    import polars as pl

__all__ = ["ExprNamespace", "SeriesNamespace"]


def _struct(names: Sequence[str]) -> pl.Struct:
    return pl.Struct(dict.fromkeys(names, pl.String()))


def _series(values: Any, name: str, kind: pl.DataType) -> pl.Series:
    # An Arrow object brings its own name along, so the name comes after.
    return pl.Series(values, dtype=kind).alias(name)


class _Namespace(ABC):
    """The column functions on what `_apply` reaches; each means what `overthere.columns` says of it."""

    @abstractmethod
    def _apply(self, work: Callable[..., Any], kind: pl.DataType, *others: Any) -> Any: ...

    def check(self, rule: str = "URI", *, scheme: bool = False) -> Any:
        """Whether each row is a URI or URI-reference; with `scheme`, one of its own scheme too."""
        return self._apply(lambda s: columns.check(s, rule, scheme=scheme), pl.Boolean())

    def split(self, components: Sequence[str] = columns.SIX) -> Any:
        """The components of each row, unchecked, as a struct."""
        return self._apply(lambda s: columns.split(s, components), _struct(components))

    def host(self) -> Any:
        """The host of each row."""
        return self._apply(columns.host, pl.String())

    def public_suffix(self, *, private: bool = True) -> Any:
        """The public suffix of each row's host."""
        return self._apply(lambda s: columns.public_suffix(s, private=private), pl.String())

    def registrable_domain(self, *, private: bool = True) -> Any:
        """The registrable domain of each row's host."""
        return self._apply(lambda s: columns.registrable_domain(s, private=private), pl.String())

    def subdomain(self, *, private: bool = True) -> Any:
        """What stands before the registrable domain of each row's host."""
        return self._apply(lambda s: columns.subdomain(s, private=private), pl.String())

    def normalize(self, rung: Rung = Rung.SYNTAX, *, iri: bool = False) -> Any:
        """The normal form of each row."""
        return self._apply(lambda s: columns.normalize(s, rung, iri=iri), pl.String())

    def resolve(self, base: str | Any, *, strict: bool = True, iri: bool = False) -> Any:
        """The target of each row against a base, or against the base in the same row of another column."""
        bases = () if isinstance(base, str) else (base,)
        return self._apply(lambda s, b=base: columns.resolve(s, b, strict=strict, iri=iri), pl.String(), *bases)

    def relate(self, base: str | Any, *, iri: bool = False) -> Any:
        """The shortest reference to each row from a base, or from the base in the same row of another column."""
        bases = () if isinstance(base, str) else (base,)
        return self._apply(lambda s, b=base: columns.relate(s, b, iri=iri), pl.String(), *bases)

    def parameter(self, name: str | bytes, *, raw: bool = False) -> Any:
        """The first value of that name in each row's query."""
        return self._apply(lambda s: columns.parameter(s, name, raw=raw), pl.String())

    def with_parameters(self, pairs: Pairs) -> Any:
        """Each row with these parameters set."""
        return self._apply(lambda s: columns.with_parameters(s, pairs), pl.String())

    def add_parameters(self, pairs: Pairs) -> Any:
        """Each row with more parameters."""
        return self._apply(lambda s: columns.add_parameters(s, pairs), pl.String())

    def without_parameters(self, *names: str | bytes) -> Any:
        """Each row without the parameters of these names; "*" stands for any characters."""
        return self._apply(lambda s: columns.without_parameters(s, *names), pl.String())

    def sort_parameters(self) -> Any:
        """Each row with its parameters by their names."""
        return self._apply(columns.sort_parameters, pl.String())

    def repair(self, *, relative: bool = False) -> Any:
        """The URI that each row can only mean."""
        return self._apply(lambda s: columns.repair(s, relative=relative), pl.String())

    def canonicalize(self, form: Canonical, *, key: bool = False) -> Any:
        """The canonical URI of each row, or the key of the form."""
        return self._apply(lambda s: columns.canonicalize(s, form, key=key), pl.String())

    def to_uri(self) -> Any:
        """The URI of each IRI."""
        return self._apply(columns.to_uri, pl.String())

    def to_iri(self) -> Any:
        """The IRI of each URI."""
        return self._apply(columns.to_iri, pl.String())

    def encode(self, component: str = "segment", *, keep: str | None = None) -> Any:
        """Each row percent-encoded for a component."""
        return self._apply(lambda s: columns.encode(s, component, keep=keep), pl.String())

    def decode(self) -> Any:
        """The text that each row stands for."""
        return self._apply(columns.decode, pl.String())


@pl.api.register_series_namespace("uri")
class SeriesNamespace(_Namespace):
    """`series.uri`."""

    def __init__(self, series: pl.Series) -> None:
        self._series = series

    def _apply(self, work: Callable[..., Any], kind: pl.DataType, *others: Any) -> pl.Series:
        return _series(work(self._series, *others), self._series.name, kind)


@pl.api.register_expr_namespace("uri")
class ExprNamespace(_Namespace):
    """`expr.uri`, for eager, lazy and streaming frames."""

    def __init__(self, expr: pl.Expr) -> None:
        self._expr = expr

    def _apply(self, work: Callable[..., Any], kind: pl.DataType, *others: Any) -> pl.Expr:
        def batch(columns: Sequence[pl.Series]) -> pl.Series:
            return _series(work(*columns), columns[0].name, kind)

        return pl.map_batches([self._expr, *others], batch, return_dtype=kind, is_elementwise=True)
