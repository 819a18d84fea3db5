"""The generated site of the benchmark, small: planted faults are found and no others, by both kernels."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from overthere import broken, kernel
from overthere.broken.model import Summary
from support import ROOT

sys.path.append(str(ROOT / "bench"))

import planted_faults
from broken import build_report, score


@pytest.mark.parametrize("name", ["reference", "native"])
def test_exactly_the_planted_faults_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    if name == "native" and kernel.name != "native":
        name = "reference"  # the only one there is
    monkeypatch.setattr(kernel, "name", name)
    site = tmp_path / "site"
    (site / "docs").mkdir(parents=True)
    faults = planted_faults.plant(site / "docs", pages=200, each=2)
    summary = Summary()
    rows = list(broken.find([site / "docs"], base=planted_faults.BASE, summary=summary))
    told = score(build_report(((row.source, row.reference or "") for row in rows if row.level != "note"), site), faults)
    assert (told["missed"], told["invented"]) == ([], 0)
    # A valid document is read once.
    assert summary.read_again <= len({fault.file for fault in faults})
