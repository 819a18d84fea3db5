"""docs/editions.md: the editions, the differences between neighbours, and the matrix of texts."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import statements
from markdown_cells import cell, code, table
from overthere.cli.editions import describe_elsewhere, rule_name, strings
from overthere.editions import NAMES, edition
from overthere.editions.compare import Difference, diff, matrix
from overthere.editions.readings import MARKS, notes

ROOT = Path(__file__).resolve().parent.parent

HEAD = """\
# The editions

Five documents, each a complete edition: grammar, prose and resolution.
`make docs` writes this page from the editions themselves; `overthere editions`, `overthere editions diff A B`
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
The strings are the shortest that one document's rule allows and the other's does not, one for each kind of reason.
Single characters are listed completely; `a{64}` is 64 times `a`.  A character is shown in the smallest class that
contains it.
"""

MATRIX_HEAD = """\
ok: the grammar derives the text by the rule that the prose selects; -: it does not; n/a: the document has no production
for such a text, or the text is a relative reference.  The rows are those of `tests/cases/matrix.toml`, which cites
their sections.  Below the table: components that the editions name differently in these texts, by their prose.
"""


CHANGES_HEAD = """\
The changes that three of the documents list themselves (1997 Appendix F, 2003 Appendix G, RFC 3986 Appendix D), in our
words, and the computed difference that shows each: between two editions, or to an RFC that has no edition here.  The
rows are those of `tests/changes.toml`; `tests/editions/test_changes.py` computes each difference again.
"""


def page() -> str:
    lines = [HEAD, *_editions(), ""]
    lines += ["## Differences between neighbours", "", DIFF_HEAD]
    for a, b in pairwise(NAMES):
        lines += [*_difference(diff(a, b)), ""]
    lines += ["## Changes by the documents' own account", "", CHANGES_HEAD, *_changes(), ""]
    lines += ["## Validity by edition", "", MATRIX_HEAD, *_matrix()]
    return "\n".join(lines).rstrip() + "\n"


def _changes() -> list[str]:
    rows_by_id = {row.id: row for each in statements.documents() for row in each.statements}
    changes = tomllib.loads((ROOT / "tests" / "changes.toml").read_text())["change"]
    rows = [
        [
            change["id"],
            cell(rows_by_id[change["id"]].statement),
            "; ".join(map(_show_difference, change.get("shows", ()))) or cell(change["reason"]),
        ]
        for change in changes
    ]
    return table(("item", "statement", "difference that shows it, or why there is none"), rows)


def _show_difference(shown: dict[str, Any]) -> str:
    """A computed difference: `between` which two, and what is to be found there."""
    place = ", ".join(f"{name.replace('_', ' ')} {_value(value)}" for name, value in shown.items() if name != "between")
    return f"{' and '.join(shown['between'])}: {place}"


def _value(value: str | list[str]) -> str:
    return " / ".join(map(_value, value)) if isinstance(value, list) else code(value) or "(empty)"


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
    yield from table(
        heads,
        (
            (
                f"`{e.name}`", e.title, e.date, e.document, e.charset, e.empty_reference,
                ", ".join(f"{scheme} {port}" for scheme, port in e.ports.items()), describe_elsewhere(e),
            )
            for e in editions
        ),
    )  # fmt: skip


def _difference(difference: Difference) -> Iterator[str]:
    a, b = difference.a, difference.b
    yield from (f"### {a} and {b}", "")
    rows = ((code(rule_name(r.a, r.b)), code(strings(r.only_a)), code(strings(r.only_b))) for r in difference.rules)
    yield from table(("rule", f"only {a}", f"only {b}"), rows)
    if difference.same:
        yield from ("", f"The same strings: {', '.join(code(name) for name in difference.same)}.")
    for name, rules in ((a, difference.only_a), (b, difference.only_b)):
        if rules:
            named = ", ".join(map(code, rules))
            yield from ("", f"Rules only in {name}, including those that its grammar file adds: {named}.")
    if difference.characters:
        moved = ((code(strings(tuple(m.characters))), m.a or "(none)", m.b or "(none)") for m in difference.characters)
        yield from ("", *table(("characters", a, b), moved))
    if difference.resolution:
        witnesses = (
            (code(r.base), code(r.reference) or "(empty)", code(r.a), code(r.b), r.kind, str(r.pairs))
            for r in difference.resolution
        )
        heads = ("base", "reference", a, b, "difference", "pairs")
        yield from ("", "Resolution, with the simplest example of each difference:", "", *table(heads, witnesses))
    for reason in difference.not_specified:
        yield from ("", f"Resolution is not compared: {reason}.")


def _matrix() -> Iterator[str]:
    cases = tomllib.loads((ROOT / "tests" / "cases" / "matrix.toml").read_text())["case"]
    results = list(matrix(row["text"] for row in cases))
    yield from table(
        ("text", *NAMES), ((code(text) or "(empty)", *(MARKS[r.valid] for r in readings)) for text, readings in results)
    )
    yield ""
    for text, readings in results:
        notes_text = notes(readings)
        if notes_text:
            yield f"- {code(text)}: " + "; ".join(code(line) for line in notes_text)
