"""RFC 2396, August 1998 (not an edition): how it resolves a reference (5.2)."""

from __future__ import annotations

from overthere.editions.resolution_steps import (
    Excess,
    all_but_last,
    base_parts,
    equal_schemes,
    handle_excess,
    remove_segments,
)
from overthere.kernel.reference import recompose, split
from overthere.values.resolve import Target

__all__ = ["resolve"]

# "The scheme is known to always use the <hier_part> syntax" (step 3): those of RFC 1808 2.3 that "can always be
# parsed using the generic-RL syntax", and https (RFC 2818 2.4).
_HIER_PART_SCHEMES = frozenset({"file", "ftp", "http", "https", "nntp"})


def resolve(base: str, reference: str, strict: bool = True, *, repair: bool = False, excess: Excess = "keep") -> Target:
    """5.2, steps 1 to 7.

    repair: a base with an authority and no path counts as one with the path "/" in 6a (RFC 2396bis, App. G.2).
    excess: which of the three ways of 6g to handle ".." above the root; Appendix C prints "keep".

    Raises: NoBase if the base has no scheme; Unreachable with `excess="refuse"`.

    >>> resolve("http://a/b/c/d;p?q", "?y").uri, resolve("http://a/b/c/d;p?q", "../../../g").uri
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
