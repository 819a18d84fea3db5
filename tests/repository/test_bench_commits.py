"""`make bench-check` reports what is slower, and nothing else."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from math import comb
from pathlib import Path

import pytest

from support import ROOT

sys.path.append(str(ROOT / "bench"))

import commits
from commits import compare, interval, verdict

SLOW = """

_once = check_uri


def check_uri(*given, **how):
    _once(*given, **how)
    _once(*given, **how)
    return _once(*given, **how)
"""


@pytest.mark.parametrize("count", range(8, 60))
def test_the_interval_has_the_median_in_99_of_100_runs(count: int) -> None:
    outside = interval(count)

    def missed(below: int) -> float:
        return float(2 * sum(comb(count, n) for n in range(below + 1)) / 2**count)

    assert missed(outside) <= 0.01 < missed(outside + 1)


def test_noise_is_not_reported_but_a_tenth_is() -> None:
    chance = random.Random(3986)
    verdicts = []
    for _ in range(200):
        old = [1 + chance.expovariate(10) for _ in range(21)]
        same = [1 + chance.expovariate(10) for _ in range(21)]
        slower = [1.25 * (1 + chance.expovariate(10)) for _ in range(21)]
        verdicts.append((verdict(old, same), verdict(old, slower), verdict(slower, old)))
    assert sum(same.is_slower or same.is_quicker for same, _, _ in verdicts) <= 6
    assert sum(ratio.is_slower for _, ratio, _ in verdicts) >= 190
    assert sum(less.is_quicker for _, _, less in verdicts) >= 190


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package in which findings take three times as long."""
    folder = tmp_path_factory.mktemp("slow")
    shutil.copytree(ROOT / "src" / "overthere", folder / "src" / "overthere")
    with (folder / "src" / "overthere" / "values" / "findings.py").open("a") as file:
        file.write(SLOW)
    return folder


def test_slower_operations_are_named(slow: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(commits, "CACHE", tmp_path)
    monkeypatch.setattr(commits, "_MIN_SLOWDOWN", 1.5)
    assert list(compare(ROOT, slow, 15, "check, ref")) == ["check, refused"]
    assert not compare(slow, ROOT, 15, "check, ref")


def test_the_named_sources_are_compared(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    with pytest.raises(RuntimeError, match="was loaded, not that of"):
        compare(ROOT, tmp_path, 1, "nothing")


def test_the_help_describes_the_arguments() -> None:
    command = [sys.executable, "bench/commits.py", "--help"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "--rounds" in result.stdout
    assert "--side" not in result.stdout
