"""blob: an object in a browser's memory (File API, W3C)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import ClassVar
from uuid import UUID

from overthere.kernel.reference import Parts
from overthere.schemes.in_text import NESTED
from overthere.schemes.locator import Given, Locator, Writer
from overthere.schemes.model import Example, NormalRule, Scheme

DOCUMENT = "File API, The Blob URL Store"
# "blob:", an origin in ASCII (or what the browser chooses where that is "null"), "/" and a UUID.
SYNTAX = """
blob-uri    = "blob:" blob-origin "/" uuid
blob-origin = "null" / scheme "://" [ blob-host [ ":" port ] ]
blob-host   = IPv4address / 1*( unreserved / pct-encoded / sub-delims )
uuid        = 8HEXDIG "-" 4HEXDIG "-" 4HEXDIG "-" 4HEXDIG "-" 12HEXDIG
"""
_ORIGIN = re.compile("[A-Za-z][A-Za-z0-9+.-]*://[!-$&-.0-?A-~]*")
_UUID = re.compile("[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class BlobLocator(Locator):
    """An object and the origin that owns it.

    >>> from overthere import URI
    >>> URI("blob:https://whatwg.org/d0360e2f-caee-469f-9a2f-87d5b0456f6f").locator
    BlobLocator(origin='https://whatwg.org', identifier='d0360e2f-caee-469f-9a2f-87d5b0456f6f')
    """

    origin: str = ""
    """The origin of the page that made it, as written; "null" if it is opaque."""
    identifier: str = ""
    """A UUID, as written."""
    scheme: str = field(default="blob", kw_only=True)
    as_written: ClassVar[frozenset[str]] = Locator.as_written | {"origin", "identifier"}

    @classmethod
    def split(cls, parts: Given) -> BlobLocator:
        origin, slash, identifier = (parts.path or "").rpartition("/")
        if parts.host is not None or not (origin and slash and identifier):
            raise parts.refuse(parts.path, 'an origin, "/" and a UUID', "blob-uri", DOCUMENT)
        return cls(origin, identifier, **parts.rest())

    def join(self, to: Writer) -> str:
        return f"{self.origin}/{self.identifier}"

    @property
    def uuid(self) -> UUID | None:
        """The identifier as a value; None if it is not a UUID."""
        return UUID(self.identifier) if _UUID.fullmatch(self.identifier) else None


def _lower_origin(parts: Parts) -> Parts:
    origin, _, identifier = parts.path.rpartition("/")
    is_origin = parts.authority is None and _ORIGIN.fullmatch(origin) is not None
    return parts._replace(path=f"{origin.lower()}/{identifier}") if is_origin else parts


SCHEME = Scheme(
    name="blob",
    title="Objects in a browser's memory",
    documents={"rfc3986": DOCUMENT},
    locator=BlobLocator,
    syntax=SYNTAX,
    rules={"rfc3986": ("blob-uri",)},
    shape=rf"{NESTED}|null/",
    locates_nothing="it names an object in the memory of the browser that made it, for as long as its page lives; "
    f"nothing outside can get it ({DOCUMENT})",
    normal=(
        NormalRule("scheme and host of the origin are in lower case", "RFC 6454 6.2, RFC 3986 6.2.2.1", _lower_origin),
    ),
    examples=(
        Example("blob:https://whatwg.org/d0360e2f-caee-469f-9a2f-87d5b0456f6f", "URL Standard 4.7"),
        Example("blob:null/d0360e2f-caee-469f-9a2f-87d5b0456f6f", "of our own", "of an opaque origin"),
    ),
    notes=(
        "An origin with an IPv6 address has brackets, which a path cannot contain: such a text is not a valid URI.",
    ),
)
