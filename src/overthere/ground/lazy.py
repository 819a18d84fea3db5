"""Public names of a package that are imported when they are first used."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

__all__ = ["lazy_names"]


def lazy_names(
    module: str, homes: Mapping[str, str], package: str = "", elsewhere: Mapping[str, str] | None = None
) -> Callable[[str], Any]:
    """The `__getattr__` of a module (PEP 562).

    homes: each name, and below the package the module that has it, or that it is.
    package: the module itself unless given.
    elsewhere: what other libraries call a name, and what to write here instead.
    """
    package = package or module

    def find(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            hint = f"; use overthere.{elsewhere[name]}" if elsewhere and name in elsewhere else ""
            raise AttributeError(f"module {module!r} has no attribute {name!r}{hint}", name=name)
        from importlib import import_module

        found = import_module(f"{package}.{home}")
        value = found if home.rpartition(".")[2] == name else getattr(found, name)
        setattr(sys.modules[module], name, value)
        return value

    return find
