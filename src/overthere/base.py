"""Establishing a base URI (RFC 3986 5.1): four layers, and which of them answered.

First form: HTML content and the URI of retrieval.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal, NamedTuple

from overthere.errors import InvalidURI
from overthere.iri import IRIReference
from overthere.uri import URI, URIReference

__all__ = ["Base", "Layer", "file_uri", "from_content", "retrieval_uri", "to_reference"]

Layer = Literal["content", "entity", "retrieval", "default"]


class Base(NamedTuple):
    """A base URI and the layer that gave it: 5.1.1 content, 5.1.2 entity, 5.1.3 retrieval, 5.1.4 default."""

    uri: URI
    layer: Layer


def file_uri(path: str | os.PathLike[str]) -> URI:
    """The `file:` URI of a path on this machine (RFC 8089 2), octet for octet.

    >>> str(file_uri("/tmp/a b"))
    'file:///tmp/a%20b'
    """
    absolute = Path(os.path.abspath(path))
    segments: list[str | bytes] = [os.fsencode(part) for part in absolute.parts[1:]]
    if absolute.drive:
        segments.insert(0, absolute.drive)
    return URI.build(scheme="file", host="", segments=segments or [""])


def retrieval_uri(path: Path, root: Path, base: URI | None) -> URI:
    """The URI by which a document was retrieved: its place below `root` against `base`, or its own `file:` URI.

    >>> str(retrieval_uri(Path("site/a/b.html"), Path("site"), URI("http://h/docs/")))
    'http://h/docs/a/b.html'
    """
    if base is None:
        return file_uri(path)
    below = path.relative_to(root)
    if not below.parts:
        return base
    return base.join(URIReference.build(segments=[os.fsencode(part) for part in below.parts]))


def to_reference(text: str) -> tuple[URIReference | None, InvalidURI | None]:
    """A reference out of a document: as it is, or mapped from an IRI-reference (RFC 3987 3.1).

    Returns: the reference (None if it is neither), and why it is no URI-reference (None if it is one) or,
    beyond US-ASCII, no IRI-reference.
    """
    try:
        return URIReference(text), None
    except InvalidURI as error:
        if text.isascii():
            return None, error
        try:
            return IRIReference(text).to_uri(), error
        except InvalidURI as worse:
            return None, worse


def from_content(href: str | None, fallback: Base) -> Base:
    """5.1.1 for HTML: the first `base` element with an href, itself resolved against the fallback base.

    A value that is no reference, or names a `data:` or `javascript:` URI, leaves the fallback, as HTML says.
    """
    if href is None:
        return fallback
    reference, _ = to_reference(href)
    if reference is None:
        return fallback
    uri = fallback.uri.join(reference).replace(fragment=None)
    return fallback if uri.scheme.lower() in ("data", "javascript") else Base(uri, "content")
