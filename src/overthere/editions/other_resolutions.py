"""Reference resolution by three documents that are not editions: RFC 1630, RFC 1808 and RFC 2396.

The draft of March 1994 leaves it to RFC 1630 of June 1994, RFC 1738 to RFC 1808 of June 1995; RFC 2396 of August 1998
stands between the drafts of 1997 and 2003.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from overthere.editions.resolution_steps import (
    Excess,
    all_but_last,
    base_parts,
    equal_schemes,
    handle_excess,
    is_same,
    remove_segments,
)
from overthere.ground.errors import NoBase
from overthere.kernel.reference import recompose, split
from overthere.values.resolve import Target

__all__ = ["rfc1630", "rfc1808", "rfc2396"]


# -- RFC 1630, Partial (relative) form


def rfc1630(base: str, reference: str, strict: bool = True, *, repair: bool = False, clause: bool = False) -> Target:
    """The three rules of "Partial (relative) form".

    By the letter the path is everything after the colon ("BNF of Generic URI Syntax"), so that ".." can remove
    the host, and a base that ends with its host loses it; `repair` keeps "//host" out of the path.

    clause: obey "which has no greater number of consecutive slashes anywhere to the right of it" too.  The printed
    example `/g` (magic://a/g) contradicts it, and the examples win.

    Raises: NoBase if the base has no scheme.

    >>> rfc1630("magic://a/b/c//d/e/f", "/g").uri, rfc1630("magic://a/b/c//d/e/f", "/g", clause=True).uri
    ('magic://a/g', 'magic://a/b/c//d/g')
    """
    context, _, _ = _set_aside(base)
    if not _is_absolute(context):
        raise NoBase("the context has no scheme (RFC 1630, Partial form)")
    name, search, fragment = _set_aside(reference)
    if _is_absolute(name):
        return Target(reference, fragment, is_same(reference, base))
    slashes = len(name) - len(name.lstrip("/"))
    if slashes:
        result = context[: _first_slashes(context, slashes, clause)] + name
    else:
        start = context.index(":") + 1
        if repair and context.startswith("//", start):
            start = context.find("/", start + 2)
            if start < 0:
                start = len(context)
                context += "/"
        result = context[:start] + _recursively_removed(context[start : context.rfind("/") + 1] + name)
    uri = result + search + ("" if fragment is None else "#" + fragment)
    return Target(uri, fragment, is_same(uri, base))


def _set_aside(text: str) -> tuple[str, str, str | None]:
    """What is no path: fragmentaddress = uri [ # fragmentid ], uri = scheme : path [ ? search ]."""
    rest, crosshatch, fragment = text.partition("#")
    name, mark, search = rest.partition("?")
    return name, mark + search, fragment if crosshatch else None


def _is_absolute(name: str) -> bool:
    """An absolute form "must have a colon and that colon must occur before any slash characters"."""
    scheme, colon, _ = name.partition(":")
    return bool(scheme and colon) and "/" not in scheme


def _first_slashes(context: str, count: int, clause: bool) -> int:
    """Where the first run of exactly `count` slashes begins.

    RFC 1630 does not say what happens without one: then a shorter run, which is of lower rank, or else the end.
    """
    runs = [(match.start(), len(match[0])) for match in re.finditer("/++", context)]
    exact, greatest = -1, 0
    for start, length in reversed(runs):
        if length == count and (not clause or greatest <= count):
            exact = start
        greatest = max(greatest, length)
    if exact >= 0:
        return exact
    return next((start for start, length in runs if length < count), len(context))


def _recursively_removed(path: str) -> str:
    """All "xxx/../" and "/." where xxx, ".." and "." are complete elements.

    A ".." at the very end stays, for no slash follows it; a "/." at the end takes its slash with it.
    """
    elements = path.split("/")
    kept: list[str] = []
    for i, element in enumerate(elements):
        if element == "." and i > 0:
            continue
        # The empty text before an initial slash is no element.
        there = len(kept) > 1 or (kept and kept[0] != "")
        if element == ".." and i < len(elements) - 1 and there and kept[-1] not in (".", ".."):
            kept.pop()
        else:
            kept.append(element)
    return "/".join(kept)


# -- RFC 1808: how it splits a URL (2), and resolves (4)


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


def rfc1808(base: str, reference: str, strict: bool = True) -> Target:
    """Section 4, steps 1 to 7.

    Raises: NoBase if the base is not empty and has no scheme.

    >>> rfc1808("http://a/b/c/d;p?q#f", ";x").uri, rfc1808("http://a/b/c/d;p?q#f", "").uri
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


# -- RFC 2396 5.2

# "The scheme is known to always use the <hier_part> syntax" (step 3): those of RFC 1808 2.3 that "can always be
# parsed using the generic-RL syntax", and https (RFC 2818 2.4).
_HIER_PART_SCHEMES = frozenset({"file", "ftp", "http", "https", "nntp"})


def rfc2396(base: str, reference: str, strict: bool = True, *, repair: bool = False, excess: Excess = "keep") -> Target:
    """5.2, steps 1 to 7.

    repair: a base with an authority and no path counts as one with the path "/" in 6a (RFC 2396bis, App. G.2).
    excess: which of the three ways of 6g to handle ".." above the root; Appendix C prints "keep".

    Raises: NoBase if the base has no scheme; Unreachable with `excess="refuse"`.

    >>> rfc2396("http://a/b/c/d;p?q", "?y").uri, rfc2396("http://a/b/c/d;p?q", "../../../g").uri
    ('http://a/b/c/?y', 'http://a/../g')
    """
    own, ref = base_parts(base, "RFC 2396"), split(reference)  # 1
    if ref[:4] == (None, None, "", None):  # 2
        return Target(None, ref.fragment, True)
    loose = not strict and equal_schemes(ref, own) and (own.scheme or "").lower() in _HIER_PART_SCHEMES
    if ref.scheme is not None and not loose:  # 3
        return Target(reference, ref.fragment, False)
    ref = ref._replace(scheme=own.scheme)
    if ref.authority is None:  # 4
        ref = ref._replace(authority=own.authority)
        if not ref.path.startswith("/"):  # 5, 6
            buffer = remove_segments(all_but_last(own, repair) + ref.path)  # 6a to 6f
            ref = ref._replace(path=handle_excess(buffer, excess))  # 6g, 6h
    return Target(recompose(ref), ref.fragment, False)  # 7
