"""A scheme's rules combined with those of RFC 3986."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from overthere.grammar import Grammar
from overthere.grammar.library import grammar as library
from overthere.grammar.library import read_text
from overthere.grammar.tables import pack, unpack
from overthere.ground.caches import bounded_cache

if TYPE_CHECKING:
    from collections.abc import Mapping

    from overthere.grammar.automaton import Automaton

_TOP = "whole-uri"
_GENERIC = {
    "port": """*"0" [ %x31-39 *3DIGIT / %x31-35 4DIGIT / "6" ( %x30-34 3DIGIT / "5" ( %x30-34 2DIGIT
            / "5" ( %x30-32 DIGIT / "3" %x30-35 ) ) ) ]"""
}
"""Rules that are narrower in a scheme than in RFC 3986: a port of TCP or UDP has 16 bits (RFC 6335 6)."""


@bounded_cache(128, longest=100_000)
def grammar(syntax: str) -> Grammar:
    """Return the grammar of `syntax` and all other rules of RFC 3986, with ports up to 65535."""
    rules = Grammar(syntax).rules
    generic = [
        f"{rule.name} = {' '.join(_GENERIC.get(name, rule.text).split())}"
        for name, rule in library("rfc3986").rules.items()
        if name not in rules
    ]
    return Grammar("\n".join([syntax.strip("\n"), *generic, ""]))


def whole_automaton(name: str, rule: str) -> Automaton:
    """Return the automaton of a scheme's `whole_rule`: the prebuilt one if it was made from exactly that rule."""
    packed = _prebuilt_tables().get(name)
    automata = unpack(packed, _source(rule)) if packed else {}
    return automata.get(_TOP) or grammar(rule).automaton(_TOP)


def tables(rules: Mapping[str, str]) -> str:
    """Return the file of prebuilt automata, one of the `whole_rule` of each scheme."""
    packed = {name: pack({_TOP: grammar(rule).automaton(_TOP)}, _source(rule)) for name, rule in rules.items()}
    return json.dumps(packed, indent=1) + "\n"


@cache
def _prebuilt_tables() -> dict[str, Any]:
    return json.loads(read_text("schemes/whole.tables.json"))  # type: ignore[no-any-return]


def _source(rule: str) -> str:
    """Return all text that the automaton is made from."""
    return rule + read_text("editions/rfc3986.abnf") + "".join(_GENERIC.values())
