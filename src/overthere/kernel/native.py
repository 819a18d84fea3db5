"""The fast kernel (`overthere._native`, from `rust/`), with the reference one behind it for what it does not take."""

from __future__ import annotations

from overthere import _native
from overthere._native import Components, parse, percent_decode, percent_encode
from overthere.kernel import reference

__all__ = [
    "Components",
    "name",
    "normalize",
    "parse",
    "percent_decode",
    "percent_encode",
    "remove_dot_segments",
    "resolve",
]

name = "native"


def resolve(base: Components, ref: Components, strict: bool = True) -> str:
    """5.2 and 5.3 on values."""
    target = _native.resolve(base, ref, strict)
    return reference.resolve(str(base), str(ref), strict) if target is None else target


def remove_dot_segments(path: str) -> str:
    """5.2.4."""
    found = _native.remove_dot_segments(path)
    return reference.remove_dot_segments(path) if found is None else found


def normalize(text: str, rung: int) -> str:
    """The normal form of a valid text: the generic rungs in Rust, the scheme's facts on top."""
    form = _native.normalize(text, min(rung, 3))
    if form is None:
        return reference.normalize(text, rung)
    return form if rung < 4 else reference.normalize_scheme(form)
