"""The grammars as they lie in the package: each read once, with its prebuilt automata."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from overthere.grammar import Grammar

__all__ = ["grammar"]


@cache
def grammar(name: str) -> Grammar:
    """The grammar in `NAME.abnf`, such as "rfc3986" or "rfc3987"."""
    folder = files("overthere.editions")
    return Grammar(
        (folder / f"{name}.abnf").read_text("utf-8"),
        (folder / f"{name}.tables.json").read_text("utf-8"),
    )
