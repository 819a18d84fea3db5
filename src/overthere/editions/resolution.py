"""Reference resolution as each document prints it: one function for each, step by step, under its step numbers.

Every function takes `(base, reference, strict=True)` and answers a `Target`.  By default it follows the letter;
`repair=True`, where a document needs it, is what its authors meant.  The texts are split as the document splits
them and are not checked: a text that the document's grammar does not derive still has an answer.

`strict=False` ignores a scheme in the reference that equals the base's, where the document offers that: RFC 2396,
uri-2003 (there "non-validating") and RFC 3986.  The three before print one answer only, and it changes nothing.

Every loop is linear in the text: the "iterative removal of the leftmost match" runs as the stack of segments
that the documents themselves recommend.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Literal, NamedTuple, Protocol

from overthere.editions.early_resolution import remove_segments, rfc1630, rfc1808, same
from overthere.errors import NoBase, Unreachable
from overthere.kernel.reference import Parts, recompose, split, transform_references
from overthere.resolve import Target

__all__ = [
    "RESOLUTIONS",
    "Excess",
    "Resolution",
    "Resolve",
    "for_request",
    "rfc1630",
    "rfc1808",
    "rfc2396",
    "rfc3986",
    "uri2003",
    "url1997",
]

Excess = Literal["keep", "strip", "refuse"]
"""What becomes of ".." above the root: kept in the target, removed, or the reference is refused."""


class Resolve(Protocol):
    def __call__(self, base: str, reference: str, strict: bool = True, /) -> Target: ...


class Resolution(NamedTuple):
    """One document's algorithm."""

    name: str
    document: str
    section: str
    resolve: Resolve
    """By the letter."""
    repaired: Resolve | None = None
    """With the document's known fault repaired; None where nothing is repaired."""


def for_request(target: Target, url: str) -> Target:
    """The target in a context that always makes a new request, such as HTML's FORM (decisions 97-15, 03-12).

    There `url` stands for "(current document)": the URL of the current document by url-1997 3, its base URI by
    RFC 2396 and uri-2003 4.2.

    >>> for_request(uri2003("http://h/a#f", "#s"), "http://h/a#f")
    Target(uri='http://h/a#s', fragment='s', same_document=True)
    """
    if target.uri is not None:
        return target
    own = url.partition("#")[0]
    return target._replace(uri=own if target.fragment is None else f"{own}#{target.fragment}")


# -- draft-fielding-url-syntax-05 (1997), 5.2

# Appendix B; what stands before ":" is a scheme only if the rule `scheme` of 4.1 says so (decision 97-7).
_APPENDIX_B_1997 = re.compile(r"(?s)(?:([A-Za-z0-9+.\-]++):)?+(?://([^/?#]*+))?+([^?#]*+)(?:\?([^#]*+))?+(?:#(.*+))?+")


def _split_1997(text: str) -> Parts:
    match = _APPENDIX_B_1997.fullmatch(text)
    assert match is not None  # the expression matches everything
    return Parts(*match.groups())


def url1997(base: str, reference: str, strict: bool = True, *, repair: bool = False) -> Target:
    """5.2, steps 1 to 7.  The site is `authority` in `Parts`.

    repair: a base with a site and no path counts as one with the path "/" in 6a (decision 97-1).

    Raises: NoBase if the base is not empty and has no scheme.

    >>> url1997("http://a", "g").uri, url1997("http://a", "g", repair=True).uri
    ('http://ag', 'http://a/g')
    """
    own, ref = _split_1997(base), _split_1997(reference)  # 1
    if base != "" and own.scheme is None:
        raise NoBase("the base URL has no scheme (draft-fielding-url-syntax-05 5.2)")
    if ref[:4] == (None, None, "", None):  # 2
        return Target(None, ref.fragment, True)
    if base == "" or ref.scheme is not None:  # 5.1.4: without a base all references are absolute; 3
        return Target(reference, ref.fragment, False)
    ref = ref._replace(scheme=own.scheme)
    if ref.authority is None:  # 4
        ref = ref._replace(authority=own.authority)
        if not ref.path.startswith("/"):  # 5, 6
            buffer = _all_but_last(own, repair) + ref.path  # 6a, 6b
            if ref.query is not None:  # 6c: from here on the query is part of the path (decision 97-2)
                buffer += "?" + ref.query
            path, mark, query = remove_segments(buffer).partition("?")  # 6d to 6i
            ref = ref._replace(path=path, query=query if mark else None)
    return Target(recompose(ref), ref.fragment, False)  # 7


# -- RFC 2396, 5.2

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
    own, ref = _base(base, "RFC 2396"), split(reference)  # 1
    if ref[:4] == (None, None, "", None):  # 2
        return Target(None, ref.fragment, True)
    loose = not strict and _equal_schemes(ref, own) and (own.scheme or "").lower() in _HIER_PART_SCHEMES
    if ref.scheme is not None and not loose:  # 3
        return Target(reference, ref.fragment, False)
    ref = ref._replace(scheme=own.scheme)
    if ref.authority is None:  # 4
        ref = ref._replace(authority=own.authority)
        if not ref.path.startswith("/"):  # 5, 6
            buffer = remove_segments(_all_but_last(own, repair) + ref.path)  # 6a to 6f
            ref = ref._replace(path=_handle_excess(buffer, excess))  # 6g, 6h
    return Target(recompose(ref), ref.fragment, False)  # 7


