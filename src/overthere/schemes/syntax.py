"""A scheme's rules with those of RFC 3986 below them."""

from __future__ import annotations

from functools import lru_cache

from overthere.grammar import Grammar
from overthere.grammar.library import grammar as library

__all__ = ["grammar"]


@lru_cache(128)
def grammar(syntax: str) -> Grammar:
    """`syntax`, and of RFC 3986 every rule whose name it does not define itself."""
    own = Grammar(syntax).rules
    generic = [
        f"{rule.name} = {' '.join(rule.text.split())}"
        for name, rule in library("rfc3986").rules.items()
        if name not in own
    ]
    return Grammar("\n".join([syntax.strip("\n"), *generic, ""]))
