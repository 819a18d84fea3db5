"""urn: names that stay, whatever they name and wherever it is (RFC 8141; RFC 2141 before it; RFC 3986 1.1.3)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from uuid import UUID

from overthere.kernel.reference import Parts
from overthere.schemes.host_locator import decoded
from overthere.schemes.locator import Given, Locator, Writer
from overthere.schemes.model import Example, NormalRule, Scheme

# RFC 8141 2, without the f-component, which is the fragment.  The first "?=" ends the r-component (2.3.1), which the
# printed rule lets hold one: here no "=" follows a "?" in it.  A namespace may narrow its NSS (5): "uuid" (RFC 9562 4)
# and "oid" (RFC 3061) do, and NID is any other one, by its length and along their prefixes.
SYNTAX = """
namestring    = assigned-name [ rq-components ]
assigned-name = "urn" ":" ( "uuid:" uuid / "oid:" oid / NID ":" NSS )
uuid          = 8HEXDIG "-" 4HEXDIG "-" 4HEXDIG "-" 4HEXDIG "-" 12HEXDIG
oid           = oid-number *( "." oid-number )
oid-number    = DIGIT / %x31-39 1*DIGIT
NID           = 2alphanum / NID-of-3 / NID-of-4 / alphanum 3*30ldh alphanum
NID-of-3      = ( %x41-4E / %x50-5A / %x61-6E / %x70-7A / DIGIT ) ldh alphanum
              / "o" ( %x41-48 / %x4A-5A / %x61-68 / %x6A-7A / DIGIT / "-" ) alphanum
              / "oi" ( %x41-43 / %x45-5A / %x61-63 / %x65-7A / DIGIT )
NID-of-4      = ( %x41-54 / %x56-5A / %x61-74 / %x76-7A / DIGIT ) 2ldh alphanum
              / "u" ( %x41-54 / %x56-5A / %x61-74 / %x76-7A / DIGIT / "-" ) ldh alphanum
              / "uu" ( %x41-48 / %x4A-5A / %x61-68 / %x6A-7A / DIGIT / "-" ) alphanum
              / "uui" ( %x41-43 / %x45-5A / %x61-63 / %x65-7A / DIGIT )
