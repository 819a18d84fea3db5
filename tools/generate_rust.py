"""The classes of the Rust kernel, computed from the grammars of RFC 3986 and RFC 3987."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from overthere.grammar import Grammar
from overthere.iri import JOINED, decodable
from overthere.kernel.classes import IPRIVATE, UCSCHAR
from overthere.kernel.reference import BIDI_CONTROLS

EDITIONS = Path(__file__).resolve().parent.parent / "src" / "overthere" / "editions"

# Constant -> the rule whose single characters it marks.
BITS = ("ALPHA", "SCHEME", "USERINFO", "REG_NAME", "PATH", "QUERY", "HEXDIG", "UNRESERVED")
TEXTS = {
    "ALPHA": "the first letter of a scheme (3.1)",
    "SCHEME": "what may follow it",
    "USERINFO": "`userinfo` (3.2.1), which is also what an IPvFuture holds",
    "REG_NAME": "`reg-name` (3.2.2)",
    "PATH": '`path`: `pchar` and "/" (3.3)',
    "QUERY": "`query` and `fragment` (3.4, 3.5)",
    "HEXDIG": "a hexadecimal digit (2.1)",
    "UNRESERVED": "`unreserved` (2.3)",
}


def tables() -> str:
    """The automata that the kernel itself asks."""
    dfa = Grammar((EDITIONS / "rfc3986.abnf").read_text()).automaton("IP-literal")
    lines = [
        "//! Automata of rules, generated from rfc3986.abnf by `make docs`.",
        "",
        "use std::borrow::Cow;",
        "",
        "use crate::automaton::Automaton;",
        "",
        "/// IP-literal (3.2.2).",
        "#[rustfmt::skip]",
        "pub static IP_LITERAL: Automaton = Automaton {",
        f"    width: {dfa.width},",
        f"    start: {dfa.start},",
        "    classes: Cow::Borrowed(&[",
    ]
    lines += ["        " + " ".join(f"{c}," for c in dfa.classes[i : i + 32]) for i in range(0, 256, 32)]
    lines += ["    ]),", "    table: Cow::Borrowed(&["]
    rows = range(0, len(dfa.table), dfa.width)
    lines += ["        " + " ".join(f"{t}," for t in dfa.table[i : i + dfa.width]) for i in rows]
    accepting = ", ".join(map(str, sorted(dfa.accepting)))
    return "\n".join([*lines, "    ]),", f"    accepting: Cow::Borrowed(&[{accepting}]),", "};"]) + "\n"


def rust() -> str:
    grammar = Grammar((EDITIONS / "rfc3986.abnf").read_text())
    scheme = grammar.automaton("scheme")
    sets = {
        bit: grammar.charset(bit.lower().replace("_", "-") if bit not in ("ALPHA", "HEXDIG") else bit) for bit in BITS
    }
    sets["SCHEME"] = frozenset(map(chr, scheme.follow(scheme.run(b"a")[1])))
    assert grammar.charset("query") == grammar.charset("fragment")
    future = grammar.automaton("IPvFuture")
    assert frozenset(map(chr, future.follow(future.run(b"v1.a")[1]))) == sets["USERINFO"]
    lines = [
        "//! What each byte may be, as bits: generated from rfc3986.abnf and rfc3987.abnf by `make docs`.",
        "//!",
        '//! "%" is in no class: what follows it is looked at apart.',
        "",
    ]
    for number, bit in enumerate(BITS):
        lines += [f"/// The bit of {TEXTS[bit]}.", f"pub const {bit}: u8 = {1 << number};"]
    lines += ["", "/// The bits of each byte.", "#[rustfmt::skip]", "pub static CLASS: [u8; 256] = ["]
    values = [sum(1 << n for n, bit in enumerate(BITS) if chr(b) in sets[bit]) for b in range(256)]
    lines += ["    " + " ".join(f"{v}," for v in values[i : i + 16]) for i in range(0, 256, 16)]
    return "\n".join([*lines, "];", *_iri_classes()]) + "\n"


def _iri_classes() -> Iterator[str]:
    """The additional characters of IRIs."""
    controls, joined = re.compile(f"[{BIDI_CONTROLS}]"), re.compile(f"[{JOINED}]")
    shows = decodable(private=True)
    assert all(shows.match(chr(c)) for first, last in IPRIVATE for c in range(first, last + 1))

    def stands_alone(c: str) -> bool:
        return bool(shows.match(c)) and not joined.match(c)

    for name, ranges, has, text in (
        ("UCSCHAR", UCSCHAR, lambda c: not controls.match(c), "`ucschar` (RFC 3987 2.2) without the controls of 4.1"),
        ("BIDI_CONTROLS", UCSCHAR, controls.match, "The controls of RFC 3987 4.1"),
        ("IPRIVATE", IPRIVATE, lambda c: True, "`iprivate` (RFC 3987 2.2)"),
        ("SHOWN", UCSCHAR, stands_alone, "What takes the place of its escapes (RFC 3987 3.2) wherever it stands"),
        ("JOINED", UCSCHAR, joined.match, "What does so behind a character that does"),
    ):
        runs = list(_runs(c for first, last in sorted(ranges) for c in range(first, last + 1) if has(chr(c))))
        yield from ("", f"/// {text}, in their order.", "#[rustfmt::skip]")
        yield f"pub static {name}: [(char, char); {len(runs)}] = ["
        yield from (f"    ('\\u{{{first:x}}}', '\\u{{{last:x}}}')," for first, last in runs)
        yield "];"


def _runs(points: Iterable[int]) -> Iterator[tuple[int, int]]:
    first = last = -2
    for point in points:
        if point > last + 1:
            if last >= 0:
                yield first, last
            first = point
        last = point
    if last >= 0:
        yield first, last
