"""The ledger: every statement of the five documents, and what shows it; in tests/statements, a folder a document.

python tools/statements.py asks pytest which tests there are, and fails where the ledger names others.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).resolve().parent.parent
LEDGER = ROOT / "tests" / "statements"
CASES = ROOT / "tests" / "cases"
FOLDERS = ("url1994", "rfc1738", "url1997", "uri2003", "rfc3986")
"""In the order in which the documents were written."""
EDITIONS = dict(zip(FOLDERS, ("url-1994", "rfc1738", "url-1997", "uri-2003", "rfc3986"), strict=True))
"""Each document, and the edition that reads as it says."""
READ = {"tests/schemes/test_schemes.py::test_row": "schemes", "tests/values/test_base.py::test_cases": "base"}
"""Tests of case rows that are read in an edition, RFC 3986 unless a row says otherwise, and where the rows lie."""
SHOWN = ("tests", "decision", "reason")
"""Each row has one: tests that pytest collects, an entry of docs/decisions.md, why no software can show it."""


@dataclass(frozen=True)
class Statement:
    """One statement: where it stands, what it says, and what shows it."""

    id: str
    paragraph: str
    statement: str
    tests: tuple[str, ...]
    decision: str | None
    reason: str | None


@dataclass(frozen=True)
class Document:
    """A document: its sections in order, with their titles, and its statements in order."""

    name: str
    title: str
    sections: dict[str, str]
    statements: tuple[Statement, ...]


def documents() -> tuple[Document, ...]:
    """The ledger as in its files; those of a folder follow one another by the order of their sections."""
    return tuple(document(LEDGER / name) for name in FOLDERS)


@cache
def document(folder: Path) -> Document:
    """One folder: sections.toml, and files of rows in the order in which it names them.

    Raises: ValueError for a row or a file that is not as it should be.
    """
    about = tomllib.loads((folder / "sections.toml").read_text())
    names = {file.name for file in folder.glob("*.toml")} - {"sections.toml"}
    if names != set(about["files"]):
        raise ValueError(f"{folder.name}/sections.toml does not name just the files beside it")
    rows = [row for name in about["files"] for row in tomllib.loads((folder / name).read_text())["statement"]]
    return Document(about["name"], about["title"], dict(about["sections"]), tuple(map(_statement, rows)))


def _statement(row: dict[str, object]) -> Statement:
    if len([key for key in SHOWN if row.get(key)]) != 1 or set(row) - {"id", "paragraph", "statement", *SHOWN}:
        raise ValueError(f"{row.get('id')}: a row has an id, a paragraph, a statement, and one of {', '.join(SHOWN)}")
    tests = row.get("tests", [])
    assert isinstance(tests, list)
    decision, reason = row.get("decision"), row.get("reason")
    return Statement(
        str(row["id"]),
        str(row["paragraph"]),
        str(row["statement"]),
        tuple(map(str, tests)),
        None if decision is None else str(decision),
        None if reason is None else str(reason),
    )


def tests_by_name() -> dict[str, list[str]]:
    """The tests that the ledger names, each with the ids of the statements that it shows."""
    by_test: dict[str, list[str]] = {}
    for each in documents():
        for row in each.statements:
            for test in row.tests:
                by_test.setdefault(test, []).append(row.id)
    return by_test


def decisions() -> set[str]:
    """The names of the entries of docs/decisions.md: the bold words at the beginning, or the numbers among them."""
    text = (ROOT / "docs" / "decisions.md").read_text()
    names: set[str] = set()
    for heading in re.findall(r"^(?:- )?\*\*(.+?)\*\*", text, re.MULTILINE):
        numbers = re.match(r"\d+-\d+(?:, \d+-\d+)*", heading)
        names |= set(numbers[0].split(", ")) if numbers else {heading.strip(" .,:")}
    return names


def faults() -> list[str]:
    """The errors in the ledger itself, whatever tests exist."""
    entries, wrong = decisions(), []
    for each in documents():
        order = list(each.sections)
        with_rows = {row.paragraph for row in each.statements}
        wrong += [f"{each.name}: no statement of section {number}" for number in order if number not in with_rows]
        wrong += [f"{row.id}: no section {row.paragraph}" for row in each.statements if row.paragraph not in order]
        wrong += [
            f"{row.id}: no decision {row.decision}" for row in each.statements if row.decision not in {None, *entries}
        ]
        places = [order.index(row.paragraph) for row in each.statements if row.paragraph in order]
        wrong += [f"{each.name}: its rows are not in the order of its sections"] * (places != sorted(places))
    ids = Counter(row.id for each in documents() for row in each.statements)
    return wrong + [f"{name}: {count} rows have this id" for name, count in ids.items() if count > 1]


@cache
def read_in() -> dict[str, str]:
    """The edition in which each row of `READ` is read, by the id of its test."""
    edition_of: dict[str, str] = {}
    for test, place in READ.items():
        path = CASES / place
        files = [path.with_suffix(".toml")] if not path.is_dir() else sorted(path.glob("*.toml"))
        for file in files:
            prefix = f"{file.stem}-" if path.is_dir() else ""
            for row in tomllib.loads(file.read_text())["case"]:
                id = f"{prefix}{row['id']}"
                edition_of[f"{test}[{id}]"] = row.get("edition", "rfc3986")
                edition_of |= {f"{test}[{id}@{name}]": name for name in row.get("also", ())}
    return edition_of


def in_another_edition() -> list[str]:
    """The rows of statements that are read in another edition than that of the statement's document."""
    return [
        f"{row.id}: {test} is read as {read_edition}, not as {EDITIONS[folder]}: name the edition in the row's `also`"
        for folder, each in zip(FOLDERS, documents(), strict=True)
        for row in each.statements
        for test in row.tests
        if (read_edition := read_in().get(test, EDITIONS[folder])) != EDITIONS[folder]
    ]


