"""docs/public_names.txt: every public name, with the names of its parameters: the names that no version may remove.

The names are those of `overthere`, of its public modules and of the integrations that docs/reference shows, and the
members of their classes, where a class comes first.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import overthere

REFERENCE = Path(__file__).resolve().parent.parent / "docs" / "reference"
HEAD = "# Written by `make docs`; docs/stability.md says what is promised.\n"


def modules() -> list[str]:
    """The public modules: those that the package names but for the kernels, those for tests, and the integrations."""
    named = {name for name in overthere.__all__ if isinstance(getattr(overthere, name), ModuleType)} - {"kernel"}
    integrations = re.findall(
        r":: overthere\.(integrations\.\w+)\.", (REFERENCE / "integrations.md").read_text("utf-8")
    )
    return sorted({*named, *integrations, "testing"})


def parameters(value: object) -> str:
    """The parameters of a call, without defaults and types, which later versions may widen: alike on both kernels."""
    try:
        signature = inspect.signature(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ""
    bare = [
        one.replace(default=one.empty, annotation=one.empty, kind=max(one.kind, one.POSITIONAL_OR_KEYWORD))
        for one in signature.parameters.values()
        if not one.name.startswith("_") and one.name not in ("self", "cls")
    ]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def members(path: str, value: type) -> Iterator[str]:
    """The attributes of a class of this package, and of its bases in the package."""
    bases = [base for base in value.__mro__ if base.__module__.startswith("overthere")]
    for name in sorted({name for base in bases for name in vars(base) if not name.startswith("_")}):
        member = inspect.getattr_static(value, name)
        if type(member).__name__ == "_MovedAttribute":  # the name of another library, which says what it is called here
            continue
        if isinstance(member, classmethod | staticmethod):
            member = member.__func__
        yield f"{path}.{name}{parameters(member) if inspect.isroutine(member) else ''}"


def names() -> Iterator[str]:
    seen = set()
    for module in ["", *modules()]:
        home = import_module(f"overthere.{module}" if module else "overthere")
        for name in sorted(getattr(home, "__all__", ())):
            value = getattr(home, name)
            path = ".".join(filter(None, ("overthere", module, name)))
            if isinstance(value, ModuleType):
                continue
            if inspect.isclass(value):
                yield path
                if value.__module__.startswith("overthere") and value not in seen:
                    yield from members(path, value)
                seen.add(value)
            else:
                yield path + (parameters(value) if inspect.isroutine(value) else "")


def page() -> str:
    return HEAD + "\n".join(dict.fromkeys(names())) + "\n"
