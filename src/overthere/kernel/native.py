"""The fast kernel (`overthere._native`, from `rust/`); rare inputs that it cannot handle go to the reference kernel."""

from __future__ import annotations

import sys

from overthere import _native
from overthere._native import Components, parse, percent_decode, percent_encode, unquote, unquote_pairs

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from overthere.kernel.reference import Parts

__all__ = [
    "Components", "Runner", "Trigger", "front", "front_classmethod", "front_property", "name", "normalize", "parse",
    "percent_decode", "percent_encode", "remove_dot_segments", "resolve", "split", "unquote", "unquote_pairs",
]  # fmt: skip

name = "native"
_CO_VARARGS = 4
"""`inspect.CO_VARARGS`, without its module."""


Runner = _native.Automaton
"""The runner of a rule's automaton."""
Trigger: Any = getattr(_native, "Trigger", None)
"""A faster search for an expression of `text.trigger`; None in a build for CPython's stable API."""


def front(function: Any) -> Any:
    """Add a fast path in Rust for usual calls of a function or method; name, signature and docstring stay."""
    if "." in function.__qualname__:
        return _with_fast_path(function, "Method", lambda function: function)
    return _install_fast_path(sys.modules[function.__module__], function, "Function") if _HAS_FAST_PATHS else function


def front_property(function: Any) -> Any:
    """Make a property with a fast path in Rust."""
    return _with_fast_path(function, "Property", property)


def front_classmethod(function: Any) -> Any:
    """Make a class method with a fast path in Rust."""
    return _with_fast_path(function, "ClassMethod", classmethod)


_HAS_FAST_PATHS = hasattr(_native, "with_fast_path")
"""False in a build for CPython's stable API."""


def _with_fast_path(function: Any, kind: str, descriptor: Any) -> Any:
    return _DelayedFastPath(function, kind) if _HAS_FAST_PATHS else descriptor(function)


class _DelayedFastPath:
    """A placeholder in a class body: the fast path can be installed only when the class exists."""

    def __init__(self, function: Any, kind: str) -> None:
        self.function = function
        self.kind = kind

    def __set_name__(self, owner: type, name: str) -> None:
        setattr(owner, name, _install_fast_path(owner, self.function, self.kind))


def _install_fast_path(owner: Any, function: Any, kind: str) -> Any:
    """Return the fast path of `function`, which it calls as `_NAME_by_steps` where Rust has no answer."""
    by_steps = classmethod(function) if kind == "ClassMethod" else function
    setattr(owner, f"_{function.__name__}_by_steps", by_steps)
    documentation = function.__doc__ or "" if kind == "Property" else _builtin_docstring(function)
    return _native.with_fast_path(owner, function.__name__, kind, documentation)


def _builtin_docstring(function: Any) -> str:
    """Return a docstring for a builtin function, from which Python reads both the signature and the text."""
    function = getattr(function, "__wrapped__", function)
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    default_values = function.__defaults__ or ()
    defaults = dict(zip(names[code.co_argcount - len(default_values) : code.co_argcount], default_values, strict=True))
    defaults |= function.__kwdefaults__ or {}
    # An Enum member is written as its value, for a builtin's signature holds literals only.
    parameters = [f"{n}={getattr(defaults[n], 'value', defaults[n])!r}" if n in defaults else n for n in names]
    parameters[0] = {"self": "$self", "cls": "$cls"}.get(names[0], parameters[0])
    if code.co_flags & _CO_VARARGS:
        parameters.insert(code.co_argcount, f"*{code.co_varnames[code.co_argcount + code.co_kwonlyargcount]}")
    elif code.co_kwonlyargcount:
        parameters.insert(code.co_argcount, "*")
    return f"{function.__name__}({', '.join(parameters)})\n--\n\n{function.__doc__}"


def split(text: str) -> Parts:
    """Split a text into components by Appendix B, unchecked."""
    return _reference().split(text)  # type: ignore[no-any-return]


def resolve(base: Components, ref: Components, strict: bool = True) -> str:
    """Resolve a reference (5.2, 5.3) and return the target's text."""
    target = _native.resolve(base, ref, strict)
    return _reference().resolve(str(base), str(ref), strict) if target is None else target


def remove_dot_segments(path: str) -> str:
    """Remove the dot-segments of a path (5.2.4)."""
    shortened = _native.remove_dot_segments(path)
    return _reference().remove_dot_segments(path) if shortened is None else shortened


def normalize(text: str, rung: int) -> str:
    """Normalize a valid text at a generic rung."""
    form = _native.normalize(text, rung)
    return _reference().normalize(text, rung) if form is None else form


def _reference() -> Any:
    """Import and return the reference kernel, which is rarely needed."""
    from overthere.kernel import reference

    return reference
