"""Reference resolution (RFC 3986 5) on values; the algorithm is in the kernel."""

from __future__ import annotations

from typing import NamedTuple

from overthere import kernel
from overthere.ground.errors import NoBase, Unreachable
from overthere.ground.redact import masked_repr
from overthere.kernel import Components
from overthere.kernel.reference import (
    Parts,
    guard_path,
    merge_paths,
    recompose,
    remove_dot_segments,
    split,
    transform_references,
)

__all__ = ["Target", "join_text", "resolve_text", "same_document"]


class Target(NamedTuple):
    """The result of an edition's resolution."""

    uri: str | None
    """The target URI; None where the edition answers "(current document)"."""
    fragment: str | None
    same_document: bool
    """Whether the target is the base itself, fragments aside (4.4)."""

    def __repr__(self) -> str:
        return masked_repr(self)


def resolve_text(base: Components, reference: Components, strict: bool = True) -> str:
    """5.2: the target of `reference` against `base`.

    Raises: NoBase if `base` has no scheme (5.1).
    """
    if base.scheme is None:
        raise NoBase(f"a base must have a scheme (RFC 3986 5.1); {base!r} has none")
    return kernel.resolve(base, reference, strict)


def join_text(first: Components, second: Components, strict: bool = True) -> str:
    """The one reference that leads from every base with a hierarchy where `first` and then `second` lead.

    Raises: Unreachable if the answer depends on the base: `second` alone has a scheme, and not `strict` is asked.
    """
    if first.scheme is not None:
        return resolve_text(first, second, strict)
    own, other = split(str(first)), split(str(second))
    if other.scheme is not None and not strict:
        raise Unreachable("whether the reference's scheme is ignored depends on the base's scheme (RFC 3986 5.2.2)")
    if other.scheme is not None or other.authority is not None or other.path == "":
        joined = transform_references(own, other)
    else:
        if own.path.rpartition("/")[2] in (".", ".."):  # they name directories, which resolving shows (5.2.4)
            own = own._replace(path=own.path + "/")
        path = other.path if other.path.startswith("/") else merge_paths(own, other.path)
        joined = Parts(None, own.authority, _without_dots(path), other.query, other.fragment)
    return recompose(guard_path(joined))


def _without_dots(path: str) -> str:
    """Dot-segments removed, of a relative path all but the ".." that lead out of it (5.2.4).

    >>> _without_dots("../a/./b/../../c"), _without_dots("a/.."), _without_dots("a/..//b")
    ('../c', '.', './/b')
    """
    if path.startswith("/"):
        return remove_dot_segments(path)
    *directories, name = path.split("/")
    if name in (".", ".."):
        directories, name = [*directories, name], ""
    kept: list[str] = []
    for segment in directories:
        if segment == ".." and kept and kept[-1] != "..":
            kept.pop()
        elif segment != ".":
            kept.append(segment)
    found = "/".join([*kept, name]) or "."
    return f"./{found}" if found.startswith("/") else found


def same_document(base: Components, reference: Components) -> bool:
    """4.4: whether the target, its fragment aside, is the base (decision 3986-11: by the target, not by the syntax)."""
    target, own = resolve_text(base, reference), str(base)
    return target.partition("#")[0] == own.partition("#")[0]
