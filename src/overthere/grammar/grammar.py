"""A grammar: the rules of one document, their automata, and their descriptions for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overthere.grammar.automaton import Automaton, Expected
from overthere.grammar.tables import load
from overthere.ground.errors import GrammarError
from overthere.ground.redact import mask

if TYPE_CHECKING:
    from overthere.grammar.abnf import Rule

# Descriptions that replace a list of characters: rule -> words, the largest rule first.
_DESCRIPTIONS = (
    ("ipchar", "ipchar"),
    ("pchar", "pchar"),
    ("unreserved", "unreserved"),
    ("sub-delims", "sub-delims"),
    ("pct-encoded", "pct-encoded"),
    ("ALPHA", "a letter"),
    ("HEXDIG", "a hexadecimal digit"),
    ("DIGIT", "a digit"),
)


def _normalized_name(name: str) -> str:
    return name.lower().replace("_", "-")


class Grammar:
    """The rules of one document.

    >>> g = Grammar('greeting = "hi" 1*DIGIT')
    >>> g.automaton("greeting").accepts("HI42")
    True
    >>> g.describe(g.automaton("greeting").expected("hi!"))
    'a digit'
    """

    def __init__(self, text: str, prebuilt: str | None = None) -> None:
        """Read ABNF (RFC 5234); `prebuilt` is the text of a table file made from exactly this grammar.

        Raises: GrammarError with line and column.
        """
        self.text = text
        self._rules: dict[str, Rule] | None = None
        self._core: dict[str, Rule] = {}
        self._firsts: dict[str, frozenset[str]] = {}
        self._automata: dict[str, Automaton] = load(prebuilt, text) if prebuilt else {}
        self._ready = frozenset(self._automata)

    @property
    def rules(self) -> dict[str, Rule]:
        """The document's own rules by lower-case name, in its order."""
        if self._rules is None:
            # The reader of ABNF and the builder of automata are imported only if no prebuilt table has the rule.
            from overthere.grammar.abnf import read

            self._rules = read(self.text)
        return self._rules

    def __contains__(self, name: object) -> bool:
        """Whether `rules` has the name; the rules are read only if neither a table nor the text decides it.

        >>> from overthere.editions import edition
        >>> "pchar" in edition("rfc3986").grammar, "httpurl" in edition("rfc3986").grammar
        (True, False)
        """
        if name in self._ready:
            return True
        return isinstance(name, str) and name in self.text.lower() and name in self.rules

    def rule(self, name: str) -> Rule:
        """Return the rule `name`, or a core rule of RFC 5234 B.1.  Raises: GrammarError.

        Names are case-insensitive (2.1), and "_" is read as "-": older notations have it in names, ABNF does not.
        """
        if not self._core:
            from overthere.grammar.abnf import CORE, read

            self._core = read(CORE)
        rule = self.rules.get(_normalized_name(name)) or self._core.get(_normalized_name(name))
        if rule is None:
            raise GrammarError(f"there is no rule {mask(name)!r:.100}")
        return rule

    def automaton(self, name: str) -> Automaton:
        """Return the minimal automaton of the rule `name`.  Raises: GrammarError, NotRegular."""
        key = _normalized_name(name)
        if key not in self._automata:
            from overthere.grammar.construct import build

            self.rule(name)
            self._automata[key] = build({**self._core, **self.rules}, key)
        return self._automata[key]

    def charset(self, name: str) -> frozenset[str]:
        """Return the US-ASCII characters that the rule matches as a whole text.

        >>> from overthere.editions import edition
        >>> "".join(sorted(edition("rfc3986").grammar.charset("sub-delims")))
        "!$&'()*+,;="
        """
        dfa = self.automaton(name)
        return frozenset(
            chr(b) for b in range(128) if dfa.table[dfa.start * dfa.width + dfa.classes[b]] in dfa.accepting
        )

    def first(self, name: str) -> frozenset[str]:
        """Return the US-ASCII characters with which the rule can begin."""
        if name not in self._firsts:
            self._firsts[name] = frozenset(chr(b) for b in self.automaton(name).follow() if b < 0x80)
        return self._firsts[name]

    def describe(self, expected: Expected, unless: tuple[str, ...] = ()) -> str:
        """Describe the allowed characters in words: `pchar, "/", "?", "#" or the end`.

        unless: rules whose names are not used, because they would allow too much there.
        """
        remaining = set(expected.characters)
        words: list[str] = []
        for name, description in _DESCRIPTIONS:
            if name not in unless and (name.lower() in self or name.isupper()):
                rule_characters = self.first(name)
                if rule_characters <= remaining:
                    words.append(description)
                    remaining -= rule_characters
        if expected.non_ascii and "ipchar" not in words:
            words.append("a character above U+007F")
        words += [f'"{c}"' if " " <= c != "\x7f" else f"U+{ord(c):04X}" for c in sorted(remaining)]
        if expected.end:
            words.append("the end")
        *others, last = words or ["nothing"]
        return f"{', '.join(others)} or {last}" if others else last
