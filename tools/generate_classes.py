"""The kernel's character classes and address patterns, computed from the grammar of RFC 3986 and RFC 3987."""

from __future__ import annotations

import re
from pathlib import Path

from overthere.grammar import Grammar
from overthere.grammar.abnf import Alternation, Concatenation, Literal, Node, Range, Reference, Repetition

EDITIONS = Path(__file__).resolve().parent.parent / "src" / "overthere" / "editions"

# Rules for which the kernel needs the single characters that match.
RULES = (
    "unreserved", "gen-delims", "sub-delims", "reserved", "userinfo", "reg-name", "port",
    "path", "segment", "segment-nz-nc", "pchar", "query", "fragment", "HEXDIG",
)  # fmt: skip
COUNTS: dict[tuple[int, int | None], str] = {(0, 1): "?", (0, None): "*", (1, None): "+", (1, 1): ""}
PATTERNS = ("IPv6address", "IPvFuture", "IPv4address")


def pattern(grammar: Grammar, node: Node) -> str:
    """A regular expression for a rule; it may backtrack, within the fixed bounds of an address."""
    body = single_class(grammar, node)
    if body is not None:
        return re.escape(body[-1]) if len(body.removeprefix("\\")) == 1 else f"[{body}]"
    match node:
        case Reference(name, _):
            return pattern(grammar, grammar.rule(name).node)
        case Alternation(items):
            return f"(?:{'|'.join(pattern(grammar, i) for i in items)})"
        case Concatenation(items):
            return "".join(pattern(grammar, i) for i in items)
        case Repetition(item, low, high):
            inner = pattern(grammar, item)
            if single_class(grammar, item) is None:
                inner = f"(?:{inner})"
            return inner + COUNTS.get((low, high), f"{{{low}}}" if low == high else f"{{{low},{high or ''}}}")
        case _:
            assert isinstance(node, Literal), node
            return "".join(pattern(grammar, Literal(c, node.case_sensitive)) for c in node.text)


def single_class(grammar: Grammar, node: Node) -> str | None:
    """The inside of a character class, if the node matches single characters only."""
    match node:
        case Reference("hexdig", _):
            return "0-9A-Fa-f"
        case Reference(name, _):
            return single_class(grammar, grammar.rule(name).node)
        case Alternation(items):
            parts = [single_class(grammar, i) for i in items]
            return None if None in parts else "".join(p for p in parts if p)
        case Range(low, high):
            return chr(low) if low == high else f"{escape(chr(low))}-{escape(chr(high))}"
        case Literal(text, case_sensitive) if len(text) == 1:
            return escape(text) if case_sensitive or not text.isalpha() else text.upper() + text.lower()
        case _:
            return None


def escape(char: str) -> str:
    return "\\" + char if char in "\\]^-[" else char


def ranges(node: Node) -> list[tuple[int, int]]:
    assert isinstance(node, Alternation)
    return [(i.low, i.high) for i in node.items if isinstance(i, Range)]


def python() -> str:
    uri = Grammar((EDITIONS / "rfc3986.abnf").read_text())
    iri = Grammar((EDITIONS / "rfc3987.abnf").read_text())
    lines = [
        '"""Character classes and address patterns, generated from rfc3986.abnf and rfc3987.abnf by `make docs`."""',
        "",
        "from __future__ import annotations",
        "",
        "# Rule -> the characters that match alone; `scheme` is what may follow its first letter.",
        "CHARSETS: dict[str, str] = {",
    ]

    def entry(name: str, chars: frozenset[str]) -> str:
        text = "".join(sorted(chars))
        quoted = "'" + text + "'" if '"' in text else '"' + text + '"'
        return f'    "{name}": {quoted},'

    dfa = uri.automaton("scheme")
    after = dfa.follow(dfa.run(b"a")[1])
    lines.append(entry("ALPHA", uri.charset("ALPHA")))
    lines.append(entry("scheme", frozenset(map(chr, after))))
    lines += [entry(rule, uri.charset(rule)) for rule in RULES]
    lines += ["}", "", "# Rule -> regular expression.", "PATTERNS: dict[str, str] = {"]
    for rule in PATTERNS:
        lines += [f'    "{rule}": (']
        text = pattern(uri, uri.rule(rule).node)
        lines += [f'        r"{text[i : i + 90]}"' for i in range(0, len(text), 90)]
        lines += ["    ),"]
    lines += ["}", "", "# RFC 3987 2.2, as code-point ranges."]
    for rule in ("ucschar", "iprivate"):
        lines.append(f"{rule.upper()}: tuple[tuple[int, int], ...] = (")
        lines += [f"    (0x{a:X}, 0x{b:X})," for a, b in ranges(iri.rule(rule).node)]
        lines += [")"]
    return "\n".join(lines) + "\n"
