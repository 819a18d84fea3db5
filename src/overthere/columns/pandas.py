"""The pandas face: importing this module gives `Series` the accessor `uri`; results have Arrow types.

import overthere.columns.pandas
series.uri.host, series.uri.normalize()
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from overthere import columns
from overthere.canonical import Canonical
from overthere.columns.plain import compute, taken
from overthere.ground.extras import brought_by
from overthere.values.forms import Pairs
from overthere.values.normalize import Rung

with brought_by("pandas"):
    import pandas as pd
    import pyarrow as pa

__all__ = ["Accessor"]


@pd.api.extensions.register_series_accessor("uri")
class Accessor:
    """`series.uri`: each member means what `overthere.columns` says of it; the index is kept."""

    def __init__(self, series: pd.Series) -> None:
        self._series = series

    def _column(self) -> Any:
        return pa.array(self._series, pa.large_string(), from_pandas=True)

    def _wrap(self, values: Any) -> pd.Series:
        column = taken(values)
        if pa.types.is_string_view(column.type):
            column = column.cast(pa.large_string())
        return pd.Series(pd.arrays.ArrowExtensionArray(column), index=self._series.index, name=self._series.name)

    def __getattr__(self, name: str) -> pd.Series:
        if name not in ("scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment"):
            raise AttributeError(name)
        return self._wrap(compute().struct_field(taken(columns.split(self._column(), [name])), name))

    def check(self, rule: str = "URI", *, scheme: bool = False) -> pd.Series:
        """Whether each row is a URI or URI-reference; with `scheme`, one of its own scheme too."""
        return self._wrap(columns.check(self._column(), rule, scheme=scheme))

    def split(self, components: Sequence[str] = columns.SIX) -> pd.DataFrame:
        """The components of each row, unchecked, as a frame."""
        parts = taken(columns.split(self._column(), components))
        return pd.DataFrame({name: self._wrap(compute().struct_field(parts, name)) for name in components})

    def public_suffix(self, *, private: bool = True) -> pd.Series:
        """The public suffix of each row's host."""
        return self._wrap(columns.public_suffix(self._column(), private=private))

    def registrable_domain(self, *, private: bool = True) -> pd.Series:
        """The registrable domain of each row's host."""
        return self._wrap(columns.registrable_domain(self._column(), private=private))

    def subdomain(self, *, private: bool = True) -> pd.Series:
        """What stands before the registrable domain of each row's host."""
        return self._wrap(columns.subdomain(self._column(), private=private))

    def normalize(self, rung: Rung = Rung.SYNTAX, *, iri: bool = False) -> pd.Series:
        """The normal form of each row."""
        return self._wrap(columns.normalize(self._column(), rung, iri=iri))

    def parameter(self, name: str | bytes, *, raw: bool = False) -> pd.Series:
        """The first value of that name in each row's query."""
        return self._wrap(columns.parameter(self._column(), name, raw=raw))

    def with_parameters(self, pairs: Pairs) -> pd.Series:
        """Each row with these parameters set."""
        return self._wrap(columns.with_parameters(self._column(), pairs))

    def add_parameters(self, pairs: Pairs) -> pd.Series:
        """Each row with more parameters."""
        return self._wrap(columns.add_parameters(self._column(), pairs))

    def without_parameters(self, *names: str | bytes) -> pd.Series:
        """Each row without the parameters of these names; "*" stands for any characters."""
        return self._wrap(columns.without_parameters(self._column(), *names))

    def sort_parameters(self) -> pd.Series:
        """Each row with its parameters by their names."""
        return self._wrap(columns.sort_parameters(self._column()))

    def repair(self, *, relative: bool = False) -> pd.Series:
        """The URI that each row can only mean."""
        return self._wrap(columns.repair(self._column(), relative=relative))

    def canonicalize(self, form: Canonical, *, key: bool = False) -> pd.Series:
        """The canonical URI of each row, or the key of the form."""
        return self._wrap(columns.canonicalize(self._column(), form, key=key))

    def to_uri(self) -> pd.Series:
        """The URI of each IRI."""
        return self._wrap(columns.to_uri(self._column()))

    def to_iri(self) -> pd.Series:
        """The IRI of each URI."""
        return self._wrap(columns.to_iri(self._column()))

    def resolve(self, base: str | pd.Series, *, strict: bool = True, iri: bool = False) -> pd.Series:
        """The target of each row against a base, or against the base in the same place of another series."""
        bases = base if isinstance(base, str) else Accessor(base)._column()
        return self._wrap(columns.resolve(self._column(), bases, strict=strict, iri=iri))

    def relate(self, base: str | pd.Series, *, iri: bool = False) -> pd.Series:
        """The shortest reference to each row from a base, or from the base in the same place of another series."""
        bases = base if isinstance(base, str) else Accessor(base)._column()
        return self._wrap(columns.relate(self._column(), bases, iri=iri))

    def encode(self, component: str = "segment", *, keep: str | None = None) -> pd.Series:
        """Each row percent-encoded for a component."""
        return self._wrap(columns.encode(self._column(), component, keep=keep))

    def decode(self) -> pd.Series:
        """The text that each row stands for."""
        return self._wrap(columns.decode(self._column()))
