"""The ledger of statements is consistent.  tools/statements.py and conftest.py check that its tests exist and ran."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import statements
from support import ROOT


def test_the_ledger_is_consistent() -> None:
    assert statements.faults() == []


def test_a_row_belongs_to_its_document(monkeypatch: pytest.MonkeyPatch) -> None:
    assert statements.in_another_edition() == []
    monkeypatch.setattr(statements, "read_in", lambda: dict.fromkeys(statements.tests_by_name(), "url-2000"))
    assert len(statements.in_another_edition()) > 1000


def test_files_are_short() -> None:
    long = [file for file in statements.LEDGER.rglob("*.toml") if file.read_text().count("\n") > 420]
    assert long == []


@pytest.mark.parametrize("extra", [{}, {"reason": "r", "decision": "3986-1"}, {"tests": []}, {"reason": "r", "x": 1}])
def test_a_row_has_either_tests_a_decision_or_a_reason(extra: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="one of tests, decision, reason"):
        statements._statement({"id": "1", "paragraph": "1", "statement": "s", **extra})


def test_faults_of_a_ledger_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def row(number: str, paragraph: str, decision: str) -> statements.Statement:
        return statements.Statement(number, paragraph, "s", (), decision, None)

    rows = (row("a", "2", "3986-1"), row("a", "1", "3986-1"), row("b", "9", "3986-0"))
    document = statements.Document("D", "t", {"1": "One", "2": "Two", "3": "Three"}, rows)
    monkeypatch.setattr(statements, "documents", lambda: (document,))
    assert statements.faults() == [
        "D: no statement of section 3",
        "b: no section 9",
        "b: no decision 3986-0",
        "D: its rows are not in the order of its sections",
        "a: 2 rows have this id",
    ]


def test_missing_parts_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        statements, "tests_by_name", lambda: {"f::a": ["1"], "f::b[x]": ["1", "2"], "f::c": ["3"], "g::d": ["4"]}
    )
    assert list(statements.missing_tests(["f::a", "f::b[y]", "f::c[1]", "f::c[2]"])) == [
        "f::b[x]",
        "g::d",
    ]
    assert list(statements.missing_tests(["f::c[1]"], among=["f::b[x]", "f::c[1]"])) == ["f::b[x]"]
    assert list(statements.missing_tests([], among=[])) == []


# A separate suite with a ledger that names a test of each kind, under this project's conftest.py.
SUITE = """
import pytest

def test_passes(): pass

@pytest.mark.parametrize("row", ["one", "two"])
def test_rows(row):
    if row == "two":
        pytest.skip("ada is absent")
"""


LEDGER = {"test_suite.py::test_passes": ["1"], "test_suite.py::test_rows[two]": ["2"]}


def run_suite(folder: Path, ledger: dict[str, list[str]], *arguments: str, servers: str = "") -> tuple[int, str]:
    """Run `SUITE` under this project's conftest.py.  Returns: the exit status, the output."""
    (folder / "test_suite.py").write_text(SUITE)
    (folder / "conftest.py").write_text(
        f"import sys\nsys.path[:0] = {[str(ROOT / 'tests'), str(ROOT / 'tools')]!r}\n"
        f"import statements\nstatements.tests_by_name = lambda: {ledger!r}\n"
        f"exec(compile(open({str(ROOT / 'conftest.py')!r}).read(), 'conftest.py', 'exec', dont_inherit=True))\n"
    )
    (folder / "pytest.ini").write_text("[pytest]\ntestpaths = .\n")
    run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    env = os.environ | {"OVERTHERE_SERVERS": servers}
    result = subprocess.run(run, cwd=folder, env=env, capture_output=True, text=True, check=False)
    return result.returncode, result.stdout


@pytest.mark.parametrize("arguments", [["-n2", "--dist", "worksteal"], ["-n0"]])
def test_a_run_fails_if_a_named_test_did_not_run(tmp_path: Path, arguments: list[str]) -> None:
    status, output = run_suite(tmp_path, LEDGER | {"test_suite.py::test_lost": ["3"]}, *arguments)
    assert status == 1
    assert "test_suite.py::test_lost (of 3)" in output
    assert "(of 1)" not in output
    assert "(of 2)" not in output, "it was skipped for a listed reason"


