"""ldaps: ldap over TLS, read by RFC 4516: IANA's registries have the name and the port, and no RFC the scheme."""

from __future__ import annotations

from overthere.schemes.known.ldap import BODY, NORMAL, PORTS, LDAPLocator
from overthere.schemes.model import Example, Scheme, default_port

__all__ = ["SCHEME"]

RULES = {"rfc3986": ("ldaps-uri",)}
SYNTAX = f'ldaps-uri = "ldaps:" ldapurl\n{BODY}'

EXAMPLES = (
    Example(
        "ldaps://ldap1.example.net/o=University%20of%20Michigan,c=US?postalAddress", "RFC 4516 4, but for the scheme"
    ),
    Example("ldaps://[2001:db8::7]/c=GB?objectClass?one", "RFC 3986 1.1.2, but for the scheme"),
)

SCHEME = Scheme(
    name="ldaps",
    title="LDAP over TLS",
    documents={"rfc3986": "IANA's registry of URI schemes; RFC 4516 but for the scheme and the port"},
    locator=LDAPLocator,
    syntax=SYNTAX,
    rules=RULES,
    port=PORTS["ldaps"],
    tls=True,
    protocol="ldap",
    linkable=True,
    access="ldap",
    normal=(default_port(PORTS["ldaps"], "IANA's registry of ports (ldaps)"), *NORMAL),
    examples=EXAMPLES,
    notes=(
        "The scheme is registered provisionally and has no document of its own.",
        "TLS begins with the connection, not by StartTLS (RFC 4511 4.14).",
    ),
)
