"""Written by `make docs` from the table of column operations (`operations.py`)."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from overthere.canonical import Canonical
from overthere.columns import SIX
from overthere.forms import Pairs
from overthere.iri import IRI
from overthere.schemes.registry import Registry
from overthere.values.normalize import Rung
from overthere.values.uri import URI

class Accessor:
    """`series.uri`."""

    def __init__(self, series: pd.Series) -> None: ...
    def check(
        self,
        rule: str | None = None,
        *,
        edition: str = "rfc3986",
        zone: bool = False,
        scheme: bool = False,
        registry: Registry | None = None,
    ) -> pd.Series:
        """Whether each row follows a rule of an edition exactly."""
    def check_host_name(self) -> pd.DataFrame:
        """Whether each row's host is valid in the DNS, by `hosts.dns.check_host_name`."""
    def split(self, components: Sequence[str] = SIX) -> pd.DataFrame:
        """Split each row into components by Appendix B, unchecked."""
    def parse(self, components: Sequence[str] = SIX, rule: str = "URI", *, zone: bool = False) -> pd.DataFrame:
        """Check each row and split it into components."""
    def public_suffix(self, *, private: bool = True) -> pd.Series:
        """The public suffix of each row's host (publicsuffix.org), the same as from
        `hosts.domains.SuffixList.split`."""
    def registrable_domain(self, *, private: bool = True) -> pd.Series:
        """The public suffix of each row's host with one label more."""
    def subdomain(self, *, private: bool = True) -> pd.Series:
        """The part of each row's host before the registrable domain."""
    def normalize(self, rung: Rung = Rung.SYNTAX, *, iri: bool = False, registry: Registry | None = None) -> pd.Series:
        """Normalize each URI or reference at a rung of the ladder (6.2)."""
    def resolve(self, base: URI | IRI | str | Any, *, strict: bool = True, iri: bool = False) -> pd.Series:
        """Resolve each reference against a base (5.2), or against the base in the same row of another
        column."""
    def relate(self, base: URI | IRI | str | Any, *, iri: bool = False) -> pd.Series:
        """Return the shortest reference from a base to each URI, or from the base in the same row of another
        column."""
    def equivalent(
        self, b: Any, rung: Rung = Rung.SYNTAX, *, iri: bool = False, registry: Registry | None = None
    ) -> pd.Series:
        """Whether two columns, row by row, have the same normal form at a rung (6.2)."""
    def lowest_rung(self, b: Any, *, iri: bool = False, registry: Registry | None = None) -> pd.Series:
        """The number of the lowest rung at which two columns are equal, row by row (6.2)."""
    def repair(self, *, relative: bool = False) -> pd.Series:
        """Return the only URI that each row can mean."""
    def canonicalize(self, form: Canonical, *, key: bool = False) -> pd.Series:
        """Return the canonical URI of each row, or the key of the form."""
    def parameter(self, name: str | bytes, *, raw: bool = False, separator: str = "&", plus: bool = True) -> pd.Series:
        """The first value of that name in each row's query, decoded."""
    def with_parameters(self, pairs: Pairs, *, separator: str = "&", plus: bool = True) -> pd.Series:
        """Set parameters in each row."""
    def add_parameters(self, pairs: Pairs, *, separator: str = "&", plus: bool = True) -> pd.Series:
        """Add parameters at the end of each row's query."""
    def without_parameters(self, *names: str | bytes, separator: str = "&", plus: bool = True) -> pd.Series:
        """Remove the parameters of these names from each row."""
    def sort_parameters(self, *, separator: str = "&", plus: bool = True) -> pd.Series:
        """Sort each row's parameters by the bytes of their names."""
    def to_uri(self) -> pd.Series:
        """Map each IRI-reference to a URI or reference (RFC 3987 3.1)."""
    def to_iri(self) -> pd.Series:
        """Convert each URI or reference to the IRI-reference that maps to it (RFC 3987 3.2)."""
    def encode(self, component: str = "segment", *, keep: str | None = None) -> pd.Series:
        """Percent-encode each row's UTF-8 bytes for a component (2.1), reserved characters too unless `keep`
        has them (2.2)."""
    def decode(self) -> pd.Series:
        """Decode each row, the text of a component, to UTF-8 text (2.1, 2.5)."""
    @property
    def scheme(self) -> pd.Series: ...
    @property
    def authority(self) -> pd.Series: ...
    @property
    def userinfo(self) -> pd.Series: ...
    @property
    def host(self) -> pd.Series: ...
    @property
    def port(self) -> pd.Series: ...
    @property
    def path(self) -> pd.Series: ...
    @property
    def query(self) -> pd.Series: ...
    @property
    def fragment(self) -> pd.Series: ...
