"""Checks that the fields of a locator made by hand have their declared types."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from overthere.schemes.locator import Locator


def check_types(locator: Locator) -> None:
    """Raise TypeError for the first field whose value does not have the declared type.

    >>> from overthere.schemes.known.ftp import FTPLocator
    >>> check_types(FTPLocator(host="h", name=b"x"))
    Traceback (most recent call last):
    ...
    TypeError: FTPLocator.name is bytes, not str | None
    """
    hints = _hints(type(locator))
    for part in fields(locator):
        value = getattr(locator, part.name)
        if not _fits(value, hints[part.name]):
            raise TypeError(f"{type(locator).__name__}.{part.name} is {type(value).__name__}, not {part.type}")


@cache
def _hints(kind: type[Locator]) -> dict[str, Any]:
    return get_type_hints(kind)


def _fits(value: object, hint: Any) -> bool:
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin in (Union, UnionType):
        return any(_fits(value, option) for option in inner)
    if origin is Literal:
        return value in inner
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        if len(inner) == 2 and inner[1] is Ellipsis:
            return all(_fits(item, inner[0]) for item in value)
        return len(value) == len(inner) and all(map(_fits, value, inner))
    if hint is None or hint is NoneType:
        return value is None
    if origin is not None:
        return isinstance(value, origin)
    return isinstance(value, hint) and not (hint is int and isinstance(value, bool))
