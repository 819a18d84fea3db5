"""The page of the ledger: each statement of the five documents, and what shows it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable

from markdown_cells import cell, code
from statements import LEDGER, Document, Statement, documents

HEAD = """\
# Conformance

Every statement of the five documents that can be followed, checked or broken, in their order and in our own words, with
the tests that show it. Where a document leaves or contradicts something, the [decision](decisions.md) stands instead;
where nothing that a program does could show it, the reason why.
The rows are in `tests/statements/`; this page is written by `make docs`.

`make check` fails on a row that names no test, on a section without a row and on a decision that does not exist;
`make test-all` fails if a test that is named here did not run. Where it was
skipped because a program is not installed, the run names its statement; CI installs all programs.

"""


def page() -> str:
    every = documents()
    lines = [
        HEAD + "| document | statements | shown by tests | decisions | no software can show it |",
        "|---|--:|--:|--:|--:|",
    ]
    lines += [_counts(f"[{each.name}](#{_anchor(each.name)})", each.statements) for each in every]
    lines += [_counts("all", [row for each in every for row in each.statements]), ""]
    if (LEDGER / "power.toml").exists():
        lines += [_power(), ""]
    for each in every:
        lines += [f"## {each.name}", "", f"{each.title}.", "", *_table(each), ""]
    return "\n".join(lines).rstrip() + "\n"


def _power() -> str:
    """Whether the tests notice that the code behind their statements is broken, as it was measured last."""
    found = tomllib.loads((LEDGER / "power.toml").read_text())
    noticed, breaks = found["noticed"], found["breaks"]
    measured = found["statements"] - found["elsewhere"] - found["failing"]
    groups = [
        (found["elsewhere"], "run no code of the package in their own process: grammars as data, command lines, pages"),
        (found["failing"], "do not come to an end in time while their lines are recorded"),
    ]
    notes = "".join(
        f" The tests of {count:,} {'statements' if count > 1 else 'statement'} {why}." for count, why in groups if count
    )
    return (
        "`make mutants STATEMENTS=1` breaks functions that the tests of a statement run, until three breaks have "
        "changed what the package gives these tests, and runs the tests of that statement alone. Of "
        f"{breaks:,} breaks for {measured:,} statements they noticed {noticed:,}, {noticed / breaks:.1%}. "
        f"`tests/statements/unnoticed.toml` says which code is not broken, and why.{notes}"
    )


def _counts(name: str, rows: Iterable[Statement]) -> str:
    rows = list(rows)
    total = sum(bool(row.tests) for row in rows)
    decided = sum(row.decision is not None for row in rows)
    return f"| {name} | {len(rows):,} | {total:,} | {decided:,} | {len(rows) - total - decided:,} |"


def _table(each: Document) -> Iterable[str]:
    yield "| § | statement | shown by |"
    yield "|---|---|---|"
    last = None
    for row in each.statements:
        if row.paragraph != last:
            last = row.paragraph
            title = each.sections[last]
            yield f"| **{'' if title in last else cell(last)}** | **{cell(title)}** | |".replace("****", "")
        yield f"| {cell(row.id)} | {cell(row.statement)} | {_show_row(row)} |"


def _show_row(row: Statement) -> str:
    if row.decision is not None:
        return f"decision {cell(row.decision)}"
    if row.reason is not None:
        return f"*{cell(row.reason)}*"
    return "<br>".join(code(test.removeprefix("tests/")) for test in row.tests)


def _anchor(name: str) -> str:
    return re.sub(r"[^\w\- ]", "", name.lower()).replace(" ", "-")
