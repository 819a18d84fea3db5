"""An ABNF parser: RFC 5234 section 4, with the case-sensitive strings of RFC 7405.

`read(text)` turns a rule list into syntax trees.  Terminals are Unicode code points (RFC 5234 2.3
leaves the encoding to the user of the grammar; here it is UTF-8, see `construct`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from overthere.ground.errors import GrammarError

# RFC 5234 Appendix B.1, in the document's order.
CORE = """\
ALPHA  = %x41-5A / %x61-7A
BIT    = "0" / "1"
CHAR   = %x01-7F
CR     = %x0D
CRLF   = CR LF
CTL    = %x00-1F / %x7F
DIGIT  = %x30-39
DQUOTE = %x22
HEXDIG = DIGIT / "A" / "B" / "C" / "D" / "E" / "F"
HTAB   = %x09
LF     = %x0A
LWSP   = *(WSP / CRLF WSP)
OCTET  = %x00-FF
SP     = %x20
VCHAR  = %x21-7E
WSP    = SP / HTAB
"""

# Deeper nesting of groups is rejected: no document comes near it, and recursion stays limited.
MAX_DEPTH = 100
MAX_REPEAT = 10_000


@dataclass(frozen=True, slots=True)
class Literal:
    """A char-val or a concatenation of num-vals: one string (RFC 5234 2.3)."""

    text: str
    case_sensitive: bool


@dataclass(frozen=True, slots=True)
class Range:
    """A value range such as `%x30-39`: one character, both ends included (RFC 5234 3.4)."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Reference:
    """The name of another rule, in lower case (RFC 5234 2.1: names are case-insensitive)."""

    name: str
    line: int


@dataclass(frozen=True, slots=True)
class Concatenation:
    """Items in sequence (RFC 5234 3.1)."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Alternation:
    """Alternatives (RFC 5234 3.2)."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repetition:
    """A repeated item (RFC 5234 3.6 to 3.8); `high` is None without an upper limit."""

    item: Node
    low: int
    high: int | None


Node: TypeAlias = Literal | Range | Reference | Concatenation | Alternation | Repetition


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: its name as printed, its tree, and its own text without comments."""

    name: str
    node: Node
    text: str
    line: int


_RULE_START = re.compile(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*(=/?)")
_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+|;[^\n]*)
      | (?P<repeat>[0-9]*\*[0-9]*|[0-9]+)
      | (?P<name>[A-Za-z][A-Za-z0-9-]*)
      | (?P<string>(?:%[sSiI])?"[\x20\x21\x23-\x7e]*")
      | (?P<number>%[bB][01]+(?:(?:\.[01]+)+|-[01]+)?
                  |%[dD][0-9]+(?:(?:\.[0-9]+)+|-[0-9]+)?
                  |%[xX][0-9A-Fa-f]+(?:(?:\.[0-9A-Fa-f]+)+|-[0-9A-Fa-f]+)?)
      | (?P<prose><[^>\r\n]*>?)
      | (?P<mark>[()\[\]/])""",
    re.VERBOSE,
)
_BASES = {"b": 2, "d": 10, "x": 16}


def read(text: str) -> dict[str, Rule]:
    """Read a rule list (RFC 5234 4).

    Rules begin in the column of the first one; a line that is indented deeper continues the rule
    above it.  `=/` adds alternatives to an earlier rule (3.3).

    Returns: the rules by lower-case name, in the order of the text.
    Raises: GrammarError with line and column.

    >>> sorted(read('greeting = "hi" [ SP name ]\\nname = 1*ALPHA'))
    ['greeting', 'name']
    """
    rules: dict[str, tuple[str, list[Node], list[str], int]] = {}
    for line, margin, body in _split_rules(text):
        match = _RULE_START.match(body)
        if match is None:
            raise GrammarError(
                "a rule must begin with its name and '='", line, margin + 1, " " * margin + body.split("\n")[0]
            )
        name, sign = match.groups()
        node = _RuleReader(body, match.end(), line, margin).rule()
        rule_text = _single_line(body[match.end() :])
        earlier = rules.get(name.lower())
        if sign == "=/" and earlier is None:
            raise GrammarError(f"'=/' adds to the rule {name!r}, which is not defined above", line, margin + 1)
        if sign == "=" and earlier is not None:
            raise GrammarError(f"the rule {name!r} is defined twice (first on line {earlier[3]})", line, margin + 1)
        _, alternatives, texts, _ = rules.setdefault(name.lower(), (name, [], [], line))
        alternatives += node.items if isinstance(node, Alternation) else [node]
        texts.append(rule_text)
    return {
        key: Rule(name, _alternation(nodes), " / ".join(texts), line)
        for key, (name, nodes, texts, line) in rules.items()
    }


def _alternation(nodes: list[Node]) -> Node:
    return nodes[0] if len(nodes) == 1 else Alternation(tuple(nodes))


def _single_line(text: str) -> str:
    """Return the text of a rule on one line without comments; quoted text is unchanged."""
    parts = re.findall(r'"[^"\n]*+"?+|<[^>\n]*+>?+|(?:\s|;[^\n]*+)++|[^";<\s]++', text)
    return "".join(" " if part[0] in " \t\r\n;" else part for part in parts).strip()


