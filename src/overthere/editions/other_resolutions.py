"""Reference resolution by three documents that are not editions: RFC 1630, RFC 1808 and RFC 2396.

The draft of March 1994 leaves it to RFC 1630 of June 1994, RFC 1738 to RFC 1808 of June 1995; RFC 2396 of August 1998
was published between the drafts of 1997 and 2003.
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

# -- RFC 1630, Partial (relative) form


def rfc1630(base: str, reference: str, strict: bool = True, *, repair: bool = False, clause: bool = False) -> Target:
    """Resolve a reference by the three rules of "Partial (relative) form".

    Taken literally, the path is everything after the colon ("BNF of Generic URI Syntax"), so that ".." can remove
    the host, and a base that ends with its host loses it; `repair` keeps "//host" out of the path.

    clause: obey "which has no greater number of consecutive slashes anywhere to the right of it" too.  The printed
    example `/g` (magic://a/g) contradicts it, and the examples win.

    Raises: NoBase if the base has no scheme.

    >>> rfc1630("magic://a/b/c//d/e/f", "/g").uri, rfc1630("magic://a/b/c//d/e/f", "/g", clause=True).uri
    ('magic://a/g', 'magic://a/b/c//d/g')
    """
    context, _, _ = _split_name(base)
    if not _is_absolute(context):
        raise NoBase("the context has no scheme (RFC 1630, Partial form)")
    name, search, fragment = _split_name(reference)
    if _is_absolute(name):
        return Target(reference, fragment, is_same(reference, base))
    slashes = len(name) - len(name.lstrip("/"))
    if slashes:
        result = context[: _first_run_of_slashes(context, slashes, clause)] + name
    else:
        start = context.index(":") + 1
        if repair and context.startswith("//", start):
            start = context.find("/", start + 2)
            if start < 0:
                start = len(context)
                context += "/"
        result = context[:start] + _without_dot_elements(context[start : context.rfind("/") + 1] + name)
    uri = result + search + ("" if fragment is None else "#" + fragment)
    return Target(uri, fragment, is_same(uri, base))


def _split_name(text: str) -> tuple[str, str, str | None]:
    """Split into path, search, fragment: fragmentaddress = uri [ # fragmentid ], uri = scheme : path [ ? search ]."""
    without_fragment, crosshatch, fragment = text.partition("#")
    name, mark, search = without_fragment.partition("?")
    return name, mark + search, fragment if crosshatch else None


def _is_absolute(name: str) -> bool:
    """Whether it is absolute: it "must have a colon and that colon must occur before any slash characters"."""
    scheme, colon, _ = name.partition(":")
    return bool(scheme and colon) and "/" not in scheme


def _first_run_of_slashes(context: str, count: int, clause: bool) -> int:
    """Return the start of the first run of exactly `count` slashes.

    RFC 1630 does not define the result without one: then a shorter run, which is of lower rank, otherwise the end.
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


def _without_dot_elements(path: str) -> str:
    """Remove all "xxx/../" and "/." where xxx, ".." and "." are complete elements.

    A ".." at the very end stays, because no slash follows it; a "/." at the end is removed with its slash.
    """
    elements = path.split("/")
    remaining: list[str] = []
    for i, element in enumerate(elements):
        if element == "." and i > 0:
            continue
        # The empty text before an initial slash is not an element.
        has_element = len(remaining) > 1 or (remaining and remaining[0] != "")
        if element == ".." and i < len(elements) - 1 and has_element and remaining[-1] not in (".", ".."):
            remaining.pop()
        else:
            remaining.append(element)
    return "/".join(remaining)


# -- RFC 1808: splitting a URL (2), and resolution (4)


class _GenericRL(NamedTuple):
    """The six components of 2.1; "" is empty or absent, which 2.4 distinguishes only for <net_loc>."""

    scheme: str
    net_loc: str | None
    path: str
    """The path with the slash before it (2.4.6: "storing the preceding slash along with the path")."""
    params: str
    query: str
    fragment: str


_SCHEME_NAME = re.compile(r"([A-Za-z0-9+.\-]++):")


def _parse(text: str) -> _GenericRL:
    """Split a URL in the order of 2.4."""
    text, _, fragment = text.partition("#")  # 2.4.1
    match = _SCHEME_NAME.match(text)  # 2.4.2
    if match:
        text = text[match.end() :]
    net_loc = None
    if text.startswith("//"):  # 2.4.3: only a slash ends it
        net_loc, slash, text = text[2:].partition("/")
        text = slash + text
    text, _, query = text.partition("?")  # 2.4.4
    path, _, params = text.partition(";")  # 2.4.5: the leftmost one, slashes after it included
    return _GenericRL(match[1] if match else "", net_loc, path, params, query, fragment)  # 2.4.6


def _recombine(url: _GenericRL) -> str:
    """Join components: scheme "://" net_loc "/" path ";" params "?" query "#" fragment; skip empty ones (2.1)."""
    result = url.scheme + ":"
    if url.net_loc is not None:
        result += "//" + url.net_loc
        # 2.2, net_path: the text after a net_loc begins with "/".
        if not url.path.startswith("/") and (url.path or url.params or url.query):
            result += "/"
    result += url.path
    for mark, part in (";", url.params), ("?", url.query), ("#", url.fragment):
        if part:
            result += mark + part
    return result


def rfc1808(base: str, reference: str, strict: bool = True) -> Target:
    """Resolve a reference by section 4, steps 1 to 7.

    Raises: NoBase if the base is not empty and has no scheme.

    >>> rfc1808("http://a/b/c/d;p?q#f", ";x").uri, rfc1808("http://a/b/c/d;p?q#f", "").uri
    ('http://a/b/c/d;x', 'http://a/b/c/d;p?q#f')
    """
    base_url, url = _parse(base), _parse(reference)
    if base == "":  # 1: unknown, the reference is taken as absolute
        return Target(reference, url.fragment or None, is_same(reference, base))
    if base_url.scheme == "":
        raise NoBase("the base URL has no scheme (RFC 1808 3)")
    if reference == "":  # 2a: the only way to inherit a fragment
        return Target(base, base_url.fragment or None, True)
    if url.scheme != "":  # 2b
        return Target(reference, url.fragment or None, is_same(reference, base))
    url = url._replace(scheme=base_url.scheme)  # 2c
    if not url.net_loc:  # 3
        url = url._replace(net_loc=base_url.net_loc)
        if url.path == "":  # 4, 5
            url = url._replace(path=base_url.path)
            if url.params == "":  # 5a
                url = url._replace(params=base_url.params)
                if url.query == "":  # 5b
                    url = url._replace(query=base_url.query)
        elif not url.path.startswith("/"):  # 4, 6
            url = url._replace(path=remove_segments(base_url.path[: base_url.path.rfind("/") + 1] + url.path))
    uri = _recombine(url)  # 7
    return Target(uri, url.fragment or None, is_same(uri, base))


# -- RFC 2396 5.2

# "The scheme is known to always use the <hier_part> syntax" (step 3): those of RFC 1808 2.3 that "can always be
# parsed using the generic-RL syntax", and https (RFC 2818 2.4).
_HIER_PART_SCHEMES = frozenset({"file", "ftp", "http", "https", "nntp"})


def rfc2396(base: str, reference: str, strict: bool = True, *, repair: bool = False, excess: Excess = "keep") -> Target:
    """Resolve a reference by 5.2, steps 1 to 7.

    repair: treat a base with an authority and no path as one with the path "/" in 6a (RFC 2396bis, App. G.2).
    excess: the handling of ".." above the root, out of the three of 6g; Appendix C prints "keep".

    Raises: NoBase if the base has no scheme; Unreachable with `excess="refuse"`.

    >>> rfc2396("http://a/b/c/d;p?q", "?y").uri, rfc2396("http://a/b/c/d;p?q", "../../../g").uri
    ('http://a/b/c/?y', 'http://a/../g')
    """
    parts, ref = base_parts(base, "RFC 2396"), split(reference)  # 1
    if ref[:4] == (None, None, "", None):  # 2
        return Target(None, ref.fragment, True)
    loose = not strict and equal_schemes(ref, parts) and (parts.scheme or "").lower() in _HIER_PART_SCHEMES
    if ref.scheme is not None and not loose:  # 3
        return Target(reference, ref.fragment, False)
    ref = ref._replace(scheme=parts.scheme)
    if ref.authority is None:  # 4
        ref = ref._replace(authority=parts.authority)
        if not ref.path.startswith("/"):  # 5, 6
            buffer = remove_segments(all_but_last(parts, repair) + ref.path)  # 6a to 6f
            ref = ref._replace(path=handle_excess(buffer, excess))  # 6g, 6h
    return Target(recompose(ref), ref.fragment, False)  # 7
