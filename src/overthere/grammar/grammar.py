"""A grammar: the rules of one document, their automata, and their descriptions for people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from overthere.grammar.automaton import Automaton, Expected
from overthere.grammar.tables import load
from overthere.ground.errors import GrammarError
from overthere.ground.redact import mask

if TYPE_CHECKING:
    from overthere.grammar.abnf import Rule

__all__ = ["Grammar"]

# What a reader is told instead of a list of characters: rule -> words, the widest first.
_WORDS = (
    ("ipchar", "ipchar"),
    ("pchar", "pchar"),
    ("unreserved", "unreserved"),
    ("sub-delims", "sub-delims"),
    ("pct-encoded", "pct-encoded"),
    ("ALPHA", "a letter"),
    ("HEXDIG", "a hexadecimal digit"),
    ("DIGIT", "a digit"),
)


def _key(name: str) -> str:
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
            # The reader of ABNF and the builder of automata are loaded where no table serves.
            from overthere.grammar.abnf import read

            self._rules = read(self.text)
        return self._rules

    def __contains__(self, name: object) -> bool:
        """Whether `rules` has the name; they are read only where neither a table nor the text itself tells.

        >>> from overthere.editions import edition
        >>> "pchar" in edition("rfc3986").grammar, "httpurl" in edition("rfc3986").grammar
        (True, False)
        """
        if name in self._ready:
            return True
        return isinstance(name, str) and name in self.text.lower() and name in self.rules

    def rule(self, name: str) -> Rule:
        """The rule `name`, the core rules of RFC 5234 B.1 included.  Raises: GrammarError.

        Names have no case (2.1), and "_" is read as "-": older notations have it in names, ABNF has not.
        """
        if not self._core:
            from overthere.grammar.abnf import CORE, read

            self._core = read(CORE)
        rule = self.rules.get(_key(name)) or self._core.get(_key(name))
        if rule is None:
            raise GrammarError(f"there is no rule {mask(name)!r:.100}")
        return rule

    def automaton(self, name: str) -> Automaton:
        """The minimal automaton of the rule `name`.  Raises: GrammarError, NotRegular."""
        key = _key(name)
        if key not in self._automata:
            from overthere.grammar.construct import build

            self.rule(name)
            self._automata[key] = build({**self._core, **self.rules}, key)
        return self._automata[key]

    def charset(self, name: str) -> frozenset[str]:
        """The US-ASCII characters that the rule matches alone.

        >>> from overthere.editions import edition
        >>> "".join(sorted(edition("rfc3986").grammar.charset("sub-delims")))
        "!$&'()*+,;="
        """
        dfa = self.automaton(name)
        return frozenset(
            chr(b) for b in range(128) if dfa.table[dfa.start * dfa.width + dfa.classes[b]] in dfa.accepting
        )

    def first(self, name: str) -> frozenset[str]:
        """The US-ASCII characters with which the rule can begin."""
        if name not in self._firsts:
            self._firsts[name] = frozenset(chr(b) for b in self.automaton(name).follow() if b < 0x80)
        return self._firsts[name]

    def describe(self, expected: Expected, unless: tuple[str, ...] = ()) -> str:
        """The allowed characters, in words: `pchar, "/", "?", "#" or the end`.

        unless: rules that are spelled out, because their name would say too much there.
        """
        left = set(expected.characters)
        words: list[str] = []
        for name, spoken in _WORDS:
            if name not in unless and (name.lower() in self or name.isupper()):
                held = self.first(name)
                if held <= left:
                    words.append(spoken)
                    left -= held
        if expected.non_ascii and "ipchar" not in words:
            words.append("a character above U+007F")
        words += [f'"{c}"' if " " <= c != "\x7f" else f"U+{ord(c):04X}" for c in sorted(left)]
        if expected.end:
            words.append("the end")
        return _enumerate(words)


def _enumerate(words: Iterable[str]) -> str:
    *most, last = list(words) or ["nothing"]
    return f"{', '.join(most)} or {last}" if most else last
