"""https: a resource of an HTTP origin server that TLS proves (RFC 9110 4.2.2)."""

from __future__ import annotations

from overthere.schemes.known.http import PORTS, HTTPLocator, syntax
from overthere.schemes.model import Example, Scheme, default_port, slash_for_empty_path

__all__ = ["SCHEME"]

# RFC 9110 4.2.2: https-URI = "https" "://" authority path-abempty [ "?" query ], and an empty host is invalid.
RULES = {"rfc3986": ("https-uri",)}
SYNTAX = syntax("https")

EXAMPLES = (
    Example("https://Example.Com/happy.js", "RFC 9110 4.3.1", "its origin is https, example.com, 443"),
    Example("https://example.com/foo", "RFC 9110 4.3.3"),
    Example("https://example.com:8000/foo", "RFC 9110 4.3.3", "another origin than the one above"),
)

SCHEME = Scheme(
    name="https",
    title="Hypertext Transfer Protocol Secure",
    documents={"rfc3986": "RFC 9110 4.2.2"},
    locator=HTTPLocator,
    syntax=SYNTAX,
    rules=RULES,
    port=PORTS["https"],
    tls=True,
    protocol="http",
    redirected_from=("*",),
    by_proxy="tunnel",
    needs_host=True,
    no_userinfo="RFC 9110 4.2.4",
    linkable=True,
    hierarchical=True,
    access="http",
    normal=(default_port(PORTS["https"], "RFC 9110 4.2.3"), slash_for_empty_path("RFC 9110 4.2.3")),
    examples=EXAMPLES,
    notes=(
        "It shares nothing with http but the form: another origin, another namespace (RFC 9110 4.2.2).",
        "Userinfo in a URI from elsewhere is to be treated as an error (RFC 9110 4.2.4).",
    ),
)
