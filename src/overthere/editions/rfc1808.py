"""RFC 1808, June 1995 (not an edition): how it splits a URL (2) and resolves a reference (4).

RFC 1738 leaves this to it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from overthere.editions.resolution_steps import is_same, remove_segments
from overthere.ground.errors import NoBase
from overthere.values.resolve import Target

__all__ = ["resolve"]


class _GenericRL(NamedTuple):
    """The six components of 2.1; "" is empty or absent, which 2.4 does not distinguish, but for <net_loc>."""

    scheme: str
    net_loc: str | None
    path: str
    """With the slash before it (2.4.6: "storing the preceding slash along with the path")."""
    params: str
    query: str
    fragment: str


_SCHEME_NAME = re.compile(r"([A-Za-z0-9+.\-]++):")


def _parse(text: str) -> _GenericRL:
    """2.4, in its order."""
    text, _, fragment = text.partition("#")  # 2.4.1
    match = _SCHEME_NAME.match(text)  # 2.4.2
    if match:
        text = text[match.end() :]
    net_loc = None
    if text.startswith("//"):  # 2.4.3: only a slash ends it
        net_loc, slash, text = text[2:].partition("/")
        text = slash + text
    text, _, query = text.partition("?")  # 2.4.4
    path, _, params = text.partition(";")  # 2.4.5: the leftmost one, slashes behind it included
    return _GenericRL(match[1] if match else "", net_loc, path, params, query, fragment)  # 2.4.6


def _recombine(url: _GenericRL) -> str:
    """2.1: scheme "://" net_loc "/" path ";" params "?" query "#" fragment; each empty one is left out."""
    result = url.scheme + ":"
    if url.net_loc is not None:
        result += "//" + url.net_loc
        # 2.2, net_path: what follows a net_loc begins with "/".
        if not url.path.startswith("/") and (url.path or url.params or url.query):
            result += "/"
    result += url.path
    for mark, part in (";", url.params), ("?", url.query), ("#", url.fragment):
        if part:
            result += mark + part
    return result


def resolve(base: str, reference: str, strict: bool = True) -> Target:
    """Section 4, steps 1 to 7.

    Raises: NoBase if the base is not empty and has no scheme.

    >>> resolve("http://a/b/c/d;p?q#f", ";x").uri, resolve("http://a/b/c/d;p?q#f", "").uri
    ('http://a/b/c/d;x', 'http://a/b/c/d;p?q#f')
    """
    own, url = _parse(base), _parse(reference)
    if base == "":  # 1: unknown, the reference is taken as absolute
        return Target(reference, url.fragment or None, is_same(reference, base))
    if own.scheme == "":
        raise NoBase("the base URL has no scheme (RFC 1808 3)")
    if reference == "":  # 2a: the only way to inherit a fragment
        return Target(base, own.fragment or None, True)
    if url.scheme != "":  # 2b
        return Target(reference, url.fragment or None, is_same(reference, base))
    url = url._replace(scheme=own.scheme)  # 2c
    if not url.net_loc:  # 3
        url = url._replace(net_loc=own.net_loc)
        if url.path == "":  # 4, 5
            url = url._replace(path=own.path)
            if url.params == "":  # 5a
                url = url._replace(params=own.params)
                if url.query == "":  # 5b
                    url = url._replace(query=own.query)
        elif not url.path.startswith("/"):  # 4, 6
            url = url._replace(path=remove_segments(own.path[: own.path.rfind("/") + 1] + url.path))
    uri = _recombine(url)  # 7
    return Target(uri, url.fragment or None, is_same(uri, base))
