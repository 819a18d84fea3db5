"""ldap: entries in a directory, as a search describes them (RFC 4516; RFC 2255 before it; RFC 4514, RFC 4515)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from overthere.ground.errors import CodingError
from overthere.ground.redact import hides_secrets
from overthere.kernel.reference import Parts
from overthere.schemes.locator import Given, Locator, Writer
from overthere.schemes.model import Example, NormalRule, Scheme, default_port, slash_for_empty_path

PORTS = {"ldap": 389, "ldaps": 636}
"""The default ports (RFC 4516 3; IANA's registry of ports)."""
# RFC 4516 2 behind the colon.  An octet of an element may stand as an escape (2.1), so that every terminal of
# RFC 4512 1.4 and 2.5, RFC 4514 3 and RFC 4515 3 is written both ways; "?" within an element, and "," within an
# exvalue, as an escape only.  How deep the parentheses of a filter nest is not regular: it is checked where the filter
# is translated.
BODY = """
ldapurl       = "//" host [ ":" port ]
                [ "/" dn [ "?" [ attributes ] [ "?" [ scope ] [ "?" [ filter ] [ "?" extensions ] ] ] ] ]
attributes    = selector *( "," selector )
selector      = ldap-descr / ldap-star
scope         = "base" / "one" / "sub"
extensions    = extension *( "," extension )
extension     = [ "!" ] ldap-oid [ "=" exvalue ]
exvalue       = *( ldap-mark / "(" / ")" / "*" / "+" / ";" / "=" / "%" %x30-37 HEXDIG / ldap-utfmb )

dn            = [ dn-rdn *( ( "," / "%2C" ) dn-rdn ) ]
dn-rdn        = dn-ava *( dn-plus dn-ava )
dn-ava        = ldap-oid ldap-equals ( dn-string / dn-hexstring )
dn-string     = [ ( dn-lead / dn-pair ) *( *"%20" ( dn-lead / "%23" / dn-pair ) ) ]
dn-hexstring  = "%23" 1*( ldap-hex ldap-hex )
dn-lead       = ldap-mark / "(" / ")" / "*" / "=" / ldap-utfmb
              / "%0" ldap-nonzero / "%1" HEXDIG / "%2" ( "1" / %x34-39 / "A" / "D" / "E" / "F" )
              / "%3" ( DIGIT / "A" / "D" / "F" ) / ldap-high
dn-pair       = ldap-esc ( ldap-esc / dn-special / ldap-hex ldap-hex )
dn-special    = "%22" / dn-plus / "," / "%2C" / ";" / "%3B" / "%3C" / "%3E" / "%20" / "%23" / ldap-equals
dn-plus       = "+" / "%2B"

filter        = filter-leaf
              / 1*filter-open filter-leaf *( *filter-open filter-leaf / filter-close ) filter-close
filter-leaf   = ldap-lparen ( filter-item / filter-list ) filter-close
filter-open   = ldap-lparen ( filter-list / "!" / "%21" )
filter-list   = "&" / "%26" / "%7C"
filter-close  = ")" / "%29"
filter-item   = ldap-descr ldap-equals *( filter-char / ldap-star )
              / ( ldap-descr ( "~" / "%7E" / "%3E" / "%3C" / [ filter-dnattrs ] [ filter-rule ] ldap-colon )
              / [ filter-dnattrs ] filter-rule ldap-colon ) ldap-equals *filter-char
filter-dnattrs = ldap-colon ( "d" / "%44" / "%64" ) ( "n" / "%4E" / "%6E" )
filter-rule   = ldap-colon ldap-oid
filter-char   = ldap-mark / "+" / "," / ";" / "=" / ldap-utfmb / ldap-esc ldap-hex ldap-hex
              / "%0" ldap-nonzero / "%1" HEXDIG / "%2" ( %x30-37 / "B" / "C" / "D" / "E" / "F" )
              / "%3" HEXDIG / ldap-high

ldap-descr    = ldap-oid *( ( ";" / "%3B" ) 1*ldap-keychar )
ldap-oid      = ldap-alpha *ldap-keychar / ldap-number 1*( ( "." / "%2E" ) ldap-number )
ldap-keychar  = ldap-alpha / ldap-digit / "-" / "%2D"
ldap-alpha    = ALPHA / "%" ( "4" / "6" ) ldap-nonzero / "%" ( "5" / "7" ) ( DIGIT / "A" )
ldap-number   = ldap-digit / ( %x31-39 / "%3" %x31-39 ) 1*ldap-digit
ldap-digit    = DIGIT / "%3" DIGIT
ldap-hex      = HEXDIG / "%3" DIGIT / "%" ( "4" / "6" ) %x31-36
ldap-nonzero  = %x31-39 / "A" / "B" / "C" / "D" / "E" / "F"
ldap-mark     = unreserved / "!" / "$" / "&" / "'" / ":" / "@" / "/"
ldap-high     = "%" ( "4" / "6" / "7" ) HEXDIG / "%5" ( DIGIT / "A" / "B" / "D" / "E" / "F" )
ldap-equals   = "=" / "%3D"
ldap-colon    = ":" / "%3A"
ldap-star     = "*" / "%2A"
ldap-lparen   = "(" / "%28"
ldap-esc      = "%5C"
ldap-utfmb    = "%C" ( %x32-39 / "A" / "B" / "C" / "D" / "E" / "F" ) ldap-utf0 / "%D" HEXDIG ldap-utf0
              / "%E0%" ( "A" / "B" ) HEXDIG ldap-utf0 / "%ED%" ( "8" / "9" ) HEXDIG ldap-utf0
              / "%E" ( %x31-39 / "A" / "B" / "C" / "E" / "F" ) 2ldap-utf0
              / "%F0%" ( "9" / "A" / "B" ) HEXDIG 2ldap-utf0 / "%F" %x31-33 3ldap-utf0 / "%F4%8" HEXDIG 2ldap-utf0
ldap-utf0     = "%" ( "8" / "9" / "A" / "B" ) HEXDIG
"""
SYNTAX = f'ldap-uri = "ldap:" ldapurl\n{BODY}'


class Extension(NamedTuple):
    """An extension of the URL (RFC 4516 2)."""

    critical: bool
    """Marked with "!": a client that does not implement it MUST NOT process the URL."""
    name: str
    """The extype: a descriptor, without case, or a numeric OID."""
    value: str | None = None


@hides_secrets
class Search(NamedTuple):
    """The search that a URL describes, with its defaults (RFC 4516 3)."""

    base: str
    """A DN; "" is the root DSE."""
    scope: str
    """"base", "one" or "sub"."""
    filter: str
    attributes: tuple[str, ...]
    """() is all user attributes."""


DEFAULTS = Search("", "base", "(objectClass=*)", ())
"""The defaults for absent fields (RFC 4516 3)."""

_SCOPES = ("base", "one", "sub")
_FIELDS = ("dn", "attributes", "scope", "filter", "extensions")


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class LDAPLocator(Locator):
    r"""A search on a server (RFC 4516 2).

    The fields have this order, so a field before one that is given is empty and not undefined: a scope alone makes dn
    "" and attributes ().  The escapes of a DN (RFC 4514 2.4) and of a filter (RFC 4515 3) begin with a backslash,
    belong to their own syntax, and are kept.

    >>> from overthere import URI
    >>> URI("ldap://[2001:db8::7]/c=GB?objectClass?one").locator
    LDAPLocator(host='[2001:db8::7]', dn='c=GB', attributes=('objectClass',), scope='one')
    >>> LDAPLocator(scope="sub", filter=r"(cn=\2a)").uri()
    URI('ldap:///??sub?(cn=%5C2a)')
    """

    host: str = ""
    """"": a server that the client knows (3)."""
    port: int | None = None
    dn: str | None = None
    """The base object; None without a slash, which means the same as "" (4)."""
    attributes: tuple[str, ...] | None = None
    """The attributes to return; () and None mean all user attributes."""
    scope: str | None = None
    """"base", "one" or "sub", or "" or None for the default, which is "base"."""
    filter: str | None = None
    """By RFC 4515; "" or None is "(objectClass=*)"."""
    extensions: tuple[Extension, ...] | None = None
    """In the order of the text; () is a final "?", which the grammar does not allow."""
    scheme: str = field(default="ldap", kw_only=True)

    def __post_init__(self) -> None:
        Locator.__post_init__(self)
        last = max((place for place, name in enumerate(_FIELDS) if getattr(self, name) is not None), default=0)
        for name in _FIELDS[:last]:
            if getattr(self, name) is None:
                object.__setattr__(self, name, () if name == "attributes" else "")

    @classmethod
    def split(cls, parts: Given) -> LDAPLocator:
        if parts.host is None:
            raise parts.refuse(parts.path, '"//", even if no host follows', "ldapurl", "RFC 4516 2")
        if parts.user is not None:
            login = parts.user + ("" if parts.password is None else f":{parts.password}")
            raise parts.refuse(f"{login}@", "a host and no userinfo", "ldapurl", "RFC 4516 2")
        raw: list[str | None] = [*([] if parts.query is None else parts.query.split("?", 3)), *[None] * 4]
        attributes, scope, filter_text, extensions = raw[:4]
        level = None if scope is None else parts.decode(scope).lower()
        if level and level not in _SCOPES:
            raise parts.refuse(f"?{attributes}?{scope}", '"base", "one" or "sub"', "scope", "RFC 4516 2")
        return cls(
            parts.host,
            parts.port,
            parts.decode(parts.path),
            None if attributes is None else tuple(map(parts.decode, attributes.split(","))) if attributes else (),
            level,
            parts.decode(filter_text),
            None if extensions is None else tuple(_extensions(parts, extensions)),
            **parts.rest(query=False),
        )

    def join(self, to: Writer) -> str:
        marks = "!$&'()*+;=:@"
        text = to.authority(self.host, self.port)
        # A "/" in a DN is escaped: dot-segments would be removed around it (RFC 3986 6.2.2.3).
        text += "" if self.dn is None else "/" + to.text(self.dn, marks + ",")
        if self.attributes is not None:
            text += "?" + ",".join(to.text(item, marks + "/") for item in self.attributes)
        text += "" if self.scope is None else f"?{self.scope}"
        text += "" if self.filter is None else "?" + to.text(self.filter, marks + ",/")
        if self.extensions is not None:
            text += "?" + ",".join(_write_part(to, item, marks + "/") for item in self.extensions)
        return text

    @property
    def search(self) -> Search:
        """The search to request from the server, with its defaults (3).

        >>> from overthere import URI
        >>> URI("ldap://ldap.example.net").locator.search
        Search(base='', scope='base', filter='(objectClass=*)', attributes=())
        """
        return Search(
            self.dn or "", self.scope or DEFAULTS.scope, self.filter or DEFAULTS.filter, self.attributes or ()
        )


def _extensions(parts: Given, raw: str) -> Iterator[Extension]:
    for text in raw.split(",") if raw else ():
        critical = text.startswith("!")
        name, equals, value = text[critical:].partition("=")
        yield Extension(critical, parts.decode(name), parts.decode(value) if equals else None)


def _write_part(to: Writer, extension: object, keep: str) -> str:
    if not isinstance(extension, Extension):
        raise CodingError(f"{extension!r} is not an Extension")
    text = ("!" if extension.critical else "") + to.text(extension.name)
    return text if extension.value is None else f"{text}={to.text(extension.value, keep)}"


def _rule(summary: str, source: str, change: Callable[[list[str]], list[str]]) -> NormalRule:
    """Return a rule on the fields after the first "?", of which there is at least one."""
    return NormalRule(summary, source, partial(_normalize_parts, change))


def _normalize_parts(change: Callable[[list[str]], list[str]], parts: Parts) -> Parts:
    if parts.authority is None or parts.query is None:
        return parts
    fields = change(parts.query.split("?", 3))
    return parts._replace(query="?".join(fields) if fields else None)


def _lower_scope(fields: list[str]) -> list[str]:
    return [*fields[:1], *(scope.lower() if scope.lower() in _SCOPES else scope for scope in fields[1:2]), *fields[2:]]


def _no_defaults(fields: list[str]) -> list[str]:
    defaults = ("*", DEFAULTS.scope, DEFAULTS.filter.lower())
    return ["" if place < 3 and value.lower() == defaults[place] else value for place, value in enumerate(fields)]


def _no_empty_end(fields: list[str]) -> list[str]:
    while fields and not fields[-1]:
        fields = fields[:-1]
    return fields


NORMAL = (
    slash_for_empty_path("RFC 4516 4"),
    _rule("the scope is written in lower case", "RFC 4516 A.2", _lower_scope),
    _rule('"*", "base" and "(objectClass=*)" are left out', "RFC 4516 3", _no_defaults),
    _rule('a "?" with nothing behind it is left out', "RFC 4516 4", _no_empty_end),
)
"""The equivalences that do not depend on the port."""

SCHEME = Scheme(
    name="ldap",
    title="Lightweight Directory Access Protocol",
    documents={"rfc3986": "RFC 4516"},
    locator=LDAPLocator,
    syntax=SYNTAX,
    rules={"rfc3986": ("ldap-uri",)},
    port=PORTS["ldap"],
    linkable=True,
    access="ldap",
    normal=(default_port(PORTS["ldap"], "RFC 4516 3"), *NORMAL),
    examples=(
        Example("ldap://[2001:db8::7]/c=GB?objectClass?one", "RFC 3986 1.1.2"),
        Example("ldap:///o=University%20of%20Michigan,c=US", "RFC 4516 4", "a server of the client's choosing"),
        Example(
            "ldap://ldap1.example.net/o=University%20of%20Michigan,c=US?postalAddress", "RFC 4516 4", "one attribute"
        ),
        Example(
            "ldap://ldap1.example.net:6666/o=University%20of%20Michigan,c=US??sub?(cn=Babs%20Jensen)",
            "RFC 4516 4",
            "a subtree search",
        ),
        Example("LDAP://ldap1.example.com/c=GB?objectClass?ONE", "RFC 4516 4", "the children of an entry"),
        Example("ldap://ldap2.example.com/o=Question%3f,c=US?mail", "RFC 4516 4", 'a "?" in the DN'),
        Example(
            "ldap://ldap3.example.com/o=Babsco,c=US???(four-octet=%5c00%5c00%5c00%5c04)",
            "RFC 4516 4",
            "the filter's own escapes",
        ),
        Example("ldap://ldap.example.com/o=An%20Example%5C2C%20Inc.,c=US", "RFC 4516 4", "the DN's own escape"),
        Example("ldap://ldap.example.net", "RFC 4516 4", "the root DSE"),
        Example(
            "ldap:///??sub??!e-bindname=cn=Manager%2cdc=example%2cdc=com",
            "RFC 4516 4",
            "a critical extension, not known",
        ),
    ),
    notes=(
        "Without a host the client must know a server (RFC 4516 3).",
        "The URL may request any search, even a huge one (RFC 4516 5).",
        "A password goes over an ldap connection in clear text (RFC 4516 5).",
        "Whether the parentheses of a filter pair is checked when its search is planned, not by the grammar.",
    ),
)

LDAPS = Scheme(
    name="ldaps",
    title="LDAP over TLS",
    documents={"rfc3986": "IANA's registry of URI schemes; RFC 4516 except for the scheme and the port"},
    locator=LDAPLocator,
    syntax=f'ldaps-uri = "ldaps:" ldapurl\n{BODY}',
    rules={"rfc3986": ("ldaps-uri",)},
    port=PORTS["ldaps"],
    tls=True,
    protocol="ldap",
    linkable=True,
    access="ldap",
    normal=(default_port(PORTS["ldaps"], "IANA's registry of ports (ldaps)"), *NORMAL),
    examples=(
        Example(
            "ldaps://ldap1.example.net/o=University%20of%20Michigan,c=US?postalAddress",
            "RFC 4516 4, except for the scheme",
        ),
        Example("ldaps://[2001:db8::7]/c=GB?objectClass?one", "RFC 3986 1.1.2, except for the scheme"),
    ),
    notes=(
        "The scheme is registered provisionally and has no document of its own.",
        "TLS begins with the connection, not by StartTLS (RFC 4511 4.14).",
    ),
)
"""ldaps: ldap over TLS, read by RFC 4516: IANA's registries have the name and the port, and no RFC the scheme."""
