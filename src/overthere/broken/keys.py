"""64-bit keys of anchors and documents, so that millions of them fit in memory."""

from __future__ import annotations

from hashlib import blake2b

from overthere import kernel

NUMBERLESS = 1 << 63
"""The bit that is set in the identity of a document without a number in the site's table."""


def key(document: int, name: str) -> int:
    """The key of a name in a document; every process of a run computes the same key.

    document: its number in the site, or its `document_key`.
    name: an anchor; the name of an image map has a NUL before it.

    In a site with a million anchors, two names have the same key in one of thirty million runs.
    """
    octets = name.encode("utf-8", "surrogatepass")
    if kernel.name == "native":
        from overthere._native import anchor_key

        return anchor_key(document, octets)
    return int.from_bytes(blake2b(octets, digest_size=8, salt=document.to_bytes(8, "little")).digest(), "little")


def document_key(name: str) -> int:
    """The identity of a document without a number, computed from its URI or path."""
    octets = name.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(octets, digest_size=8).digest(), "little") | NUMBERLESS


LABELS = document_key("\0labels")
"""The document of targets that any document of a project may reference by name alone (MyST)."""
