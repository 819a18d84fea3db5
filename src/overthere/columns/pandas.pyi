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
        """Whether each row follows a rule of an edition, by the letter."""
    def check_host_name(self) -> pd.DataFrame:
        """Whether each row's host is valid in the DNS, as `hosts.dns.check_host_name` says."""
    def split(self, components: Sequence[str] = SIX) -> pd.DataFrame:
        """The components of each row as Appendix B cuts it, unchecked."""
    def parse(self, components: Sequence[str] = SIX, rule: str = "URI", *, zone: bool = False) -> pd.DataFrame:
        """The components of each row, checked."""
    def public_suffix(self, *, private: bool = True) -> pd.Series:
        """The public suffix of each row's host (publicsuffix.org), as `hosts.domains.SuffixList.split` has
        it."""
    def registrable_domain(self, *, private: bool = True) -> pd.Series:
        """The public suffix of each row's host with one label more."""
    def subdomain(self, *, private: bool = True) -> pd.Series:
        """The part of each row's host before the registrable domain."""
    def normalize(self, rung: Rung = Rung.SYNTAX, *, iri: bool = False, registry: Registry | None = None) -> pd.Series:
        """The normal form of each URI or reference at a rung of the ladder (6.2)."""
    def resolve(self, base: URI | IRI | str | Any, *, strict: bool = True, iri: bool = False) -> pd.Series:
        """The target of each reference against a base (5.2), or against the base in the same row of another
        column."""
    def relate(self, base: URI | IRI | str | Any, *, iri: bool = False) -> pd.Series:
        """The shortest reference from a base to each URI, or from the base in the same row of another
        column."""
    def equivalent(
        self, b: Any, rung: Rung = Rung.SYNTAX, *, iri: bool = False, registry: Registry | None = None
    ) -> pd.Series:
        """Whether two columns, row by row, have the same normal form at a rung (6.2)."""
    def lowest_rung(self, b: Any, *, iri: bool = False, registry: Registry | None = None) -> pd.Series:
        """The lowest rung at which two columns meet, row by row, as its number (6.2)."""
    def repair(self, *, relative: bool = False) -> pd.Series:
        """The only URI that each row can mean."""
    def canonicalize(self, form: Canonical, *, key: bool = False) -> pd.Series:
        """The canonical URI of each row, or the key of the form."""
    def parameter(self, name: str | bytes, *, raw: bool = False, separator: str = "&", plus: bool = True) -> pd.Series:
        """The first value of that name in each row's query, decoded."""
    def with_parameters(self, pairs: Pairs, *, separator: str = "&", plus: bool = True) -> pd.Series:
        """Each row with these parameters set."""
    def add_parameters(self, pairs: Pairs, *, separator: str = "&", plus: bool = True) -> pd.Series:
        """Each row with more parameters at the end."""
    def without_parameters(self, *names: str | bytes, separator: str = "&", plus: bool = True) -> pd.Series:
        """Each row without the parameters of these names, in which "*" stands for any characters."""
    def sort_parameters(self, *, separator: str = "&", plus: bool = True) -> pd.Series:
        """Each row with its parameters by the octets of their names."""
    def to_uri(self) -> pd.Series:
        """The URI or reference to which each IRI-reference maps (RFC 3987 3.1)."""
    def to_iri(self) -> pd.Series:
        """The IRI-reference from which each URI or reference maps (RFC 3987 3.2)."""
    def encode(self, component: str = "segment", *, keep: str | None = None) -> pd.Series:
        """Each row's UTF-8 octets percent-encoded for a component (2.1), reserved characters too unless `keep`
        names them (2.2)."""
    def decode(self) -> pd.Series:
        """The UTF-8 text that each row's component text stands for (2.1, 2.5)."""
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
