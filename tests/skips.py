"""Reasons to skip a test (tests/expected_failures.toml), and what a run says of the tests that it skipped.

OVERTHERE_SERVERS=required makes a missing program an error, as CI does after `make servers`; OVERTHERE_SERVERS=absent
finds no program outside of PATH, as on a machine where no server was installed.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

ROWS: list[dict[str, str]] = tomllib.loads((Path(__file__).parent / "expected_failures.toml").read_text("utf-8"))[
    "skip"
]
REASONS = frozenset(row["reason"] for row in ROWS)
PROGRAMS = {row["reason"]: row["reason"].split()[0] for row in ROWS if "package" in row}
"""Programs that `make servers` installs, by the reason of the tests that need them."""

MODE = os.environ.get("OVERTHERE_SERVERS", "")
REQUIRED = MODE == "required"
FOLDERS = () if MODE == "absent" else ("/usr/sbin", "/usr/lib/news/bin")
"""Folders of servers that are not in everybody's PATH."""


def matching(test: str, skipped: Mapping[str, str]) -> list[str]:
    """The skipped tests that a name in the ledger refers to: `file::test[row]`, or all rows of `file::test`."""
    return [name for name in skipped if name == test or name.partition("[")[0] == test]


def forbidden(skipped: Mapping[str, str]) -> Iterator[str]:
    """Skipped tests that end a run as failed, each with its reason."""
    for test, reason in skipped.items():
        if reason not in REASONS or (REQUIRED and reason in PROGRAMS):
            yield f"{test}: {reason}"


def summary(skipped: Mapping[str, str], not_shown: list[str]) -> Iterator[str]:
    """The last lines of a run.

    skipped: the reason of each test that was skipped; not_shown: statements of the documents without a test that ran.
    """
    tests = [test for test, reason in skipped.items() if reason in PROGRAMS]
    if tests:
        programs = sorted({PROGRAMS[skipped[test]] for test in tests})
        yield f"{len(tests):,} tests were skipped because these programs are not installed: {', '.join(programs)}."
    if not_shown:
        yield f"{len(not_shown):,} statements of the documents are shown only by skipped tests: {', '.join(not_shown)}."
    if tests:
        yield "`make servers` installs these programs (with root and apt)."
