"""did: a decentralized identifier (Decentralized Identifiers 1.0, W3C Recommendation of 19 July 2022)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from overthere.schemes.host_locator import HasSegments
from overthere.schemes.locator import Given, Locator, Writer
from overthere.schemes.model import Example, Scheme

# DID Core 3.1 and 3.2; the fragment is cut off before.  The scheme of a DID and the name of a method are in lower case.
SYNTAX = """
did-url            = did path-abempty [ "?" query ]
did                = %x64.69.64 ":" method-name ":" method-specific-id
method-name        = 1*method-char
method-char        = %x61-7A / DIGIT
method-specific-id = *( *idchar ":" ) 1*idchar
idchar             = ALPHA / DIGIT / "." / "-" / "_" / pct-encoded
"""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class DIDLocator(HasSegments, Locator):
    """A DID with path, query and fragment; all as written, because its method defines what escapes mean.

    >>> from overthere import URI
    >>> there = URI("did:example:123456/path?versionId=1#public-key-0").locator
    >>> there, there.did
    (DIDLocator(method='example', id='123456', path='/path', query='versionId=1', fragment='public-key-0'), 'did:example:123456')
    """  # noqa: E501

    method: str = ""
    id: str = ""
    """The method-specific identifier; the method defines whether its case matters (8.1)."""
    path: str = ""
    """With its leading slash; "" without a path (3.2)."""
    scheme: str = field(default="did", kw_only=True)
    as_written: ClassVar[frozenset[str]] = Locator.as_written | {"method", "id", "path"}

    @classmethod
    def split(cls, parts: Given) -> DIDLocator:
        method, colon, after_method = (parts.path or "").partition(":")
        id_, slash, path = after_method.partition("/")
        if parts.host is not None or not (method and colon) or "/" in method or not id_ or id_.endswith(":"):
            expected = 'a method, ":" and an identifier'
            raise parts.refuse(parts.path, expected, "did", "DID Core 3.1")
        return cls(method, id_, slash + path, **parts.rest())

    def join(self, to: Writer) -> str:
        return f"{self.method}:{self.id}{self.path}"

    @property
    def did(self) -> str:
        """The DID without path, query and fragment, which names the subject (3.1)."""
        return f"did:{self.method}:{self.id}"


SCHEME = Scheme(
    name="did",
    title="Decentralized identifiers",
    documents={"rfc3986": "DID Core 3.1"},
    locator=DIDLocator,
    syntax=SYNTAX,
    rules={"rfc3986": ("did-url",)},
    shape="[a-z0-9]{1,64}:[A-Za-z0-9._%-]",
    linkable=True,
    locates_nothing="a DID names a subject; its method says how the document about it is resolved, each in its own "
    "way (DID Core 7.1, 8.2), and none is known here",
    examples=(
        Example("did:example:123456789abcdefghi", "DID Core 1.1"),
        Example("did:example:123456/path", "DID Core 3.2", "with a path"),
        Example("did:example:123456?versionId=1", "DID Core 3.2", "with a query"),
        Example("did:example:123#public-key-0", "DID Core 3.2", "a verification method in the DID document"),
    ),
    notes=(
        "The document compares DIDs as text; a method may define more equivalences (DID Core 8.1).",
        "The parameters service, relativeRef, versionId, versionTime and hl of a query are reserved (DID Core 3.2.1).",
    ),
)
