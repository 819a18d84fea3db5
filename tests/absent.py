"""Tests of packages that have no wheel for this version of Python are skipped, with that reason (tools/versions.py)."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

import pytest

REASON = "a package has no wheel for this version of Python"
_MISSING = re.compile(
    r"No module named '?(\w+)|(?<![\w.])(\w++)(?:\.\w++)*+ is not installed: pip install|could not import '(\w+)"
)
_PRINTED: list[str] = []
"""The output of commands in a test, as an assertion about their tables does not name the package."""

with suppress(ImportError):
    from click.testing import CliRunner, Result

    _invoke = CliRunner.invoke

    def _noted(runner: CliRunner, *args: Any, **named: Any) -> Result:
        result = _invoke(runner, *args, **named)
        _PRINTED.extend(line for line in result.output.splitlines() if "is not installed: pip install" in line)
        return result

    CliRunner.invoke = _noted  # type: ignore[method-assign,assignment]


def excuse(report: pytest.TestReport | pytest.CollectReport) -> None:
    """A failure becomes a skip if it names packages that are missing, and none that is installed."""
    if report.outcome == "passed":
        return
    text = "\n".join((report.longreprtext, *_PRINTED))
    names = {name for found in _MISSING.findall(text) for name in found if name}
    if not names or any(find_spec(name) for name in names):
        return
    report.outcome = "skipped"
    report.longrepr = (report.fspath, 0, f"Skipped: {REASON}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    excuse(report)
    if report.when == "teardown":
        _PRINTED.clear()
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    excuse(report)
    return report
