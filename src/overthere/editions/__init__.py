"""The editions: what each document says, each a whole value of its own."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from overthere.errors import NotSpecified
from overthere.exact import exact

if TYPE_CHECKING:
    from overthere.editions.model import Edition
    from overthere.errors import Finding

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
    """The edition of that name: "url-1994", "rfc1738", "url-1997", "uri-2003" or "rfc3986".

    The first two have no references of their own: `overthere.editions.resolution` has the algorithms of RFC 1630 and
    RFC 1808, to which they leave them.

    Raises: NotSpecified if there is no such edition; TypeError if the name is not text.

    >>> edition("rfc3986").is_valid("http://h/p"), edition("rfc3986").date
    (True, 'January 2005')
    """
    name = exact(name, "edition()")
    if name not in NAMES:
        raise NotSpecified(f"there is no edition {name!r}; there is {', '.join(NAMES)}")
    return import_module(NAMES[name]).EDITION  # type: ignore[no-any-return]


def check(text: str, edition: str = "rfc3986", *, rule: str | None = None, limit: int | None = 1000) -> list[Finding]:
    """Everything that is wrong with a text by the letter of an edition; an empty list if nothing is.

    rule: what the text should be, "URI" by default ("URI-reference" allows a relative reference); for RFC 3986 also
    IRI and IRI-reference (RFC 3987 2.2).
    limit: how many findings are listed (None: all); a last one of the kind "more" counts the rest.

    Raises: nothing for any text; NotSpecified or GrammarError for a name that does not exist; TypeError for what is
    no text.

    >>> [(f.kind, f.start, f.end) for f in check("http://h:8o/a b%zz")]
    [('port-char', 10, 11), ('space', 13, 14), ('pct-encoded', 15, 16)]
    """
    if edition == "rfc3986" and rule in ("IRI", "IRI-reference"):
        from overthere.findings import check_uri

        return check_uri(exact(text, "check()"), rule, limit=limit)
    return _edition(edition).check(text, rule, limit)


_edition = edition
