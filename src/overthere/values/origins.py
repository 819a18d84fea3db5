"""Compares origins and paths of URIs, and checks targets of redirects that a user supplied."""

from __future__ import annotations

from overthere.ground.rung import Rung
from overthere.iri import IRIReference
from overthere.values.uri import URI, URIReference

_LOOPBACK = ("127.0.0.1", "[::1]")
"""The hosts of RFC 8252 7.3; "localhost" is not one of them (8.3)."""


def same_origin(first: URI, second: URI) -> bool:
    """Whether two URIs have one origin (RFC 6454 5); URIs without an origin, "null", have none in common."""
    return first.origin != "null" and first.origin == second.origin


def is_relative_to(uri: URI, base: URI) -> bool:
    """Whether a URI has the authority of `base` and a path within, by whole segments of the normal forms."""
    base_form, uri_form = (value.normalize(Rung.SCHEME) for value in (base, uri))
    if (base_form.scheme, base_form.host, base_form.port_text) != (uri_form.scheme, uri_form.host, uri_form.port_text):
        return False
    folder = base_form.path.removesuffix("/")
    return uri_form.path == folder or uri_form.path.startswith(f"{folder}/")


def redirect_target(base: URI, text: str) -> URI | None:
    """Return the target of `text` from `base`, if browsers and RFC 3986 agree that it stays at the origin; otherwise
    None.

    Only valid text is read, so that it has no backslash, white space or control that browsers read differently.
    A scheme without "//" is relative to browsers and absolute to RFC 3986.
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
    """Compare redirect URIs of OAuth: equal as text, except for the port of a loopback address."""
    value = URI.parse(requested)
    if value is None or value.fragment is not None:
        return False
    if value == registered:
        return True
    if registered.scheme != "http" or registered.host not in _LOOPBACK or "" in (registered.port_text, value.port_text):
        return False
    return value.host == registered.host and value.replace(port=None) == registered.replace(port=None)
