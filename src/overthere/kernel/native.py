"""The fast kernel (`overthere._native`, from `rust/`); it passes what it cannot handle to the reference kernel."""

from __future__ import annotations

import sys

from overthere import _native
from overthere._native import Components, parse, percent_decode, percent_encode, unquote, unquote_pairs

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from overthere.kernel.reference import Parts

__all__ = [
    "Components", "Runner", "Trigger", "front", "name", "normalize", "parse", "percent_decode", "percent_encode",
    "remove_dot_segments", "resolve", "split", "unquote", "unquote_pairs",
]  # fmt: skip

name = "native"


Runner = _native.Automaton
"""What runs the automaton of a rule."""
Trigger: Any = getattr(_native, "Trigger", None)
"""A quicker search for an expression of `text.trigger`; None in a build for the stable part of CPython's API."""


def front(function: Any) -> Any:
    """The function, with a way through Rust in front of its usual calls; name, signature and docstring stay."""
    if not hasattr(_native, "with_fast_path"):  # a build for the stable part of CPython's API
        return function
    if "." in function.__qualname__:
        return _Method(function)
    return _before(sys.modules[function.__module__], function)


class _Method:
    """A placeholder in a class body: the method can be made only when the class is there."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __set_name__(self, owner: type, name: str) -> None:
        setattr(owner, name, _before(owner, self.function))


def _before(holder: Any, function: Any) -> Any:
    """A function in Rust to be called first; it finds `function`, which it falls back on, as `_NAME_by_steps`."""
    setattr(holder, f"_{function.__name__}_by_steps", function)
    return _native.with_fast_path(holder, function.__name__, _documentation(function))


def _documentation(function: Any) -> str:
    """The `__doc__` of a builtin function, out of which Python reads its signature and its docstring."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    last = function.__defaults__ or ()
    defaults = dict(zip(names[code.co_argcount - len(last) : code.co_argcount], last, strict=True))
    defaults |= function.__kwdefaults__ or {}
    # A member of an enumeration is shown as the number that it is.
    shown = [f"{n}={getattr(defaults[n], 'value', defaults[n])!r}" if n in defaults else n for n in names]
    if code.co_kwonlyargcount:
        shown.insert(code.co_argcount, "*")
    if names[0] == "self":
        shown[0] = "$self"
    return f"{function.__name__}({', '.join(shown)})\n--\n\n{function.__doc__}"


def split(text: str) -> Parts:
    """Appendix B; nothing is checked."""
    return _reference().split(text)  # type: ignore[no-any-return]


def resolve(base: Components, ref: Components, strict: bool = True) -> str:
    """5.2 and 5.3 on values."""
    target = _native.resolve(base, ref, strict)
    return _reference().resolve(str(base), str(ref), strict) if target is None else target


def remove_dot_segments(path: str) -> str:
    """5.2.4."""
    shortened = _native.remove_dot_segments(path)
    return _reference().remove_dot_segments(path) if shortened is None else shortened


def normalize(text: str, rung: int) -> str:
    """The normal form of a valid text at a generic rung."""
    form = _native.normalize(text, rung)
    return _reference().normalize(text, rung) if form is None else form


def _reference() -> Any:
    """The other kernel, loaded when it is first needed."""
    from overthere.kernel import reference

    return reference
