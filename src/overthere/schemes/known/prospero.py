"""prospero: an object of the Prospero Directory Service (1994 PROSPERO; RFC 1738 3.11; RFC 4157)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from overthere.ground.errors import CodingError
from overthere.schemes.host_locator import host_without_user
from overthere.schemes.locator import Given, Locator, Writer
from overthere.schemes.model import Example, Scheme, default_port

PORT = 1525
"""The default port (RFC 4157 2)."""
# RFC 4157 2 over the characters of RFC 3986; ";" and "=" delimit fields as in RFC 1738 5, and "?" begins a query.
SYNTAX = """
prospero-uri      = "prospero:" "//" prospero-hostport "/" hsoname *( ";" fieldname "=" fieldvalue )
prospero-hostport = host [ ":" port ]
hsoname           = *( fieldchar / "=" / "/" )
fieldname         = *fieldchar
fieldvalue        = *fieldchar
fieldchar         = unreserved / pct-encoded / "!" / "$" / "&" / "'" / "(" / ")" / "*" / "+" / "," / ":" / "@"
"""

_VERSION = "OBJECT-VERSION"
# 1994: a path has no empty segments (94-27), an escaped slash is no segment's end.
_EMPTY_SEGMENT = re.compile("(?<![^/])/|/(?![^/])")


class ProsperoField(NamedTuple):
    """A field of a Prospero link (RFC 4157 2)."""

    name: str
    value: str | None
    """None without a "="."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ProsperoLocator(Locator):
    """The name of an object on a host, and further fields that identify it (RFC 4157 2).

    >>> from overthere import URI
    >>> URI("prospero://host.dom//pros/name;OBJECT-VERSION=2").locator
    ProsperoLocator(host='host.dom', hsoname='/pros/name', version=2)
    """

    host: str = ""
    port: int | None = None
    hsoname: str | None = None
    """The host-specific object name, which only the server interprets: to others a "/" in it means nothing."""
    version: int | None = None
    """The version of the object: the field OBJECT-VERSION; in 1994 the number after "%00"."""
    attributes: str | None = None
    """1994: the text directly after the version (BNF; the prose does not explain it)."""
    fields: tuple[ProsperoField, ...] = ()
    """The other fields, in their order."""
    scheme: str = field(default="prospero", kw_only=True)

    @classmethod
    def split(cls, parts: Given) -> ProsperoLocator:
        named = parts.named
        host = host_without_user(parts, "no user name or password", "RFC 4157 2")
        hsoname, fields = named.get("hsoname", named.get("ppath")), named.get("fieldspec")
        if parts.edition == "rfc3986" and parts.path is not None:
            hsoname, mark, field_text = parts.path.partition(";")
            fields = mark + field_text if mark else None
        version, attributes = named.get("version"), named.get("attributes")
        if version == "":
            version, attributes = None, attributes or ""  # "%00" without digits differs from no "%00"
        elif version is not None and _number(version) is None:
            raise parts.refuse(version, "a version number of 18 digits at most", "version", "1994 PROSPERO")
        number, other_fields = _fields(parts, fields)
        return cls(
            host=host,
            port=parts.port,
            hsoname=parts.decode(hsoname),
            version=number if version is None else _number(version),
            attributes=parts.decode(attributes),
            fields=other_fields,
            **parts.rest(),
        )

    def join(self, to: Writer) -> str:
        if "@" in self.host and to.edition != "url-1994":
            raise CodingError(f"the host {self.host!r} would be read as a user and a host")
        text = to.authority(self.host, self.port)
        if self.hsoname is None:
            return text
        if to.edition == "url-1994":
            text += "/" + _EMPTY_SEGMENT.sub("%2F", to.text(self.hsoname, "@+/"))
            version = "" if self.version is None else str(self.version)
            end = None if self.version is None and self.attributes is None else to.text(self.attributes or "")
            return text if end is None else f"{text}%00{version}{end}"
        keep = "?:@&" if to.edition == "rfc1738" else "!$&'()*+,:@"
        text += "/" + to.text(self.hsoname, keep + "=/")
        if self.version is not None:
            text += f";{_VERSION}={self.version}"
        for entry in self.fields:
            if len(entry) != 2:
                raise CodingError(f"a field must be a name and a value, not {entry!r}")
            name, value = entry
            text += f";{to.text(name, keep)}" + ("" if value is None else f"={to.text(value, keep)}")
        return text


def _fields(parts: Given, raw: str | None) -> tuple[int | None, tuple[ProsperoField, ...]]:
    """The version, if a field names it, and the other fields."""
    number: int | None = None
    other_fields: list[ProsperoField] = []
    for pair in [] if raw is None else raw[1:].split(";"):
        name, equals, value = pair.partition("=")
        entry = ProsperoField(parts.decode(name), parts.decode(value) if equals else None)
        version = _number(entry.value or "") if number is None and entry.name == _VERSION else None
        if version is None:
            other_fields.append(entry)
        else:
            number = version
    return number, tuple(other_fields)


def _number(text: str) -> int | None:
    """Return the number of a digit string; None for other text, or for more digits than a version has."""
    digits = text.lstrip("0")
    return int(text[-18:]) if text.isascii() and text.isdigit() and len(digits) <= 18 else None


SCHEME = Scheme(
    name="prospero",
    title="Prospero Directory Service",
    documents={"url-1994": "PROSPERO", "rfc1738": "RFC 1738 3.11", "rfc3986": "RFC 4157"},
    locator=ProsperoLocator,
    syntax=SYNTAX,
    rules={"url-1994": ("prosperoaddress",), "rfc1738": ("prosperourl",), "rfc3986": ("prospero-uri",)},
    port=PORT,
    own_octets=frozenset(b"\0"),
    access="prospero",
    normal=(default_port(PORT, "RFC 4157 2"),),
    examples=(
        Example("prospero://host.dom//pros/name", "RFC 1738 3.11", 'the object "/pros/name"'),
        Example("prospero://example.com//pros/name", "RFC 4157 2"),
        Example("prospero://example.com//pros/name;OBJECT-VERSION=2", "RFC 4157 2", "a specific version of it"),
    ),
    notes=(
        'A "/" in an hsoname is not a hierarchy: nothing resolves against it (RFC 4157 2).',
        "The default port is 1525; the name prospero is assigned to port 191 (RFC 4157 2).",
    ),
)
