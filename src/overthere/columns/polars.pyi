"""Written by `make docs` from the table of column operations (`operations.py`)."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from overthere.canonical import Canonical
from overthere.columns import SIX
from overthere.forms import Pairs
from overthere.iri import IRI
from overthere.schemes.registry import Registry
from overthere.values.normalize import Rung
from overthere.values.uri import URI

class SeriesNamespace:
    """`series.uri`."""

    def __init__(self, series: pl.Series) -> None: ...
    def check(
        self,
        rule: str | None = None,
        *,
        edition: str = "rfc3986",
        zone: bool = False,
        scheme: bool = False,
        registry: Registry | None = None,
    ) -> pl.Series:
        """Whether each row follows a rule of an edition exactly."""
    def check_host_name(self) -> pl.Series:
        """Whether each row's host is valid in the DNS, by `hosts.dns.check_host_name`."""
    def split(self, components: Sequence[str] = SIX) -> pl.Series:
        """Split each row into components by Appendix B, unchecked."""
    def parse(self, components: Sequence[str] = SIX, rule: str = "URI", *, zone: bool = False) -> pl.Series:
        """Check each row and split it into components."""
    def public_suffix(self, *, private: bool = True) -> pl.Series:
        """The public suffix of each row's host (publicsuffix.org), the same as from
        `hosts.domains.SuffixList.split`."""
    def registrable_domain(self, *, private: bool = True) -> pl.Series:
        """The public suffix of each row's host with one label more."""
    def subdomain(self, *, private: bool = True) -> pl.Series:
        """The part of each row's host before the registrable domain."""
    def normalize(self, rung: Rung = Rung.SYNTAX, *, iri: bool = False, registry: Registry | None = None) -> pl.Series:
        """Normalize each URI or reference at a rung of the ladder (6.2)."""
    def resolve(self, base: URI | IRI | str | Any, *, strict: bool = True, iri: bool = False) -> pl.Series:
        """Resolve each reference against a base (5.2), or against the base in the same row of another
        column."""
    def relate(self, base: URI | IRI | str | Any, *, iri: bool = False) -> pl.Series:
        """Return the shortest reference from a base to each URI, or from the base in the same row of another
        column."""
    def equivalent(
        self, b: Any, rung: Rung = Rung.SYNTAX, *, iri: bool = False, registry: Registry | None = None
    ) -> pl.Series:
        """Whether two columns, row by row, have the same normal form at a rung (6.2)."""
    def lowest_rung(self, b: Any, *, iri: bool = False, registry: Registry | None = None) -> pl.Series:
        """The number of the lowest rung at which two columns are equal, row by row (6.2)."""
    def repair(self, *, relative: bool = False) -> pl.Series:
        """Return the only URI that each row can mean."""
    def canonicalize(self, form: Canonical, *, key: bool = False) -> pl.Series:
        """Return the canonical URI of each row, or the key of the form."""
    def parameter(self, name: str | bytes, *, raw: bool = False, separator: str = "&", plus: bool = True) -> pl.Series:
        """The first value of that name in each row's query, decoded."""
    def with_parameters(self, pairs: Pairs, *, separator: str = "&", plus: bool = True) -> pl.Series:
        """Set parameters in each row."""
    def add_parameters(self, pairs: Pairs, *, separator: str = "&", plus: bool = True) -> pl.Series:
        """Add parameters at the end of each row's query."""
    def without_parameters(self, *names: str | bytes, separator: str = "&", plus: bool = True) -> pl.Series:
        """Remove the parameters of these names from each row."""
    def sort_parameters(self, *, separator: str = "&", plus: bool = True) -> pl.Series:
        """Sort each row's parameters by the bytes of their names."""
    def to_uri(self) -> pl.Series:
        """Map each IRI-reference to a URI or reference (RFC 3987 3.1)."""
    def to_iri(self) -> pl.Series:
        """Convert each URI or reference to the IRI-reference that maps to it (RFC 3987 3.2)."""
    def encode(self, component: str = "segment", *, keep: str | None = None) -> pl.Series:
        """Percent-encode each row's UTF-8 bytes for a component (2.1), reserved characters too unless `keep`
        has them (2.2)."""
    def decode(self) -> pl.Series:
        """Decode each row, the text of a component, to UTF-8 text (2.1, 2.5)."""
    def scheme(self) -> pl.Series: ...
    def authority(self) -> pl.Series: ...
    def userinfo(self) -> pl.Series: ...
    def host(self) -> pl.Series: ...
    def port(self) -> pl.Series: ...
    def path(self) -> pl.Series: ...
    def query(self) -> pl.Series: ...
    def fragment(self) -> pl.Series: ...

