"""The grammar engine: reads ABNF and builds automata (RFC 5234)."""

from overthere.grammar.automaton import Automaton, Expected
from overthere.grammar.grammar import Grammar

__all__ = ["Automaton", "Expected", "Grammar"]