def test_a_named_test_may_be_skipped_for_a_listed_reason(tmp_path: Path) -> None:
    assert run_suite(tmp_path, LEDGER)[0] == 0
    assert run_suite(tmp_path, {"test_suite.py::test_lost": ["3"]}, "test_suite.py")[0] == 0, "a part of the suite"


def test_no_named_test_may_be_skipped_if_servers_are_required(tmp_path: Path) -> None:
    status, output = run_suite(tmp_path, LEDGER, servers="required")
    assert status == 1
    assert "test_suite.py::test_rows[two] (of 2)" in output


def test_a_statement_is_not_shown_if_all_its_tests_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [statements.Statement(id, "1", "", tests, None, None) for id, tests in (("1", ("a", "b")), ("2", ("b",)))]
    documents = (statements.Document("", "", {}, (*rows, statements.Statement("3", "1", "", (), None, "why"))),)
    monkeypatch.setattr(statements, "documents", lambda: documents)
    assert statements.shown_only_by([]) == []
    assert statements.shown_only_by(["b"]) == ["2"]
    assert statements.shown_only_by(["a", "b"]) == ["1", "2"]


@pytest.mark.parametrize(
    ("options", "collected", "messages"),
    [
        ({}, ["f::a", "f::b"], ["f::b", "g::c"]),
        ({"ignore_glob": ["g"]}, ["f::a", "f::b"], ["f::b"]),
        ({"ignore": ["g"]}, ["f::a"], []),
        ({"keyword": "a"}, ["f::a"], []),
        ({"markexpr": "a"}, ["f::a"], []),
        ({"deselect": ["f::b"]}, ["f::a"], []),
        ({"collectonly": True}, ["f::a"], []),
        (None, ["f::a"], []),
    ],
)
def test_the_arguments_of_a_run(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, object] | None, collected: list[str], messages: list[str]
) -> None:
    """None: files were named on the command line."""
    monkeypatch.setattr(statements, "tests_by_name", lambda: {"f::a": ["1"], "f::b": ["2"], "g::c": ["3"]})
    none = {"keyword": "", "markexpr": "", "deselect": None, "collectonly": False, "ignore": None, "ignore_glob": None}
    source = pytest.Config.ArgsSource
    config: Any = SimpleNamespace(
        option=SimpleNamespace(**{**none, **(options or {})}),
        args_source=source.ARGS if options is None else source.TESTPATHS,
        ArgsSource=source,
    )
    assert statements.not_run(config, {"f::a"}, collected) == messages
    config.workerinput = {}
    assert statements.not_run(config, {"f::a"}, collected) == []


# -- the sections compared with the printed documents, if they are available

PRINTS = ROOT.parent / "shared" / "rfc"
HEADINGS = {
    "rfc1738": ("rfc1738.txt", "2. General URL Syntax", r"^(\d\d?(?:\.\d+)*)\.? +([A-Z].*?)$"),
    "url1997": ("drafts/draft-fielding-url-syntax-05.txt", "1. Introduction", r"^(\d\d?(?:\.\d+)*)\.? +([A-Z].*?)$"),
    "rfc3986": ("rfc3986.txt", "1.  Introduction\n\n   A Uniform", r"^(\d+(?:\.\d+)*)\.  (\S.*?)$"),
}


@pytest.mark.parametrize("name", HEADINGS)
def test_sections_agree_with_the_printed_document(name: str) -> None:
    """Every numbered heading is a section of the ledger, in the same order."""
    file, start, heading = HEADINGS[name]
    if not (PRINTS / file).exists():
        pytest.skip("../shared/rfc is absent")
    text = (PRINTS / file).read_text("latin-1")
    titles = [
        f"{number} {title.strip()}" for number, title in re.findall(heading, text[text.rindex(start) :], re.MULTILINE)
    ]
    sections = statements.document(statements.LEDGER / name).sections
    ours = [number if title in number else f"{number} {title}" for number, title in sections.items()]
    assert [title for title in ours if title in titles] == titles
