"""The editions: each document as one value."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from overthere.ground.display import shorten
from overthere.ground.errors import Finding, GrammarError, NotSpecified
from overthere.ground.exact import exact
from overthere.ground.late_imports import default_registry
from overthere.ground.redact import mask

if TYPE_CHECKING:
    from overthere.editions.model import Edition
    from overthere.schemes.registry import Registry

__all__ = ["NAMES", "check", "edition"]

NAMES = {
    "url-1994": "overthere.editions.url1994",
    "rfc1738": "overthere.editions.rfc1738",
    "url-1997": "overthere.editions.url1997",
    "uri-2003": "overthere.editions.uri2003",
    "rfc3986": "overthere.editions.rfc3986",
}
"""Edition name -> module, oldest first."""


def edition(name: str = "rfc3986") -> Edition:
    """Return the edition of that name: "url-1994", "rfc1738", "url-1997", "uri-2003" or "rfc3986".

    The first two do not define references; they leave them to RFC 1630 and RFC 1808, whose algorithms are in
    `overthere.editions.resolution`.

    Raises: NotSpecified if there is no such edition; TypeError if the name is not text.

    >>> edition("rfc3986").is_valid("http://h/p"), edition("rfc3986").date
    (True, 'January 2005')
    """
    return import_module(NAMES[known_edition(name)]).EDITION  # type: ignore[no-any-return]


def known_edition(name: str) -> str:
    """Return the name of an edition.  Raises: NotSpecified for another name; TypeError if it is not text."""
    if (name := exact(name, "edition")) not in NAMES:
        raise NotSpecified(f"unknown edition {shorten(mask(name), 100)!r}; known: {', '.join(NAMES)}")
    return name


def check(
    text: str,
    edition: str = "rfc3986",
    *,
    rule: str | None = None,
    scheme: bool = False,
    registry: Registry | None = None,
    limit: int | None = 1000,
) -> list[Finding]:
    """Return all findings on a text by an edition's grammar; an empty list if it is valid.

    rule: the rule to check, "URI" by default ("URI-reference" allows a relative reference); for RFC 3986 also
    IRI and IRI-reference (RFC 3987 2.2).
    scheme: whether to check the rules of the URI's own scheme too, by the edition or by the scheme's current
    document; unknown schemes have no findings.
    registry: the registry for schemes (default: the default one).
    limit: the maximum of findings (None: all); a last one of the kind "more" counts the others.

    Raises: nothing for any text; NotSpecified or GrammarError for a name that does not exist, and for `scheme` with a
    rule that is not one of whole URIs or references; TypeError if it is not text.

    >>> [(f.kind, f.start, f.end) for f in check("http://h:8o/a b%zz")]
    [('port-char', 10, 11), ('space', 13, 14), ('pct-encoded', 15, 16)]
    >>> check("http:/example.com"), [(f.kind, f.start, f.source) for f in check("http:/example.com", scheme=True)]
    ([], [('scheme-syntax', 6, 'RFC 9110 4.2.1')])
    """
    edition_value, rule = _edition(edition), None if rule is None else exact(rule, "rule")
    if scheme and rule not in (None, edition_value.top, "URI", "URI-reference", "URL-reference"):
        raise GrammarError(f"scheme rules apply to whole URIs, not to the rule {rule!r:.100}")
    if edition == "rfc3986" and rule in ("IRI", "IRI-reference"):
        from overthere.values.findings import check_uri

        return check_uri(exact(text, "check()"), rule, limit=limit)
    findings = edition_value.check(text, rule, limit)
    if findings or not scheme:
        return findings
    return (default_registry() if registry is None else registry).check(text, edition, limit)


_edition = edition
