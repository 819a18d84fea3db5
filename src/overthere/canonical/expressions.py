"""The expressions of a URI that Safe Browsing looks up: host suffixes with path prefixes, and their hashes."""

from __future__ import annotations

from hashlib import sha256

from overthere.canonical.ready import SAFE_BROWSING
from overthere.hosts.address import literal
from overthere.kernel.reference import split
from overthere.uri import URI

__all__ = ["hash_prefixes", "lookup_expressions"]


def lookup_expressions(uri: URI | str) -> list[str]:
    """Up to 30 texts: the host and up to four of its suffixes, each with up to six paths.

    Raises: InvalidURI if the text is no URI.

    >>> lookup_expressions("http://a.b.com/1/2.html?p=1")[:3]
    ['a.b.com/1/2.html?p=1', 'a.b.com/1/2.html', 'a.b.com/']
    """
    canonical = SAFE_BROWSING(uri)
    host = canonical.host
    if not host:
        return []
    _, _, rest = SAFE_BROWSING.key(canonical).partition("://")
    name, slash, tail = rest.partition("/")
    path, mark, query = (
        (slash + tail).partition("?") if split(str(canonical)).query is not None else (rest[len(name) :], "", "")
    )
    names = [name]
    if literal(host.strip("[]")) is None:
        labels = name.split(".")[-5:]
        names += [s for at in range(len(labels) - 1) if (s := ".".join(labels[at:])) != name]
    paths = [path + mark + query] if mark else []
    paths.append(path)
    folder, pieces = "/", path.split("/", 5)[1:-1]
    for piece in ["", *pieces]:
        folder += piece + "/" if piece else ""
        if folder not in paths and len(paths) < 5 + bool(mark):
            paths.append(folder)
    return [one + each for one in names[:5] for each in paths]


def hash_prefixes(uri: URI | str, length: int = 4) -> list[bytes]:
    """The first octets of the SHA-256 of each expression.

    length: octets, 4 to 32.

    Raises: InvalidURI; ValueError for another length.
    """
    if not 4 <= length <= 32:
        raise ValueError(f"a hash prefix has 4 to 32 octets, not {length}")
    return [sha256(one.encode()).digest()[:length] for one in lookup_expressions(uri)]
