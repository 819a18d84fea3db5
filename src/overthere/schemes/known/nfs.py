"""nfs: a reserved name (RFC 1738 4): "Network File System (NFS) file names"."""

from __future__ import annotations

from overthere.schemes.model import Example, Scheme

__all__ = ["SCHEME"]

EXAMPLES = (Example("nfs://server.dom/export/file", "RFC 1738 4", "of our own; it prints none"),)

SCHEME = Scheme(
    name="nfs",
    title="Network File System",
    documents={"rfc1738": "RFC 1738 4 (reserved)", "rfc3986": "RFC 2224 (IANA's registry; not transcribed here)"},
    locates_nothing="RFC 1738 4 reserves the name and defines neither its syntax nor its use; RFC 2224, which IANA "
    "names for it, is not among the documents that are followed here",
    examples=EXAMPLES,
    notes=("It is read by the generic syntax alone.",),
)
