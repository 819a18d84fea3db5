"""Written by `make docs` from the table of column operations (`operations.py`)."""

from collections.abc import Sequence
from typing import Any

from pyspark.sql import Column, SparkSession

from overthere.canonical import Canonical
from overthere.columns import SIX
from overthere.forms import Pairs
from overthere.iri import IRI
from overthere.schemes.registry import Registry
from overthere.values.normalize import Rung
from overthere.values.uri import URI

def register(session: SparkSession) -> None:
    """Register the functions of SQL on a session."""

def check(
    column: Column | str,
    rule: str | None = None,
    *,
    edition: str = "rfc3986",
    zone: bool = False,
    scheme: bool = False,
    registry: Registry | None = None,
) -> Column:
    """Whether each row follows a rule of an edition exactly."""

def check_host_name(column: Column | str) -> Column:
    """Whether each row's host is valid in the DNS, by `hosts.dns.check_host_name`."""

def split(column: Column | str, components: Sequence[str] = SIX) -> Column:
    """Split each row into components by Appendix B, unchecked."""

def parse(column: Column | str, components: Sequence[str] = SIX, rule: str = "URI", *, zone: bool = False) -> Column:
    """Check each row and split it into components."""

def public_suffix(column: Column | str, *, private: bool = True) -> Column:
    """The public suffix of each row's host (publicsuffix.org), the same as from
    `hosts.domains.SuffixList.split`."""

def registrable_domain(column: Column | str, *, private: bool = True) -> Column:
    """The public suffix of each row's host with one label more."""

def subdomain(column: Column | str, *, private: bool = True) -> Column:
    """The part of each row's host before the registrable domain."""

def normalize(
    column: Column | str, rung: Rung = Rung.SYNTAX, *, iri: bool = False, registry: Registry | None = None
) -> Column:
    """Normalize each URI or reference at a rung of the ladder (6.2)."""

def resolve(column: Column | str, base: URI | IRI | str | Any, *, strict: bool = True, iri: bool = False) -> Column:
    """Resolve each reference against a base (5.2), or against the base in the same row of another
    column."""

def relate(column: Column | str, base: URI | IRI | str | Any, *, iri: bool = False) -> Column:
    """Return the shortest reference from a base to each URI, or from the base in the same row of another
    column."""

def equivalent(
    column: Column | str, b: Any, rung: Rung = Rung.SYNTAX, *, iri: bool = False, registry: Registry | None = None
) -> Column:
    """Whether two columns, row by row, have the same normal form at a rung (6.2)."""

def lowest_rung(column: Column | str, b: Any, *, iri: bool = False, registry: Registry | None = None) -> Column:
    """The number of the lowest rung at which two columns are equal, row by row (6.2)."""

def repair(column: Column | str, *, relative: bool = False) -> Column:
    """Return the only URI that each row can mean."""

def canonicalize(column: Column | str, form: Canonical, *, key: bool = False) -> Column:
    """Return the canonical URI of each row, or the key of the form."""

def parameter(
    column: Column | str, name: str | bytes, *, raw: bool = False, separator: str = "&", plus: bool = True
) -> Column:
    """The first value of that name in each row's query, decoded."""

def with_parameters(column: Column | str, pairs: Pairs, *, separator: str = "&", plus: bool = True) -> Column:
    """Set parameters in each row."""

def add_parameters(column: Column | str, pairs: Pairs, *, separator: str = "&", plus: bool = True) -> Column:
    """Add parameters at the end of each row's query."""

def without_parameters(column: Column | str, *names: str | bytes, separator: str = "&", plus: bool = True) -> Column:
    """Remove the parameters of these names from each row."""

def sort_parameters(column: Column | str, *, separator: str = "&", plus: bool = True) -> Column:
    """Sort each row's parameters by the bytes of their names."""

def to_uri(column: Column | str) -> Column:
    """Map each IRI-reference to a URI or reference (RFC 3987 3.1)."""

def to_iri(column: Column | str) -> Column:
    """Convert each URI or reference to the IRI-reference that maps to it (RFC 3987 3.2)."""

def encode(column: Column | str, component: str = "segment", *, keep: str | None = None) -> Column:
    """Percent-encode each row's UTF-8 bytes for a component (2.1), reserved characters too unless `keep`
    has them (2.2)."""

def decode(column: Column | str) -> Column:
    """Decode each row, the text of a component, to UTF-8 text (2.1, 2.5)."""

def scheme(column: Column | str) -> Column:
    """The scheme of each row as `split` cuts it."""

def authority(column: Column | str) -> Column:
    """The authority of each row as `split` cuts it."""

def userinfo(column: Column | str) -> Column:
    """The userinfo of each row as `split` cuts it."""

def host(column: Column | str) -> Column:
    """The host of each row as `split` cuts it."""

def port(column: Column | str) -> Column:
    """The port of each row as `split` cuts it."""

def path(column: Column | str) -> Column:
    """The path of each row as `split` cuts it."""

def query(column: Column | str) -> Column:
    """The query of each row as `split` cuts it."""

def fragment(column: Column | str) -> Column:
    """The fragment of each row as `split` cuts it."""
