"""The breaks of `make mutants STATEMENTS=1`: what they do, and that tests which look away do not notice them."""

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
    found = breaks(str(file))
    assert {(one.change, one.function) for one in found} == {
        *((change, "A.f") for change in CHANGES),
        ("nothing is done", "g"),
    }
    # No docstring, default, annotation or word of a message; what is in a call and in a comparison.
    numbers = [one.line for one in found if one.change == "the number is another"]
    assert sorted(numbers) == [5, 7]


@pytest.mark.parametrize("change", CHANGES)
def test_a_break_changes_the_functions_that_live(tmp_path: Path, change: str) -> None:
    (file := tmp_path / "a.py").write_text(CODE)
    spec = spec_from_file_location("a", file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    loaded_functions.cache_clear()
    before = module.A.f.__code__.co_code, module.A.f.__code__.co_consts
    one = next(one for one in breaks(str(file)) if (one.change, one.function) == (change, "A.f"))
    assert carried_out(one)
    assert (module.A.f.__code__.co_code, module.A.f.__code__.co_consts) != before


def asked(*ids: str) -> str:
    command = [sys.executable, str(ROOT / "tools" / "statement_power.py"), "--jobs", "1", *ids]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(os.name == "nt", reason="processes are forked on POSIX only")
def test_a_statement_notices() -> None:
    said = asked("3986-6.2.3-5")
    assert "'statements': 1, 'elsewhere': 0, 'failing': 0, 'breaks': 3, 'noticed': 3" in said


def test_a_reason_is_of_a_function_that_is_there() -> None:
    for file, function in reasons():
        assert function in {"", *(one.function for one in breaks(file))}, file


def test_a_break_of_no_living_function_is_told(tmp_path: Path) -> None:
    """Nothing is counted as noticed where nothing was broken."""
    (file := tmp_path / "a.py").write_text(CODE)
    (one, *_) = breaks(str(file))
    assert not carried_out(one)
