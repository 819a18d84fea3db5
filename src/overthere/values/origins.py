"""Whether a URI is of the same origin as another, or below it; where a redirect leads that somebody else supplied."""

from __future__ import annotations

from overthere.ground.rung import Rung
from overthere.iri import IRIReference
from overthere.values.uri import URI, URIReference

__all__ = ["is_relative_to", "matches_redirect", "redirect_target", "same_origin"]

_LOOPBACK = ("127.0.0.1", "[::1]")
"""The hosts of RFC 8252 7.3; "localhost" is not one of them (8.3)."""


def same_origin(one: URI, other: URI) -> bool:
    """Whether two URIs have one origin (RFC 6454 5); those without an origin, "null", have none in common."""
    return one.origin != "null" and one.origin == other.origin


def is_relative_to(uri: URI, base: URI) -> bool:
    """Whether a URI has the authority of `base` and a path within, by whole segments of the normal forms."""
    there, within = (value.normalize(Rung.SCHEME) for value in (base, uri))
    if (there.scheme, there.host, there.port_text) != (within.scheme, within.host, within.port_text):
        return False
    folder = there.path.removesuffix("/")
    return within.path == folder or within.path.startswith(f"{folder}/")


def redirect_target(base: URI, text: str) -> URI | None:
    """Where `text` leads from `base`, if browsers and RFC 3986 agree that it stays at the origin; None otherwise.

    Only valid text is read, so that there is no backslash, white space or control for browsers to take for something
    else.  A scheme without "//" is relative to browsers and absolute to RFC 3986.
    """
    reference = URIReference.parse(text)
    if reference is None:
        iri = IRIReference.parse(text)
        if iri is None or iri.authority is not None:
            return None
        reference = iri.to_uri()
    if (reference.scheme is not None and reference.authority is None) or reference.host == "":
        return None
    target = base.join(reference)
    return target if same_origin(base, target) else None


def matches_redirect(registered: URI, requested: URI | str) -> bool:
    """The comparison of redirect URIs of OAuth: equal as text, but for the port of a loopback address."""
    asked = URI.parse(requested)
    if asked is None or asked.fragment is not None:
        return False
    if asked == registered:
        return True
    if registered.scheme != "http" or registered.host not in _LOOPBACK or "" in (registered.port_text, asked.port_text):
        return False
    return asked.host == registered.host and asked.replace(port=None) == registered.replace(port=None)
