"""sip: a resource of the Session Initiation Protocol (RFC 3261 19.1, 25.1).

The locator, the rules and the normal form serve sips too, which differs in what it wants of the way there.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from overthere.ground.errors import CodingError
from overthere.kernel.reference import Parts
from overthere.schemes.in_text import MAILBOX, PHONE
from overthere.schemes.locator import Given, Locator, Writer
from overthere.schemes.model import Example, NormalRule, Scheme, lower_except_escapes

PORTS = {"sip": 5060, "sips": 5061}
"""The default ports (RFC 3261 19.1.2)."""


def syntax(name: str) -> str:
    """Return the rules of sip or sips (RFC 3261 25.1) over the characters of RFC 3986, without "[" and "]": with an
    IPv6 reference, a sip URI is not a valid URI.  A user cannot begin with "//", which would begin an authority."""
    return f"""
{name}-uri        = "{name}:" [ sip-userinfo ] hostport *( ";" uri-parameter ) [ headers ]
sip-userinfo     = user [ ":" password ] "@"
user             = ( user-char / "/" user-char ) *( user-char / "/" ) / "/"
user-char        = sip-unreserved / pct-encoded / "&" / "=" / "+" / "$" / "," / ";" / "?"
password         = *( sip-unreserved / pct-encoded / "&" / "=" / "+" / "$" / "," )
hostport         = ( hostname / IPv4address ) [ ":" 1*DIGIT ]
hostname         = *( domainlabel "." ) toplabel [ "." ]
domainlabel      = alphanum / alphanum *( alphanum / "-" ) alphanum
toplabel         = ALPHA / ALPHA *( alphanum / "-" ) alphanum
uri-parameter    = 1*paramchar [ "=" 1*paramchar ]
paramchar        = sip-unreserved / pct-encoded / "/" / ":" / "&" / "+" / "$"
headers          = "?" header *( "&" header )
header           = 1*hnv-char "=" *hnv-char
hnv-char         = sip-unreserved / pct-encoded / "/" / "?" / ":" / "+" / "$"
sip-unreserved   = alphanum / "-" / "_" / "." / "!" / "~" / "*" / "'" / "(" / ")"
alphanum         = ALPHA / DIGIT
"""


_MARKS = "!*'()"
_IN_PARAMETER = _MARKS + "/:&+$"
_IN_HEADER = _MARKS + "/?:+$"
_PORT = re.compile("[0-9]+")


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class SIPLocator(Locator):
    """The recipient of a request, the host, and the content.

    >>> from overthere import URI
    >>> URI("sip:alice:s3@atlanta.com;transport=tcp?subject=project%20x").locator  # doctest: +NORMALIZE_WHITESPACE
    SIPLocator(user='alice', password='***', host='atlanta.com', parameters=(('transport', 'tcp'),),
    headers=(('subject', 'project x'),))
    """

    user: str | None = None
    """The resource at the host; a telephone number where the parameter "user" is "phone" (19.1.1, 19.1.6)."""
    password: str | None = None
    host: str = ""
    port: int | None = None
    parameters: tuple[tuple[str, str | None], ...] = ()
    """Name and value, None without "="."""
    headers: tuple[tuple[str, str], ...] | None = None
    """The header fields of the request and its "body"; None without "?"."""
    scheme: str = field(default="sip", kw_only=True)

    @classmethod
    def split(cls, parts: Given) -> SIPLocator:
        source = "RFC 3261 25.1"
        remainder = (parts.path or "") + ("" if parts.query is None else f"?{parts.query}")
        if parts.host is not None or not remainder:
            raise parts.refuse(remainder, "a user at a host, or a host", f"{parts.scheme}-uri", source)
        # Neither host, parameters nor headers have an "@", and a user may have ";" and "?".
        info, at, remainder = remainder.rpartition("@")
        if at and not info:
            raise parts.refuse("@", 'a user before the "@"', "userinfo", source)
        user, colon, password = info.partition(":")
        host_part, mark, query = remainder.partition("?")
        hostport, *parameters = host_part.split(";")
        host, port_mark, port = hostport.partition(":")
        if not host or (port_mark and not (_PORT.fullmatch(port) and len(port) < 4000)):
            raise parts.refuse(hostport or None, "a host, and a port of digits", "hostport", source)
        if not all(pair.partition("=")[0] for pair in parameters):
            raise parts.refuse(host_part, "a name of each parameter", "uri-parameters", source)
        headers = [pair.partition("=") for pair in query.split("&")] if mark else []
        if not all(name and equals for name, equals, _ in headers):
            raise parts.refuse(f"?{query}", 'header fields, each a name, "=" and a value', "headers", source)
        decode = parts.decode
        return cls(
            decode(user) if at else None,
            decode(password) if colon else None,
            host,
            int(port) if port else None,
            tuple((decode(n), decode(v) if eq else None) for n, eq, v in (p.partition("=") for p in parameters)),
            tuple((decode(n), decode(v)) for n, _, v in headers) if mark else None,
            **parts.rest(query=False),
        )

    def join(self, to: Writer) -> str:
        text = ""
        if self.user is not None or self.password is not None:
            text = to.text(self.user or "", _MARKS + "&=+$,;?/")
            if text.startswith("//"):  # which would begin an authority
                text = f"/%2F{text[2:]}"
            text += "" if self.password is None else ":" + to.text(self.password, _MARKS + "&=+$,")
            text += "@"
        text += self.host + ("" if self.port is None else f":{self.port}")
        for name, value in self.parameters:
            text += ";" + to.text(name, _IN_PARAMETER)
            text += "" if value is None else "=" + to.text(value, _IN_PARAMETER)
        if self.headers is None:
            return text
        if not self.headers:
            raise CodingError('"?" begins a header field')
        return f"{text}?" + "&".join(f"{to.text(n, _IN_HEADER)}={to.text(v, _IN_HEADER)}" for n, v in self.headers)

    @property
    def is_phone(self) -> bool:
        """Whether the user is a telephone number by the parameter "user" (19.1.1).

        >>> from overthere import URI
        >>> URI("sip:+1-212-555-1212:1234@gateway.com;user=phone").locator.is_phone
        True
        """
        return ("user", "phone") in ((name.lower(), (value or "").lower()) for name, value in self.parameters)


# -- The normal form: what 19.1.4 takes for equal.

_MARK = re.compile("%(?:21|2[789A])")


def _rule(summary: str, source: str, change: Callable[[str], str]) -> NormalRule:
    """Return a rule on path and query as one text, as a user may hold "?"."""
    return NormalRule(summary, source, partial(_normalize_parts, change))


def _normalize_parts(change: Callable[[str], str], parts: Parts) -> Parts:
    if parts.authority is not None:
        return parts
    full = parts.path if parts.query is None else f"{parts.path}?{parts.query}"
    path, mark, query = change(full).partition("?")
    return parts._replace(path=path, query=query if mark else None)


def _plain_marks(full: str) -> str:
    return _MARK.sub(lambda match: chr(int(match[0][1:], 16)), full)


def _lower_case(full: str) -> str:
    info, at, after_at = full.rpartition("@")
    host_part, mark, query = after_at.partition("?")
    headers = (pair.partition("=") for pair in query.split("&"))
    lowered = "&".join(f"{lower_except_escapes(name)}{equals}{value}" for name, equals, value in headers)
    return f"{info}{at}{lower_except_escapes(host_part)}{mark}{lowered}"


def _in_order(full: str) -> str:
    info, at, after_at = full.rpartition("@")
    host_part, mark, query = after_at.partition("?")
    hostport, *parameters = host_part.split(";")
    host_part = ";".join([hostport, *sorted(parameters, key=_name)])
    return f"{info}{at}{host_part}{mark}" + "&".join(sorted(query.split("&"), key=_name))


def _name(pair: str) -> str:
    return pair.partition("=")[0]


NORMAL = (
    _rule('an escape of one of "!*\'()" is that character', "RFC 3261 19.1.4, RFC 2396 2.2", _plain_marks),
    _rule(
        "the host, parameters and the names of header fields are in lower case", "RFC 3261 19.1.4, 7.3.1", _lower_case
    ),
    _rule("parameters and header fields are in the order of their names", "RFC 3261 19.1.4", _in_order),
)
NOTES = (
    "A written default port is not equal to an omitted one (RFC 3261 19.1.4).",
    "Comparison ignores a parameter that only one of two URIs has, except user, ttl, method and maddr. This is not an "
    "equivalence, so it is not part of the normal form (RFC 3261 19.1.4).",
    "An IPv6 address has brackets (RFC 3261 25.1), which a path cannot contain: such a text is not a valid URI.",
    "A password is possible, but NOT RECOMMENDED (RFC 3261 19.1.1).",
    "Header fields in a URI may be dangerous, and some must be ignored (RFC 3261 19.1.5).",
)


def _facts(name: str, **fields: Any) -> Scheme:
    """The scheme of one of the two names."""
    return Scheme(
        name=name,
        documents={"rfc3986": "RFC 3261 19.1"},
        locator=SIPLocator,
        plus=False,
        syntax=syntax(name),
        rules={"rfc3986": (f"{name}-uri",)},
        port=PORTS[name],
        lines=True,
        text_parameters=("body",),
        shape=rf"{MAILBOX}|{PHONE}",
        linkable=True,
        unspoken="a request takes the Session Initiation Protocol (RFC 3261), which overthere does not speak",
        normal=NORMAL,
        **fields,
    )


SCHEME = _facts(
    "sip",
    title="Session Initiation Protocol",
    examples=(
        Example("sip:alice@atlanta.com", "RFC 3261 19.1.3"),
        Example("sip:alice:secretword@atlanta.com;transport=tcp", "RFC 3261 19.1.3"),
        Example("sip:+1-212-555-1212:1234@gateway.com;user=phone", "RFC 3261 19.1.3", "a telephone number"),
        Example("sip:alice@192.0.2.4", "RFC 3261 19.1.3"),
        Example("sip:atlanta.com;method=REGISTER?to=alice%40atlanta.com", "RFC 3261 19.1.3", "with a header field"),
        Example("sip:alice;day=tuesday@atlanta.com", "RFC 3261 19.1.3", '"alice;day=tuesday" is the user'),
    ),
    notes=NOTES,
)

SIPS = _facts(
    "sips",
    title="Session Initiation Protocol, secured",
    tls=True,
    protocol="sip",
    examples=(
        Example("sips:1212@gateway.com", "RFC 3261 19.1.3"),
        Example("sips:alice@atlanta.com?subject=project%20x&priority=urgent", "RFC 3261 19.1.3", "with header fields"),
    ),
    notes=("sip and sips are never the same (RFC 3261 19.1.4).", *NOTES),
)
"""sips: a resource of the Session Initiation Protocol, by TLS all the way (RFC 3261 19.1, 26.2.2)."""
