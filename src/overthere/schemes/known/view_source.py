"""view-source: the source of what another URI locates (draft-yevstifeyev-view-source-uri, and as browsers have it)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from overthere.kernel.reference import Parts
from overthere.schemes.inner_locator import InnerLocator
from overthere.schemes.model import Example, NormalRule, Scheme
from overthere.schemes.shapes import NESTED

__all__ = ["SCHEME", "ViewSourceLocator"]

DOCUMENT = "draft-yevstifeyev-view-source-uri"
RULES = {"rfc3986": ("view-source-uri",)}
SYNTAX = """
view-source-uri = "view-source:" scheme ":" hier-part [ "?" query ]
"""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ViewSourceLocator(InnerLocator):
    """Whose source is shown: `inner`.

    >>> from overthere import URI
    >>> URI("view-source:http://example.com/#top").locator
    ViewSourceLocator(text='http://example.com/', fragment='top')
    """

    scheme: str = field(default="view-source", kw_only=True)
    document: ClassVar[str] = DOCUMENT


def _lower_scheme(parts: Parts) -> Parts:
    name, colon, rest = parts.path.partition(":")
    plain = parts.authority is None and colon and name.isascii() and "%" not in name
    return parts._replace(path=f"{name.lower()}:{rest}") if plain else parts


EXAMPLES = (Example("view-source:http://example.com/?a", "of our own", "the source of the page"),)

SCHEME = Scheme(
    name="view-source",
    title="The source of a document",
    documents={"rfc3986": DOCUMENT},
    locator=ViewSourceLocator,
    syntax=SYNTAX,
    rules=RULES,
    shape=NESTED,
    locates_nothing="it names a way to show what another URI locates, and no resource of its own: retrieve the one "
    f"within ({DOCUMENT})",
    normal=(NormalRule("the scheme within is in lower case", "RFC 3986 6.2.2.1", _lower_scheme),),
    examples=EXAMPLES,
    notes=(
        "The draft has expired; browsers have the scheme, and pages may not link to it.",
        "Of the URI within no more than its scheme is normalized: ask for inner.normalize().",
    ),
)
