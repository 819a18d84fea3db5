"""Names that RFC 1738 4 reserves and gives no syntax, and that nothing here locates: mailserver, nfs, z39.50."""

from __future__ import annotations

from overthere.schemes.model import Example, Scheme

# The expired draft that would have given it a syntax.
_DRAFT = "draft-ietf-uri-url-mailserver-02"

MAILSERVER = Scheme(
    name="mailserver",
    title="Access to data available from mail servers",
    documents={"rfc1738": "RFC 1738 4 (reserved)", "rfc3986": "RFC 6196 (historical)"},
    locates_nothing="RFC 1738 4 reserves the name and defines neither its syntax nor its use, and RFC 6196 has made "
    "it historical",
    examples=(
        Example("mailserver:infobot@kwf.com/current-issue/", _DRAFT),
        Example("mailserver:infobot@kwf.com//send%20current-issue", _DRAFT),
        Example("mailserver:infobot@kwf.com//send%20current-issue/send%20index", _DRAFT),
        Example("mailserver:majordomo@kwf.com//subscribe%20bamboo-l", _DRAFT),
    ),
    notes=(
        "It is read by the generic syntax only.",
        f"{_DRAFT} defined it as mailserver:<addr-spec>/<subject>/<body>, a message to compose; it has expired.",
    ),
)
"""mailserver: "Access to data available from mail servers" (RFC 1738 4); historical (RFC 6196)."""

NFS = Scheme(
    name="nfs",
    title="Network File System",
    documents={"rfc1738": "RFC 1738 4 (reserved)", "rfc3986": "RFC 2224 (IANA's registry; not transcribed here)"},
    locates_nothing="RFC 1738 4 reserves the name and defines neither its syntax nor its use; RFC 2224, which IANA "
    "names for it, is not among the documents that are followed here",
    examples=(Example("nfs://server.dom/export/file", "RFC 1738 4", "of our own; it prints none"),),
    notes=("It is read by the generic syntax only.",),
)
"""nfs: "Network File System (NFS) file names" (RFC 1738 4)."""

Z39_50 = Scheme(
    name="z39.50",
    title="Z39.50 information access",
    documents={"rfc1738": "RFC 1738 4 (reserved)", "rfc3986": "RFC 2056 (historical)"},
    locates_nothing="RFC 1738 4 reserves the name and defines neither its syntax nor its use; RFC 2056 defines "
    "z39.50s and z39.50r in its place",
    examples=(Example("z39.50://host.dom/database", "RFC 1738 4", "of our own; it prints none"),),
    notes=("It is read by the generic syntax only.",),
)
"""z39.50: "Access to ANSI Z39.50 services" (RFC 1738 4); historical (RFC 2056 has two others)."""
