"""The grammars as they lie in the package: each read once, with its prebuilt automata."""

from __future__ import annotations

from functools import cache
from pkgutil import get_data

from overthere.grammar import Grammar

__all__ = ["grammar"]


@cache
def grammar(name: str) -> Grammar:
    """The grammar in `NAME.abnf`, such as "rfc3986" or "rfc3987"."""
    text, tables = (_text(f"{name}.{kind}") for kind in ("abnf", "tables.json"))
    return Grammar(text, tables)


def _text(name: str) -> str:
    # importlib.resources would take longer to load than the grammar.
    data = get_data("overthere", f"editions/{name}")
    if data is None:  # pragma: no cover - a loader without data
        raise FileNotFoundError(name)
    return data.decode()
