"""The guards with the oldest versions that the extras allow, in an environment of their own."""

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
    assert all(re.fullmatch(r"[a-z0-9]+==[0-9.]+", one) for one in oldest), oldest
    python = tmp_path / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path)], check=True)
    install = [str(python), "-m", "pip", "install", "--quiet", *oldest, "idna", "pytest", "hypothesis"]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    if done.returncode and "NewConnectionError" in done.stderr:
        pytest.skip("the package index cannot be reached")
    assert done.returncode == 0, done.stderr
    # Old versions leave sockets to the garbage collector, whose warnings come in whichever test runs then.
    tests = [str(python), "-m", "pytest", "-q", "-W", "ignore::pytest.PytestUnraisableExceptionWarning"]
    tests.append("tests/integrations/test_guards.py")
    done = subprocess.run(
        tests,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
