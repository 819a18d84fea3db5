"""The comparison ladder of IRIs (RFC 3987 5.3): normal forms by rung, and what each changes.

From the percent rung on, two IRIs are compared by the URIs that they map to (5.3.2.3), and the form is written as an
IRI again (3.2).  Nothing is converted to NFC, which IRIs should have (5.3.2.2); `IRIReference.nfc` checks it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from overthere.ground.late_imports import default_registry
from overthere.ground.rung import Rung, rung_of
from overthere.kernel.reference import (
    Parts,
    case_normalization,
    percent_encoding_normalization,
    recompose,
    split,
    split_authority,
)
from overthere.values.normalize import Change, compare, comparison_form, normal_form
from overthere.values.uri import URIReference

if TYPE_CHECKING:
    from overthere.iri import IRIReference
    from overthere.schemes.registry import Registry

IRI_PARAGRAPHS = {
    Rung.STRING: "RFC 3987 5.3.1",
    Rung.CASE: "RFC 3987 5.3.2.1",
    Rung.PERCENT: "RFC 3987 5.3.2.3",
    Rung.PATH: "RFC 3987 5.3.2.4",
    Rung.SCHEME: "RFC 3987 5.3.3",
    Rung.PROTOCOL: "RFC 3987 5.3.4",
}
_MAPPING = "RFC 3987 5.3.2.3, 3.1"


def _case(parts: Parts) -> Parts:
    """Normalise case (5.3.2.1): escapes in upper case; the scheme, and a host of US-ASCII, in lower case."""
    if parts.authority is None or split_authority(parts.authority)[1].isascii():
        return case_normalization(parts)
    without_authority = case_normalization(parts._replace(authority=None))
    # As a query it gets no lower-case letters, only escapes in upper case.
    escapes = case_normalization(split("?")._replace(query=parts.authority)).query
    return without_authority._replace(authority=escapes)


def _normalize_unmapped(text: str, rung: Rung) -> str:
    """Return the form on the rungs that map nothing to URIs."""
    return text if rung < Rung.CASE else recompose(_case(split(text)))


def _map_to_uri(iri: IRIReference, rung: Rung, registry: Registry | None) -> URIReference:
    """Return the URI that is compared; from the scheme rung on with A-labels for hosts in the DNS (5.3.3)."""
    from overthere.ground.errors import CodingError

    if rung >= Rung.SCHEME and iri.scheme is not None and has_dns_hosts(iri.scheme, registry):
        # In the form of the rung below, no letter of the host is escaped.
        unescaped = type(iri)(iri_normal_form(iri, Rung.PATH), zone=iri.zone is not None)
        try:
            return unescaped.to_uri(idna=True)
        except CodingError:  # not a domain name: it is compared unchanged
            pass
    return iri.to_uri()


def has_dns_hosts(scheme: str, registry: Registry | None = None) -> bool:
    """Whether hosts of a scheme are looked up in the DNS: it has a default port."""
    scheme_info = (default_registry() if registry is None else registry).get(scheme)
    return scheme_info is not None and scheme_info.port is not None


def iri_normal_form(
    iri: IRIReference, rung: Rung, evidence: Mapping[str, str] | None = None, registry: Registry | None = None
) -> str:
    """Return the normal form of an IRI-reference at a rung, as text; it is the same for all equivalent ones only.

    evidence: as for URIs, with URIs; registry: the schemes for the scheme rung (default: the default registry).
    """
    rung = rung_of(rung)
    if rung < Rung.PERCENT:
        return _normalize_unmapped(str(iri), rung)
    return _map_back(normal_form(str(_map_to_uri(iri, rung, registry)), rung, evidence, registry), rung, registry)


def _map_back(form: str, rung: Rung, registry: Registry | None) -> str:
    from overthere.iri import to_iri_text

    uri = URIReference(form, zone=True)
    return to_iri_text(uri, rung >= Rung.SCHEME and uri.scheme is not None and has_dns_hosts(uri.scheme, registry))


def iri_comparison_form(
    iri: IRIReference, rung: Rung, evidence: Mapping[str, str] | None = None, registry: Registry | None = None
) -> str:
    """Return the text compared at a rung; from the scheme rung on without parts that the scheme does not compare."""
    if rung < Rung.PERCENT:
        return _normalize_unmapped(str(iri), rung)
    return comparison_form(str(_map_to_uri(iri, rung, registry)), rung, evidence, registry)


def iri_changes(
    iri: IRIReference, rung: Rung, evidence: Mapping[str, str] | None = None, registry: Registry | None = None
) -> list[Change]:
    """Return the changes of the rungs up to `rung`, with sections; mapping is a separate step of the percent rung."""
    steps: list[Change] = []
    before = str(iri)
    for step_rung, source, after in _forms(iri, rung_of(rung), evidence, registry):
        if after != before:
            steps += compare(step_rung, before, after, source, "IRI-reference")
        before = after
    return steps


def _forms(
    iri: IRIReference, rung: Rung, evidence: Mapping[str, str] | None, registry: Registry | None
) -> Iterator[tuple[Rung, str, str]]:
    if rung >= Rung.CASE:
        yield Rung.CASE, IRI_PARAGRAPHS[Rung.CASE], (form := _normalize_unmapped(str(iri), Rung.CASE))
        if rung >= Rung.PERCENT:
            unescaped = recompose(percent_encoding_normalization(split(form)))
            yield Rung.PERCENT, IRI_PARAGRAPHS[Rung.PERCENT], unescaped
            yield Rung.PERCENT, _MAPPING, iri_normal_form(iri, Rung.PERCENT)
    for step_rung in (Rung.PATH, Rung.SCHEME, Rung.PROTOCOL):
        if rung >= step_rung:
            yield step_rung, IRI_PARAGRAPHS[step_rung], iri_normal_form(iri, step_rung, evidence, registry)
