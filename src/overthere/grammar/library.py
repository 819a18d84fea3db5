"""The package's grammars: each is read once, with its prebuilt automata."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from overthere.grammar import Grammar

_PACKAGE = os.path.dirname(os.path.dirname(__file__))


@cache
def grammar(name: str) -> Grammar:
    """Return the grammar in `NAME.abnf`, such as "rfc3986" or "rfc3987"."""
    text, tables = (read_text(f"editions/{name}.{kind}") for kind in ("abnf", "tables.json"))
    return Grammar(text, tables)


def read_text(name: str) -> str:
    """Return the text of a file of the package, such as "editions/rfc3986.abnf"."""
    # importlib.resources and pkgutil would take longer to load than the grammar.
    loader: Any = __spec__.loader
    data: bytes = loader.get_data(os.path.join(_PACKAGE, *name.split("/")))
    return data.decode()
