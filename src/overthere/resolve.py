"""Reference resolution (RFC 3986 5) on values: the algorithm itself is in the kernel."""

from __future__ import annotations

from typing import NamedTuple

from overthere import kernel
from overthere.errors import NoBase
from overthere.kernel import Components

__all__ = ["Target", "resolve_text", "same_document"]


class Target(NamedTuple):
    """The answer of an edition's resolution."""

    uri: str | None
    """The target URI; None where the edition answers "(current document)"."""
    fragment: str | None
    same_document: bool
    """Whether the target is the base itself, fragments aside (4.4)."""


def resolve_text(base: Components, reference: Components, strict: bool = True) -> str:
    """5.2: the target of `reference` against `base`.

    Raises: NoBase if `base` has no scheme (5.1).
    """
    if base.scheme is None:
        raise NoBase(f"a base has a scheme (RFC 3986 5.1); {base!r} has none")
    return kernel.resolve(base, reference, strict)


def same_document(base: Components, reference: Components) -> bool:
    """4.4: whether the target, its fragment aside, is the base (decision 3986-11: by the target, not by the syntax)."""
    target, own = resolve_text(base, reference), str(base)
    return target.partition("#")[0] == own.partition("#")[0]
