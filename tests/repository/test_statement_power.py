"""The code changes of `make mutants STATEMENTS=1`: their effects, and that unrelated tests do not notice them."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from breaks import breaks, carried_out, loaded_functions
from statement_power import reasons
from support import ROOT

CODE = '''
class A:
    def f(self, x: int = 1) -> int:
        """1"""
        if x == 2 and self:
            raise ValueError(1)
        self.g(3)
        return x + x

def g(x: bool) -> None:
    x -= x
    return None
'''
CHANGES = {
    "the condition is turned round": "not (x == 2 and self)",
    "the comparison is turned round": "x != 2 and self",
    "and is or, or is and": "x == 2 or self",
    "nothing is raised": "pass",
    "nothing is done": "pass",
    "nothing is returned": "return",
    "plus is minus, minus is plus": "return x - x",
    "the number is another": "== 3",
}


def test_each_change_is_made_once_at_its_place(tmp_path: Path) -> None:
    (file := tmp_path / "a.py").write_text(CODE)
    changes = breaks(str(file))
    assert {(change.change, change.function) for change in changes} == {
        *((change, "A.f") for change in CHANGES),
        ("nothing is done", "g"),
    }
    # Not docstrings, defaults, annotations or words of messages; but calls and comparisons.
    numbers = [change.line for change in changes if change.change == "the number is another"]
    assert sorted(numbers) == [5, 7]


@pytest.mark.parametrize("change", CHANGES)
def test_a_break_changes_functions_in_use(tmp_path: Path, change: str) -> None:
    (file := tmp_path / "a.py").write_text(CODE)
    spec = spec_from_file_location("a", file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    loaded_functions.cache_clear()
    before = module.A.f.__code__.co_code, module.A.f.__code__.co_consts
    change_of = next(item for item in breaks(str(file)) if (item.change, item.function) == (change, "A.f"))
    assert carried_out(change_of)
    assert (module.A.f.__code__.co_code, module.A.f.__code__.co_consts) != before


def run_statement(*ids: str) -> str:
    command = [sys.executable, str(ROOT / "tools" / "statement_power.py"), "--jobs", "1", *ids]
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=600, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.mark.skipif(os.name == "nt", reason="processes are forked on POSIX only")
def test_a_statement_notices_a_break() -> None:
    output = run_statement("3986-6.2.3-5")
    assert "'statements': 1, 'elsewhere': 0, 'failing': 0, 'breaks': 3, 'noticed': 3" in output


def test_a_reason_names_an_existing_function() -> None:
    for file, function in reasons():
        assert function in {"", *(item.function for item in breaks(file))}, file


def test_a_break_of_an_unused_function_is_reported(tmp_path: Path) -> None:
    """It does not count as noticed if nothing was broken."""
    (file := tmp_path / "a.py").write_text(CODE)
    (first, *_) = breaks(str(file))
    assert not carried_out(first)
