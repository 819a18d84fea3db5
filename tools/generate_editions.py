"""docs/editions.md: the editions side by side, what neighbours make differently, and the matrix of texts."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from overthere.cli.editions import elsewhere, rule_name, strings
from overthere.editions import NAMES, edition
from overthere.editions.compare import Difference, diff, matrix
from overthere.editions.readings import MARKS, notes

ROOT = Path(__file__).resolve().parent.parent

HEAD = """\
# The editions

Five documents, each a whole edition: its grammar, its prose, its resolution.
This page is written by `make docs` from the editions themselves; `overthere editions`, `overthere editions diff A B`
and `overthere editions matrix` show the same for any two editions and any texts.

```python
>>> from overthere.editions.compare import diff
>>> [(r.a, r.only_a, r.only_b) for r in diff("url-1997", "rfc3986", "pchar").rules]
[('pchar', (), (';',))]
>>> from overthere.editions.readings import notes, read
>>> notes(read("ftp://u?x@h/"))[0]
'host: h (rfc1738); u (the others)'

```
"""

DIFF_HEAD = """\
Strings are the shortest that one document's rule takes and the other's refuses, one for each kind of reason; single
characters are listed wholly; `a{64}` is 64 times `a`.  A character is shown in the smallest class that holds it.
"""

MATRIX_HEAD = """\
ok: derivable by the letter of the grammar, by the rule that the prose selects; -: not; n/a: the document has no
production for such a text, or the text is a relative reference.  The rows are `tests/cases/matrix.toml`, where each
cites its paragraphs.  Below: what the editions name differently in these texts, by the prose.
"""


def page() -> str:
    lines = [HEAD, *_editions(), ""]
    lines += ["## What neighbours make differently", "", DIFF_HEAD]
    for a, b in pairwise(NAMES):
        lines += [*_difference(diff(a, b)), ""]
    lines += ["## What is valid where", "", MATRIX_HEAD, *_matrix()]
    return "\n".join(lines).rstrip() + "\n"


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    heads = list(heads)
    return [_row(heads), _row(["---"] * len(heads)), *map(_row, rows)]


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _code(text: str) -> str:
    """Text as code in a cell: a bar would end the cell, and a backtick the code."""
    if not text:
        return ""
    fence = "``" if "`" in text else "`"
    pad = " " if "`" in text else ""
    return f"{fence}{pad}{text.replace('|', chr(92) + '|')}{pad}{fence}"


def _editions() -> Iterator[str]:
    editions = [edition(name) for name in NAMES]
    heads = (
        "name",
        "title",
        "date",
        "document",
        "charset of escapes",
        "empty reference",
        "default ports",
        "left to others",
    )
    yield from _table(
        heads,
        (
            (
                f"`{e.name}`", e.title, e.date, e.document, e.charset, e.empty_reference,
                ", ".join(f"{scheme} {port}" for scheme, port in e.ports.items()), elsewhere(e),
            )
            for e in editions
        ),
    )  # fmt: skip


def _difference(found: Difference) -> Iterator[str]:
    a, b = found.a, found.b
    yield from (f"### {a} and {b}", "")
    rows = ((_code(rule_name(r.a, r.b)), _code(strings(r.only_a)), _code(strings(r.only_b))) for r in found.rules)
    yield from _table(("rule", f"only {a}", f"only {b}"), rows)
    if found.same:
        yield from ("", f"The same strings: {', '.join(_code(name) for name in found.same)}.")
    for name, rules in ((a, found.only_a), (b, found.only_b)):
        if rules:
            named = ", ".join(map(_code, rules))
            yield from ("", f"Rules of {name} alone, those that its grammar file adds included: {named}.")
    if found.characters:
        moved = ((_code(strings(tuple(m.characters))), m.a or "(none)", m.b or "(none)") for m in found.characters)
        yield from ("", *_table(("characters", a, b), moved))
    if found.resolution:
        witnesses = (
            (_code(r.base), _code(r.reference) or "(empty)", _code(r.a), _code(r.b), r.kind, str(r.pairs))
            for r in found.resolution
        )
        heads = ("base", "reference", a, b, "what differs", "pairs")
        yield from ("", "Resolution, the plainest witness of each kind of difference:", "", *_table(heads, witnesses))
    for reason in found.not_specified:
        yield from ("", f"Resolution is not compared: {reason}.")


def _matrix() -> Iterator[str]:
    cases = tomllib.loads((ROOT / "tests" / "cases" / "matrix.toml").read_text())["case"]
    found = list(matrix(row["text"] for row in cases))
    yield from _table(
        ("text", *NAMES), ((_code(text) or "(empty)", *(MARKS[r.valid] for r in readings)) for text, readings in found)
    )
    yield ""
    for text, readings in found:
        said = notes(readings)
        if said:
            yield f"- {_code(text)}: " + "; ".join(_code(line) for line in said)