def missing_tests(existing: Iterable[str], among: Iterable[str] | None = None) -> Iterator[str]:
    """The tests that the ledger names and `known` lacks; for a function, one of its rows is enough.

    among: the collected tests, if only these are required.
    """
    functions, collected = _functions(existing), None if among is None else _functions(among)
    for test in tests_by_name():
        if test not in functions and (collected is None or test in collected):
            yield test


def with_ids(test: str) -> str:
    """A test with the ids of the statements that it shows."""
    return f"{test} (of {', '.join(tests_by_name()[test])})"


def shown_only_by(tests: Collection[str]) -> list[str]:
    """The ids of the statements that no other tests show."""
    return [row.id for each in documents() for row in each.statements if row.tests and set(row.tests) <= set(tests)]


def not_run(config: pytest.Config, passed: Collection[str], collected: Collection[str]) -> list[str]:
    """The tests that the ledger names and that have not passed, at the end of a run of the whole suite; otherwise none.

    A run that leaves tests out (-m, --ignore, --ignore-glob) must run only the tests that it collected, like each half
    of `make test-all`.  A worker of xdist is not checked, as it runs a part.
    """
    options = config.option
    is_complete = config.args_source is config.ArgsSource.TESTPATHS and not hasattr(config, "workerinput")
    if not is_complete or options.keyword or options.deselect or options.collectonly:
        return []
    in_part = options.markexpr or options.ignore or options.ignore_glob
    return list(missing_tests(passed, collected if in_part else None))


def _functions(tests: Iterable[str]) -> set[str]:
    """The tests, and those without the row in brackets."""
    names = set(tests)
    return names | {test.partition("[")[0] for test in names}


def main() -> int:
    """Asks pytest what it collects from the files that the ledger names."""
    import pytest

    class CollectionPlugin:
        ids: tuple[str, ...] = ()

        def pytest_collection_finish(self, session: pytest.Session) -> None:
            self.ids = tuple(item.nodeid for item in session.items)

    wrong = faults() + in_another_edition()
    if not wrong:
        plugin = CollectionPlugin()
        files = sorted({test.partition("::")[0] for test in tests_by_name()})
        missing = [file for file in files if not (ROOT / file).exists()]
        with contextlib.redirect_stdout(io.StringIO()) as output:
            ended = pytest.main(["--collect-only", *[file for file in files if file not in missing]], [plugin])
        wrong += [f"there is no file {file}" for file in missing]
        wrong += [f"pytest cannot collect them:\n{output.getvalue()}"] * (ended != pytest.ExitCode.OK)
        wrong += [f"no such test: {with_ids(test)}" for test in missing_tests(plugin.ids)]
    for line in wrong:
        print(line, file=sys.stderr)
    return bool(wrong)


if __name__ == "__main__":
    raise SystemExit(main())
