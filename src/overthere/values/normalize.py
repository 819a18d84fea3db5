"""The comparison ladder (RFC 3986 6.2): normal forms by rung, their changes, and the lowest common rung."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from overthere import kernel
from overthere.ground.late_imports import default_registry
from overthere.ground.redact import MASK, mask
from overthere.ground.rung import Rung, rung_of
from overthere.kernel import front
from overthere.kernel.reference import GROUPS, STEPS, parse, recompose, scheme_based_normalization, split
from overthere.values.value import Value

if TYPE_CHECKING:
    from overthere.schemes.model import Scheme
    from overthere.schemes.registry import Registry

__all__ = ["Change", "Rung", "changes", "compare", "comparison_form", "lowest_rung", "normal_form", "scheme_form"]


PARAGRAPHS = {
    Rung.STRING: "RFC 3986 6.2.1",
    Rung.CASE: "RFC 3986 6.2.2.1",
    Rung.PERCENT: "RFC 3986 6.2.2.2",
    Rung.PATH: "RFC 3986 6.2.2.3",
    Rung.SCHEME: "RFC 3986 6.2.3",
    Rung.PROTOCOL: "RFC 3986 6.2.4",
}

# The components that a step can change, in the order of the text.
_CHANGING = ("scheme", "userinfo", "host", "port", "path", "query", "fragment")


class Change(NamedTuple):
    """A component that a rung changed."""

    rung: Rung
    component: str
    start: int
    """Code-point offsets in the form of the rung below."""
    end: int
    before: str | None
    after: str | None
    source: str

    def __repr__(self) -> str:
        # A userinfo may contain a password (7.5), and so may a path, which browsers read as a userinfo after "http:".
        prefix = "http:" if self.component == "path" else ""
        before, after = (
            MASK if self.component == "userinfo" else text and mask(prefix + text).removeprefix(prefix)
            for text in (self.before, self.after)
        )
        place = f"{self.component} at {self.start}..{self.end}"
        return f"<Change {self.rung.name}: {place}, {before!r} to {after!r}, {self.source}>"


def _scheme(name: str, registry: Registry | None) -> Scheme:
    return (default_registry() if registry is None else registry).scheme(name)


def _scheme_form(text: str, registry: Registry | None) -> str:
    """Return the form of the scheme rung (6.2.3)."""
    return scheme_form(kernel.normalize(text, Rung.PATH), registry)


def scheme_form(form: str, registry: Registry | None = None) -> str:
    """Return the form of the scheme rung (6.2.3) of a valid text that is normal by the generic rungs.

    >>> scheme_form("http://h:80")
    'http://h/'
    """
    parts = split(form)
    if parts.scheme is None:
        return form
    normalized = scheme_based_normalization(parts, _scheme(parts.scheme, registry).steps)
    return form if normalized == parts else recompose(normalized)


def normal_form(
    text: str, rung: Rung = Rung.SYNTAX, evidence: Mapping[str, str] | None = None, registry: Registry | None = None
) -> str:
    """The normal form of a valid URI or reference, as text.

    evidence: for `Rung.PROTOCOL`, URIs that an access has shown to name the same resource (a permanent
    redirect, say), each to the URI to prefer (6.2.4).  Without it PROTOCOL is SCHEME: nothing is guessed.
    registry: the schemes for the scheme rung (default: the default registry).

    Raises: InvalidURI for evidence that is not a URI.

    >>> normal_form("eXAMPLE://a/./b/../b/%63/%7bfoo%7d")
    'example://a/b/c/%7Bfoo%7D'
    """
    rung = rung_of(rung)
    form = kernel.normalize(text, rung) if rung < Rung.SCHEME else _scheme_form(text, registry)
    if rung < Rung.PROTOCOL or not evidence:
        return form
    preferred = {_evidence_form(a, registry): _evidence_form(b, registry) for a, b in evidence.items()}
    visited = {form}
    while form in preferred:
        form = preferred[form]
        if form in visited:  # a cycle of evidence: all members name the resource, choose one
            start, cycle = form, [form]
            while (form := preferred[form]) != start:
                cycle.append(form)
            return min(cycle)
        visited.add(form)
    return form


def _evidence_form(uri: Value | str, registry: Registry | None) -> str:
    from overthere.values.uri import URI

    return _scheme_form(str(uri if isinstance(uri, Value) else URI(uri, zone=True)), registry)


def changes(
    text: str, rung: Rung = Rung.SYNTAX, evidence: Mapping[str, str] | None = None, registry: Registry | None = None
) -> list[Change]:
    """Return the changes of the rungs up to `rung`: component, place, before and after, section.

    >>> [(c.rung.name, c.component, c.before, c.after) for c in changes("HTTP://h/%7ea")]
    [('CASE', 'scheme', 'HTTP', 'http'), ('CASE', 'path', '/%7ea', '/%7Ea'), ('PERCENT', 'path', '/%7Ea', '/~a')]
    """
    steps: list[Change] = []
    before = text
    for step in range(1, rung_of(rung) + 1):
        step_rung = Rung(step)
        if step_rung is Rung.SCHEME:
            for source, after in _scheme_steps(before, registry):
                steps += compare(step_rung, before, after, source)
                before = after
            continue
        if step_rung < Rung.PROTOCOL:
            after = recompose(STEPS[step - 1](split(before)))
        else:
            after = normal_form(before, step_rung, evidence, registry)
        if after != before:
            steps += compare(step_rung, before, after, PARAGRAPHS[step_rung])
        before = after
    return steps


def _scheme_steps(text: str, registry: Registry | None) -> Iterator[tuple[str, str]]:
    """Yield the section and the text after it for each rule of the scheme that changes something (6.2.3)."""
    name = split(text).scheme
    for source, apply in () if name is None else _scheme(name, registry).steps:
        after = recompose(apply(split(text)))
        if after != text:
            yield source, after
            text = after


def compare(rung: Rung, before: str, after: str, source: str, rule: str = "URI-reference") -> list[Change]:
    """Return the components that differ between two valid texts."""
    zone = "%25" in before  # the texts are valid; only brackets can contain it
    old, new = parse(before, rule, zone), parse(after, rule, zone)
    assert old is not None
    assert new is not None
    differences: list[Change] = []
    for component in _CHANGING:
        group = GROUPS[component]
        if old[group] != new[group]:
            start, end = old.span(group)
            differences.append(Change(rung, component, start, end, old[group], new[group], source))
    return differences


def comparison_form(
    text: str, rung: Rung, evidence: Mapping[str, str] | None = None, registry: Registry | None = None
) -> str:
    """Return the normal form, from the scheme rung on without parts that are not compared (such as RFC 8141 3.1)."""
    form = normal_form(text, rung, evidence, registry)
    if rung < Rung.SCHEME:
        return form
    parts = split(form)
    compared = None if parts.scheme is None else _scheme(parts.scheme, registry).compared
    return form if compared is None else recompose(compared(parts))


def _valid(value: Value | str) -> Value:
    """Return a value, or parse a text: as an IRI-reference if it is not US-ASCII."""
    from overthere.iri import IRIReference
    from overthere.values.uri import URIReference

    if isinstance(value, Value):
        return value
    is_non_ascii = isinstance(value, str) and not str.isascii(value)
    return IRIReference(value) if is_non_ascii else URIReference(value)


@front
def lowest_rung(
    a: Value | str, b: Value | str, evidence: Mapping[str, str] | None = None, *, registry: Registry | None = None
) -> Rung | None:
    """The lowest rung at which two URIs are equal; None if they are not at any.

    a, b: values, or text.  If one of them is an IRI, both are compared as IRIs (RFC 3987 5.3).
    registry: the schemes for the scheme rung (default: the default registry).

    Raises: InvalidURI for an invalid URI-reference, InvalidIRI for an invalid IRI-reference.

    >>> lowest_rung("http://example.com", "http://EXAMPLE.com:80/")
    <Rung.SCHEME: 4>
    >>> lowest_rung("example://a/b/c/%7Bfoo%7D/ros\u00e9", "eXAMPLE://a/./b/../b/%63/%7bfoo%7d/ros%C3%A9")
    <Rung.PATH: 3>
    """
    from overthere.iri import IRIReference

    first, second = _valid(a), _valid(b)
    if isinstance(first, IRIReference) or isinstance(second, IRIReference):
        from overthere.values.iri_ladder import iri_comparison_form

        pair = [value if isinstance(value, IRIReference) else IRIReference(value) for value in (first, second)]
        for rung in Rung:
            forms = [iri_comparison_form(first, rung, evidence, registry) for first in pair]
            if forms[0] == forms[1]:
                return rung
        return None
    for rung in Rung:
        forms = [comparison_form(str(value), rung, evidence, registry) for value in (first, second)]
        if forms[0] == forms[1]:
            return rung
    return None
