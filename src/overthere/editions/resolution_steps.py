"""Reference resolution: the steps that several documents share."""

from __future__ import annotations

from typing import Literal

from overthere.ground.errors import NoBase, Unreachable
from overthere.kernel.reference import Parts, split
from overthere.values.resolve import Target

__all__ = [
    "Excess",
    "all_but_last",
    "base_parts",
    "equal_schemes",
    "for_request",
    "handle_excess",
    "remove_segments",
    "is_same",
]

Excess = Literal["keep", "strip", "refuse"]
"""What becomes of ".." above the root: kept in the target, removed, or the reference is refused."""


def base_parts(text: str, document: str) -> Parts:
    """5.2: "only the scheme component is required to be present in the base URI".  Raises: NoBase."""
    base = split(text)
    if base.scheme is None:
        raise NoBase(f"the base URI has no scheme ({document} 5.2)")
    return base


def equal_schemes(reference: Parts, base: Parts) -> bool:
    """Whether both have the same scheme, compared without case (3.1)."""
    return reference.scheme is not None and base.scheme is not None and reference.scheme.lower() == base.scheme.lower()


def all_but_last(base: Parts, repair: bool) -> str:
    """url-1997 and RFC 2396 5.2, 6a: all but the last segment of the base's path."""
    if repair and base.path == "" and base.authority is not None:
        return "/"
    return base.path[: base.path.rfind("/") + 1]


def remove_segments(buffer: str) -> str:
    """RFC 1808 6a to 6d, and word for word url-1997 6d to 6g, RFC 2396 6c to 6f and uri-2003 merge 3 to 6.

    The empty text before an initial slash is no segment; an empty one between two slashes is (decision 97-10).

    >>> remove_segments("/b/c/../../../g"), remove_segments("/s//a/b/../../../g"), remove_segments("a/./b/..")
    ('/../g', '/s/g', 'a/')
    """
    root = "/" if buffer.startswith("/") else ""
    *segments, last = buffer[len(root) :].split("/")
    kept: list[str] = []
    for segment in segments:
        if segment == ".":  # "./"
            continue
        if segment == ".." and kept and kept[-1] != "..":  # "<segment>/../"
            kept.pop()
        elif segment or kept or root:
            kept.append(segment)
        else:  # all before it is gone, so its slash is now the initial one
            root = "/"
    if last == ".":  # "." at the end
        last = ""
    elif last == ".." and kept and kept[-1] != "..":  # "<segment>/.." at the end
        kept.pop()
        last = ""
    return root + "/".join([*kept, last])


def handle_excess(buffer: str, excess: Excess) -> str:
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


def is_same(target: str, base: str) -> bool:
    """Whether two texts are the same, fragments aside: what `Target.same_document` says where a document does not."""
    return target.partition("#")[0] == base.partition("#")[0]


def for_request(target: Target, url: str) -> Target:
    """The target in a context that always makes a new request, such as HTML's FORM (decisions 97-15, 03-12).

    There `url` stands for "(current document)": the URL of the current document by url-1997 3, its base URI by
    RFC 2396 and uri-2003 4.2.

    >>> for_request(Target(None, "s", True), "http://h/a#f")
    Target(uri='http://h/a#s', fragment='s', same_document=True)
    """
    if target.uri is not None:
        return target
    own = url.partition("#")[0]
    return target._replace(uri=own if target.fragment is None else f"{own}#{target.fragment}")
