"""The inverse of resolution: the shortest reference that leads from a base to a target (RFC 3986 4.2, 5.2)."""

from __future__ import annotations

from collections.abc import Iterator

from overthere.errors import NoBase, Unreachable
from overthere.exact import exact
from overthere.kernel import front
from overthere.kernel.reference import Parts, guard_path, recompose, remove_dot_segments, resolve, split

__all__ = ["relate"]


@front
def relate(base: str, target: str) -> str:
    """The shortest reference for which resolving against `base` gives exactly `target`.

    Both are valid URIs.  Among references of one length the one that names fewest components wins.

    Raises: NoBase if `base` has no scheme; Unreachable if `target` has dot-segments, for resolution leaves none.

    >>> relate("http://a/b/c/d;p?q", "http://a/b/g#s"), relate("http://a/b/c", "http://a/b/"), relate("x:a", "x:b:c")
    ('../g#s', '.', './b:c')
    """
    base, target = exact(base, "relate()"), exact(target, "relate()")
    if split(base).scheme is None:
        raise NoBase("a base has a scheme (RFC 3986 5.1)")
    shortest: str | None = None
    for candidate in _candidates(split(base), split(target)):
        if (shortest is None or len(candidate) < len(shortest)) and resolve(base, candidate) == target:
            shortest = candidate
    if shortest is None:
        raise Unreachable("no reference leads to a URI with dot-segments: resolution removes them (RFC 3986 5.2.4)")
    return shortest


def _candidates(base: Parts, target: Parts) -> Iterator[str]:
    """Every reference that could be the shortest; `relate` tries each by resolving it."""
    if target.scheme is None or base.scheme != target.scheme:
        yield recompose(target)
        return
    if base.authority == target.authority:
        if base.path == target.path:
            if base.query == target.query:
                yield recompose(Parts(None, None, "", None, target.fragment))
            yield recompose(Parts(None, None, "", target.query, target.fragment))
        for path in _paths(base, target.path):
            yield recompose(guard_path(Parts(None, None, path, target.query, target.fragment)))
    if target.authority is not None:
        yield recompose(target._replace(scheme=None))
    yield recompose(target)


def _paths(base: Parts, target: str) -> Iterator[str]:
    """Relative and absolute paths to `target`."""
    if base.authority is None and target.startswith("/.//"):
        target = target[2:]  # the path that was guarded (decision 3986-1)
    path = base.path if base.path or base.authority is None else "/"
    here = remove_dot_segments(path[: path.rfind("/") + 1]).split("/")
    there = target.split("/")
    # Directories that both begin with; the last piece of each is a name, not a directory.
    common, most = 0, min(len(here), len(there)) - 1
    while common < most and here[common] == there[common]:
        common += 1
    up, rest = len(here) - 1 - common, there[common:]
    if common or here == [""]:
        tail = "/".join(rest)
        yield "../" * up + tail
        if tail == "":
            yield "/".join([".."] * up) or "."
        # What begins with "/" or has a colon at the start needs "./" before it.
        yield "./" + "../" * up + tail
    if target.startswith("/"):
        yield target