ldh           = alphanum / "-"
alphanum      = ALPHA / DIGIT
NSS           = pchar *( pchar / "/" )
rq-components = [ "?+" r-component ] [ "?=" q-component ]
r-component   = pchar *( pchar / "/" / 1*"?" not-equals ) *"?"
not-equals    = unreserved / pct-encoded / "!" / "$" / "&" / "'" / "(" / ")" / "*" / "+" / "," / ";" / ":" / "@" / "/"
q-component   = pchar *( pchar / "/" / "?" )
"""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class URNLocator(Locator):
    """A name and what goes with it, all as written: the escapes of a URN are part of it and MUST NOT be decoded when
    names are compared (RFC 8141 3.1).

    >>> from overthere import URI
    >>> URI("urn:example:weather?=op=map#now").locator
    URNLocator(nid='example', nss='weather', q_component='op=map', fragment='now')
    """

    nid: str = ""
    """The namespace identifier; its case does not matter (2.1)."""
    nss: str = ""
    """The namespace specific string: one string, whatever structure its namespace gives it (2.2, 5)."""
    r_component: str | None = None
    """For the resolution service (2.3.1)."""
    q_component: str | None = None
    """For the resource, or the system that supplies it (2.3.2)."""
    scheme: str = field(default="urn", kw_only=True)

    @classmethod
    def split(cls, parts: Given) -> URNLocator:
        nid, colon, nss = (parts.path or "").partition(":")
        if parts.host is not None or not colon:
            raise parts.refuse(parts.path, 'a namespace, ":" and a name in it', "assigned-name", "RFC 8141 2")
        r_component, q_component = None, None
        if parts.query is not None:
            kind, components = parts.query[:1], parts.query[1:]
            if kind == "+":  # the first "?=" ends it (2.3.1)
                r_component, mark, components = components.partition("?=")
                kind = "=" if mark else ""
            elif kind != "=":
                raise parts.refuse(f"?{parts.query}", '"?+" or "?=", and no other "?"', "rq-components", "RFC 8141 2")
            q_component = components if kind else None
        return cls(nid, nss, r_component, q_component, **parts.rest(query=False))

    def join(self, to: Writer) -> str:
        text = f"{self.nid}:{self.nss}"
        text += "" if self.r_component is None else f"?+{self.r_component}"
        return text if self.q_component is None else f"{text}?={self.q_component}"

    @property
    def f_component(self) -> str | None:
        """The fragment, by its name in a URN (2.3.3)."""
        return self.fragment

    @property
    def assigned_name(self) -> str:
        """The part that is compared, in normal form: two URNs are URN-equivalent if it is equal (3.1).

        >>> from overthere import URI
        >>> URI("URN:EXAMPLE:a123%2cz456?+abc").locator.assigned_name
        'urn:example:a123%2Cz456'
        """
        nss = re.sub("%[0-9A-Fa-f]{2}", lambda escape: escape[0].upper(), self.nss)
        return f"urn:{_fold(self.nid)}:{nss}"

    @property
    def uuid(self) -> UUID | None:
        """The UUID of a name in the namespace "uuid" (RFC 9562 4); None for other namespaces and invalid UUIDs.

        >>> from overthere import URI
        >>> URI("urn:uuid:F81D4FAE-7dec-11d0-a765-00a0c91e6bf6").locator.uuid
        UUID('f81d4fae-7dec-11d0-a765-00a0c91e6bf6')
        """
        return UUID(self.nss) if _fold(self.nid) == "uuid" and _UUID.fullmatch(self.nss) else None

    @property
    def oid(self) -> tuple[int, ...] | None:
        """The object identifier of a name in the namespace "oid" (RFC 3061); None for other namespaces, invalid
        identifiers, and numbers of more than 4,000 digits.

        >>> URNLocator("oid", "1.3.6.1").oid, URNLocator("oid", "1.03").oid
        ((1, 3, 6, 1), None)
        """
        if _fold(self.nid) != "oid" or not _OID.fullmatch(self.nss):
            return None
        return tuple(map(int, self.nss.split(".")))

    @property
    def decoded(self) -> str:
        """The NSS for people, its escapes decoded from UTF-8 (2.2, 4.4); never to be compared.

        >>> URNLocator("example", "%D0%B0123,z456").decoded == "\\u0430123,z456"
        True
        """
        return decoded(self.nss)


_UUID = re.compile("[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_NUMBER = "(?:0|[1-9][0-9]{0,3999})"
_OID = re.compile(rf"{_NUMBER}(?:\.{_NUMBER})*")


def _fold(nid: str) -> str:
    """Return it in lower case; an escape is invalid in a NID (2.1), and such a NID keeps its case."""
    return nid if "%" in nid else nid.lower()


def _lower_nid(parts: Parts) -> Parts:
    nid, colon, nss = parts.path.partition(":")
    return parts._replace(path=f"{_fold(nid)}:{nss}") if colon and parts.authority is None else parts


def _lower_uuid(parts: Parts) -> Parts:
    nid, _, nss = parts.path.partition(":")
    if parts.authority is not None or nid.lower() != "uuid" or not _UUID.fullmatch(nss):
        return parts
    return parts._replace(path=f"{nid}:{nss.lower()}")


def _assigned_name(parts: Parts) -> Parts:
    """Without r-, q- and f-component; a "?" that begins neither is an error (2), and stays."""
    query = None if parts.query is not None and parts.query[:1] in ("+", "=") else parts.query
    return parts._replace(query=query, fragment=None)


SCHEME = Scheme(
    name="urn",
    title="Uniform Resource Names",
    documents={"rfc3986": "RFC 8141"},
    locator=URNLocator,
    syntax=SYNTAX,
    rules={"rfc3986": ("namestring",)},
    narrowed={"uuid:": "RFC 9562 4", "oid:": "RFC 3061"},
    shape="[A-Za-z0-9][A-Za-z0-9-]{1,31}:[A-Za-z0-9%!$&'(*+,._~:@;=/-]",
    linkable=True,
    locates_nothing="a URN names a resource and does not say where it is; a resolution service for its namespace may "
    "know (RFC 8141 1.2.1, RFC 3986 1.1.3)",
    normal=(
        NormalRule("the namespace identifier is written in lower case", "RFC 8141 3.1", _lower_nid),
        NormalRule("the digits of a UUID are written in lower case", "RFC 9562 4", _lower_uuid),
    ),
    compared=_assigned_name,
    examples=(
        Example("urn:oasis:names:specification:docbook:dtd:xml:4.1.2", "RFC 3986 1.1.2"),
        Example("urn:example:animal:ferret:nose", "RFC 3986 3"),
        Example("urn:example:1/406/47452/2", "RFC 8141 2.2", "a name with a hierarchy of its own"),
        Example("urn:example:foo-bar-baz-qux?+CCResolve:cc=uk", "RFC 8141 2.3.1", "with an r-component"),
        Example(
            "urn:example:weather?=op=map&lat=39.56&lon=-104.85&datetime=1969-07-21T02:56:15Z",
            "RFC 8141 2.3.2",
            "with a q-component",
        ),
        Example("urn:example:foo-bar-baz-qux#somepart", "RFC 8141 2.3.3", "with an f-component"),
        Example("urn:example:a123%2Cz456", "RFC 8141 3.2", "not the same name as urn:example:a123,z456"),
        Example("urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "RFC 9562 4", "a UUID"),
        Example("urn:oid:1.3.6.1", "RFC 3061 2", "an object identifier"),
    ),
    notes=(
        "The r-, q- and f-component are not compared (RFC 8141 3.1).",
        "Escapes are never decoded when URNs are compared (RFC 8141 3.1): compare assigned_name if %7E and ~ are to "
        "differ, because normalization by RFC 3986 6.2.2.2 makes them equal.",
        "The draft of 1994 reserves the name without a syntax (Registration of naming schemes).",
        "Names of uuid and oid have the form that RFC 9562 4 and RFC 3061 give them; other namespaces are not checked.",
        "A namespace may have further rules of equivalence, and must be registered (RFC 8141 3.1, 1).",
    ),
)
