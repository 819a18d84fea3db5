"""Tests of packages that have no wheel for this version of Python are skipped, with that reason (tools/versions.py)."""

from __future__ import annotations

import re
from collections.abc import Generator
from importlib.util import find_spec

import pytest

REASON = "a package has no wheel for this version of Python"
_MISSING = re.compile(r"No module named '?(\w+)|(\w+)(?:\.\w+)* is not installed: pip install|could not import '(\w+)")


def excuse(report: pytest.TestReport | pytest.CollectReport) -> None:
    """A failure becomes a skip if it names packages that are missing, and none that is installed."""
    names = {name for found in _MISSING.findall(report.longreprtext) for name in found if name}
    if report.outcome == "passed" or not names or any(find_spec(name) for name in names):
        return
    report.outcome = "skipped"
    report.longrepr = (report.fspath, 0, f"Skipped: {REASON}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    excuse(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    excuse(report)
    return report