# -- draft-fielding-uri-rfc2396bis-01 (2003), 5.2


def uri2003(base: str, reference: str, strict: bool = True, *, excess: Excess = "keep") -> Target:
    """5.2, line by line; `strict` is its "validating", and schemes are compared without case (decision 03-9).

    excess: which of the three ways of merge, step 7, to handle ".." above the root (decision 03-8).

    Raises: NoBase if the base has no scheme; Unreachable with `excess="refuse"`.

    >>> uri2003("http://a", "g").uri, uri2003("x:", "g").uri, uri2003("http://a/b/c/d;p?q", "?y").uri
    ('http://a/g', 'x:/g', 'http://a/b/c/d;p?y')
    """
    own, ref = _base(base, "draft-fielding-uri-rfc2396bis-01"), split(reference)
    fragment = ref.fragment
    if not strict and _equal_schemes(ref, own):
        ref = ref._replace(scheme=None)
    if ref.scheme is not None:
        target = ref
    elif ref.authority is not None:
        target = ref._replace(scheme=own.scheme)
    elif ref.path == "":
        if ref.query is None:
            return Target(None, fragment, True)
        target = Parts(own.scheme, own.authority, own.path, ref.query, fragment)
    else:
        path = ref.path if ref.path.startswith("/") else _merge_2003(own.path, ref.path, excess)
        target = Parts(own.scheme, own.authority, path, ref.query, fragment)
    return Target(recompose(target), fragment, False)


def _merge_2003(base_path: str, path: str, excess: Excess) -> str:
    """The merge routine, steps 1 to 8; step 1 gives "/" to a base without authority too (decision 03-10)."""
    buffer = base_path[: base_path.rfind("/") + 1] if base_path else "/"
    return _handle_excess(remove_segments(buffer + path), excess)


# -- RFC 3986, 5.2


def rfc3986(base: str, reference: str, strict: bool = True, *, repair: bool = False) -> Target:
    """5.2.2 to 5.3 by the letter.

    repair: as the edition "rfc3986" and `URI.join` answer, which check both texts and write "/." before a path
    that would read back as an authority (decision 3986-1).

    Raises: NoBase if the base has no scheme; with `repair`, InvalidURI.

    >>> rfc3986("foo:/a", ".//g").uri, rfc3986("foo:/a", ".//g", repair=True).uri
    ('foo://g', 'foo:/.//g')
    """
    if repair:
        from overthere.editions.rfc3986 import EDITION

        return EDITION.resolve(base, reference, strict)
    own = _base(base, "RFC 3986")
    target = transform_references(own, split(reference), strict)
    uri = recompose(target)
    return Target(uri, target.fragment, same(uri, base))


# -- What several documents say in the same words


def _base(text: str, document: str) -> Parts:
    """5.2: "only the scheme component is required to be present in the base URI".  Raises: NoBase."""
    base = split(text)
    if base.scheme is None:
        raise NoBase(f"the base URI has no scheme ({document} 5.2)")
    return base


def _equal_schemes(reference: Parts, base: Parts) -> bool:
    """Whether both have the same scheme, compared without case (3.1)."""
    return reference.scheme is not None and base.scheme is not None and reference.scheme.lower() == base.scheme.lower()


def _all_but_last(base: Parts, repair: bool) -> str:
    """url-1997 and RFC 2396 5.2, 6a: all but the last segment of the base's path."""
    if repair and base.path == "" and base.authority is not None:
        return "/"
    return base.path[: base.path.rfind("/") + 1]


def _handle_excess(buffer: str, excess: Excess) -> str:
    """RFC 2396 6g, uri-2003 merge 7: the buffer "still begins with one or more complete path segments of ..".

    Raises: Unreachable with "refuse".
    """
    if excess == "keep":
        return buffer
    root = "/" if buffer.startswith("/") else ""
    segments = buffer[len(root) :].split("/")
    above = next((i for i, segment in enumerate(segments) if segment != ".."), len(segments))
    if above and excess == "refuse":
        raise Unreachable('the reference leads above the root: its path still begins with ".." (5.2)')
    return root + "/".join(segments[above:])


RESOLUTIONS: Mapping[str, Resolution] = MappingProxyType(
    {
        row.name: row
        for row in (
            Resolution("rfc1630", "RFC 1630", "Partial (relative) form", rfc1630, partial(rfc1630, repair=True)),
            Resolution("rfc1808", "RFC 1808", "4", rfc1808),
            Resolution("url-1997", "draft-fielding-url-syntax-05", "5.2", url1997, partial(url1997, repair=True)),
            Resolution("rfc2396", "RFC 2396", "5.2", rfc2396, partial(rfc2396, repair=True)),
            Resolution("uri-2003", "draft-fielding-uri-rfc2396bis-01", "5.2", uri2003),
            Resolution("rfc3986", "RFC 3986", "5.2", rfc3986, partial(rfc3986, repair=True)),
        )
    }
)