class ExprNamespace:
    """`expr.uri`."""

    def __init__(self, expr: pl.Expr) -> None: ...
    def check(
        self,
        rule: str | None = None,
        *,
        edition: str = "rfc3986",
        zone: bool = False,
        scheme: bool = False,
        registry: Registry | None = None,
    ) -> pl.Expr:
        """Whether each row follows a rule of an edition exactly."""
    def check_host_name(self) -> pl.Expr:
        """Whether each row's host is valid in the DNS, by `hosts.dns.check_host_name`."""
    def split(self, components: Sequence[str] = SIX) -> pl.Expr:
        """Split each row into components by Appendix B, unchecked."""
    def parse(self, components: Sequence[str] = SIX, rule: str = "URI", *, zone: bool = False) -> pl.Expr:
        """Check each row and split it into components."""
    def public_suffix(self, *, private: bool = True) -> pl.Expr:
        """The public suffix of each row's host (publicsuffix.org), the same as from
        `hosts.domains.SuffixList.split`."""
    def registrable_domain(self, *, private: bool = True) -> pl.Expr:
        """The public suffix of each row's host with one label more."""
    def subdomain(self, *, private: bool = True) -> pl.Expr:
        """The part of each row's host before the registrable domain."""
    def normalize(self, rung: Rung = Rung.SYNTAX, *, iri: bool = False, registry: Registry | None = None) -> pl.Expr:
        """Normalize each URI or reference at a rung of the ladder (6.2)."""
    def resolve(self, base: URI | IRI | str | Any, *, strict: bool = True, iri: bool = False) -> pl.Expr:
        """Resolve each reference against a base (5.2), or against the base in the same row of another
        column."""
    def relate(self, base: URI | IRI | str | Any, *, iri: bool = False) -> pl.Expr:
        """Return the shortest reference from a base to each URI, or from the base in the same row of another
        column."""
    def equivalent(
        self, b: Any, rung: Rung = Rung.SYNTAX, *, iri: bool = False, registry: Registry | None = None
    ) -> pl.Expr:
        """Whether two columns, row by row, have the same normal form at a rung (6.2)."""
    def lowest_rung(self, b: Any, *, iri: bool = False, registry: Registry | None = None) -> pl.Expr:
        """The number of the lowest rung at which two columns are equal, row by row (6.2)."""
    def repair(self, *, relative: bool = False) -> pl.Expr:
        """Return the only URI that each row can mean."""
    def canonicalize(self, form: Canonical, *, key: bool = False) -> pl.Expr:
        """Return the canonical URI of each row, or the key of the form."""
    def parameter(self, name: str | bytes, *, raw: bool = False, separator: str = "&", plus: bool = True) -> pl.Expr:
        """The first value of that name in each row's query, decoded."""
    def with_parameters(self, pairs: Pairs, *, separator: str = "&", plus: bool = True) -> pl.Expr:
        """Set parameters in each row."""
    def add_parameters(self, pairs: Pairs, *, separator: str = "&", plus: bool = True) -> pl.Expr:
        """Add parameters at the end of each row's query."""
    def without_parameters(self, *names: str | bytes, separator: str = "&", plus: bool = True) -> pl.Expr:
        """Remove the parameters of these names from each row."""
    def sort_parameters(self, *, separator: str = "&", plus: bool = True) -> pl.Expr:
        """Sort each row's parameters by the bytes of their names."""
    def to_uri(self) -> pl.Expr:
        """Map each IRI-reference to a URI or reference (RFC 3987 3.1)."""
    def to_iri(self) -> pl.Expr:
        """Convert each URI or reference to the IRI-reference that maps to it (RFC 3987 3.2)."""
    def encode(self, component: str = "segment", *, keep: str | None = None) -> pl.Expr:
        """Percent-encode each row's UTF-8 bytes for a component (2.1), reserved characters too unless `keep`
        has them (2.2)."""
    def decode(self) -> pl.Expr:
        """Decode each row, the text of a component, to UTF-8 text (2.1, 2.5)."""
    def scheme(self) -> pl.Expr: ...
    def authority(self) -> pl.Expr: ...
    def userinfo(self) -> pl.Expr: ...
    def host(self) -> pl.Expr: ...
    def port(self) -> pl.Expr: ...
    def path(self) -> pl.Expr: ...
    def query(self) -> pl.Expr: ...
    def fragment(self) -> pl.Expr: ...
