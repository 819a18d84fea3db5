"""The inverse of resolution: the shortest reference from a base to a target (RFC 3986 4.2, 5.2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from overthere.ground.errors import NoBase, Unreachable
from overthere.ground.exact import exact
from overthere.kernel import front
from overthere.kernel.reference import Form, Parts, form_of, guard_path, recompose, remove_dot_segments, resolve, split

FORMS: tuple[str, ...] = get_args(Form)
"""The forms of references (RFC 3986 4.1, 4.2, 4.4)."""


@front
def relate(base: str, target: str, *, form: Form | None = None) -> str:
    """Return the shortest reference that resolves against `base` to exactly `target`.

    Both are valid URIs.  Among references of equal length, the one with the fewest components wins.
    form: return the shortest of that form instead: "uri", "network-path", "absolute-path", "relative-path" (4.2) or
    "same-document" (4.4).

    Raises: NoBase if `base` has no scheme; Unreachable if `target` has dot-segments, for resolution leaves none, and
    if no reference of that form resolves to it; ValueError for another `form`.

    >>> relate("http://a/b/c/d;p?q", "http://a/b/g#s"), relate("http://a/b/c", "http://a/b/"), relate("x:a", "x:b:c")
    ('../g#s', '.', './b:c')
    >>> [relate("http://a/b/c", "http://a/g", form=form) for form in ("network-path", "absolute-path", "relative-path")]
    ['//a/g', '/g', '../g']
    """
    base, target = exact(base, "relate()"), exact(target, "relate()")
    base_parts, target_parts = split(base), split(target)
    if base_parts.scheme is None:
        raise NoBase("a base must have a scheme (RFC 3986 5.1)")
    if form is not None and exact(form, "form") not in FORMS:
        raise ValueError(f"the form must be one of {', '.join(FORMS)}; not {form!r}")
    shortest: str | None = None
    for candidate in _candidates(base_parts, target_parts):
        if form is not None and form_of(split(candidate)) != form:
            continue
        if (shortest is None or len(candidate) < len(shortest)) and resolve(base, candidate) == target:
            shortest = candidate
    if shortest is None:
        raise Unreachable(_DOTS if form is None else _reason(base_parts, target_parts, form))
    return shortest


_DOTS = "no reference resolves to a URI with dot-segments, because resolution removes them (RFC 3986 5.2.4)"


def _reason(base: Parts, target: Parts, form: str) -> str:
    """Return why no reference of a form leads to a target."""
    if form != "uri" and base.scheme != target.scheme:
        return (
            f"{'an' if form == 'absolute-path' else 'a'} {form} reference keeps the scheme of the base (RFC 3986 5.2.2)"
        )
    if form == "network-path" and target.authority is None:
        return "a network-path reference names an authority, and the target has none (RFC 3986 4.2)"
    if form not in ("uri", "network-path") and base.authority != target.authority:
        return f"a {form} reference keeps the authority of the base (RFC 3986 5.2.2)"
    if form == "same-document":
        return "a same-document reference keeps the path and the query of the base (RFC 3986 4.4)"
    if resolve("", recompose(target)) != recompose(target):
        return _DOTS
    if form == "absolute-path":
        return 'an absolute-path reference gives a path that begins with "/" (RFC 3986 4.2)'
    return "no relative path leads from the path of the base to that of the target (RFC 3986 5.2.3, 5.2.4)"


def _candidates(base: Parts, target: Parts) -> Iterator[str]:
    """Yield every reference that could be the shortest; `relate` resolves each to check it."""
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
    """Yield relative and absolute paths to `target`."""
    if base.authority is None and target.startswith("/.//"):
        target = target[2:]  # the path that was guarded (decision 3986-1)
    path = base.path if base.path or base.authority is None else "/"
    base_folders = remove_dot_segments(path[: path.rfind("/") + 1]).split("/")
    target_segments = target.split("/")
    # Directories that both begin with; the last segment of each is a name, not a directory.
    common, max_common = 0, min(len(base_folders), len(target_segments)) - 1
    while common < max_common and base_folders[common] == target_segments[common]:
        common += 1
    levels_up, remaining = len(base_folders) - 1 - common, target_segments[common:]
    if common or base_folders == [""]:
        tail = "/".join(remaining)
        yield "../" * levels_up + tail
        if tail == "":
            yield "/".join([".."] * levels_up) or "."
        # A path that begins with "/" or has a colon at the start needs "./" before it.
        yield "./" + "../" * levels_up + tail
    if target.startswith("/"):
        yield target
        if base_folders[0]:  # after the last segment of a rootless path ".." leaves a slash (5.2.4, 2C)
            yield "/".join([".."] * (len(base_folders) - 1)) + (target if target != "/" else "")
