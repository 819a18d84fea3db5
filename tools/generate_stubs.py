"""The stubs, for type checkers, of modules that import each name when it is first used."""

from __future__ import annotations

import ast
from importlib import import_module
from itertools import groupby

_HEAD = "# Written by `make docs` out of `_HOMES` in the module beside it.\n"


def stub(module: str, root: str) -> str:
    """The stub of a module whose `_HOMES` says where below the package `root` each name is."""
    lazy = import_module(module)
    homes: dict[str, str] = lazy._HOMES
    modules = sorted(name for name, home in homes.items() if home.rpartition(".")[2] == name)
    imports = sorted((f"{root}.{home}", name) for name, home in homes.items() if name not in modules)
    lines = [_HEAD]
    lines += [f"from {root} import {name} as {name}\n" for name in modules]
    for home, rows in groupby(imports, lambda row: row[0]):
        lines += [f"from {home} import {name} as {name}\n" for _, name in rows]
    lines += ["\n__all__ = [\n", *(f'    "{name}",\n' for name in lazy.__all__), "]\n"]
    if module == "overthere":
        lines[1:1] = ["from collections.abc import Callable, Mapping\n", "from typing import Any\n\n"]
        lines += ["\n__version__: str\n", "_HOMES: dict[str, str]\n", "_ELSEWHERE: dict[str, str]\n"]
        lines += ["\ndef lazy_names(\n    module: str, homes: Mapping[str, str], package: str = ..., "]
        lines += ["elsewhere: Mapping[str, str] | None = ...\n"]
        lines += [") -> tuple[Callable[[str], Any], Callable[[], list[str]]]: ...\n"]
        lines += ["\ndef __dir__() -> list[str]: ...\n"]
    text = "".join(lines)
    ast.parse(text)
    return text
