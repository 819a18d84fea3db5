"""The grammar engine: ABNF in, automata out (RFC 5234; DESIGN: the grammar is the source)."""

from overthere.grammar.automaton import Automaton, Expected
from overthere.grammar.grammar import Grammar

__all__ = ["Automaton", "Expected", "Grammar"]
