"""about: a resource inside the application (RFC 6694)."""

from __future__ import annotations

from dataclasses import dataclass, field

from overthere.schemes.locator import Given, Locator, Writer
from overthere.schemes.model import Example, Scheme

# RFC 6694 2.1, without the fragment.
SYNTAX = """
about-uri   = "about:" about-token [ about-query ]
about-token = *pchar
about-query = "?" query
"""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class AboutLocator(Locator):
    """A token that names the resource (RFC 6694 2.2); `query`, as written, says how it is handled or what it returns.

    >>> from overthere import URI
    >>> URI("about:blank").locator
    AboutLocator(token='blank')
    """

    token: str = ""
    scheme: str = field(default="about", kw_only=True)

    @classmethod
    def split(cls, parts: Given) -> AboutLocator:
        if parts.host is not None:
            raise parts.refuse("//", "a token, and no authority", "about-token", "RFC 6694 2.2")
        return cls(parts.decode(parts.path or ""), **parts.rest())

    def join(self, to: Writer) -> str:
        return to.text(self.token, "!$&'()*+,;=:@")


SCHEME = Scheme(
    name="about",
    title="about",
    documents={"rfc3986": "RFC 6694"},
    locator=AboutLocator,
    syntax=SYNTAX,
    rules={"rfc3986": ("about-uri",)},
    shape=r"(?:blank|srcdoc|config|legacy-compat)\b",
    access="about",
    examples=(
        Example("about:blank", "RFC 6694 3", "a blank page"),
        Example("about:settings?section=network", "RFC 6694 1 and 2.2, of our own", "a page of the application's own"),
    ),
    notes=(
        "The application decides the meaning of a token; only about:blank is the same everywhere (RFC 6694 2.2, 3).",
    ),
)