def _split_rules(text: str) -> Iterator[tuple[int, int, str]]:
    """Split a rule list by indentation into (line number, margin, rule without its margin)."""
    margin: int | None = None
    start, lines = 0, list[str]()
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        stripped = line.strip(" \t")
        indent = len(line) - len(line.lstrip(" \t"))
        if not stripped or stripped.startswith(";"):
            lines.append("")
            continue
        if margin is None:
            margin = indent
        if indent < margin:
            raise GrammarError("a rule is indented less than the first one", number, indent + 1, line)
        if indent == margin:
            if start:
                yield start, margin, "\n".join(lines)
            start, lines = number, [line[margin:]]
        else:
            lines.append(line[margin:])
    if start:
        yield start, margin or 0, "\n".join(lines)


class _RuleReader:
    """Parses the elements of one rule by recursive descent over its tokens."""

    def __init__(self, text: str, pos: int, line: int, margin: int) -> None:
        self.text, self.pos, self.line, self.margin, self.depth = text, pos, line, margin, 0
        self.token_line = line
        self.kind, self.token, self.at = "", "", pos
        self.step()

    def fail(self, message: str, at: int) -> GrammarError:
        line_start = self.text.rfind("\n", 0, at) + 1
        source_line = self.text[line_start:].split("\n", 1)[0]
        line = self.line + self.text.count("\n", 0, at)
        return GrammarError(message, line, self.margin + at - line_start + 1, " " * self.margin + source_line)

    def step(self) -> None:
        while self.pos < len(self.text):
            match = _TOKEN.match(self.text, self.pos)
            if match is None:
                raise self.fail(f"{self.text[self.pos]!r} is not allowed here", self.pos)
            self.at, self.pos = self.pos, match.end()
            self.token_line += match[0].count("\n")
            if match.lastgroup != "space":
                self.kind, self.token = match.lastgroup or "", match.group()
                return
        self.kind, self.token, self.at = "end", "", len(self.text)

    def rule(self) -> Node:
        node = self.alternation()
        if self.kind != "end":
            raise self.fail(f"{self.token!r} closes nothing", self.at)
        return node

    def alternation(self) -> Node:
        items = [self.concatenation()]
        while self.token == "/":
            self.step()
            items.append(self.concatenation())
        return _alternation(items)

    def concatenation(self) -> Node:
        items: list[Node] = []
        while self.kind in ("repeat", "name", "string", "number", "prose") or self.token in ("(", "["):
            items.append(self.repetition())
        if not items:
            raise self.fail("an element is expected here", self.at)
        return items[0] if len(items) == 1 else Concatenation(tuple(items))

    def repetition(self) -> Node:
        if self.kind != "repeat":
            return self.element()
        spelling, at = self.token, self.at
        if self.text[self.pos : self.pos + 1] in ("", " ", "\t", "\n", "/"):
            raise self.fail("a repeat count must directly precede its element", at)
        low, star, high = spelling.partition("*")
        if len(spelling) > 12:
            raise self.fail(f"more than {MAX_REPEAT} repetitions", at)
        least = int(low or 0)
        most = (int(high) if high else None) if star else least
        if max(least, most or 0) > MAX_REPEAT:
            raise self.fail(f"more than {MAX_REPEAT} repetitions", at)
        if most is not None and most < least:
            raise self.fail(f"{spelling!r} allows nothing: the upper limit is below the lower one", at)
        self.step()
        return Repetition(self.element(), least, most)

    def element(self) -> Node:
        kind, token, at = self.kind, self.token, self.at
        if kind == "name":
            reference = Reference(token.lower(), self.token_line)
            self.step()
            return reference
        if kind == "string":
            self.step()
            return Literal(token[token.index('"') + 1 : -1], token[:2].lower() == "%s")
        if kind == "number":
            self.step()
            return self.number(token, at)
        if kind == "prose":
            raise self.fail(f"a prose value cannot be matched: {token}", at)
        if token in ("(", "["):
            return self.group(token, at)
        raise self.fail("an element is expected here", at)

    def group(self, opening: str, at: int) -> Node:
        closing = ")" if opening == "(" else "]"
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.fail(f"groups nested more than {MAX_DEPTH} deep", at)
        self.step()
        node = self.alternation()
        if self.token != closing:
            raise self.fail(f"{opening!r} is never closed by {closing!r}", at)
        self.depth -= 1
        self.step()
        return node if opening == "(" else Repetition(node, 0, 1)

    def number(self, token: str, at: int) -> Node:
        base, digits = _BASES[token[1].lower()], token[2:]
        numbers = [d.lstrip("0") or "0" for d in re.split(r"[.-]", digits)]
        # No code point has more than 21 digits, in any base.
        if max(map(len, numbers)) > 21 or max(int(d, base) for d in numbers) > 0x10FFFF:
            raise self.fail(f"{token[:24]} is not a Unicode code point", at)
        values = [int(d, base) for d in numbers]
        if "-" in digits:
            if values[0] > values[1]:
                raise self.fail(f"{token} is an empty range", at)
            return Range(values[0], values[1])
        if any(0xD800 <= v <= 0xDFFF for v in values):
            raise self.fail(f"{token} is a surrogate", at)
        return Literal("".join(map(chr, values)), True)
