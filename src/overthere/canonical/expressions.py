"""The expressions that Safe Browsing looks up: host suffixes with path prefixes, and their hashes."""

from __future__ import annotations

from hashlib import sha256

from overthere.canonical.forms import SAFE_BROWSING
from overthere.canonical.texts import escape_minimally
from overthere.kernel.reference import split
from overthere.values.hosts.address import literal
from overthere.values.hosts.domains import suffix_list
from overthere.values.uri import URIReference


def lookup_expressions(uri: URIReference | str) -> list[str]:
    """Return up to 30 texts: the host and up to four of its suffixes, each with up to six paths.

    The suffixes are the registrable domain (the page's "eTLD+1", by the list of publicsuffix.org: the extra `domains`),
    and the same with one, two and three labels before it.  An address or a public suffix has no suffixes.

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
    folder, segments = "/", path.split("/", 5)[1:-1]
    for segment in ["", *segments]:
        folder += segment + "/" if segment else ""
        if folder not in paths and len(paths) < 5 + (parts.query is not None):
            paths.append(folder)
    return [host_name + path for host_name in _names(name, host) for path in paths]


def _names(name: str, host: str) -> list[str]:
    """Return the host as it is in the key, then suffixes of it, the longest first."""
    domain = None if literal(host.strip("[]")) else suffix_list().split(host)
    if domain is None or domain.registrable_domain is None:
        return [name]
    labels = name.split(".")
    min_labels = domain.registrable_domain.count(".") + 1
    max_labels = min(min_labels + 3, len(labels))
    suffixes = [".".join(labels[len(labels) - count :]) for count in range(max_labels, min_labels - 1, -1)]
    return [name, *(suffix for suffix in suffixes if suffix != name)]


def hash_prefixes(uri: URIReference | str, length: int = 4) -> list[bytes]:
    """Return the first bytes of the SHA-256 of each expression.

    length: the number of bytes, 4 to 32.

    Raises: InvalidURI; ModuleNotFoundError without the list of suffixes; ValueError for another length.
    """
    if not 4 <= length <= 32:
        raise ValueError(f"a hash prefix must have 4 to 32 octets, not {length}")
    return [sha256(text.encode()).digest()[:length] for text in lookup_expressions(uri)]
