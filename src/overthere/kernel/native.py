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
    "Components", "Runner", "Trigger", "front", "front_classmethod", "front_property", "name", "normalize", "parse",
    "percent_decode", "percent_encode", "remove_dot_segments", "resolve", "split", "unquote", "unquote_pairs",
]  # fmt: skip

name = "native"
_TAKES_MORE = 4
"""`inspect.CO_VARARGS`, without its module."""


Runner = _native.Automaton
"""What runs the automaton of a rule."""
Trigger: Any = getattr(_native, "Trigger", None)
"""A quicker search for an expression of `text.trigger`; None in a build for the stable part of CPython's API."""


def front(function: Any) -> Any:
    """A function or method with a fast path in Rust before its usual calls; name, signature and docstring stay."""
    if "." in function.__qualname__:
        return _with_fast_path(function, "Method", lambda function: function)
    return _fronted(sys.modules[function.__module__], function, "Function") if _HAS_FAST_PATHS else function


def front_property(function: Any) -> Any:
    """A property with a fast path in Rust."""
    return _with_fast_path(function, "Property", property)


def front_classmethod(function: Any) -> Any:
    """A class method with a fast path in Rust."""
    return _with_fast_path(function, "ClassMethod", classmethod)


_HAS_FAST_PATHS = hasattr(_native, "with_fast_path")
"""Not in a build for the stable part of CPython's API."""


def _with_fast_path(function: Any, kind: str, descriptor: Any) -> Any:
    return _ClassMember(function, kind) if _HAS_FAST_PATHS else descriptor(function)


class _ClassMember:
    """A placeholder in a class body: the member can be made only when the class is there."""

    def __init__(self, function: Any, kind: str) -> None:
        self.function = function
        self.kind = kind

    def __set_name__(self, owner: type, name: str) -> None:
        setattr(owner, name, _fronted(owner, self.function, self.kind))


def _fronted(holder: Any, function: Any, kind: str) -> Any:
    """What is called instead of `function`, which it finds as `_NAME_by_steps` and falls back on."""
    by_steps = classmethod(function) if kind == "ClassMethod" else function
    setattr(holder, f"_{function.__name__}_by_steps", by_steps)
    documentation = function.__doc__ or "" if kind == "Property" else _documentation(function)
    return _native.with_fast_path(holder, function.__name__, kind, documentation)


def _documentation(function: Any) -> str:
    """The `__doc__` of a builtin function, out of which Python reads its signature and its docstring."""
    function = getattr(function, "__wrapped__", function)
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    last = function.__defaults__ or ()
    defaults = dict(zip(names[code.co_argcount - len(last) : code.co_argcount], last, strict=True))
    defaults |= function.__kwdefaults__ or {}
    # A member of an enumeration is shown as the number that it is.
    shown = [f"{n}={getattr(defaults[n], 'value', defaults[n])!r}" if n in defaults else n for n in names]
    shown[0] = {"self": "$self", "cls": "$cls"}.get(names[0], shown[0])
    if code.co_flags & _TAKES_MORE:
        shown.insert(code.co_argcount, f"*{code.co_varnames[code.co_argcount + code.co_kwonlyargcount]}")
    elif code.co_kwonlyargcount:
        shown.insert(code.co_argcount, "*")
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
