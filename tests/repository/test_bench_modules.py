"""Every module of the benchmark can be imported, even without its peers."""

from __future__ import annotations

import subprocess
import sys

import pytest

from support import ROOT

BENCH = ROOT / "bench"
OUR_FILES = frozenset(file.stem for file in BENCH.glob("*.py"))

LOAD = """
import importlib, sys
try:
    importlib.import_module(sys.argv[1])
except ModuleNotFoundError as missing:
    if (missing.name or "").partition(".")[0] in sys.argv[2].split():
        raise
"""


@pytest.mark.parametrize("name", sorted(OUR_FILES))
def test_a_module_can_be_imported(name: str) -> None:
    """A peer may be missing; another file of the benchmark may not."""
    command = [sys.executable, "-c", LOAD, name, " ".join(OUR_FILES)]
    result = subprocess.run(command, cwd=BENCH, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
