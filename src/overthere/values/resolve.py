"""Reference resolution (RFC 3986 5) on values; the algorithm is in the kernel."""

from __future__ import annotations

from typing import NamedTuple

from overthere import kernel
from overthere.ground.errors import NoBase, Unreachable
from overthere.ground.redact import hides_secrets
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


@hides_secrets
class Target(NamedTuple):
    """The result of an edition's resolution."""

    uri: str | None
    """The target URI; None if the edition answers "(current document)"."""
    fragment: str | None
    same_document: bool
    """Whether the target is the base itself, apart from fragments (4.4)."""


def resolve_text(base: Components, reference: Components, strict: bool = True) -> str:
    """Return the target of `reference` against `base` (5.2).

    Raises: NoBase if `base` has no scheme (5.1).
    """
    if base.scheme is None:
        raise NoBase(f"a base must have a scheme (RFC 3986 5.1); {base!r} has none")
    return kernel.resolve(base, reference, strict)


def join_text(first: Components, second: Components, strict: bool = True) -> str:
    """Return the reference that, from every base with a hierarchy, leads where `first` and then `second` lead.

    Raises: Unreachable if the answer depends on the base: only `second` has a scheme, and `strict` is false.
    """
    if first.scheme is not None:
        return resolve_text(first, second, strict)
    first_parts, second_parts = split(str(first)), split(str(second))
    if second_parts.scheme is not None and not strict:
        raise Unreachable("whether the reference's scheme is ignored depends on the base's scheme (RFC 3986 5.2.2)")
    if second_parts.scheme is not None or second_parts.authority is not None or second_parts.path == "":
        joined = transform_references(first_parts, second_parts)
    else:
        if first_parts.path.rpartition("/")[2] in (".", ".."):  # these name directories, which resolving shows (5.2.4)
            first_parts = first_parts._replace(path=first_parts.path + "/")
        path = second_parts.path if second_parts.path.startswith("/") else merge_paths(first_parts, second_parts.path)
        joined = Parts(None, first_parts.authority, _without_dots(path), second_parts.query, second_parts.fragment)
    return recompose(guard_path(joined))


def _without_dots(path: str) -> str:
    """Remove dot-segments; a relative path keeps the ".." that lead out of it (5.2.4).

    >>> _without_dots("../a/./b/../../c"), _without_dots("a/.."), _without_dots("a/..//b")
    ('../c', '.', './/b')
    """
    if path.startswith("/"):
        return remove_dot_segments(path)
    *directories, name = path.split("/")
    if name in (".", ".."):
        directories, name = [*directories, name], ""
    result: list[str] = []
    for segment in directories:
        if segment == ".." and result and result[-1] != "..":
            result.pop()
        elif segment != ".":
            result.append(segment)
    path_text = "/".join([*result, name]) or "."
    return f"./{path_text}" if path_text.startswith("/") else path_text


def same_document(base: Components, reference: Components) -> bool:
    """Whether the target without fragment is the base (4.4; decision 3986-11: by the target, not by the syntax)."""
    target, base_text = resolve_text(base, reference), str(base)
    return target.partition("#")[0] == base_text.partition("#")[0]
