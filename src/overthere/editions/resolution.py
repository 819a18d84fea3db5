"""Reference resolution by document: one function for each, all with the same signature.

Each follows the document's own numbered steps: those of editions are `resolve` in `url1997`, `uri2003`
and `rfc3986`, the others are in `other_resolutions`.  Steps that several documents share are in `resolution_steps`.

Every function takes `(base, reference, strict=True)` and returns a `Target`.  By default it follows the document
literally; `repair=True`, where a document needs it, follows its authors' intention.  The texts are split as in the
document and are not checked: a text that the document's grammar rejects still has a result.

`strict=False` ignores a scheme in the reference that equals the base's, if the document allows that: RFC 2396,
uri-2003 (there "non-validating") and RFC 3986.  The three earlier ones have one result only, and ignore it.

Every loop is linear in the text: the "iterative removal of the leftmost match" uses the stack of segments
that the documents themselves recommend.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import NamedTuple, Protocol

from overthere.editions.other_resolutions import rfc1630, rfc1808, rfc2396
from overthere.editions.rfc3986 import resolve as rfc3986
from overthere.editions.uri2003 import resolve as uri2003
from overthere.editions.url1997 import resolve as url1997
from overthere.values.resolve import Target

__all__ = ["RESOLUTIONS", "Resolution", "Resolve", "rfc1630", "rfc1808", "rfc2396", "rfc3986", "uri2003", "url1997"]


class Resolve(Protocol):
    def __call__(self, base: str, reference: str, strict: bool = True, /) -> Target: ...


class Resolution(NamedTuple):
    """One document's algorithm."""

    name: str
    document: str
    section: str
    resolve: Resolve
    """The algorithm exactly as printed."""
    repaired: Resolve | None = None
    """The algorithm with the document's known fault repaired; None if it has none."""


RESOLUTIONS: Mapping[str, Resolution] = MappingProxyType(
    {
        row.name: row
        for row in (
            Resolution("rfc1630", "RFC 1630", "Partial (relative) form", rfc1630, partial(rfc1630, repair=True)),
            Resolution("rfc1808", "RFC 1808", "4", rfc1808),
            Resolution("url-1997", "draft-fielding-url-syntax-05", "5.2", url1997, partial(url1997, repair=True)),
            Resolution("rfc2396", "RFC 2396", "5.2", rfc2396, partial(rfc2396, repair=True)),
            Resolution("uri-2003", "draft-fielding-uri-rfc2396bis-01", "5.2", uri2003),
            Resolution("rfc3986", "RFC 3986", "5.2", rfc3986, partial(rfc3986, repair=True)),
        )
    }
)
