"""jsonschema: a checker of the formats of URIs, IRIs and URI Templates (JSON Schema Validation 7.3.5, 7.3.6).

jsonschema.validate(instance, schema, format_checker=checker())
"""

from __future__ import annotations

from collections.abc import Callable

from overthere.ground.errors import OverthereError
from overthere.ground.extras import brought_by
from overthere.iri import IRI, IRIReference
from overthere.values.template import Template
from overthere.values.uri import URI, URIReference

with brought_by("jsonschema"):
    from jsonschema import FormatChecker

__all__ = ["checker"]

_FORMATS: dict[str, Callable[[str], object]] = {
    "uri": URI, "uri-reference": URIReference, "iri": IRI, "iri-reference": IRIReference, "uri-template": Template,
}  # fmt: skip


def checker(base: FormatChecker | None = None) -> FormatChecker:
    """Return a checker of `uri`, `uri-reference`, `iri`, `iri-reference`, `uri-template` and the formats of `base`.

    base: a checker whose checks of these five are replaced; default: all that jsonschema has.
    The ValidationError has the InvalidURI, with the problem and its place, as its `cause`.

    >>> checker().conforms("http://h/a b", "uri"), checker().conforms("/a?b", "uri-reference")
    (False, True)
    """
    new_checker = FormatChecker(())
    new_checker.checkers = dict((FormatChecker() if base is None else base).checkers)
    for name, kind in _FORMATS.items():
        new_checker.checks(name, raises=OverthereError)(_check(kind))
    return new_checker


def _check(kind: Callable[[str], object]) -> Callable[[object], bool]:
    def check(instance: object) -> bool:
        if isinstance(instance, str):  # formats apply only to text
            kind(instance)
        return True

    return check
