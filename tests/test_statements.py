"""The ledger of statements holds together.  That its tests exist asks tools/statements.py, that they ran conftest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import statements
from support import ROOT


def test_the_ledger_holds_together() -> None:
    assert statements.faults() == []


def test_files_are_short() -> None:
    long = [file for file in statements.LEDGER.rglob("*.toml") if file.read_text().count("\n") > 420]
    assert long == []


@pytest.mark.parametrize("extra", [{}, {"reason": "r", "decision": "3986-1"}, {"tests": []}, {"reason": "r", "x": 1}])
def test_a_row_has_one_thing_that_shows_it(extra: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="one of tests, decision, reason"):
        statements._statement({"id": "1", "paragraph": "1", "statement": "s", **extra})


def test_a_ledger_with_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    def row(number: str, paragraph: str, decision: str) -> statements.Statement:
        return statements.Statement(number, paragraph, "s", (), decision, None)

    rows = (row("a", "2", "3986-1"), row("a", "1", "3986-1"), row("b", "9", "3986-0"))
    made = statements.Document("D", "t", {"1": "One", "2": "Two", "3": "Three"}, rows)
    monkeypatch.setattr(statements, "documents", lambda: (made,))
    assert statements.faults() == [
        "D: no statement of section 3",
        "b: no section 9",
        "b: no decision 3986-0",
        "D: its rows are not in the order of its sections",
        "a: 2 rows have this id",
    ]


def test_what_is_lacking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        statements, "named", lambda: {"f::a": ["1"], "f::b[x]": ["1", "2"], "f::c": ["3"], "g::d": ["4"]}
    )
    assert list(statements.lacking(["f::a", "f::b[y]", "f::c[1]", "f::c[2]"])) == ["f::b[x] (of 1, 2)", "g::d (of 4)"]
    assert list(statements.lacking(["f::c[1]"], among=["f::b[x]", "f::c[1]"])) == ["f::b[x] (of 1, 2)"]
    assert list(statements.lacking([], among=[])) == []


# A suite of its own, whose ledger names a test of each kind, under this project's conftest.py.
SUITE = """
import pytest

def test_passes(): pass

@pytest.mark.parametrize("row", ["one", "two"])
def test_rows(row):
    if row == "two":
        pytest.skip("ada is absent")
"""


@pytest.mark.parametrize("workers", ["0", "2"])
@pytest.mark.parametrize(
    ("name", "asked", "ends", "said"),
    [
        ("test_suite.py::test_passes", [], 0, None),
        ("test_suite.py::test_rows", [], 0, None),
        ("test_suite.py::test_rows[two]", [], 1, "test_suite.py::test_rows[two] (of 1)"),
        ("test_suite.py::test_gone", [], 1, "test_suite.py::test_gone (of 1)"),
        ("test_suite.py::test_rows[two]", ["test_suite.py"], 0, None),
        ("test_suite.py::test_rows[two]", ["-k", "rows"], 0, None),
        ("test_other.py::test_gone", ["--ignore-glob=test_other.py"], 0, None),
        ("test_suite.py::test_rows[two]", ["--ignore-glob=test_other.py"], 1, "test_suite.py::test_rows[two] (of 1)"),
    ],
)
def test_a_run_fails_where_a_named_test_did_not_run(
    tmp_path: Path, workers: str, name: str, asked: list[str], ends: int, said: str | None
) -> None:
    (tmp_path / "test_suite.py").write_text(SUITE)
    (tmp_path / "conftest.py").write_text(
        f"import sys\nsys.path[:0] = {[str(ROOT / 'tests'), str(ROOT / 'tools')]!r}\n"
        f"import statements\nstatements.named = lambda: {{{name!r}: ['1']}}\n"
        + f"exec(compile(open({str(ROOT / 'conftest.py')!r}).read(), 'conftest.py', 'exec', dont_inherit=True))\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\ntestpaths = .\n")
    run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", workers, *asked]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == ends, done.stdout + done.stderr
    assert ("named by tests/statements" in done.stdout) is (said is not None)
    assert said is None or said in done.stdout
