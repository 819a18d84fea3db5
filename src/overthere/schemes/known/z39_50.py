"""z39.50: a reserved name (RFC 1738 4): "Access to ANSI Z39.50 services"; historical (RFC 2056 has two others)."""

from __future__ import annotations

from overthere.schemes.model import Example, Scheme

__all__ = ["SCHEME"]

EXAMPLES = (Example("z39.50://host.dom/database", "RFC 1738 4", "of our own; it prints none"),)

SCHEME = Scheme(
    name="z39.50",
    title="Z39.50 information access",
    documents={"rfc1738": "RFC 1738 4 (reserved)", "rfc3986": "RFC 2056 (historical)"},
    locates_nothing="RFC 1738 4 reserves the name and defines neither its syntax nor its use; RFC 2056 defines "
    "z39.50s and z39.50r in its place",
    examples=EXAMPLES,
    notes=("It is read by the generic syntax alone.",),
)
