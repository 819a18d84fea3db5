"""Expressions that Safe Browsing looks up: host suffixes with path prefixes, and their hashes."""

from __future__ import annotations

from hashlib import sha256

from overthere.canonical.forms import SAFE_BROWSING
from overthere.canonical.texts import escape_minimally
from overthere.kernel.reference import split
from overthere.values.hosts.address import literal
from overthere.values.hosts.domains import suffix_list
from overthere.values.uri import URIReference

__all__ = ["hash_prefixes", "lookup_expressions"]


def lookup_expressions(uri: URIReference | str) -> list[str]:
    """Up to 30 texts: the host and up to four of its suffixes, each with up to six paths.

    The suffixes are the registrable domain, and it with one label, two and three labels before it (the page's "eTLD+1",
    by the list of publicsuffix.org: the extra `domains`).  An address has none, nor a public suffix.

    uri: a URI; `raw_uri` makes one of raw text.

    Raises: InvalidURI if the text is not a valid URI; ModuleNotFoundError without the list.

    >>> lookup_expressions("http://a.b.example.co.uk/1/2.html?p=1")[:3]
    ['a.b.example.co.uk/1/2.html?p=1', 'a.b.example.co.uk/1/2.html', 'a.b.example.co.uk/']
    >>> [one for one in lookup_expressions("http://a.b.c.d.e.example.co.uk/")]
    ['a.b.c.d.e.example.co.uk/', 'c.d.e.example.co.uk/', 'd.e.example.co.uk/', 'e.example.co.uk/', 'example.co.uk/']
    """
    canonical = SAFE_BROWSING(uri)
    host = canonical.host
    if not host:
        return []
    parts = split(str(canonical))
    name, path = escape_minimally(parts.authority or ""), escape_minimally(parts.path)
    paths = [path] if parts.query is None else [f"{path}?{escape_minimally(parts.query)}", path]
    folder, pieces = "/", path.split("/", 5)[1:-1]
    for piece in ["", *pieces]:
        folder += piece + "/" if piece else ""
        if folder not in paths and len(paths) < 5 + (parts.query is not None):
            paths.append(folder)
    return [one + each for one in _names(name, host) for each in paths]


def _names(name: str, host: str) -> list[str]:
    """The host as the key has it, then suffixes of it, the longest first."""
    domain = None if literal(host.strip("[]")) else suffix_list().split(host)
    if domain is None or domain.registrable_domain is None:
        return [name]
    labels = name.split(".")
    least = domain.registrable_domain.count(".") + 1
    most = min(least + 3, len(labels))
    suffixes = [".".join(labels[len(labels) - count :]) for count in range(most, least - 1, -1)]
    return [name, *(one for one in suffixes if one != name)]


def hash_prefixes(uri: URIReference | str, length: int = 4) -> list[bytes]:
    """The first octets of the SHA-256 of each expression.

    length: octets, 4 to 32.

    Raises: InvalidURI; ModuleNotFoundError without the list of suffixes; ValueError for another length.
    """
    if not 4 <= length <= 32:
        raise ValueError(f"a hash prefix must have 4 to 32 octets, not {length}")
    return [sha256(one.encode()).digest()[:length] for one in lookup_expressions(uri)]
