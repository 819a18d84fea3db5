"""Every module of the benchmark can be loaded, also where its peers are not installed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from support import ROOT

BENCH = ROOT / "bench"
OWN = frozenset(file.stem for file in BENCH.glob("*.py"))

LOAD = """
import importlib, sys
try:
    importlib.import_module(sys.argv[1])
except ModuleNotFoundError as missing:
    if (missing.name or "").partition(".")[0] in sys.argv[2].split():
        raise
"""


@pytest.mark.parametrize("name", sorted(OWN))
def test_a_module_can_be_loaded(name: str) -> None:
    """A peer may be absent; a file of the benchmark's own may not, under whatever name it is read."""
    command = [sys.executable, "-c", LOAD, name, " ".join(OWN)]
    done = subprocess.run(command, cwd=BENCH, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
