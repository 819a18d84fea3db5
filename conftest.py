"""Rules for every test: marks, skips only for listed reasons, no native module where none was built."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Generator
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

import skips
import statements
from support import TESTS

# The examples in docstrings are collected by importing; without cargo or Spark these modules cannot be.
collect_ignore_glob = [] if find_spec("overthere._native") else ["src/overthere/*/native.py"]
if not find_spec("pyspark"):
    collect_ignore_glob += ["src/overthere/columns/spark.py", "src/overthere/links/spark.py"]
if not find_spec("ada_url"):  # a section with the extra whatwg
    collect_ignore_glob += ["docs/howto/safety.md"]
if not find_spec("lxml"):  # the program of the tutorial reads HTML with it
    collect_ignore_glob += ["docs/tutorial.md", "examples/preview/*", "tests/repository/test_tutorial.py"]
# With other libraries, which may be absent: tests/repository/test_migrate.py runs its sections.
collect_ignore_glob += ["docs/migrate.md"]

# A note would hide a mistake in a reader: raise it instead, also in subprocesses.
os.environ["OVERTHERE_FAULTS"] = "raise"

# A JVM of some seconds spends more on compiling twice, and on collecting beside its work, than that saves.
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

# A shell starts jobs in the background with Ctrl-C ignored, which children inherit: the tests of it need its default.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# An example has no time limit.
settings.register_profile("anywhere", deadline=None)
settings.load_profile("anywhere")

# If packages are missing on purpose: tools/versions.py.
pytest_plugins = ["absent"] if os.environ.get("OVERTHERE_ABSENT") else []

# Started first, by one worker, which then starts one JVM; other workers take over the tests after them.
FIRST = ("test_spark", "test_links_spark")

MARKS = tomllib.loads((TESTS / "marks.toml").read_text())

SKIPPED: dict[str, str] = {}
"""The reason of each skipped test or file."""
NOT_SHOWN: list[str] = []
"""Statements of the documents all of whose tests were skipped for a listed reason."""
MADE: list[str] = []
COLLECTED: set[str] = set()
PASSED: set[str] = set()


def pytest_configure(config: pytest.Config) -> None:
    """If root runs the tests, servers run as nobody, and may read the folders of this session.

    Those that sessions have in common are closed to them by each that begins, also by one that a test begins.
    """
    config.addinivalue_line("markers", "kernel: run on the reference kernel too (tests/marks.toml)")
    config.addinivalue_line("markers", "exhaustive: run by `make test-all`, not by `make test` (tests/marks.toml)")
    if sys.implementation.name == "pypy":  # it finalizes late, in another test; CPython shows it
        for warning in ("ResourceWarning", "pytest.PytestUnraisableExceptionWarning"):
            config.addinivalue_line("filterwarnings", f"ignore::{warning}")
    if os.name == "posix" and os.geteuid() == 0 and config.option.basetemp is None:
        MADE.append(tempfile.mkdtemp(prefix="overthere-tests-"))
        config.option.basetemp = MADE[0]


def pytest_unconfigure() -> None:
    for folder in MADE:
        shutil.rmtree(folder, ignore_errors=True)
    if not os.environ.get("PYTEST_XDIST_WORKER"):
        print(*skips.summary(SKIPPED, NOT_SHOWN), sep="\n", end="")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """The tests live as long as the session: freeze them, so that garbage collection skips a million objects."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        if hasattr(gc, "freeze"):
            gc.freeze()
        gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A file without tests that the Makefile's -m selects is not imported."""
    if not collection_path.is_relative_to(TESTS):
        return None
    name, selected = collection_path.relative_to(TESTS.parent).as_posix(), config.option.markexpr
    quick = selected.endswith("not exhaustive")
    if selected.startswith("kernel and ") and collection_path.match("test_*.py"):
        left_out = name not in MARKS["kernel"]["answers"] and (quick or name not in MARKS["kernel"]["passing"])
    else:
        left_out = quick and name in MARKS["exhaustive"]["folders"]
    return left_out or None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Set the marks of tests/marks.toml before -m selects by them."""
    reference = os.environ.get("OVERTHERE_KERNEL") == "reference"
    kernel, exhaustive = MARKS["kernel"], MARKS["exhaustive"]
    rows = Counter[str]()
    for item in items:
        test = item.nodeid.partition("[")[0]
        file = test.partition("::")[0]
        passing = file in kernel["passing"]
        if passing or file in kernel["answers"] or isinstance(item, pytest.DoctestItem):
            item.add_marker("kernel")
        left_out = rows[test] % exhaustive["sampled"].get(test, 1) != 0
        rows[test] += 1
        if (
            left_out
            or test in exhaustive["whole"]
            or file.rpartition("/")[0] in exhaustive["folders"]
            or (passing and reference)
        ):
            item.add_marker("exhaustive")
    items.sort(key=lambda item: item.path.stem not in FIRST)


def note(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.skipped and isinstance(report.longrepr, tuple):
        SKIPPED[report.nodeid] = report.longrepr[2].removeprefix("Skipped: ")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    note(report)
    if report.when == "call" and report.passed:
        PASSED.add(report.nodeid)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    note(report)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Print the number of tests once: each worker has collected the same."""
    COLLECTED.update(item.nodeid for item in session.items)
    if os.environ.get("PYTEST_XDIST_WORKER", "gw0") == "gw0":
        kernel = os.environ.get("OVERTHERE_KERNEL", "native or reference, what is installed")
        print(f"{len(session.items):,} tests (kernel: {kernel})", file=sys.__stderr__, flush=True)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: object, ids: list[str]) -> None:
    """Workers collect the same tests; the controller has collected none."""
    if not COLLECTED:
        COLLECTED.update(ids)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail if a test was skipped for a reason that is not listed, or if a test that the ledger names did not run."""
    if forbidden := list(skips.forbidden(SKIPPED)):
        print("\nskipped, for a reason that tests/expected_failures.toml does not allow:", *forbidden, sep="\n  ")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    if session.exitstatus != pytest.ExitCode.OK:
        return
    missing = statements.not_run(session.config, PASSED, COLLECTED)
    skipped = [] if skips.REQUIRED else [test for test in missing if skips.matching(test, SKIPPED)]
    NOT_SHOWN.extend(statements.shown_only_by(skipped))
    if not_run := [statements.with_ids(test) for test in missing if test not in skipped]:
        print("\nnamed by tests/statements, and not run or skipped:", *not_run, sep="\n  ")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
