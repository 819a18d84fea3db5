"""The guards with the oldest versions that the extras allow, in a separate environment."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from support import ROOT

LIBRARIES = ("aiohttp", "httpx", "httpx2", "requests", "urllib3")


@pytest.mark.exhaustive
def test_guards_with_the_oldest_versions(tmp_path: Path) -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    oldest = [extras[name][0].replace(">=", "==") for name in LIBRARIES]
    assert all(re.fullmatch(r"[a-z0-9]+==[0-9.]+", pin) for pin in oldest), oldest
    python = tmp_path / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path)], check=True)
    install = [str(python), "-m", "pip", "install", "--quiet", *oldest, "idna", "pytest", "hypothesis"]
    result = subprocess.run(install, capture_output=True, text=True, check=False)
    if result.returncode and "NewConnectionError" in result.stderr:
        pytest.skip("the package index cannot be reached")
    assert result.returncode == 0, result.stderr
    # Old versions leave sockets to the garbage collector, which warns during some other test.
    tests = [str(python), "-m", "pytest", "-q", "-W", "ignore::pytest.PytestUnraisableExceptionWarning"]
    tests.append("tests/integrations/test_guards.py")
    result = subprocess.run(
        tests,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-4000:]
